"""The scorecard in the reports: a section and a column of their own, true to the last evaluation, never a verdict."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_skillbench.cli import main

from .records import UNGATED, write_run, write_skill


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a scored run, an evaluated skill, and one that was only evaluated."""
    write_skill(tmp_path, "reviewing", {"one": UNGATED})
    write_skill(tmp_path, "writing")
    write_run(tmp_path, "reviewing", {"one": "WWWWW"})
    for skill in ("reviewing", "writing"):
        folder = tmp_path / "evals/cases" / skill
        folder.mkdir(parents=True)
        (folder / "cases.yaml").write_text(
            f"name: finds it\nskill: {skill}\ncategory: output-quality\ninput: Look.\n"
            "expected:\n  output_contains: [found]\n"
        )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def page(repo: Path, name: str) -> str:
    """Score and return a report."""
    main(["score"])
    return (repo / f"tests/.reports/{name}").read_text()


def test_without_an_evaluation_there_is_nothing_of_it(repo: Path) -> None:
    """Who does not use the scorecard sees none of it."""
    assert "Scorecard" not in page(repo, "reviewing.html")
    assert "Scorecard" not in page(repo, "index.html")
    assert "Scorecard" not in page(repo, "summary.md")


def test_the_last_evaluation_is_shown_with_what_is_missing(repo: Path) -> None:
    """What was not observed has no number, and an overall of a few dimensions is in no table of all."""
    assert main(["scorecard"]) == 3
    report = page(repo, "reviewing.html")
    section = report[report.index('class="card"') :].partition("</section>")[0]
    assert "a lint and a guard against drift, not proof of quality" in section
    assert re.search(r"Output quality.*?<td>—</td>.*?not run", section, re.DOTALL)
    assert re.search(r"Token efficiency.*?<td>100.0</td>", section, re.DOTALL)
    assert "over the dimensions that were observed" in section
    assert "Trend" not in section
    for name in ("index.html", "summary.md"):
        board = page(repo, name)
        assert "Scorecard" in board
        assert "incomplete" in board
        assert "100.0" not in board
    assert page(repo, "index.html").count('data-l="Scorecard"') == 2


def test_the_trend_is_over_the_evaluations(repo: Path) -> None:
    """Each evaluation is one point, oldest first; the figures shown are the last one's."""
    for _ in range(3):
        main(["scorecard"])
    report = page(repo, "reviewing.html")
    trend = report[report.index('"note">Trend: ') :].partition("</p>")[0]
    assert trend.count("incomplete") == 3
    assert "-3.yaml" in report


def test_it_touches_no_verdict(repo: Path) -> None:
    """Badges, headline and exit code are the same with and without an evaluation."""
    before = main(["score"])
    badges = re.findall(r'<div class="badge.*?</div>', page(repo, "reviewing.html"), re.DOTALL)
    main(["scorecard"])
    assert main(["score"]) == before
    assert re.findall(r'<div class="badge.*?</div>', page(repo, "reviewing.html"), re.DOTALL) == badges


def test_an_evaluation_that_can_not_be_read_is_said(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The others still stand, and the reports are written."""
    main(["scorecard"])
    (repo / "evals/results/2020-01-01.yaml").write_text("date: [")
    capsys.readouterr()
    report = page(repo, "reviewing.html")
    assert "warning: evals/results/2020-01-01.yaml" in capsys.readouterr().out
    assert "Scorecard" in report


@pytest.mark.parametrize("skill", ["reviewing", "writing"])
def test_hostile_text_stays_text(repo: Path, skill: str) -> None:
    """A place comes from its author, and what can't be used is told with it; also where the skill has no run."""
    cases = repo / f"evals/cases/{skill}/cases.yaml"
    cases.rename(cases.with_name("<script>alert(1)<|>.yaml"))
    (cases.parent / "<b>.yaml").write_text("name: [")
    main(["scorecard"])
    found = page(repo, f"{skill}.html")
    assert "<script>" not in found
    assert "<b>.yaml" not in found
    assert "&lt;b&gt;.yaml" in found


def test_a_skill_that_was_only_evaluated_has_a_report(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is of the scorecard alone, says that there is no verdict, and the leaderboard leads to it."""
    assert 'href="writing.html"' not in page(repo, "index.html")
    main(["scorecard"])
    capsys.readouterr()
    found = page(repo, "writing.html")
    assert "report: tests/.reports/writing.html" in capsys.readouterr().out
    assert 'class="card"' in found
    assert "No head-to-head yet, so there is no verdict. It has no case for one. To add one:" in found
    assert 'class="badge' not in found
    assert 'href="writing.html"' in page(repo, "index.html")
    (repo / "tests/.reports/writing.html").unlink()
    main(["score", "reviewing"])
    assert (repo / "tests/.reports/writing.html").read_text() == found  # the leaderboard leads to it


def test_a_run_replaces_the_report_of_the_scorecard_alone(repo: Path) -> None:
    """With a run there are badges, and the scorecard is a section."""
    main(["scorecard"])
    assert 'class="badge' not in page(repo, "writing.html")
    write_skill(repo, "writing", {"one": UNGATED})
    assert "No head-to-head yet, so there is no verdict. Not run yet: 1 case is waiting. To run them:" in page(
        repo, "writing.html"
    )
    write_run(repo, "writing", {"one": "WWWWW"})
    found = page(repo, "writing.html")
    assert 'class="badge' in found
    assert 'class="card"' in found
