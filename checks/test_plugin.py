"""`pytest --skillbench` as its user sees it: which nodes there are, and what each one says (FORMATS section 5)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from checks.conftest import Run
from checks.records import CASE, RUN_ID, write_case, write_run, write_skill

NULL = "tests/review/code-review/null-check/case.md"
OFF = "tests/review/code-review/off-by-one/case.md"
Recorded = Callable[..., Path]


def words(result: pytest.RunResult) -> dict[str, str]:
    """Return the word that -v printed for each node id."""
    found = {}
    for line in result.outlines:
        node, _, rest = line.partition(" ")
        if "/case.md::" in node and rest:
            word = rest.split("[")[0].strip()
            if word and " - " not in rest:
                found[node] = re.sub(r" \((?!STALE|flagged).*", "", word)  # newer pytest adds the reason of a skip
    return found


def leaves(file: str, result: pytest.RunResult) -> list[str]:
    """Return the leaves below a file that --collect-only -q printed, in order."""
    return [line.split("::")[1] for line in result.outlines if line.startswith(f"{file}::")]


def test_the_nodes_of_a_case(bench: Path, run: Run, recorded: Recorded) -> None:
    """The node ids are the contract with test explorers and CI: exactly these, in this order."""
    recorded()
    result = run("--collect-only", "-q", "tests")
    assert result.ret == 0
    numbers = range(1, 6)
    trials = [f"{name}-trial-{n}" for name in ("efficacy", "regression") for n in numbers]
    gates = [f"gate-trial-{n}" for n in numbers]
    assert leaves(NULL, result) == ["case", *gates, *trials, "efficacy", "regression"]
    assert leaves(OFF, result) == ["case", *trials, "efficacy", "regression"], (
        "a case without hard assertions has no gate"
    )
    assert not (bench / "tests/.reports/index.html").exists(), "--collect-only writes nothing"


def test_the_node_set_is_stable(bench: Path, run: Run, recorded: Recorded) -> None:
    """An explorer's tree must not change its shape because a run was recorded, or was two-arm."""
    without = run("--collect-only", "-q", "tests")
    folder = recorded({"null-check": "WWWWW", "off-by-one": "WWWWW"})
    two_arm = run("--collect-only", "-q", "tests")
    (folder / "plan.json").write_text("{")
    broken = run("--collect-only", "-q", "tests")
    assert leaves(NULL, without) == leaves(NULL, two_arm) == leaves(NULL, broken)
    assert len(leaves(NULL, without)) == 18


def test_the_number_of_trials_is_the_recorded_one(bench: Path, run: Run, recorded: Recorded) -> None:
    """The plan says what was run; only without one do today's settings."""
    (bench / "tests/review/code-review/skillbench.yaml").write_text("trials: 2\n")
    assert leaves(OFF, run("--collect-only", "-q", "tests"))[-4:] == [
        "regression-trial-1", "regression-trial-2", "efficacy", "regression",
    ]  # fmt: skip
    recorded({"null-check": "WWW", "off-by-one": "WWW"})
    assert "efficacy-trial-3" in leaves(OFF, run("--collect-only", "-q", "tests"))


def test_wins_ties_and_flagged_losses(run: Run, recorded: Recorded) -> None:
    """A WIN passes as W, a TIE as T; a LOSS in a case that passes all the same is flagged as L and is no failure."""
    recorded({"null-check": ("WWWTL", "TTTTT"), "off-by-one": ("WWWWW", "WTTTL")})
    result = run("-v", "tests")
    said = words(result)
    assert result.ret == 0
    trials = [said[f"{NULL}::efficacy-trial-{n}"] for n in range(1, 6)]
    assert trials == ["WIN", "WIN", "WIN", "TIE", "LOSS (flagged)"]
    assert said[f"{NULL}::efficacy"] == said[f"{NULL}::regression"] == said[f"{NULL}::case"] == "PASSED"
    result.assert_outcomes(passed=29, xfailed=2)


def test_the_letters(run: Run, recorded: Recorded) -> None:
    """Without -v a case is one row of letters: case, gates, efficacy, regression, rules."""
    recorded({"null-check": ("WWWTL", "TTTTT")})
    result = run(NULL)
    result.stdout.fnmatch_lines([f"{NULL} ......WWWTLTTTTT..*"])
    recorded({"null-check": ("WXLL?", "LLTTT")})
    result = run("--tb=no", NULL)
    result.stdout.fnmatch_lines([f"{NULL} ..F...WGLLsLLTTTFF*"])


def test_losses_fail_where_the_case_fails(run: Run, recorded: Recorded) -> None:
    """A LOSS that fails its case is a failed node, and the rule says by how much and which trials."""
    recorded({"null-check": ("WWWLL", "LLTTT")})
    result = run(NULL)
    assert result.ret == 1
    result.assert_outcomes(passed=12, failed=6)
    text = result.stdout.str()
    assert "2 losses (trials 4, 5), the rule allows 1" in text
    assert "3 wins, 0 ties, 2 losses of 5; the rule: at least 3 wins and at most 1 loss" in text
    assert "judge 1: LOSS: One names the line, the other does not." in text
    assert "Traceback" not in text
    assert "nodes.py" not in text


