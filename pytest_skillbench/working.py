"""The working copy of a skill: which of its files count, read as they lie on disk.

Gather: a file counts where git would consider it, that is where it is tracked, or untracked and not ignored by a
``.gitignore``; what is deleted is gone. Outside a repository, and in a skill that git ignores altogether, every file
counts. What is never part of a skill (`digest.NOT_PACKAGED`) does not count in either version.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from . import checkout, digest, git
from .digest import Entry
from .errors import GitError, Problem
from .files import read_bounded
from .model import Value

SKILL_FILE = "SKILL.md"
_MAX_READ = 1 << 31


class Place(Value, frozen=True):
    """Where a skill is. `folder` is real; `path` is relative to the top of `repository`, ``""`` for the top itself.

    `repository` is the one that holds the skill's files, `outer` the project's: two where the skill is in a
    submodule. `shown` is the skill's name in messages.
    """

    folder: Path
    shown: str
    repository: git.Repository | None
    outer: git.Repository | None
    path: str


class WorkingCopy(Value, frozen=True):
    """The files that count, in the order of the tree digest. `ignored`: git ignores the whole skill."""

    folder: Path
    shown: str
    entries: tuple[Entry, ...]
    notes: tuple[str, ...]
    ignored: bool

    def read(self, entry: Entry) -> bytes:
        """Return a file's bytes. Raises SkillbenchError where it is gone or can't be read."""
        shown = f"{self.shown}/{entry.path}"
        try:
            return read_bounded(self.folder / entry.path, _MAX_READ, shown)
        except FileNotFoundError:
            raise GitError(Problem(path=shown, slug="tree-changed", what="gone while it was read")) from None


def locate(root: Path, skill_dir: Path) -> Place:
    """Return where a skill is; `skill_dir` is absolute or relative to `root`. Raises GitError for a broken ``.git``."""
    folder = Path(os.path.realpath(root / skill_dir))
    repository = git.find(folder)
    path = "" if repository is None else folder.relative_to(repository.top).as_posix()
    shown = os.path.relpath(root / skill_dir, root)
    return Place(
        folder=folder,
        shown=shown,
        repository=repository,
        outer=git.find(root),
        path="" if path == "." else path,
    )


def counts(path: str) -> bool:
    """Tell whether a path, relative to the skill, can be part of a skill at all."""
    return digest.NOT_PACKAGED.isdisjoint(path.split("/"))


def scan(place: Place) -> WorkingCopy:
    """Read the working copy. Raises GitError where git can't be asked, SkillbenchError for an unreadable file."""
    entries: list[Entry] = []
    notes: list[str] = []
    if place.repository is not None:
        _scan(place.repository, place.path, place, "", entries, notes)
    left_out = SKILL_FILE not in {entry.path for entry in entries} and (place.folder / SKILL_FILE).exists()
    if left_out or not entries:
        entries = list(digest.inventory(place.folder, skip=digest.NOT_PACKAGED, shown=place.shown))
    return WorkingCopy(
        folder=place.folder,
        shown=place.shown,
        entries=tuple(sorted(entries, key=lambda entry: os.fsencode(entry.path))),
        notes=tuple(notes),
        ignored=left_out and place.repository is not None,
    )


def attributes(place: Place, paths: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the attributes of files of the skill, by the ``.gitattributes`` files of the working tree."""
    if place.repository is None or not paths:
        return {path: {} for path in paths}
    prefix = f"{place.path}/" if place.path else ""
    found = git.attributes(place.repository.top, [prefix + path for path in paths], checkout.ATTRIBUTES)
    return {path[len(prefix) :]: given for path, given in found.items()}


def _scan(
    repository: git.Repository, path: str, place: Place, below: str, entries: list[Entry], notes: list[str]
) -> None:
    """Add the files of one repository at `path`; `below` is where its top is in the skill: ``sub/`` for a submodule."""
    prefix = f"{path}/" if path else ""
    # What git found out about the file system when the repository was made: whether it keeps exec bits at all.
    modes = git.settings(repository).get("core.filemode", ["true"])[-1].lower() != "false"
    for tracked in git.tracked(repository, path or "."):
        name = below + tracked.path[len(prefix) :]
        if not counts(name):
            continue
        if tracked.mode == git.SUBMODULE:
            _submodule(place, name, entries, notes)
        elif _is_here(place.folder, name):
            entry = digest.entry(place.folder, name, shown=place.shown)
            entries.append(entry if modes else _with_mode(entry, tracked.mode == git.EXECUTABLE))
        elif tracked.sparse:
            raise GitError(
                Problem(
                    path=f"{place.shown}/{name}",
                    slug="git-sparse",
                    what="left out by a sparse checkout",
                    expected=f"the whole skill: `git sparse-checkout add {place.path}`",
                )
            )
    for untracked in git.untracked(repository, path or "."):
        name = below + untracked[len(prefix) :]
        if not counts(name):
            continue
        if name.endswith("/"):
            notes.append(f"{name} is a git repository of its own, so it is no part of the skill")
            continue
        entry = digest.entry(place.folder, name, shown=place.shown)
        entries.append(entry if modes else _with_mode(entry, False))


def _submodule(place: Place, name: str, entries: list[Entry], notes: list[str]) -> None:
    inner = git.find(place.folder / name)
    if inner is None or inner.top != place.folder / name:
        notes.append(f"{name} is a submodule that is not checked out: `git submodule update --init`")
        return
    notes.append(f"{name} is a submodule: its files are in the working copy as they are checked out")
    _scan(inner, "", place, f"{name}/", entries, notes)


def _is_here(folder: Path, name: str) -> bool:
    """Tell whether a tracked file lies on disk: not deleted, not turned into a folder, not behind a link."""
    place = folder / name
    if os.path.realpath(place.parent) != str(place.parent) or not os.path.lexists(place):
        return False
    return place.is_symlink() or not place.is_dir()


def _with_mode(entry: Entry, executable: bool) -> Entry:
    return msgspec.structs.replace(entry, executable=executable and entry.link is None)
