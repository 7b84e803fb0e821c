"""``skillbench evidence export``: a recorded run as a freeze that verifies and tells the report's story."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from pytest_skillbench import project, scoring, tree
from pytest_skillbench.cli import main
from pytest_skillbench.evidence.blank import blanked
from pytest_skillbench.evidence.compare import inspect
from pytest_skillbench.evidence.exported import identifier
from pytest_skillbench.evidence.records import Comparison, Pair
from pytest_skillbench.hosts import claude_code
from pytest_skillbench.runstate import Attempt, RunState, label_of, write_state
from pytest_skillbench.runstate import hand_out as with_attempt

from .quality import quality
from .records import CASE, UNGATED, write_case, write_run, write_skill

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "checks/golden"
CHANGE = {"WIN": "improved", "TIE": "unchanged", "LOSS": "regressed"}
SHAPES = {"release-notes": "three-arm", "decision-record": "two-arm"}


@pytest.fixture
def golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with the demo skills, their cases and their recorded runs, in which the client also ran."""
    root = tmp_path / "project"
    for name in ("skills", "tests"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns(".reports"))
    shutil.copy(ROOT / "LICENSE", root)
    shutil.copytree(GOLDEN / "runs", root / "tests/.reports")
    for skill in SHAPES:
        shutil.copytree(GOLDEN / "transcripts" / skill, tmp_path / "client", dirs_exist_ok=True)
        hand_out(root / f"tests/.reports/{skill}.run", json.loads((tmp_path / "client/jobs.json").read_text()))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "client"))
    return root


def hand_out(folder: Path, jobs: dict[str, str]) -> None:
    """Write the state of a run whose jobs had these labels."""
    plan = json.loads((folder / "plan.json").read_text())
    state = RunState(schema_version=1, run_id=plan["run_id"], root="", attempts={}, ended=True)
    for label, stem in jobs.items():
        number = len(state.attempts.get(stem, ())) + 1
        attempt = Attempt(
            label=label, number=number, handed_out_at=plan["created_at"], brief="", world=None, skill=None, agent=""
        )
        state = with_attempt(state, stem, attempt)
    write_state(folder, state)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a project with one skill, which has a license, and one gated and one ungated case."""
    root = tmp_path / "project"
    write_skill(root, "reviewing", {"gated": CASE, "open": UNGATED})
    (root / "skills/reviewing/LICENSE").write_text("MIT\n")
    return root


def export(root: Path, skill: str, *options: str, code: int = 0) -> Comparison | None:
    """Export a skill's run with the command; return what the freeze shows, None where it was refused."""
    output = root.parent / f"evidence-{skill}"
    assert main(["-C", str(root), "evidence", "export", skill, "--output", str(output), *options]) == code
    assert output.exists() == (code == 0)
    return inspect(output).comparison if code == 0 else None


def change(pair: Pair, criterion: str) -> str:
    """Return what changed from baseline to treatment by one criterion."""
    return next(one.change for one in pair.criteria if one.id == criterion)


@pytest.mark.parametrize("skill", SHAPES)
def test_the_golden_runs_tell_the_story_of_their_report(golden: Path, skill: str) -> None:
    """Every trial's outcome is in the freeze, and what the hard assertions said; in both shapes."""
    found = tree.discover(project.find(golden))
    entry = found.skill(skill)
    assert entry is not None
    result = scoring.score(found.project, entry).result
    assert result is not None
    assert result.plan.shape == SHAPES[skill]
    shown = export(golden, skill)
    assert shown is not None
    assert (shown.coverage.imported_runs, shown.coverage.missing_runs) == (30, 0)
    assert shown.coverage.declared_controlled_agent_pairs == 15
    pairs = {(pair.case_id, pair.attempt): pair for pair in shown.cases}
    for case in result.cases:
        (part,) = [part for part in case.comparisons if part.comparison == "efficacy"]
        for trial in part.trials:
            pair = pairs[case.case.name, trial.trial]
            assert change(pair, "head-to-head") == CHANGE[trial.outcome]
            assert pair.observed_treatment_result == "pass", "no hard assertion failed in these runs"
            assert change(pair, "assertion-1") == "not-compared", "the baseline's world was not asked"
    main(["-C", str(golden), "score", skill])
    page = (golden / f"tests/.reports/{skill}.html").read_text()
    assert f"<code>{shown.benchmark_sha256}</code>" in page
    assert "30 of 30 runs, 3 cases" in page
    metrics = pairs[result.cases[0].case.name, 1].reported_metrics.treatment
    arm = result.cases[0].arm("new-skill", 1)
    assert metrics is not None
    assert arm is not None
    assert arm.usage is not None
    assert (metrics.input_tokens or 0) + (metrics.output_tokens or 0) == arm.usage.raw
    assert metrics.wall_time_ms == arm.duration_ms


