"""The released skill as a commit has it: its files as git stores them, and as a checkout would write them.

Gather: reads one skill's part of the default branch's commit through `git`, in two calls whatever the number of
files. Attributes are those of that commit; no filter is run.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import checkout, git, working
from .checkout import LineEnds
from .digest import Entry
from .errors import GitError, Problem
from .materialize import Item, is_safe
from .model import Value

NEW_SKILL = "new skill"
MAX_BYTES = 512 << 20  # of one released skill: it is held in memory


class Blob(Value, frozen=True):
    """One path of the released skill as git stores it."""

    path: str
    mode: int
    oid: str
    data: bytes
    given: Mapping[str, str]


class Previous(Value, frozen=True):
    """The released skill: its files as stored, and the notes on them."""

    blobs: tuple[Blob, ...]
    repository: git.Repository


class NoPreviousError(Exception):
    """There is no released version to run against: why, and how the user mends it where that is possible."""

    def __init__(self, reason: str, problem: Problem | None = None) -> None:
        super().__init__(reason)
        self.reason, self.problem = reason, problem


def load(repository: git.Repository, commit: str, path: str, name: str) -> Previous:
    """Return the skill at `path` of a commit of the branch `name`.

    Raises NoPreviousError where there is none, or none that this repository alone can give; GitError as `git.run` does.
    """
    prefix = f"{path}/" if path else ""
    above = [f"{parent.as_posix()}/" for parent in Path(path).parents if parent.as_posix() != "."] if path else []
    wanted = [path, *(f"{folder}.gitattributes" for folder in ("", *above))] if path else []
    try:
        found = git.tree(repository, commit, *wanted)
        mine = [entry for entry in found if entry.path.startswith(prefix) and working.counts(entry.path[len(prefix) :])]
        _check(repository, commit, path, name, mine)
        rules = [entry for entry in found if entry.path.split("/")[-1] == ".gitattributes" and _is_file(entry)]
        content = git.blobs(repository, (entry.oid for entry in [*mine, *rules]))
    except GitError as error:
        problem = error.problems[0]
        if problem.slug != "git-missing-object":
            raise
        raise NoPreviousError(f"{name} can't be read: {problem.what}; {problem.expected}", problem) from None
    given: dict[str, dict[str, str]] = {}
    if rules:
        texts = {entry.path: content[entry.oid] for entry in rules}
        given = git.base_attributes(texts, [entry.path for entry in mine], checkout.ATTRIBUTES)
    blobs = (
        Blob(path=e.path[len(prefix) :], mode=e.mode, oid=e.oid, data=content[e.oid], given=given.get(e.path, {}))
        for e in mine
    )
    return Previous(blobs=tuple(blobs), repository=repository)


def _is_file(entry: git.TreeEntry) -> bool:
    return entry.mode not in (git.LINK, git.SUBMODULE) and is_safe(entry.path)


def _check(repository: git.Repository, commit: str, path: str, name: str, mine: Sequence[git.TreeEntry]) -> None:
    """Refuse what is no skill on the default branch, or none that can be made from this repository alone."""
    prefix = f"{path}/" if path else ""
    if not any(entry.path == prefix + working.SKILL_FILE for entry in mine):
        moved = _moved(repository, commit, path)
        raise NoPreviousError(NEW_SKILL if moved is None else f"new skill at this path; {name} has it at {moved}")
    for entry in mine:
        if entry.mode == git.SUBMODULE:
            inner = entry.path[len(prefix) :]
            raise NoPreviousError(f"it holds a submodule ({inner}), whose files are in another repository")
    total = sum(entry.size or 0 for entry in mine)
    if total > MAX_BYTES:
        raise NoPreviousError(f"on {name} it has {total:,} bytes; at most {MAX_BYTES:,} can be compared")


def _moved(repository: git.Repository, commit: str, path: str) -> str | None:
    """Return where the commit has a skill of the same name, None where it has none."""
    name = path.rsplit("/", 1)[-1]
    ending = f"/{name}/{working.SKILL_FILE}"
    for other in git.names(repository, commit) if name else ():
        if f"/{other}".endswith(ending):
            return other[: -len(working.SKILL_FILE) - 1]
    return None


def items(previous: Previous, line_ends: LineEnds) -> list[Item]:
    """Return the files that a checkout writes, in the order of the tree digest."""
    found = []
    for blob in previous.blobs:
        link = os.fsdecode(blob.data) if blob.mode == git.LINK else None
        data = blob.data if link is not None else checkout.smudge(blob.data, blob.oid, blob.given, line_ends)
        content: bytes | Path = data
        sha256, size = hashlib.sha256(data).hexdigest(), len(data)
        stored = checkout.pointer(data) if link is None and blob.given.get("filter") == "lfs" else None
        store = _lfs_file(previous.repository, stored) if stored is not None else None
        if stored is not None and store is not None:
            content, sha256, size = store, stored.sha256, stored.size
        entry = Entry(path=blob.path, sha256=sha256, bytes=size, executable=blob.mode == git.EXECUTABLE, link=link)
        found.append(Item(entry=entry, content=content))
    return sorted(found, key=lambda item: os.fsencode(item.entry.path))


def _lfs_file(repository: git.Repository, stored: checkout.Pointer) -> Path | None:
    """Return the file with a pointer's content in the repository's own Git LFS store, None where it is not there."""
    folder = repository.git_dir
    if (folder / "commondir").is_file():
        folder = folder / (folder / "commondir").read_text().strip()
    place = folder / "lfs" / "objects" / stored.sha256[:2] / stored.sha256[2:4] / stored.sha256
    return place if place.is_file() and place.stat().st_size == stored.size else None


def notes(previous: Previous, entries: Sequence[Entry], name: str) -> list[str]:
    """Return what a reader should know of the version on the branch `name` as it is written out as `entries`."""
    sizes = {entry.path: entry.bytes for entry in entries}
    found = []
    for blob in previous.blobs:
        chosen = blob.given.get("filter", "unspecified")
        if chosen == "lfs" and checkout.pointer(blob.data) and sizes[blob.path] == len(blob.data):
            found.append(
                f"{blob.path} is a Git LFS pointer in the version on {name}: its content is not in this repository"
            )
        elif chosen not in ("lfs", "unspecified", "set", "unset"):
            found.append(f'{blob.path} is as git stores it in the version on {name}: the filter "{chosen}" is not run')
    return found
