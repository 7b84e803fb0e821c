"""The seed's single seam: recorded runs in; metrics, verdicts, report, history and leaderboard out, in both shapes.

What must come out was written by hand (`checks/golden/expected.py`), not computed by the program.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_skillbench import history, project, scoring, tree
from pytest_skillbench.model import COMPARISONS, SkillResult
from pytest_skillbench.scoring import Scored

from .golden import expected

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "checks" / "golden"
LETTERS = {"WIN": "W", "TIE": "T", "LOSS": "L", "GATE": "G", "INVALID": "I"}


def scored(skill: str, runs: Path, reports: Path) -> tuple[tree.Tree, Scored]:
    """Score one skill of this repository from the run records in a folder."""
    found = tree.discover(project.find(ROOT, runs=runs, reports=reports))
    entry = found.skill(skill)
    assert entry is not None
    return found, scoring.score(found.project, entry)


def result_of(item: Scored) -> SkillResult:
    """Return the result of a skill that must have one."""
    assert item.state == "scored", item.problems
    assert item.result is not None
    return item.result


@pytest.mark.parametrize("skill", expected.RUNS)
def test_verdicts_and_metrics_are_those_written_by_hand(skill: str, tmp_path: Path) -> None:
    """Outcomes, counts, nets, verdicts, chips, token sums, turns and cost of a complete run, to the last digit."""
    result = result_of(scored(skill, GOLDEN / "runs", tmp_path)[1])
    want = expected.RUNS[skill]
    assert result.plan.shape == want.shape
    assert result.problems == result.stale == ()
    for comparison in COMPARISONS:
        got, badge = result.verdict(comparison.name), want.badges[comparison.name]
        for field in ("verdict", "cases_passed", "wins", "ties", "losses", "gates", "invalid", "net"):
            assert getattr(got, field) == getattr(badge, field), field
    for case in result.cases:
        for part in case.comparisons:
            check_comparison(part, want.cases[case.case.name][part.comparison])
    assert {cost.arm for cost in result.costs} == set(want.costs)
    for cost in result.costs:
        usage, row = cost.usage, want.costs[cost.arm]
        assert usage is not None
        assert (cost.runs, cost.turns) == (row.runs, row.turns)
        for field in ("api_calls", "input", "cache_write_5m", "cache_write_1h", "cache_read", "output"):
            assert getattr(usage, field) == getattr(row, field), (cost.arm, field)
        assert usage.complete
        assert usage.cost_usd == pytest.approx(row.cost_usd, rel=1e-12)
        assert usage.cost_equivalent_tokens == pytest.approx(row.cost_equivalent_tokens, rel=1e-12)


def check_comparison(part: object, want: object) -> None:
    """Compare one case's part with what was written by hand."""
    letters = "".join(LETTERS[trial.outcome] for trial in part.trials)  # type: ignore[attr-defined] # a CaseComparison
    assert letters == want.outcomes  # type: ignore[attr-defined] # an expected.Comparison
    for field in ("wins", "ties", "losses", "gates", "invalid", "net", "verdict", "narrowest"):
        assert getattr(part, field) == getattr(want, field), (want, field)


@pytest.mark.parametrize("variant", expected.VARIANTS)
def test_damaged_runs_have_the_verdicts_written_by_hand(variant: str, tmp_path: Path) -> None:
    """A failed gate fails efficacy outright; half a run with contaminated and missing arms is incomplete, not green."""
    skill, cases = expected.VARIANTS[variant]
    result = result_of(scored(skill, GOLDEN / "variants" / variant, tmp_path)[1])
    for case in result.cases:
        for part in case.comparisons:
            check_comparison(part, cases[case.case.name][part.comparison])


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Path]:
    """Write the reports of both golden runs and return their folder."""
    found, _ = scored("release-notes", GOLDEN / "runs", tmp_path)
    scoring.write(found, [scoring.score(found.project, skill) for skill in found.skills])
    return tmp_path  # type: ignore[return-value] # a fixture may return


def test_reports_history_and_leaderboard_are_written_together(written: Path) -> None:
    """One report a skill, one history line a run, the leaderboard and the summary, all naming the same numbers."""
    names = {path.name for path in written.iterdir() if not path.name.startswith(".")}
    assert {"index.html", "summary.md", "release-notes.html", "decision-record.html"} <= names
    lines = history.read((written / "release-notes.history.jsonl").read_bytes(), "h").lines
    assert [(line.efficacy.net, line.regression and line.regression.net) for line in lines] == [(11, -2)]
    two = history.read((written / "decision-record.history.jsonl").read_bytes(), "h").lines
    assert [(line.shape, line.efficacy.net, line.regression) for line in two] == [("two-arm", 13, None)]
    index = (written / "index.html").read_text()
    assert index.index("release-notes.html") < index.index("decision-record.html")  # red before green
    summary = (written / "summary.md").read_text()
    assert "release-notes" in summary
    assert "decision-record" in summary


def test_scoring_again_gives_the_same_bytes(written: Path) -> None:
    """Reports, history and leaderboard are a function of the record: a second scoring changes no byte."""
    before = {path.name: path.read_bytes() for path in written.iterdir() if not path.name.startswith(".")}
    found, _ = scored("release-notes", GOLDEN / "runs", written)
    scoring.write(found, [scoring.score(found.project, skill) for skill in found.skills])
    assert {path.name: path.read_bytes() for path in written.iterdir() if not path.name.startswith(".")} == before


def test_the_report_says_what_it_is(written: Path) -> None:
    """Three rows of cost, both ribbons, both verdicts, and the word that the data is an example."""
    page = (written / "release-notes.html").read_text()
    for text in ("Regression", "Efficacy", "previous-version", "no-skill", "new-skill", "example data"):
        assert text.casefold() in page.casefold(), text
    two = (written / "decision-record.html").read_text()
    assert "n/a" in two
    assert "previous-version" not in two.split("<main")[1].split("Cases")[0]


def test_a_changed_case_is_stale_and_scored_from_the_frozen_copy(tmp_path: Path) -> None:
    """Editing a case, a fixture or the skill after the run says so and changes no verdict."""
    copy = tmp_path / "repo"
    for part in ("skills", "tests"):
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns(".reports"))
    case = copy / "tests/writing/release-notes/reverted-feature/case.md"
    case.write_text(case.read_text() + "- One more criterion.\n")
    found = tree.discover(project.find(copy, runs=GOLDEN / "runs", reports=tmp_path / "out"))
    entry = found.skill("release-notes")
    assert entry is not None
    result = result_of(scoring.score(found.project, entry))
    assert result.stale == ("case reverted-feature has changed: case.md differs from what was run",)
    assert result.verdict("efficacy").net == 11
