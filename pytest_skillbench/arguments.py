"""What the command line's arguments mean that name something below ``tests/``, spelled so that pytest understands them.

Face (pytest), without pytest itself: paths in, answers out. pytest splits an argument at ``[`` and ``::`` wherever they
are, resolves no links, and its older versions lose a folder that is given together with something inside it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from .model import Value

CASE_FILE = "case.md"


def split_argument(argument: str, start: Path) -> tuple[Path, str | None] | None:
    """Return the path and the leaf (all behind its ``::``) that an argument names, None where no such path exists.

    Unlike pytest's own reading, the longest path that exists wins, so a folder may have ``[`` and ``::`` in its name.
    """
    head, leaf = argument, None
    while True:
        path = Path(os.path.abspath(start / head))
        if _exists(path):
            return path, leaf
        head, separator, last = head.rpartition("::")
        if not separator:
            return None
        leaf = last if leaf is None else f"{last}::{leaf}"


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
    """What one argument asks for: a path below ``tests/`` (``""`` for all of it) and, of a file, what is in it."""

    path: str
    leaf: str | None

    def covers(self, key: str, leaf: str) -> bool:
        """Return whether a node of the file at `key` is meant; `leaf` is all of its id behind the file."""
        if self.leaf is None:
            return not self.path or key == self.path or key.startswith(f"{self.path}/")
        return key == self.path and (leaf == self.leaf or leaf.startswith((f"{self.leaf}::", f"{self.leaf}[")))


class Arguments(Value, frozen=True):
    """Arguments that pytest can resolve, and the narrower selection that they stand for (None: nothing narrower)."""

    args: tuple[str, ...]
    selection: tuple[Target, ...] | None


class _Spelled(Value, frozen=True):
    """One argument as pytest is to see it; `real` is what it names (None: not known), `leaf` what of it."""

    text: str
    real: str | None
    leaf: str | None
    ours: bool


def understand(arguments: Sequence[str], start: Path, tests: Path, known: Collection[str]) -> Arguments:
    """Rewrite the arguments below `tests` so that pytest resolves each to the one canonical path of what it names.

    `known`: the keys of the cases and of the folders that lead to them; a link to one of them becomes it. Where a path
    can't be spelled for pytest, its nearest ancestor stands in, and the selection says what was meant. What another
    argument holds already is left out.
    """
    real_tests = os.path.realpath(tests)
    spelled: list[_Spelled] = []
    targets: list[Target] = []
    narrowed = False
    for argument in arguments:
        found = split_argument(argument, start)
        relative = relative_to_tests(found[0], tests, known) if found else None
        if found is None or relative is None:
            real = os.path.realpath(found[0]) if found else None
            leaf = found[1] if found else None
            spelled.append(_Spelled(text=_plain(argument, found, start), real=real, leaf=leaf, ours=False))
            continue
        path, leaf = found
        targets.append(Target(path=relative, leaf=leaf))
        shown = tests / relative
        text = argument if path == shown and _is_clean(argument, leaf) else _spell(shown, leaf, start)
        if text is None:
            narrowed = True
            shown, text, leaf = *_ancestor(shown, tests, start), None
        real = os.path.normpath(os.path.join(real_tests, shown.relative_to(tests)))
        spelled.append(_Spelled(text=text, real=real, leaf=leaf, ours=True))
    return Arguments(args=tuple(_without_overlap(spelled)), selection=tuple(targets) if narrowed else None)


def _without_overlap(spelled: Sequence[_Spelled]) -> list[str]:
    """Return the arguments without those of ours that repeat one before them or lie in another."""
    whole = {item.real for item in spelled if item.leaf is None}
    seen: set[tuple[str | None, str | None]] = set()
    kept = []
    for item in spelled:
        if item.ours and item.real is not None:
            held = item.leaf is not None and item.real in whole
            held = held or any(str(parent) in whole for parent in Path(item.real).parents)
            if held or (item.real, item.leaf) in seen:
                continue
            seen.add((item.real, item.leaf))
        kept.append(item.text)
    return kept


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


def _ancestor(path: Path, tests: Path, start: Path) -> tuple[Path, str]:
    """Return the nearest folder above `path`, not above `tests`, that can be spelled, and its spelling."""
    for folder in path.parents:
        text = _spell(folder, None, start)
        if text is not None:
            return folder, text
        if folder == tests:
            break
    return tests, str(tests)


def _plain(argument: str, found: tuple[Path, str | None] | None, start: Path) -> str:
    """Return an argument that is not ours, spelled so that pytest can read it where only its way up is the trouble."""
    if found is None or found[1] is not None or _is_clean(argument, None):
        return argument
    return _spell(found[0], None, start) or argument
