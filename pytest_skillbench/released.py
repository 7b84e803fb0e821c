"""The released skill: what it is on the default branch, whether the working copy differs, and copies of both.

Gather: stands between `git`, `branch` and `checkout`, which know how to ask, and the planner, which wants to know:
two arms or three, and which bytes. The working copy is what git would consider (tracked, and untracked but not
ignored, as it lies on disk); the released version is what a checkout of the default branch's commit would write. They
differ where git itself would see an edit: in content, in a mode, in which files there are; never by how a clean
checkout came about.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from . import branch, checkout, git, working
from . import previous as released_tree
from .branch import DefaultBranch, default_branch
from .checkout import LineEnds
from .digest import Entry
from .errors import GitError, Problem
from .materialize import Item, package, stray_links, write
from .model import Base, PackageDigest, Value
from .previous import Blob, NoPreviousError, Previous
from .working import Place, WorkingCopy

__all__ = [
    "DefaultBranch",
    "Released",
    "compare",
    "default_branch",
    "materialize_previous",
    "materialize_working",
    "working_package",
]

UNCHANGED, NO_REPOSITORY = "unchanged", "not a git repository"


class Released(Value, frozen=True):
    """A skill's working copy against its released version.

    `base`: the default branch, None where it is not known. `previous`: the released version, None where there is none
    to run against; `reason` then says why, for ``base_reason`` (``unchanged`` has both, since the version exists).
    `problem`: the user can mend that reason, and this is how. `differs`: True also where there is nothing to compare
    with. `files`: those of the working copy that count, relative to the skill. `notes`: what a reader of the two
    versions should know, such as a Git LFS pointer that stands for its content. `line_ends`: of the working copy, and
    so of the released copy that it is run against.
    """

    base: Base | None
    reason: str | None
    problem: Problem | None
    differs: bool
    working: PackageDigest
    previous: PackageDigest | None
    files: tuple[str, ...]
    notes: tuple[str, ...]
    line_ends: LineEnds

    @property
    def regression(self) -> bool:
        """Tell whether there is a released version that an edit can have made worse: a three-arm run."""
        return self.previous is not None and self.differs


def compare(root: Path, skill_dir: Path) -> Released:
    """Compare the skill in `skill_dir` (absolute, or relative to `root`) with the released one of `root`'s repository.

    Nothing is written. Raises GitError where git can't be asked at all, and SkillbenchError for a file of the working
    copy that can't be read; a default branch that is not known is no exception but a `reason` with a `problem`.
    """
    place = working.locate(root, skill_dir)
    copy = working.scan(place)
    base: Base | None = None
    try:
        repository = _own_repository(place, copy)
        base = _base(repository)
        previous = released_tree.load(repository, base.commit, place.path, base.branch)
        return _compared(copy, base, previous, place)
    except NoPreviousError as none:
        return _result(copy, base, none.reason, problem=none.problem)


def working_package(root: Path, skill_dir: Path) -> PackageDigest:
    """Return the identity of the working copy alone, as `compare` records it. Raises as `compare` does."""
    return package(working.scan(working.locate(root, skill_dir)).entries)


def materialize_working(root: Path, skill_dir: Path, dest: Path) -> PackageDigest:
    """Copy the files of the working copy that count into `dest`, a new or empty folder; return what was written.

    The answer equals `Released.working` unless the working copy was edited in between. Raises as `compare` and
    `materialize.write` do.
    """
    copy = working.scan(working.locate(root, skill_dir))
    items = [Item(entry=entry, content=copy.folder / entry.path) for entry in copy.entries]
    return write(items, dest, copy.shown)


def materialize_previous(
    root: Path, base: Base, skill_path: str | Path, dest: Path, *, line_ends: LineEnds = "lf"
) -> PackageDigest:
    """Write the released skill into `dest`, a new or empty folder, as a checkout would; return what was written.

    `skill_path`: as `compare` takes it; `line_ends`: `Released.line_ends`. The answer then equals
    `Released.previous`. Attributes are those of the released commit; no filter is run, so a Git LFS file whose
    content is not in the repository's own store stays a pointer. Raises GitError where the commit has no such skill,
    and as `materialize.write` does.
    """
    place = working.locate(root, Path(skill_path))
    try:
        if place.repository is None:
            raise NoPreviousError(NO_REPOSITORY)
        previous = released_tree.load(place.repository, base.commit, place.path, base.branch)
    except NoPreviousError as none:
        problem = none.problem or Problem(path=place.shown, slug="git-no-released-skill", what=none.reason)
        raise GitError(problem) from None
    return write(released_tree.items(previous, line_ends), dest, place.shown)


def _own_repository(place: Place, copy: WorkingCopy) -> git.Repository:
    """Return the project's repository, where the skill is part of it."""
    if place.repository is None or place.outer is None:
        raise NoPreviousError(NO_REPOSITORY)
    if place.repository != place.outer:
        inner, outer = place.repository.top, place.outer.top
        if not inner.is_relative_to(outer):
            raise NoPreviousError("the skill lies outside this repository")
        where = inner.relative_to(outer).as_posix()
        submodule = any(entry.mode == git.SUBMODULE for entry in git.tracked(place.outer, where))
        kind = "a submodule" if submodule else "a repository of its own"
        raise NoPreviousError(f"in {kind} ({where}): its released versions are in another repository")
    if copy.ignored:
        raise NoPreviousError("git ignores this skill, so no version of it is released")
    return place.repository


