"""`git`: whatever user, machine and repository have configured, the answers are the same and nothing is run."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from pytest_skillbench import git
from pytest_skillbench.errors import GitError

from .repos import SKILL, Repo, init, with_skill

NASTY = (
    "a b.md",
    "line\nbreak.md",
    "quo\"te's.md",
    "tab\there.md",
    "back\\slash.md",
    "-dash.md",
    ":(glob)*.md",
    "[x].md",
    "x.md",
    unicodedata.normalize("NFC", "naïve ✂.md"),
    unicodedata.normalize("NFD", "naïve ✂.md"),
    os.fsdecode(b"latin-\xe9.md"),
)


def _found(repo: Repo) -> git.Repository:
    found = git.find(repo.root)
    assert found is not None
    return found


def _program(folder: Path, script: str) -> Path:
    """Put a `git` of our own into a folder and return the folder."""
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)
    return folder


def test_the_repository_is_the_nearest_one_upwards(tmp_path: Path) -> None:
    """A nested repository hides the outer one, as for git; an empty .git folder hides nothing."""
    outer = with_skill(tmp_path / "outer")
    inner = init(outer.root / "deep/inner")
    (outer.root / SKILL / ".git").mkdir()
    assert _found(inner).top == inner.root.resolve()
    found = git.find(outer.root / SKILL)
    assert found is not None
    assert found.top == outer.root.resolve()
    assert found.git_dir == outer.root.resolve() / ".git"
    assert git.find(tmp_path) is None


def test_a_linked_worktree_has_its_own_git_folder(tmp_path: Path) -> None:
    """In a worktree .git is a file; where its repository was moved the message says what to do."""
    repo = with_skill(tmp_path / "repo")
    repo.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    found = git.find(tmp_path / "tree" / SKILL)
    assert found is not None
    assert found.git_dir.parent.name == "worktrees"
    assert git.run(found, "rev-parse", "--abbrev-ref", "HEAD") == b"other\n"
    (tmp_path / "repo").rename(tmp_path / "moved")
    with pytest.raises(GitError, match="git worktree repair"):
        git.find(tmp_path / "tree")


def test_no_repository_no_program_old_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its own sentence, and none is taken for an answer."""
    with pytest.raises(GitError, match="not in a git repository"):
        git.run(tmp_path, "rev-parse", "HEAD")
    repo = with_skill(tmp_path / "repo")
    monkeypatch.setenv(
        "PATH", str(_program(tmp_path / "old", '[ "$1" = --version ] && echo "git version 1.8.3"; exit 129'))
    )
    with pytest.raises(GitError, match=r"git version 1\.8\.3 is too old; expected git 2\.25 or newer"):
        git.run(repo.root, "rev-parse", "HEAD")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(GitError, match="not on PATH"):
        git.run(repo.root, "rev-parse", "HEAD")


def test_a_git_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No call waits for ever."""
    repo = init(tmp_path / "repo")
    programs = _program(tmp_path / "slow", "exec tail -f /dev/null")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(git, "TIMEOUT_SECONDS", 0.2)
    with pytest.raises(GitError, match="no answer"):
        git.run(repo.root, "rev-parse", "HEAD")


def test_a_failing_command_says_what_git_said(tmp_path: Path) -> None:
    """The message holds git's last line, made safe for a terminal."""
    repo = with_skill(tmp_path / "repo")
    with pytest.raises(GitError, match=r"git cat-file failed: .*nonsense") as caught:
        git.run(repo.root, "cat-file", "-t", "nonsense\x1b[31m")
    assert "\x1b" not in str(caught.value)


