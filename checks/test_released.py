"""`released`: a clean checkout never differs, an edit always does, and both versions are copied byte for byte."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_skillbench import digest, released
from pytest_skillbench.errors import GitError, SkillbenchError
from pytest_skillbench.released import Released, compare, materialize_previous, materialize_working

from .repos import SKILL, TEXT, Repo, init, with_skill
from .test_git import NASTY

HERE = Path(SKILL)


def _compare(repo: Repo, skill: str = SKILL) -> Released:
    """Compare, and hold the answer to what is written: both copies have exactly the digests that are recorded."""
    found = compare(repo.root, Path(skill))
    home = repo.root.parent / f"copies-{time.monotonic_ns()}"
    assert materialize_working(repo.root, Path(skill), home / "new") == found.working
    assert digest.package(home / "new") == found.working
    if found.base is not None and found.previous is not None:
        wrote = materialize_previous(repo.root, found.base, skill, home / "old", line_ends=found.line_ends)
        assert wrote == found.previous
        assert digest.package(home / "old") == found.previous
    assert found.regression == (found.previous is not None and found.reason is None)
    return found


def _unchanged(repo: Repo, skill: str = SKILL) -> Released:
    found = _compare(repo, skill)
    assert (found.differs, found.reason, found.problem) == (False, "unchanged", None), found.notes
    return found


def _changed(repo: Repo, skill: str = SKILL) -> Released:
    found = _compare(repo, skill)
    assert (found.differs, found.reason, found.problem) == (True, None, None)
    assert found.previous is not None
    return found


def test_a_fresh_skill_is_unchanged_and_both_versions_have_one_digest(tmp_path: Path) -> None:
    """The same content is the same identity, whether it comes from a commit or from the disk."""
    repo = with_skill(tmp_path / "repo")
    found = _unchanged(repo)
    assert found.working == found.previous == digest.package(repo.root / SKILL)
    assert found.files == ("SKILL.md", "references/notes.md", "scripts/run.sh")
    assert found.base is not None
    assert (found.base.branch, found.base.ref, found.base.commit) == (
        "main",
        "refs/heads/main",
        repo.git("rev-parse", "HEAD"),
    )


EDITS: dict[str, Callable[[Repo], object]] = {
    "edited": lambda repo: repo.write(f"{SKILL}/SKILL.md", TEXT + "More.\n"),
    "same size": lambda repo: repo.write(f"{SKILL}/SKILL.md", TEXT.replace("First", "Fifth")),
    "one byte less": lambda repo: repo.write(f"{SKILL}/SKILL.md", TEXT[:-1]),
    "untracked": lambda repo: repo.write(f"{SKILL}/new.md"),
    "untracked in a new folder": lambda repo: repo.write(f"{SKILL}/a/b/new.md"),
    "deleted": lambda repo: (repo.root / SKILL / "references/notes.md").unlink(),
    "mode off": lambda repo: (repo.root / SKILL / "scripts/run.sh").chmod(0o644),
    "mode on": lambda repo: (repo.root / SKILL / "SKILL.md").chmod(0o755),
    "staged only": lambda repo: _staged_only(repo),
    "file to link": lambda repo: _relink(repo, "references/notes.md", "../SKILL.md"),
    "one file with CRLF": lambda repo: repo.write(f"{SKILL}/scripts/run.sh", "#!/bin/sh\r\necho hello\r\n", mode=0o755),
    "moved inside": lambda repo: (repo.root / SKILL / "references/notes.md").rename(repo.root / SKILL / "notes.md"),
    "committed on a branch": lambda repo: _on_a_branch(repo),
    "intent to add": lambda repo: (repo.write(f"{SKILL}/soon.md"), repo.git("add", "-N", f"{SKILL}/soon.md")),
    "assumed unchanged": lambda repo: (
        repo.git("update-index", "--assume-unchanged", f"{SKILL}/SKILL.md"),
        repo.write(f"{SKILL}/SKILL.md", "x\n"),
    ),
    "removed from the index": lambda repo: (repo.git("rm", "-q", "--cached", f"{SKILL}/SKILL.md"), repo.write("x")),
}
NO_EDITS: dict[str, Callable[[Repo], object]] = {
    "nothing": lambda repo: None,
    "touched": lambda repo: os.utime(repo.root / SKILL / "SKILL.md", (1, 1)),
    "ignored": lambda repo: (repo.write(".gitignore", "*.log\n"), repo.write(f"{SKILL}/a.log")),
    "private": lambda repo: (repo.write(".git/info/exclude", "*.log\n"), repo.write(f"{SKILL}/a.log")),
    "an empty folder": lambda repo: (repo.root / SKILL / "empty").mkdir(),
    "droppings": lambda repo: (repo.write(f"{SKILL}/.DS_Store"), repo.write(f"{SKILL}/scripts/__pycache__/x.pyc")),
    "other modes": lambda repo: (repo.root / SKILL / "SKILL.md").chmod(0o600),
    "written again": lambda repo: repo.write(f"{SKILL}/SKILL.md", TEXT),
    "elsewhere": lambda repo: repo.write("skills/group/x2/SKILL.md", "other\n"),
    "no index at all": lambda repo: repo.git("rm", "-q", "-r", "--cached", "."),
    "another branch": lambda repo: (repo.git("checkout", "-q", "-b", "b"), repo.write("a"), repo.commit()),
}


def _staged_only(repo: Repo) -> None:
    """Stage an edit; the file on disk is the edit too, and HEAD has moved on elsewhere."""
    repo.write(f"{SKILL}/SKILL.md", "staged\n")
    repo.git("add", "-A")


def _relink(repo: Repo, path: str, target: str) -> None:
    place = repo.root / SKILL / path
    place.unlink()
    place.symlink_to(target)


def _on_a_branch(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "topic")
    repo.write(f"{SKILL}/SKILL.md", "committed\n")
    repo.commit()


@pytest.mark.parametrize("name", EDITS)
def test_every_edit_is_seen(tmp_path: Path, name: str) -> None:
    """Staged or not, committed or not, in content, mode or file list; git's index has no say in it."""
    repo = with_skill(tmp_path / "repo")
    before = digest.package(repo.root / SKILL)
    EDITS[name](repo)
    if name == "removed from the index":  # the file is still there and is still what was released
        _unchanged(repo)
    else:
        assert _changed(repo).previous == before


