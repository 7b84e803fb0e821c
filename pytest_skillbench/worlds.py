"""Fresh worlds and materializations below one private temp root: made on demand, copied for the gate, removed again.

Gather: the only module that makes or removes what a subagent works in. Names are random and tell nothing; nothing is
made inside a repository, and nothing is removed that was not made here. What an arm did to its world is read by
`changes`, whose functions are offered here as well.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from .changes import snapshot_changes, unified_diff
from .digest import NOT_PACKAGED
from .errors import Problem, SkillbenchError
from .text import one_line
from .treecopy import copy_as_left, copy_clean

__all__ = [
    "copy_world",
    "discard",
    "make_root",
    "make_world",
    "materialize",
    "remove",
    "snapshot_changes",
    "spellings",
    "unified_diff",
    "write_brief",
]

_PREFIX = "sb-"
_MARKER = ".owner"
#: Folders nested deeper than this are moved up before they are emptied, so that no path grows past the system's limit.
_DEEP = 10
_TOLD = 20


def make_root(project_root: Path) -> Path:
    """Make a private folder (0700, random name) for everything that subagents of a run work in, and return it.

    It lies in the system's temp folder, or else in ``/tmp`` or ``/var/tmp``: never inside the project, nor in any git
    working tree, where an arm would find what it must not see. Raises SkillbenchError where none of them will do.
    """
    project = os.path.realpath(project_root)
    why = []
    for place in dict.fromkeys(os.path.realpath(p) for p in (tempfile.gettempdir(), "/tmp", "/var/tmp")):  # noqa: S108  # mkdtemp makes a private folder there
        reason = _unfit(place, project)
        if reason is None:
            try:
                root = tempfile.mkdtemp(prefix=_PREFIX, dir=place)
                _write_new(os.path.join(root, _MARKER), _mark(root))
            except OSError as error:
                reason = f"can't be written: {error.strerror}"
            else:
                return Path(root)
        why.append(f"{place} {reason}")
    raise SkillbenchError(
        Problem(
            path=str(project_root),
            slug="no-temp-root",
            what="no place for the arms' worlds: " + ", ".join(why),
            expected="TMPDIR to name a writable folder outside the project and outside every git repository",
        )
    )


def make_world(root: Path, fixture: Path | None) -> Path:
    """Return a new folder below `root` with the content of `fixture`; None or no such folder: an empty world.

    Files are 0644 or 0755 whatever they were and whatever the umask, all times are the same, links stay links, and
    folders exist where a file is in them or ``.skillbench-dirs`` lists them: every world of a case is alike. Raises
    SkillbenchError for a fixture that is not fit to be one, or where the disk refuses; nothing is left behind then.
    """
    with _new_folder(root) as world:
        if fixture is not None and os.path.lexists(fixture):
            from .fixtures import DIRS, empty_folders

            listed = empty_folders(fixture, str(fixture))
            copy_clean(fixture, world, folders=listed, leave_out=(DIRS,))
        else:
            copy_clean(None, world)
        return world


def materialize(root: Path, package: Path, name: str) -> Path:
    """Return a new read-only copy ``<root>/<random>/<name>`` of the skill version in `package`; SKILL.md is in it.

    `name` is the skill's, the same for every version. Exec bits and inner links are kept. Raises SkillbenchError for a
    package without SKILL.md or with something in it that can't be copied; ValueError for a name that is no folder name.
    """
    if name in ("", ".", "..") or "/" in name or "\0" in name or len(os.fsencode(name)) > 200:
        raise ValueError(f"not a folder name: {name!r}")
    with _new_folder(root) as folder:
        skill = folder / name
        skill.mkdir()
        copy_clean(package, skill, skip=NOT_PACKAGED, writable=False)
        if not (skill / "SKILL.md").is_file():
            raise SkillbenchError(
                Problem(path=str(package), slug="no-skill-file", what="no SKILL.md", expected="a skill's folder")
            )
        folder.chmod(0o555)
        return skill


def write_brief(root: Path, text: str) -> Path:
    """Write `text` to a new file ``<root>/<random>.md`` that only this user can read, and return it.

    An unpaired surrogate, which no file can hold, becomes ``?``. Raises SkillbenchError where the disk refuses.
    """
    path = root / f"{secrets.token_hex(8)}.md"
    with _told(root):
        try:
            _write_new(str(path), text.encode("utf-8", "replace"))
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    return path


def copy_world(world: Path, root: Path) -> Path:
    """Return a copy of a world as an arm left it, below `root`: what runs there does not touch the evidence.

    Modes, empty folders and ``.git`` are kept; a link into the world leads into the copy. Sockets, devices and FIFOs
    are left out. Raises SkillbenchError where the world is too large to be copied or the disk refuses.
    """
    with _new_folder(root) as copy:
        copy_as_left(world, copy)
        return copy


def discard(root: Path, folder: Path) -> list[str]:
    """Remove one folder that was made below `root`, before the run ends; return what could not be removed."""
    _check_ours(root)
    if folder.parent != root or folder.is_symlink() or not folder.is_dir():
        raise SkillbenchError(_not_ours(folder, f"not a folder of {root}"))
    return _erase(folder, root)


def remove(root: Path) -> list[str]:
    """Remove a root with everything in it, read-only files and deep trees included; links are not followed.

    Returns what could not be removed, as ``path: why``, empty when all is gone (or was before). Raises SkillbenchError
    for a folder that `make_root` did not make, which is left as it is.
    """
    if not os.path.lexists(root):
        return []
    _check_ours(root)
    left: list[str] = []
    with os.scandir(root) as listing:
        children = [child for child in listing if child.name != _MARKER]
    for child in children:
        if child.is_dir(follow_symlinks=False):
            left += _erase(Path(child.path), root)
        else:
            left += _attempt(os.unlink, child.path)
    if not left:  # the marker goes last: what was interrupted here can be finished later
        left += _attempt(os.unlink, os.path.join(root, _MARKER)) + _attempt(os.rmdir, str(root))
    return left if len(left) <= _TOLD else [*left[:_TOLD], f"and {len(left) - _TOLD:,} more"]


def spellings(*paths: Path) -> tuple[tuple[str, str], ...]:
    """Return how else these places may be spelled: pairs of a path through a link and the real one, for the audit."""
    found: dict[str, str] = {}
    for path in paths:
        for folder in (path, *path.parents):
            if folder.is_symlink():
                found[str(folder)] = os.path.realpath(folder)
    return tuple(sorted(found.items()))


# -- roots -------------------------------------------------------------------------------------------------------------


def _unfit(place: str, project: str) -> str | None:
    """Return why worlds can't be made in `place`, None where they can."""
    if not os.path.isdir(place):
        return "is no folder"
    if place == project or place.startswith(project.rstrip("/") + "/"):
        return "is inside the project"
    folder = Path(place)
    for above in (folder, *folder.parents):
        if os.path.lexists(above / ".git"):
            return f"is inside the git repository {above}"
    return None if os.access(place, os.W_OK | os.X_OK) else "can't be written"


