"""Puts the runner skill and its agent definitions where a client reads them, and tells what of it is stale.

Gather: writes into a folder of the user's, only below the client's own folder, and only files that are not there yet or
that it wrote itself and nobody has changed since. A manifest beside the installed skill holds the digest of each.
Behind ``skillbench install``; `doctor` asks `inspect`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

from . import __version__
from .errors import Problem, SkillbenchError, UsageError
from .files import read_bounded, write_atomic
from .formats import decode, encode
from .model import VERSION_1, Record, Sha256, Value

Client: TypeAlias = Literal["claude", "agents"]
State: TypeAlias = Literal["current", "missing", "stale", "edited", "foreign", "extra"]

SKILL = "benchmark-skill"
AGENTS = ("skillbench-arm", "skillbench-judge", "skillbench-probe")
FOLDERS: dict[Client, str] = {"claude": ".claude", "agents": ".agents"}
MANIFEST = f"skills/{SKILL}/.skillbench-install.json"
_LIMIT = 1 << 20


class Manifest(Record, frozen=True):
    """What an installation wrote: paths below the client's folder, with the digest of what was written."""

    schema_version: VERSION_1
    program: str
    files: dict[str, Sha256]


class Source(Value, frozen=True):
    """One file as it is distributed."""

    data: bytes
    executable: bool


class Item(Value, frozen=True):
    """One file of an installation and how it stands; `path` is relative to the folder that was installed into.

    `stale`: written by us and not as this version has it; `edited`: written by us and changed since; `foreign`: not
    written by us; `extra`: written by an older version and not part of this one.
    """

    path: str
    state: State


def distributed() -> dict[str, Source]:
    """Return the runner skill's files by their path in it: out of the package, else out of the checkout around it.

    Raises SkillbenchError where this installation of the program lacks them.
    """
    inner: Traversable = resources.files(__package__).joinpath("skills", SKILL)
    checkout = Path(__file__).resolve().parent.parent / "skills" / SKILL
    for root in (inner, checkout):
        if root.joinpath("SKILL.md").is_file():
            found = _below(root, "")
            # A wheel may be unpacked by something that drops modes, so the script's does not depend on it.
            return {path: Source(data=data, executable=path.startswith("scripts/")) for path, data in found.items()}
    what = f"the skill {SKILL} is not part of this installation"
    raise SkillbenchError(
        Problem(path="pytest-skillbench", slug="install-no-source", what=what, expected="it installed from a wheel")
    )