@pytest.mark.parametrize("name", NO_EDITS)
def test_what_is_no_edit_is_not_seen(tmp_path: Path, name: str) -> None:
    """Times, permissions that git does not keep, ignored files, other skills, the index, the branch one is on."""
    repo = with_skill(tmp_path / "repo")
    NO_EDITS[name](repo)
    _unchanged(repo)


def test_an_edit_within_the_same_tick_is_seen(tmp_path: Path) -> None:
    """Same size, same times as the index has: only the content tells, and the content is what is looked at."""
    repo = with_skill(tmp_path / "repo")
    place = repo.root / SKILL / "SKILL.md"
    before = place.stat()
    place.write_text(TEXT.replace("First", "Fifth"))
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    _changed(repo)


def test_the_working_copy_that_counts(tmp_path: Path) -> None:
    """Tracked and new files as they lie on disk; a tracked file counts although it is ignored."""
    repo = with_skill(tmp_path / "repo")
    repo.write(f"{SKILL}/kept.log", "kept\n")
    repo.commit()
    repo.write(".gitignore", "*.log\n/skills/group/x/secret/\n")
    repo.write(f"{SKILL}/other.log")
    repo.write(f"{SKILL}/secret/key")
    repo.write(f"{SKILL}/new.md")
    (repo.root / SKILL / "references/notes.md").unlink()
    assert _compare(repo).files == ("SKILL.md", "kept.log", "new.md", "scripts/run.sh")


