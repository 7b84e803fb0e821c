"""Small runs for single tests, made from the recorded ones: a hard assertion that fails, a run that is half done."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from pytest_skillbench import digest, formats, gate
from pytest_skillbench.model import ArmName, ArmRecord, Audit, Finding, JudgementRecord, OutputRef, Plan
from pytest_skillbench.record import ArmKey, JudgementKey, arm_stem, judgement_stem, load

# It names both options, and says what it waits for, but nowhere that the question is open.
TOO_SURE = """# One system for feature flags

Status: Accepted

## Context
Three half-built systems are to become one, and time is what matters.

## Decision
We buy Flagpole, once security has seen the questionnaire on the 9th.

## Alternatives
- **Extend the billing service's own**: six weeks against two

## Next steps
- [ ] Aylin counts the places that need per-tenant rules, Friday the 5th"""


@dataclass
class Variant:
    """One case of a recorded run, to be changed and written: all that its folder will hold."""

    plan: Plan
    arms: dict[ArmKey, ArmRecord]
    judgements: dict[JudgementKey, JudgementRecord]
    outputs: dict[ArmKey, bytes]
    diffs: dict[ArmKey, bytes] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write the run's record."""
        _put(folder / "plan.json", formats.encode(self.plan))
        for key, arm in self.arms.items():
            _put(folder / "arms" / f"{arm_stem(*key)}.json", formats.encode(arm))
            if arm.output is not None:
                _put(folder / "outputs" / f"{arm_stem(*key)}.md", self.outputs[key])
                _put(folder / "changes" / f"{arm_stem(*key)}.diff", self.diffs[key])
        for judged, judgement in self.judgements.items():
            _put(folder / "judgements" / f"{judgement_stem(*judged)}.json", formats.encode(judgement))


def main(golden: Path, target: Path) -> None:
    """Write every variant below ``<target>/variants``; the same ``<golden>/runs`` give the same bytes."""
    for name, made in all_of(golden / "runs"):
        made.write(target / "variants" / name / f"{made.plan.skill.name}.run")


def all_of(runs: Path) -> Iterator[tuple[str, Variant]]:
    """Yield each variant's folder name and run."""
    yield "gate-failure", _gate_failure(runs)
    yield "half-done", _half_done(runs)


def _cut(folder: Path, case: str, run_id: str) -> Variant:
    """Return one case of a recorded run as a run of its own."""
    record = load(folder, folder.name)
    if record is None or record.problems:
        raise ValueError(f"{folder} is no run record that can be used")
    plan = record.plan
    cases = tuple(planned for planned in plan.cases if planned.name == case)
    plan = msgspec.structs.replace(
        plan,
        run_id=run_id,
        cases=cases,
        orders={key: order for key, order in plan.orders.items() if key.startswith(f"{case}.")},
        suite_sha256=digest.suite_digest((c.name, c.case_sha256, c.fixture_sha256) for c in cases),
    )
    arms = {key: _of(run_id, arm) for key, arm in record.arms.items() if key[0] == case}
    return Variant(
        plan=plan,
        arms=arms,
        judgements={key: _of(run_id, found) for key, found in record.judgements.items() if key[0] == case},
        outputs={key: (folder / "outputs" / f"{arm_stem(*key)}.md").read_bytes() for key in arms},
        diffs={key: (folder / "changes" / f"{arm_stem(*key)}.diff").read_bytes() for key in arms},
    )


def _of(run_id: str, record: Any) -> Any:
    return msgspec.structs.replace(record, run_id=run_id)


def _gate_failure(runs: Path) -> Variant:
    """Trial 3 of the new arm breaks a hard assertion: no judge was asked for it."""
    case = "no-decision-yet"
    made = _cut(runs / "decision-record.run", case, "20261127T083011Z-0d6a7e")
    key: ArmKey = (case, 3, "new-skill")
    data = TOO_SURE.encode()
    with tempfile.TemporaryDirectory() as folder:
        world, output = Path(folder) / "world", Path(folder) / "output.md"
        world.mkdir()
        output.write_bytes(data)
        results = gate.run(made.plan.cases[0].assertions, world, output, made.plan.settings.gate_timeout_seconds)
    # How long a shell takes is another figure each time; the record keeps those of the run.
    kept = made.arms[key].gate
    made.outputs[key] = data
    made.arms[key] = msgspec.structs.replace(
        made.arms[key],
        output=OutputRef(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data)),
        gate=tuple(
            msgspec.structs.replace(result, duration_ms=before.duration_ms)
            for result, before in zip(results, kept, strict=True)
        ),
    )
    del made.judgements[case, 3, "efficacy", 1]
    return made


def _half_done(runs: Path) -> Variant:
    """One whole trial, and every way in which the four others are not usable."""
    case = "reverted-feature"
    run = _cut(runs / "release-notes.run", case, "20261127T101544Z-e41b90")
    # Trial 2: no answer for efficacy yet, and one for regression that could not be read.
    del run.judgements[case, 2, "efficacy", 1]
    judged: JudgementKey = (case, 2, "regression", 1)
    unread = {"status": "malformed", "detail": "no JSON object in the answer", "winner": None, "strength": None}
    run.judgements[judged] = _changed(run.judgements[judged], {**unread, "criteria": (), "rationale": ""})
    # Trial 3: the baseline found the skill.
    seen = Finding(
        kind="contaminated",
        detail="the no-skill arm read the skill's SKILL.md",
        evidence="tool call 4, Bash: cat /home/dev/courier/skills/writing/release-notes/SKILL.md",
    )
    _audit(run, 3, "no-skill", Audit(skill_loaded=True, findings=(seen,)))
    # Trial 4: the new arm never opened the skill, so nobody was asked.
    unopened = Finding(
        kind="skill-not-loaded", detail="SKILL.md was never opened", evidence="no tool call on the skill's folder"
    )
    _audit(run, 4, "new-skill", Audit(skill_loaded=False, findings=(unopened,)))
    # Trial 5: the previous version ran out of time, the baseline has not run.
    late: ArmKey = (case, 5, "previous-version")
    out_of_time = {"status": "timed-out", "detail": "no answer after 30 minutes", "output": None, "changes": ()}
    run.arms[late] = _changed(run.arms[late], out_of_time)
    del run.arms[case, 5, "no-skill"]
    for trial in (4, 5):
        run.judgements.pop((case, trial, "efficacy", 1), None)
        run.judgements.pop((case, trial, "regression", 1), None)
    return run


def _audit(run: Variant, trial: int, arm: ArmName, audit: Audit) -> None:
    key: ArmKey = (run.plan.cases[0].name, trial, arm)
    run.arms[key] = msgspec.structs.replace(run.arms[key], audit=audit)


def _changed(record: Any, to: Mapping[str, object]) -> Any:
    return msgspec.structs.replace(record, **to)


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
