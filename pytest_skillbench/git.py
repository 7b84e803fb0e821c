"""Every call of the `git` program, in an environment in which only the repository's own content decides the answer.

Gather: `branch` and `released` ask through here. Only commands that read are run; none refreshes an index, writes an
object, fetches, or starts a hook, filter, pager or file-system monitor. Inherited ``GIT_*`` variables, the user's and
the system's configuration and the repository's ``info/attributes`` are shut out. The repository is found here and
handed over by name, so git's ownership check (``safe.directory``) has nothing to refuse; what it guards against,
commands in a stranger's configuration, is never run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .errors import GitError, Problem
from .model import Value

TIMEOUT_SECONDS = 120
OLDEST = (2, 25)
EXECUTABLE, LINK, SUBMODULE = 0o100755, 0o120000, 0o160000

# Variables that are not git's own and still change what it says or where it reads settings.
_DROPPED = frozenset({"XDG_CONFIG_HOME", "LANGUAGE"})
_FIXED = {
    "HOME": os.devnull,  # an old git knows no GIT_CONFIG_GLOBAL
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # an old git knows no GIT_NO_LAZY_FETCH; with no transport allowed nothing is fetched
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}
_OVERRIDDEN = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.autocrlf": "false",
    "core.eol": "lf",
    "core.safecrlf": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.untrackedCache": "false",
    "core.quotePath": "false",
    "color.ui": "false",
}
_OVERRIDES = tuple(part for key, value in _OVERRIDDEN.items() for part in ("-c", f"{key}={value}"))


class Repository(Value, frozen=True):
    """A working tree and its git folder (of the worktree, where it is a linked one). Both are real, absolute paths."""

    top: Path
    git_dir: Path


class Ref(Value, frozen=True):
    """A branch: the object it names, and the full name of the branch it stands for where it is symbolic."""

    commit: str
    target: str | None


class TreeEntry(Value, frozen=True):
    """One path of a commit, relative to the repository. `size` None: a submodule."""

    path: str
    mode: int
    oid: str
    size: int | None


class IndexEntry(Value, frozen=True):
    """One tracked path. `sparse`: the checkout leaves it out on purpose."""

    path: str
    mode: int
    oid: str
    sparse: bool


def find(path: Path) -> Repository | None:
    """Return the repository whose working tree holds `path`, None where there is none.

    Follows git: the nearest ``.git`` upwards that is a git folder, or a file that names one (worktrees, submodules).
    Raises GitError for a ``.git`` that names a folder which is not there, or that can't be looked into.
    """
    start = Path(os.path.realpath(path))
    for folder in (start, *start.parents):
        marker = folder / ".git"
        if os.path.isfile(marker):
            return Repository(top=folder, git_dir=_named_by(marker))
        if os.path.isdir(marker):
            if not os.access(marker, os.R_OK | os.X_OK):
                raise _error(marker, "git-unreadable", "this folder can't be read")
            if _is_git_dir(marker):
                return Repository(top=folder, git_dir=Path(os.path.realpath(marker)))
    return None


def run(where: Path | Repository, *args: str, input: bytes | None = None) -> bytes:  # noqa: A002  # as in subprocess.run
    """Run a reading git command at the top of the working tree and return its output.

    `where`: a repository, or any path inside one. `input` goes to its standard input. Raises GitError where there is no
    repository, no git program, or git does not succeed within `TIMEOUT_SECONDS`.
    """
    repository = where if isinstance(where, Repository) else find(where)
    if repository is None:
        raise _error(Path(str(where)), "git-no-repository", "not in a git repository", "a folder under git")
    done = _call(repository, environment(repository), *_OVERRIDES, *args, data=input)
    if done.returncode:
        raise _failed(repository, args, done)
    return done.stdout


def holds(repository: Repository, *args: str) -> bool:
    """Run a git command that answers with its exit code: 0 yes, 1 no. Raises GitError for any other code."""
    done = _call(repository, environment(repository), *_OVERRIDES, *args, data=None)
    if done.returncode not in (0, 1):
        raise _failed(repository, args, done)
    return done.returncode == 0


def environment(repository: Repository) -> dict[str, str]:
    """Return the environment that git runs in: this process's, without what could change an answer."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") and key not in _DROPPED}
    return kept | _FIXED | {"GIT_DIR": str(repository.git_dir), "GIT_WORK_TREE": str(repository.top)}