def test_a_failing_gate(run: Run, recorded: Recorded) -> None:
    """A failed hard assertion shows its command, exit code and what it said, at its line, and fails efficacy."""
    recorded({"null-check": ("WWWWX", "TTTTT")}, stderr="\n".join(f"line {n}" for n in range(30)))
    result = run(NULL)
    result.assert_outcomes(passed=15, failed=3)
    text = result.stdout.str()
    assert f'{NULL}:10: hard assertion failed, exit code 1: test -s "$OUTPUT"' in text
    assert "    stderr: line 29" in text
    assert "line 3\n" not in text, "only the end of what it said"
    assert "cut; the run record holds the rest" in text
    assert "GATE: a hard assertion failed, so no judge was asked" in text
    result.stdout.re_match_lines([rf"FAILED {NULL}::efficacy - a hard asserti.*"])


def test_invalid_trials_are_skipped_and_decide_nothing(run: Run, recorded: Recorded) -> None:
    """What is missing is skipped with its reason; where it could decide the case, the rule fails as INCOMPLETE."""
    recorded({"null-check": ("WWW??", "TTTTJ")})
    result = run("-v", "-rs", NULL)
    text = result.stdout.str()
    assert result.ret == 1
    assert words(result)[f"{NULL}::efficacy-trial-4"] == "INVALID"
    assert words(result)[f"{NULL}::efficacy"] == "INCOMPLETE"
    assert "INCOMPLETE: 2 trials of 5 can't be scored and could decide it" in text
    assert "no-skill arm: timed out: no final message after 30 minutes" in text
    assert words(result)[f"{NULL}::regression"] == "PASSED", "one unknown trial of regression can't make two losses"
    assert f" [1] {NULL}:13: INVALID: judgement malformed: no JSON in the answer" in text


def test_a_missing_new_arm_leaves_its_gate_unknown(run: Run, recorded: Recorded) -> None:
    """No evidence, no green: a gate that did not run is skipped, never passed."""
    folder = recorded({"null-check": ("WWWWW", "TTTTT")})
    (folder / "arms/null-check.3.new-skill.json").unlink()
    result = run("-v", "-rs", NULL)
    assert words(result)[f"{NULL}::gate-trial-3"] == words(result)[f"{NULL}::efficacy-trial-3"] == "INVALID"
    assert f"{NULL}:8: new-skill arm: has not run" in result.stdout.str()


def test_two_arms(run: Run, recorded: Recorded) -> None:
    """Without a previous version the regression nodes are there, and say why they do not apply."""
    recorded({"null-check": "WWWWT", "off-by-one": "WWWWW"}, base_reason="unchanged")
    result = run("-rs", "tests")
    assert result.ret == 0
    result.assert_outcomes(passed=19, skipped=12)
    result.stdout.fnmatch_lines(["*not applicable: unchanged"])


def test_no_run_is_never_green(bench: Path, run: Run) -> None:
    """Without a run only the case itself is looked at; all else is skipped, and fails where runs are required."""
    result = run("-rs", "tests")
    assert result.ret == 0
    result.assert_outcomes(passed=2, skipped=29)
    result.stdout.fnmatch_lines(["*no run recorded: run /benchmark-skill code-review*"])
    assert not (bench / "tests/.reports").exists(), "there is nothing to report"
    required = run("--skillbench-require-runs", "tests")
    assert required.ret == 1
    required.assert_outcomes(passed=2, failed=29)


def test_a_case_that_the_run_does_not_have(bench: Path, run: Run, recorded: Recorded) -> None:
    """A case that was added since is not covered by its siblings' run."""
    recorded({"null-check": ("WWWWW", "TTTTT")}, only=True)
    result = run("-rs", OFF)
    result.assert_outcomes(passed=1, skipped=12)
    result.stdout.fnmatch_lines([f"*not in the recorded run {RUN_ID}: run /benchmark-skill code-review"])
    assert run("--skillbench-require-runs", OFF).ret == 1


def test_a_case_that_does_not_parse(bench: Path, run: Run, recorded: Recorded) -> None:
    """All problems of the file, each with its line; the other nodes still speak from the frozen copy."""
    recorded()
    (bench / NULL).write_text("---\ndescription: yes\n---\n## Promt\nx\n\n## Soft criteria\n")
    result = run(NULL)
    text = result.stdout.str()
    assert f"{NULL}:2:" in text
    assert f"{NULL}:4:" in text
    assert 'did you mean "Prompt"?' in text
    result.assert_outcomes(passed=16, failed=1, xfailed=1)
    assert "STALE" in text


