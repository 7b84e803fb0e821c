"""Scoring and writing: what a damaged record does, and what two writers at once do to each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_skillbench import history, project, scoring, tree
from pytest_skillbench.cli import main
from pytest_skillbench.errors import ProjectError

from .records import CASE, UNGATED, write_run, write_skill

RUN = "tests/.reports/reviewing.run"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a project with one skill, one case and a complete three-arm run that is green twice."""
    write_skill(tmp_path, "reviewing", {"one": CASE})
    write_run(tmp_path, "reviewing", {"one": ("WWWWW", "TTTTT")})
    return tmp_path


def score(repo: Path) -> scoring.Scored:
    """Score the only skill of a project."""
    found = tree.discover(project.find(repo))
    return scoring.score(found.project, found.skills[0])


def verdicts(repo: Path) -> tuple[str, str]:
    """Return the two verdicts of the only skill, which must be scored."""
    result = score(repo).result
    assert result is not None
    return result.verdict("efficacy").verdict, result.verdict("regression").verdict


def test_a_complete_run_is_green(repo: Path) -> None:
    """The fixture of this module is what it says, so that the damage below is what turns it."""
    assert verdicts(repo) == ("pass", "pass")


@pytest.mark.parametrize(
    "damage",
    [
        "{",
        '{"schema_version": 1}',
        '{"schema_version": 1, "schema_version": 1}',
        "NaN",
        "\ufeff{}",
        "",
        "[" * 50_000,
    ],
)
def test_damaged_record_files_are_invalid_and_named(repo: Path, damage: str) -> None:
    """Files that can't be used void their trials, are named with their path, and never stay green."""
    for number in (1, 2, 3):
        (repo / RUN / f"arms/one.{number}.new-skill.json").write_text(damage)
    item = score(repo)
    assert item.result is not None
    assert verdicts(repo) == ("incomplete", "incomplete")
    assert len(item.result.problems) == 3
    assert all(RUN in problem for problem in item.result.problems)


@pytest.mark.parametrize("kind", ["arms", "judgements", "outputs"])
def test_missing_files_are_never_green(repo: Path, kind: str) -> None:
    """A whole folder gone is half a run: incomplete on both axes, not an average over what is left."""
    for file in (repo / RUN / kind).iterdir():
        file.unlink()
    assert verdicts(repo) == ("incomplete", "incomplete")


def test_an_output_that_is_not_what_was_judged_is_invalid(repo: Path) -> None:
    """Editing an output after the fact voids its trials: the judgement speaks of other bytes."""
    for number in (1, 2, 3):
        (repo / RUN / f"outputs/one.{number}.new-skill.md").write_text("A much better answer.")
    assert verdicts(repo) == ("incomplete", "incomplete")


