"""``skillbench evidence``: what it prints, for people and for programs, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checks.freezes import (
    execution,
    freeze,
    result,
    run,
    state,
    suite,
    suite_case,
    write_artifacts,
    write_package,
    write_run,
    write_suite,
)
from pytest_skillbench.cli import main

DISCLAIMER = "None of these commands runs a case, calls a model or a grader, or certifies anything."


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run ``skillbench evidence`` in this process; return exit code, stdout, stderr."""
    code = main(["evidence", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """Return what ``--json`` prints, which is one line and nothing else."""
    code, out, err = call(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    assert out.endswith("\n")
    (line,) = out.splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with a suite, its package, and a run's artifacts."""
    write_suite(tmp_path / "suite", suite())
    write_package(tmp_path / "skills")
    write_artifacts(tmp_path / "artifacts")
    monkeypatch.chdir(tmp_path)
    return tmp_path


PREPARE = ("prepare", "--suite", "suite/suite.json", "--output", "freeze")


def test_the_whole_way_for_a_program(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each answer is one line of JSON with exactly the documented keys, in their order."""
    said = answer(capsys, *PREPARE, "--skills-root", "skills")
    assert list(said) == ["schema_version", "directory", "suite", "benchmark_sha256", "cases", "packages"]
    assert (said["directory"], said["suite"], said["cases"]) == (str(home / "freeze"), "reviews", 1)
    digest = said["benchmark_sha256"]
    arguments = ("import-run", "--benchmark", "freeze", "--artifacts", "artifacts", "--run")
    said = answer(capsys, *arguments, write_run(home, run(digest)))
    assert said == {
        "schema_version": 1,
        "id": "run-baseline-1",
        "benchmark_sha256": digest,
        "run_sha256": said["run_sha256"],
        "retained_artifacts": 2,
        "execution_kind": "agent",
        "execution_status": "executed",
        "verification": "Retained artifact integrity; execution and grading remain caller assertions.",
    }
    keys = ["schema_version", "id", "benchmark_sha256", "run_sha256", "retained_artifacts", "execution_kind"]
    assert list(said) == [*keys, "execution_status", "verification"]
    failed = [result(verdict="fail", evidence=[]), result("stays-brief", "fail", ())]
    answer(capsys, *arguments, write_run(home, run(digest, "treatment", criteria=failed)))
    said = answer(capsys, "compare", "--benchmark", "freeze")
    assert list(said) == [
        "schema_version",
        "suite",
        "benchmark_sha256",
        "packages",
        "coverage",
        "observed_treatment_result",
        "comparison_status",
        "cases",
        "limits",
    ]
    assert (said["observed_treatment_result"], said["comparison_status"]) == ("fail", "incomplete")


def test_the_whole_way_for_a_person(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Readable tables, every number that matters, and what is not proved; hostile text moves no cursor."""
    code, out, _ = call(capsys, *PREPARE, "--skills-root", "skills")
    assert code == 0
    assert f"Frozen: {home / 'freeze'}\nSuite reviews, 1 case\nDigest " in out
    assert out.endswith(f"\n\n{DISCLAIMER}\n")
    digest = out.split("Digest ")[1].split()[0]
    arguments = ("import-run", "--benchmark", "freeze", "--artifacts", "artifacts", "--run")
    code, out, _ = call(capsys, *arguments, write_run(home, run(digest)))
    assert code == 0
    assert out.startswith("Imported: run-baseline-1, 2 artifacts\nDeclared: agent, executed\n")
    worse = [result(verdict="fail", evidence=[]), result("stays-brief", "pass")]
    hostile = run(
        digest,
        "treatment",
        criteria=worse,
        limitations=["Two\nlines \u202e and \u009b31m more."],
        metrics={"wall_time_ms": None, "input_tokens": None, "output_tokens": None},
    )
    call(capsys, *arguments, write_run(home, hostile))
    second = run(digest, "treatment", 2, execution=execution(kind="manual", model=None))
    call(capsys, *arguments, write_run(home, second))
    code, out, err = call(capsys, "compare", "--benchmark", "freeze")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert "comparison  incomplete" in lines
    assert "treatment   fail (critical criteria, as graded)" in lines
    assert "runs        3 of 4 imported, 1 missing; 0 fixture, 1 manual, 0 not executed" in lines
    assert "pairs       1 of 2 with both runs; 1 of two agent runs, 1 controlled" in lines
    rows = [" ".join(line.split()) for line in lines if line.startswith("null-check")]
    assert rows[0] == "null-check 1 1/2 passed 1/2 passed complete fail 1 1 0 yes / —"
    assert rows[1] == "null-check 2 no run 1/2 passed incomplete pass 0 0 0 — / yes"
    assert "1  A baseline/treatment run is missing.  null-check 2" in lines
    assert "null-check 1  treatment  names-it" in lines
    told = [" ".join(line.split()) for line in lines]
    assert "1 Two lines ⟨U+202E⟩ and ⟨U+009B⟩31m more. null-check 1 treatment" in told
    assert lines.index("Limits") > 0
    assert lines[-1] == DISCLAIMER


def test_a_red_comparison_is_a_green_command(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It was computed, which is all that the exit code says; nothing was written."""
    freeze(home)
    before = state(home)
    assert call(capsys, "compare", "--benchmark", "freeze")[0] == 0
    assert state(home) == before


def test_errors_are_exact_for_programs_and_placed_for_people(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every message on a line of its own, where it is on the next, nothing on stdout, exit code 2."""
    document = suite()
    document["cases"][0]["id"] = "Null"
    document["cases"][0]["phase"] = "final"
    (home / "suite/suite.json").write_text(json.dumps(document))
    for machine in ((), ("--json",)):
        code, out, err = call(capsys, *PREPARE, "--skills-root", "skills", *machine)
        assert (code, out) == (2, "")
        assert err.splitlines() == [
            "skillbench: error: Invalid benchmark: Expected a simple lowercase ID.",
            "skillbench: note: suite/suite.json: $.cases[0].id: expected a letter, then a-z, 0-9 and -; "
            'there is "Null"',
            "skillbench: error: Invalid benchmark: Unknown enumerated value.",
            "skillbench: note: suite/suite.json: $.cases[0].phase: expected final-acceptance or tuning or exploratory; "
            'there is "final"',
        ]
    assert not (home / "freeze").exists()


def test_an_error_shows_hostile_names_as_text(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file's name can neither end a line of stderr nor steer the terminal."""
    (home / "skills/code-review/x\x1b[31m\nskillbench: error: y").symlink_to("SKILL.md")
    code, _, err = call(capsys, *PREPARE, "--skills-root", "skills")
    assert code == 2
    assert err.splitlines()[0] == "skillbench: error: symlink is forbidden: x␛[31m skillbench: error: y"
    assert "--dereference" in err


def test_what_was_dereferenced_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever freezes what a link leads to is told which, and no more than fits on a screen."""
    for number in range(30):
        (home / f"skills/code-review/link-{number}").symlink_to("SKILL.md")
    code, out, err = call(capsys, *PREPARE, "--skills-root", "skills", "--dereference", "--json")
    assert (code, json.loads(out)["cases"]) == (0, 1)
    notes = err.splitlines()
    assert len(notes) == 21
    assert all(note.startswith("skillbench: note: ") for note in notes)
    assert "skills/code-review/link-0 is a copy of what SKILL.md is" in notes[0]
    assert notes[-1] == "skillbench: note: 10 more links were followed"


@pytest.mark.parametrize("option", [(), ("--project", ".."), ("--project", "../suite")])
def test_the_skills_of_a_project(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...]
) -> None:
    """A package is found by its name wherever it lies below the project's skills; the freeze lies outside of those."""
    (home / "skills").rename(home / "plain")
    write_package(home / "skills/engineering/deep")
    (home / ".git").mkdir()
    (home / "inside").mkdir()
    monkeypatch.chdir(home / "inside")
    arguments = ("prepare", "--suite", "../suite/suite.json", "--output")
    code, _, err = call(capsys, *arguments, "../skills/freeze", *option)
    assert code == 2
    assert "Output must be outside the selected source trees." in err
    said = answer(capsys, *arguments, "../freeze", *option)
    other = answer(capsys, *arguments, "../other", "--skills-root", "../plain")
    assert said["packages"] == other["packages"]
    write_package(home / "skills/again")
    code, _, err = call(capsys, *arguments, "../third", *option)
    assert code == 2
    assert "Invalid benchmark: Selected package must be a directory." in err
    assert "expected one skill of this name" in err


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("compare",),
        ("import-run", "--benchmark", "x"),
        ("prepare", "--suite", "x"),
        (*PREPARE, "--skills-root", "a", "--project", "b"),
        ("certify",),
    ],
)
def test_usage(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """A missing or a contradictory argument is a usage error."""
    with pytest.raises(SystemExit) as caught:
        main(["evidence", *arguments])
    assert caught.value.code == 2
    assert "usage: skillbench evidence" in capsys.readouterr().err


@pytest.mark.parametrize("action", [(), ("prepare",), ("import-run",), ("compare",)])
def test_the_help_says_what_it_is_not(action: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody takes these commands for a benchmark run or for a certificate."""
    with pytest.raises(SystemExit) as caught:
        main(["evidence", *action, "--help"])
    assert caught.value.code == 0
    assert DISCLAIMER in " ".join(capsys.readouterr().out.split())


def test_a_terminal_that_knows_no_unicode(home: Path) -> None:
    """What is printed is UTF-8 whatever the locale, so that a pipe gets the same bytes everywhere."""
    digest = freeze(home, suite(suite_case(criteria=[{"id": "c", "critical": True, "description": "naïve"}])))
    value = run(digest.benchmark_sha256, criteria=[result("c") | {"reason": "naïve ✂"}], limitations=["✂"])
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    def done(*arguments: str) -> bytes:
        command = [sys.executable, "-m", "pytest_skillbench", "evidence", *arguments]
        return subprocess.run(command, env=env, cwd=home, capture_output=True, check=True).stdout

    where = ("--benchmark", "freeze")
    done("import-run", *where, "--run", str(write_run(home, value)), "--artifacts", "artifacts")
    found = done("compare", *where, "--json")
    assert "naïve ✂".encode() in found
    assert json.loads(found)["cases"][0]["run_limitations"]["baseline"] == ["✂"]
    assert "✂".encode() in done("compare", *where)


def test_nothing_heavy_is_loaded(home: Path) -> None:
    """A comparison starts as fast as its reading allows: no pytest, no Markdown, no templates, no terminal library."""
    freeze(home)
    script = (
        "import sys; from pytest_skillbench.cli import main\n"
        "main(['evidence', 'compare', '--benchmark', 'freeze', '--json'])\n"
        "heavy = {'pytest', '_pytest', 'rich', 'jinja2', 'markdown_it', 'yaml', 'sqlite3', 'filelock', 'ctypes'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    root = Path(__file__).parent.parent
    subprocess.run([sys.executable, "-c", script], cwd=home, env={**os.environ, "PYTHONPATH": str(root)}, check=True)