def _below(folder: Traversable, prefix: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for child in sorted(folder.iterdir(), key=lambda child: child.name):
        if child.name.startswith(".") or child.name == "__pycache__":
            continue
        path = f"{prefix}{child.name}"
        if child.is_dir():
            found |= _below(child, f"{path}/")
        else:
            found[path] = child.read_bytes()
    return found


def layout(client: Client) -> dict[str, Source]:
    """Return what belongs below the client's folder, by path: the skill, and for Claude Code its agents."""
    skill = distributed()
    files = {f"skills/{SKILL}/{path}": source for path, source in skill.items()}
    if client == "claude":
        files |= {f"agents/{name}.md": skill[f"agents/{name}.md"] for name in AGENTS}
    return files


def inspect(root: Path, client: Client) -> tuple[Item, ...]:
    """Return how each file of the installation in `root` stands, sorted by path. Changes nothing.

    Raises SkillbenchError for links that lead out of `root` and for a manifest that is not ours.
    """
    return _inspect(_Place(root, client), layout(client))


def is_current(items: tuple[Item, ...]) -> bool:
    """Return whether an installation is complete and just as this version has it."""
    return all(item.state == "current" for item in items)


def install(root: Path, client: Client) -> tuple[Item, ...]:
    """Install into `root` and return each file with the state that it had before. Doing it again changes nothing.

    Files that we did not write, or that were edited since, are never touched: then nothing at all is written, and the
    SkillbenchError names them all. Each file is written whole or not at all, the manifest last, so an installation that
    was cut short is finished by the next.
    """
    if not root.is_dir():
        raise UsageError(Problem(path=str(root), slug="install-no-folder", what="no such folder", expected="a project"))
    place, wanted = _Place(root, client), layout(client)
    items = _inspect(place, wanted)
    problems = [_refusal(item) for item in items if item.state in ("edited", "foreign")]
    if problems:
        raise SkillbenchError(*problems)
    for item in items:
        path = place.inner(item.path)
        if item.state == "extra":
            place.remove(path)
        elif item.state != "current":
            place.write(path, wanted[path])
    manifest = Manifest(
        schema_version=1,
        program=f"pytest-skillbench {__version__}",
        files={path: _digest(source.data) for path, source in sorted(wanted.items())},
    )
    if place.manifest() != manifest:
        place.write(MANIFEST, Source(data=encode(manifest), executable=False))
    return items


def _refusal(item: Item) -> Problem:
    what = "changed since it was installed" if item.state == "edited" else "not written by skillbench install"
    expected = "it moved away or deleted; nothing was written"
    return Problem(path=item.path, slug=f"install-{item.state}", what=what, expected=expected)


class _Place:
    """The client's folder in a project: every access goes through here, and none of them follows a link out."""

    def __init__(self, root: Path, client: Client) -> None:
        self.root = Path(os.path.realpath(root))
        self.folder = FOLDERS[client]

    def shown(self, path: str) -> str:
        return f"{self.folder}/{path}"

    def inner(self, shown: str) -> str:
        return shown.removeprefix(f"{self.folder}/")

    def locate(self, path: str) -> Path:
        """Return where a file is. Raises SkillbenchError where a folder above it leads out of the root."""
        parent = self.root / PurePosixPath(self.shown(path)).parent
        real = Path(os.path.realpath(parent))
        if not real.is_relative_to(self.root):
            what = f'{self._first_link(parent)} is a link out of "{self.root}"'
            raise SkillbenchError(
                Problem(path=self.shown(path), slug="install-link", what=what, expected="a folder of the project")
            )
        return real / PurePosixPath(path).name

    def _first_link(self, folder: Path) -> str:
        above = [folder, *folder.parents]
        inside = [part for part in above if part.is_relative_to(self.root) and part.is_symlink()]
        return f'"{inside[-1].relative_to(self.root)}"' if inside else "a folder above it"

    def read(self, path: str) -> tuple[bytes, bool] | None:
        """Return a file's bytes and whether it may be executed; None where there is none. A link counts as empty."""
        file = self.locate(path)
        try:
            status = file.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not stat.S_ISREG(status.st_mode):
            return b"", False
        return read_bounded(file, _LIMIT, self.shown(path)), bool(status.st_mode & stat.S_IXUSR)

    def manifest(self) -> Manifest | None:
        found = self.read(MANIFEST)
        return None if found is None else decode(found[0], Manifest, self.shown(MANIFEST))

    def write(self, path: str, source: Source) -> None:
        file = self.locate(path)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            what = f'"{error.filename}" is not a folder'
            raise SkillbenchError(
                Problem(path=self.shown(path), slug="install-no-folder", what=what, expected="a folder")
            ) from error
        write_atomic(self.locate(path), source.data, executable=source.executable)

    def remove(self, path: str) -> None:
        file = self.locate(path)
        file.unlink()
        with contextlib.suppress(OSError):  # not empty: somebody else's files are in it
            file.parent.rmdir()


def _inspect(place: _Place, wanted: Mapping[str, Source]) -> tuple[Item, ...]:
    manifest = place.manifest()
    ours = {} if manifest is None else {path: digest for path, digest in manifest.files.items() if _may_own(path)}
    items = [Item(path=place.shown(path), state=_state(place, path, source, ours)) for path, source in wanted.items()]
    for path, digest in ours.items():
        if path not in wanted and (found := place.read(path)) is not None and _digest(found[0]) == digest:
            items.append(Item(path=place.shown(path), state="extra"))
    return tuple(sorted(items, key=lambda item: item.path))


def _state(place: _Place, path: str, source: Source, ours: Mapping[str, str]) -> State:
    found = place.read(path)
    if found is None:
        return "missing"
    data, executable = found
    if data == source.data or (not source.executable and data.replace(b"\r\n", b"\n") == source.data):
        return "current" if executable or not source.executable else "stale"
    if path not in ours:
        return "foreign"
    return "stale" if ours[path] in (_digest(data), _digest(data.replace(b"\r\n", b"\n"))) else "edited"


def _may_own(path: str) -> bool:
    """Return whether a manifest may speak of this path: it comes with the repository and may be anybody's work."""
    parts = PurePosixPath(path).parts
    inside = parts[:2] == ("skills", SKILL) or (parts[:1] == ("agents",) and path.startswith("agents/skillbench-"))
    return inside and ".." not in parts and path == PurePosixPath(path).as_posix() and "\0" not in path


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