@pytest.mark.parametrize(
    "rules",
    [
        "",
        "* text=auto\n",
        "* text=auto eol=crlf\n",
        "*.md text eol=crlf\n*.sh text eol=lf\n",
        "* -text\n",
        "*.md ident\n",
        "* text\n",
        "*.md working-tree-encoding=UTF-16LE eol=crlf\n",
        "* export-ignore\n",
        "*.md export-subst\n",
        "*.md filter=unknown diff=unknown merge=union\n",
        "*.md filter=lfs diff=lfs merge=lfs -text\n",
    ],
)
def test_a_clean_checkout_never_differs(tmp_path: Path, rules: str) -> None:
    """Whatever attributes the repository has and however it was cloned; and then one edit is seen.

    The rules came after the files, so that some blobs are not what git would store under them: git itself then takes
    a fresh clone for modified.
    """
    server = init(tmp_path / "server")
    server.write(f"{SKILL}/SKILL.md", TEXT + "$Id$ and $Format:%H$\n")
    server.write(f"{SKILL}/mixed.md", "a\r\nb\n")
    server.write(f"{SKILL}/dos.md", "a\r\nb\r\n")
    server.write(f"{SKILL}/image.png", b"\x89PNG\r\n\x1a\n\0\0\n")
    server.write(f"{SKILL}/run.sh", "#!/bin/sh\ntrue\n", mode=0o755)
    server.write(f"{SKILL}/empty.md", "")
    server.commit()
    server.write(".gitattributes", rules)
    server.git("add", ".gitattributes")
    server.git("commit", "-q", "-m", "rules")
    for number, config in enumerate(("autocrlf=false", "autocrlf=true", "eol=crlf")):
        repo = server.clone(tmp_path / f"clone{number}", "-c", f"core.{config}")
        found = _unchanged(repo)
        if config == "autocrlf=false":
            assert found.previous == found.working
        repo.git("config", "--unset", f"core.{config.split('=')[0]}")
        assert not compare(repo.root, HERE).differs
        script = repo.root / SKILL / "run.sh"
        script.write_bytes(script.read_bytes().replace(b"true", b"exit"))
        edited = compare(repo.root, HERE)
        assert (edited.differs, edited.reason) == (True, None)
        assert edited.previous == found.previous


def test_a_checkout_with_crlf_is_met_by_a_released_version_with_crlf(tmp_path: Path) -> None:
    """The version is the only difference between the arms: not line ends, whatever the configuration says now."""
    server = with_skill(tmp_path / "server")
    repo = server.clone(tmp_path / "repo", "-c", "core.autocrlf=true")
    repo.git("config", "--unset", "core.autocrlf")
    place = repo.root / SKILL / "SKILL.md"
    assert b"\r\n" in place.read_bytes()
    place.write_bytes(place.read_bytes().replace(b"First", b"1st"))
    found = _changed(repo)
    assert found.line_ends == "crlf"
    assert found.base is not None
    materialize_previous(repo.root, found.base, SKILL, tmp_path / "old", line_ends=found.line_ends)
    assert (tmp_path / "old/SKILL.md").read_bytes() == TEXT.replace("\n", "\r\n").encode()
    materialize_previous(repo.root, found.base, SKILL, tmp_path / "lf")
    assert (tmp_path / "lf/SKILL.md").read_text() == TEXT


def test_one_file_that_differs_in_line_ends_only_is_said(tmp_path: Path) -> None:
    """A script saved with CRLF does not start any more: an edit, and the reader is told which kind."""
    repo = with_skill(tmp_path / "repo")
    EDITS["one file with CRLF"](repo)
    assert _changed(repo).notes == ("scripts/run.sh differs in its line ends only",)


def test_rules_that_the_branch_changes_are_those_that_git_looks_at(tmp_path: Path) -> None:
    """A branch that brings line-end rules makes no skill differ that git would not store anew."""
    repo = with_skill(tmp_path / "repo")
    repo.write(f"{SKILL}/SKILL.md", TEXT.replace("\n", "\r\n"))
    _changed(repo)
    repo.write(".gitattributes", "*.md text eol=crlf\n")
    _unchanged(repo)


