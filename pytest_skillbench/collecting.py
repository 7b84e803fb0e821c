"""Which paths below ``tests/`` pytest may look at, and what the arguments that name them mean.

Face (pytest), without pytest itself: paths in, answers out. A case's key is its ``case.md`` relative to ``tests/`` with
``/``, so that it does not matter through which link somebody came.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from .model import Value

CASE_FILE = "case.md"
CLOSED = frozenset({"fixture", ".reports"})


def split_argument(argument: str, start: Path) -> tuple[Path, str | None] | None:
    """Return the path and the leaf that a command-line argument names, None where its path does not exist.

    Unlike pytest's own reading, the longest path that exists wins, so a folder may have ``[`` and ``::`` in its name.
    """
    path = Path(os.path.abspath(start / argument))
    if _exists(path):
        return path, None
    head, separator, leaf = argument.rpartition("::")
    if separator and leaf:
        path = Path(os.path.abspath(start / head))
        if _exists(path):
            return path, leaf
    return None


def _exists(path: Path) -> bool:
    try:
        return os.path.exists(path)
    except (OSError, ValueError):
        return False  # what seems to be a path is an over-long option, or holds a NUL


def inside_fixture(argument: str, start: Path) -> str | None:
    """Return the ``case.md`` (as a path from `start`) whose fixture an argument lies in, None where it lies in none.

    Looks at the path as it was typed and with its links resolved. A fixture is a folder ``fixture`` beside a case.md.
    """
    found = split_argument(argument, start)
    path = found[0] if found else Path(os.path.abspath(start / argument.partition("::")[0]))
    for spelling in (path, Path(os.path.realpath(path))):
        for folder in (spelling, *spelling.parents):
            if folder.name == "fixture" and (folder.parent / CASE_FILE).is_file():
                return os.path.relpath(folder.parent / CASE_FILE, start)
    return None


class Target(Value, frozen=True):
    """What one argument asks for: a path below ``tests/`` (``""`` for all of it) and, of one case, one leaf."""

    path: str
    leaf: str | None


class Arguments(Value, frozen=True):
    """Arguments that pytest can resolve, and the narrower selection that they stand for (None: nothing narrower)."""

    args: tuple[str, ...]
    selection: tuple[Target, ...] | None


def understand(arguments: Sequence[str], start: Path, tests: Path, known: Collection[str]) -> Arguments:
    """Rewrite the arguments below `tests` so that pytest resolves each to the one canonical path of what it names.

    `known`: the keys of the cases and of the folders that lead to them. A link to one of them becomes it. pytest splits
    an argument at ``[`` and ``::`` wherever they are; where the path has one in it, its nearest ancestor without stands
    in, and the selection says what was meant.
    """
    kept: list[str] = []
    targets: list[Target] = []
    narrowed = False
    for argument in arguments:
        found = split_argument(argument, start)
        relative = relative_to_tests(found[0], tests, known) if found else None
        if found is None or relative is None:
            kept.append(_plain(argument, found, start))
            continue
        path, leaf = found[0], found[1]
        targets.append(Target(path=relative, leaf=leaf))
        shown = tests / relative
        spelled = argument if path == shown and _is_clean(argument, leaf) else _spell(shown, leaf, start)
        if spelled is None:
            narrowed = True
            spelled = _ancestor(shown, tests, start)
        kept.append(spelled)
    return Arguments(args=tuple(dict.fromkeys(kept)), selection=tuple(targets) if narrowed else None)


def relative_to_tests(path: Path, tests: Path, known: Collection[str] = ()) -> str | None:
    """Return `path` relative to `tests` with ``/`` (``""`` for itself), through links too; None where it is not below.

    Of the spellings that a link allows, one in `known` wins, then the one as written.
    """
    spellings = []
    if path.is_relative_to(tests):
        spellings.append(_posix(path.relative_to(tests)))
        if spellings[0] in known or not known:
            return spellings[0]
    real_tests = Path(os.path.realpath(tests))
    same = (folder for folder in (path, *path.parents) if os.path.realpath(folder) == str(real_tests))
    spellings += [_posix(path.relative_to(folder)) for folder in same]
    real = Path(os.path.realpath(path))
    if real.is_relative_to(real_tests):
        spellings.append(_posix(real.relative_to(real_tests)))
    return next((spelling for spelling in spellings if spelling in known), spellings[0] if spellings else None)


def _posix(path: Path) -> str:
    text = path.as_posix()
    return "" if text == "." else text


def _is_clean(argument: str, leaf: str | None) -> bool:
    path = argument if leaf is None else argument[: -len(leaf) - 2]
    return "[" not in path and "::" not in path


def _spell(path: Path, leaf: str | None, start: Path) -> str | None:
    """Return an argument that pytest resolves to `path`, None where there is none."""
    for text in (os.path.relpath(path, start), str(path)):
        if _is_clean(text, None):
            return text if leaf is None else f"{text}::{leaf}"
    return None


def _ancestor(path: Path, tests: Path, start: Path) -> str:
    for folder in path.parents:
        spelled = _spell(folder, None, start)
        if spelled is not None or folder == tests:
            return spelled if spelled is not None else str(folder)
    return str(tests)


def _plain(argument: str, found: tuple[Path, str | None] | None, start: Path) -> str:
    """Return an argument that is not ours, spelled so that pytest can read it where only its way up is the trouble."""
    if found is None or found[1] is not None or _is_clean(argument, None):
        return argument
    return _spell(found[0], None, start) or argument


class Layout:
    """The cases below ``tests/`` as a set of paths: which folders lead to them, which files they are.

    `tests` is spelled as pytest spells it. `cases` are keys. `excluded` are the user's own ``--ignore`` paths and
    `excluded_globs` the ``--ignore-glob`` patterns: the only exclusions that hold below ``tests/``.
    """

    def __init__(
        self,
        tests: Path,
        cases: Iterable[str],
        selection: tuple[Target, ...] | None,
        excluded: Sequence[str] = (),
        excluded_globs: Sequence[str] = (),
    ) -> None:
        self.tests = tests
        self._prefix = f"{tests}{os.sep}"
        self.cases = frozenset(cases)
        self._folders = folders_of(self.cases)
        self._selection = selection
        self._excluded = frozenset(os.path.abspath(path) for path in excluded)
        self._globs = [os.path.abspath(glob) for glob in excluded_globs]

    def key(self, path: Path) -> str | None:
        """Return the key of a path below ``tests/``, None for any other."""
        text = str(path)
        if text.startswith(self._prefix):
            return text[len(self._prefix) :].replace(os.sep, "/")
        return "" if path == self.tests else None

    def ignore(self, path: Path) -> bool | None:
        """Return whether pytest must ignore a path (True), must not (False), or may decide as always (None)."""
        key = self.key(path)
        if key is None:
            return None
        if path.name in CLOSED and key not in self._folders:
            return True
        if not self._selected(key):
            return True
        if key in self.cases or key in self._folders:
            return self._is_excluded(str(path))
        return None

    def _is_excluded(self, path: str) -> bool:
        return path in self._excluded or any(fnmatch.fnmatch(path, glob) for glob in self._globs)

    def _selected(self, key: str) -> bool:
        """Return whether a path is, leads to, or lies below what was asked for."""
        if self._selection is None:
            return True
        return any(
            key == target.path
            or not target.path
            or not key
            or key.startswith(f"{target.path}/")
            or target.path.startswith(f"{key}/")
            for target in self._selection
        )

    def leaves(self, key: str) -> frozenset[str] | None:
        """Return the leaves of a case that were asked for, None for all of them."""
        if self._selection is None:
            return None
        mine = [t for t in self._selection if not t.path or key == t.path or key.startswith(f"{t.path}/")]
        if any(target.leaf is None for target in mine):
            return None
        return frozenset(target.leaf for target in mine if target.leaf is not None)


def folders_of(keys: Iterable[str]) -> frozenset[str]:
    """Return the keys of all folders that lead to these cases, ``tests/`` itself (``""``) included."""
    found = {""}
    for key in keys:
        folder = key.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)
