"""The identity of bytes on disk: a safe walk of a tree, its inventory, and digests of trees, cases and suites.

Gather: reads files and never follows a link. The tree digest is SHA-256 over ``path + NUL + sha256 hex + LF`` in the
order of the paths' UTF-8 bytes; an executable file and a link are marked, so that they change it too, and a tree of
plain files has exactly that digest.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterable
from pathlib import Path

from .errors import Problem, SkillbenchError
from .model import PackageDigest, Value

NOT_PACKAGED = frozenset({".git", "__pycache__", ".DS_Store"})
MAX_DEPTH = 64
_CHUNK = 1 << 20


class Entry(Value, frozen=True):
    """One file or symbolic link below a root. `link`: its target as written, which `sha256` and `bytes` are then of."""

    path: str
    sha256: str
    bytes: int
    executable: bool
    link: str | None


def inventory(root: Path, *, skip: Collection[str] = (), shown: str | None = None) -> tuple[Entry, ...]:
    """Return every file and inner link below `root`, sorted by the UTF-8 bytes of the path.

    `skip`: names left out at any depth; `shown`: the root's name in messages. Files are opened without following links
    and without blocking, and looked at again after reading. Raises SkillbenchError with all problems: a link that
    leaves the tree or leads nowhere, a special file, something unreadable, a file that changed meanwhile.
    """
    name = str(root) if shown is None else shown
    real = os.path.realpath(root)
    entries: list[Entry] = []
    problems: list[Problem] = []
    folders: list[tuple[str, int]] = [("", 0)]
    while folders:
        folder, depth = folders.pop()
        try:
            with os.scandir(os.path.join(real, folder)) as listing:
                children = sorted(listing, key=lambda child: os.fsencode(child.name))
        except OSError as error:
            problems.append(_problem(name, folder, "tree-unreadable", f"can't be read: {error.strerror}"))
            continue
        for child in children:
            if child.name in skip:
                continue
            path = f"{folder}/{child.name}" if folder else child.name
            if child.is_dir(follow_symlinks=False):
                if depth >= MAX_DEPTH:
                    problems.append(_problem(name, path, "tree-too-deep", f"more than {MAX_DEPTH} folders deep"))
                else:
                    folders.append((path, depth + 1))
                continue
            try:
                entries.append(_entry(real, path, child.is_symlink()))
            except _Refused as refused:
                problems.append(_problem(name, path, refused.slug, refused.what, refused.expected))
            except OSError as error:
                problems.append(_problem(name, path, "tree-unreadable", f"can't be read: {error.strerror}"))
    if problems:
        raise SkillbenchError(*problems)
    return tuple(sorted(entries, key=lambda entry: os.fsencode(entry.path)))


def entry(root: Path, path: str, *, shown: str | None = None) -> Entry:
    """Return one file or link below `root`, read as `inventory` reads it; where a link leads is not looked at.

    Raises SkillbenchError for a special file, something unreadable, a file that changed meanwhile.
    """
    real = os.path.realpath(root)
    name = str(root) if shown is None else shown
    try:
        return _entry(real, path, os.path.islink(os.path.join(real, path)), any_link=True)
    except _Refused as refused:
        raise SkillbenchError(_problem(name, path, refused.slug, refused.what, refused.expected)) from None
    except OSError as error:
        what = f"can't be read: {error.strerror}"
        raise SkillbenchError(_problem(name, path, "tree-unreadable", what)) from error


def tree_digest(entries: Iterable[Entry]) -> str:
    """Return the digest of an inventory, as 64 hex digits."""
    whole = hashlib.sha256()
    for entry in entries:
        kind = b"\0link" if entry.link is not None else b"\0executable" if entry.executable else b""
        whole.update(os.fsencode(entry.path) + b"\0" + entry.sha256.encode() + kind + b"\n")
    return whole.hexdigest()


def package(root: Path) -> PackageDigest:
    """Return the identity of a skill's folder, without what is never part of a skill (`NOT_PACKAGED`)."""
    entries = inventory(root, skip=NOT_PACKAGED)
    return PackageDigest(
        tree_sha256=tree_digest(entries), files=len(entries), bytes=sum(entry.bytes for entry in entries)
    )


def fixture(root: Path | None) -> str | None:
    """Return the digest of a case's ``fixture/``, None for an empty world.

    No folder and an empty one are the same: git keeps no empty folder, so a fresh clone must not look different.
    """
    if root is None or not os.path.lexists(root):
        return None
    return tree_digest(entries) if (entries := inventory(root)) else None


def case_digest(data: bytes) -> str:
    """Return the SHA-256 of a ``case.md``, the same for LF, CRLF and CR, with and without a byte-order mark."""
    text = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return hashlib.sha256(text).hexdigest()


def suite_digest(cases: Iterable[tuple[str, str, str | None]]) -> str:
    """Return the SHA-256 of a skill's cases, each as name, case digest, fixture digest; their order changes nothing."""
    whole = hashlib.sha256()
    for name, case, world in sorted(cases, key=lambda row: row[0]):
        whole.update(f"{name}\0{case}\0{world or '-'}\n".encode())
    return whole.hexdigest()


class _Refused(Exception):  # noqa: N818  # never leaves this module
    def __init__(self, slug: str, what: str, expected: str) -> None:
        super().__init__(what)
        self.slug, self.what, self.expected = slug, what, expected


def _problem(root: str, path: str, slug: str, what: str, expected: str | None = None) -> Problem:
    return Problem(path=f"{root}/{path}" if path else root, slug=slug, what=what, expected=expected)


def _entry(root: str, path: str, is_link: bool, *, any_link: bool = False) -> Entry:
    place = os.path.join(root, path)
    if is_link:
        target = os.readlink(place)
        if not any_link:
            _check_link(root, path, target)
        raw = os.fsencode(target)
        digest = hashlib.sha256(raw).hexdigest()
        return Entry(path=path, sha256=digest, bytes=len(raw), executable=False, link=target)
    before = os.lstat(place)
    if not stat.S_ISREG(before.st_mode):
        raise _Refused("tree-special-file", "not a regular file", "files, folders and inner links only")
    fd = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with open(fd, "rb", buffering=0) as file:
        opened = os.fstat(fd)
        digest_, size = hashlib.sha256(), 0
        while chunk := file.read(_CHUNK):
            digest_.update(chunk)
            size += len(chunk)
        after = os.fstat(fd)
    if _identity(before) != _identity(opened) or _identity(opened) != _identity(after) or size != after.st_size:
        raise _Refused("tree-changed", "changed while it was read", "nothing that writes here meanwhile")
    executable = bool(after.st_mode & stat.S_IXUSR)
    return Entry(path=path, sha256=digest_.hexdigest(), bytes=size, executable=executable, link=None)


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns


def _check_link(root: str, path: str, target: str) -> None:
    """Refuse a link that leaves the tree as it is written, or by way of other links, or that leads nowhere."""
    expected = "a link to something inside this folder"
    written = os.path.normpath(os.path.join(os.path.dirname(path), target))
    if os.path.isabs(target) or written == ".." or written.startswith("../"):
        raise _Refused("tree-link-leaves", f'a link that leaves the folder, to "{target}"', expected)
    try:
        real = os.path.realpath(os.path.join(root, path), strict=True)
    except OSError:
        raise _Refused("tree-link-dangling", f'a link that leads nowhere, to "{target}"', expected) from None
    if real != root and not real.startswith(root.rstrip("/") + "/"):
        raise _Refused("tree-link-leaves", f'a link that leaves the folder, to "{target}"', expected)