def test_nobodys_configuration_changes_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hostile settings of user, repository and environment: an edit and a clean checkout are what they were."""
    clean, edited = with_skill(tmp_path / "clean"), with_skill(tmp_path / "edited")
    edited.write(f"{SKILL}/new.md")
    expected = _unchanged(clean), _changed(edited)
    settings = (
        "[core]\n autocrlf = true\n eol = crlf\n safecrlf = true\n quotePath = true\n bare = true\n"
        f" excludesFile = {tmp_path}/all\n attributesFile = {tmp_path}/all\n fsmonitor = false\n ignoreStat = true\n"
        "[diff]\n external = false\n noprefix = true\n ignoreSubmodules = all\n[status]\n showUntrackedFiles = no\n"
        "[color]\n ui = always\n[log]\n showSignature = true\n[core]\n pager = false\n hooksPath = /nonexistent\n"
    )
    (tmp_path / "all").write_text("* text eol=crlf\n*\n")
    (tmp_path / ".gitconfig").write_text(settings + " fileMode = false\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.fileMode'='false'")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "0")
    for repo in (clean, edited):
        (repo.root / ".git/info/attributes").write_text("* text eol=crlf ident\n")
        with (repo.root / ".git/config").open("a") as file:
            file.write(settings)
    assert (_unchanged(clean), _changed(edited)) == expected


def test_it_works_inside_a_hook_and_leaves_the_repository_alone(tmp_path: Path) -> None:
    """A pre-commit hook runs with GIT_DIR and a temporary index: the answer is that of the working tree."""
    repo = with_skill(tmp_path / "repo")
    hook = repo.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    script = (
        f"import sys; sys.path[:0] = {[str(Path(released.__file__).parents[1])]!r}\n"
        "from pathlib import Path; from pytest_skillbench.released import compare\n"
        f"found = compare(Path.cwd(), Path({SKILL!r}))\n"
        f"Path({str(tmp_path / 'said')!r}).write_text(f'{{found.differs}} {{len(found.files)}}')\n"
    )
    (tmp_path / "hook.py").write_text(script)
    hook.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path}/hook.py"\n')
    hook.chmod(0o755)
    repo.write(f"{SKILL}/new.md")
    repo.git("add", f"{SKILL}/new.md")
    repo.git("commit", "-q", "-m", "new", "--", f"{SKILL}/new.md")
    assert (tmp_path / "said").read_text() == "True 4"


def test_nothing_of_the_users_repository_changes(tmp_path: Path) -> None:
    """Every file, git's own among them: content, mode and times. The index is stale on purpose, and stays so."""
    repo = with_skill(tmp_path / "server").clone(tmp_path / "repo")
    repo.git("config", "core.untrackedCache", "true")
    repo.git("update-index", "--split-index")
    repo.write(f"{SKILL}/SKILL.md", TEXT + "edit\n")
    repo.write(f"{SKILL}/new.md")
    os.utime(repo.root / SKILL / "scripts/run.sh", (5, 5))
    before = repo.state()
    shared = [path for path in before if path.startswith(".git/sharedindex.")]
    _changed(repo)
    after = repo.state()
    for path in shared:  # git itself freshens the time of a shared index whenever it reads it
        before[path] = after[path] = before[path].rpartition(" ")[2]
    assert after == before


def test_modes_are_gits_where_the_file_system_keeps_none(tmp_path: Path) -> None:
    """On a file system without exec bits git says so in the repository: a checkout is clean, with its modes."""
    repo = with_skill(tmp_path / "repo")
    for folder, _, files in os.walk(repo.root / SKILL):
        for name in files:
            (Path(folder) / name).chmod(0o755)
    _changed(repo)
    repo.git("config", "core.fileMode", "false")
    assert _unchanged(repo).working == _compare(repo).previous
    repo.write(f"{SKILL}/new.sh", "x\n", mode=0o755)
    repo.git("update-index", "--chmod=-x", f"{SKILL}/scripts/run.sh")
    _changed(repo)