def test_blanked_transcripts_count_to_the_same_tokens_and_say_nothing(golden: Path) -> None:
    """The default keeps what the accounting needs; prompts, answers and tool inputs are gone."""
    assert export(golden, "decision-record") is not None
    kept = sorted((golden.parent / "evidence-decision-record/runs").glob("*/artifacts/transcript.jsonl"))
    assert len(kept) == 30
    originals = sorted((golden.parent / "client").glob("projects/*/*/subagents/**/agent-*.jsonl"))
    for path in originals[:4]:
        copy = golden.parent / "blanked.jsonl"
        copy.write_bytes(blanked(path.read_bytes()))
        before, after = (claude_code.read([one]) for one in (path, copy))
        assert after.requests == before.requests
        assert after.turns == before.turns
        assert after.transcripts[0].tool_calls == before.transcripts[0].tool_calls
        assert "skill" not in copy.read_text()
    with_text = [path for path in kept if b"SKILL.md" in path.read_bytes()]
    assert not with_text


def test_transcripts_whole_or_not_at_all(golden: Path) -> None:
    """Who wants to show all of it, or none, can."""
    assert export(golden, "decision-record", "--transcripts", "whole") is not None
    kept = list((golden.parent / "evidence-decision-record/runs").glob("*/artifacts/transcript.jsonl"))
    assert any(b"SKILL.md" in path.read_bytes() for path in kept)
    assert export(golden, "release-notes", "--transcripts", "none") is not None
    assert not list((golden.parent / "evidence-release-notes").rglob("transcript.jsonl"))


