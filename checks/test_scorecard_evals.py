"""The ``evals/`` of this repository: whole, well-formed, and with nothing in its baseline that was not observed."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from pytest_skillbench import project, tree
from pytest_skillbench.scorecard.baseline import parse
from pytest_skillbench.scorecard.cases import has_checks
from pytest_skillbench.scorecard.dimensions import mean
from pytest_skillbench.scorecard.discover import Found, discover
from pytest_skillbench.scorecard.evaluate import evaluate
from pytest_skillbench.scorecard.grading import dimensions_of, polarity
from pytest_skillbench.scorecard.records import DIMENSIONS, EvalCase

ROOT = Path(__file__).parent.parent
SKILLS = ("benchmark-skill", "decision-record", "release-notes")


@pytest.fixture(scope="module")
def found() -> Found:
    """Return this repository's evals."""
    return discover(tree.discover(project.find(ROOT)))


def test_everything_is_well_formed(found: Found) -> None:
    """No problem at all, and the three skills are the config's targets."""
    assert found.problems == ()
    assert found.lost == {}
    assert tuple(found.cases) == found.config.targets == SKILLS
    assert sum(found.config.weights.values()) == 1


@pytest.mark.parametrize("skill", SKILLS)
def test_every_skill_has_its_cases(found: Found, skill: str) -> None:
    """At least three in each required category, and in each dimension that is observed at least one."""
    counts = Counter(polarity(case) for case in found.cases[skill])
    assert all(counts[category] >= found.config.min_cases for category in found.config.required), counts
    observed = {dimension for case in found.cases[skill] for dimension in dimensions_of(case)}
    assert observed == set(DIMENSIONS[:-1])


def test_one_file_is_in_chinese(found: Found) -> None:
    """With names, inputs and keywords in Chinese, and names that nodes and files can have."""
    cases = [case for case in found.cases["decision-record"] if case.file.endswith("zh.yaml")]
    assert len(cases) == 3
    assert all(any("\u4e00" <= char <= "\u9fff" for char in case.name + case.input) for case in cases)
    assert len({case.slug for case in cases}) == 3


def everything(found: Found) -> list[EvalCase]:
    """Return all cases of all skills."""
    return [case for cases in found.cases.values() for case in cases]


def test_cases_give_nothing_away(found: Found) -> None:
    """An input that names the skill would ask whether a model can read; benchmark-skill alone is asked for by name."""
    for case in everything(found):
        if case.is_probe and case.skill != "benchmark-skill":
            assert case.skill not in case.input
        if not case.is_probe:
            assert has_checks(case.expected) or case.expected.tools_used


def test_the_baseline_holds_nothing_that_was_not_observed(found: Found) -> None:
    """A score that is absent is named in the row, and a row that lacks one has no overall score."""
    baseline, problems = parse((ROOT / "evals/baseline.yaml").read_bytes(), "evals/baseline.yaml")
    assert problems == ()
    assert baseline is not None
    assert tuple(baseline.skills) == SKILLS
    for name, row in baseline.skills.items():
        assert "token_efficiency" in row.scores
        assert (row.skill_words or 0) > 0
        hidden = {"trigger_accuracy"} if name == "benchmark-skill" else set()
        absent = set(DIMENSIONS) - set(row.scores) - hidden
        assert all(f"incomplete: {dimension}" in (row.forced or "") for dimension in absent)
        assert (row.overall is None) == bool(absent)
    assert baseline.overall_score == mean(row.overall for row in baseline.skills.values())


def test_the_repository_without_a_run(tmp_path: Path) -> None:
    """A clone that nobody ran the cases in: all of them are counted and named, and nothing is green."""
    for name in ("skills", "tests", "evals"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns(".reports", "results"))
    made = evaluate(tree.discover(project.find(tmp_path)), (), date="2026-11-30")
    assert made.problems == ()
    summary = made.evaluation.summary
    assert (summary.status, summary.skills_incomplete) == ("incomplete", 3)
    trigger = made.evaluation.results["benchmark-skill"].dimensions["trigger_accuracy"]
    assert trigger.status == "not-applicable"
    assert summary.eval_cases_ungraded == summary.eval_cases_total - 6  # those that do not apply
    for skill in made.evaluation.results.values():
        assert skill.dimensions["token_efficiency"].status in ("OK", "WARN", "UP")
