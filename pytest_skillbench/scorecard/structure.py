"""Which structures a Markdown text has: a table, a list, a code block, steps, JSON, a heading.

Core: text in, names out. Read off CommonMark's blocks (with GitHub's tables), never off what looks alike: a table in a
fence is code, and a line of dashes in a paragraph is no list.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from .records import Structure

#: Characters of a text that are looked at; what comes behind is not searched.
LONGEST = 1 << 20
_LATIN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_HAN = "一二三四五六七八九十"
_DIGITS = r"([0-9]{1,3})(?![0-9])"
_CHINESE = rf"(十[一二三四五六七八九]?|[{_HAN}])(?!十)"
_WORD = rf"(?:step|stage|phase|步骤|步驟|ステップ)\s*(?:{_DIGITS}|({'|'.join(_LATIN)})\b|{_CHINESE})"
#: A number may begin a heading by itself ("2. …", "二、…"); a bold text begins a step only where it says so.
_STEP = re.compile(rf"\W*(?:{_WORD}|第?\s*{_DIGITS}|第\s*{_CHINESE}|{_CHINESE}(?=[、.:,)]))", re.IGNORECASE)
_BOLD_STEP = re.compile(rf"(?:\*\*|__)\s*(?:{_WORD}|第\s*(?:{_DIGITS}|{_CHINESE})\s*步)", re.IGNORECASE)
_STEPS = {"heading_open": _STEP, "paragraph_open": _BOLD_STEP}


@functools.cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").disable(["reference"])


def structures(text: str) -> frozenset[Structure]:
    """Return the structures that occur in a text.

    ``list``: bullets or numbers. ``code-block``: fenced or indented. ``step-by-step``: an ordered list of at least two
    items, or headings that count from 1 ("Step 1: …", "2. …", "Step one", "第一步"), or paragraphs that do so with a
    bold "Step 1". ``json``: an object or a list in JSON as the whole text, or as the whole of a fence that is marked
    json or not marked at all.
    """
    tokens: list[Token] = []
    parser = _parser()
    parser.block.parse(text[:LONGEST], parser, {}, tokens)
    return frozenset(_found(text, tokens))


def _found(text: str, tokens: Sequence[Token]) -> Iterator[Structure]:
    kinds = {token.type for token in tokens}
    if "table_open" in kinds:
        yield "table"
    if kinds & {"bullet_list_open", "ordered_list_open"}:
        yield "list"
    if kinds & {"fence", "code_block"}:
        yield "code-block"
    if "heading_open" in kinds:
        yield "heading"
    if _counted_list(tokens) or any(_counted(tokens, block, step) for block, step in _STEPS.items()):
        yield "step-by-step"
    if _is_json(text) or any(_is_json(token.content) for token in tokens if _may_be_json(token)):
        yield "json"


def _counted_list(tokens: Sequence[Token]) -> bool:
    """Tell whether any ordered list has at least two items of its own.

    What stands unindented between two items, such as a fence, ends the list; one that counts on is the same steps.
    """
    items: list[int] = []
    last = 0  # the number of the last item of an outer list that is over
    for token in tokens:
        if token.type == "ordered_list_open":
            start = token.attrGet("start")
            counts_on = token.level == 0 and (1 if start is None else start) == last + 1
            items.append(last if counts_on else 0)
        elif token.type == "bullet_list_open":
            items.append(-(10**9))  # its items are not steps, however many
        elif token.type == "list_item_open":
            items[-1] += 1
        elif token.type in ("ordered_list_close", "bullet_list_close"):
            count = items.pop()
            if count >= 2:
                return True
            if token.type == "ordered_list_close" and token.level == 0:
                last = count
    return False


def _counted(tokens: Sequence[Token], block: str, step: re.Pattern[str]) -> bool:
    """Tell whether two blocks of a kind are numbered 1 and 2, in this order, with any others between."""
    wanted = 1
    for token, inline in itertools.pairwise(tokens):
        if token.type == block:
            match = step.match(unicodedata.normalize("NFKC", inline.content))
            if match and _number(match[match.lastindex or 0].casefold()) == wanted:
                wanted += 1
    return wanted > 2


def _number(text: str) -> int:
    """Return the value of digits, or of a word up to ten or nineteen."""
    if text in _LATIN:
        return _LATIN.index(text) + 1
    return int(text) if text.isdecimal() else sum(_HAN.index(digit) + 1 for digit in text)


def _may_be_json(token: Token) -> bool:
    words = token.info.split() if token.type == "fence" else None
    return words is not None and (not words or words[0].casefold().startswith("json"))


def _is_json(text: str) -> bool:
    plain = text.strip()
    if not plain.startswith(("{", "[")) or len(plain) > LONGEST:
        return False
    try:
        return isinstance(json.loads(plain, parse_constant=_refused), (dict, list))
    except (ValueError, RecursionError):
        return False


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
