"""Evidence's trees and files, read by its strict rules, with its exact messages for what is refused.

Gather: between `safewalk`, which walks, and the parts of evidence, which want bytes, inventories and `EvidenceError`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ..digest import files_digest
from ..errors import EvidenceError, Problem
from ..safefile import NotAccepted, Refusal, Rules, Seen, read_file
from ..safewalk import Walked, walk
from .checking import is_relative
from .documents import FILE_LIMIT, MOST_FILES, TREE_LIMIT
from .reading import JSON_LIMIT, PREFIX, refuse
from .records import File

DEPTH = 24
#: Folders count for nothing in the format; this keeps a tree of nothing but folders from being walked for ever.
MOST_ENTRIES = 65_536
DEREFERENCE = "plain files; --dereference copies what links lead to, and files that have other names as well"


def strict(*, dereference: bool = False, total: int = TREE_LIMIT, file: int = FILE_LIMIT) -> Rules:
    """Return the rules of evidence. `dereference`: take what links lead to, and files with several names."""
    return Rules(
        links="follow" if dereference else "never",
        hard_links=dereference,
        depth=DEPTH,
        entries=MOST_ENTRIES,
        files=MOST_FILES,
        total=total,
        file=file,
    )


def read_tree(
    root: Path,
    shown: str,
    rules: Rules,
    *,
    skip_top: Collection[str] = (),
    keep: bool = False,
    known: Mapping[str, Seen] | None = None,
    hint: str | None = None,
) -> Walked:
    """Return the files below `root`, every one a portable path, looked at a second time when all have been read.

    `shown`: the root's name for people; `keep` and `known` as of `safewalk.walk`; `hint`: what to expect instead of a
    link. Raises EvidenceError with everything that is refused.
    """
    walked = walk(os.fspath(root), rules, skip_top=skip_top, keep=keep, known=known)
    problems = [problem(refusal, shown, hint) for refusal in walked.refusals]
    problems += [_not_portable(seen.path, shown) for seen in walked.seen if not portable(seen.path)]
    if problems:
        raise EvidenceError(*problems)
    if known and all(known.get(seen.path) is seen for seen in walked.seen):
        return walked  # nothing was read, so this was the second look
    if not walked.same(walk(os.fspath(root), rules, skip_top=skip_top, read=False)):
        raise refuse("Tree changed during inspection.", shown, expected="nothing that writes here meanwhile")
    return walked


def read_bytes(root: Path, path: str, shown: str, rules: Rules, *, hint: str | None = None) -> bytes:
    """Return the bytes of one file at a portable path below `root`. Raises EvidenceError and FileNotFoundError."""
    try:
        return read_file(os.fspath(root), path, rules)
    except NotAccepted as error:
        raise EvidenceError(problem(error.refusal, shown, hint)) from None


def read_document(root: Path, path: str, shown: str, rules: Rules, *, hint: str | None = None) -> bytes:
    """Return the bytes of a JSON file as `read_bytes` does, refusing one that is too large in the words of JSON."""
    try:
        return read_file(os.fspath(root), path, msgspec.structs.replace(rules, file=JSON_LIMIT))
    except NotAccepted as error:
        if error.refusal.kind == "file-too-large":
            raise refuse(f"JSON exceeds {JSON_LIMIT} bytes.", shown, expected=f"at most {JSON_LIMIT:,}") from None
        raise EvidenceError(problem(error.refusal, shown, hint)) from None


def real_folder(folder: Path, message: str, *, follow: bool = False, hint: str | None = None) -> Path:
    """Return the absolute path of a folder that was named, whose own folders may be reached through links.

    Raises EvidenceError where it is a link itself, unless `follow`, and with `message` where it is no folder.
    """
    shown = os.fspath(folder)
    if os.path.islink(folder) and not follow:
        raise EvidenceError(problem(Refusal(path="", kind="link"), shown, hint))
    if not os.path.isdir(folder):
        raise refuse(message, shown, expected="a folder" if os.path.lexists(folder) else "a folder; there is none")
    return Path(os.path.realpath(folder))


def portable(path: str) -> bool:
    """Tell whether a path that was found may be one in a freeze."""
    return len(path) <= 512 and is_relative(path)


def files_of(walked: Walked) -> tuple[File, ...]:
    """Return the inventory of a tree."""
    return tuple(File(path=seen.path, sha256=seen.sha256, bytes=seen.bytes) for seen in walked.seen)


def digest_of(files: Iterable[File]) -> str:
    """Return the tree digest of an inventory."""
    return files_digest((file.path, file.sha256) for file in files)


def problem(refusal: Refusal, shown: str, hint: str | None = None) -> Problem:
    """Return what is refused in the format's words. `shown`: the tree's name for people."""
    path, detail = refusal.path or shown, refusal.detail
    what, expected = {
        "link": (f"symlink is forbidden: {path}", hint),
        "hard-link": (f"hard-linked file is forbidden: {path}", hint),
        "special": (f"special filesystem entry is forbidden: {path}", "files and folders only"),
        "link-cycle": (f"symlink leads back to where it is: {path}", "a link to something that does not hold it"),
        "link-dangling": (f"symlink leads nowhere: {path}", "a link to something that is there"),
        "too-deep": (f"directory nesting exceeds {detail}: {path}", None),
        "file-too-large": (f"file exceeds {detail} bytes: {path}", None),
        "too-many": (f"{PREFIX}Tree exceeds {detail}.", None),
        "too-large": (f"{PREFIX}Tree exceeds {detail} bytes.", None),
        "changed": (f"{PREFIX}Tree changed during inspection.", f"nothing that writes to {path} meanwhile"),
    }.get(refusal.kind, (f"can't be read: {path}", detail))
    return Problem(path=shown, slug="evidence", what=what, expected=expected)


def entry_problem(place: Path, path: str) -> tuple[Problem, ...]:
    """Return what is wrong with something that should be a folder, by its kind; () for a plain file.

    `path`: its path below the freeze.
    """
    mode = os.lstat(place).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return ()
    kind: Literal["link", "special"] = "link" if stat.S_ISLNK(mode) else "special"
    return (problem(Refusal(path=path, kind=kind), os.fspath(place)),)


def _not_portable(path: str, shown: str) -> Problem:
    what = f"{PREFIX}Paths must be portable relative paths without traversal."
    return Problem(path=shown, slug="evidence", what=what, place=path, expected="A-Z, a-z, 0-9, dots, _, - and blanks")
