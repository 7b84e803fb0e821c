"""Folders that appear whole or not at all: written beside their place, flushed to disk, put there by one rename.

Gather: used by `freeze` and `runs`. A process that is killed leaves at most a hidden folder beside the benchmark, which
no reader of evidence looks at; the next one that stages for the same place takes it away. Folders are 0700 and files
0600 whatever the umask says.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_HERE = -100  # AT_FDCWD: Linux, include/uapi/linux/fcntl.h
_RENAME_NOREPLACE = 1  # Linux, include/uapi/linux/fs.h
_RENAME_EXCL = 4  # macOS, sys/stdio.h
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
#: What a file system answers that has no locks for folders.
NO_LOCKS = (errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)
#: Up to so many files are flushed one by one; more than that take less time with all else that waits to be written.
_ONE_BY_ONE = 64


@contextlib.contextmanager
def staged(parent: Path, name: str, purpose: str) -> Iterator[Path]:
    """Make an empty hidden folder in `parent` in which what shall become `name` is written; it is removed at the end.

    Leftovers of processes that are gone are removed first: while a process stages, it holds a lock on its folder.
    Raises OSError.
    """
    prefix = f".{name}.{purpose}-"
    for leftover in sorted(parent.iterdir()):
        if re.fullmatch(rf"(\.)?{re.escape(prefix)}[0-9a-f]{{16}}(?(1)\.[a-z]+-[0-9a-f]{{16}})", leftover.name):
            _remove_if_dead(leftover)
    folder, lock = _make(parent, prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def write_files(folder: Path, files: Iterable[tuple[str, bytes]], folders: Iterable[str] = ()) -> None:
    """Write files and empty folders below `folder`, each with the folders on its way, and flush all of it to disk.

    Every file is new: raises FileExistsError for a path that is there, NotADirectoryError for one below a file, and
    any other OSError.
    """
    made = {""}
    items = tuple(files)
    together = _flusher() if len(items) > _ONE_BY_ONE else None
    for path, data in items:
        _make_folders(folder, path.rpartition("/")[0], made)
        _write(folder / path, data, flush=together is None)
    for path in folders:
        _make_folders(folder, path, made)
    if together is not None:
        _check(together(folder), folder)
        return
    for path in sorted(made, key=len, reverse=True):
        _flush_folder(folder / path)


def publish(folder: Path, place: Path) -> None:
    """Give a written folder its place, in one step. Raises FileExistsError if anything is there, and OSError."""
    rename_new(folder, place)
    _flush_folder(place.parent)
    if folder.parent != place.parent:
        _flush_folder(folder.parent)


def rename_new(source: Path, target: Path) -> None:
    """Rename, and never replace anything, which `os.rename` does with an empty folder. Raises OSError."""
    call = _exclusive_rename()
    failed = errno.ENOSYS if call is None else call(os.fsencode(source), os.fsencode(target))
    if failed in _UNSUPPORTED:  # this system, or this file system, can't do both in one step
        if os.path.lexists(target):
            failed = errno.EEXIST
        else:
            os.rename(source, target)
            failed = 0
    _check(failed, target)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the one lock of `folder`, waiting for whoever has it; it goes with the process. Raises OSError."""
    fd = os.open(folder, _FOLDER)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _make(parent: Path, prefix: str) -> tuple[Path, int]:
    """Return a new folder and its lock. Someone who takes it for a leftover before it is locked makes us try again."""
    while True:
        folder = parent / f"{prefix}{secrets.token_hex(8)}"
        os.mkdir(folder, 0o700)
        try:
            os.chmod(folder, 0o700)
            fd = os.open(folder, _FOLDER)
        except FileNotFoundError:
            continue
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        with contextlib.suppress(BlockingIOError, FileNotFoundError):
            _lock_now(fd)
            if os.path.samestat(os.fstat(fd), os.stat(folder)):
                return folder, fd
        os.close(fd)


def _lock_now(fd: int) -> None:
    """Lock a folder. Where there are no locks it stays unlocked, and nobody can take it for a leftover either."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise


def _remove_if_dead(folder: Path) -> None:
    with contextlib.suppress(OSError):
        fd = os.open(folder, _FOLDER)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(fd)


def _make_folders(folder: Path, path: str, made: set[str]) -> None:
    parts = path.split("/") if path else []
    for depth in range(1, len(parts) + 1):
        inner = "/".join(parts[:depth])
        if inner not in made:
            os.mkdir(folder / inner, 0o700)
            os.chmod(folder / inner, 0o700)
            made.add(inner)


def _write(path: Path, data: bytes, *, flush: bool) -> None:
    fd = os.open(path, _CREATE, 0o600)
    try:
        os.fchmod(fd, 0o600)
        left = memoryview(data)
        while left:
            left = left[os.write(fd, left) :]
        if flush:
            os.fsync(fd)
    finally:
        os.close(fd)


def _flush_folder(folder: Path) -> None:
    fd = os.open(folder, _FOLDER)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


# -- what Python's os module does not have -----------------------------------------------------------------------------


def _check(code: int, path: Path) -> None:
    if code:
        raise OSError(code, os.strerror(code), os.fspath(path))


def _exclusive_rename() -> Callable[[bytes, bytes], int] | None:
    """Return a rename that replaces nothing, from two paths to an error number; None where there is none."""
    libc = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin" and hasattr(libc, "renamex_np"):
        return lambda source, target: ctypes.get_errno() if libc.renamex_np(source, target, _RENAME_EXCL) else 0
    if not hasattr(libc, "renameat2"):
        return None

    def rename(source: bytes, target: bytes) -> int:
        failed = libc.renameat2(_HERE, source, _HERE, target, _RENAME_NOREPLACE)
        return ctypes.get_errno() if failed else 0

    return rename


def _flusher() -> Callable[[Path], int] | None:
    """Return what flushes a whole file system, from a folder in it to an error number; None where there is none."""
    libc = ctypes.CDLL(None, use_errno=True)
    if sys.platform != "linux" or not hasattr(libc, "syncfs"):
        return None

    def flush(folder: Path) -> int:
        fd = os.open(folder, _FOLDER)
        try:
            return ctypes.get_errno() if libc.syncfs(fd) else 0
        finally:
            os.close(fd)

    return flush
