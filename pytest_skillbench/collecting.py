"""Which paths below ``tests/`` pytest may look at.

Face (pytest), without pytest itself: paths in, answers out. A case's key is its ``case.md`` relative to ``tests/`` with
``/``, so that it does not matter through which link somebody came.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from .arguments import Target

CLOSED = frozenset({"fixture", ".reports"})


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
        mine = [t for t in self._selection if key == t.path or t.covers(key, "")]
        if any(target.leaf is None for target in mine):
            return None
        return frozenset(target.leaf for target in mine if target.leaf is not None)

    def unasked(self, path: Path, leaf: str) -> bool:
        """Return whether a node that not ours, below ``tests/``, was collected only on the way to others."""
        key = self.key(path) if self._selection is not None else None
        return key is not None and not any(target.covers(key, leaf) for target in self._selection or ())


def folders_of(keys: Iterable[str]) -> frozenset[str]:
    """Return the keys of all folders that lead to these cases, ``tests/`` itself (``""``) included."""
    found = {""}
    for key in keys:
        folder = key.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)
