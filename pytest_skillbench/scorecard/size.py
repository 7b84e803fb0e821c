"""How big a skill is, and whether a model may use it unasked: what can be said of a skill without running it.

Gather: reads SKILL.md and the texts below ``references/``; the counting is pure.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

import yaml

from .. import digest
from ..errors import Problem, SkillbenchError
from ..files import read_bounded
from ..model import Value
from ..yamlread import Source, compose, is_tagged
from .scores import Size

_LIMIT = 1 << 20
_REFERENCE_LIMIT = 16 << 20
_FLAG = "disable-model-invocation"
# Han (with 々〇), Hiragana, Katakana (full and half width). Korean and others put blanks between words.
_CHARACTER = re.compile(
    "[\u3005\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9d\U00020000-\U0003347f]"
)
_ANYTHING = re.compile(r"\w")
_CHARACTERS_A_TOKEN = 4


class Measured(Value, frozen=True):
    """A skill's size (None: SKILL.md can't be read), whether a model may use it unasked, and what is wrong."""

    size: Size | None
    invocable: bool
    has_cjk: bool
    problems: tuple[Problem, ...]


def measure(folder: Path, shown: str) -> Measured:
    """Measure the skill in a folder; `shown` is how messages call it. Raises nothing for bad content."""
    try:
        text = _read(folder / "SKILL.md", f"{shown}/SKILL.md", _LIMIT)
    except SkillbenchError as error:
        return Measured(size=None, invocable=True, has_cjk=False, problems=error.problems)
    problems: list[Problem] = []
    size = Size(
        lines=lines(text),
        words=words(text),
        tokens=tokens(text),
        reference_words=_references(folder / "references", f"{shown}/references", problems),
    )
    return Measured(
        size=None if problems else size,
        invocable=is_invocable(text),
        has_cjk=_CHARACTER.search(text) is not None,
        problems=tuple(problems),
    )


def _read(file: Path, shown: str, limit: int) -> str:
    try:
        data = read_bounded(file, limit, shown)
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise SkillbenchError(Problem(path=shown, slug="size-unreadable", what="there is no such file")) from None
    except UnicodeDecodeError:
        raise SkillbenchError(
            Problem(path=shown, slug="size-utf8", what="not UTF-8", expected="text in UTF-8")
        ) from None


def _references(folder: Path, shown: str, problems: list[Problem]) -> int:
    """Return the words of every Markdown and text file below ``references/``."""
    if not os.path.lexists(folder):
        return 0
    try:
        entries = digest.inventory(folder, skip=digest.NOT_PACKAGED, shown=shown)
        files = [entry.path for entry in entries if entry.path.lower().endswith((".md", ".txt"))]
        return sum(words(_read(folder / path, f"{shown}/{path}", _REFERENCE_LIMIT)) for path in files)
    except SkillbenchError as error:
        problems += error.problems
        return 0


def lines(text: str) -> int:
    """Return the number of lines, one that no newline ends counted as well."""
    return text.count("\n") + (not text.endswith("\n") and text != "")


def words(text: str) -> int:
    """Return the number of words: what blanks part, where each Chinese or Japanese character is a word of its own."""
    count = 0
    for chunk in text.split():
        rest, characters = _CHARACTER.subn(" ", chunk)
        count += characters
        count += sum(_ANYTHING.search(part) is not None for part in rest.split()) if characters else 1
    return count


def tokens(text: str) -> int:
    """Return an estimate of the tokens: one a Chinese or Japanese character, one for four others, rounded up."""
    rest, characters = _CHARACTER.subn("", text)
    return characters + math.ceil(len(rest) / _CHARACTERS_A_TOKEN)


def is_invocable(text: str) -> bool:
    """Tell whether a model may use the skill unasked: unless the front matter says ``disable-model-invocation``."""
    found = text.split("\n")
    if (
        found[0].rstrip() != "---"
        or (end := next((i for i, x in enumerate(found[1:], 1) if x.rstrip() == "---"), 0)) == 0
    ):
        return True
    root = compose(Source(text="\n".join(found[1:end]) + "\n", path="SKILL.md", slug="skill", first_line=2))
    if not isinstance(root, yaml.MappingNode):
        return True
    values = [value for key, value in root.value if isinstance(key, yaml.ScalarNode) and key.value == _FLAG]
    return not any(is_tagged(value, "bool") and value.value.casefold() in ("true", "yes", "on") for value in values)
