"""The folders below skills/ or tests/, by one rule for links: followed once, never out of the repository.

Gather: lists folders, reads no file. `tree` decides what the folders mean.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from .errors import Problem, Severity
from .model import Value


class Folder(Value, frozen=True):
    """One folder: its path below the walk's root (``""`` for that itself), where it really is, what lies in it.

    `files` are the names of everything that is no folder, and whether each is a symbolic link; `folders` the names of
    all folders, whether entered or not.
    """

    path: str
    real: str
    files: dict[str, bool]
    folders: tuple[str, ...]

    def below(self, name: str) -> str:
        """Return the path of something in this folder."""
        return folder_path(self.path, name)


def folder_path(folder: str, name: str) -> str:
    """Return the path of `name` in the folder at `folder`, which is "" for the root."""
    return f"{folder}/{name}" if folder else name


class _Walk:
    def __init__(self, root: Path, boundary: Path, shown: str, enter: Callable[[Folder, str], bool]) -> None:
        self.root = os.path.realpath(root)
        self.boundary = os.path.realpath(boundary)
        self.shown = shown
        self.enter = enter
        self.found: dict[str, Folder] = {}
        self.problems: list[Problem] = []
        self.seen: dict[tuple[int, int], str] = {}
        self.links: list[tuple[str, str]] = []

    def problem(self, path: str, slug: str, what: str, expected: str, severity: Severity) -> None:
        shown = f"{self.shown}/{path}" if path else self.shown
        self.problems.append(Problem(path=shown, slug=slug, what=what, expected=expected, severity=severity))

    def down(self, path: str, real: str) -> None:
        """Visit every real folder from here on; put the links to folders aside."""
        stack = [(path, real)]
        while stack:
            path, real = stack.pop()
            try:
                status = os.stat(real)
                with os.scandir(real) as listing:
                    entries = sorted(listing, key=lambda entry: os.fsencode(entry.name))
            except OSError as error:
                self.problem(
                    path, "folder-unreadable", f"can't be read: {error.strerror}", "a readable folder", "error"
                )
                continue
            if (status.st_dev, status.st_ino) in self.seen:
                continue
            self.seen[status.st_dev, status.st_ino] = path
            inner = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
            linked = [entry.name for entry in entries if entry.is_symlink() and os.path.isdir(entry.path)]
            apart = {*inner, *linked}
            for name in (entry.name for entry in entries if entry.is_symlink() and not os.path.exists(entry.path)):
                expected = "a link to something that is there"
                self.problem(folder_path(path, name), "link-dangling", "a link that leads nowhere", expected, "warning")
            folder = Folder(
                path=path,
                real=real,
                files={entry.name: entry.is_symlink() for entry in entries if entry.name not in apart},
                folders=tuple(sorted(apart)),
            )
            self.found[path] = folder
            self.links += [
                (folder.below(name), os.path.join(real, name)) for name in linked if self.enter(folder, name)
            ]
            stack += [(folder.below(name), os.path.join(real, name)) for name in inner if self.enter(folder, name)]

    def follow(self) -> None:
        """Visit what links lead to, where that is inside the repository and not yet seen."""
        while self.links:
            self.links.sort(reverse=True)
            path, place = self.links.pop()
            real = os.path.realpath(place)
            try:
                status = os.stat(real)
            except OSError:
                continue
            known = self.seen.get((status.st_dev, status.st_ino))
            if not _inside(real, self.boundary):
                expected = "a folder inside the repository"
                self.problem(
                    path, "link-leaves", "a link that leaves the repository, not followed", expected, "warning"
                )
            elif _inside(self.root, real):
                expected = "a link to a folder that does not hold it"
                self.problem(
                    path, "link-cycle", "a link that leads back to where it is, not followed", expected, "warning"
                )
            elif known is not None:
                expected = "each folder once"
                what = f"a link to {self.shown}/{known}, which is there already; not followed"
                self.problem(path, "link-alias", what, expected, "warning")
            elif ".git" not in real[len(self.boundary) :].split("/"):
                self.down(path, real)


def walk(
    root: Path, boundary: Path, shown: str, enter: Callable[[Folder, str], bool]
) -> tuple[dict[str, Folder], tuple[Problem, ...]]:
    """Return the folders below `root` (which exists), keyed and sorted by path, and what was not followed or readable.

    `boundary`: the repository; `shown`: the root's name in messages; `enter` tells whether to go into a folder of a
    folder. Real folders come first, so that a folder below `root` is found where it really is, never through a link.
    """
    walker = _Walk(root, boundary, shown, enter)
    if not _inside(walker.root, walker.boundary):
        walker.problem(
            "", "link-leaves", "a link that leaves the repository", "a folder inside the repository", "error"
        )
    else:
        walker.down("", walker.root)
        walker.follow()
    return dict(sorted(walker.found.items())), tuple(walker.problems)


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
