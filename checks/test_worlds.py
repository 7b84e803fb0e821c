"""Worlds: fresh and alike, outside every repository, copied faithfully, told truthfully, removed without a trace."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillbench import changes as changes_module
from pytest_skillbench import treecopy, worlds
from pytest_skillbench.errors import SkillbenchError
from pytest_skillbench.linediff import hunks
from pytest_skillbench.model import Change


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """Make a temp root of a project at tmp_path/project, removed afterwards."""
    made = worlds.make_root(tmp_path / "project")
    yield made
    if made.exists():
        worlds.remove(made)


@pytest.fixture
def fixture(tmp_path: Path) -> Path:
    """Make a frozen, read-only fixture with a script, an inner link, a nested file and a listed empty folder."""
    folder = tmp_path / "frozen" / "fixture"
    (folder / "src").mkdir(parents=True)
    (folder / "src/app.py").write_text("print('hi')\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o555)
    (folder / "link.py").symlink_to("src/app.py")
    (folder / "stray-empty").mkdir()
    (folder / ".skillbench-dirs").write_bytes(b"# kept empty\r\nout/deep\r\n\r\n")
    (folder / "src/app.py").chmod(0o444)
    (folder / "src").chmod(0o555)
    return folder


def put_up(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make `folder` the system's temp folder, as TMPDIR does."""
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)


