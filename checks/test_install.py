"""``skillbench install``: what it writes, what it never touches, and what ``--check`` tells."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_skillbench import install
from pytest_skillbench.errors import FormatError, SkillbenchError, UsageError
from pytest_skillbench.install import MANIFEST, SKILL, Client, inspect, is_current, layout

ROOT = Path(__file__).resolve().parent.parent
CLIENTS: tuple[Client, ...] = ("claude", "agents")


def states(root: Path, client: Client = "claude") -> dict[str, str]:
    """Return the files that are not current, with their state."""
    return {item.path: item.state for item in inspect(root, client) if item.state != "current"}


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return every file and link below `root` with its mode and content."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_symlink():
            found[str(path)] = (0, os.fsencode(os.readlink(path)))
        elif path.is_file():
            found[str(path)] = (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
    return found


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run ``skillbench install`` as a user does, through the module that the console script calls."""
    code = (
        "import sys; from pytest_skillbench import cli; cli.COMMANDS.setdefault('install', 'x'); sys.exit(cli.main())"
    )
    return subprocess.run(
        [sys.executable, "-c", code, "install", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("client", CLIENTS)
def test_everything_is_there_afterwards_and_again_changes_nothing(tmp_path: Path, client: Client) -> None:
    """Installing writes each distributed file byte for byte, the script executable; a second time writes nothing."""
    before = install.install(tmp_path, client)
    assert {item.state for item in before} == {"missing"}
    folder = tmp_path / install.FOLDERS[client]
    for path, source in layout(client).items():
        assert (folder / path).read_bytes() == source.data
    assert os.access(folder / f"skills/{SKILL}/scripts/skillbench", os.X_OK)
    first = snapshot(tmp_path)
    times = {path: os.stat(path).st_mtime_ns for path in first}
    assert is_current(install.install(tmp_path, client))
    assert snapshot(tmp_path) == first
    assert {path: os.stat(path).st_mtime_ns for path in first} == times


def test_claude_code_finds_its_agents_where_it_looks(tmp_path: Path) -> None:
    """Agent definitions stand in .claude/agents under the names that jobs ask for; other clients get none there."""
    install.install(tmp_path, "claude")
    install.install(tmp_path, "agents")
    assert sorted(os.listdir(tmp_path / ".claude/agents")) == [f"{name}.md" for name in install.AGENTS]
    assert not (tmp_path / ".agents/agents").exists()


def test_a_file_of_somebody_else_is_never_overwritten(tmp_path: Path) -> None:
    """Files that we did not write stop the installation before anything is written, and all of them are named."""
    for path in (".claude/agents/skillbench-arm.md", f".claude/skills/{SKILL}/SKILL.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("mine")
    first = snapshot(tmp_path)
    with pytest.raises(SkillbenchError) as caught:
        install.install(tmp_path, "claude")
    assert [problem.path for problem in caught.value.problems] == [
        ".claude/agents/skillbench-arm.md",
        f".claude/skills/{SKILL}/SKILL.md",
    ]
    assert snapshot(tmp_path) == first


def test_an_edited_file_is_kept_and_told(tmp_path: Path) -> None:
    """Somebody who narrowed an agent's tools does not lose that to an update."""
    install.install(tmp_path, "claude")
    arm = tmp_path / ".claude/agents/skillbench-arm.md"
    arm.write_text(arm.read_text().replace(", Bash", ""))
    assert states(tmp_path) == {".claude/agents/skillbench-arm.md": "edited"}
    first = snapshot(tmp_path)
    with pytest.raises(SkillbenchError, match="changed since it was installed"):
        install.install(tmp_path, "claude")
    assert snapshot(tmp_path) == first


def test_an_older_installation_is_brought_up_to_date(tmp_path: Path) -> None:
    """What an older version wrote is updated, what this one has no more is removed, what went missing comes back."""
    install.install(tmp_path, "claude")
    folder = tmp_path / ".claude"
    manifest = json.loads((folder / MANIFEST).read_text())
    old = {f"skills/{SKILL}/SKILL.md": b"old text", f"skills/{SKILL}/old/gone.md": b"of an older version"}
    for path, data in old.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(data)
        manifest["files"][path] = install._digest(data)
    (folder / MANIFEST).write_text(json.dumps(manifest))
    (folder / f"skills/{SKILL}/scripts/skillbench").chmod(0o644)
    (folder / "agents/skillbench-judge.md").unlink()
    assert states(tmp_path) == {
        ".claude/agents/skillbench-judge.md": "missing",
        f".claude/skills/{SKILL}/SKILL.md": "stale",
        f".claude/skills/{SKILL}/old/gone.md": "extra",
        f".claude/skills/{SKILL}/scripts/skillbench": "stale",
    }
    install.install(tmp_path, "claude")
    assert states(tmp_path) == {}
    assert not (folder / f"skills/{SKILL}/old").exists()


def test_files_of_the_user_in_our_folder_stay(tmp_path: Path) -> None:
    """A note beside SKILL.md, and a file of an older version that the user changed since, are not ours to remove."""
    install.install(tmp_path, "claude")
    folder = tmp_path / ".claude" / "skills" / SKILL
    manifest = json.loads((tmp_path / ".claude" / MANIFEST).read_text())
    manifest["files"][f"skills/{SKILL}/old.md"] = install._digest(b"as it was")
    (tmp_path / ".claude" / MANIFEST).write_text(json.dumps(manifest))
    (folder / "old.md").write_bytes(b"changed by the user")
    (folder / "notes.md").write_bytes(b"a note")
    install.install(tmp_path, "claude")
    assert (folder / "old.md").read_bytes() == b"changed by the user"
    assert (folder / "notes.md").read_bytes() == b"a note"


@pytest.mark.parametrize(
    "path",
    [
        "../precious",
        "skills/benchmark-skill/../../../precious",
        "settings.json",
        "/etc/passwd",
        "agents/mine.md",
        "a\0b",
    ],
)
def test_a_manifest_speaks_only_of_our_files(tmp_path: Path, path: str) -> None:
    """A repository's manifest is anybody's work: it can't make us remove or replace what is not ours."""
    install.install(tmp_path, "claude")
    for victim in (tmp_path / "precious", tmp_path / ".claude/settings.json", tmp_path / ".claude/agents/mine.md"):
        victim.write_bytes(b"x")
    manifest = json.loads((tmp_path / ".claude" / MANIFEST).read_text())
    manifest["files"][path] = install._digest(b"x")
    (tmp_path / ".claude" / MANIFEST).write_text(json.dumps(manifest))
    before = snapshot(tmp_path)
    install.install(tmp_path, "claude")
    after = snapshot(tmp_path)
    manifest_path = str(tmp_path / ".claude" / MANIFEST)
    assert {p: v for p, v in after.items() if p != manifest_path} == {
        p: v for p, v in before.items() if p != manifest_path
    }


def test_a_broken_manifest_is_an_error_with_its_place(tmp_path: Path) -> None:
    """A torn manifest is told with its path; nothing is guessed from it and nothing written."""
    install.install(tmp_path, "claude")
    (tmp_path / ".claude" / MANIFEST).write_text('{"schema_version": 1, "prog')
    with pytest.raises(FormatError) as caught:
        install.install(tmp_path, "claude")
    assert caught.value.problems[0].path == f".claude/{MANIFEST}"


@pytest.mark.parametrize("link", [".claude", ".claude/skills", ".claude/agents", f".claude/skills/{SKILL}"])
def test_nothing_is_written_through_a_link_that_leaves_the_project(tmp_path: Path, link: str) -> None:
    """A folder that is a link out of the project is refused by name, and nothing appears outside."""
    project, outside = tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    (project / link).parent.mkdir(parents=True)
    (project / link).symlink_to(outside)
    with pytest.raises(SkillbenchError, match="link out of"):
        install.install(project, "claude")
    assert list(outside.iterdir()) == []


def test_a_link_inside_the_project_is_fine_and_a_linked_file_is_not(tmp_path: Path) -> None:
    """Skills shared between clients by a link are installed into; a file that is itself a link is somebody's choice."""
    (tmp_path / ".agents/skills").mkdir(parents=True)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/skills").symlink_to("../.agents/skills")
    install.install(tmp_path, "claude")
    assert (tmp_path / ".agents/skills" / SKILL / "SKILL.md").is_file()
    arm = tmp_path / ".claude/agents/skillbench-arm.md"
    arm.rename(tmp_path / "elsewhere.md")
    arm.symlink_to(tmp_path / "elsewhere.md")
    with pytest.raises(SkillbenchError, match="changed since it was installed"):
        install.install(tmp_path, "claude")
    assert arm.is_symlink()


def test_line_ends_that_git_changed_are_not_an_edit(tmp_path: Path) -> None:
    """A checkout with CRLF still counts as installed, but for the script, which a shell would not run."""
    install.install(tmp_path, "claude")
    for path in (tmp_path / ".claude").rglob("*"):
        if path.is_file() and path.name != os.path.basename(MANIFEST):
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert states(tmp_path) == {f".claude/skills/{SKILL}/scripts/skillbench": "stale"}
    install.install(tmp_path, "claude")
    assert states(tmp_path) == {}


def test_an_installation_cut_short_is_finished_by_the_next(tmp_path: Path) -> None:
    """Without the manifest, which is written last, files that are as distributed are taken as they are."""
    install.install(tmp_path, "claude")
    (tmp_path / ".claude" / MANIFEST).unlink()
    (tmp_path / f".claude/skills/{SKILL}/references/case-format.md").unlink()
    install.install(tmp_path, "claude")
    assert states(tmp_path) == {}
    assert (tmp_path / ".claude" / MANIFEST).is_file()


def test_two_at_once_leave_one_whole_installation(tmp_path: Path) -> None:
    """Two processes that install at the same time do not harm each other."""
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: command("--dir", str(tmp_path), cwd=tmp_path), range(2)))
    assert [one.returncode for one in done] == [0, 0], [one.stderr for one in done]
    assert states(tmp_path) == {}
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(".tmp")]


