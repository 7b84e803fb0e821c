"""What `pytest --skillbench` leaves behind: reports, exit codes, JUnit, terminal text; with xdist, hostile text."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from checks.conftest import Run
from checks.records import CASE, UNGATED, write_run, write_skill

NULL = "tests/review/code-review/null-check/case.md"
HOSTILE = "</script><img src=x onerror=alert(1)> ]]> <!-- \x1b[31mred\x1b[0m \x00 \r\n \u202eevil\u202c \x1b]8;;http://x\x07link"
Recorded = Callable[..., Path]


def history(root: Path, skill: str = "code-review") -> list[str]:
    """Return the lines of a skill's history."""
    path = root / f"tests/.reports/{skill}.history.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def test_everything_is_written_once(bench: Path, run: Run, recorded: Recorded) -> None:
    """Report, leaderboard, summary and one history line, and the terminal says where."""
    recorded()
    result = run("tests")
    reports = bench / "tests/.reports"
    for name in ("code-review.html", "index.html", "summary.md"):
        assert (reports / name).stat().st_size > 0
    assert len(history(bench)) == 1
    result.stdout.fnmatch_lines(
        [
            "skillbench: 1 skill, 2 cases; runs: tests/.reports",
            "*= skillbench =*",
            "code-review  Efficacy pass (8W 1T 1L, 2/2 cases)  Regression pass (0W 9T 1L, 2/2 cases)  Safe edit, *",
            "report: tests/.reports/code-review.html",
            "leaderboard: tests/.reports/index.html",
            "*= 29 passed, 2 xfailed in *",
        ]
    )
    run("tests")
    assert len(history(bench)) == 1, "scoring the same run again replaces its line"


def test_only_the_skills_that_ran_are_reported(bench: Path, run: Run, recorded: Recorded) -> None:
    """A session that looked at one skill leaves the others' pages and histories alone, but lists them."""
    write_skill(bench, "other", {"one": UNGATED})
    recorded()
    write_run(bench, "other", {"one": "LLLLL"})
    assert run(NULL).ret == 0
    assert (bench / "tests/.reports/code-review.html").exists()
    assert not (bench / "tests/.reports/other.html").exists()
    assert not history(bench, "other")
    assert "other" in (bench / "tests/.reports/index.html").read_text()


@pytest.mark.parametrize(
    "extra",
    [
        ["--skillbench-no-report"],
        ["--collect-only"],
        ["--collect-only", "-q"],
        ["--setup-plan"],
        ["--setup-only"],
        ["-k", "no-such"],
    ],
    ids=lambda extra: " ".join(extra),
)
def test_nothing_is_written(bench: Path, run: Run, recorded: Recorded, extra: list[str]) -> None:
    """No node ran, or no report was wanted: no file."""
    recorded()
    run(*extra, "tests")
    assert sorted(p.name for p in (bench / "tests/.reports").iterdir()) == ["code-review.run"]


@pytest.mark.parametrize(
    "extra",
    [
        ["-p", "no:terminal"],
        ["--no-summary"],
        ["-p", "no:cacheprovider"],
        ["-q"],
        ["-qq"],
        ["-x"],
        ["--strict-markers"],
        ["-W", "error"],
    ],
    ids=lambda extra: " ".join(extra),
)
def test_options_that_change_no_outcome(
    bench: Path, pytester: pytest.Pytester, recorded: Recorded, extra: list[str]
) -> None:
    """Whoever prints, outcomes and files are the same."""
    recorded({"null-check": ("WWWLL", "TTTTT")})
    result = pytester.runpytest_inprocess("--skillbench", *extra, "tests")
    assert result.ret == 1
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert (bench / "tests/.reports/code-review.html").exists()
    assert len(history(bench)) == 1


def test_quiet(run: Run, recorded: Recorded) -> None:
    """``-q`` says only what is not green; ``-qq`` and ``--no-summary`` say nothing of it."""
    recorded()
    assert "Efficacy" not in run("-q", "tests").stdout.str()
    recorded({"null-check": ("LLLLL", "TTTTT")})
    assert "code-review  Efficacy FAIL (5W 0T 5L, 1/2 cases)" in run("-q", "tests").stdout.str()
    assert "Efficacy FAIL" not in run("-qq", "tests").stdout.str()
    assert "Efficacy FAIL" not in run("--no-summary", "tests").stdout.str()


