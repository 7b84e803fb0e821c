"""The scorecard's cases and dimensions as pytest nodes, under ``--skillbench`` and without running anything."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from pytest_skillbench import digest
from pytest_skillbench.formats import encode
from pytest_skillbench.model import OutputRef, Settings, SkillRef
from pytest_skillbench.project import find
from pytest_skillbench.scorecard.discover import discover as evals_of
from pytest_skillbench.scorecard.records import Observation, PlannedEval, ScorecardPlan
from pytest_skillbench.tree import discover

from .conftest import Run
from .records import UNGATED, write_skill

CASES = """\
name: finds it
skill: reviewing
category: output-quality
input: Look at this.
expected: {output_contains: [Mistake]}
tags: [smoke]
---
name: says nothing of others
skill: reviewing
category: output-quality
input: Look at that.
expected: {output_not_contains: [mistake]}
---
name: asked for a review
skill: reviewing
category: trigger-positive
input: Review this.
expected: {triggered: true}
"""
CONFIG = """\
version: "1"
target_skills:
  - reviewing
eval_cases: {min_cases_per_skill: 1, required_categories: [output-quality]}
"""
BASELINE = """\
version: "1"
overall_score: 100
skills:
  reviewing:
    {trigger_accuracy: 100, output_quality: %s, tool_usage: 100, error_handling: 100, token_efficiency: 100,
     overall: 100, skill_words: 10}
"""


@pytest.fixture
def repo(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with three eval cases of one skill and nothing recorded."""
    monkeypatch.setenv("COLUMNS", "200")
    root = pytester.path
    write_skill(root, "reviewing", {"one": UNGATED})
    (root / "evals/cases/reviewing").mkdir(parents=True)
    (root / "evals/cases/reviewing/cases.yaml").write_text(CASES)
    (root / "evals/config.yaml").write_text(CONFIG)
    return root


def record(root: Path, output: str = "A mistake.", *, triggered: bool = True) -> None:
    """Record a scorecard run in which every task answered `output` and every probe triggered or not."""
    project = find(root)
    (skill,) = discover(project).skills
    cases = evals_of(discover(project)).cases["reviewing"]
    folder = project.runs / "reviewing.scorecard"
    for name in ("observations", "outputs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    plan = ScorecardPlan(
        schema_version=1,
        run_id="20261130T221005Z-7f3a9c",
        skill=SkillRef(name="reviewing", path="reviewing"),
        created_at="2026-11-30T22:10:05Z",
        trials=1,
        host="claude-code",
        package=digest.package(skill.folder),
        settings=Settings(),
        cases=tuple(
            PlannedEval(**msgspec.structs.asdict(case), probe="observed" if case.is_probe else None) for case in cases
        ),
        program="pytest-skillbench 0.1.0",
    )
    (folder / "plan.json").write_bytes(encode(plan))
    data = output.encode()
    for case in cases:
        observation = Observation(
            schema_version=1,
            run_id=plan.run_id,
            case=case.id,
            trial=1,
            status="answered",
            detail=None,
            attempt=1,
            probe="observed" if case.is_probe else None,
            triggered=triggered if case.is_probe else None,
            seen="Skill call" if case.is_probe and triggered else None,
            tool_calls=(),
            output=OutputRef(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data)),
            host="claude-code",
            host_version="2.1.332",
            model="claude-sonnet-4-5",
            started_at=plan.created_at,
            duration_ms=1000,
            requests=(),
            usage_complete=True,
            usage_notes=(),
            turns=1,
        )
        (folder / f"observations/{case.id}.1.json").write_bytes(encode(observation))
        (folder / f"outputs/{case.id}.1.md").write_bytes(data)


