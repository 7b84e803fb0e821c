"""A case's ``fixture/``: is it fit to be a world's content, and a plain copy of it.

Gather. Refused before any job: links that leave, special files, a ``.git`` (a world must not be a repository), paths in
``.skillbench-dirs`` that point elsewhere. Nothing is opened in a way that could hang.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path, PurePosixPath

from .digest import inventory
from .errors import Problem, SkillbenchError, in_order
from .files import read_bounded

NAME = "fixture"
DIRS = ".skillbench-dirs"
_DIRS_LIMIT = 1 << 20


def problems(root: Path, shown: str) -> tuple[Problem, ...]:
    """Return everything that is wrong with the fixture at `root`, named `shown`; () where there is none."""
    if not os.path.lexists(root):
        return ()
    if root.is_symlink() or not root.is_dir():
        what = "a link" if root.is_symlink() else "not a folder"
        return (Problem(path=shown, slug="fixture-not-folder", what=what, expected="a real folder"),)
    found = []
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            if name.casefold() == ".git":
                place = PurePosixPath(shown, Path(folder).relative_to(root).as_posix(), name).as_posix()
                expected = "files only: a world is no repository"
                found.append(Problem(path=place, slug="fixture-git", what="a .git in a fixture", expected=expected))
        folders[:] = [name for name in folders if name.casefold() != ".git"]
    try:
        inventory(root, skip=(".git",), shown=shown)
    except SkillbenchError as error:
        found += error.problems
    try:
        empty_folders(root, shown)
    except SkillbenchError as error:
        found += error.problems
    return in_order(dict.fromkeys(found))


def empty_folders(root: Path, shown: str) -> tuple[str, ...]:
    """Return the folders that ``.skillbench-dirs`` lists, one a line, ``#`` for comments: git keeps no empty ones.

    Raises SkillbenchError for a path that is not inside the fixture or is a file there.
    """
    place = f"{shown}/{DIRS}"
    try:
        data = read_bounded(root / DIRS, _DIRS_LIMIT, place)
    except FileNotFoundError:
        return ()
    found, bad = [], []
    for number, row in enumerate(data.decode(errors="replace").replace("\r\n", "\n").split("\n"), 1):
        text = row.strip()
        if not text or text.startswith("#"):
            continue
        path = PurePosixPath(text)
        what = None
        if path.is_absolute() or ".." in path.parts or "\0" in text or "\\" in text or "\ufffd" in text:
            what = f'"{text}" is no folder inside the fixture'
        elif any(os.path.lexists(root / p) and not _real_folder(root / p) for p in (path, *path.parents)):
            what = f'"{text}" is there, but no folder'
        if what is not None:
            expected = "relative paths of empty folders, one a line"
            bad.append(Problem(path=place, slug="fixture-dirs", what=what, line=number, expected=expected))
        else:
            found.append(path.as_posix())
    if bad:
        raise SkillbenchError(*bad)
    return tuple(dict.fromkeys(found))


def copy(root: Path, world: Path) -> None:
    """Fill `world`, an empty folder, with the fixture's content (which has no `problems`); links stay links.

    ``.skillbench-dirs`` makes its folders and is not copied. Raises OSError.
    """
    if not root.is_dir():
        return
    shutil.copytree(root, world, symlinks=True, dirs_exist_ok=True, ignore=_not_the_list(str(root)))
    for name in empty_folders(root, NAME):
        (world / name).mkdir(parents=True, exist_ok=True)


def _not_the_list(root: str):  # type: ignore[no-untyped-def]  # the type of shutil's own callback is overloaded
    return lambda folder, names: {DIRS} & set(names) if folder == root else set()


def _real_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