def test_copies_have_exec_bits_links_and_nothing_that_does_not_count(tmp_path: Path) -> None:
    """`export-ignore` drops nothing, no ignored file is copied, the umask has no say, an inner link stays one."""
    repo = with_skill(tmp_path / "repo")
    repo.write(".gitattributes", "* export-ignore\n*.md export-subst\n")
    repo.write(f"{SKILL}/SKILL.md", "$Format:%H$\n")
    (repo.root / SKILL / "latest").symlink_to("references/notes.md")
    (repo.root / SKILL / "folder").symlink_to("references")
    repo.commit()
    repo.write(".gitignore", "*.log\n")
    repo.write(f"{SKILL}/a.log")
    repo.write(f"{SKILL}/new.md")
    found = _changed(repo)
    assert found.base is not None
    old = os.umask(0o077)
    try:
        materialize_previous(repo.root, found.base, SKILL, tmp_path / "old")
        materialize_working(repo.root, HERE, tmp_path / "new")
    finally:
        os.umask(old)
    for copy in (tmp_path / "old", tmp_path / "new"):
        assert (copy / "SKILL.md").read_text() == "$Format:%H$\n"
        assert stat.S_IMODE((copy / "scripts/run.sh").stat().st_mode) == 0o755
        assert stat.S_IMODE((copy / "SKILL.md").stat().st_mode) == 0o644
        assert os.readlink(copy / "latest") == "references/notes.md"
        assert (copy / "folder/notes.md").read_text() == "# Notes\nOne.\n"
        assert not (copy / "a.log").exists()
    assert (tmp_path / "new/new.md").exists()
    assert not (tmp_path / "old/new.md").exists()


def test_every_name(tmp_path: Path) -> None:
    """Spaces, newlines, quotes, both normal forms of a name, bytes that are no UTF-8: listed and copied as is."""
    skill = "skills/naïve ✂ 代码\n[x]"
    repo = init(tmp_path / "repo")
    repo.write(f"{skill}/SKILL.md")
    for name in NASTY:
        repo.write(f"{skill}/{name}", name.encode("utf-8", "surrogateescape"))
    repo.write(".gitattributes", "*.md text\n")
    repo.commit()
    assert set(_unchanged(repo, skill).files) == {"SKILL.md", *NASTY}
    repo.write(f"{skill}/{NASTY[1]}", "edited\n")
    _changed(repo, skill)


def test_new_moved_and_no_skill(tmp_path: Path) -> None:
    """Two arms, and why: never on the default branch, there under another path, there without SKILL.md."""
    repo = with_skill(tmp_path / "repo")
    repo.write("docs/y/README.md")
    repo.write("docs/z")
    repo.commit()
    for path in ("skills/new", "docs/y"):
        repo.write(f"{path}/SKILL.md")
        found = _compare(repo, path)
        assert (found.reason, found.differs, found.previous) == ("new skill", True, None)
        assert found.base is not None
    (repo.root / "docs/z").unlink()
    repo.write("docs/z/SKILL.md")
    assert _compare(repo, "docs/z").reason == "new skill"
    (repo.root / "skills/other").mkdir()
    (repo.root / SKILL).rename(repo.root / "skills/other/x")
    moved = _compare(repo, "skills/other/x")
    assert moved.reason == f"new skill at this path; main has it at {SKILL}"
    assert moved.previous is None


