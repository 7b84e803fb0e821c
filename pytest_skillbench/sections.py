"""The sections of a case's Markdown: level-2 headings outside everything else, and whatever makes that unclear.

Core: text in, sections and problems out; `casefile` gives them their meaning. The block structure is CommonMark's
(markdown-it-py); on top of it nothing is ever guessed: a fence or a comment that is never closed, an underlined
heading, a heading that raw HTML swallows are problems with their line.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from .errors import Problem
from .model import Value
from .suggest import closest

NAMES = {"prompt": "Prompt", "seed": "Seed", "hard assertions": "Hard assertions", "soft criteria": "Soft criteria"}
MAX_NESTING = 40
_NAME = re.compile(r"(?P<name>[^(:]*?)\s*(?:[(:].*)?\Z", re.DOTALL)
_HEADING_LIKE = re.compile(r"(?m)^ {0,3}##(?P<gap>[ \t]*)(?P<text>[^#\s].*?)[ \t]*#*$")
# How each kind of raw HTML block that no empty line ends begins and ends (CommonMark 4.6, conditions 1 to 5).
_HTML_ENDS = (
    (re.compile(r"\s*<!--"), re.compile("-->"), "HTML comment"),
    (re.compile(r"\s*<(script|pre|style|textarea)\b", re.IGNORECASE), re.compile("</", re.IGNORECASE), "HTML element"),
    (re.compile(r"\s*<\?"), re.compile(r"\?>"), "processing instruction"),
    (re.compile(r"\s*<!\[CDATA\["), re.compile(r"\]\]>"), "CDATA section"),
    (re.compile(r"\s*<![A-Za-z]"), re.compile(">"), "HTML declaration"),
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)

Report = Callable[..., None]


class Section(Value, frozen=True):
    """One section: the 1-based line of its heading, its body lines as a 0-based half-open range, its blocks."""

    name: str
    heading: int
    start: int
    end: int
    tokens: tuple[Token, ...]


class _Mark(Value, frozen=True):
    """A heading that begins a section; not `exact`: a wrong one, and `name` is what was probably meant or ""."""

    name: str
    exact: bool


class Outline(Value, frozen=True):
    """The first section of each name, the blocks before the first one, and every problem of structure.

    `whole` False: something is never closed or too deep, so what follows it was not looked at.
    """

    sections: dict[str, Section]
    before: tuple[Token, ...]
    problems: tuple[Problem, ...]
    whole: bool


@functools.cache
def _parser() -> MarkdownIt:
    # Inline structure is not needed, and a link reference definition would vanish from the text.
    return MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).disable(["reference"])


def outline(text: str, path: str) -> Outline:
    """Return the sections of `text` (ending in a newline, front matter blanked out) and every problem of structure."""
    tokens: list[Token] = []
    parser = _parser()
    parser.block.parse(text, parser, {}, tokens)
    problems: list[Problem] = []

    def report(line: int, slug: str, what: str, expected: str | None = None, suggestion: str | None = None) -> None:
        problems.append(
            Problem(path=path, line=line, slug=f"case-{slug}", what=what, expected=expected, suggestion=suggestion)
        )

    whole = True
    for token in tokens:
        whole = _closed(token, report) and whole
    _split_comments(tokens, report)
    starts = [i for i, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0]
    marks = [(i, mark) for i in starts if (mark := _mark(tokens, i, report)) is not None]
    return Outline(
        sections=_sections(tokens, marks, text.count("\n"), report),
        before=tuple(tokens[: marks[0][0]] if marks else tokens),
        problems=tuple(problems),
        whole=whole,
    )


def _sections(
    tokens: Sequence[Token], marks: Sequence[tuple[int, _Mark]], lines: int, report: Report
) -> dict[str, Section]:
    """Return the first section of each name. One that is only probably meant stands in where there is no other."""
    sections: dict[str, Section] = {}
    guesses: dict[str, Section] = {}
    ends = [i for i, _ in marks[1:]] + [len(tokens)]
    for (i, mark), j in zip(marks, ends, strict=False):
        first, start = _range(tokens[i])
        end = _range(tokens[j])[0] if j < len(tokens) else lines
        section = Section(name=mark.name, heading=first + 1, start=start, end=end, tokens=tuple(tokens[i + 3 : j]))
        if not mark.exact:
            guesses.setdefault(mark.name, section)
        elif mark.name in sections:
            where = f"it once; it is at line {sections[mark.name].heading}"
            report(first + 1, "duplicate-section", f'a second section "{NAMES[mark.name]}"', where)
        else:
            sections[mark.name] = section
    return {**{name: guess for name, guess in guesses.items() if name}, **sections}


def is_comment(token: Token) -> bool:
    """Tell whether a block is HTML comments and nothing else."""
    return token.type == "html_block" and not _COMMENT.sub("", token.content).strip()


def line_of(token: Token) -> int:
    """Return the 1-based line where a block begins."""
    return _range(token)[0] + 1


def top_level(tokens: Sequence[Token]) -> list[Token]:
    """Return the blocks that stand at the top of a section: an opening token, or a fence, code, HTML block or rule."""
    return [token for token in tokens if token.level == 0 and token.nesting >= 0]


def covered(tokens: Sequence[Token], wanted: Callable[[Token], bool]) -> set[int]:
    """Return the 0-based lines that lie inside the blocks for which `wanted` holds."""
    return {line for token in tokens if wanted(token) for line in range(*_range(token))}


def _range(token: Token) -> tuple[int, int]:
    assert token.map is not None  # noqa: S101  # markdown-it gives every opening or leaf block token its lines
    return token.map[0], token.map[1]


def _closed(token: Token, report: Report) -> bool:
    """Report a block that is never closed, too deep, or hides a heading; tell whether the structure can be trusted."""
    if token.nesting == 1 and token.level >= MAX_NESTING - 2:
        report(line_of(token), "too-deep", f"lists and quotes more than {MAX_NESTING // 2} deep", "a plainer structure")
        return False
    if token.type == "fence":
        first, last = _range(token)
        if token.content.count("\n") != last - first - 2:
            where = f"a line {token.markup} that closes it"
            report(first + 1, "unclosed-fence", "this fence is never closed", where)
            return False
    elif token.type == "html_block":
        for begins, ends, kind in _HTML_ENDS:
            if begins.match(token.content):
                if ends.search(token.content, begins.match(token.content).end() - 1):  # type: ignore[union-attr]
                    return True
                report(line_of(token), "unclosed-html", f"this {kind} is never closed", "its end")
                return False
        _swallowed(token, report)
    elif token.type == "inline" and token.level == 1:
        _no_gap(token, report)
    return True


def _swallowed(token: Token, report: Report) -> None:
    for match in _HEADING_LIKE.finditer(token.content):
        if match["gap"] and _match(match["text"]) in NAMES:
            line = line_of(token) + token.content.count("\n", 0, match.start())
            report(line, "heading-in-html", f'"## {match["text"]}" is inside raw HTML', "an empty line before it")


def _no_gap(token: Token, report: Report) -> None:
    for match in _HEADING_LIKE.finditer(token.content):
        if not match["gap"] and _match(match["text"]) in NAMES:
            line = line_of(token) + token.content.count("\n", 0, match.start())
            what = f'"{match.group().strip()}" is no heading'
            report(line, "heading-gap", what, "a space behind ##", f"## {match['text']}")


def _split_comments(tokens: Sequence[Token], report: Report) -> None:
    """Report a comment that begins within a paragraph and ends behind a heading: to Markdown it is no comment."""
    begun: int | None = None
    crossed = False
    for token in tokens:
        if token.type == "heading_open" and token.level == 0 and token.tag == "h2":
            crossed = True
        elif token.type in ("inline", "html_block", "fence", "code_block") and begun is not None:
            if "-->" in token.content and crossed:
                what = "a comment begins within a paragraph here and ends in another section"
                report(begun, "split-comment", what, "the <!-- at the start of a line of its own")
            if "-->" in token.content or "<!--" in token.content:
                begun = None
        if token.type == "inline" and "<!--" in token.content:
            rest = token.content[token.content.rindex("<!--") :]
            if "-->" not in rest:
                begun, crossed = line_of(token) + token.content.count("\n", 0, len(token.content) - len(rest)), False


def _match(text: str) -> str:
    match = _NAME.match(text.strip())
    return " ".join(match["name"].split()).casefold() if match else ""


def _mark(tokens: Sequence[Token], index: int, report: Report) -> _Mark | None:
    """Return the section that a top-level heading begins, None where it begins none; report a wrong one."""
    heading, text = tokens[index], tokens[index + 1].content
    line = line_of(heading)
    name = _match(text)
    if heading.tag == "h1":
        if name not in NAMES:
            return None
        report(line, "heading-level", f'"{text}" is a level-1 heading', "level 2", f"## {NAMES[name]}")
        return _Mark(name=name, exact=False)
    if heading.tag != "h2":
        return None
    if heading.markup == "-":
        last = text.split("\n")[-1].strip()
        name = _match(last) if _match(last) in NAMES else ""
        what = f'"{last}" with a line of dashes below is a level-2 heading'
        expected = "## before a section's name, or an empty line above the dashes"
        at = _range(heading)[1] - 1
        report(at, "setext-heading", what, expected, f"## {NAMES[name]}" if name else None)
        return _Mark(name=name, exact=False)
    if name in NAMES:
        return _Mark(name=name, exact=True)
    guess = closest(name, NAMES) or ""
    expected = f"one of {', '.join(NAMES.values())} (a prompt with headings of its own goes into a prompt fence)"
    report(line, "unknown-section", f'unknown section "{text}"', expected, NAMES.get(guess))
    return _Mark(name=guess, exact=False)