def test_records_of_another_run_are_not_counted(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Arms of an earlier run that lie in the folder are named and never reused."""
    other = tmp_path_factory.mktemp("other")
    write_skill(other, "reviewing", {"one": CASE})
    write_run(other, "reviewing", {"one": ("WWWWW", "TTTTT")}, run_id="20200101T000000Z-abcdef")
    for file in (other / RUN / "arms").iterdir():
        (repo / RUN / "arms" / file.name).write_bytes(file.read_bytes())
    assert verdicts(repo) == ("incomplete", "incomplete")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"trials": 0}, "$.trials"),
        ({"trials": 26}, "$.trials"),
        ({"shape": "one-arm"}, "$.shape"),
        ({"seed": "x"}, "$.seed"),
    ],
)
def test_a_plan_that_cant_be_used_breaks_the_run_only(repo: Path, change: dict[str, object], place: str) -> None:
    """Without a plan nothing means anything: the state is broken, with the place, and exit code 2."""
    plan = json.loads((repo / RUN / "plan.json").read_text())
    (repo / RUN / "plan.json").write_text(json.dumps({**plan, **change}))
    item = score(repo)
    assert item.state == "broken"
    assert item.result is None
    assert place in str(item.problems[0])
    assert main(["-C", str(repo), "score"]) == 2


def test_a_missing_plan_is_broken_and_an_empty_folder_is_no_run(repo: Path) -> None:
    """A record without its plan is damage; no files at all is simply no run, which is not green either."""
    (repo / RUN / "plan.json").unlink()
    assert score(repo).state == "broken"
    for file in sorted((repo / RUN).rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    assert score(repo).state == "no-run"
    assert main(["-C", str(repo), "score", "--no-report"]) == 3


def test_a_skill_without_cases_is_not_green(tmp_path: Path) -> None:
    """No cases and no run: said, and not exit code 0."""
    write_skill(tmp_path, "reviewing", {})
    (tmp_path / "tests").mkdir()
    assert score(tmp_path).state == "no-cases"
    assert main(["-C", str(tmp_path), "score", "reviewing", "--no-report"]) == 3


@pytest.mark.parametrize(
    ("strips", "code"), [(("WWWWW", "TTTTT"), 0), (("WWWWW", "LLTTT"), 1), (("TTTTT", "TTTTT"), 1)]
)
def test_exit_codes_say_the_colour(tmp_path: Path, strips: tuple[str, str], code: int) -> None:
    """Green 0, red 1, on either axis."""
    write_skill(tmp_path, "reviewing", {"one": UNGATED})
    write_run(tmp_path, "reviewing", {"one": strips})
    assert main(["-C", str(tmp_path), "score", "--no-report"]) == code


def test_incomplete_is_exit_code_three(repo: Path) -> None:
    """Not known is neither green nor red."""
    for number in (1, 2, 3):
        (repo / RUN / f"arms/one.{number}.no-skill.json").unlink()
    assert main(["-C", str(repo), "score", "--no-report"]) == 3


def test_scorings_at_once_lose_nothing(tmp_path: Path) -> None:
    """Processes that score different runs into one reports folder leave one whole history line for each run."""
    write_skill(tmp_path, "reviewing", {"one": CASE})
    runs = []
    for number in range(6):
        into = tmp_path / f"runs-{number}"
        write_run(tmp_path, "reviewing", {"one": "WWWTT"}, into=into, run_id=f"20261130T22100{number}Z-7f3a9c")
        runs.append(into)
    command = [sys.executable, "-m", "pytest_skillbench", "score", "--reports", "out", "--runs"]
    started = [subprocess.Popen([*command, str(into)], cwd=tmp_path, stdout=subprocess.DEVNULL) for into in runs]
    assert [process.wait() for process in started] == [0] * len(runs)
    found = history.read((tmp_path / "out/reviewing.history.jsonl").read_bytes(), "h")
    assert not found.problems
    assert len({line.run_id for line in found.lines}) == len(runs)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_reports_folder_that_cant_be_written_is_a_clear_error(repo: Path) -> None:
    """A file where the folder should be: exit code 2 and one line, and the old files stay whole."""
    blocked = repo / "blocked"
    blocked.write_text("a file")
    found = tree.discover(project.find(repo, reports=blocked))
    with pytest.raises(ProjectError, match="can't write the reports"):
        scoring.write(found, [scoring.score(found.project, found.skills[0])])
    assert os.listdir(repo).count("blocked") == 1


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    """Scripts, control characters and overrides that an agent wrote reach page and history as visible text."""
    write_skill(tmp_path, "reviewing", {"one": CASE})
    write_run(
        tmp_path,
        "reviewing",
        {"one": ("LLLLL", "LLLLL")},
        rationale="</script><img src=x onerror=alert(1)>\x1b[31m\u202e",
    )
    assert main(["-C", str(tmp_path), "score"]) == 1
    page = (tmp_path / "tests/.reports/reviewing.html").read_text()
    assert "<img" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in page


def test_reports_elsewhere_do_not_hide_the_runs(tmp_path: Path) -> None:
    """Writing the report to another folder changes no verdict: a red run stays red."""
    write_skill(tmp_path, "reviewing", {"one": CASE})
    write_run(tmp_path, "reviewing", {"one": ("LLLLL", "TTTTT")})
    assert main(["-C", str(tmp_path), "score", "--reports", "elsewhere"]) == 1
    assert (tmp_path / "elsewhere/reviewing.html").is_file()


@pytest.mark.parametrize("figure", [10**400, 10**30, -1])
def test_absurd_figures_are_refused_with_their_place(repo: Path, figure: int) -> None:
    """A token count that no provider could have sent makes the arm unusable; it neither crashes nor is summed."""
    file = repo / RUN / "arms/one.1.new-skill.json"
    arm = json.loads(file.read_text())
    arm["requests"][0]["input"] = figure
    file.write_text(json.dumps(arm))
    item = score(repo)
    assert item.result is not None
    (problem,) = item.result.problems
    assert "arms/one.1.new-skill.json" in problem


def test_a_response_recorded_twice_is_counted_once(repo: Path) -> None:
    """A doubled entry does not raise the sum, and the figure says that something was odd."""
    clean = score(repo).result
    file = repo / RUN / "arms/one.1.new-skill.json"
    arm = json.loads(file.read_text())
    arm["requests"].append(arm["requests"][0])
    file.write_text(json.dumps(arm))
    doubled = score(repo).result
    assert clean is not None
    assert doubled is not None
    before, after = clean.costs[0].usage, doubled.costs[0].usage
    assert before is not None
    assert after is not None
    assert after.raw == before.raw
    assert (before.complete, after.complete) == (True, False)


def test_an_answer_without_usage_is_unknown_not_zero(repo: Path) -> None:
    """An empty list of requests of an arm that answered is a gap: the row is a lower bound."""
    file = repo / RUN / "arms/one.1.new-skill.json"
    arm = json.loads(file.read_text())
    file.write_text(json.dumps({**arm, "requests": []}))
    result = score(repo).result
    assert result is not None
    assert result.costs[0].runs == 4
    assert result.costs[0].usage is not None
    assert not result.costs[0].usage.complete


@pytest.mark.parametrize("numbers", [[99], [1, 1]])
def test_judgements_about_criteria_that_are_not_there_are_malformed(repo: Path, numbers: list[int]) -> None:
    """A criterion that the case does not have, or one judged twice, voids the judgement."""
    for trial in (1, 2, 3):
        file = repo / RUN / f"judgements/one.{trial}.efficacy.json"
        found = json.loads(file.read_text())
        one = {"criterion": 1, "better": "A", "because": "x", "quote_a": None, "quote_b": None}
        file.write_text(json.dumps({**found, "criteria": [{**one, "criterion": number} for number in numbers]}))
    assert verdicts(repo) == ("incomplete", "pass")


def test_a_run_record_that_is_a_file_is_broken(tmp_path: Path) -> None:
    """Something else in the record's place is damage, not "no run"."""
    write_skill(tmp_path, "reviewing", {"one": CASE})
    (tmp_path / "tests/.reports").mkdir()
    (tmp_path / RUN).write_text("x")
    assert score(tmp_path).state == "broken"


def test_a_void_trial_of_a_passing_case_is_told_with_its_reason(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pass that rests on fewer trials than were planned never looks like a whole one."""
    (repo / RUN / "judgements/one.5.regression.json").unlink()
    monkeypatch.chdir(repo)
    main(["score"])
    told = capsys.readouterr().out
    assert "Regression PASS" in told
    assert "one: regression trial 5 is INVALID: judgement missing: no judge has answered" in told
