"""Reading and writing files without surprises: regular files only, bounded, written whole or not at all.

Gather: every byte of a run record comes in through `read_bounded`, every report goes out through `write_atomic`.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .errors import Problem, SkillbenchError


def read_bounded(path: str | Path, limit: int, shown: str) -> bytes:
    """Return the bytes of a regular file of at most `limit` bytes.

    Opened without blocking, so that a FIFO can't hang the program. Raises FileNotFoundError where there is none, and
    SkillbenchError naming `shown` for anything else that stands in the way.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SkillbenchError(Problem(path=shown, slug="file-unreadable", what=str(error.strerror))) from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise SkillbenchError(
                Problem(path=shown, slug="file-not-regular", what="not a regular file", expected="a file")
            )
        if status.st_size > limit:
            what = f"{status.st_size:,} bytes"
            raise SkillbenchError(Problem(path=shown, slug="file-too-large", what=what, expected=f"at most {limit:,}"))
        data = os.read(fd, status.st_size + 1)
        while len(data) < status.st_size and (more := os.read(fd, status.st_size - len(data))):
            data += more
        return data[: status.st_size]
    finally:
        os.close(fd)


def write_atomic(path: Path, data: bytes, *, executable: bool = False) -> None:
    """Write `data` to `path` so that a reader sees the old file or the new one, never a part.

    A temporary file in the same folder is flushed to disk and renamed; on any failure it is removed. Raises OSError.
    """
    with _temporary(path, data, 0o755 if executable else 0o644) as temporary:
        os.replace(temporary, path)


def write_new(path: Path, data: bytes) -> bool:
    """Write `data` to `path`, whole or not at all, unless something is there already: then return False.

    Of two writers at once, one gets the name. Raises OSError.
    """
    with _temporary(path, data, 0o644) as temporary:
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
    return True


@contextlib.contextmanager
def _temporary(path: Path, data: bytes, mode: int) -> Iterator[str]:
    """Give a file beside `path` that holds `data` and is on disk; it is gone afterwards, whatever happened."""
    fd, temporary = tempfile.mkstemp(prefix=f".{path.name[:64]}.", suffix=".tmp", dir=path.parent)
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
        os.chmod(temporary, mode & ~_umask())
        yield temporary
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files that a killed `write_atomic` left in `folder` or one below; nobody may be writing."""
    for path in (*folder.glob(".*.tmp"), *folder.glob("*/.*.tmp")):
        path.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
