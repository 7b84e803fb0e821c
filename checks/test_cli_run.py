"""The commands of a run as a user types them: start, next, status, watch, clean, and what they say when it is wrong."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_skillbench.cli import main

from .records import CASE, write_run, write_skill
from .repos import Repo


@pytest.fixture
def at(tmp_path: Path) -> list[str]:
    """Return the options that run a command in a project with one skill, released and edited, and two cases."""
    folder = tmp_path / "repo"
    folder.mkdir()
    repo = Repo(folder)
    repo.git("init", "-q", "-b", "main")
    write_skill(folder, "reviewing", {"one": CASE, "two": CASE})
    repo.commit("released")
    (folder / "skills/reviewing/SKILL.md").write_text("---\nname: reviewing\ndescription: Reviews.\n---\nBetter.\n")
    return ["-C", str(folder)]


def said(capsys: pytest.CaptureFixture[str], arguments: list[str], code: int = 0) -> Any:
    """Run a command with ``--json`` and return what it printed."""
    capsys.readouterr()
    assert main([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_start_says_what_will_be_run(at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """An edited skill gives three arms; a dry run writes nothing; starting again resumes, --fresh starts anew."""
    (dry,) = said(capsys, [*at, "start", "reviewing", "--trials", "2", "--dry-run"])["runs"]
    assert (dry["shape"], dry["arms"], dry["judges"], dry["resumed"]) == ("three-arm", 12, 8, False)
    assert not (Path(at[1]) / "tests/.reports").exists()
    (first,) = said(capsys, [*at, "start", "reviewing", "--trials", "2"])["runs"]
    (again,) = said(capsys, [*at, "start", "reviewing"])["runs"]
    assert (again["resumed"], again["run_id"], again["trials"]) == (True, first["run_id"], 2)
    (fresh,) = said(capsys, [*at, "start", "reviewing", "--fresh"])["runs"]
    assert (fresh["resumed"], fresh["trials"]) == (False, 5)
    assert fresh["run_id"] != first["run_id"]


def test_changed_starts_only_what_was_edited(at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """--changed leaves out skills that are as released."""
    root = Path(at[1])
    write_skill(root, "writing", {"one": CASE})
    Repo(root).commit("another skill, released")
    (root / "skills/writing/SKILL.md").write_text("---\nname: writing\ndescription: Writes.\n---\nEdited.\n")
    runs = said(capsys, [*at, "start", "--changed", "--dry-run"])["runs"]
    assert [run["skill"] for run in runs] == ["writing"]


def test_edits_after_the_start_do_not_leak_in(at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Arms get the frozen copies: a skill edited in the middle of a run is not what they read."""
    said(capsys, [*at, "start", "reviewing", "--trials", "1"])
    (Path(at[1]) / "skills/reviewing/SKILL.md").write_text("---\nname: reviewing\ndescription: x\n---\nWORSE\n")
    turn = said(capsys, [*at, "next", "--wait", "0"])
    assert len(turn["jobs"]) == 6
    root = Path(turn["jobs"][0]["prompt"].split("`")[1]).parent
    skills = [file.read_text() for file in root.rglob("SKILL.md")]
    assert len(skills) == 4
    assert not any("WORSE" in text for text in skills)
    assert main([*at, "clean", "--all"]) == 0
    assert not root.exists()


def test_next_stays_within_its_limits(at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """--limit bounds what is under way, and one answer stays under what clients cut."""
    said(capsys, [*at, "start", "reviewing"])
    capsys.readouterr()
    assert main([*at, "next", "--limit", "4", "--wait", "0", "--json"]) == 0
    out = capsys.readouterr().out
    assert len(json.loads(out)["jobs"]) == 4
    assert len(out) < 20_000
    assert said(capsys, [*at, "next", "--limit", "4", "--wait", "0"])["state"] == "waiting"
    (run,) = said(capsys, [*at, "status"], code=3)["runs"]
    assert (run["recorded"], run["under_way"], run["open"]) == (0, 4, 50)
    main([*at, "clean", "--all"])


def test_one_unreadable_run_hides_no_other(at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Status names the file that can't be read, shows the other runs all the same, and ends with 2."""
    said(capsys, [*at, "start", "reviewing", "--trials", "1"])
    broken = next(Path(at[1]).rglob("reviewing.run")).parent / "another.run/plan.json"
    broken.parent.mkdir()
    broken.write_text("{")
    assert main([*at, "status"]) == 2
    shown = capsys.readouterr()
    assert shown.out.startswith("reviewing: ")
    assert "another.run/plan.json" in shown.err
    assert main([*at, "status", "--json"]) == 2
    got = json.loads(capsys.readouterr().out)
    assert [run["skill"] for run in got["runs"]] == ["reviewing"]
    assert "another.run/plan.json" in got["problems"][0]
    main([*at, "clean", "--all"])


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["start", "reviewin"], 'did you mean "reviewing"?'),
        (["next", "reviewing"], "no run"),
        (["status", "reviewing"], "no run"),
        (["record", "reviewing", "x.y", "--output", "/nothing"], "there is no such file"),
    ],
)
def test_what_is_not_there_is_said(
    at: list[str], capsys: pytest.CaptureFixture[str], command: list[str], message: str
) -> None:
    """A wrong name or a run that was never started is one clear line and exit code 2."""
    assert main([*at, *command]) == 2
    error = capsys.readouterr().err
    assert error.startswith("skillbench: error: ")
    assert message in error


