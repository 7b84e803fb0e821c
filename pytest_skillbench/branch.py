"""Which branch is the default branch, and which commit of it counts as released.

Gather: asks `git`, guesses nothing. The name comes, in this order, from

1. the remote's HEAD as it was recorded (``refs/remotes/origin/HEAD``);
2. the remote's answer that lies on this machine: the HEAD of a remote that is a folder, or of the bare repository
   that the worktree belongs to;
3. `init.defaultBranch`, ``main``, ``master``: the first that exists. The repository's own `init.defaultBranch` is
   somebody's word for this repository and counts outright. Where there is a remote whose HEAD nobody recorded, the
   rest counts only where no other branch looks like a default branch and every branch was fetched: else ``main`` may
   be a decoy beside ``develop``, and the user is told the command that settles it.

The commit is the local branch's where that is at or ahead of the remote-tracking one, else the remote-tracking one's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from . import git
from .errors import GitError, Problem
from .model import Value

_HEADS, _REMOTES = "refs/heads/", "refs/remotes/"
_SETTING = "init.defaultbranch"
_USUAL = ("main", "master")
# Names under which public repositories keep their default branch. Two of them side by side are ambiguous.
_LOOKS_DEFAULT = re.compile(
    r"(main|master|mainline|trunk|default|devel|develop|development|dev|next|canary|edge|unstable|stable|latest|current"
    r"|staging|prod|production|live|integration|release|releases|base|root"
    r"|v?\d+([._]\d+)*([._-]?(x|dev|stable))?|(release|releases|stable|version)[/_-].+)",
    re.IGNORECASE,
)


class DefaultBranch(Value, frozen=True):
    """The default branch: its name, the full ref that counts, and the commit that this ref names."""

    name: str
    ref: str
    commit: str


class _Branches(Value, frozen=True):
    """What is known: local branches and the remote's, name -> commit. `remote` None: there is none."""

    repository: git.Repository
    settings: dict[str, list[str]]
    refs: dict[str, git.Ref]
    remote: str | None

    @property
    def local(self) -> dict[str, str]:
        return {name.removeprefix(_HEADS): ref.commit for name, ref in self.refs.items() if name.startswith(_HEADS)}

    @property
    def tracking(self) -> dict[str, str]:
        prefix = f"{_REMOTES}{self.remote}/"
        found = {name.removeprefix(prefix): ref for name, ref in self.refs.items() if name.startswith(prefix)}
        return {name: ref.commit for name, ref in found.items() if name != "HEAD"}


def default_branch(root: Path | git.Repository) -> DefaultBranch:
    """Return the default branch of the repository that `root` is in.

    Raises GitError, with the command that mends it: not in a repository, no commit yet, the name is not known or
    ambiguous, the branch was never fetched or is gone.
    """
    repository = root if isinstance(root, git.Repository) else git.find(root)
    if repository is None:
        raise GitError(Problem(path=str(root), slug="git-no-repository", what="not a git repository"))
    known = git.settings(repository)
    refs = git.refs(repository)
    branches = _Branches(repository=repository, settings=known, refs=refs, remote=_remote(repository, known, refs))
    name = _recorded(branches)
    if name is not None:
        return _recorded_choice(branches, name)
    name = _bare_head(branches)
    if name is None and (name := _folder_head(branches)) is not None:
        return _recorded_choice(branches, name)
    name = name or _own_setting(branches)
    if name is None:
        name = _without_remote(branches) if branches.remote is None else _unrecorded(branches)
    return _choice(branches, name)


def _remote(repository: git.Repository, known: dict[str, list[str]], refs: dict[str, git.Ref]) -> str | None:
    """Return the remote to ask: origin, or the only one, or the only one whose HEAD was recorded."""
    remotes = sorted({key[7:-4] for key in known if key.startswith("remote.") and key.endswith(".url")})
    if not remotes or "origin" in remotes:
        return "origin" if remotes else None
    if len(remotes) > 1:
        recorded = [name for name in remotes if f"{_REMOTES}{name}/HEAD" in refs]
        if len(recorded) != 1:
            what = f"several remotes ({', '.join(remotes)}) and none is called origin"
            raise _unknown(repository, what, f"call one of them so: `git remote rename {remotes[0]} origin`")
        return recorded[0]
    return remotes[0]


def _recorded(branches: _Branches) -> str | None:
    """Return the branch that the remote's HEAD was recorded to be, whether or not that branch is here."""
    prefix = f"{_REMOTES}{branches.remote}/"
    head = f"{prefix}HEAD"
    if branches.remote is None:
        return None
    target = branches.refs[head].target if head in branches.refs else git.symbolic(branches.repository, head)
    return target.removeprefix(prefix) if target is not None and target.startswith(prefix) else None


def _folder_head(branches: _Branches) -> str | None:
    """Return the branch that a remote on this machine has as its HEAD; None without one, or without a commit on it."""
    url = branches.settings.get(f"remote.{branches.remote}.url", [""])[0]
    folder = _folder(branches.repository, url)
    if folder is None:
        return None
    there = git.Repository(top=folder, git_dir=folder)
    target = git.symbolic(there, "HEAD")
    if target is None or not target.startswith(_HEADS) or target not in git.refs(there):
        return None
    return target.removeprefix(_HEADS)


def _folder(repository: git.Repository, url: str) -> Path | None:
    """Return the git folder that a remote's address names, None where it is no address on this machine."""
    path = unquote(url.removeprefix("file://")) if url.startswith("file://") else url
    if not path or "://" in path or (not path.startswith(("/", ".")) and ":" in path.split("/", 1)[0]):
        return None
    place = repository.top / path
    for folder in (place, place / ".git", Path(f"{place}.git")):
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
            return Path(os.path.realpath(folder))
    return None