def test_where_there_is_no_released_version(tmp_path: Path) -> None:
    """No repository, no commit, an ignored skill, one in a folder outside: each is a reason, none is `unchanged`."""
    bare = Repo(tmp_path / "bare")
    bare.write(f"{SKILL}/SKILL.md")
    assert _compare(bare).reason == "not a git repository"
    bare.git("init", "-q", "-b", "main")
    assert _compare(bare).reason == "no commit yet"
    repo = with_skill(tmp_path / "repo")
    repo.write(".gitignore", "/mine/\n")
    repo.write("mine/s/SKILL.md")
    ignored = _compare(repo, "mine/s")
    assert ignored.reason == "git ignores this skill, so no version of it is released"
    assert ignored.files == ("SKILL.md",)
    (repo.root / "skills/away").symlink_to(with_skill(tmp_path / "away").root / SKILL)
    assert _compare(repo, "skills/away").reason == "the skill lies outside this repository"
    for found in (ignored, _compare(bare)):
        assert found.differs
        assert found.previous is None


def test_a_default_branch_that_is_not_known_is_a_reason_with_a_way_out(tmp_path: Path) -> None:
    """A clone of one branch: two arms at most, with the command; the skill is never taken for unchanged."""
    server = with_skill(tmp_path / "server")
    server.git("checkout", "-q", "-b", "topic")
    server.commit()
    server.git("checkout", "-q", "main")
    repo = server.clone(tmp_path / "repo", "--depth=1", "--branch=topic")
    found = _compare(repo)
    assert found.base is None
    assert found.previous is None
    assert found.differs
    assert found.reason is not None
    assert "git fetch origin main:refs/remotes/origin/main" in found.reason
    assert found.problem is not None
    assert found.problem.slug == "git-default-branch"


def test_a_partial_clone_without_the_files_says_so(tmp_path: Path) -> None:
    """What was not fetched can't be compared with, and nothing is fetched behind the user's back."""
    server = with_skill(tmp_path / "server")
    server.git("config", "uploadpack.allowFilter", "true")
    server.git("checkout", "-q", "-b", "topic")
    server.write(f"{SKILL}/SKILL.md", "topic\n")
    server.commit()
    server.git("checkout", "-q", "main")
    repo = server.clone(tmp_path / "repo", "--filter=blob:none", "--no-checkout")
    repo.git("checkout", "-q", "topic")
    found = _compare(repo)
    assert found.previous is None
    assert found.problem is not None
    assert found.problem.slug == "git-missing-object"


def test_a_skill_in_a_submodule_and_a_submodule_in_a_skill(tmp_path: Path) -> None:
    """Both are said plainly: this repository does not keep those files, so it has no released version of them."""
    library = with_skill(tmp_path / "library")
    repo = with_skill(tmp_path / "repo")
    repo.git("submodule", "-q", "add", str(library.root), "vendor/lib")
    repo.git("submodule", "-q", "add", str(library.root), f"{SKILL}/lib")
    repo.commit()
    inside = _compare(repo, f"vendor/lib/{SKILL}")
    assert inside.reason == "in a submodule (vendor/lib): its released versions are in another repository"
    assert len(inside.files) == 3
    holding = _compare(repo)
    assert holding.reason == "it holds a submodule (lib), whose files are in another repository"
    assert f"lib/{SKILL}/SKILL.md" in holding.files
    clone = repo.clone(tmp_path / "clone")
    assert _compare(clone).notes == ("lib is a submodule that is not checked out: `git submodule update --init`",)
    nested = init(repo.root / "skills/own")
    nested.write("SKILL.md")
    assert _compare(repo, "skills/own").reason == (
        "in a repository of its own (skills/own): its released versions are in another repository"
    )
    plain = with_skill(tmp_path / "plain")
    init(plain.root / SKILL / "cloned").write("x.md")
    assert _unchanged(plain).notes == ("cloned/ is a git repository of its own, so it is no part of the skill",)