def settings(repository: Repository) -> dict[str, list[str]]:
    """Return the repository's own configuration: key (``remote.<name>.url``, lower-case but the name) -> its values."""
    args = ("config", "--list", "-z")
    done = _call(repository, environment(repository), *args, data=None)
    if done.returncode:
        raise _failed(repository, args, done)
    found: dict[str, list[str]] = {}
    for item in _fields(done.stdout):
        key, _, value = item.partition("\n")
        found.setdefault(key, []).append(value)
    return found


def user_setting(repository: Repository, key: str) -> str | None:
    """Return a setting as the user's own git would see it, None where it is not set.

    The one place where the user's configuration is read, for `init.defaultBranch`, which has no other home. Inherited
    ``GIT_*`` variables stay shut out.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    kept |= {"GIT_DIR": str(repository.git_dir), "GIT_WORK_TREE": str(repository.top), "LC_ALL": "C"}
    done = _call(repository, kept, "config", "--get", "-z", key, data=None)
    return os.fsdecode(done.stdout.rstrip(b"\0")) or None if done.returncode == 0 else None


def refs(repository: Repository) -> dict[str, Ref]:
    """Return every local and remote-tracking branch by its full name; dangling and broken ones are left out."""
    form = "--format=%(refname)%00%(objectname)%00%(symref)"
    found = {}
    for line in run(repository, "for-each-ref", form, "refs/heads", "refs/remotes").split(b"\n"):
        if line:
            name, commit, target = map(os.fsdecode, line.split(b"\0"))
            found[name] = Ref(commit=commit, target=target or None)
    return found


def symbolic(repository: Repository, name: str) -> str | None:
    """Return what a symbolic ref names, whether or not that exists; None where it is absent or not symbolic."""
    done = _call(repository, environment(repository), *_OVERRIDES, "symbolic-ref", "-q", name, data=None)
    return os.fsdecode(done.stdout).strip() or None if done.returncode == 0 else None


def tree(repository: Repository, commit: str, *paths: str) -> list[TreeEntry]:
    """Return the files, links and submodules of a commit at or below `paths` (of the whole commit without any)."""
    found = []
    for item in _fields(run(repository, "ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", *paths)):
        head, _, path = item.partition("\t")
        mode, _, oid, size = head.split()
        found.append(TreeEntry(path=path, mode=int(mode, 8), oid=oid, size=None if size == "-" else int(size)))
    return found


def names(repository: Repository, commit: str) -> list[str]:
    """Return every path of a commit."""
    return _fields(run(repository, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit))


def blobs(repository: Repository, oids: Iterable[str]) -> dict[str, bytes]:
    """Return the content of objects by id, as git stores it. Raises GitError for one that is not here."""
    wanted = sorted(set(oids))
    if not wanted:
        return {}
    answer = run(repository, "cat-file", "--batch", input="".join(f"{oid}\n" for oid in wanted).encode())
    found, at = {}, 0
    for oid in wanted:
        end = answer.index(b"\n", at)
        head = answer[at:end].decode().split()
        if len(head) != 3 or head[0] != oid:
            raise _missing(repository, oid)
        size = int(head[2])
        found[oid] = answer[end + 1 : end + 1 + size]
        at = end + size + 2
    return found


def tracked(repository: Repository, path: str) -> list[IndexEntry]:
    """Return what the index holds at or below `path`, one entry a path where a merge left several."""
    found: dict[str, IndexEntry] = {}
    for item in _fields(run(repository, "ls-files", "-z", "-t", "-s", "--cached", "--", path)):
        head, _, name = item.partition("\t")
        tag, mode, oid, _ = head.split()
        found[name] = IndexEntry(path=name, mode=int(mode, 8), oid=oid, sparse=tag == "S")
    return list(found.values())


def untracked(repository: Repository, path: str) -> list[str]:
    """Return the files at or below `path` that are neither tracked nor ignored; a nested repository ends in ``/``.

    Ignored is what ``.gitignore`` files and ``info/exclude`` say; the user's own ``core.excludesFile`` is not asked.
    """
    return _fields(run(repository, "ls-files", "-z", "--others", "--exclude-standard", "--", path))


def attributes(top: Path, paths: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the attributes `names` of `paths` by the ``.gitattributes`` files below `top`, and by nothing else.

    Values are git's words: ``set``, ``unset``, ``unspecified`` or the value itself.
    """
    found: dict[str, dict[str, str]] = {path: {} for path in paths}
    if not paths:
        return found
    with tempfile.TemporaryDirectory(prefix="skillbench-git-") as folder:
        empty = Path(folder)
        for name in ("objects", "refs"):
            (empty / name).mkdir()
        (empty / "HEAD").write_bytes(b"ref: refs/heads/none\n")
        data = b"".join(os.fsencode(path) + b"\0" for path in paths)
        answer = _fields(run(Repository(top=top, git_dir=empty), "check-attr", "--stdin", "-z", *names, input=data))
    for path, name, value in zip(answer[::3], answer[1::3], answer[2::3], strict=True):
        found[path][name] = value
    return found


