"""The golden runs are what they say: closed, true to their sources, transcripts, cases and worlds.

They are recorded with a real client, so not remade here. Everything is read by other means than those that made it:
transcripts with plain json, worlds with ``git apply``, outcomes by decoding each judgement, so that a fault of the
program or of `checks.golden.make` can't confirm itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checks.golden import expected, recipes, sources, variants
from pytest_skillbench import casefile
from pytest_skillbench.model import (
    ArmName,
    ArmRecord,
    Assertion,
    JudgementRecord,
    NarrativeSentence,
    PlannedCase,
    Request,
)
from pytest_skillbench.record import RunRecord, load
from pytest_skillbench.trials import is_quote

GOLDEN = Path(__file__).parent / "golden"
ROOT = GOLDEN.parent.parent
RUNS = sorted(path for path in GOLDEN.rglob("*.run") if path.is_dir())
_TOP = "home|root|work|tmp|var|opt|mnt|srv|run|Users|private|workspace"
_MACHINE = re.compile(rf"(?<![\w.~*)\]-])/(?:{_TOP})(?:/[\w.-]+)+")
_NEUTRAL = ("/home/dev/courier", "/home/dev/.claude", "/tmp/sb-", "/tmp/claude-1000/")
FULL = [path for path in RUNS if path.parent.name == "runs"]


def name(path: Path) -> str:
    """Return a run's test id: ``runs/release-notes.run``."""
    return path.relative_to(GOLDEN).as_posix()


def read(path: Path) -> RunRecord:
    """Load a run that must be there."""
    record = load(path, name(path))
    assert record is not None
    return record


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files of a folder by path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_variants_are_made_from_the_runs(tmp_path: Path) -> None:
    """The committed variants are what the committed runs give, byte for byte, and nothing else."""
    variants.main(GOLDEN, tmp_path)
    made, committed = files_below(tmp_path / "variants"), files_below(GOLDEN / "variants")
    assert sorted(made) == sorted(committed)
    assert [path for path in made if made[path] != committed[path]] == [], "run: python -m checks.golden.make"


@pytest.mark.parametrize("path", FULL, ids=name)
def test_records_tell_what_was_authored(path: Path) -> None:
    """Outputs, files and judgements are those of `source/`, trial by trial: an edited source must be recorded anew."""
    record = read(path)
    plan = record.plan
    recipe = next(recipe for recipe in recipes.RECIPES if recipe.skill == plan.skill.name)
    assert (plan.skill.path, plan.shape == "three-arm") == (recipe.path, recipe.previous is not None)
    assert record.narrative is not None
    assert [_plain(sentence) for sentence in record.narrative.sentences] == list(recipe.narrative)
    for case in plan.cases:
        wrote, said = sources.load(plan.skill.name, case.name)
        fixture = {p: data.decode() for p, data in files_below(ROOT / case.path / "fixture").items()}
        assert set(wrote) == {(trial, arm) for name_, trial, arm in record.arms if name_ == case.name}
        for (trial, arm), left in wrote.items():
            assert record.output(case.name, trial, arm) == left.reply
            after = sources.final_files(fixture, left)
            changed = {p: hashlib.sha256(after[p].encode()).hexdigest() for p in after if after[p] != fixture.get(p)}
            assert {c.path: c.sha256 for c in record.arms[case.name, trial, arm].changes} == changed
        judged = {key[1:] for key in record.judgements if key[0] == case.name}
        assert judged == {(one.trial, one.comparison, one.seat) for one in said}
        for one in said:
            _assert_said(record.judgements[case.name, one.trial, one.comparison, one.seat], one)  # type: ignore[index]


def _plain(sentence: NarrativeSentence) -> dict[str, Any]:
    evidence = [
        {key: value for key, value in found.items() if value is not None}
        for found in msgspec.to_builtins(sentence)["evidence"]
    ]
    return {"about": sentence.about, "text": sentence.text, "evidence": evidence}


def _assert_said(judgement: JudgementRecord, said: sources.Said) -> None:
    """Hold a judgement to what was authored, with the letters turned back."""
    assert judgement.status == ("identical" if said.identical else "ok")
    if said.identical:
        return
    new, other = ("A", "B") if judgement.order == "new-first" else ("B", "A")
    letters = {"new": new, "other": other, "tie": "TIE"}
    assert (judgement.winner, judgement.strength) == (letters[said.win], said.strength)
    assert judgement.rationale == said.why.replace("{N}", new).replace("{O}", other)
    for found, (better, because, of_new, of_other) in zip(judgement.criteria, said.criteria, strict=True):
        assert (found.better, found.because) == (
            letters[better],
            because.replace("{N}", new).replace("{O}", other),
        )
        assert {"A": found.quote_a, "B": found.quote_b} == {new: of_new, other: of_other}


