"""`default_branch`: the real default branch and its commit, or the command that settles it; never a decoy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_skillbench.branch import DefaultBranch, default_branch
from pytest_skillbench.errors import GitError

from .repos import SKILL, Repo, init, with_skill


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test a user without configuration."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def _user(tmp_path: Path, branch: str) -> None:
    (tmp_path / "home/.gitconfig").write_text(f"[init]\n defaultBranch = {branch}\n")


def _server(tmp_path: Path, branch: str, *others: str) -> Repo:
    """Make a repository with several branches, each one commit ahead of the one before, and `branch` as its HEAD."""
    repo = with_skill(tmp_path / "server", branch)
    for other in others:
        repo.git("checkout", "-q", "-b", other)
        repo.write(f"{other.replace('/', '-')}.txt")
        repo.commit(other)
    repo.git("checkout", "-q", branch)
    return repo


def _far(repo: Repo) -> None:
    """Let origin's address be one that can't be looked into from here, as on any real server."""
    repo.git("config", "remote.origin.url", "https://example.org/x.git")


def _unrecorded(repo: Repo) -> None:
    """Forget origin/HEAD, as a checkout by a CI service has it, or a repository that was pushed and never cloned."""
    repo.git("symbolic-ref", "-d", "refs/remotes/origin/HEAD")
    _far(repo)


def test_the_recorded_head_of_the_remote_wins_over_every_usual_name(tmp_path: Path) -> None:
    """The default is develop; main is there as well, here and there, and is what the user calls new branches."""
    server = _server(tmp_path, "develop", "main")
    repo = server.clone(tmp_path / "repo")
    repo.git("checkout", "-q", "main")
    _user(tmp_path, "main")
    assert default_branch(repo.root) == DefaultBranch(
        name="develop", ref="refs/heads/develop", commit=server.git("rev-parse", "develop")
    )
    repo.git("branch", "-q", "-D", "develop")
    assert default_branch(repo.root / SKILL).ref == "refs/remotes/origin/develop"


@pytest.mark.parametrize("decoys", [("main",), ("master", "feature"), ("main", "master"), ("trunk",)])
def test_a_decoy_is_never_taken(tmp_path: Path, decoys: tuple[str, ...]) -> None:
    """With origin/HEAD unset nobody can tell develop from main, whatever the user calls new branches."""
    repo = _server(tmp_path, "develop", *decoys).clone(tmp_path / "repo")
    _unrecorded(repo)
    for users in (None, "main", "master"):
        if users:
            _user(tmp_path, users)
        with pytest.raises(GitError, match=r"git (remote set-head|fetch) origin"):
            default_branch(repo.root)


def test_a_remote_on_this_machine_is_asked_itself(tmp_path: Path) -> None:
    """Where the remote is a folder its HEAD can be read without a network, whichever way its address is written."""
    server = _server(tmp_path, "develop", "main")
    server.git("clone", "-q", "--bare", ".", str(tmp_path / "bare server.git"))
    repo = server.clone(tmp_path / "repo")
    repo.git("symbolic-ref", "-d", "refs/remotes/origin/HEAD")
    for url in (
        str(server.root),
        f"file://{tmp_path}/bare%20server.git",
        "../bare server.git",
        str(tmp_path / "bare server"),
    ):
        repo.git("config", "remote.origin.url", url)
        assert default_branch(repo.root).name == "develop"


def test_a_usual_name_counts_where_nothing_speaks_against_it(tmp_path: Path) -> None:
    """A repository that was made here and pushed has no origin/HEAD: main beside topic branches is main."""
    repo = _server(tmp_path, "main", "fix-typo", "user/topic").clone(tmp_path / "repo")
    _unrecorded(repo)
    assert default_branch(repo.root).name == "main"
    other = _server(tmp_path / "2", "trunk", "fix-typo").clone(tmp_path / "other")
    _unrecorded(other)
    with pytest.raises(GitError, match="not recorded"):
        default_branch(other.root)
    _user(tmp_path, "trunk")
    assert default_branch(other.root).name == "trunk"


def test_the_repositorys_own_setting_settles_it(tmp_path: Path) -> None:
    """The command that the message names works, without a network too; a branch that is not there settles nothing."""
    repo = _server(tmp_path, "develop", "main").clone(tmp_path / "repo")
    _unrecorded(repo)
    repo.git("config", "init.defaultBranch", "nowhere")
    with pytest.raises(GitError):
        default_branch(repo.root)
    repo.git("config", "init.defaultBranch", "develop")
    assert default_branch(repo.root).name == "develop"


def test_a_clone_of_one_branch_says_what_to_fetch(tmp_path: Path) -> None:
    """As CI services clone: depth 1, one topic branch. It is not the default branch, and nothing is unchanged."""
    server = _server(tmp_path, "main", "topic")
    repo = server.clone(tmp_path / "repo", "--depth=1", "--single-branch", "--branch=topic")
    command = "git fetch origin main:refs/remotes/origin/main"
    with pytest.raises(GitError, match=command):
        default_branch(repo.root)
    repo.git(*command.split()[1:])
    assert default_branch(repo.root).commit == server.git("rev-parse", "main")
    far = server.clone(tmp_path / "far", "--depth=1", "--branch=topic")
    _far(far)
    with pytest.raises(GitError, match="fetch the default branch: `git fetch origin NAME"):
        default_branch(far.root)


def test_a_shallow_clone_of_the_default_branch_is_enough(tmp_path: Path) -> None:
    """Depth 1 has the commit, and a commit of one's own on top counts as ahead of it."""
    server = _server(tmp_path, "main")
    server.commit("second")
    repo = server.clone(tmp_path / "repo", "--depth=1")
    assert default_branch(repo.root).commit == server.git("rev-parse", "main")
    mine = repo.commit("mine")
    assert default_branch(repo.root) == DefaultBranch(name="main", ref="refs/heads/main", commit=mine)