def test_xdist_gives_the_same(bench: Path, pytester: pytest.Pytester, recorded: Recorded) -> None:
    """Four workers, one report, one history line, the same letters, words, reasons and outcomes."""
    recorded({"null-check": ("WXLL?", "LLTTT")})
    alone = pytester.runpytest_subprocess("--skillbench", "-v", "tests")
    page = (bench / "tests/.reports/code-review.html").read_bytes()
    shutil.rmtree(bench / ".pytest_cache", ignore_errors=True)
    (bench / "tests/.reports/code-review.history.jsonl").unlink()
    spread = pytester.runpytest_subprocess("--skillbench", "-n", "4", "-v", "tests")
    assert spread.ret == alone.ret == 1
    assert spread.parseoutcomes() == alone.parseoutcomes()
    assert len(history(bench)) == 1
    assert (bench / "tests/.reports/code-review.html").read_bytes() == page
    text = spread.stdout.str()
    for part in (
        " LOSS ",
        " GATE ",
        " INVALID ",
        "hard assertion failed, exit code 1",
        "= skillbench =",
        "no-skill arm: timed out",
    ):
        assert part in alone.stdout.str()
        assert part in text
    assert text.count("= skillbench =") == 1


def test_a_killed_worker(bench: Path, pytester: pytest.Pytester, recorded: Recorded) -> None:
    """A worker that dies takes its node down as a failure; nobody's green covers for it."""
    recorded()
    pytester.makeconftest(
        "import os, signal\n"
        "def pytest_runtest_setup(item):\n"
        "    if item.name == 'efficacy-trial-3' and hasattr(item.config, 'workerinput'):\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    result = pytester.runpytest_subprocess("--skillbench", "-n", "2", "tests")
    assert result.ret != 0
    assert "crashed while running" in result.stdout.str()
    assert len(history(bench)) == 1


def test_an_interrupted_session(bench: Path, pytester: pytest.Pytester, recorded: Recorded) -> None:
    """Ctrl-C: what ran is reported, the exit code says so, and no traceback of ours."""
    recorded()
    pytester.makeconftest(
        "import os, signal\n"
        "def pytest_runtest_setup(item):\n"
        "    if item.name == 'efficacy-trial-3':\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
    )
    result = pytester.runpytest_subprocess("--skillbench", "tests")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert len(history(bench)) == 1


def test_a_report_that_cannot_be_written(bench: Path, run: Run, recorded: Recorded) -> None:
    """A clear line and a red exit, with and without a terminal; the outcomes are told all the same."""
    recorded()
    (bench / "blocked").write_text("a file where a folder should be")
    for extra in ((), ("-q",), ("--no-summary",)):
        result = run(*extra, "--skillbench-runs", "tests/.reports", "--skillbench-reports", "blocked/reports", "tests")
        assert result.ret == 1
        assert "skillbench: error: the report was not written: blocked/reports: " in result.stdout.str()
        assert "Traceback" not in result.stdout.str() + result.stderr.str()
        result.assert_outcomes(passed=29, xfailed=2)
    silent = run(
        "-p", "no:terminal", "--skillbench-runs", "tests/.reports", "--skillbench-reports", "blocked/x", "tests"
    )
    assert silent.ret == 1
    assert "skillbench: error: the report was not written" in silent.stderr.str()


def test_a_fault_of_ours_does_not_hide_the_outcomes(
    bench: Path, run: Run, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even a bug in the page costs the page only: an error line, a red exit, and every outcome is told."""
    recorded()
    monkeypatch.setattr("pytest_skillbench.report.skill_html", lambda page: page.no_such_thing)
    result = run("tests")
    assert result.ret == 1
    result.assert_outcomes(passed=29, xfailed=2)
    assert "internal error, AttributeError" in result.stdout.str()
    assert "Traceback" not in result.stdout.str() + result.stderr.str()


def test_junit(bench: Path, run: Run, recorded: Recorded) -> None:
    """One testcase a node, with skill, case, comparison, trial and result as properties."""
    recorded({"null-check": ("WXLL?", "LLTTT")})
    run("--junitxml=out.xml", "tests")
    found = {}
    for case in ElementTree.parse(bench / "out.xml").iter("testcase"):
        properties = {p.get("name"): p.get("value") for p in case.iter("property")}
        found[properties["case"], case.get("name")] = (
            properties,
            [child.tag for child in case if child.tag != "properties"],
        )
    assert len(found) == 31
    assert found["null-check", "efficacy-trial-3"] == (
        {"skill": "code-review", "case": "null-check", "comparison": "efficacy", "trial": "3", "result": "LOSS"},
        ["failure"],
    )
    assert found["null-check", "gate-trial-2"] == (
        {"skill": "code-review", "case": "null-check", "trial": "2", "result": "fail"},
        ["failure"],
    )
    assert found["null-check", "efficacy-trial-5"][1] == ["skipped"]
    assert found["null-check", "regression"][0]["result"] == "fail"
    assert found["off-by-one", "efficacy"] == (
        {"skill": "code-review", "case": "off-by-one", "comparison": "efficacy", "result": "pass"},
        [],
    )


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_hostile_text(bench: Path, pytester: pytest.Pytester, recorded: Recorded, workers: tuple[str, ...]) -> None:
    """What judges, assertions and arms say moves no cursor, breaks no XML, and is shown as what it is."""
    recorded({"null-check": ("WXLL?", "LLTTT")}, rationale=HOSTILE, stderr=HOSTILE * 400, output=HOSTILE)
    result = pytester.runpytest_subprocess(
        "--skillbench", "--color=no", "-rA", "-v", "--junitxml=out.xml", *workers, "tests"
    )
    printed = result.stdout.str() + result.stderr.str()
    for character in ("\x1b", "\x00", "\u202e", "\x07"):
        assert character not in printed
    assert "\u241b[31mred" in printed, "ESC is visible"
    assert "<img src=x onerror=alert(1)>" in printed
    tree = ElementTree.parse(bench / "out.xml")
    text = "".join(tree.getroot().itertext())
    assert "<img src=x onerror=alert(1)> ]]> <!--" in text
    assert len(printed) < 60_000, "bounded"


def test_problems_of_the_tree_that_no_node_has(bench: Path, run: Run) -> None:
    """A skill without cases, a folder of tests without a skill: said at the end, with -W error as well."""
    write_skill(bench, "lonely")
    (bench / "tests/nobody").mkdir()
    (bench / "tests/nobody/notes.txt").write_text("")
    result = run("-W", "error", "tests")
    assert result.ret == 0
    text = result.stdout.str()
    assert "lonely" in text.split("= skillbench =")[1]
    one = run(NULL)
    assert "lonely" not in one.stdout.str().split("= skillbench =")[1], "not where one case was asked for"


def test_example_data_says_so(run: Run, recorded: Recorded) -> None:
    """A recorded example must not be taken for a measurement of one's own."""
    recorded(example=True)
    assert "[example data]" in run("tests").stdout.str()


def test_a_broken_settings_file_is_a_usage_error(bench: Path, run: Run) -> None:
    """tests/skillbench.yaml is read before anything is collected: path, line, what, what was expected."""
    (bench / "tests/skillbench.yaml").write_text("trials: 5\ntrails: 3\n")
    result = run("tests")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(['ERROR: tests/skillbench.yaml:2: *did you mean "trials"?*'])


def test_hostile_names_in_the_tree(pytester: pytest.Pytester, run: Run) -> None:
    """A folder's name is text as well."""
    write_skill(pytester.path, "evil \x1b[31m\u202e", {"one": CASE})
    result = run("-v", "tests")
    tail = result.stdout.str().split("= skillbench =")[1].split("\n")[1]
    assert "\x1b" not in tail
    assert "\u202e" not in tail


def test_it_ends_when_its_reader_goes_away(bench: Path, recorded: Recorded) -> None:
    """``pytest --skillbench | head -1`` is no reason for a hang."""
    recorded()
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "--skillbench", "tests"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=bench,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=120) != -signal.SIGKILL
