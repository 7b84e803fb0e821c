"""Copies of a folder's content: a clean one of what the user froze, a faithful one of what an arm left behind.

Gather: used by `worlds` alone. Bytes are shared with the source where the file system can do that (reflinks), else
copied. The source is only read, without following links and without blocking.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import sys
from collections.abc import Collection
from pathlib import Path

from .digest import inventory
from .errors import Problem, SkillbenchError

#: Every file and folder of a clean copy has this time (2020-01-01T00:00:00Z), so that no arm's world looks newer.
MTIME_SECONDS = 1_577_836_800
#: The most that a faithful copy takes: an arm can make a file that is larger than the disk without writing a block.
COPY_LIMIT = 4 << 30
_FICLONE = 0x40049409  # Linux, include/uapi/linux/fs.h
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def copy_clean(
    source: Path | None,
    target: Path,
    *,
    skip: Collection[str] = (),
    leave_out: Collection[str] = (),
    folders: Collection[str] = (),
    writable: bool = True,
) -> None:
    """Fill the empty folder `target` with the files and inner links of `source` (None: with nothing).

    Only folders with something in them and those in `folders` are made, since that is what git keeps. `skip`: names
    left out at any depth; `leave_out`: paths left out. Modes are 0644/0755, or 0444/0555 where not `writable`; times
    are `MTIME_SECONDS`. Raises SkillbenchError for what has no place in such a tree (`digest.inventory`), or OSError.
    """
    made = {"."}
    for name in folders:
        made |= _make_folders(target, name)
    entries = inventory(source, skip=skip) if source is not None else ()
    # Links last, so that nothing is ever written through one.
    for entry in sorted(entries, key=lambda entry: entry.link is not None):
        if entry.path in leave_out:
            continue
        made |= _make_folders(target, os.path.dirname(entry.path))
        place = target / entry.path
        if entry.link is not None:
            os.symlink(entry.link, place)
            with contextlib.suppress(NotImplementedError):  # links have no times on some systems
                os.utime(place, (MTIME_SECONDS, MTIME_SECONDS), follow_symlinks=False)
            continue
        mode = (0o755 if entry.executable else 0o644) & (0o777 if writable else 0o555)
        _copy_file(os.path.join(source or "", entry.path), str(place), mode)
        os.utime(place, (MTIME_SECONDS, MTIME_SECONDS))
    # Deepest first: what is made in a folder changes its time, and needs it to be writable.
    for name in sorted(made, key=lambda name: name.count("/"), reverse=True):
        os.chmod(target / name, 0o755 if writable else 0o555)
        os.utime(target / name, (MTIME_SECONDS, MTIME_SECONDS))
    os.utime(target, (MTIME_SECONDS, MTIME_SECONDS))


def copy_as_left(source: Path, target: Path, limit: int = COPY_LIMIT) -> None:
    """Fill the empty folder `target` with what is in `source`, whatever that is.

    Modes and empty folders are kept, special files left out, links kept as they are but for absolute ones into
    `source`, which lead into `target`. What can't be read is there, with its mode, and empty. A `source` that is gone
    or is no folder any more is empty. Raises SkillbenchError where the files hold more than `limit` bytes, and OSError.
    """
    if source.is_symlink() or not source.is_dir():
        return
    taken = 0
    modes: list[tuple[str, int]] = []
    stack = [""]
    while stack:
        folder = stack.pop()
        try:
            with os.scandir(os.path.join(source, folder)) as listing:
                children = list(listing)
        except PermissionError:
            continue
        for child in children:
            path = os.path.join(folder, child.name)
            try:
                status = child.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # something that the arm left running took it away
            place = os.path.join(target, path)
            if stat.S_ISDIR(status.st_mode):
                os.mkdir(place, 0o700)
                modes.append((place, stat.S_IMODE(status.st_mode) & 0o777))
                stack.append(path)
            elif stat.S_ISLNK(status.st_mode):
                os.symlink(_led_over(os.readlink(child.path), source, target), place)
            elif stat.S_ISREG(status.st_mode):
                taken += status.st_size
                if taken > limit:
                    raise SkillbenchError(
                        Problem(path=str(source), slug="world-too-large", what=f"holds more than {limit:,} bytes")
                    )
                _copy_left_file(child.path, place, stat.S_IMODE(status.st_mode) & 0o777)
    for place, mode in reversed(modes):
        os.chmod(place, mode)


def _make_folders(target: Path, name: str) -> set[str]:
    """Make the folder `name` below `target`; return it and every folder on the way."""
    os.makedirs(target / name, exist_ok=True)
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return {"/".join(parts[: depth + 1]) for depth in range(len(parts))}


def _led_over(link: str, source: Path, target: Path) -> str:
    for start in (str(source), os.path.realpath(source)):
        if link == start or link.startswith(start + "/"):
            return str(target) + link[len(start) :]
    return link


def _copy_left_file(source: str, target: str, mode: int) -> None:
    try:
        _copy_file(source, target, mode)
    except PermissionError:
        if not os.path.lexists(target):
            os.close(os.open(target, _CREATE, 0o600))
        os.chmod(target, mode)


def _copy_file(source: str, target: str, mode: int) -> None:
    with open(os.open(source, _READ), "rb") as old, open(os.open(target, _CREATE, 0o600), "r+b") as new:
        if not _share(old.fileno(), new.fileno()):
            shutil.copyfileobj(old, new, 1 << 20)
        new.flush()
        os.fchmod(new.fileno(), mode)


def _share(source: int, target: int) -> bool:
    """Let `target` share the blocks of `source`; False where this file system, or this system, can't."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.ioctl(target, _FICLONE, source)
            return True
    return False