def test_inherited_variables_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside a hook git sets GIT_DIR and GIT_INDEX_FILE; a shell may set configuration. None of it comes through."""
    repo, other = with_skill(tmp_path / "repo"), init(tmp_path / "other")
    for name, value in {
        "GIT_DIR": str(other.root / ".git"),
        "GIT_WORK_TREE": str(other.root),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "objects"),
        "GIT_CEILING_DIRECTORIES": str(tmp_path),
        "GIT_NAMESPACE": "elsewhere",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_PREFIX": "skills/",
    }.items():
        monkeypatch.setenv(name, value)
    found = _found(repo)
    assert found.top == repo.root.resolve()
    assert len(git.tracked(found, SKILL)) == 3
    assert not (tmp_path / "trace").exists()
    assert not (tmp_path / "index").exists()


def test_a_strangers_configuration_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks, monitors, filters, pagers and external diffs of the repository and of the user stay quiet."""
    repo = with_skill(tmp_path / "repo")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    hostile = (
        f"[core]\n fsmonitor = {trap}\n pager = {trap}\n hooksPath = {tmp_path}\n sshCommand = {trap}\n"
        f"[diff]\n external = {trap}\n"
        f'[filter "x"]\n clean = {trap}\n smudge = {trap}\n process = {trap}\n required = true\n'
    )
    with (repo.root / ".git/config").open("a") as file:
        file.write(hostile)
    (tmp_path / ".gitconfig").write_text(hostile)
    monkeypatch.setenv("HOME", str(tmp_path))
    repo.write(".gitattributes", "* filter=x diff=x\n")
    found = _found(repo)
    git.tracked(found, SKILL)
    git.untracked(found, SKILL)
    git.refs(found)
    git.settings(found)
    git.tree(found, "HEAD", SKILL)
    git.attributes(repo.root, [f"{SKILL}/SKILL.md"], ["filter"])
    git.holds(found, "merge-base", "--is-ancestor", "HEAD", "HEAD")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_repository_of_somebody_else_can_be_asked(tmp_path: Path) -> None:
    """In a container the checkout often belongs to another user; safe.directory must not stop a reading question."""
    repo = with_skill(tmp_path / "repo")
    for folder, _, files in os.walk(repo.root):
        for name in ["", *files]:
            os.chown(Path(folder) / name, 12345, 12345)
    assert len(git.tracked(_found(repo), SKILL)) == 3


def test_every_name_that_a_file_can_have(tmp_path: Path) -> None:
    """Names come back as they are on disk: nothing quoted, nothing taken for a pattern or an option."""
    repo = init(tmp_path / "repo")
    for name in NASTY:
        repo.write(f"d/{name}")
    found = _found(repo)
    assert set(git.untracked(found, "d")) == {f"d/{name}" for name in NASTY}
    repo.commit()
    assert {entry.path for entry in git.tracked(found, "d")} == {f"d/{name}" for name in NASTY}
    assert {entry.path for entry in git.tree(found, "HEAD", "d")} == {f"d/{name}" for name in NASTY}
    for name in NASTY:
        assert [entry.path for entry in git.tree(found, "HEAD", f"d/{name}")] == [f"d/{name}"]
        assert [entry.path for entry in git.tracked(found, f"d/{name}")] == [f"d/{name}"]
    assert set(git.attributes(repo.root, [f"d/{name}" for name in NASTY], ["text"])) == {f"d/{name}" for name in NASTY}


def test_objects_come_whole_and_missing_ones_are_an_error(tmp_path: Path) -> None:
    """Empty, binary and newline-laden content is cut at the right place."""
    repo = init(tmp_path / "repo")
    contents = {"a": b"", "b": b"\n\n", "c": b"\0\xff" * 500, "d": b"no newline at the end"}
    for name, content in contents.items():
        repo.write(name, content)
    repo.commit()
    found = _found(repo)
    oids = {entry.path: entry.oid for entry in git.tree(found, "HEAD")}
    blobs = git.blobs(found, oids.values())
    assert {name: blobs[oid] for name, oid in oids.items()} == contents
    assert git.blobs(found, []) == {}
    with pytest.raises(GitError, match="object 111111111111 is not in this repository"):
        git.blobs(found, [oids["a"], "1" * 40])


