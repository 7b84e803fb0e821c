"""Is a SKILL.md's front matter broken? A warning at most: a skill's identity is its path, whatever stands in its file.

Gather: reads one file. Clients differ in what they accept, so only what none can read is called broken.
"""

from __future__ import annotations

import re
from pathlib import Path

from .errors import Problem, SkillbenchError
from .files import read_bounded

_LIMIT = 1 << 20
# Importing a YAML parser takes longer than everything else that is done at the start, and most skills have only such
# lines: they are told by this, and a test compares.
_PLAIN = re.compile("[a-z][a-z-]{0,30}: [A-Za-z][^:#]*")


def broken(file: Path, shown: str) -> list[Problem]:
    """Return why a client could not read this SKILL.md, as at most one warning ``broken: …`` with its line."""
    try:
        data = read_bounded(file, _LIMIT, shown)
    except FileNotFoundError:
        return [_broken(shown, None, "a link that leads nowhere")]
    except SkillbenchError as error:
        return [_broken(shown, None, error.problems[0].what)]
    raw = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        lines = raw.decode().split("\n")
    except UnicodeDecodeError as error:
        return [_broken(shown, 1 + raw.count(b"\n", 0, error.start), "not UTF-8")]
    if lines[0].rstrip() != "---":
        return []
    end = next((i for i in range(1, len(lines)) if lines[i].rstrip() == "---"), None)
    if end is None:
        return [_broken(shown, 1, "the front matter is never closed")]
    if end < 20 and all(map(is_plain, lines[1:end])):
        return []
    return _no_mapping("\n".join(lines[1:end]) + "\n", shown)


def is_plain(line: str) -> bool:
    """Return whether a line is so plain a `key: words` that YAML has to take it, and others like it, for a mapping."""
    return len(line) < 2000 and line.isprintable() and _PLAIN.fullmatch(line) is not None


def _no_mapping(text: str, shown: str) -> list[Problem]:
    import yaml

    from .yamlread import Source, compose, kind_of

    root = compose(Source(text=text, path=shown, slug="skill", first_line=2))
    if isinstance(root, Problem):
        return [_broken(shown, root.line, root.what)]
    if root is not None and not isinstance(root, yaml.MappingNode):
        return [_broken(shown, 2, f"the front matter is {kind_of(root)}")]
    return []


def _broken(shown: str, line: int | None, reason: str) -> Problem:
    what = f"broken: {reason}"
    return Problem(path=shown, slug="skill-broken", what=what, line=line, severity="warning")