def base_attributes(
    files: Mapping[str, bytes], paths: Sequence[str], names: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Return `attributes` by ``.gitattributes`` files that are handed in: path -> content."""
    with tempfile.TemporaryDirectory(prefix="skillbench-git-") as folder:
        top = Path(os.path.realpath(folder))
        for path, data in files.items():
            place = top / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        return attributes(top, paths, names)


def _fields(data: bytes) -> list[str]:
    return [os.fsdecode(field) for field in data.split(b"\0")[:-1]]


def _is_git_dir(folder: Path) -> bool:
    return os.path.lexists(folder / "HEAD") and ((folder / "commondir").exists() or (folder / "objects").is_dir())


def _named_by(marker: Path) -> Path:
    text = os.fsdecode(marker.read_bytes()[:8192]).strip()
    named = Path(os.path.realpath(marker.parent / text.removeprefix("gitdir:").strip()))
    if not text.startswith("gitdir:") or not _is_git_dir(named):
        raise _error(
            marker, "git-broken-worktree", f'names "{named}", which is no git folder', "`git worktree repair` run there"
        )
    return named


def _call(
    repository: Repository, environment: Mapping[str, str], *args: str, data: bytes | None
) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("git")
    if program is None:
        raise _error(repository.top, "git-no-program", "the git program is not on PATH", "git to be installed")
    try:
        return subprocess.run(  # noqa: S603  # no shell, a fixed program, arguments of our own
            [program, *args],
            cwd=repository.top,
            env=dict(environment),
            input=data or b"",
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _error(repository.top, "git-timeout", f"git gave no answer in {TIMEOUT_SECONDS} s") from None
    except OSError as error:
        raise _error(repository.top, "git-no-program", f"git can't be run: {error.strerror}") from error


def _error(path: Path, slug: str, what: str, expected: str | None = None) -> GitError:
    return GitError(Problem(path=str(path), slug=slug, what=what, expected=expected))


def _missing(repository: Repository, oid: str) -> GitError:
    return _error(
        repository.top,
        "git-missing-object",
        f"object {oid[:12]} is not in this repository",
        "a clone that holds the default branch's files: `git fetch --refetch --filter=blob:limit=1g`, or a new clone",
    )


def _failed(repository: Repository, args: Sequence[str], done: subprocess.CompletedProcess[bytes]) -> GitError:
    said = os.fsdecode(done.stderr).strip().split("\n")[-1] or f"exit code {done.returncode}"
    if re.search(r"promisor|missing (object|blob|tree)|unable to read|bad object|not a tree object", said):
        named = re.search(r"[0-9a-f]{40,64}", said)
        if named:
            return _missing(repository, named.group())
    version = _call(repository, environment(repository), "--version", data=None).stdout
    numbers = re.search(rb"(\d+)\.(\d+)", version)
    if numbers and (int(numbers[1]), int(numbers[2])) < OLDEST:
        wanted = f"git {OLDEST[0]}.{OLDEST[1]} or newer"
        return _error(repository.top, "git-too-old", os.fsdecode(version).strip() + " is too old", wanted)
    return _error(repository.top, "git-failed", f"git {args[0]} failed: {said}")