def test_a_ci_checkout_of_a_commit_is_refused_by_name(tmp_path: Path) -> None:
    """A fetched commit, a detached HEAD, no branch at all: the message says what to fetch."""
    server = _server(tmp_path, "main")
    commit = server.git("rev-parse", "HEAD")
    repo = init(tmp_path / "repo")
    repo.git("remote", "add", "origin", f"file://{server.root}")
    repo.git("fetch", "-q", "--depth=1", "origin", f"{commit}:refs/remotes/pull/1/merge")
    repo.git("checkout", "-q", "--detach", commit)
    _far(repo)
    with pytest.raises(GitError, match="fetch the default branch"):
        default_branch(repo.root)


def test_local_branch_or_remote_one(tmp_path: Path) -> None:
    """At or ahead of the remote: the local branch. Behind or beside it: the remote one, which is what is released."""
    server = _server(tmp_path, "main")
    repo = server.clone(tmp_path / "repo")
    assert default_branch(repo.root).ref == "refs/heads/main"
    released = server.commit("released")
    repo.git("fetch", "-q")
    behind = default_branch(repo.root)
    assert (behind.ref, behind.commit) == ("refs/remotes/origin/main", released)
    mine = repo.commit("diverged")
    assert default_branch(repo.root).ref == "refs/remotes/origin/main"
    repo.git("rebase", "-q", "origin/main")
    ahead = default_branch(repo.root)
    assert ahead.ref == "refs/heads/main"
    assert ahead.commit not in (mine, released)


def test_a_dangling_head_says_how_to_mend_it(tmp_path: Path) -> None:
    """Renamed on the server and pruned here: master is recorded, and a local master must not stand in for it."""
    repo = _server(tmp_path, "master").clone(tmp_path / "repo")
    repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repo.git("update-ref", "--no-deref", "-d", "refs/remotes/origin/master")
    with pytest.raises(GitError, match=r"recorded as master, and it is not here.*git remote set-head origin --auto"):
        default_branch(repo.root)