def test_git_lfs(tmp_path: Path) -> None:
    """Pointer or content: unchanged. The released version has the content where the repository's store has it."""
    content = b"\0\1" * 1000
    sha256 = hashlib.sha256(content).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize 2000\n"
    repo = with_skill(tmp_path / "repo")
    repo.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    repo.write(f"{SKILL}/model.bin", pointer)
    repo.commit()
    note = "model.bin is a Git LFS pointer in the version on main: its content is not in this repository"
    assert _unchanged(repo).notes == (note,)
    repo.write(f"{SKILL}/model.bin", content)
    assert _unchanged(repo).notes == (note,)
    repo.write(f".git/lfs/objects/{sha256[:2]}/{sha256[2:4]}/{sha256}", content)
    found = _unchanged(repo)
    assert found.notes == ()
    assert found.previous == found.working
    repo.write(f"{SKILL}/model.bin", content[:-1] + b"x")
    assert _changed(repo).previous == found.previous
    store = repo.write(f".git/lfs/objects/{sha256[:2]}/{sha256[2:4]}/{sha256}", b"\0\2" * 1000)
    assert found.base is not None
    with pytest.raises(SkillbenchError, match="changed while it was copied"):
        materialize_previous(repo.root, found.base, SKILL, tmp_path / "broken")
    assert store.exists()


def test_an_unknown_filter_is_said(tmp_path: Path) -> None:
    """It is never run, so the released file is as git stores it."""
    repo = with_skill(tmp_path / "repo")
    repo.write(".gitattributes", "*.md filter=crypt\n")
    repo.commit()
    assert _unchanged(repo).notes[0] == (
        'SKILL.md is as git stores it in the version on main: the filter "crypt" is not run'
    )


def test_links_that_leave(tmp_path: Path) -> None:
    """They make no clean checkout differ; a copy is refused by name; a released one leaves two arms, and why."""
    repo = with_skill(tmp_path / "repo")
    repo.write("LICENSE", "text\n")
    (repo.root / SKILL / "LICENSE").symlink_to("../../../LICENSE")
    repo.commit()
    found = compare(repo.root, HERE)
    assert (found.reason, found.differs) == ("unchanged", False)
    with pytest.raises(SkillbenchError, match=f'{SKILL}/LICENSE: a link that leaves the skill, to "../../../LICENSE"'):
        materialize_working(repo.root, HERE, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    (repo.root / SKILL / "LICENSE").unlink()
    repo.write(f"{SKILL}/LICENSE", "text\n")
    mended = _compare(repo)
    assert mended.previous is None
    assert (
        mended.reason
        == f'on main it can\'t be copied: {SKILL}/LICENSE: a link that leaves the skill, to "../../../LICENSE"'
    )


def test_what_is_in_the_way(tmp_path: Path) -> None:
    """A FIFO in a tracked file's place, a folder in use, a commit without the skill: refused by name, at once."""
    repo = with_skill(tmp_path / "repo")
    found = compare(repo.root, HERE)
    assert found.base is not None
    (tmp_path / "used").mkdir()
    (tmp_path / "used/file").touch()
    with pytest.raises(SkillbenchError, match="not empty"):
        materialize_previous(repo.root, found.base, SKILL, tmp_path / "used")
    with pytest.raises(GitError, match="new skill"):
        materialize_previous(repo.root, found.base, "skills/none", tmp_path / "none")
    place = repo.root / SKILL / "references/notes.md"
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(SkillbenchError, match=r"references/notes\.md: not a regular file"):
        compare(repo.root, HERE)


def test_a_sparse_checkout_is_not_a_deletion(tmp_path: Path) -> None:
    """Files that are left out on purpose: a skill without them can't be run, and it is no edit either."""
    repo = with_skill(tmp_path / "repo")
    repo.git("sparse-checkout", "set", "--no-cone", f"/{SKILL}/SKILL.md")
    with pytest.raises(GitError, match=r"left out by a sparse checkout.*git sparse-checkout add"):
        compare(repo.root, HERE)


def test_a_folder_replaced_by_a_link_is_an_edit(tmp_path: Path) -> None:
    """Files behind the link are not those that git tracks, and nothing outside the skill is read."""
    repo = with_skill(tmp_path / "repo")
    outside = tmp_path / "outside"
    (repo.root / SKILL / "references").rename(outside)
    (repo.root / SKILL / "references").symlink_to(outside)
    found = compare(repo.root, HERE)
    assert found.files == ("SKILL.md", "references", "scripts/run.sh")
    assert found.differs


def test_a_forged_commit_writes_nothing_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree can hold names that no working tree has; they lead nowhere."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    repo = with_skill(tmp_path / "repo")
    blob = repo.git("hash-object", "-w", "--stdin", data=b"* text\n")

    def tree(*entries: tuple[str, str, str]) -> str:
        data = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(oid) for mode, name, oid in entries)
        return repo.git("hash-object", "-t", "tree", "-w", "--stdin", "--literally", data=data)

    up = tree(("100644", ".gitattributes", blob), ("100644", "evil", blob))
    for _ in range(3):
        up = tree(("40000", "..", up))
    skill = tree(("40000", "..", up), ("100644", "SKILL.md", blob))
    whole = tree(("40000", "skills", tree(("40000", "group", tree(("40000", "x", skill))))))
    commit = repo.git("commit-tree", whole, "-m", "forged")
    repo.git("update-ref", "refs/heads/main", commit)
    found = compare(repo.root, HERE)
    assert found.base is not None
    with pytest.raises(SkillbenchError, match="not a name that a file can have"):
        materialize_previous(repo.root, found.base, SKILL, tmp_path / "a/b")
    assert not (tmp_path / "a").exists()
    assert not list((tmp_path / "tmp").iterdir())


