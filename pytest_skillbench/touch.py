"""One path that a tool call touched, how a path is spelled, and whether it lies in, or leads down into, a place.

Core: pure, no look at the disk. `touches` finds them in shell commands, `tools` in other tools' arguments; `audit` and
the scorecard judge them.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from .commandline import UNKNOWN
from .model import Value

PATH_LIMIT = 4096
# What macOS calls by two names.
_PRIVATE = re.compile(r"\A/private(?=/(?:tmp|var|etc)(?:/|\Z))")
_BRACES = re.compile(r"\{[^{}]*,[^{}]*\}")
_OF_A_PROCESS = re.compile(r"/proc/(?:self|thread-self|[0-9]+|\0)/(cwd|root)(?=/|\Z)")


class Touch(Value, frozen=True):
    """One path that was touched: absolute, without ``..``, perhaps with glob marks or `UNKNOWN` in it.

    `deep`: everything below as well, down to `depth` levels (None: all). `reads`: its content was asked for; `writes`:
    it was changed, and `deletes`: by taking it away. `sure` False: it only stands in a program's code. `bare`: it was
    spelled relative to the folder in which the client starts every command, so it may name nothing that is there.
    """

    path: str
    deep: bool = False
    depth: int | None = None
    reads: bool = False
    writes: bool = False
    deletes: bool = False
    sure: bool = True
    bare: bool = False


def absolute(path: str, cwd: str | None) -> str | None:
    """Return a path as an absolute one without ``.`` and ``..``, None where that can't be known."""
    if not path or path.startswith(UNKNOWN) or len(path) > PATH_LIMIT:
        return None
    if not path.startswith("/"):
        if cwd is None:
            return None
        path = f"{cwd}/{path}"
    path = "/" + posixpath.normpath(path).lstrip("/")
    if match := _OF_A_PROCESS.match(path):
        rest = path[match.end() :].lstrip("/")
        return absolute(rest or ".", cwd if match[1] == "cwd" else "/")
    return path


def spelled(word: str) -> Iterable[str]:
    """Return the parts of a word that are spelled as paths: itself, what follows ``=`` or ``-X``, between colons."""
    if "://" in word and not word.startswith("file://"):
        return ()
    parts = [word, re.sub(r"\A-[A-Za-z](?=[/.~])", "", word)]
    if word.startswith("-") or re.match(r"[\w-]+=", word):
        parts.append(word.partition("=")[2])
    parts += [piece for part in list(parts) if ":" in part for piece in part.split(":")]
    return dict.fromkeys(part for part in parts if re.match(r"/|\.\.?(?:/|\Z)", part) and part != ".")


# -- places ------------------------------------------------------------------------------------------------------------


def real(path: str, aliases: Sequence[tuple[str, str]]) -> str:
    """Return a path in the spelling that is used here; `aliases` are pairs of another spelling of a folder and ours."""
    for other, ours in aliases:
        if path == other or path.startswith(other + "/"):
            path = absolute(ours + path[len(other) :], None) or path
    return _PRIVATE.sub("", path)


def parts_of(path: Path | str, aliases: Sequence[tuple[str, str]] = ()) -> tuple[str, ...]:
    """Return the names that a path consists of, in the spelling that is used here."""
    return tuple(part for part in real(posixpath.normpath(str(path)), aliases).split("/") if part)


def inside(parts: tuple[str, ...], place: tuple[str, ...]) -> bool:
    """Return whether a path is `place` or lies in it, letter by letter."""
    return parts[: len(place)] == place


def inside_pattern(parts: tuple[str, ...], place: tuple[str, ...]) -> bool:
    """Return whether a path, perhaps with glob marks, is or lies in `place`, or may."""
    for number, name in enumerate(place):
        if number >= len(parts):
            return False
        if parts[number] == "**":
            return True
        if not fits(name, parts[number]):
            return False
    return True


def covers(parts: tuple[str, ...], place: tuple[str, ...], touch: Touch) -> bool:
    """Return whether touching `parts` touches `place` itself: it is that, or a search from above goes down into it."""
    if len(parts) >= len(place):
        return len(parts) == len(place) and inside_pattern(parts, place)
    if not inside_pattern(parts, place[: len(parts)]):
        return False
    return "**" in parts or (touch.deep and (touch.depth is None or touch.depth > len(place) - len(parts)))


def fits(name: str, pattern: str) -> bool:
    """Return whether a shell would take `pattern` for `name`. What is wholly unknown fits nothing."""
    if pattern == name:
        return True
    if UNKNOWN in pattern:
        known = pattern.replace(UNKNOWN, "")
        return bool(known) and fnmatch.fnmatchcase(name, pattern.replace(UNKNOWN, "*"))
    pattern = _BRACES.sub("*", pattern)
    if not re.search(r"[*?\[]", pattern) or len(pattern) > 255:
        return False
    return (name[:1] != "." or pattern[0] == ".") and fnmatch.fnmatchcase(name, pattern)