def test_a_full_or_forbidden_place_is_one_sentence(tmp_path: Path) -> None:
    """A file where a folder should be is an error in words, no traceback."""
    (tmp_path / ".claude").write_text("a file")
    done = command("--dir", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("skillbench: error: ")
    assert "Traceback" not in done.stderr
    with pytest.raises(UsageError):
        install.install(tmp_path / "nowhere", "claude")


def test_check_says_what_is_stale_and_writes_nothing(tmp_path: Path) -> None:
    """``--check``: 1 with the files that differ, 0 when current; the JSON says the same."""
    done = command("--dir", str(tmp_path), "--check", cwd=tmp_path)
    assert done.returncode == 1
    assert f"missing  .claude/skills/{SKILL}/SKILL.md" in done.stdout
    assert list(tmp_path.iterdir()) == []
    assert command("--dir", str(tmp_path), cwd=tmp_path).returncode == 0
    done = command("--dir", str(tmp_path), "--check", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "current\n")
    (tmp_path / ".claude/agents/skillbench-arm.md").write_text("x")
    done = command("--dir", str(tmp_path), "--check", "--json", cwd=tmp_path)
    assert done.returncode == 1
    said = json.loads(done.stdout)
    assert said["current"] is False
    assert [f["path"] for f in said["files"] if f["state"] != "current"] == [".claude/agents/skillbench-arm.md"]


def test_the_repository_is_the_default_place(tmp_path: Path) -> None:
    """From a folder inside a repository its root is installed into; outside of any the message says what to give."""
    inner = tmp_path / "repo" / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "repo/.git").mkdir()
    done = command(cwd=inner)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"repo/.claude/skills/{SKILL}/SKILL.md").is_file()
    assert "written  .claude/agents/skillbench-arm.md" in done.stdout
    assert "anew" in done.stdout


def test_the_script_alone_is_executable() -> None:
    """Modes come from what a file is, so that an unpacked archive without modes installs the same."""
    found = install.distributed()
    assert {"SKILL.md", "agents/skillbench-arm.md", "agents/openai.yaml", "scripts/skillbench"} <= set(found)
    assert [path for path, source in found.items() if source.executable] == ["scripts/skillbench"]


def test_the_wheel_carries_the_skill(tmp_path: Path) -> None:
    """A wheel built from this tree holds every file of the skill where `install` looks for it, and installs it."""
    pytest.importorskip("hatchling", reason="the build backend is not installed")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    prefix = tmp_path / "site" / "pytest_skillbench" / "skills" / SKILL
    carried = {path.relative_to(prefix).as_posix(): path.read_bytes() for path in prefix.rglob("*") if path.is_file()}
    assert carried == {path: source.data for path, source in install.distributed().items()}
    (tmp_path / "project").mkdir()
    code = "from pytest_skillbench import install; from pathlib import Path; install.install(Path('.'), 'claude')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path / "project",
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert states(tmp_path / "project") == {}