def test_a_tag_of_the_same_name_is_not_the_branch(tmp_path: Path) -> None:
    """`main` alone is ambiguous for git; full names never are."""
    repo = _server(tmp_path, "main").clone(tmp_path / "repo")
    repo.git("tag", "main")
    repo.git("tag", "origin/main")
    head = repo.commit("ahead")
    assert default_branch(repo.root).commit == head


def test_without_a_remote_the_usual_names_in_order(tmp_path: Path) -> None:
    """init.defaultBranch, main, master, else the only branch; several others are not guessed at."""
    repo = with_skill(tmp_path / "repo", "only")
    assert default_branch(repo.root).ref == "refs/heads/only"
    repo.git("branch", "other")
    with pytest.raises(GitError, match=r"git config init\.defaultBranch NAME"):
        default_branch(repo.root)
    for name in ("master", "main", "trunk"):
        repo.git("branch", name)
        _user(tmp_path, "trunk")
        assert default_branch(repo.root).name == name


def test_nothing_committed_and_no_repository(tmp_path: Path) -> None:
    """Each is said as it is."""
    with pytest.raises(GitError, match="not a git repository"):
        default_branch(tmp_path)
    repo = init(tmp_path / "repo")
    with pytest.raises(GitError, match="no branch has a commit yet"):
        default_branch(repo.root)
    repo.git("remote", "add", "origin", "https://example.org/x.git")
    with pytest.raises(GitError, match="no branch has a commit yet"):
        default_branch(repo.root)


def test_an_empty_remote_is_no_answer(tmp_path: Path) -> None:
    """A remote to which nothing was pushed yet names a branch that does not exist: the local one counts."""
    init(tmp_path / "empty", "develop")
    repo = with_skill(tmp_path / "repo")
    repo.git("remote", "add", "origin", str(tmp_path / "empty"))
    assert default_branch(repo.root).ref == "refs/heads/main"


def test_worktrees_of_a_bare_repository(tmp_path: Path) -> None:
    """A bare clone has no remote-tracking branches; its own HEAD is the remote's default, from any worktree."""
    server = _server(tmp_path, "develop", "main")
    server.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    bare = Repo(tmp_path / "bare.git")
    _far(bare)
    bare.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "topic"), "main")
    expected = DefaultBranch(name="develop", ref="refs/heads/develop", commit=server.git("rev-parse", "develop"))
    assert default_branch(tmp_path / "topic") == expected
    bare.git("config", "extensions.worktreeConfig", "true")
    bare.git("config", "--unset", "core.bare")
    bare.git("config", "--worktree", "core.bare", "true")
    assert default_branch(tmp_path / "topic") == expected


def test_a_detached_head_and_a_linked_worktree_change_nothing(tmp_path: Path) -> None:
    """What is checked out is not what is released."""
    server = _server(tmp_path, "main", "topic")
    repo = server.clone(tmp_path / "repo")
    repo.git("checkout", "-q", "--detach", "origin/topic")
    repo.git("worktree", "add", "-q", "-b", "mine", str(tmp_path / "tree"), "origin/topic")
    for root in (repo.root, tmp_path / "tree"):
        assert default_branch(root).commit == server.git("rev-parse", "main")


def test_remotes_by_other_names(tmp_path: Path) -> None:
    """The only remote counts, or origin among several, or the one that was cloned from; else the user must say."""
    server = _server(tmp_path, "develop", "main")
    repo = server.clone(tmp_path / "repo", "--origin=up/stream")
    assert default_branch(repo.root).name == "develop"
    repo.git("remote", "add", "fork", "https://example.org/x.git")
    assert default_branch(repo.root).name == "develop"
    repo.git("symbolic-ref", "-d", "refs/remotes/up/stream/HEAD")
    with pytest.raises(GitError, match=r"several remotes \(fork, up/stream\).*git remote rename fork origin"):
        default_branch(repo.root)


def test_a_name_that_no_record_can_hold(tmp_path: Path) -> None:
    """A branch whose name is not UTF-8 is refused in words, not with a traceback when the plan is written."""
    repo = with_skill(tmp_path / "repo", os.fsdecode(b"b\xe9"))
    with pytest.raises(GitError, match="can't be written down"):
        default_branch(repo.root)
