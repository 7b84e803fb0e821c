"""The one way in which this program reads a file of a tree: as what it was seen to be, and looked at again afterwards.

Gather: the file's part of `safewalk`. A file is opened without following links and without blocking; what is not
accepted is returned as data, so that each caller says it in its own words.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable
from operator import attrgetter
from typing import Literal, TypeAlias

from .model import Value

Refused: TypeAlias = Literal[
    "changed",
    "file-too-large",
    "hard-link",
    "link",
    "link-cycle",
    "link-dangling",
    "link-leaves",
    "special",
    "too-deep",
    "too-large",
    "too-many",
    "unreadable",
]
Data: TypeAlias = bytes | None  # within `Seen`, `bytes` is a field
Identity: TypeAlias = tuple[int, int, int, int, int, int, int]

_CHUNK = 1 << 20
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
#: What changes whenever a file's bytes change, of what `os.stat` returns.
identity_of: Callable[[os.stat_result], Identity] = attrgetter(
    "st_dev", "st_ino", "st_mode", "st_nlink", "st_size", "st_mtime_ns", "st_ctime_ns"
)


class Rules(Value, frozen=True, kw_only=True):
    """What a tree may be.

    `links`: ``inner`` keeps symbolic links that stay inside as links, ``never`` refuses every link, ``follow`` takes
    what they lead to in their place. `depth`: folders below the root; `entries`: files, folders and links together;
    `files`, `total` and `file`: the most files, bytes in all and bytes in one. None is no limit.
    """

    links: Literal["inner", "never", "follow"]
    hard_links: bool
    depth: int
    entries: int | None = None
    files: int | None = None
    total: int | None = None
    file: int | None = None


class Seen(Value, frozen=True):
    """One file or kept link. `sha256` and `bytes` are of the file's bytes, or of a link's target as written.

    `identity` tells whether it is still the same, unread; `data` are the bytes where they were asked for; `link` is
    the target of a link that was kept.
    """

    path: str
    sha256: str
    bytes: int
    executable: bool
    link: str | None
    identity: Identity
    data: Data


class Refusal(Value, frozen=True):
    """Something that is not accepted, at `path` below the root ("" for the root). `detail`: a link's target, …."""

    path: str
    kind: Refused
    detail: str = ""


class NotAccepted(Exception):  # noqa: N818  # a message to the caller, which makes an error of it
    """One thing that is not accepted, where only one thing was asked for."""

    def __init__(self, kind: Refused, path: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {path}")
        self.refusal = Refusal(path=path, kind=kind, detail=detail)


def read_file(root: str, path: str, rules: Rules) -> bytes:
    """Return the bytes of the file at `path` below `root`, a path without ``.`` and ``..``, by the rules of a walk.

    Raises NotAccepted, and FileNotFoundError where there is none.
    """
    *folders, name = path.split("/")
    flags = FOLDER if rules.links == "follow" else FOLDER | os.O_NOFOLLOW
    with contextlib.ExitStack() as opened:
        try:
            fd = os.open(root, flags)
            opened.callback(os.close, fd)
            for folder in folders:
                fd = _enter(fd, folder, path, flags)
                opened.callback(os.close, fd)
            status = os.stat(name, dir_fd=fd, follow_symlinks=rules.links == "follow")
            check_kind(status, path, rules)
            _, data = read_opened(fd, name, path, status, rules, keep=True)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise NotAccepted("unreadable", path, error.strerror or "") from error
    return data or b""


def seen_at(root: str, path: str) -> Seen:
    """Return one file or link below `root`; where a link leads is not looked at. Raises NotAccepted and OSError."""
    place = os.path.join(root, path)
    status = os.lstat(place)
    rules = Rules(links="inner", hard_links=True, depth=0)
    if stat.S_ISLNK(status.st_mode):
        return kept_link(path, os.readlink(place), status)
    check_kind(status, path, rules)
    sha256, _ = read_opened(None, place, path, status, rules, keep=False)
    return seen_of(path, status, sha256, None)


def seen_of(path: str, status: os.stat_result, sha256: str, data: bytes | None) -> Seen:
    """Return a file that was read, or only looked at."""
    return Seen(
        path=path,
        sha256=sha256,
        bytes=status.st_size,
        executable=bool(status.st_mode & stat.S_IXUSR),
        link=None,
        identity=identity_of(status),
        data=data,
    )


def kept_link(path: str, target: str, status: os.stat_result) -> Seen:
    """Return a link that is kept as such."""
    raw = os.fsencode(target)
    return Seen(
        path=path,
        sha256=hashlib.sha256(raw).hexdigest(),
        bytes=len(raw),
        executable=False,
        link=target,
        identity=identity_of(status),
        data=None,
    )


def check_kind(status: os.stat_result, path: str, rules: Rules) -> None:
    """Refuse what is no plain file of an accepted size."""
    if not stat.S_ISREG(status.st_mode):
        raise NotAccepted("link" if stat.S_ISLNK(status.st_mode) else "special", path)
    if status.st_nlink != 1 and not rules.hard_links:
        raise NotAccepted("hard-link", path)
    if rules.file is not None and status.st_size > rules.file:
        raise NotAccepted("file-too-large", path, str(rules.file))


def _enter(fd: int, name: str, path: str, flags: int) -> int:
    """Return the folder `name` of the folder `fd`, opened. Raises NotAccepted and OSError."""
    try:
        if flags & os.O_NOFOLLOW and stat.S_ISLNK(os.lstat(name, dir_fd=fd).st_mode):
            raise NotAccepted("link", path)
        return os.open(name, flags, dir_fd=fd)
    except NotADirectoryError:
        raise NotAccepted("unreadable", path, f"{name} is no folder") from None


def read_opened(
    fd: int | None, name: str, path: str, before: os.stat_result, rules: Rules, *, keep: bool
) -> tuple[str, bytes | None]:
    """Return the digest and, to `keep`, the bytes of the file that `before` is of. Raises NotAccepted and OSError."""
    identity, expected = identity_of(before), before.st_size
    file = os.open(name, _FILE if rules.links == "follow" else _FILE | os.O_NOFOLLOW, dir_fd=fd)
    try:
        if identity_of(os.fstat(file)) != identity:
            raise NotAccepted("changed", path)
        whole, size, chunks = hashlib.sha256(), 0, list[bytes]()
        # One byte more than there should be: a file that grows meanwhile is not read to its end.
        while size <= expected and (chunk := os.read(file, wanted := min(_CHUNK, expected + 1 - size))):
            whole.update(chunk)
            size += len(chunk)
            if keep:
                chunks.append(chunk)
            if size == expected and len(chunk) < wanted:
                break
        if size != expected or identity_of(os.fstat(file)) != identity:
            raise NotAccepted("changed", path)
    finally:
        os.close(file)
    return whole.hexdigest(), b"".join(chunks) if keep else None
