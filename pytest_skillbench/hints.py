"""What is legal in a case and yet probably not meant: warnings for its author.

Core: a parsed case in, warnings out. Each names what would make the comparison unfair or say nothing.
"""

from __future__ import annotations

import re

from .errors import Problem
from .model import Case
from .sections import NAMES

_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`)\]]+", re.IGNORECASE)
_ABSOLUTE = re.compile(r"(?<![\w/.:~$}-])(?:~/[\w.-]+|/(?:[\w.@+-]+/)+[\w.@+-]*|[A-Za-z]:\\[\w.\\-]+)")
_SECTION_LIKE = re.compile(rf"(?mi)^ {{0,3}}(?:#|#{{3,6}})[ \t]+({'|'.join(NAMES)})\b")
_WORD = re.compile(r"\w+")
_SHORTEST_QUOTE = 3  # words; a criterion of one or two says nothing when it is found in a prompt
_RUN = 8  # so many words of a criterion in a row are a quote, too


def hints(case: Case, shown: str, skill: str) -> list[Problem]:
    """Return the warnings for a case of the skill named `skill`; `shown` is the case file's name in messages."""
    found: list[Problem] = []

    def warn(line: int, slug: str, what: str, expected: str) -> None:
        found.append(Problem(path=shown, line=line, slug=slug, what=what, expected=expected, severity="warning"))

    texts = [(case.lines.prompt, "the prompt", case.prompt)]
    texts += [(case.lines.seed or 1, "the seed", turn.text) for turn in case.seed_turns]
    for line, where, text in texts:
        if re.search(rf"(?<![\w-]){re.escape(skill)}(?![\w-])", text, re.IGNORECASE):
            expected = "a prompt that a user without the skill would write"
            warn(line, "prompt-names-skill", f'{where} names the skill "{skill}"', expected)
        if match := _URL.search(text):
            warn(
                line,
                "prompt-url",
                f'{where} has a URL, "{match.group().rstrip(".,;:!?")}"',
                "a prompt that needs nothing outside its world",
            )
        without = _URL.sub(" ", text)
        if match := _ABSOLUTE.search(without):
            expected = "paths relative to the world"
            warn(line, "prompt-absolute-path", f'{where} has an absolute path, "{match.group().rstrip(".")}"', expected)
        if match := _SECTION_LIKE.search(text):
            what = f'"{match.group().strip()}" is part of {where}, not a section'
            warn(line, "section-level", what, f"## {NAMES[match[1].lower()]} for a section")
    asked = _words(case.prompt)
    for number, criterion in enumerate(case.criteria, 1):
        if _quotes(asked, criterion):
            what = f"the prompt quotes soft criterion {number}"
            warn(case.lines.prompt, "prompt-quotes-criterion", what, "a prompt that does not give the answer away")
    return found


def _words(text: str) -> str:
    """Return the words of a text, folded, each between spaces."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _quotes(asked: str, criterion: str) -> bool:
    words = _words(criterion).split()
    if len(words) < _SHORTEST_QUOTE:
        return False
    size = min(len(words), _RUN)
    return any(f" {' '.join(words[i : i + size])} " in asked for i in range(len(words) - size + 1))
