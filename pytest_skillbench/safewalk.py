"""The one way in which this program reads a tree of files: bounded, without following links, without blocking.

Gather: used by `digest`, which gives trees their identity, and by `evidence`, whose rules are stricter. Every folder
is opened below the one that holds it, so that nothing that is swapped meanwhile leads out of the tree; `safefile`
reads the files.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection, Mapping
from operator import attrgetter

from .model import Value
from .safefile import (
    FOLDER,
    NotAccepted,
    Refusal,
    Refused,
    Rules,
    Seen,
    check_kind,
    identity_of,
    kept_link,
    read_opened,
    seen_of,
)

_NAME, _PATH = attrgetter("name"), attrgetter("path")


class Walked(Value, frozen=True):
    """A tree: its files and kept links by path, sorted by the UTF-8 bytes of that, its folders, and what was refused.

    `followed` are the links whose target was taken, each with that.
    """

    seen: tuple[Seen, ...]
    folders: tuple[str, ...]
    refusals: tuple[Refusal, ...]
    followed: tuple[tuple[str, str], ...]

    def same(self, other: Walked) -> bool:
        """Tell whether both walks saw the same folders and, going by their identity, the same files."""
        mine = [(seen.path, seen.identity) for seen in self.seen]
        theirs = [(seen.path, seen.identity) for seen in other.seen]
        return mine == theirs and self.folders == other.folders


def walk(
    root: str,
    rules: Rules,
    *,
    skip: Collection[str] = (),
    skip_top: Collection[str] = (),
    read: bool = True,
    keep: bool = False,
    known: Mapping[str, Seen] | None = None,
) -> Walked:
    """Return what is below `root`.

    `skip`: names left out at any depth, `skip_top`: in the root alone. Not `read`: files are not opened and have no
    digest. `keep`: their bytes are returned. `known`: files by path whose digest is taken from there, unread, where
    their identity is the same. Raises nothing: a root that can't be read is a refusal as well.
    """
    walker = _Walker(root, rules, skip, read=read, keep=keep, known=known or {})
    with contextlib.suppress(_Enough):
        walker.start(skip_top)
    return Walked(
        seen=tuple(_in_byte_order(walker.seen)),
        folders=tuple(sorted(walker.folders)),
        refusals=tuple(walker.refusals),
        followed=tuple(walker.followed),
    )


class _Enough(Exception):  # noqa: N818  # ends a walk that is over a limit
    pass


class _Walker:
    def __init__(
        self, root: str, rules: Rules, skip: Collection[str], *, read: bool, keep: bool, known: Mapping[str, Seen]
    ) -> None:
        self.root = root
        self.rules = rules
        self.skip = skip
        self.read = read
        self.keep = keep
        self.known = known
        self.seen: list[Seen] = []
        self.folders: list[str] = []
        self.refusals: list[Refusal] = []
        self.followed: list[tuple[str, str]] = []
        self.entries = 0
        self.files = 0
        self.total = 0

    def refuse(self, path: str, kind: Refused, detail: str = "") -> None:
        self.refusals.append(Refusal(path=path, kind=kind, detail=detail))

    def start(self, skip_top: Collection[str]) -> None:
        try:
            if self.rules.links == "never" and os.path.islink(self.root):
                return self.refuse("", "link", os.readlink(self.root))
            fd = os.open(self.root, FOLDER)
        except OSError as error:
            return self.refuse("", "unreadable", error.strerror or "")
        return self.folder(fd, "", {*self.skip, *skip_top}, [_node(os.fstat(fd))])

    def folder(self, fd: int, path: str, skip: Collection[str], above: list[tuple[int, int]]) -> None:
        """Visit an open folder, which is closed at the end. `above`: it and the folders that it is in."""
        try:
            with os.scandir(fd) as listing:
                children = sorted((child for child in listing if child.name not in skip), key=_NAME)
            for child in children:
                self.child(fd, child, f"{path}/{child.name}" if path else child.name, above)
        except OSError as error:
            self.refuse(path, "unreadable", error.strerror or "")
        finally:
            os.close(fd)

    def child(self, fd: int, child: os.DirEntry[str], path: str, above: list[tuple[int, int]]) -> None:
        self.entries += 1
        if self.rules.entries is not None and self.entries > self.rules.entries:
            self.refuse("", "too-many", f"{self.rules.entries} entries")
            raise _Enough
        try:
            status = child.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                return self.file(fd, child.name, path, status)
            if stat.S_ISLNK(status.st_mode):
                if self.rules.links == "never":
                    raise NotAccepted("link", path)
                target = os.readlink(child.name, dir_fd=fd)
                if self.rules.links == "inner":
                    _check_inner(self.root, path, target)
                    return self.seen.append(kept_link(path, target, status))
                status = _behind(fd, child.name, path, target)
                self.followed.append((path, target))
            if stat.S_ISDIR(status.st_mode):
                self.enter(fd, child.name, path, above)
            else:
                self.file(fd, child.name, path, status)
        except NotAccepted as error:
            self.refusals.append(error.refusal)
        except OSError as error:
            self.refuse(path, "unreadable", error.strerror or "")
        return None

    def enter(self, fd: int, name: str, path: str, above: list[tuple[int, int]]) -> None:
        if len(above) > self.rules.depth:
            raise NotAccepted("too-deep", path, str(self.rules.depth))
        follow = self.rules.links == "follow"
        inner = os.open(name, FOLDER if follow else FOLDER | os.O_NOFOLLOW, dir_fd=fd)
        node = _node(os.fstat(inner))
        if follow and node in above:
            os.close(inner)
            raise NotAccepted("link-cycle", path)
        self.folders.append(path)
        self.folder(inner, path, self.skip, [*above, node])

    def file(self, fd: int, name: str, path: str, status: os.stat_result) -> None:
        rules = self.rules
        check_kind(status, path, rules)
        self.files += 1
        if rules.files is not None and self.files > rules.files:
            self.refuse("", "too-many", f"{rules.files} files")
            raise _Enough
        self.total += status.st_size
        if rules.total is not None and self.total > rules.total:
            self.refuse("", "too-large", str(rules.total))
            raise _Enough
        before = self.known.get(path)
        if before is not None and before.identity == identity_of(status):
            self.seen.append(before)
            return
        sha256, data = read_opened(fd, name, path, status, rules, keep=self.keep) if self.read else ("", None)
        self.seen.append(seen_of(path, status, sha256, data))


def _in_byte_order(found: list[Seen]) -> list[Seen]:
    """Return files in the order of their paths' bytes, which for all that is text is that of their code points."""
    if all(seen.path.isascii() for seen in found):
        return sorted(found, key=_PATH)
    return sorted(found, key=lambda seen: os.fsencode(seen.path))


def _node(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _behind(fd: int, name: str, path: str, target: str) -> os.stat_result:
    """Return the status of what a link leads to."""
    try:
        return os.stat(name, dir_fd=fd)
    except OSError:
        raise NotAccepted("link-dangling", path, target) from None


def _check_inner(root: str, path: str, target: str) -> None:
    """Refuse a link that leaves the tree as it is written, or by way of other links, or that leads nowhere."""
    written = os.path.normpath(os.path.join(os.path.dirname(path), target))
    if os.path.isabs(target) or written == ".." or written.startswith("../"):
        raise NotAccepted("link-leaves", path, target)
    try:
        real = os.path.realpath(os.path.join(root, path), strict=True)
    except OSError:
        raise NotAccepted("link-dangling", path, target) from None
    if real != root and not real.startswith(root.rstrip("/") + "/"):
        raise NotAccepted("link-leaves", path, target)