def _mark(root: str) -> bytes:
    return f"{os.path.basename(root)}\n".encode()


def _check_ours(root: Path) -> None:
    """Raise SkillbenchError unless `root` is a real folder of this user with the marker that `make_root` wrote."""
    try:
        status = os.lstat(root)
        marker = os.lstat(root / _MARKER)
        mark = (root / _MARKER).read_bytes() if stat.S_ISREG(marker.st_mode) and marker.st_size < 256 else b""
    except OSError as error:
        raise SkillbenchError(_not_ours(root, f"no marker: {error.strerror}")) from None
    if not stat.S_ISDIR(status.st_mode) or not root.name.startswith(_PREFIX) or mark != _mark(str(root)):
        raise SkillbenchError(_not_ours(root, "the marker does not belong to it"))
    if status.st_uid != os.geteuid() or marker.st_uid != os.geteuid():
        raise SkillbenchError(_not_ours(root, "another user's folder"))


def _not_ours(root: Path, why: str) -> Problem:
    return Problem(
        path=str(root), slug="root-not-ours", what=f"not removed: {why}", expected="a folder that a run made"
    )


# -- making and erasing ------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _told(where: Path) -> Iterator[None]:
    """Turn what the operating system refuses into a message for the user."""
    try:
        yield
    except OSError as error:
        place = error.filename if isinstance(error.filename, str) else str(where)
        what = f"can't be made: {error.strerror or error}"
        expected = "room on the disk, and a temp folder that nobody clears during a run"
        raise SkillbenchError(Problem(path=place, slug="world", what=what, expected=expected)) from error


@contextlib.contextmanager
def _new_folder(root: Path) -> Iterator[Path]:
    """Make a folder with a random name below `root`; whatever goes wrong meanwhile, it is gone again."""
    folder = root / secrets.token_hex(8)
    with _told(root):
        folder.mkdir(mode=0o755)
        folder.chmod(0o755)
        try:
            yield folder
        except BaseException:
            _erase(folder, root)
            raise


def _write_new(path: str, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as file:
        file.write(data)


def _erase(top: Path, root: Path) -> list[str]:
    """Remove the folder `top` with everything in it; what is nested too deeply is moved up into `root` first."""
    left: list[str] = []
    stack = [(str(top), 0, False)]
    while stack:
        path, depth, emptied = stack.pop()
        if emptied:
            left += _attempt(os.rmdir, path)
            continue
        try:
            os.chmod(path, 0o700)
            with os.scandir(path) as listing:
                children = list(listing)
        except OSError as error:
            left.append(one_line(f"{path}: {error.strerror}"))
            continue
        stack.append((path, depth, True))
        for child in children:
            if not child.is_dir(follow_symlinks=False):
                left += _attempt(os.unlink, child.path)
            elif depth < _DEEP:
                stack.append((child.path, depth + 1, False))
            else:
                stack.append((_moved_up(child.path, root), 0, False))
    return left


def _moved_up(path: str, root: Path) -> str:
    place = str(root / secrets.token_hex(8))
    try:
        os.chmod(path, 0o700)
        os.rename(path, place)
    except OSError:
        return path  # it is emptied where it is, and told if that fails
    return place


def _attempt(action: Callable[[str], None], path: str) -> list[str]:
    try:
        action(path)
    except FileNotFoundError:
        return []
    except OSError as error:
        return [one_line(f"{path}: {error.strerror}")]
    return []
