"""An evaluation and its file: every total can be computed again from the rows of the same file, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_skillbench import project, tree
from pytest_skillbench.errors import FormatError, ProjectError, UsageError
from pytest_skillbench.scorecard import lookup, past, resultsfile
from pytest_skillbench.scorecard.discover import read_config
from pytest_skillbench.scorecard.evaluate import Evaluated, evaluate
from pytest_skillbench.scorecard.records import DIMENSIONS
from pytest_skillbench.scorecard.scores import Evaluation, SkillScore

from .scorecards import write_cases, write_run, write_skill

NAMES = ("asks-for-it", "asks-again", "asks-for-tea", "says-it", "reads", "nothing-there")
DAY = "2026-11-30"
BASELINE = """\
version: "2026-03-17"
overall_score: 80.0
skills:
  reviewing: {trigger_accuracy: 90.0, output_quality: 100.0, tool_usage: 50.0, error_handling: 100.0,
              token_efficiency: 100.0, overall: 88.5, skill_words: 10}
"""


def at(root: Path, *names: str) -> Evaluated:
    """Evaluate a project."""
    return evaluate(tree.discover(project.find(root)), names, date=DAY)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a project with two skills that have cases."""
    for path in ("group/reviewing", "writing"):
        write_skill(tmp_path, path)
        write_cases(tmp_path, path.rsplit("/", 1)[-1])
    return tmp_path


# -- totals ------------------------------------------------------------------------------------------------------------


def tenth(value: Fraction) -> Decimal:
    """Return a fraction with one decimal, halves up, by integers."""
    return Decimal(int(value * 10 + Fraction(1, 2))) / 10


def average(values: list[Any]) -> Decimal | None:
    """Return the mean of what is there."""
    found = [Fraction(str(value)) for value in values if value is not None]
    return tenth(sum(found, Fraction(0)) / len(found)) if found else None


def same(one: object, other: object) -> bool:
    """Compare numbers by their value, None by itself."""
    return one is other or (one is not None and other is not None and Decimal(str(one)) == Decimal(str(other)))


def recompute(text: str) -> None:
    """Hold every total of an evaluation's file to its rows, read by nothing of ours."""
    file = yaml.safe_load(text)
    weights = {name: Fraction(str(value)) for name, value in file["weights"].items()}
    for skill in file["results"].values():
        for name in DIMENSIONS[:-1]:
            rows = [row for row in skill["rows"] if row["dimension"] == name]
            part = skill["dimensions"][name]
            graded = [Fraction(row["held"], row["of"]) for row in rows if "held" in row and "of" in row]
            assert len(rows) == part["rows"]
            assert len(rows) - len(graded) == part["ungraded"]
            wanted = tenth(sum(graded, Fraction(0)) * 100 / len(rows)) if rows and len(graded) == len(rows) else None
            if part["why"] is None or "probe" not in part["why"]:
                assert same(part["score"], wanted), name
            assert same(skill[name], part["score"])
        scores = {n: Fraction(str(skill[n])) for n in DIMENSIONS if skill[n] is not None}
        total = sum((weights[n] for n in scores), Fraction(0))
        assert same(skill["overall"], tenth(sum((weights[n] * v for n, v in scores.items()), Fraction(0)) / total))
        assert skill["ungraded"] == len({row["case"] for row in skill["rows"] if "ungraded" in row})
        applicable = [n for n in DIMENSIONS if skill["dimensions"][n]["state"] != "not-applicable"]
        assert skill["complete"] == (not skill["missing"])
        assert skill["complete"] <= all(skill[n] is not None for n in applicable)
    skills, summary = file["results"], file["summary"]
    assert same(summary["overall_score"], average([skill["overall"] for skill in skills.values()]))
    assert summary["skills_evaluated"] == len(skills)
    assert summary["skills_incomplete"] == sum(not skill["complete"] for skill in skills.values())
    assert summary["eval_cases_total"] == sum(skill["eval_count"] for skill in skills.values())
    assert summary["eval_cases_ungraded"] == sum(skill["ungraded"] for skill in skills.values())
    for name in DIMENSIONS:
        assert same(file["dimension_averages"][name], average([skill[name] for skill in skills.values()]))
    for name, deltas in file["comparison"]["deltas"].items():
        for dimension, delta in deltas.items():
            part = skills[name] if dimension == "overall" else skills[name]["dimensions"][dimension]
            score = skills[name]["overall"] if dimension == "overall" else part["score"]
            assert same(delta, Decimal(str(score)) - Decimal(str(part["baseline"])))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.dictionaries(st.sampled_from(NAMES), st.text("+-t?", min_size=2, max_size=2)),
    st.dictionaries(st.sampled_from(NAMES), st.text("+-", min_size=1, max_size=1)),
    st.booleans(),
)
def test_every_total_is_of_the_rows(
    repo: Path, one: Mapping[str, str], other: Mapping[str, str], compared: bool
) -> None:
    """Whatever was observed, with a baseline or without: a reader with only the file gets the same totals."""
    write_run(repo, one, trials=2)
    write_run(repo, other, skill="writing")
    (repo / "evals/baseline.yaml").write_text(BASELINE if compared else "skills: {}\n")
    evaluation = at(repo).evaluation
    text = resultsfile.text_of(evaluation)
    recompute(text)
    assert resultsfile.parse(text.encode(), "x") == evaluation


