"""Which names of skills and cases can be used: as file names, in node ids, without two meaning one.

Core: names in, problems out. A skill's name becomes ``<name>.html`` in one flat folder, on file systems that may fold
case or normalise Unicode; a case's name becomes part of file names and node ids.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Sequence

from .errors import Problem
from .suggest import SLUG, slug
from .text import visible

_LONGEST = 200  # bytes; ".history.jsonl" and a temporary file's ending must fit into 255


def skill_problems(skills: Sequence[tuple[str, str]]) -> dict[str, Problem]:
    """Return what is wrong with the names of skills, given as (path below the root, path in messages), by path.

    The name is the last part of the path. Two skills whose names are equal, or would be one file name, are both
    refused; no other skill is touched by that.
    """
    found: dict[str, Problem] = {}
    same: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path, shown in skills:
        name = path.rsplit("/", 1)[-1]
        same[_folded(name)].append((path, shown))
        if reason := _bad_file_name(name):
            what = f'the name "{name}" {reason}'
            found[path] = Problem(path=shown, slug="skill-name", what=what, expected="a name that can be a file's")
    for group in same.values():
        for path, shown in group if len(group) > 1 else ():
            name = path.rsplit("/", 1)[-1]
            other = next(o for o in group if o[0] != path)
            twin = other[0].rsplit("/", 1)[-1]
            how = "is also that of" if twin == name else f'and "{twin}" would be one file; the other is'
            what = f'the name "{name}" {how} {other[1]}'
            found[path] = Problem(path=shown, slug="skill-name-twice", what=what, expected="unique names of skills")
    return found


def case_problem(name: str, shown: str, siblings: Collection[str]) -> Problem | None:
    """Return what is wrong with a case folder's name, with a legal one that no sibling has."""
    if SLUG.match(name):
        return None
    expected = "[a-z0-9][a-z0-9-]*"
    what = f'"{name}" is no name of a case' if len(name) <= 128 else f"a case's name of {len(name)} characters"
    return Problem(path=shown, slug="case-name", what=what, expected=expected, suggestion=slug(name, siblings))


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _bad_file_name(name: str) -> str | None:
    if visible(name) != name or "\n" in name or "\t" in name:
        return "has a control or invisible character"
    if name != name.strip():
        return "begins or ends with white space"
    if "\\" in name:
        return "has a backslash"
    if len(name.encode()) > _LONGEST:
        return f"is longer than {_LONGEST} bytes"
    return "is that of the leaderboard, index.html" if _folded(name) == "index" else None
