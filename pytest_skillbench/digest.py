"""The identity of bytes on disk: a safe walk of a tree, its inventory, and digests of trees, cases and suites.

Gather: reads files and never follows a link. The tree digest is SHA-256 over ``path + NUL + sha256 hex + LF`` in the
order of the paths' UTF-8 bytes; an executable file and a link are marked, so that they change it too, and a tree of
plain files has exactly that digest.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable
from pathlib import Path

from .errors import Problem, SkillbenchError
from .model import PackageDigest, Value
from .safefile import NotAccepted, Refusal, Rules, Seen, seen_at
from .safewalk import walk

NOT_PACKAGED = frozenset({".git", "__pycache__", ".DS_Store"})
MAX_DEPTH = 64
_RULES = Rules(links="inner", hard_links=True, depth=MAX_DEPTH)
_INNER = "a link to something inside this folder"


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
    walked = walk(os.path.realpath(root), _RULES, skip=skip)
    if walked.refusals:
        name = str(root) if shown is None else shown
        raise SkillbenchError(*(_problem(name, refusal) for refusal in walked.refusals))
    return tuple(_entry(seen) for seen in walked.seen)


def entry(root: Path, path: str, *, shown: str | None = None) -> Entry:
    """Return one file or link below `root`, read as `inventory` reads it; where a link leads is not looked at.

    Raises SkillbenchError for a special file, something unreadable, a file that changed meanwhile.
    """
    name = str(root) if shown is None else shown
    try:
        return _entry(seen_at(os.path.realpath(root), path))
    except NotAccepted as error:
        raise SkillbenchError(_problem(name, error.refusal)) from None
    except OSError as error:
        refusal = Refusal(path=path, kind="unreadable", detail=error.strerror or "")
        raise SkillbenchError(_problem(name, refusal)) from error


def _entry(seen: Seen) -> Entry:
    return Entry(path=seen.path, sha256=seen.sha256, bytes=seen.bytes, executable=seen.executable, link=seen.link)


def _problem(root: str, refusal: Refusal) -> Problem:
    slug, what, expected = {
        "special": ("tree-special-file", "not a regular file", "files, folders and inner links only"),
        "changed": ("tree-changed", "changed while it was read", "nothing that writes here meanwhile"),
        "link-leaves": ("tree-link-leaves", f'a link that leaves the folder, to "{refusal.detail}"', _INNER),
        "link-dangling": ("tree-link-dangling", f'a link that leads nowhere, to "{refusal.detail}"', _INNER),
        "too-deep": ("tree-too-deep", f"more than {refusal.detail} folders deep", None),
    }.get(refusal.kind, ("tree-unreadable", f"can't be read: {refusal.detail}", None))
    path = f"{root}/{refusal.path}" if refusal.path else root
    return Problem(path=path, slug=slug, what=what, expected=expected)


def tree_digest(entries: Iterable[Entry]) -> str:
    """Return the digest of an inventory, as 64 hex digits."""
    whole = hashlib.sha256()
    for entry in entries:
        kind = b"\0link" if entry.link is not None else b"\0executable" if entry.executable else b""
        whole.update(os.fsencode(entry.path) + b"\0" + entry.sha256.encode() + kind + b"\n")
    return whole.hexdigest()


def files_digest(files: Iterable[tuple[str, str]]) -> str:
    """Return the tree digest of plain files, each as path and SHA-256 in hex, in the order of the paths' UTF-8 bytes.

    That is the digest of evidence, which knows bytes and neither modes nor links.
    """
    # Code points are in the order of their UTF-8 bytes; `fsencode` is for names that are no text.
    rows = sorted(files)
    if not all(path.isascii() for path, _ in rows):
        rows.sort(key=lambda row: os.fsencode(row[0]))
    return hashlib.sha256(os.fsencode("".join([f"{path}\0{sha256}\n" for path, sha256 in rows]))).hexdigest()


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