@pytest.mark.parametrize("place", ["overall", "summary.overall_score", "summary.eval_cases_ungraded", "tool_usage"])
def test_a_total_that_is_not_of_the_rows_is_found(repo: Path, place: str) -> None:
    """The test above can fail: one total that is off is seen."""
    write_run(repo, "+")
    file = yaml.safe_load(resultsfile.text_of(at(repo, "reviewing").evaluation))
    *path, last = place.split(".")
    target = file["summary"] if path else file["results"]["reviewing"]
    target[last] = (target[last] or 0) + 1
    with pytest.raises(AssertionError):
        recompute(yaml.safe_dump(file))


# -- what an evaluation says -------------------------------------------------------------------------------------------


def test_all_as_expected(repo: Path) -> None:
    """100 in every dimension, complete, with nothing to compare."""
    write_run(repo, "+")
    found = at(repo, "reviewing").evaluation
    skill = found.results["reviewing"]
    assert {skill.dimensions[name].score for name in DIMENSIONS} == {Decimal("100.0")}
    assert (skill.complete, skill.status, skill.overall) == (True, "NEW", Decimal("100.0"))
    assert (found.summary.status, found.comparison.baseline_version) == ("NEW", None)
    assert found.scope == ("reviewing",)


def test_a_regression(repo: Path) -> None:
    """What fell past its threshold is BLOCKED, named first, and recommended to be mended."""
    (repo / "evals/baseline.yaml").write_text(BASELINE)
    write_run(repo, {"says-it": "-", "reads": "+"})
    found = at(repo, "reviewing").evaluation
    parts = found.results["reviewing"].dimensions
    assert {name: part.status for name, part in parts.items()} == {
        "trigger_accuracy": "UP",
        "output_quality": "BLOCKED",
        "tool_usage": "UP",
        "error_handling": "OK",
        "token_efficiency": "OK",
    }
    assert found.summary.status == "BLOCKED"
    assert [(c.dimension, c.status) for c in found.comparison.regressions] == [("output_quality", "BLOCKED")]
    assert found.comparison.deltas["reviewing"]["tool_usage"] == Decimal("50.0")
    assert any("mend output_quality" in text for text in found.insights.recommendations)


def test_a_lost_observation_is_named_and_no_number(repo: Path) -> None:
    """The dimension has no score, the skill is incomplete, the case is counted: not zero, and not left out."""
    write_run(repo, {"says-it": "t"})
    skill = at(repo, "reviewing").evaluation.results["reviewing"]
    part = skill.dimensions["output_quality"]
    assert (part.score, part.state, part.status) == (None, "not-run", "not-run")
    assert part.why == "1 of 1 ungraded: cases--says-it trial 1 (timed-out: after 30 minutes)"
    assert (part.low, part.high) == (Decimal("0.0"), Decimal("100.0"))
    assert (skill.complete, skill.status, skill.ungraded, skill.eval_count) == (False, "incomplete", 1, 6)
    assert skill.missing == ("output_quality: 1 of 1 ungraded",)


def test_without_any_run(repo: Path) -> None:
    """Only what is measured from files has a score."""
    found = at(repo).evaluation
    assert found.summary.eval_cases_ungraded == found.summary.eval_cases_total == 12
    for skill in found.results.values():
        assert [name for name in DIMENSIONS if skill.dimensions[name].score is not None] == ["token_efficiency"]
        assert skill.status == "incomplete"