def test_worktrees_shallow_and_sha256(tmp_path: Path) -> None:
    """Every way in which a repository can be laid out gives the same answer."""
    repo = with_skill(tmp_path / "repo")
    repo.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "tree"))
    tree = Repo(tmp_path / "tree")
    _unchanged(tree)
    tree.write(f"{SKILL}/new.md")
    _changed(tree)
    _unchanged(repo)
    _unchanged(repo.clone(tmp_path / "shallow", "--depth=1"))
    long = Repo(tmp_path / "long")
    long.root.mkdir()
    long.git("init", "-q", "-b", "main", "--object-format=sha256")
    long.write(f"{SKILL}/SKILL.md", "$Id$\n")
    long.write(".gitattributes", "*.md ident\n")
    commit = long.commit()
    assert len(commit) == 64
    found = _unchanged(long)
    assert found.base is not None
    assert found.base.commit == commit


def test_the_skill_is_the_repository_and_the_root_is_below_it(tmp_path: Path) -> None:
    """A repository that is one skill, and a project that is a folder of a larger repository."""
    repo = init(tmp_path / "repo")
    repo.write("SKILL.md")
    repo.write(".gitattributes", "*.md text\n")
    repo.write("a/.gitattributes", "*.txt eol=crlf\n")
    repo.write("a/b.txt", "x\n")
    repo.commit()
    _unchanged(repo.clone(tmp_path / "clone"), ".")
    repo.write("a/c.md")
    _changed(repo, ".")
    outer = with_skill(tmp_path / "outer/unused")
    outer.root.rename(tmp_path / "outer/repo")
    inside = Repo(tmp_path / "outer/repo/skills")
    _unchanged(inside, "group/x")


def test_many_skills_take_little_time(tmp_path: Path) -> None:
    """The number of git calls does not grow with the files of a skill, and what they read is only that skill's part."""
    repo = init(tmp_path / "repo")
    for number in range(300):
        repo.write(f"skills/big/references/{number}.md", f"{number}\n")
    repo.write("skills/big/SKILL.md")
    repo.write("skills/small/SKILL.md")
    repo.commit()
    calls = tmp_path / "calls"
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    real = next(folder for folder in os.environ["PATH"].split(os.pathsep) if (Path(folder) / "git").exists())
    program.write_text(f'#!/bin/sh\necho x >> "{calls}"\nexec "{real}/git" "$@"\n')
    program.chmod(0o755)
    counts = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
        for name in ("small", "big"):
            calls.write_text("")
            assert not compare(repo.root, Path("skills") / name).differs
            counts.append(len(calls.read_text().split()))
    assert counts[0] == counts[1] <= 10
