"""``pytest --skillbench-evidence DIR``: what was graded becomes nodes, and a changed byte fails all of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from .freezes import execution, freeze, imported, result, run, suite, suite_case

OPTION = "--skillbench-evidence"


@pytest.fixture
def frozen(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a freeze of one case with two attempts and two criteria, of which the first attempt has run."""
    monkeypatch.setenv("COLUMNS", "200")
    made = freeze(pytester.path)
    imported(pytester.path, run(made.benchmark_sha256, "treatment"))
    return pytester.path / "freeze"


def test_each_criterion_of_each_attempt_is_a_node(pytester: pytest.Pytester, frozen: Path) -> None:
    """Pass and fail as graded, what has no run is skipped and says so; nothing else is collected."""
    (pytester.path / "test_own.py").write_text("def test_own(): pass\n")
    ran = pytester.runpytest(OPTION, str(frozen), "-rA", "-v")
    ran.assert_outcomes(passed=1, failed=1, skipped=2)
    ran.stdout.fnmatch_lines_random(
        [
            "freeze/suite.json::null-check-attempt-1-names-it PASSED*",
            "freeze/suite.json::null-check-attempt-1-stays-brief FAILED*",
            "freeze/suite.json::null-check-attempt-2-names-it SKIPPED*",
            "FAILED freeze/suite.json::null-check-attempt-1-stays-brief - graded fail: It does.",
            "SKIPPED *no treatment run is imported",
        ]
    )
    assert "test_own" not in ran.stdout.str()
    assert "Traceback" not in ran.stdout.str()


def test_what_was_asked_for_is_collected_too(pytester: pytest.Pytester, frozen: Path) -> None:
    """With arguments of the user's own, the evidence comes on top of them; given twice it comes once."""
    (pytester.path / "test_own.py").write_text("def test_own(): pass\n")
    ran = pytester.runpytest(OPTION, "freeze", OPTION, str(frozen), "test_own.py")
    ran.assert_outcomes(passed=2, failed=1, skipped=2)


def test_blocked_and_not_run_are_skipped_with_the_reason(pytester: pytest.Pytester) -> None:
    """What was not graded is neither a pass nor a failure."""
    made = freeze(pytester.path)
    grades = [result(verdict="blocked"), result("stays-brief", "not-run", ())]
    imported(
        pytester.path,
        run(made.benchmark_sha256, "treatment", execution=execution(status="blocked"), criteria=grades),
    )
    ran = pytester.runpytest(OPTION, "freeze", "-rs")
    ran.assert_outcomes(skipped=4)
    ran.stdout.fnmatch_lines_random(["*blocked: It does.", "*not-run: It does."])


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("packages/code-review/SKILL.md", "Frozen inventory changed."),
        ("runs/run-treatment-1/artifacts/answer.md", "Artifact identity mismatch: answer.md"),
        ("runs/run-treatment-1/run.json", "Imported run record changed."),
        ("suite.json", "Frozen suite changed."),
    ],
)
def test_a_changed_byte_fails_every_node(pytester: pytest.Pytester, frozen: Path, file: str, message: str) -> None:
    """Nothing of a freeze that is not what was frozen is worth a pass, whichever file it is."""
    path = frozen / file
    path.write_bytes(re.sub(rb"Review|An|Read|It", rb"We", path.read_bytes(), count=1))
    ran = pytester.runpytest(OPTION, "freeze", "-rf")
    ran.assert_outcomes(failed=4)
    assert f"Invalid benchmark: {message}" in ran.stdout.str()


def test_a_suite_that_can_not_be_read_is_an_error(pytester: pytest.Pytester, frozen: Path) -> None:
    """Without a suite there are no names for nodes: collection says what is wrong, and the session is red."""
    (frozen / "suite.json").write_text("{")
    ran = pytester.runpytest(OPTION, "freeze")
    assert ran.ret == pytest.ExitCode.INTERRUPTED
    ran.stdout.fnmatch_lines(["*Invalid benchmark: Frozen suite changed.*"])


@pytest.mark.parametrize(("given", "why"), [("nothing", "no such folder"), (".", "no frozen benchmark")])
def test_no_freeze_is_a_usage_error(pytester: pytest.Pytester, given: str, why: str) -> None:
    """Green from nothing is not possible."""
    ran = pytester.runpytest(OPTION, given)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines([f"*{OPTION} {given}: {why}; expected a folder with manifest.json and suite.json*"])


def test_it_goes_with_xdist_junit_last_failed_and_no_terminal(pytester: pytest.Pytester, frozen: Path) -> None:
    """The nodes are those of any well-behaved plugin: one id each, in every process."""
    pytester.runpytest(OPTION, "freeze", "-n", "2", "--junitxml=out.xml").assert_outcomes(passed=1, failed=1, skipped=2)
    assert (pytester.path / "out.xml").read_text().count("<testcase") == 4
    again = pytester.runpytest(OPTION, "freeze", "--lf")
    again.assert_outcomes(failed=1)
    chosen = pytester.runpytest(OPTION, "freeze", "-k", "names-it and attempt-1", "-p", "no:terminal")
    assert chosen.ret == 0


def test_a_freeze_outside_the_rootdir(pytester: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The folder may lie anywhere; its nodes are then named by its whole path."""
    root = tmp_path_factory.mktemp("elsewhere")
    made = freeze(root)
    imported(root, run(made.benchmark_sha256, "treatment"))
    ran = pytester.runpytest(OPTION, str(root / "freeze"), "-v", f"--rootdir={pytester.path}")
    ran.assert_outcomes(passed=1, failed=1, skipped=2)
    ran.stdout.fnmatch_lines([f"*{os.path.realpath(root)}/freeze/suite.json::null-check-attempt-1-names-it PASSED*"])


def test_lines_are_those_of_the_case(pytester: pytest.Pytester) -> None:
    """A test explorer that clicks through comes to the case in suite.json."""
    freeze(pytester.path, suite(suite_case("one"), suite_case("two")))
    items, _ = pytester.inline_genitems(OPTION, "freeze")
    lines = (pytester.path / "freeze/suite.json").read_text().splitlines()
    for item in items:
        assert f'"id": "{item.name.partition("-")[0]}"' in lines[item.location[1] or 0]