def _bare_head(branches: _Branches) -> str | None:
    """Return the branch that the bare repository of a linked worktree has as its HEAD: the remote's, as cloned."""
    folder = branches.repository.git_dir
    if not (folder / "commondir").is_file():
        return None
    common = Path(os.path.realpath(folder / (folder / "commondir").read_text().strip()))
    bare = git.Repository(top=common, git_dir=common)
    if git.settings(bare).get("core.bare", [""])[-1].lower() != "true":
        return None
    target = git.symbolic(bare, "HEAD")
    return target.removeprefix(_HEADS) if target in branches.refs and target.startswith(_HEADS) else None


def _own_setting(branches: _Branches) -> str | None:
    """Return the repository's own `init.defaultBranch`, where such a branch exists."""
    name = branches.settings.get(_SETTING, [""])[-1]
    return name if name in branches.local or name in branches.tracking else None


def _without_remote(branches: _Branches) -> str:
    """Return the default branch of a repository that is nowhere else: the usual names, else its only branch."""
    local = branches.local
    _require_commit(branches)
    for name in _usual(branches.repository):
        if name in local:
            return name
    if len(local) == 1:
        return next(iter(local))
    raise _unknown(
        branches.repository,
        f"no remote, and no branch is called {' or '.join(_USUAL)}" + (f", but {_some(local)}" if local else ""),
        "tell git its name: `git config init.defaultBranch NAME`",
    )


def _unrecorded(branches: _Branches) -> str:
    """Return the usual name where the remote's HEAD is not recorded and nothing speaks against it."""
    repository, remote = branches.repository, branches.remote
    names = branches.tracking or branches.local
    _require_commit(branches)
    ask = (
        f"fetch the default branch: `git fetch {remote} NAME:{_REMOTES}{remote}/NAME`, then "
        f"`git remote set-head {remote} NAME`, with its name for NAME"
    )
    if _partly_fetched(branches):
        raise _unknown(
            repository, f"{remote}'s default branch is not recorded in this shallow or single-branch clone", ask
        )
    candidates = [name for name in _usual(repository) if name in names]
    if not candidates:
        raise _unknown(repository, f"{remote}'s default branch is not recorded", ask)
    rivals = sorted(name for name in names if name != candidates[0] and _LOOKS_DEFAULT.fullmatch(name))
    if rivals:
        what = f"{remote}'s default branch is not recorded, and it could be {_some([candidates[0], *rivals])}"
        raise _unknown(repository, what, f"ask for it: `git remote set-head {remote} --auto`")
    return candidates[0]


def _partly_fetched(branches: _Branches) -> bool:
    """Tell whether branches of the remote may be missing here: a shallow clone, or one of chosen branches."""
    if git.run(branches.repository, "rev-parse", "--is-shallow-repository").strip() == b"true":
        return True
    specs = branches.settings.get(f"remote.{branches.remote}.fetch", [])
    return bool(branches.tracking) and not any(spec.lstrip("+").startswith(f"{_HEADS}*:") for spec in specs)


def _require_commit(branches: _Branches) -> None:
    """Refuse a repository in which nothing was ever committed."""
    if not branches.refs and not git.holds(branches.repository, "rev-parse", "-q", "--verify", "HEAD^{commit}"):
        raise GitError(
            Problem(path=str(branches.repository.top), slug="git-no-commit", what="no branch has a commit yet")
        )


def _usual(repository: git.Repository) -> tuple[str, ...]:
    chosen = git.user_setting(repository, _SETTING)
    return tuple(dict.fromkeys((chosen, *_USUAL) if chosen else _USUAL))


def _recorded_choice(branches: _Branches, name: str) -> DefaultBranch:
    if name not in branches.tracking:
        remote = branches.remote
        raise _unknown(
            branches.repository,
            f"{remote}'s default branch is recorded as {name}, and it is not here",
            f"fetch the default branch: `git fetch {remote} {name}:{_REMOTES}{remote}/{name}`, "
            f"or, where it was renamed, `git remote set-head {remote} --auto`",
        )
    return _choice(branches, name)


def _choice(branches: _Branches, name: str) -> DefaultBranch:
    if not name.isprintable():  # a name that is not UTF-8 reads as lone surrogates, which no record can hold
        raise _unknown(branches.repository, f"its name {name!a} can't be written down", "rename it")
    local, tracking = branches.local.get(name), branches.tracking.get(name)
    ahead = local is not None and (
        tracking is None
        or local == tracking
        or git.holds(branches.repository, "merge-base", "--is-ancestor", tracking, local)
    )
    if ahead and local is not None:
        return DefaultBranch(name=name, ref=_HEADS + name, commit=local)
    if tracking is None:  # every caller took the name from one of the two
        raise _unknown(branches.repository, f"branch {name} is gone", "try again")
    return DefaultBranch(name=name, ref=f"{_REMOTES}{branches.remote}/{name}", commit=tracking)


def _some(names: Iterable[str]) -> str:
    shown = list(names)
    return ", ".join(shown[:5]) + (", …" if len(shown) > 5 else "")


def _unknown(repository: git.Repository, what: str, mend: str) -> GitError:
    whole = f"the default branch is not known: {what}; {mend}"
    return GitError(Problem(path=str(repository.top), slug="git-default-branch", what=whole))