@pytest.mark.parametrize("what", ["skill", "case", "plan", "foreign"])
def test_an_observation_of_something_else_counts_for_nothing(repo: Path, what: str) -> None:
    """After an edit of the skill or of a case, and of another skill's run, what was seen is not of what is there."""
    folder = write_run(repo, "+")
    if what == "skill":
        (repo / "skills/group/reviewing/SKILL.md").write_text("---\nname: reviewing\ndescription: d\n---\nOther.\n")
    elif what == "case":
        file = repo / "evals/cases/reviewing/cases.yaml"
        file.write_text(file.read_text().replace("Review change.diff.", "Review other.diff.", 1))
    elif what == "plan":
        (folder / "plan.json").write_text("{}")
    else:
        write_run(repo, "+", skill="writing").rename(folder.with_name("x"))
        (folder.with_name("x") / "plan.json").replace(folder / "plan.json")
    found = at(repo, "reviewing")
    skill = found.evaluation.results["reviewing"]
    ungraded = {row.case: row.ungraded for row in skill.rows if row.ungraded is not None}
    assert len(ungraded) == (1 if what == "case" else 6)
    reason = {
        "skill": "of another version of the skill",
        "case": "changed since the recorded run",
        "plan": "the recorded run can't be used",
        "foreign": "of another skill",
    }[what]
    assert set(ungraded.values()) == {reason}
    assert found.broken == (what in ("plan", "foreign"))
    assert skill.status == "incomplete"


def test_a_case_that_was_added(repo: Path) -> None:
    """It is missing from the run, and the others still count."""
    write_run(repo, "+")
    text = "name: more\nskill: reviewing\ncategory: tool-usage\ninput: x\nexpected: {tools_used: [Read]}\n"
    write_cases(repo, "reviewing", text, "more.yaml")
    skill = at(repo, "reviewing").evaluation.results["reviewing"]
    assert [row.ungraded for row in skill.rows if row.ungraded] == ["was not in the recorded run"]
    assert skill.dimensions["tool_usage"].score is None
    assert skill.dimensions["output_quality"].score == 100


def test_a_skill_that_no_model_may_use_unasked(repo: Path) -> None:
    """Its triggering is not applicable, with the reason, left out of the weights, and it can be complete."""
    text = "---\nname: reviewing\ndescription: d\ndisable-model-invocation: true\n---\nRead.\n"
    write_skill(repo, text=text)
    write_run(repo, {"says-it": "-"})
    skill = at(repo, "reviewing").evaluation.results["reviewing"]
    part = skill.dimensions["trigger_accuracy"]
    assert (part.state, part.status, part.rows) == ("not-applicable", "not-applicable", 0)
    assert "disable-model-invocation" in (part.why or "")
    assert skill.complete
    assert skill.overall == Decimal("66.7")  # (0 * 0.25 + 100 * 0.50) / 0.75


def test_what_the_config_asks_for(repo: Path) -> None:
    """Too few cases, a category without any, documents that can't be used: each leaves the skill incomplete."""
    (repo / "evals/config.yaml").write_text(
        "eval_cases: {min_cases_per_skill: 7, required_categories: [trigger-accuracy, token-efficiency]}\n"
    )
    file = repo / "evals/cases/reviewing/cases.yaml"
    file.write_text(f"{file.read_text()}---\nname: broken\ncategory: token-efficiency\n")
    write_run(repo, "+")
    found = at(repo, "reviewing")
    assert found.evaluation.results["reviewing"].missing == (
        "1 of its cases can't be used",
        "6 cases, where the config asks for 7",
        "no case of the category token-efficiency",
    )
    assert found.broken
    assert found.usable


@pytest.mark.parametrize(
    ("broken", "dimensions"),
    [
        ("name: [", {"trigger_accuracy", "output_quality", "tool_usage", "error_handling"}),
        ("category: trigger_negative", {"trigger_accuracy"}),
        ("category: tool-usage", {"output_quality", "tool_usage", "error_handling"}),
        ("category: token-efficiency", set()),
    ],
)
@pytest.mark.parametrize("trials", [1, 2])
def test_a_document_that_can_not_be_used(repo: Path, broken: str, dimensions: set[str], trials: int) -> None:
    """It is counted and named, and no dimension that it may have been meant for has a score; the others have theirs."""
    file = repo / "evals/cases/reviewing/cases.yaml"
    text = file.read_text()
    write_run(repo, "+", trials=trials)
    file.write_text(f"{text}---\n{broken}\n")
    line = text.count("\n") + 2
    found = at(repo, "reviewing")
    skill = found.evaluation.results["reviewing"]
    assert {name for name in DIMENSIONS if skill.dimensions[name].score is None} == dimensions
    for name in dimensions:
        part = skill.dimensions[name]  # type: ignore[index]
        assert (part.status, part.ungraded, part.high) == ("not-run", trials, Decimal(100))
        assert f"(the document can't be used: evals/cases/reviewing/cases.yaml:{line})" in (part.why or "")
    assert (skill.eval_count, skill.ungraded) == (7, int(bool(dimensions)))
    assert (skill.complete, found.broken) == (False, True)
    assert any("skillbench check" in text for text in found.evaluation.insights.recommendations) is bool(dimensions)
    assert not any("/benchmark-skill" in text for text in found.evaluation.insights.recommendations)
    recompute(resultsfile.text_of(found.evaluation))