def inventory(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return everything below a folder: mode and content (a link's target)."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = b"" if stat.S_ISDIR(status.st_mode) else None
        content = os.fsencode(os.readlink(path)) if path.is_symlink() else content
        found[str(path.relative_to(folder))] = (status.st_mode, path.read_bytes() if content is None else content)
    return found


# -- the root ----------------------------------------------------------------------------------------------------------


def test_the_root_is_private_and_tells_nothing(root: Path, tmp_path: Path) -> None:
    """Nobody else can look in, and neither the name nor the content speaks of a skill, a case or an arm."""
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert root.name.startswith("sb-")
    assert root == Path(os.path.realpath(root))
    another = worlds.make_root(tmp_path)
    assert another.name != root.name
    assert worlds.remove(another) == []


@pytest.mark.parametrize("marker", ["folder", "file"])
def test_a_temp_folder_in_a_repository_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marker: str
) -> None:
    """TMPDIR below any .git, a folder or a worktree's file, is not used: the repository would lie above."""
    place = tmp_path / "some/repo/tmp"
    place.mkdir(parents=True)
    if marker == "folder":
        (tmp_path / "some/repo/.git").mkdir()
    else:
        (tmp_path / "some/repo/.git").write_text("gitdir: /elsewhere\n")
    put_up(monkeypatch, place)
    root = worlds.make_root(tmp_path / "project")
    assert place not in root.parents
    assert worlds.remove(root) == []


def test_a_temp_folder_inside_the_project_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``TMPDIR=./tmp`` puts no world into the project, also where that is reached through a link."""
    (tmp_path / "project/tmp").mkdir(parents=True)
    (tmp_path / "alias").symlink_to("project")
    put_up(monkeypatch, tmp_path / "alias/tmp")
    root = worlds.make_root(tmp_path / "project")
    assert tmp_path / "project" not in root.parents
    worlds.remove(root)


def test_no_place_at_all_is_a_message_that_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the whole file system is the project, the user reads why each place was refused and what to set."""
    put_up(monkeypatch, tmp_path)
    with pytest.raises(SkillbenchError) as error:
        worlds.make_root(Path("/"))
    assert "is inside the project" in str(error.value)
    assert "expected TMPDIR to name a writable folder outside the project" in str(error.value)


# -- worlds ------------------------------------------------------------------------------------------------------------


def test_a_world_is_a_fresh_writable_copy(root: Path, fixture: Path) -> None:
    """Content, exec bits and inner links are kept; read-only sources become writable; the list of folders is gone."""
    world = worlds.make_world(root, fixture)
    assert world.parent == root
    assert inventory(world) == {
        "link.py": (stat.S_IFLNK | 0o777, b"src/app.py"),
        "out": (stat.S_IFDIR | 0o755, b""),
        "out/deep": (stat.S_IFDIR | 0o755, b""),
        "run.sh": (stat.S_IFREG | 0o755, b"#!/bin/sh\n"),
        "src": (stat.S_IFDIR | 0o755, b""),
        "src/app.py": (stat.S_IFREG | 0o644, b"print('hi')\n"),
    }
    (world / "src/app.py").write_text("changed")
    assert (fixture / "src/app.py").read_text() == "print('hi')\n"
    assert inventory(worlds.make_world(root, fixture))["src/app.py"][1] == b"print('hi')\n"


def test_times_and_umask_tell_nothing(root: Path, fixture: Path) -> None:
    """Two worlds are alike to the last time stamp and mode, whenever and under whatever umask they were made."""
    first = worlds.make_world(root, fixture)
    mask = os.umask(0o077)
    try:
        second = worlds.make_world(root, fixture)
    finally:
        os.umask(mask)
    assert inventory(first) == inventory(second)
    for path in [first, *first.rglob("*"), second, *second.rglob("*")]:
        assert path.lstat().st_mtime == treecopy.MTIME_SECONDS, path


def test_no_fixture_is_an_empty_world(root: Path, tmp_path: Path) -> None:
    """A case without a fixture gets an empty folder, not none."""
    assert list(worlds.make_world(root, None).iterdir()) == []
    assert list(worlds.make_world(root, tmp_path / "absent").iterdir()) == []


@pytest.mark.parametrize("line", ["../out", "/abs", "a/../../b", "run.sh", "run.sh/x", "link-to-src/x"])
def test_listed_folders_that_leave_are_refused_with_their_line(root: Path, fixture: Path, line: str) -> None:
    """``.skillbench-dirs`` can't make a folder outside the world, and nothing of the world is left behind."""
    fixture.chmod(0o755)
    (fixture / "link-to-src").symlink_to("src")
    (fixture / ".skillbench-dirs").write_text(f"# one\n{line}\n")
    before = set(root.iterdir())
    with pytest.raises(SkillbenchError, match=r"\.skillbench-dirs:2: "):
        worlds.make_world(root, fixture)
    assert set(root.iterdir()) == before


@pytest.mark.parametrize("kind", ["fifo", "socket", "leaving link", "dangling link"])
def test_what_does_not_belong_in_a_fixture_is_refused_at_once(root: Path, fixture: Path, kind: str) -> None:
    """No hang on a FIFO, no link out of the world; nothing half made stays."""
    fixture.chmod(0o755)
    before = set(root.iterdir())
    with socket.socket(socket.AF_UNIX) as listener:
        if kind == "fifo":
            os.mkfifo(fixture / "odd")
        elif kind == "socket":
            here = os.open(fixture, os.O_RDONLY)
            listener.bind(f"/proc/self/fd/{here}/odd" if sys.platform == "linux" else str(fixture / "odd"))
            os.close(here)
        else:
            (fixture / "odd").symlink_to("/etc/passwd" if kind == "leaving link" else "nowhere")
        with pytest.raises(SkillbenchError, match="odd: "):
            worlds.make_world(root, fixture)
    assert set(root.iterdir()) == before


def test_a_root_that_is_gone_is_a_message(tmp_path: Path) -> None:
    """A temp folder that was cleared meanwhile gives no traceback."""
    with pytest.raises(SkillbenchError, match="can't be made: No such file"):
        worlds.make_world(tmp_path / "gone", None)
    with pytest.raises(SkillbenchError, match="can't be made: No such file"):
        worlds.write_brief(tmp_path / "gone", "x")


def test_shared_blocks_and_copied_blocks_are_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file system can't share blocks, the bytes are copied; the kernel is really asked."""
    asked = []
    real = treecopy._share

    def share(source: int, target: int) -> bool:
        asked.append(real(source, target))
        return asked[-1]

    monkeypatch.setattr(treecopy, "_share", share)
    data = os.urandom(3 << 20)
    (tmp_path / "a").mkdir()
    (tmp_path / "a/blob").write_bytes(data)
    (tmp_path / "b").mkdir()
    treecopy.copy_clean(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b/blob").read_bytes() == data
    assert len(asked) == 1


# -- materializations and briefs ---------------------------------------------------------------------------------------


def test_a_materialization_is_read_only_and_named_the_same_for_every_version(root: Path, tmp_path: Path) -> None:
    """Two versions differ in nothing but a random folder; no bit of them can be written; caches are left out."""
    package = tmp_path / "new-skill"
    (package / "scripts").mkdir(parents=True)
    (package / "__pycache__").mkdir()
    (package / "__pycache__/x.pyc").write_bytes(b"x")
    (package / "SKILL.md").write_text("---\nname: demo\n---\n")
    (package / "scripts/go").write_text("#!/bin/sh\n")
    (package / "scripts/go").chmod(0o755)
    first, second = (worlds.materialize(root, package, "demo") for _ in range(2))
    assert first.name == second.name == "demo"
    assert first.parent != second.parent
    assert first.parent.parent == root
    assert "new" not in str(first.relative_to(root))
    assert inventory(first) == {
        "SKILL.md": (stat.S_IFREG | 0o444, b"---\nname: demo\n---\n"),
        "scripts": (stat.S_IFDIR | 0o555, b""),
        "scripts/go": (stat.S_IFREG | 0o555, b"#!/bin/sh\n"),
    }
    assert stat.S_IMODE(first.stat().st_mode) == stat.S_IMODE(first.parent.stat().st_mode) == 0o555
    assert worlds.remove(root) == []


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b", "x" * 201])
def test_a_materialization_stays_in_its_folder(root: Path, tmp_path: Path, name: str) -> None:
    """A name that is no folder name is refused before anything is made."""
    with pytest.raises(ValueError, match="not a folder name"):
        worlds.materialize(root, tmp_path, name)


def test_a_package_without_skill_md_is_refused(root: Path, tmp_path: Path) -> None:
    """An arm is never sent to a SKILL.md that is not there."""
    (tmp_path / "package").mkdir()
    before = set(root.iterdir())
    with pytest.raises(SkillbenchError, match=r"no SKILL\.md"):
        worlds.materialize(root, tmp_path / "package", "demo")
    assert set(root.iterdir()) == before


def test_a_brief_is_private_and_whole(root: Path) -> None:
    """The text is on disk byte for byte, with its line ends; only an unpaired surrogate can't be."""
    brief = worlds.write_brief(root, "a\r\nb é\ud800\n")
    assert brief.read_bytes() == "a\r\nb é?\n".encode()
    assert stat.S_IMODE(brief.stat().st_mode) == 0o600
    assert brief.parent == root
    assert brief.suffix == ".md"


# -- what changed ------------------------------------------------------------------------------------------------------


def told(world: Path, fixture: Path | None) -> dict[str, str]:
    """Return what `snapshot_changes` says of each path."""
    return {change.path: change.change for change in worlds.snapshot_changes(world, fixture)}


def test_an_untouched_world_has_no_changes(root: Path, fixture: Path) -> None:
    """A fresh copy differs in nothing, though its modes and times are not the fixture's."""
    world = worlds.make_world(root, fixture)
    assert worlds.snapshot_changes(world, fixture) == ()
    assert worlds.unified_diff(world, fixture, ()) == b""
    assert worlds.snapshot_changes(worlds.make_world(root, None), None) == ()


def test_every_kind_of_change_is_told_once(root: Path, fixture: Path) -> None:
    """Added, modified, deleted, exec bit alone, a link turned elsewhere, a file turned into a link or a folder."""
    world = worlds.make_world(root, fixture)
    (world / "new.md").write_text("new\n")
    (world / "src/app.py").write_text("print('ho')\n")
    (world / "run.sh").chmod(0o644)
    (world / "link.py").unlink()
    (world / "link.py").symlink_to("run.sh")
    (world / "an empty folder").mkdir()
    (world / "src/__pycache__").mkdir()
    (world / "src/__pycache__/app.pyc").write_bytes(b"x")
    (world / ".git").mkdir()
    (world / ".git/HEAD").write_text("ref: x")
    assert told(world, fixture) == {
        ".git/": "added",
        "link.py": "modified",
        "new.md": "added",
        "run.sh": "modified",
        "src/app.py": "modified",
    }
    found = {change.path: change for change in worlds.snapshot_changes(world, fixture)}
    assert found["new.md"].sha256 == hashlib.sha256(b"new\n").hexdigest()
    assert found["new.md"].bytes == 4
    assert (found["link.py"].sha256, found["link.py"].bytes) == (hashlib.sha256(b"run.sh").hexdigest(), None)
    (world / "run.sh").unlink()
    (world / "run.sh").mkdir()
    (world / "run.sh/inside").write_text("x")
    (world / "src/app.py").unlink()
    assert {k: v for k, v in told(world, fixture).items() if k.startswith(("run", "src"))} == {
        "run.sh": "deleted",
        "run.sh/inside": "added",
        "src/app.py": "deleted",
    }


def test_a_same_size_edit_with_the_old_time_is_seen(root: Path, fixture: Path) -> None:
    """Content decides, never time or size."""
    world = worlds.make_world(root, fixture)
    (world / "src/app.py").write_text("print('ho')\n")
    os.utime(world / "src/app.py", (treecopy.MTIME_SECONDS,) * 2)
    assert told(world, fixture) == {"src/app.py": "modified"}


def test_hostile_content_neither_hangs_nor_crashes(root: Path) -> None:
    """A FIFO, a device link, a loop, a name that is not UTF-8, a name with a line end, a tree deeper than any path."""
    world = worlds.make_world(root, None)
    os.mkfifo(world / "pipe")
    (world / "zero").symlink_to("/dev/zero")
    (world / "loop").symlink_to("loop")
    (world / "two\nlines").write_text("x")
    with open(os.path.join(os.fsencode(world), b"\xff.txt"), "w") as file:
        file.write("x")
    dig(world / "deep", 100)
    found = {change.path: change for change in worlds.snapshot_changes(world, None)}
    assert (found["pipe"].sha256, found["pipe"].bytes) == (None, None)
    assert found["zero"].sha256 == hashlib.sha256(b"/dev/zero").hexdigest()
    assert "\\xff.txt" in found
    assert any(path.startswith("deep/") and path.endswith("/") for path in found), "what can't be looked into is told"
    diff = worlds.unified_diff(world, None, tuple(found.values())).decode()
    assert "+++ b/two lines\n" in diff
    assert "Not text: pipe, size unknown, not read\n" in diff
    copy = worlds.copy_world(worlds.make_world(root, None), root)
    assert list(copy.iterdir()) == []
    assert worlds.remove(root) == []
    assert not root.exists()


def dig(top: Path, levels: int) -> None:
    """Make a chain of folders that is far longer than a path can be."""
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d" * 60, dir_fd=here)
        below = os.open("d" * 60, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_a_world_that_was_taken_away_is_all_deleted(root: Path, fixture: Path) -> None:
    """An arm that removes its world, or puts a link in its place, has deleted its content; the link is not followed."""
    world = worlds.make_world(root, fixture)
    shutil.rmtree(world)
    assert set(told(world, fixture).values()) == {"deleted"}
    world.symlink_to("/usr")
    assert set(told(world, fixture).values()) == {"deleted"}
    assert list(worlds.copy_world(world, root).iterdir()) == []
    with pytest.raises(SkillbenchError, match="gone"):
        worlds.snapshot_changes(root / "absent" / "world", fixture)


def test_many_changes_are_cut_with_an_honest_last_entry(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is bounded, its last entry says how many it stands for, and a difference among those is not lost."""
    monkeypatch.setattr(changes_module, "MAX_CHANGES", 10)
    world = worlds.make_world(root, None)
    for number in range(25):
        (world / f"{number:02}").write_text("x")
    first = worlds.snapshot_changes(world, None)
    assert len(first) == 10
    assert first[-1].path == "… and 16 more"
    assert first[-1].bytes == 16
    (world / "24").write_text("y")
    second = worlds.snapshot_changes(world, None)
    assert first[:-1] == second[:-1]
    assert first[-1].sha256 != second[-1].sha256
    monkeypatch.setattr(changes_module, "MAX_SEEN", 12)
    assert worlds.snapshot_changes(world, None)[-1] == Change(
        path="… and more: the world holds over 12 files and folders", change="added", sha256=None, bytes=None
    )


def test_a_file_too_large_to_read_has_a_size_and_no_digest(root: Path) -> None:
    """A sparse terabyte costs nothing: it is listed, not read, and not copied."""
    world = worlds.make_world(root, None)
    with open(world / "huge", "wb") as file:
        file.truncate(1 << 40)
    assert worlds.snapshot_changes(world, None) == (Change(path="huge", change="added", sha256=None, bytes=1 << 40),)
    with pytest.raises(SkillbenchError, match="holds more than"):
        worlds.copy_world(world, root)
    assert len([path for path in root.iterdir() if path.is_dir()]) == 1


UNREADABLE = """
import os, pathlib, tempfile
from pytest_skillbench import digest, fixtures, worlds
if os.geteuid() == 0:  # root may read everything, so be nobody
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
root = worlds.make_root(pathlib.Path("/nonexistent"))
fixture = root / "f"
(fixture / "shut").mkdir(parents=True)
(fixture / "shut/in").write_text("x")
(fixture / "file").write_text("x")
world = worlds.make_world(root, fixture)
(world / "shut").chmod(0)
(world / "file").chmod(0)
for change in worlds.snapshot_changes(world, fixture):
    print(change.path, change.change, change.sha256, change.bytes)
copy = worlds.copy_world(world, root)
print(sorted((path.name, path.stat().st_mode & 0o777) for path in copy.iterdir()))
print(worlds.remove(root), root.exists())
"""


def test_what_the_user_may_not_read_is_told_as_such() -> None:
    """An unreadable folder is one entry, not a deletion of all in it; the copy has it, closed; removal opens it."""
    done = subprocess.run([sys.executable, "-c", UNREADABLE], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "file modified None 1",
        "shut/ added None None",
        "[('file', 0), ('shut', 0)]",
        "[] False",
    ], done.stderr


# -- the diff ----------------------------------------------------------------------------------------------------------


def test_the_diff_is_git_s(root: Path, fixture: Path) -> None:
    """`git apply` turns the fixture's content into the world's: the notation is really git's."""
    (fixture / "src").chmod(0o755)
    (fixture / "src/app.py").chmod(0o644)
    (fixture / "src/app.py").write_text("".join(f"line {n}\n" for n in range(200)))
    (fixture / "last").write_text("no end")
    world = worlds.make_world(root, fixture)
    lines = (world / "src/app.py").read_text().split("\n")
    lines[3:5] = ["three"]
    lines[150] = "changed"
    (world / "src/app.py").write_text("\n".join(lines))
    (world / "last").write_text("no end\nhere either")
    (world / "run.sh").chmod(0o644)
    (world / "link.py").unlink()
    (world / "added.txt").write_text("a\r\nb\u2028c\n")
    (world / "empty").write_text("")
    listed = worlds.snapshot_changes(world, fixture)
    diff = worlds.unified_diff(world, fixture, listed)
    other = worlds.make_world(root, fixture)
    clean = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CEILING_DIRECTORIES": str(root)}
    subprocess.run(["git", "apply", "-"], input=diff, cwd=other, env=clean, check=True)
    assert inventory(other) == inventory(world)
    assert diff.count(b"@@ -") == 2 + 1 + 1 + 1


def test_binary_and_huge_files_are_told_by_digest(root: Path) -> None:
    """What can't be shown as text is told by name, size and SHA-256, never dumped."""
    world = worlds.make_world(root, None)
    picture = b"\x89PNG\0\1"
    (world / "a.png").write_bytes(picture)
    (world / "b.txt").write_bytes(b"caf\xe9")
    (world / "c.log").write_text("x\n" * (1 << 20))
    diff = worlds.unified_diff(world, None, worlds.snapshot_changes(world, None)).decode()
    assert f"Not text: a.png, 6 bytes, SHA-256 {hashlib.sha256(picture).hexdigest()}\n" in diff
    assert "Not text: b.txt, 4 bytes" in diff
    assert "Not text: c.log, 2,097,152 bytes" in diff


@pytest.mark.parametrize("limit", [100, 1000, 5000])
def test_the_diff_is_bounded_and_says_where_it_is_cut(root: Path, limit: int) -> None:
    """At most `limit` bytes with a last line that says so; the same bytes twice."""
    world = worlds.make_world(root, None)
    for number in range(20):
        (world / f"f{number:02}").write_text(f"{number}\n" * 50)
    listed = worlds.snapshot_changes(world, None)
    diff = worlds.unified_diff(world, None, listed, limit)
    assert len(diff) <= limit
    assert diff.split(b"\n")[-2].startswith(b"[cut here: ")
    assert b" of 20 changed files" in diff
    assert diff == worlds.unified_diff(world, None, listed, limit)


LINES = st.lists(st.sampled_from(["a", "b", "c", "", "\r", "d d"]), max_size=30).map("\n".join)


@settings(max_examples=60, deadline=None)
@given(LINES, LINES)
def test_hunks_lead_from_the_old_text_to_the_new(old: str, new: str) -> None:
    """Law: applying the hunks to the old text gives the new one, for any two texts; equal texts have none."""
    out = hunks(old, new)
    assert bool(out) == (old != new)
    assert applied(old, out) == new
    for hunk in "".join(out).replace("\n\n\\", "\n\\").split("@@ -")[1:]:
        body = [line[:1] for line in hunk.split("\n")[1:-1] if line[:1] != "\\"]
        for edge in (body, body[::-1]):
            assert next(n for n, mark in enumerate(edge) if mark != " ") <= 3, "more than three lines of context"


def applied(old: str, out: list[str]) -> str:
    """Apply hunks, in the way a patch program does."""
    source = old.split("\n")
    source = [line + "\n" for line in source[:-1]] + ([source[-1]] if source[-1] else [])
    result: list[str] = []
    at = 0
    for line in out:
        if line.startswith("@@"):
            start, _, length = line.split(" ")[1][1:].partition(",")
            begin = int(start) - (length != "0")
            assert begin >= at, "hunks overlap"
            result += source[at:begin]
            at = begin
        elif line.startswith("\n\\"):
            continue
        elif line[0] in " -":
            assert source[at] == line[1:]
            at += 1
            result += [line[1:]] if line[0] == " " else []
        else:
            result.append(line[1:])
    return "".join(result + source[at:])


def test_a_diff_of_large_files_takes_no_time(root: Path, tmp_path: Path) -> None:
    """Adversarial texts of 1 MiB without a common line are shown as replaced, not compared for minutes."""
    (tmp_path / "f").mkdir()
    (tmp_path / "f/x").write_text("".join(f"{n * 7 % 99991}\n" for n in range(100_000)))
    world = worlds.make_world(root, tmp_path / "f")
    (world / "x").write_text("".join(f"{n * 11 % 99991}\n" for n in range(100_000)))
    diff = worlds.unified_diff(world, tmp_path / "f", worlds.snapshot_changes(world, tmp_path / "f"), 10_000)
    assert len(diff) <= 10_000
    assert diff.startswith(b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -")


# -- copies and removal ------------------------------------------------------------------------------------------------


def test_what_runs_on_a_copy_does_not_touch_the_world(root: Path, fixture: Path) -> None:
    """Modes, empty folders and .git are kept, special files are not; a link into the world leads into the copy."""
    world = worlds.make_world(root, fixture)
    (world / ".git").mkdir()
    (world / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (world / "secret").write_text("x")
    (world / "secret").chmod(0o600)
    (world / "absolute").symlink_to(world / "secret")
    (world / "outside").symlink_to("/usr")
    os.mkfifo(world / "pipe")
    copy = worlds.copy_world(world, root)
    assert copy != world
    kept = inventory(world.parent / copy.name)
    assert kept[".git/HEAD"][1] == b"ref: refs/heads/main\n"
    assert kept["secret"] == (stat.S_IFREG | 0o600, b"x")
    assert kept["out/deep"][0] == stat.S_IFDIR | 0o755
    assert "pipe" not in kept
    (copy / "absolute").write_text("written through the link")
    assert (world / "secret").read_text() == "x"
    assert os.readlink(copy / "outside") == "/usr"
    assert worlds.discard(root, copy) == []
    assert world.is_dir()


def test_removal_takes_read_only_deep_and_linked_trees_and_nothing_else(root: Path, tmp_path: Path) -> None:
    """Everything below the root goes, links are not followed, and a second removal finds nothing to do."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "keep").write_text("x")
    precious.chmod(0o755)
    world = worlds.make_world(root, None)
    (world / "out").symlink_to(precious)
    (root / "direct").symlink_to(precious)
    (world / "shut").mkdir()
    (world / "shut/x").write_text("x")
    (world / "shut").chmod(0o000)
    dig(world / "deep", 200)
    worlds.write_brief(root, "x")
    assert worlds.remove(root) == []
    assert not root.exists()
    assert (precious / "keep").read_text() == "x"
    assert stat.S_IMODE(precious.stat().st_mode) == 0o755
    assert worlds.remove(root) == []


@pytest.mark.parametrize("kind", ["plain", "copied", "link", "no marker", "marker is a link", "file"])
def test_nothing_that_was_not_made_here_is_removed(root: Path, tmp_path: Path, kind: str) -> None:
    """A folder without the marker, with another's marker, or reached through a link is refused and left whole."""
    victim = tmp_path / "sb-victim"
    if kind == "link":
        victim.symlink_to(root)
    elif kind == "file":
        victim.write_text("x")
    elif kind == "copied":
        shutil.copytree(root, victim)
    else:
        victim.mkdir()
        (victim / "data").write_text("x")
        if kind == "marker is a link":
            (tmp_path / "mark").write_text("sb-victim\n")
            (victim / ".owner").symlink_to(tmp_path / "mark")
        elif kind == "plain":
            (victim / ".owner").write_text("something else\n")
    with pytest.raises(SkillbenchError, match="not removed: "):
        worlds.remove(victim)
    assert os.path.lexists(victim)
    assert root.is_dir()


def test_only_folders_of_the_root_are_discarded(root: Path, tmp_path: Path) -> None:
    """`discard` takes a folder directly below the root and refuses any other path."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "link").symlink_to(outside)
    for path in (outside, root, root / "link", root / "absent", root / ".owner"):
        with pytest.raises(SkillbenchError):
            worlds.discard(root, path)
    assert outside.is_dir()


def test_spellings_name_the_links_on_the_way(tmp_path: Path) -> None:
    """A project reached through a link has two names, and the audit is told both."""
    (tmp_path / "real/project").mkdir(parents=True)
    (tmp_path / "alias").symlink_to("real")
    assert (str(tmp_path / "alias"), os.path.realpath(tmp_path / "real")) in worlds.spellings(
        tmp_path / "alias/project"
    )
    assert worlds.spellings(Path(os.path.realpath(tmp_path / "real/project"))) == ()