@pytest.mark.parametrize("path", FULL, ids=name)
def test_nothing_of_the_machine_and_the_day_of_the_recording(path: Path) -> None:
    """Every path is of the neutral home, program folders or the arms' worlds, and every time is of one afternoon."""
    day = read(path).plan.created_at[:10]
    skill = read(path).plan.skill.name
    for file in (*path.rglob("*"), *(GOLDEN / "transcripts" / skill).rglob("*")):
        if not file.is_file() or file.parent.name in ("outputs", "changes"):
            continue
        text = file.read_text("utf-8")
        strange = [found for found in _MACHINE.findall(text) if not found.startswith(_NEUTRAL)]
        assert strange == [], file
        times = {found[:10] for found in re.findall(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d", text)}
        assert times <= {day}, file


@pytest.mark.parametrize("path", RUNS, ids=name)
def test_every_record_is_closed_and_says_that_it_is_an_example(path: Path) -> None:
    """A golden file that the strict readers refuse would make every test that uses it meaningless."""
    record = read(path)
    assert record.problems == ()
    assert record.plan.example


@pytest.mark.parametrize("path", RUNS, ids=name)
def test_digests_are_those_of_the_tree(path: Path) -> None:
    """Digests by their definition: LF bytes for a case, path NUL hash LF for a tree; stale would be no example."""
    plan = read(path).plan
    assert plan.packages.new_skill.tree_sha256 == _tree(ROOT / "skills" / plan.skill.path)
    if plan.packages.previous_version is not None:
        assert plan.packages.previous_version.tree_sha256 == _tree(GOLDEN / "previous" / plan.skill.name)
        assert plan.packages.previous_version.tree_sha256 != plan.packages.new_skill.tree_sha256
    for case in plan.cases:
        text = (ROOT / case.path / "case.md").read_bytes().replace(b"\r\n", b"\n")
        fixture = ROOT / case.path / "fixture"
        assert case.case_sha256 == hashlib.sha256(text).hexdigest()
        assert case.fixture_sha256 == (_tree(fixture) if fixture.is_dir() else None)


def _tree(folder: Path) -> str:
    found = {path.encode(): hashlib.sha256(data).hexdigest() for path, data in files_below(folder).items()}
    return hashlib.sha256(b"".join(p + b"\0" + found[p].encode() + b"\n" for p in sorted(found))).hexdigest()


@pytest.mark.parametrize("path", FULL, ids=name)
def test_arm_records_follow_from_their_transcripts(path: Path) -> None:
    """Requests, turns, tool calls, model, start and the output itself are those of the session's files."""
    record = read(path)
    folder = GOLDEN / "transcripts" / record.plan.skill.name
    labels = json.loads((folder / "jobs.json").read_bytes())
    seen = set()
    for meta in folder.glob("projects/*/*/subagents/agent-*.meta.json"):
        stem = labels[json.loads(meta.read_bytes())["description"]]
        case, trial, arm_name = stem.split(".")
        told = _told(meta.with_name(meta.name.replace(".meta.json", ".jsonl")))
        arm = record.arms[case, int(trial), arm_name]
        assert arm.requests is not None
        assert [_as_json(request) for request in arm.requests] == told["requests"]
        assert (arm.turns, arm.tool_calls, arm.model) == (told["turns"], told["tools"], told["model"])
        assert (path / "outputs" / f"{stem}.md").read_text("utf-8") == told["text"]
        assert told["first"][:19] == (arm.started_at or "")[:19]
        assert arm.usage_complete
        seen.add((case, int(trial), arm_name))
    assert seen == set(record.arms)


def _as_json(request: Request) -> dict[str, Any]:
    keys = ("id", "input", "cache_write_5m", "cache_write_1h", "cache_read", "output")
    return {key: getattr(request, key) for key in keys}


def _told(path: Path) -> dict[str, Any]:
    """Read one subagent's file: usage of each message id from its last line, blocks from all of them."""
    lines = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    usage: dict[str, dict[str, Any]] = {}
    blocks: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        if line["type"] == "assistant":
            message = line["message"]
            usage[message["id"]] = message["usage"]
            blocks[message["id"]] += message["content"]
    calls = [block["name"] for found in blocks.values() for block in found if block["type"] == "tool_use"]
    last = blocks[list(blocks)[-1]]
    return {
        "requests": [
            {
                "id": id_,
                "input": used["input_tokens"],
                "cache_write_5m": used["cache_creation"]["ephemeral_5m_input_tokens"],
                "cache_write_1h": used["cache_creation"]["ephemeral_1h_input_tokens"],
                "cache_read": used["cache_read_input_tokens"],
                "output": used["output_tokens"],
            }
            for id_, used in usage.items()
        ],
        "turns": sum(any(block["type"] == "tool_use" for block in found) for found in blocks.values()),
        "tools": dict(Counter(calls)),
        "model": next(line["message"]["model"] for line in lines if line["type"] == "assistant"),
        "text": "".join(block["text"] for block in last if block["type"] == "text"),
        "first": lines[0]["timestamp"],
    }


@pytest.mark.parametrize("path", RUNS, ids=name)
def test_gate_results_and_changes_are_true(path: Path, tmp_path: Path) -> None:
    """The recorded diff on the fixture gives the recorded files, and on them each assertion exits as recorded."""
    record = read(path)
    cases = {case.name: case for case in record.plan.cases}
    for at, arm in enumerate(record.arms.values()):
        if arm.output is None:
            continue
        world = tmp_path / f"w{at}"
        _world(record, cases[arm.case], arm, world)
        changed = {change.path: change.sha256 for change in arm.changes}
        fixture = files_below(ROOT / cases[arm.case].path / "fixture")
        differing = {p: data for p, data in files_below(world).items() if fixture.get(p) != data}
        assert {p: hashlib.sha256(data).hexdigest() for p, data in differing.items()} == changed
        if arm.arm == "new-skill":
            output = path / "outputs" / f"{arm.case}.{arm.trial}.{arm.arm}.md"
            assert _exits(cases[arm.case], world, output) == [result.exit_code for result in arm.gate]
        else:
            assert arm.gate == ()


def _world(record: RunRecord, case: PlannedCase, arm: ArmRecord, world: Path) -> None:
    fixture = ROOT / case.path / "fixture"
    if fixture.is_dir():
        shutil.copytree(fixture, world)
    else:
        world.mkdir()
    diff = record.changes(arm.case, arm.trial, arm.arm)
    if diff:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        clean |= {
            "GIT_CEILING_DIRECTORIES": str(world.parent),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        subprocess.run(["git", "apply", "-p1"], cwd=world, input=diff.encode(), env=clean, check=True)


def _exits(case: PlannedCase, world: Path, output: Path) -> list[int]:
    return [_run(assertion, world, output).returncode for assertion in case.assertions]


def _run(assertion: Assertion, world: Path, output: Path) -> subprocess.CompletedProcess[bytes]:
    """Run one hard assertion as FORMATS section 1 says."""
    shell = ["sh", "-eu", "-c"] if assertion.shell == "sh" else ["bash", "-euo", "pipefail", "-c"]
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "OUTPUT": str(output), "WORLD": str(world)}
    return subprocess.run([*shell, assertion.command], cwd=world, env=env, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize("file", sorted((ROOT / "tests").rglob("case.md")), ids=lambda file: file.parent.name)
def test_every_hard_assertion_fails_on_the_untouched_fixture(file: Path, tmp_path: Path) -> None:
    """An assertion that already holds before anything was done would gate nothing."""
    case = casefile.parse(file.read_bytes(), file.parent.name)
    assert case.assertions
    world, output = tmp_path / "world", tmp_path / "output.md"
    shutil.copytree(file.parent / "fixture", world) if (file.parent / "fixture").is_dir() else world.mkdir()
    output.write_bytes(b"")
    for assertion in case.assertions:
        done = _run(assertion, world, output)
        assert done.returncode == 1, f"line {assertion.line}: {done.stderr.decode()}"
        assert done.stderr == b""


@pytest.mark.parametrize("path", RUNS, ids=name)
def test_quotes_stand_in_the_outputs_they_are_taken_from(path: Path) -> None:
    """A wrong label or a made-up quote in an example would teach readers to distrust the real thing."""
    record = read(path)
    quotes = 0
    for judgement in record.judgements.values():
        for criterion in judgement.criteria:
            for label, quote in (("A", criterion.quote_a), ("B", criterion.quote_b)):
                if quote is not None:
                    text = record.output(judgement.case, judgement.trial, _shown_as(judgement, label))
                    assert text is not None
                    assert is_quote(quote, text), f"{judgement.case}.{judgement.trial}.{judgement.comparison}: {quote}"
                    quotes += 1
    assert quotes > 5


def _shown_as(judgement: JudgementRecord, label: str) -> ArmName:
    other: ArmName = "no-skill" if judgement.comparison == "efficacy" else "previous-version"
    return "new-skill" if (label == "A") == (judgement.order == "new-first") else other


@pytest.mark.parametrize("path", RUNS, ids=name)
def test_orders_are_balanced_and_kept(path: Path) -> None:
    """Two or three of five trials show the new arm first, and the first judge saw what the plan says."""
    record = read(path)
    for case in record.plan.cases:
        for comparison in ("efficacy", "regression") if record.plan.shape == "three-arm" else ("efficacy",):
            orders = [record.plan.orders[f"{case.name}.{trial}.{comparison}"] for trial in range(1, 6)]
            assert orders.count("new-first") in (2, 3)
    for (case_name, trial, comparison, seat), judgement in record.judgements.items():
        if seat == 1:
            assert judgement.order == record.plan.orders[f"{case_name}.{trial}.{comparison}"]


def test_the_trend_of_the_demo_has_the_base_of_the_run() -> None:
    """In the story the released version has not moved; a mark that it has would be of the recording."""
    base = read(GOLDEN / "runs" / "release-notes.run").plan.base
    assert base is not None
    lines = (GOLDEN / "history" / "release-notes.history.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["base_commit"] for line in lines} == {None, base.commit}


@pytest.mark.parametrize("skill", sorted(expected.RUNS))
def test_expected_outcomes_add_up(skill: str) -> None:
    """The hand-written expectations agree with themselves, and with the judgements decoded here by hand."""
    run = expected.RUNS[skill]
    record = read(GOLDEN / "runs" / f"{skill}.run")
    assert list(run.cases) == [case.name for case in record.plan.cases]
    votes: dict[str, dict[int, dict[Any, str]]] = defaultdict(lambda: defaultdict(dict))
    for judgement in record.judgements.values():
        vote = "T"
        if judgement.winner in ("A", "B"):
            vote = "W" if _shown_as(judgement, judgement.winner) == "new-skill" else "L"
        votes[f"{judgement.case}.{judgement.comparison}"][judgement.trial][judgement.seat] = vote
    for case, comparisons in run.cases.items():
        for comparison, found in comparisons.items():
            assert "".join(_majority(votes[f"{case}.{comparison}"][trial]) for trial in range(1, 6)) == found.outcomes
            letters = Counter(found.outcomes)
            assert [letters[x] for x in "WTLGI"] == [found.wins, found.ties, found.losses, found.gates, found.invalid]
            assert found.net == found.wins - found.losses
    for comparison, badge in run.badges.items():
        parts = [found[comparison] for found in run.cases.values() if comparison in found]
        for count in ("wins", "ties", "losses", "gates", "invalid", "net"):
            assert getattr(badge, count) == sum(getattr(part, count) for part in parts)
    panels = {
        key: tuple("".join(trials[trial][seat] for seat in (1, 2, 3)) for trial in range(1, 6))
        for key, trials in votes.items()
        if any(len(seats) == 3 for seats in trials.values())
    }
    assert panels == run.panels
    for panel in panels.values():
        firsts = Counter(votes_of_trial[0] for votes_of_trial in panel)
        assert min(firsts["W"], firsts["L"]) >= 2, "no panel is asked for without a split"


def _majority(seats: dict[Any, str]) -> str:
    winner, count = Counter(seats.values()).most_common(1)[0]
    return winner if len(seats) == 1 or count >= 2 else "T"


@pytest.mark.parametrize("skill", sorted(expected.RUNS))
def test_expected_costs_follow_from_the_transcripts(skill: str) -> None:
    """The hand-added token sums are the transcripts', and their dollars are those of the published prices."""
    folder = GOLDEN / "transcripts" / skill
    labels = json.loads((folder / "jobs.json").read_bytes())
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for meta in folder.glob("projects/*/*/subagents/agent-*.meta.json"):
        told = _told(meta.with_name(meta.name.replace(".meta.json", ".jsonl")))
        mine = sums[labels[json.loads(meta.read_bytes())["description"]].split(".")[2]]
        mine.update(runs=1, turns=told["turns"], api_calls=len(told["requests"]))
        for request in told["requests"]:
            mine.update({key: value for key, value in request.items() if key != "id"})
    for arm, cost in expected.RUNS[skill].costs.items():
        told_of = cost._asdict()
        assert {key: told_of[key] for key in list(told_of)[:8]} == dict(sums[arm])
        prices = (3, 3.75, 6, 0.30, 15)
        dollars = sum(count * price for count, price in zip(cost[3:8], prices, strict=True)) / 1e6
        assert cost.cost_usd == pytest.approx(dollars, abs=1e-12)
        assert cost.cost_equivalent_tokens == pytest.approx(dollars / 3e-6, abs=1e-6)
    costs = expected.RUNS[skill].costs
    for opponent, ratio in expected.RUNS[skill].ratios.items():
        exact = costs["new-skill"].cost_equivalent_tokens / costs[opponent].cost_equivalent_tokens
        assert ratio == pytest.approx(exact, abs=1e-5)


def test_small_enough_to_ship() -> None:
    """The whole folder stays at about 3 MB: it is cloned by everyone who wants to try the program."""
    size = sum(path.stat().st_size for path in GOLDEN.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert size < 3_100_000