def test_a_broken_case_starts_nothing(at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Every problem of every case is named before anything is frozen."""
    (Path(at[1]) / "tests/reviewing/one/case.md").write_text("no front matter")
    (Path(at[1]) / "tests/reviewing/two/case.md").write_text("---\ndescription: x\n---\n## Prompt\n")
    assert main([*at, "start", "reviewing"]) == 2
    error = capsys.readouterr().err
    assert "tests/reviewing/one/case.md" in error
    assert "tests/reviewing/two/case.md" in error
    assert not (Path(at[1]) / "tests/.reports/reviewing.run").exists()


def test_watch_ends_when_the_runs_are_done(at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """With nothing recorded there is nothing to wait for; a table of finished runs is drawn once."""
    assert main([*at, "watch"]) == 0


@pytest.fixture
def half(tmp_path: Path) -> Callable[[], None]:
    """Make a recorded run in `tmp_path` whose judgements are missing; return what puts them back."""
    write_skill(tmp_path, "reviewing", {"one": CASE})
    write_run(tmp_path, "reviewing", {"one": ("WWWWW", "TTTTT")})
    folder = tmp_path / "tests/.reports/reviewing.run/judgements"
    away = folder.rename(tmp_path / "away")

    def put_back() -> None:
        away.rename(folder)

    return put_back


def watch(folder: Path, out: int) -> subprocess.Popen[bytes]:
    """Start watching in a process of its own."""
    command = [sys.executable, "-m", "pytest_skillbench", "-C", str(folder), "watch", "--every", "0.2"]
    return subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, "TERM": "xterm"})


def test_watch_into_a_pipe_says_a_line_at_every_change(tmp_path: Path, half: Callable[[], None]) -> None:
    """What a log or `tee` gets: where the run stands at once, then what changed, and an end when it is done."""
    reading, writing = os.pipe()
    with watch(tmp_path, writing) as process, os.fdopen(reading) as lines:
        os.close(writing)
        assert "10 open, 0 under way" in lines.readline()
        half()
        rest = lines.read().splitlines()
    assert process.returncode == 0
    assert len(rest) == 1
    assert "done (new-skill 5/5" in rest[0]


def test_watch_in_a_terminal_draws_over_itself(tmp_path: Path, half: Callable[[], None]) -> None:
    """A table that is drawn again in its place, and stays when the run is done."""
    ours, theirs = pty.openpty()
    with watch(tmp_path, theirs) as process:
        os.close(theirs)
        seen = b""
        while b"unknown" not in seen and b"0 min" not in seen:
            seen += os.read(ours, 4096)
        half()
        with contextlib.suppress(OSError):  # a terminal whose other end has closed
            while more := os.read(ours, 4096):
                seen += more
        os.close(ours)
    assert process.returncode == 0
    assert b"\x1b[2K" in seen
    assert b"efficacy 5/5" in seen


@pytest.mark.parametrize(
    "command",
    [
        ["next", "--limit", "0"],
        ["next", "--wait", "-5"],
        ["next", "--wait", "nan"],
        ["next", "--patience", "1e10"],
        ["watch", "--every", "0"],
        ["watch", "--every", "1e10"],
        ["start", "--trials", "26"],
        ["start", "--trials", "²"],
    ],
)
def test_numbers_out_of_range_are_refused(
    at: list[str], capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """What would hang, spin or do something else than asked is a usage error that says the range."""
    with pytest.raises(SystemExit) as left:
        main([*at, *command])
    assert left.value.code == 2
    assert f'"{command[-1]}" is not a' in capsys.readouterr().err


def test_nothing_started_is_not_done(at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A loop that waits for "done" must not go on to score what was never run."""
    assert main([*at, "next"]) == 2
    assert "no run is started; expected skillbench start" in capsys.readouterr().err
    assert main([*at, "clean", "nobody"]) == 2
    assert main([*at, "watch"]) == 0
    assert "no run is recorded" in capsys.readouterr().out


def test_all_and_a_choice_contradict_each_other(at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Which of the two was meant would be a guess."""
    for choice in ("reviewing", "--changed"):
        assert main([*at, "start", "--all", choice, "--dry-run"]) == 2
        assert "given together with a choice" in capsys.readouterr().err


def test_start_names_what_it_compares_with(at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The commit of the released version stands in the first line, as it will in the report."""
    commit = Repo(Path(at[1])).git("rev-parse", "HEAD").strip()
    assert main([*at, "start", "reviewing", "--dry-run"]) == 0
    assert f"three-arm against main {commit[:12]}" in capsys.readouterr().out


def test_clean_says_what_it_keeps(at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A run that goes on keeps its worlds unless they are asked for."""
    main([*at, "start", "reviewing", "--trials", "1"])
    main([*at, "next", "--wait", "0"])
    capsys.readouterr()
    assert main([*at, "clean", "reviewing"]) == 0
    assert "reviewing: not ended, its worlds are kept; --all removes them" in capsys.readouterr().out
    assert main([*at, "clean", "reviewing", "--all"]) == 0
    assert "removed " in capsys.readouterr().out