def test_a_quality_receipt_of_an_exported_run(golden: Path) -> None:
    """What was exported can be recorded as an observation, as the reference shows, verified against the freeze."""
    shown = export(golden, "release-notes")
    assert shown is not None
    text = (ROOT / "skills/benchmark-skill/references/evidence.md").read_text()
    (example,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    event = golden.parent / "event.json"
    event.write_text(example.replace("PACKAGE", shown.packages[0].tree_sha256))
    freeze = golden.parent / "evidence-release-notes"
    done = quality("record", "--db", golden.parent / "quality.db", "--file", event, "--benchmark", freeze, "--json")
    assert done.stderr == b""
    said = json.loads(done.stdout)
    assert (said["recorded"], said["assurance"]) == (True, "verified_retained_benchmark")


def test_a_failed_hard_assertion_and_an_invalid_trial_are_never_a_pass(small: Path) -> None:
    """X: the gate failed and no judge was asked. ?: the baseline timed out. J: nobody can read what the judge said."""
    write_run(small, "reviewing", {"gated": "XW?JL", "open": "TWWWW"})
    shown = export(small, "reviewing")
    assert shown is not None
    gated = {pair.attempt: pair for pair in shown.cases if pair.case_id == "gated"}
    assert [gated[n].observed_treatment_result for n in range(1, 6)] == ["fail", "pass", "pass", "pass", "pass"]
    assert [change(gated[n], "head-to-head") for n in range(1, 6)] == [
        "not-compared",
        "improved",
        "not-compared",
        "not-compared",
        "regressed",
    ]
    assert gated[3].comparability_reasons == ("Both arms must have executed.",)
    open_ = [pair for pair in shown.cases if pair.case_id == "open"]
    assert Counter(pair.comparison_status for pair in open_) == {"complete": 5}
    assert [change(pair, "criterion-1") for pair in open_] == ["unchanged", *["improved"] * 4]
    assert shown.observed_treatment_result == "fail"


def test_the_same_run_gives_the_same_bytes(small: Path) -> None:
    """An export says nothing of when or where it was made."""
    write_run(small, "reviewing", {"gated": "WWWTL", "open": "TWWWW"})
    digests = []
    for _ in range(2):
        assert export(small, "reviewing") is not None
        folder = small.parent / "evidence-reviewing"
        digests.append({p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()})
        shutil.rmtree(folder)
    assert digests[0] == digests[1]


def test_more_trials_than_a_case_may_have(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first five are exported, and the note says that there were more."""
    write_run(small, "reviewing", {"gated": "WWWWWWW", "open": "TTTTTTT"})
    shown = export(small, "reviewing")
    assert shown is not None
    assert shown.coverage.imported_runs == 20
    assert "trials 1 to 5 of 7 were exported" in capsys.readouterr().out
    freeze = small.parent / "evidence-reviewing"
    assert "trials 1 to 5 of 7 were exported" in (freeze / "suite.json").read_text()
    assert all("trials 1 to 5 of 7 were exported" in run.read_text() for run in freeze.glob("runs/*/run.json"))
    main(["-C", str(small), "score"])
    assert "trials 1 to 5 of 7 only" in (small / "tests/.reports/reviewing.html").read_text()


def test_an_arm_without_a_record_is_a_missing_run(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing stands in for what did not happen."""
    write_run(small, "reviewing", {"gated": "WWWTL", "open": "TWWWW"})
    (small / "tests/.reports/reviewing.run/arms/open.2.no-skill.json").unlink()
    shown = export(small, "reviewing")
    assert shown is not None
    assert shown.coverage.missing_runs == 1
    assert "1 arm run has no record" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("break_", "message"),
    [
        ("skill", "The run's package is not available."),
        ("license", "Selected package lacks SKILL.md or LICENSE."),
        ("fixture", "The fixture of case gated is not available."),
        ("run", 'no run of "reviewing" is recorded'),
        ("output", "Output must be outside the selected source trees."),
    ],
)
def test_what_can_not_be_exported_is_refused(
    small: Path, capsys: pytest.CaptureFixture[str], break_: str, message: str
) -> None:
    """A run whose skill or fixture is no longer what was run would freeze other bytes than were judged."""
    (small / "tests/reviewing/gated/fixture").mkdir()
    (small / "tests/reviewing/gated/fixture/a.txt").write_text("a\n")
    write_run(small, "reviewing", {"gated": "WWWTL", "open": "TWWWW"})
    options = []
    if break_ == "skill":
        (small / "skills/reviewing/SKILL.md").write_text("Edited.\n")
    elif break_ == "license":
        (small / "skills/reviewing/LICENSE").unlink()
        write_run(small, "reviewing", {"gated": "WWWTL", "open": "TWWWW"})
    elif break_ == "fixture":
        (small / "tests/reviewing/gated/fixture/a.txt").write_text("b\n")
    elif break_ == "run":
        shutil.rmtree(small / "tests/.reports/reviewing.run")
    else:
        options = ["--output", str(small / "skills/evidence")]
    assert export(small, "reviewing", *options, code=2) is None
    assert message in capsys.readouterr().err


def test_a_license_may_be_given_or_is_the_repositorys(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The format wants one in every package; which one was taken is said."""
    (small / "skills/reviewing/LICENSE").unlink()
    write_run(small, "reviewing", {"gated": "WWWTL", "open": "TWWWW"})
    (small / "other.txt").write_text("Mine.\n")
    assert export(small, "reviewing", "--license", str(small / "other.txt")) is not None
    assert "LICENSE is a copy of other.txt" in capsys.readouterr().out
    assert (small.parent / "evidence-reviewing/packages/reviewing/LICENSE").read_text() == "Mine.\n"


def test_names_that_evidence_does_not_take(small: Path) -> None:
    """A case may be named by digits or at great length; the ids stay apart, valid, and the same every time."""
    long = ["x" * 60 + end for end in ("-a", "-b")]
    for name in ("1st", *long):
        write_case(small, f"reviewing/{name}", UNGATED)
    write_run(small, "reviewing", {"gated": "W", "open": "W", "1st": "W", long[0]: "T", long[1]: "L"})
    shown = export(small, "reviewing")
    assert shown is not None
    found = {pair.case_id: change(pair, "head-to-head") for pair in shown.cases}
    assert found[identifier("1st")] == "improved"
    assert (found[identifier(long[0])], found[identifier(long[1])]) == ("unchanged", "regressed")


@pytest.mark.parametrize("skill", SHAPES)
def test_example_data_stays_example_data(golden: Path, skill: str) -> None:
    """Every run of the freeze, and its suite, say what the report says of a run against a scripted model."""
    assert export(golden, skill) is not None
    freeze = golden.parent / f"evidence-{skill}"
    files = [freeze / "suite.json", *freeze.glob("runs/*/run.json")]
    assert len(files) == 31
    assert all("a scripted model, not a measurement" in file.read_text() for file in files)


@pytest.mark.parametrize("kind", ["link", "fifo"])
def test_a_link_in_a_run_record_leads_nowhere(small: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    """Records are handed from machine to machine: what a link or a FIFO stands for is no part of one."""
    write_run(small, "reviewing", {"gated": "WWWTL", "open": "TWWWW"})
    (small / "secret.txt").write_text("secret\n")
    diff = small / "tests/.reports/reviewing.run/changes/open.1.new-skill.diff"
    diff.parent.mkdir(exist_ok=True)
    diff.unlink(missing_ok=True)
    if kind == "link":
        diff.symlink_to(small / "secret.txt")
    else:
        os.mkfifo(diff)
    assert export(small, "reviewing", code=2) is None
    told = "symlink is forbidden: " if kind == "link" else "special filesystem entry is forbidden: "
    assert told in capsys.readouterr().err


def test_transcripts_that_were_handed_in_are_exported(small: Path) -> None:
    """On a manual host they lie in the record; what no transcript was found for says so."""
    write_run(small, "reviewing", {"gated": "WWWTL", "open": "TWWWW"})
    folder = small / "tests/.reports/reviewing.run"
    plan = json.loads((folder / "plan.json").read_text()) | {"host": "manual"}
    (folder / "plan.json").write_text(json.dumps(plan))
    (folder / "handed-in").mkdir()
    label = label_of(plan["run_id"], plan["seed"], "open.1.new-skill", 1)
    transcript = next((GOLDEN / "transcripts/decision-record").glob("projects/*/*/subagents/**/agent-*.jsonl"))
    shutil.copy(transcript, folder / f"handed-in/{label}.jsonl")
    assert export(small, "reviewing", "--transcripts", "whole") is not None
    freeze = small.parent / "evidence-reviewing"
    (kept,) = freeze.rglob("transcript.jsonl")
    assert kept.read_bytes() == transcript.read_bytes()
    other = json.loads((freeze / "runs/open-2-treatment/run.json").read_text())
    assert "the client's transcript is not retained" in other["limitations"]


def test_a_skill_of_any_name(tmp_path: Path) -> None:
    """What `check` and `score` take can be exported: its id is made of its name, and stays its own."""
    root = tmp_path / "project"
    for name in ("Greet_er", "2-fast"):
        write_skill(root, name, {"open": UNGATED})
        (root / f"skills/{name}/LICENSE").write_text("MIT\n")
        write_run(root, name, {"open": "W"})
        assert export(root, name) is not None
    assert len({identifier(name) for name in ("Greet_er", "greet-er", "greet_er", "Greet-er", "ü", "é", "")}) == 7
