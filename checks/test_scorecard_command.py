"""``skillbench scorecard`` as a user types it: what it prints, keeps, asks and returns."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_skillbench import project, tree
from pytest_skillbench.cli import main
from pytest_skillbench.errors import ProjectError
from pytest_skillbench.scorecard import update
from pytest_skillbench.scorecard.evaluate import evaluate
from pytest_skillbench.scorecard.table import width

from .scorecards import write_cases, write_run, write_skill

BASELINE = """\
# confirmed in March
version: "2026-03-17"
skills:
  reviewing:
    output_quality: 100.0   # hard won
    token_efficiency: 100.0
    overall: 100.0
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a project with one skill, its cases, and a run in which all was as expected."""
    write_skill(tmp_path)
    write_cases(tmp_path)
    write_run(tmp_path)
    return tmp_path


def call(repo: Path, *arguments: str) -> int:
    """Run the command in a project."""
    return main(["-C", str(repo), "scorecard", *arguments])


def said(repo: Path, capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    """Run it with ``--json`` and return what it printed."""
    capsys.readouterr()
    assert call(repo, "--json", *arguments) == code
    return json.loads(capsys.readouterr().out)


def results(repo: Path) -> list[str]:
    """Return the names of the evaluations that were kept."""
    folder = repo / "evals/results"
    return sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []


def run_apart(repo: Path, *arguments: str, encoding: str = "utf-8") -> subprocess.CompletedProcess[bytes]:
    """Run it as a program of its own, whose output is in this encoding."""
    return subprocess.run(
        [sys.executable, "-m", "pytest_skillbench", "-C", str(repo), "scorecard", *arguments],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


def test_the_table(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Framed, with the dimensions of what moved, the regressions, and what a scorecard is not."""
    (repo / "evals/baseline.yaml").write_text(BASELINE)
    write_run(repo, {"says-it": "-"})
    assert call(repo) == 1
    text = capsys.readouterr().out
    assert text.startswith(f"╔{'═' * 62}╗\n")
    assert "│ reviewing │  75.0 │    100.0 │ −25.0 │ BLOCKED │" in text
    assert "  output_quality      0.0 (baseline 100.0, −100.0) BLOCKED: past -20" in text
    assert "  trigger_accuracy  100.0 count 3 NEW" in text
    assert "Regressions\n  reviewing: output_quality −100.0 (BLOCKED: past -20)\n" in text
    assert "not proof of quality" in text
    (name,) = results(repo)
    assert text.endswith(f"Evaluation: evals/results/{name}\n")