def test_a_document_that_can_not_be_used_of_a_hidden_skill(repo: Path) -> None:
    """A probe that nobody would run is no row, and is counted."""
    text = "---\nname: reviewing\ndescription: d\ndisable-model-invocation: true\n---\nRead.\n"
    write_skill(repo, text=text)
    file = repo / "evals/cases/reviewing/cases.yaml"
    file.write_text(f"{file.read_text()}---\ncategory: trigger-positive\n")
    write_run(repo, "+")
    skill = at(repo, "reviewing").evaluation.results["reviewing"]
    assert skill.dimensions["trigger_accuracy"].state == "not-applicable"
    assert (skill.eval_count, skill.ungraded, skill.missing) == (7, 0, ("1 of its cases can't be used",))


def test_fewer_cases_are_no_improvement(repo: Path) -> None:
    """A case that did not hold may have been taken out: a score that rises is not UP then, and the number is said."""
    write_run(repo, "+")

    def held_to(count: int) -> SkillScore:
        (repo / "evals/baseline.yaml").write_text(BASELINE.replace("skill_words", f"eval_count: {count}, skill_words"))
        return at(repo, "reviewing").evaluation.results["reviewing"]

    same, fewer, more = held_to(6), held_to(7), held_to(5)
    assert [skill.dimensions["tool_usage"].status for skill in (same, fewer, more)] == ["UP", "OK", "UP"]
    assert fewer.dimensions["tool_usage"].detail == "no improvement over 6 cases, where the baseline had 7"
    assert (same.status, fewer.status) == ("UP", "OK")
    assert same.notes == ()
    assert fewer.notes == ("6 cases, where the baseline had 7: the scores are not of the same cases",)
    assert more.notes == ("6 cases, where the baseline had 5: the scores are not of the same cases",)


def test_targets(repo: Path) -> None:
    """The config's targets are evaluated; a name that no skill has is a problem with its line, and the others run."""
    (repo / "evals/config.yaml").write_text("target_skills:\n  - writing\n  - revewing\n")
    found = at(repo)
    assert list(found.evaluation.results) == ["writing"]
    assert found.left_out == ("reviewing",)
    assert [str(problem) for problem in found.problems] == [
        'evals/config.yaml:3: no skill "revewing"; expected a skill in skills; did you mean "reviewing"?'
    ]
    assert not found.usable
    with pytest.raises(UsageError, match='did you mean "reviewing"'):
        at(repo, "revewing")


def test_a_required_comparison(repo: Path) -> None:
    """Without a baseline, or without the skill in it, an evaluation that must compare is incomplete."""
    write_run(repo, "+")
    (repo / "evals/config.yaml").write_text("baseline: {require_comparison: true}\n")
    assert at(repo, "reviewing").evaluation.summary.status == "incomplete"
    (repo / "evals/baseline.yaml").write_text("skills: {writing: {overall: 5}}\n")
    assert at(repo, "reviewing").evaluation.summary.status == "incomplete"
    (repo / "evals/baseline.yaml").write_text(BASELINE)
    assert at(repo, "reviewing").evaluation.summary.status in ("UP", "OK")


# -- the file ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def evaluation(repo: Path) -> Evaluation:
    """Return an evaluation of two skills."""
    write_run(repo, "+")
    return at(repo).evaluation


def test_never_an_overwrite(tmp_path: Path, evaluation: Evaluation) -> None:
    """The second of a day gets -2, and the tenth comes after the ninth; nothing else is left behind."""
    folder = tmp_path / "r"
    made = [resultsfile.write(folder, evaluation, "r") for _ in range(11)]
    assert made[:3] == ["2026-11-30.yaml", "2026-11-30-2.yaml", "2026-11-30-3.yaml"]
    assert resultsfile.names(folder) == made
    assert sorted(entry.name for entry in folder.iterdir()) == sorted(made)
    assert resultsfile.read(folder, "2026-11-30-11.yaml", "r") == evaluation