def test_each_case_and_each_dimension_is_a_node(repo: Path, run: Run) -> None:
    """Documents by their names, dimensions by skill; without a run all that needs one is skipped with the reason."""
    result = run("evals", "-v", "-rs")
    result.stdout.fnmatch_lines_random(
        [
            "evals/cases/reviewing/cases.yaml::finds-it SKIPPED*",
            "evals/cases/reviewing/cases.yaml::says-nothing-of-others SKIPPED*",
            "evals/cases/reviewing/cases.yaml::asked-for-a-review SKIPPED*",
            "evals/config.yaml::reviewing-trigger-accuracy SKIPPED*",
            "evals/config.yaml::reviewing-output-quality SKIPPED*",
            "evals/config.yaml::reviewing-tool-usage SKIPPED*",
            "evals/config.yaml::reviewing-error-handling SKIPPED*",
            "evals/config.yaml::reviewing-token-efficiency PASSED*",
            "SKIPPED*evals/cases/reviewing/cases.yaml:1: ungraded: no run recorded",
        ]
    )
    result.assert_outcomes(passed=1, skipped=7)


def test_what_was_observed_decides(repo: Path, run: Run) -> None:
    """A check that did not hold fails its case and says which; the others pass, whatever their letters' case."""
    record(repo)
    result = run("evals/cases", "-v", "-rf")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines_random(
        [
            "evals/cases/reviewing/cases.yaml::finds-it PASSED*",
            "evals/cases/reviewing/cases.yaml::asked-for-a-review PASSED*",
            'FAILED evals/cases/reviewing/cases.yaml::says-nothing-of-others - trial 1, output_quality: has "mistake"',
        ]
    )
    assert "Traceback" not in result.stdout.str()
    record(repo, "All is well.", triggered=False)
    run("evals/cases").assert_outcomes(passed=1, failed=2)


def test_an_alarm_is_no_outcome_of_a_probe(repo: Path, run: Run) -> None:
    """No positive at all was triggered: neither they nor a negative that saw nothing either are known."""
    cases = repo / "evals/cases/reviewing/cases.yaml"
    positive = CASES.rpartition("---\n")[2]
    more = [positive.replace("asked for a review", name) for name in ("asked again", "asked once more")]
    negative = positive.replace("asked for a review", "asked for tea").replace("positive", "negative")
    cases.write_text("---\n".join([CASES, *more, negative.replace("true", "false")]))
    record(repo, triggered=False)
    result = run("evals/cases", "-v", "-rs")
    result.assert_outcomes(passed=1, failed=1, skipped=4)
    result.stdout.fnmatch_lines(["SKIPPED*no score: no positive case at all was triggered: probably the probe*"])
    record(repo, triggered=True)
    assert run("evals/cases").parseoutcomes() == {"failed": 2, "passed": 4}


@pytest.mark.parametrize(
    ("baseline", "outcome"), [("50", "passed"), ("58", "passed"), ("65", "warned"), ("80", "failed")]
)
def test_a_dimension_stands_against_its_baseline(repo: Path, run: Run, baseline: str, outcome: str) -> None:
    """Past the blocking threshold it fails, past the warning it passes with a warning, else it passes."""
    record(repo)
    (repo / "evals/baseline.yaml").write_text(BASELINE % baseline)
    result = run("evals/config.yaml::reviewing-output-quality", "-W", "default")
    expected = {"passed": 0, "failed": 0, "warnings": 0}
    expected |= {"failed": 1} if outcome == "failed" else {"passed": 1, "warnings": int(outcome == "warned")}
    result.assert_outcomes(**expected)
    if outcome != "passed":
        result.stdout.fnmatch_lines([f"*{'BLOCKED' if outcome == 'failed' else 'WARN'}: 50.0 (baseline *"])


def test_what_is_malformed_fails_by_its_line_and_the_rest_still_runs(repo: Path, run: Run) -> None:
    """Every bad document is a node that says where and what; no other document is lost."""
    cases = repo / "evals/cases/reviewing/cases.yaml"
    cases.write_text(CASES + "---\nname: bad\nskill: reviewing\ncategory: output-qualty\ninput: x\nexpected: {}\n")
    record(repo)
    result = run("evals/cases", "-rf")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["FAILED evals/cases/reviewing/cases.yaml::line-22 - *output-qualty*"])
    (repo / "evals/config.yaml").write_text(CONFIG + "dimensions: {trigger_accuracy: {weight: 2}}\n")
    broken = run("evals/config.yaml", "-rf")
    assert broken.ret == pytest.ExitCode.TESTS_FAILED
    broken.stdout.fnmatch_lines(["FAILED evals/config.yaml::*evals/config.yaml*weight*"])