@pytest.mark.parametrize("old", [False, True])
def test_a_partial_clone_fetches_nothing(tmp_path: Path, old: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git would fetch what is missing into the user's repository; here it is an error, with an old git as well."""
    if old:  # one that does not know the variable
        monkeypatch.delitem(git._FIXED, "GIT_NO_LAZY_FETCH")
    server = with_skill(tmp_path / "server")
    server.git("config", "uploadpack.allowFilter", "true")
    clone = server.clone(tmp_path / "clone", "--filter=blob:none", "--no-checkout")
    before = clone.state()
    found = _found(clone)
    with pytest.raises(GitError, match="is not in this repository"):
        git.tree(found, "HEAD", SKILL)
    with pytest.raises(GitError, match="is not in this repository"):
        git.blobs(found, [server.git("rev-parse", f"HEAD:{SKILL}/SKILL.md")])
    assert clone.state() == before


def test_replaced_objects_are_not_looked_at(tmp_path: Path) -> None:
    """`git replace` is one clone's own view of the past; the commit that is named is the commit that is read."""
    repo = with_skill(tmp_path / "repo")
    commit = repo.git("rev-parse", "HEAD")
    repo.write(f"{SKILL}/SKILL.md", "other\n")
    other = repo.commit()
    before = git.tree(_found(repo), commit, SKILL)
    repo.git("replace", commit, other)
    assert git.tree(_found(repo), commit, SKILL) == before


def test_only_committed_attributes_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """info/attributes and core.attributesFile are one user's: they can't change what everybody compares."""
    repo = init(tmp_path / "repo")
    repo.write(".gitattributes", "*.md text\nsub/*.md -text\n[attr]mine eol=crlf\n*.x mine\n")
    repo.write(".git/info/attributes", "* binary filter=x\n")
    (tmp_path / ".gitconfig").write_text(f"[core]\n attributesFile = {tmp_path}/attributes\n")
    (tmp_path / "attributes").write_text("* ident\n")
    repo.git("config", "core.attributesFile", str(tmp_path / "attributes"))
    monkeypatch.setenv("HOME", str(tmp_path))
    names = ["text", "eol", "ident", "filter"]
    expected = {
        "a.md": {"text": "set", "eol": "unspecified", "ident": "unspecified", "filter": "unspecified"},
        "sub/b.md": {"text": "unset", "eol": "unspecified", "ident": "unspecified", "filter": "unspecified"},
        "c.x": {"text": "unspecified", "eol": "crlf", "ident": "unspecified", "filter": "unspecified"},
    }
    assert git.attributes(repo.root, list(expected), names) == expected
    text = {".gitattributes": (repo.root / ".gitattributes").read_bytes()}
    assert git.base_attributes(text, list(expected), names) == expected
    assert git.attributes(repo.root, [], names) == {}


def test_the_users_own_ignore_file_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """.gitignore and info/exclude do: they belong to the repository."""
    repo = init(tmp_path / "repo")
    repo.write(".gitignore", "*.log\n")
    repo.write(".git/info/exclude", "private/\n")
    (tmp_path / "ignore").write_text("*\n")
    (tmp_path / ".gitconfig").write_text(f"[core]\n excludesFile = {tmp_path}/ignore\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    repo.git("config", "core.excludesFile", str(tmp_path / "ignore"))
    for name in ("a.md", "b.log", "private/c.md"):
        repo.write(f"s/{name}")
    assert git.untracked(_found(repo), "s") == ["s/a.md"]


def test_settings_are_the_repositorys_and_one_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's file is read for what is asked of it by name, and for nothing else."""
    repo = init(tmp_path / "repo")
    (tmp_path / ".gitconfig").write_text("[init]\n defaultBranch = trunk\n[core]\n autocrlf = true\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    repo.git("config", "--add", "remote.My.Fork.url", "a=b\nc")
    found = _found(repo)
    settings = git.settings(found)
    assert settings["remote.My.Fork.url"] == ["a=b\nc"]
    assert "init.defaultbranch" not in settings
    assert "core.autocrlf" not in settings
    assert git.user_setting(found, "init.defaultBranch") == "trunk"
    assert git.user_setting(found, "init.nothing") is None


def test_a_merge_leaves_one_entry_a_path(tmp_path: Path) -> None:
    """A conflict has three index entries for one file."""
    repo = with_skill(tmp_path / "repo")
    repo.git("checkout", "-q", "-b", "b")
    repo.write(f"{SKILL}/SKILL.md", "b\n")
    repo.commit()
    repo.git("checkout", "-q", "main")
    repo.write(f"{SKILL}/SKILL.md", "a\n")
    repo.commit()
    with pytest.raises(AssertionError):
        repo.git("merge", "-q", "b")
    assert len(git.tracked(_found(repo), SKILL)) == 3