def test_two_processes_at_once(tmp_path: Path, evaluation: Evaluation) -> None:
    """Each evaluation of eight at the same moment is a whole file of its own."""
    source = tmp_path / "one.yaml"
    source.write_text(resultsfile.text_of(evaluation))
    script = (
        "import sys; from pathlib import Path; from pytest_skillbench.scorecard import resultsfile as r\n"
        "e = r.parse(Path(sys.argv[1]).read_bytes(), 'x'); sys.stdin.readline()\n"
        "[r.write(Path(sys.argv[2]), e, 'x') for _ in range(4)]\n"
    )
    folder = tmp_path / "results"
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(source), str(folder)], stdin=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    assert [process.wait() for process in running] == [0, 0]
    for process in running:
        assert process.stdin is not None
        process.stdin.close()
    names = resultsfile.names(folder)
    assert names == ["2026-11-30.yaml", *(f"2026-11-30-{i}.yaml" for i in range(2, 9))]
    assert {(folder / name).read_bytes() for name in names} == {source.read_bytes()}


def test_a_folder_that_can_not_be_written(tmp_path: Path, evaluation: Evaluation) -> None:
    """A message, and no part of a file."""
    (tmp_path / "r").write_text("")
    with pytest.raises(ProjectError, match="r: can't write the evaluation"):
        resultsfile.write(tmp_path / "r", evaluation, "r")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("type: scorecard", "type: other", r"\$\.type"),
        ("is_baseline: false", "is_baseline: no", r'a value is "no"; expected true or false'),
        ("is_baseline: false\n", "", "missing required field"),
        ("scope: all", "scope: all\nscore: 5", "unknown field"),
        ("scope: all", "scope: all\nscope: all", "is there twice"),
        ("date: ", "date: &x ", None),
        ("complete: false", "complete: [", "not YAML"),
    ],
)
def test_a_file_that_was_changed(evaluation: Evaluation, old: str, new: str, says: str | None) -> None:
    """It is read strictly: what is not as it was written is refused with its place."""
    text = resultsfile.text_of(evaluation)
    assert old in text
    changed = text.replace(old, new, 1).encode()
    if says is None:
        assert resultsfile.parse(changed, "x") == evaluation
    else:
        with pytest.raises(FormatError, match=says):
            resultsfile.parse(changed, "x")


def test_looking_up(repo: Path, evaluation: Evaluation) -> None:
    """The last one, the last of a skill, and all of them, whatever is wrong with one."""
    where = project.find(repo)
    config, _ = read_config(where)
    with pytest.raises(UsageError, match="no evaluation"):
        lookup.last(where, config)
    folder = repo / "evals/results"
    resultsfile.write(folder, evaluation, "r")
    resultsfile.write(folder, lookup.only(evaluation, ("writing",)), "r")
    (folder / "2026-11-30-3.yaml").write_text("a: 1")
    (folder / "notes.md").write_text("mine")
    warnings: list[str] = []
    found = past.by_skill(where, warnings)
    assert [one.name for one in found["writing"]] == ["2026-11-30.yaml", "2026-11-30-2.yaml"]
    assert [one.name for one in found["reviewing"]] == ["2026-11-30.yaml"]
    assert [warning.partition(":")[0] for warning in warnings] == ["evals/results/2026-11-30-3.yaml"]
    (folder / "2026-11-30-3.yaml").unlink()
    assert lookup.last(where, config)[0] == "evals/results/2026-11-30-2.yaml"
    path, only = lookup.last(where, config, ("reviewing",))
    assert (path, list(only.results), only.scope) == ("evals/results/2026-11-30.yaml", ["reviewing"], ("reviewing",))
    recompute(resultsfile.text_of(only))


def test_no_float_is_in_an_evaluation(evaluation: Evaluation) -> None:
    """Exact all the way: what is compared is what is printed."""

    def leaves(value: object) -> list[object]:
        if isinstance(value, dict):
            return [leaf for item in value.values() for leaf in leaves(item)]
        return [leaf for item in value for leaf in leaves(item)] if isinstance(value, list) else [value]

    found = leaves(msgspec.to_builtins(evaluation, builtin_types=(Decimal,)))
    assert not any(isinstance(leaf, float) for leaf in found)
    scores = [leaf for leaf in found if isinstance(leaf, Decimal)]
    assert all(leaf == leaf.quantize(Decimal("0.01"), ROUND_HALF_UP) for leaf in scores)


def test_a_row_of_a_skill_that_is_not_there(repo: Path) -> None:
    """A misspelled name in the baseline turns the guard off, so it is named with its line."""
    (repo / "evals/baseline.yaml").write_text("skills:\n  reviewingg: {tool_usage: 100}\n")
    problems = [str(problem) for problem in at(repo, "reviewing").problems]
    assert any(
        problem.startswith('evals/baseline.yaml:2: no skill "reviewingg"') and 'did you mean "reviewing"?' in problem
        for problem in problems
    ), problems