def test_cases_beside_the_skills_tests_and_nothing_else_of_yaml(repo: Path, run: Run) -> None:
    """``tests/<skill path>/evals/`` holds cases too; other YAML files, results among them, are none of ours."""
    beside = repo / "tests/reviewing/evals"
    beside.mkdir()
    (repo / "evals/cases/reviewing/cases.yaml").rename(beside / "cases.yaml")
    (repo / "evals/results").mkdir()
    (repo / "evals/results/2026-11-30.yaml").write_text("x: 1\n")
    (repo / "tests/reviewing/other.yaml").write_text("x: 1\n")
    ids = run("--collect-only", "-q", ".").outlines
    assert sum(line.startswith("tests/reviewing/evals/cases.yaml::") for line in ids) == 3
    assert sum(line.startswith("evals/config.yaml::") for line in ids) == 5
    assert not any("results" in line or "other.yaml" in line for line in ids)


def test_selection_xdist_and_explorers(repo: Path, run: Run, pytester: pytest.Pytester) -> None:
    """Tags select, workers agree on the ids, and a click leads to the document's line."""
    record(repo)
    run("evals", "-k", "smoke").assert_outcomes(passed=1, deselected=7)
    both = pytester.runpytest("--skillbench", "evals", "-n", "2", "--junitxml=out.xml")
    both.assert_outcomes(passed=5, failed=1, skipped=2)
    items, _ = pytester.inline_genitems("--skillbench", "evals/cases")
    lines = CASES.splitlines()
    assert [lines[item.location[1] or 0] for item in items] == [
        "name: finds it",
        "name: says nothing of others",
        "name: asked for a review",
    ]


def test_without_skillbench_nothing_is_collected(repo: Path, pytester: pytest.Pytester) -> None:
    """YAML files are nobody's tests unless they are asked for."""
    assert pytester.runpytest("evals").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_dimensions_without_a_config(repo: Path, pytester: pytest.Pytester) -> None:
    """The defaults hold then, and what is BLOCKED by them is as red as with a config."""
    record(repo, "no")
    (repo / "evals/config.yaml").unlink()
    (repo / "evals/baseline.yaml").write_text(BASELINE % 100)
    result = pytester.runpytest("--skillbench", "evals", "-k", "reviewing-output-quality", "-rf")
    result.assert_outcomes(failed=1, deselected=result.parseoutcomes()["deselected"])
    result.stdout.fnmatch_lines(["FAILED evals/cases/reviewing/cases.yaml::reviewing-output-quality*"])


def test_a_nested_evals_root_and_a_skill_named_results(repo: Path, pytester: pytest.Pytester) -> None:
    """Only the folder that the config names holds evaluations; only the config's own path matters."""
    (repo / "qa").mkdir()
    (repo / "evals").rename(repo / "qa/evals")
    (repo / "tests/skillbench.yaml").write_text("evals_root: qa/evals\n")
    write_skill(repo, "results", {"one": UNGATED})
    (repo / "qa/evals/cases/results").mkdir()
    (repo / "qa/evals/cases/results/c.yaml").write_text(CASES.replace("skill: reviewing", "skill: results"))
    config = repo / "qa/evals/config.yaml"
    config.write_text(CONFIG.replace("  - reviewing\n", "  - reviewing\n  - results\n"))
    (repo / "qa/evals/results").mkdir()
    (repo / "qa/evals/results/2026-11-30.yaml").write_text("x: 1\n")
    result = pytester.runpytest("--skillbench", "qa", "--collect-only", "-q")
    result.stdout.fnmatch_lines_random(
        ["qa/evals/cases/results/c.yaml::finds-it", "qa/evals/config.yaml::reviewing-token-efficiency"]
    )
    result.stdout.no_fnmatch_line("*2026-11-30*")
