"""Write a skill version's files into a folder of their own: exact bytes, exec bits, inner links, and nothing else.

Gather: `released` says which files; here they are written, and every byte is held to the digest that was recorded. A
link that leaves the skill, or leads nowhere, is refused before anything is written.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from .digest import Entry, tree_digest
from .errors import Problem, SkillbenchError
from .model import PackageDigest, Value

_CHUNK = 1 << 20
_MAX_LINKS = 40  # as Linux follows in one path
_EXPECTED = "a link to something inside the skill"


class Item(Value, frozen=True):
    """One file to write: what it is, and its content or the file that holds it. A link's content is its target."""

    entry: Entry
    content: bytes | Path


def package(entries: Sequence[Entry]) -> PackageDigest:
    """Return the identity of a skill version that consists of these files."""
    ordered = sorted(entries, key=lambda entry: os.fsencode(entry.path))
    total = sum(entry.bytes for entry in ordered)
    return PackageDigest(tree_sha256=tree_digest(ordered), files=len(ordered), bytes=total)


def stray_links(entries: Iterable[Entry], shown: str) -> tuple[Problem, ...]:
    """Return a problem for each link that leaves the skill or leads nowhere in it, by the entries alone.

    `shown` is the skill's name in messages.
    """
    known = {entry.path: entry.link for entry in entries}
    folders = {"/".join(parts[:depth]) for parts in (path.split("/") for path in known) for depth in range(len(parts))}
    problems = []
    for path, link in known.items():
        if link is not None and (why := _stray(path, known, folders)) is not None:
            slug = "tree-link-leaves" if "leaves" in why else "tree-link-dangling"
            problems.append(Problem(path=f"{shown}/{path}", slug=slug, what=f'{why}, to "{link}"', expected=_EXPECTED))
    return tuple(problems)


def is_safe(path: str) -> bool:
    """Tell whether a working tree can have this path. A forged commit can hold others, which lead out of any folder."""
    return not any(part in ("", ".", "..") or part.lower() == ".git" for part in path.split("/"))


def write(items: Sequence[Item], folder: Path, shown: str) -> PackageDigest:
    """Write the files into `folder`, which is made and must be empty, and return the identity of what was written.

    Files are 0644 or 0755 whatever the umask. Raises SkillbenchError for a stray link, a name that is no file name, a
    file that changed since it was digested, a folder in use; OSError where the disk refuses. What was written till
    then stays, for the caller to remove with the folder.
    """
    problems = [*stray_links((item.entry for item in items), shown), *_unsafe(items, shown)]
    if problems:
        raise SkillbenchError(*problems)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SkillbenchError(
            Problem(path=str(folder), slug="materialize-in-use", what="not empty", expected="a new folder")
        )
    # Links last: no file can be written through one.
    for item in sorted(items, key=lambda item: item.entry.link is not None):
        place = folder / item.entry.path
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            if item.entry.link is not None:
                os.symlink(item.entry.link, place)
            else:
                _write_file(item, place, f"{shown}/{item.entry.path}")
        except FileExistsError:
            what = "two names that are one on this file system"
            raise SkillbenchError(
                Problem(path=f"{shown}/{item.entry.path}", slug="materialize-collision", what=what)
            ) from None
    return package([item.entry for item in items])


def _write_file(item: Item, place: Path, shown: str) -> None:
    mode = 0o755 if item.entry.executable else 0o644
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    whole = hashlib.sha256()
    with open(os.open(place, flags, mode), "wb") as file:
        os.fchmod(file.fileno(), mode)
        for chunk in _chunks(item.content, shown):
            whole.update(chunk)
            file.write(chunk)
    if whole.hexdigest() != item.entry.sha256:
        raise _changed(shown)


def _chunks(content: bytes | Path, shown: str) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    try:
        fd = os.open(content, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        raise _changed(shown) from None
    with open(fd, "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _changed(shown: str) -> SkillbenchError:
    expected = "nothing that writes here meanwhile"
    return SkillbenchError(
        Problem(path=shown, slug="tree-changed", what="changed while it was copied", expected=expected)
    )


def _unsafe(items: Iterable[Item], shown: str) -> list[Problem]:
    return [
        Problem(path=f"{shown}/{item.entry.path}", slug="tree-bad-name", what="not a name that a file can have")
        for item in items
        if not is_safe(item.entry.path)
    ]


def _stray(path: str, known: dict[str, str | None], folders: set[str]) -> str | None:
    """Follow a link through the files that there will be; say why it is refused, None where it is fine."""
    here: list[str] = []
    ahead = path.split("/")
    followed = 0
    while ahead:
        part = ahead.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            if not here:
                return "a link that leaves the skill"
            here.pop()
            continue
        place = "/".join([*here, part])
        link = known.get(place)
        if link is not None:
            followed += 1
            if link.startswith("/"):
                return "a link that leaves the skill"
            if followed > _MAX_LINKS:
                return "a link that leads nowhere"
            ahead = [*link.split("/"), *ahead]
        elif place in folders or (place in known and not ahead):
            here.append(part)
        else:
            return "a link that leads nowhere"
    return None