def test_a_case_that_maps_to_no_skill(bench: Path, run: Run) -> None:
    """A test folder without a skill is a failing case, not a silent one."""
    write_case(bench, "review/code-reveiw/typo")
    result = run("tests/review/code-reveiw")
    assert result.ret == 1
    result.assert_outcomes(failed=1, skipped=17)
    assert "tests/review/code-reveiw" in result.stdout.str()


def test_two_skills_of_one_name(bench: Path, run: Run) -> None:
    """Reports are keyed by the name, so two skills of one name are an error, on those two only."""
    write_skill(bench, "other/code-review", {"a-case": CASE})
    write_skill(bench, "other/fine", {"b-case": CASE})
    result = run("-v", "tests")
    said = words(result)
    assert said[f"{NULL}::case"] == said["tests/other/code-review/a-case/case.md::case"] == "FAILED"
    assert said["tests/other/fine/b-case/case.md::case"] == "PASSED"


def test_a_bad_fixture(bench: Path, run: Run) -> None:
    """A fixture that can't be copied is said before any agent is asked to work in it."""
    fixture = bench / "tests/review/code-review/null-check/fixture"
    fixture.mkdir()
    (fixture / "away").symlink_to("/etc/passwd")
    result = run(NULL)
    result.assert_outcomes(failed=1, skipped=17)
    result.stdout.fnmatch_lines([f"*{Path(NULL).parent}/fixture/away: *"])


def test_a_broken_run_record(run: Run, recorded: Recorded) -> None:
    """A plan that can't be read is a failure with its place; its rules are INCOMPLETE, its trials unknown."""
    folder = recorded()
    (folder / "plan.json").write_text('{"schema_version": 1, "schema_version": 1}')
    result = run("-v", NULL)
    said = words(result)
    assert said[f"{NULL}::case"] == "FAILED"
    assert said[f"{NULL}::efficacy"] == said[f"{NULL}::regression"] == "INCOMPLETE"
    assert said[f"{NULL}::efficacy-trial-1"] == "SKIPPED"
    assert "tests/.reports/code-review.run/plan.json: " in result.stdout.str()
    result.assert_outcomes(failed=3, skipped=15)


def test_stale(bench: Path, run: Run, recorded: Recorded) -> None:
    """A run older than its skill is scored from the frozen copy, says STALE where one looks, and fails where asked."""
    recorded()
    (bench / "skills/review/code-review/SKILL.md").write_text("---\nname: code-review\ndescription: New.\n---\nNew.\n")
    result = run("-v", "tests")
    said = words(result)
    assert result.ret == 0
    assert said[f"{NULL}::case"] == said[f"{NULL}::efficacy"] == said[f"{OFF}::regression"] == "PASSED (STALE)"
    assert "[STALE]" in result.stdout.str()
    fresh = run("-v", "--skillbench-require-fresh", "tests")
    said = words(fresh)
    assert fresh.ret == 1
    assert said[f"{NULL}::case"] == said[f"{NULL}::regression"] == "STALE"
    assert said[f"{NULL}::efficacy-trial-1"] == "WIN"
    assert "STALE: the skill has changed since the run" in fresh.stdout.str()


def test_a_fresh_run_is_not_stale(run: Run, recorded: Recorded) -> None:
    """The other half of the test above: nothing is stale by accident."""
    recorded()
    result = run("-v", "--skillbench-require-fresh", "tests")
    assert result.ret == 0
    assert "STALE" not in result.stdout.str()


def test_a_whole_suite_of_losses_is_red_by_its_trials_alone(run: Run, recorded: Recorded) -> None:
    """Outcomes come from files: choosing only the trials, or only the rule, can't change what either says."""
    recorded({"null-check": ("LLLLL", "TTTTT")})
    assert run("-k", "efficacy-trial", NULL).ret == 1
    alone = run(f"{NULL}::efficacy")
    alone.assert_outcomes(failed=1)


def test_runs_and_reports_elsewhere(bench: Path, run: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Golden runs are read where they are, and nothing is written beside them."""
    golden, out = tmp_path_factory.mktemp("golden"), tmp_path_factory.mktemp("out")
    write_run(bench, "review/code-review", {"null-check": "WWWWW"}, into=golden)
    result = run("--skillbench-runs", golden, "--skillbench-reports", out / "deep", NULL)
    assert result.ret == 0
    assert sorted(p.name for p in golden.iterdir()) == ["code-review.run"]
    assert (out / "deep/code-review.html").is_file()
    assert not (bench / "tests/.reports").exists()


def test_runxfail_does_not_turn_a_loss_green(run: Run, recorded: Recorded) -> None:
    """``--runxfail`` asks for flagged losses as failures; it must never make them passes."""
    recorded({"null-check": ("WWWTL", "TTTTT")})
    run("--runxfail", NULL).assert_outcomes(passed=17, failed=1)