def test_exit_codes(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0 all observed and nothing BLOCKED, 3 incomplete, 1 BLOCKED whatever else is missing, 2 broken input."""
    assert call(repo) == 0
    write_run(repo, {"reads": "t"})
    assert call(repo) == 3
    (repo / "evals/baseline.yaml").write_text(BASELINE)
    write_run(repo, {"reads": "t", "says-it": "-"})
    assert call(repo) == 1
    write_cases(repo, text="name: yes\n", file="bad.yaml")
    assert call(repo) == 2
    assert 'evals/cases/reviewing/bad.yaml:1: "name" "yes" is a boolean to YAML' in capsys.readouterr().err
    assert len(results(repo)) == 4  # a malformed case stops nothing


def test_a_required_comparison_without_a_baseline(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Incomplete until the first baseline is made, which is allowed then."""
    (repo / "evals/config.yaml").write_text("baseline: {require_comparison: true}\n")
    assert call(repo) == 3
    assert call(repo, "--update-baseline", "--yes") == 0
    assert call(repo) == 0
    assert "overall: 100.0" in (repo / "evals/baseline.yaml").read_text()


def test_nothing_to_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A repository without eval cases is incomplete, and nothing is written into it."""
    write_skill(tmp_path)
    assert call(tmp_path) == 3
    text = capsys.readouterr().out
    assert "No skill was evaluated." in text
    assert "Not evaluated, without eval cases or not in target_skills: reviewing" in text
    assert not (tmp_path / "evals").exists()


def test_another_evals_root(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The root is a setting."""
    (repo / "tests/skillbench.yaml").write_text("evals_root: quality/evals\n")
    (repo / "quality").mkdir()
    (repo / "evals").rename(repo / "quality/evals")
    found = said(repo, capsys)
    assert found["path"].startswith("quality/evals/results/")
    assert found["evaluation"]["summary"]["eval_cases_total"] == 6


def test_json(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One object: problems, path, state of the baseline, evaluation, with numbers as they are spelled in the file."""
    found = said(repo, capsys)
    assert set(found) == {"schema_version", "problems", "path", "baseline", "evaluation"}
    assert found["evaluation"]["summary"]["overall_score"] == 100.0
    assert found["baseline"] == "not asked for"
    assert found["evaluation"] == yaml.safe_load((repo / found["path"]).read_text())


@pytest.mark.parametrize("option", ["--yes", "--force"])
def test_options_that_mean_nothing_alone(repo: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """They are for the baseline."""
    assert call(repo, option) == 2
    assert f"{option}: means nothing without --update-baseline" in capsys.readouterr().err


def test_an_unknown_skill(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A message with what was probably meant, and no evaluation."""
    assert call(repo, "--skill", "reviewign") == 2
    assert 'no skill "reviewign"; did you mean "reviewing"?' in capsys.readouterr().err
    assert results(repo) == []


# -- the last evaluation -----------------------------------------------------------------------------------------------


def test_report_only_runs_nothing(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It shows the last evaluation, whatever is there now, writes none, and needs one."""
    assert call(repo, "--report-only") == 2
    assert "no evaluation" in capsys.readouterr().err
    (repo / "evals/baseline.yaml").write_text(BASELINE)
    write_run(repo, {"says-it": "-"})
    assert call(repo) == 1
    before = capsys.readouterr().out
    write_run(repo)
    assert call(repo, "--report-only") == 1
    assert capsys.readouterr().out == before
    assert call(repo, "--report-only", "--skill", "reviewing") == 1
    assert len(results(repo)) == 1


def test_report_only_says_what_is_broken(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that was changed is refused with its place and never half shown."""
    assert call(repo) == 0
    (name,) = results(repo)
    path = repo / "evals/results" / name
    path.write_text(path.read_text().replace("type: scorecard", "type: good"))
    assert call(repo, "--report-only") == 2
    assert f"evals/results/{name}: $.type: Invalid enum value" in capsys.readouterr().err


# -- the baseline ------------------------------------------------------------------------------------------------------


def test_the_baseline_is_updated_in_place(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The change is shown, comments stay, the evaluation says that it is the baseline."""
    (repo / "evals/baseline.yaml").write_text(BASELINE.replace("100.0   # hard", "90.0   # hard"))
    assert call(repo, "--update-baseline", "--yes") == 0
    text = capsys.readouterr().out
    assert "\n-    output_quality: 90.0   # hard won\n" in text
    assert "\n+    output_quality: 100.0   # hard won\n" in text
    assert "Updated evals/baseline.yaml." in text
    written = (repo / "evals/baseline.yaml").read_text()
    assert written.startswith("# confirmed in March\n")
    found = yaml.safe_load(written)
    row = found["skills"]["reviewing"]
    assert (found["overall_score"], row["overall"], row["tool_usage"], row["eval_count"]) == (100.0, 100.0, 100.0, 6)
    assert row["skill_lines"] == 5
    assert "forced" not in row
    (name,) = results(repo)
    assert yaml.safe_load((repo / "evals/results" / name).read_text())["is_baseline"] is True
    assert call(repo, "--update-baseline") == 0  # nothing to ask
    assert "says just this already" in capsys.readouterr().out


def test_an_old_evaluation_is_no_baseline(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It was held to the baseline of its day, so what is BLOCKED now would be confirmed: refused, nothing written."""
    assert call(repo) == 0
    (repo / "evals/baseline.yaml").write_text(BASELINE)
    assert call(repo, "--report-only", "--update-baseline", "--yes") == 2
    assert "--update-baseline: can't be confirmed from an old evaluation" in capsys.readouterr().err
    assert (repo / "evals/baseline.yaml").read_text() == BASELINE


@pytest.mark.parametrize("place", ["overall_score", "tool_usage", "overall", "eval_cases_total"])
def test_totals_that_the_rows_do_not_come_to(repo: Path, capsys: pytest.CaptureFixture[str], place: str) -> None:
    """A file whose total was changed by hand is refused with the place, whichever total it is."""
    assert call(repo) == 0
    (name,) = results(repo)
    path = repo / "evals/results" / name
    path.write_text(re.sub(rf"\b{place}: [0-9.]+", f"{place}: 960", path.read_text(), count=1))
    capsys.readouterr()
    assert call(repo, "--report-only") == 2
    error = capsys.readouterr().err
    assert f"evals/results/{name}: $." in error
    assert "by its rows" in error


def test_a_baseline_that_somebody_else_wrote_meanwhile(repo: Path) -> None:
    """What is written is what was shown: a change in between is never lost."""
    found = tree.discover(project.find(repo))
    made = evaluate(found, (), date="2026-11-30")
    proposal = update.propose(found.project, "evals/baseline.yaml", made.evaluation, None)
    (repo / "evals/baseline.yaml").write_text(BASELINE)
    with pytest.raises(ProjectError, match="it was changed meanwhile"):
        update.write(found.project, proposal)
    assert (repo / "evals/baseline.yaml").read_text() == BASELINE


@pytest.mark.parametrize("letter", ["-", "t"])
def test_a_baseline_that_would_hide_something(repo: Path, letter: str, capsys: pytest.CaptureFixture[str]) -> None:
    """BLOCKED or incomplete is refused, with the reasons; with --force it is written, and the file says so."""
    (repo / "evals/baseline.yaml").write_text(BASELINE)
    write_run(repo, {"says-it": letter})
    assert call(repo, "--update-baseline", "--yes") == (1 if letter == "-" else 3)
    reason = "output_quality is BLOCKED" if letter == "-" else "incomplete: output_quality: 1 of 1 ungraded"
    assert f"reviewing: {reason}" in capsys.readouterr().out
    assert (repo / "evals/baseline.yaml").read_text() == BASELINE
    assert call(repo, "--update-baseline", "--yes", "--force") == 0
    row = yaml.safe_load((repo / "evals/baseline.yaml").read_text())["skills"]["reviewing"]
    assert reason in row["forced"]
    assert row["output_quality"] == (0.0 if letter == "-" else 100.0)  # what was not observed stays as it was
    write_run(repo)
    assert call(repo, "--update-baseline", "--yes") == 0
    assert "forced" not in (repo / "evals/baseline.yaml").read_text()


def test_a_baseline_of_one_skill(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The other rows stay, and the overall score is of all rows that are then there."""
    (repo / "evals/baseline.yaml").write_text(BASELINE + "  other: {overall: 50.5}\n")
    assert call(repo, "--skill", "reviewing", "--update-baseline", "--yes") == 0
    found = yaml.safe_load((repo / "evals/baseline.yaml").read_text())
    assert found["skills"]["other"] == {"overall": 50.5}
    assert found["overall_score"] == 75.3  # 75.25, halves up


def test_incomplete_has_no_overall(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A forced baseline of a skill that was not observed has no overall score of what little there is."""
    write_run(repo, "?")
    assert call(repo, "--update-baseline", "--yes", "--force") == 0
    row = yaml.safe_load((repo / "evals/baseline.yaml").read_text())["skills"]["reviewing"]
    assert (row["token_efficiency"], "overall" in row, "output_quality" in row) == (100.0, False, False)


def test_nobody_to_ask(repo: Path) -> None:
    """In a script the change is shown, nothing is written, and the message says how to go on."""
    done = run_apart(repo, "--update-baseline")
    assert done.returncode == 2
    assert b"nobody to ask whether the baseline may be written; expected --yes in scripts" in done.stderr
    assert not (repo / "evals/baseline.yaml").exists()
    assert len(results(repo)) == 1


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 0), (b"\n", 0)])
def test_it_asks(repo: Path, answer: bytes, code: int) -> None:
    """On a terminal, and only a yes is one."""
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    done = subprocess.run(
        [sys.executable, "-m", "pytest_skillbench", "-C", str(repo), "scorecard", "--update-baseline"],
        stdin=theirs,
        capture_output=True,
        check=False,
    )
    os.close(theirs)
    os.close(ours)
    assert (done.returncode, done.stderr) == (code, b"Write this to evals/baseline.yaml? [y/N] ")
    assert (repo / "evals/baseline.yaml").exists() == answer.startswith(b"y")
    assert (b"The baseline was not updated." in done.stdout) != answer.startswith(b"y")


def test_a_baseline_that_is_broken(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is named, nothing is compared, kept or overwritten."""
    (repo / "evals/baseline.yaml").write_text("skills:\n  reviewing: {overall: 120}\n")
    assert call(repo, "--update-baseline", "--yes", "--force") == 2
    assert 'evals/baseline.yaml:2: "overall" is 120' in capsys.readouterr().err
    assert "120" in (repo / "evals/baseline.yaml").read_text()
    assert results(repo) == []


def test_a_config_that_is_broken(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is named, what can be shown is shown, and nothing is kept."""
    (repo / "evals/config.yaml").write_text("dimensions: {tool_usage: {weight: 0.5}}\n")
    assert call(repo) == 2
    captured = capsys.readouterr()
    assert "evals/config.yaml:1: the weights sum to 1.3" in captured.err
    assert "reviewing" in captured.out
    assert results(repo) == []


def test_an_automatic_update_never_lowers(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A fall within the limits, repeated, must not carry the baseline down with it; somebody confirms it or not."""
    (repo / "evals/config.yaml").write_text("baseline: {auto_update: true}\n")
    assert call(repo) == 0
    written = (repo / "evals/baseline.yaml").read_text()
    higher = re.sub(r"skill_words: (\d+)", lambda found: f"skill_words: {int(found[1]) - 1}", written)
    assert higher != written
    (repo / "evals/baseline.yaml").write_text(higher)
    capsys.readouterr()
    assert call(repo) == 0
    assert "The baseline was not updated by itself" in capsys.readouterr().out
    assert (repo / "evals/baseline.yaml").read_text() == higher


def test_automatic_update(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A config may ask for it: then a good evaluation becomes the baseline, and a bad one never does."""
    (repo / "evals/config.yaml").write_text("baseline: {auto_update: true}\n")
    assert call(repo) == 0
    written = (repo / "evals/baseline.yaml").read_text()
    write_run(repo, {"says-it": "-"})
    assert call(repo) == 1
    assert (repo / "evals/baseline.yaml").read_text() == written


@pytest.mark.parametrize("path", ["evals/config.yaml", "evals/baseline.yaml", "evals/results"])
def test_a_link_out_of_the_repository_is_neither_read_nor_written(
    repo: Path, tmp_path_factory: pytest.TempPathFactory, path: str
) -> None:
    """What is outside is not of this repository: it stays as it is, is told of, and counts for nothing."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "file").write_text("target_skills: [nobody]\n")
    (repo / path).symlink_to(outside if path.endswith("results") else outside / "file")
    asked = [[], ["--update-baseline", "--yes"], *([["--report-only"]] if path.endswith("results") else [])]
    for arguments in asked:
        done = run_apart(repo, *arguments)
        assert done.returncode == 2
        assert f"{path}: a link that leaves the repository".encode() in done.stderr
    assert [file.name for file in outside.iterdir()] == ["file"]
    assert (outside / "file").read_text() == "target_skills: [nobody]\n"


def test_names_that_are_no_evaluation(repo: Path) -> None:
    """A day that there is not is no evaluation, and not the last one."""
    assert call(repo) == 0
    (repo / "evals/results/9999-99-99.yaml").write_text("date: [")
    assert call(repo, "--report-only") == 0


# -- streams -----------------------------------------------------------------------------------------------------------


def test_wide_characters_are_aligned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every line of the frame takes as many cells as the others, in Chinese as well."""
    for path in ("代码审查", "writing"):
        write_skill(tmp_path, path)
        write_cases(tmp_path, path)
    assert call(tmp_path) == 3
    framed = [line for line in capsys.readouterr().out.split("\n") if line[:1] in "┌│├└" and line]
    assert len(framed) == 6
    assert len({width(line) for line in framed}) == 1
    assert len({len(line) for line in framed}) == 2


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_stream_that_can_not_hold_the_frame(tmp_path: Path, encoding: str) -> None:
    """Plain ASCII, still aligned, and no traceback for a name that it can't hold either."""
    write_skill(tmp_path, "代码审查")
    write_cases(tmp_path, "代码审查")
    for arguments in ((), ("--report-only",), ("--json",)):
        done = run_apart(tmp_path, *arguments, encoding=encoding)
        assert (done.returncode, done.stderr) == (3, b"")
        text = done.stdout.decode("ascii")
        if "--json" in arguments:
            assert list(json.loads(text)["evaluation"]["results"]) == ["代码审查"]
        else:
            assert text.startswith("+====")
            assert "| \\u4ee3\\u7801\\u5ba1\\u67e5 |" in text
            assert len({len(line) for line in text.split("\n") if line.startswith(("+-", "| \\u"))}) == 1


def test_hostile_words(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a model said moves no cursor and breaks no line."""
    folder = repo / "tests/.reports/reviewing.scorecard"
    path = folder / "observations/cases--asks-for-tea.1.json"
    made = json.loads(path.read_text())
    evil = "\x1b[2J\x07\r\nevil\u202e"
    path.write_text(json.dumps({**made, "status": "limit-hit", "triggered": None, "detail": evil}))
    assert call(repo) == 3
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "limit-hit: ␛[2J␇ evil" in text