def _base(repository: git.Repository) -> Base:
    try:
        found = branch.default_branch(repository)
    except GitError as error:
        problem = error.problems[0]
        if problem.slug == "git-no-commit":
            raise NoPreviousError("no commit yet") from None
        if problem.slug != "git-default-branch":
            raise
        raise NoPreviousError(problem.what, problem) from None
    return Base(branch=found.name, ref=found.ref, commit=found.commit)


def _compared(copy: WorkingCopy, base: Base, previous: Previous, place: Place) -> Released:
    line_ends = _line_ends(copy, previous)
    items = released_tree.items(previous, line_ends)
    entries = [item.entry for item in items]
    changed = _changes(copy, previous, line_ends, place)
    stray = stray_links(entries, place.shown)
    if stray and changed.paths:
        first = stray[0]
        raise NoPreviousError(f"on {base.branch} it can't be copied: {first.path}: {first.what}", first)
    notes = [*released_tree.notes(previous, entries, base.branch), *changed.notes]
    return _result(
        copy,
        base,
        None if changed.paths else UNCHANGED,
        differs=bool(changed.paths),
        previous=package(entries),
        notes=notes,
        line_ends=line_ends,
    )


def _result(
    copy: WorkingCopy,
    base: Base | None,
    reason: str | None,
    *,
    problem: Problem | None = None,
    differs: bool = True,
    previous: PackageDigest | None = None,
    notes: Sequence[str] = (),
    line_ends: LineEnds = "lf",
) -> Released:
    return Released(
        base=base,
        reason=reason,
        problem=problem,
        differs=differs,
        working=package(copy.entries),
        previous=previous,
        files=tuple(entry.path for entry in copy.entries),
        notes=(*copy.notes, *notes),
        line_ends=line_ends,
    )


class _Changes(Value, frozen=True):
    paths: tuple[str, ...]
    notes: tuple[str, ...]


def _bytes(copy: WorkingCopy, entry: Entry, blob: Blob) -> bytes:
    """Return a working file's bytes, without reading it where its digest says that they are the blob's."""
    if entry.bytes == len(blob.data) and entry.sha256 == hashlib.sha256(blob.data).hexdigest():
        return blob.data
    return copy.read(entry)


def _line_ends(copy: WorkingCopy, previous: Previous) -> LineEnds:
    entries = {entry.path: entry for entry in copy.entries if entry.link is None}
    files = [
        (_bytes(copy, entries[b.path], b), b.data, b.given)
        for b in previous.blobs
        if b.path in entries and b.mode != git.LINK
    ]
    return checkout.line_ends(files)


def _changes(copy: WorkingCopy, previous: Previous, line_ends: LineEnds, place: Place) -> _Changes:
    """Return the paths in which git would see an edit, and a note on each that differs in line ends only."""
    entries = {entry.path: entry for entry in copy.entries}
    blobs = {blob.path: blob for blob in previous.blobs}
    changed = sorted(entries.keys() ^ blobs.keys())
    doubtful = []
    for path in sorted(entries.keys() & blobs.keys()):
        entry, blob = entries[path], blobs[path]
        if blob.mode == git.LINK or entry.link is not None:
            same = blob.mode == git.LINK and entry.link == os.fsdecode(blob.data)
        elif entry.executable != (blob.mode == git.EXECUTABLE):
            same = False
        else:
            same = checkout.same(_bytes(copy, entry, blob), blob.data, blob.oid, blob.given, line_ends)
            if not same:
                doubtful.append(path)
                continue
        if not same:
            changed.append(path)
    notes = []
    # The branch may have changed the attributes: git looks at today's when it looks for edits.
    today = working.attributes(place, doubtful)
    for path in doubtful:
        work, blob = copy.read(entries[path]), blobs[path]
        if checkout.same(work, blob.data, blob.oid, today[path], line_ends):
            continue
        changed.append(path)
        if work.replace(b"\r\n", b"\n") == blob.data.replace(b"\r\n", b"\n"):
            notes.append(f"{path} differs in its line ends only")
    return _Changes(paths=tuple(sorted(changed)), notes=tuple(notes))
