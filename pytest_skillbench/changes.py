"""What an arm changed in its world: the list of files against the fixture, and a unified diff of it.

Gather: reads a world that a stranger's commands have filled, so nothing is opened that could hang, followed or trusted,
and everything is bounded. As in git, an empty folder is nothing. Left out: the content of ``.git`` (one entry
``.git/`` says that it is there) and of ``__pycache__``, which an arm does not write but Python does.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from .errors import Problem, SkillbenchError
from .linediff import hunks
from .model import Change, Value
from .text import one_line

MAX_CHANGES = 2000
MAX_SEEN = 100_000
#: Files beyond these are listed with their size and without a digest.
MAX_HASHED_FILE = 256 << 20
MAX_HASHED = 2 << 30
DIFF_LIMIT = 256 << 10
_TEXT_LIMIT = 1 << 20
_CHUNK = 1 << 20
_NOT_CONTENT = "__pycache__"
_GIT = ".git"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class _Found(Value, frozen=True):
    """What stands at a path: `mode` is git's, 0 where git has none; `size` None where it means nothing."""

    mode: int
    size: int | None = None
    link: str | None = None


_FILE, _EXECUTABLE, _LINK, _OTHER = 0o100644, 0o100755, 0o120000, 0


class _Tree:
    """Everything below a folder, by path with ``/``, links not followed.

    `closed`: folders that can't be read, with ``/`` at their end. `whole` False: more than `most`, so not all is there.
    """

    def __init__(self, top: Path | None, *, most: int | None, leave_out: str | None = None) -> None:
        self.top = top
        self.found: dict[str, _Found] = {}
        self.closed: tuple[str, ...] = ()
        self.whole = True
        if top is not None and top.is_dir() and not top.is_symlink():
            self._walk(str(top), most, leave_out)

    def _walk(self, top: str, most: int | None, leave_out: str | None) -> None:
        folders, seen = [""], 0
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(os.path.join(top, folder)) as listing:
                    children = sorted(listing, key=lambda child: os.fsencode(child.name))
            except OSError:
                self.found[f"{folder or '.'}/"] = _Found(mode=_OTHER)
                self.closed += (f"{folder}/" if folder else "",)
                continue
            for child in children:
                path = f"{folder}/{child.name}" if folder else child.name
                if path == leave_out:
                    continue
                seen += 1
                if most is not None and seen > most:
                    self.whole = False
                    return
                self._add(path, child, folders)

    def _add(self, path: str, child: os.DirEntry[str], folders: list[str]) -> None:
        if child.is_dir(follow_symlinks=False):
            if child.name == _GIT:
                self.found[f"{path}/"] = _Found(mode=_OTHER)
            elif child.name != _NOT_CONTENT:
                folders.append(path)
            return
        try:
            status = child.stat(follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                self.found[path] = _Found(mode=_LINK, link=os.readlink(child.path))
            elif stat.S_ISREG(status.st_mode):
                mode = _EXECUTABLE if status.st_mode & stat.S_IXUSR else _FILE
                self.found[path] = _Found(mode=mode, size=status.st_size)
            else:
                self.found[path] = _Found(mode=_OTHER)
        except OSError:
            self.found[path] = _Found(mode=_OTHER)

    def open(self, path: str) -> int:
        return os.open(os.path.join(self.top or "", path), _READ)


def snapshot_changes(world: Path, fixture: Path | None) -> tuple[Change, ...]:
    r"""Return what is different in `world` from `fixture` as it is copied into a world, sorted by path.

    A file has the digest and size of its bytes; a change of its executable bit alone is `modified`. A link has the
    digest of its target's text and no size. What is neither, or can't be read, or is too large to be read has no
    digest, and must never count as equal to anything. A name that is not UTF-8 is told with ``\xNN``. At most
    `MAX_CHANGES` entries: a last one, ``… and N more``, then carries one digest over all that it stands for. A world
    that the arm took away is all `deleted`. Raises SkillbenchError where the folder that held the world is gone as
    well: then nothing is known.
    """
    if not world.parent.is_dir():
        raise SkillbenchError(
            Problem(path=str(world), slug="world-gone", what="the world and all around it is gone", expected="a world")
        )
    before = _Tree(fixture, most=None, leave_out=".skillbench-dirs")
    after = _Tree(world, most=MAX_SEEN)
    digests = _Digests(after)
    found: list[Change] = []
    paths = set(after.found) | (set(before.found) if after.whole else set())
    for path in sorted(paths, key=os.fsencode):
        old, new = before.found.get(path), after.found.get(path)
        if new is None and path.startswith(after.closed):
            continue  # in a folder that can't be looked into, which has an entry of its own
        if new is None:
            found.append(Change(path=_shown(path), change="deleted", sha256=None, bytes=None))
        elif old is None or not _same(before, after, path, old, new):
            kind: Literal["added", "modified"] = "added" if old is None else "modified"
            found.append(Change(path=_shown(path), change=kind, sha256=digests.of(path, new), bytes=new.size))
    if not after.whole:
        more = f"… and more: the world holds over {MAX_SEEN:,} files and folders"
        return (*found[: MAX_CHANGES - 1], Change(path=more, change="added", sha256=None, bytes=None))
    if len(found) > MAX_CHANGES:
        return (*found[: MAX_CHANGES - 1], _rest(found[MAX_CHANGES - 1 :]))
    return tuple(found)


class _Digests:
    """Digests of a world's files, as long as there is a budget for reading them."""

    def __init__(self, tree: _Tree) -> None:
        self.tree = tree
        self.left = MAX_HASHED

    def of(self, path: str, found: _Found) -> str | None:
        if found.link is not None:
            return hashlib.sha256(os.fsencode(found.link)).hexdigest()
        if found.size is None or found.size > min(MAX_HASHED_FILE, self.left):
            return None
        self.left -= found.size
        whole, size = hashlib.sha256(), 0
        try:
            with open(self.tree.open(path), "rb", buffering=0) as file:
                while size <= found.size and (chunk := file.read(_CHUNK)):
                    whole.update(chunk)
                    size += len(chunk)
        except OSError:
            return None
        return whole.hexdigest() if size == found.size else None


def _same(before: _Tree, after: _Tree, path: str, old: _Found, new: _Found) -> bool:
    if old != new or new.mode == _OTHER:
        return False
    if new.size is None:
        return True
    try:
        with (
            open(before.open(path), "rb", buffering=0) as left,
            open(after.open(path), "rb", buffering=0) as right,
        ):
            while chunk := left.read(_CHUNK):
                if right.read(_CHUNK) != chunk:
                    return False
            return not right.read(1)
    except OSError:
        return False


def _rest(changes: Sequence[Change]) -> Change:
    whole = hashlib.sha256()
    for change in changes:
        whole.update(f"{change.path}\0{change.change}\0{change.sha256}\0{change.bytes}\n".encode())
    total = sum(change.bytes or 0 for change in changes)
    unknown = any(change.sha256 is None and change.change != "deleted" for change in changes)
    digest = None if unknown else whole.hexdigest()
    return Change(path=f"… and {len(changes):,} more", change="modified", sha256=digest, bytes=total)


def _shown(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


# -- the diff ----------------------------------------------------------------------------------------------------------


def unified_diff(world: Path, fixture: Path | None, changes: Sequence[Change], limit: int = DIFF_LIMIT) -> bytes:
    """Return the changes as one unified diff in git's notation, UTF-8, at most `limit` bytes.

    What is not text, or over 1 MiB, is told by its size and digest. Where the diff is cut, its last line says so.
    """
    cut = b"[cut here: %d of %d changed files are shown, the last one perhaps in part]\n"
    room = limit - len(cut) - 16
    parts: list[bytes] = []
    for number, change in enumerate(changes):
        block = "".join(_block(world, fixture, change)).encode("utf-8", "replace")
        if len(block) > room:
            end = block.rfind(b"\n", 0, max(room, 0)) + 1
            parts += [block[:end], cut % (number + (end > 0), len(changes))]
            break
        parts.append(block)
        room -= len(block)
    return b"".join(parts)


def _block(world: Path, fixture: Path | None, change: Change) -> list[str]:
    """Return the lines of one file's diff, each with its line end."""
    if change.path.endswith("/") or change.path.startswith("… and "):
        return [f"{change.change}: {one_line(change.path)}\n"]
    old = None if change.change == "added" else _side(fixture, change.path)
    new = None if change.change == "deleted" else _side(world, change.path)
    shown = one_line(change.path)
    names = ("/dev/null" if old is None else f"a/{shown}", "/dev/null" if new is None else f"b/{shown}")
    lines = [f"diff --git a/{shown} b/{shown}\n", *_modes(old, new)]
    if all(side is None or side.text is not None for side in (old, new)):
        body = hunks(old.text or "" if old else "", new.text or "" if new else "")
        return [*lines, f"--- {names[0]}\n", f"+++ {names[1]}\n", *body] if body else lines
    size = "size unknown" if change.bytes is None else f"{change.bytes:,} bytes"
    digest = f"SHA-256 {change.sha256}" if change.sha256 else "not read"
    return [*lines, f"Not text: {shown}" + ("\n" if new is None else f", {size}, {digest}\n")]


class _Side(Value, frozen=True):
    """One side of a file's diff: git's mode ("" for what git has none for), and its text, None where it is not text."""

    mode: str
    text: str | None


def _side(top: Path | None, path: str) -> _Side:
    place = os.path.join(top or "", path)
    try:
        status = os.lstat(place)
        if stat.S_ISLNK(status.st_mode):
            return _Side(mode="120000", text=_shown(os.readlink(place)))
        if not stat.S_ISREG(status.st_mode):
            return _Side(mode="", text=None)
        mode = "100755" if status.st_mode & stat.S_IXUSR else "100644"
        if status.st_size > _TEXT_LIMIT:
            return _Side(mode=mode, text=None)
        with open(os.open(place, _READ), "rb") as file:
            data = file.read(_TEXT_LIMIT + 1)
        return _Side(mode=mode, text=None if b"\0" in data or len(data) > _TEXT_LIMIT else data.decode("utf-8"))
    except (OSError, UnicodeDecodeError, ValueError):
        return _Side(mode="", text=None)


def _modes(old: _Side | None, new: _Side | None) -> list[str]:
    if old is None:
        return [f"new file mode {new.mode}\n"] if new and new.mode else []
    if new is None:
        return [f"deleted file mode {old.mode}\n"] if old.mode else []
    return [f"old mode {old.mode}\n", f"new mode {new.mode}\n"] if old.mode != new.mode else []
