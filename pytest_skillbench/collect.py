"""What a host observed of one finished job -> the files of the run record. The only writer of arms/ and judgements/.

Gather. The final message goes to disk byte for byte, changes are taken from the world, the gate runs on a copy of it.
The record file is written last, so that a kill at any moment leaves the job open and nothing half said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from . import worlds
from .audit import Places, audit
from .files import write_atomic
from .formats import encode
from .gate import run as run_gate
from .handout import FALLBACK
from .jobs import Job, order_of
from .judging import Reply, read_reply
from .model import (
    COMPARISONS,
    NEW_ARM,
    ArmName,
    ArmRecord,
    Audit,
    Change,
    Finding,
    GateResult,
    JudgementRecord,
    OutputRef,
    Plan,
    PlannedCase,
    Temperature,
)
from .observed import Observed
from .pairs import INVALIDATING
from .plan import frozen_fixture
from .record import RunRecord, judgement_stem
from .runstate import Attempt


class Collected(msgspec.Struct, frozen=True):
    """A finished attempt: its record, and why it does not count if it does not (then it may be tried again)."""

    record: ArmRecord | JudgementRecord
    problem: str | None


def arm(
    plan: Plan, folder: Path, job: Job, attempt: Attempt, seen: Observed, places: Places, model: str | None
) -> Collected:
    """Read a settled arm. Writes its output and its diff beside the record; `keep` writes the record itself.

    `model` is what the run's other arms ran on, None for the first.
    """
    case = _case(plan, job.case)
    stem = job.stem
    text = seen.final_text.encode("utf-8")
    world = Path(attempt.world or "")
    fixture = frozen_fixture(folder, job.case)
    changes = worlds.snapshot_changes(world, fixture)
    write_atomic(folder / "outputs" / f"{stem}.md", text)
    write_atomic(folder / "changes" / f"{stem}.diff", worlds.unified_diff(world, fixture, changes))
    found = _audit(job, attempt, seen, places, model)
    problem = _arm_problem(seen, found)
    gate = _gate(plan, case, seen.final_text, world, places) if _gated(job, problem) else ()
    record = _arm_record(
        plan,
        job,
        attempt,
        status="ok" if seen.failed is None and text else "failed",
        detail=seen.failed or (None if text else "no final message"),
        output=OutputRef(sha256=hashlib.sha256(text).hexdigest(), bytes=len(text)) if text else None,
        changes=changes,
        gate=gate,
        audit=found,
        seen=seen,
    )
    return Collected(record=record, problem=problem)


def lost_arm(plan: Plan, job: Job, attempt: Attempt, status: str, why: str, seen: Observed | None) -> ArmRecord:
    """Return the record of an arm that gave nothing: timed out, never started, or failed before an answer."""
    return _arm_record(
        plan,
        job,
        attempt,
        status=status,
        detail=why,
        output=None,
        changes=(),
        gate=(),
        audit=Audit(skill_loaded=None, findings=()),
        seen=seen,
    )


def _gated(job: Job, problem: str | None) -> bool:
    return job.arm == NEW_ARM and problem is None


def _gate(plan: Plan, case: PlannedCase, text: str, world: Path, places: Places) -> tuple[GateResult, ...]:
    """Run the hard assertions on copies of the world and of the output: nothing they do touches the evidence."""
    if not case.assertions:
        return ()
    copy = worlds.copy_world(world, places.root)
    output = worlds.write_brief(places.root, text)
    try:
        return run_gate(case.assertions, copy, output, plan.settings.gate_timeout_seconds)
    finally:
        worlds.discard(places.root, copy)
        output.unlink(missing_ok=True)


def _audit(job: Job, attempt: Attempt, seen: Observed, places: Places, model: str | None) -> Audit:
    if job.arm is None:
        raise ValueError(f"{job.stem} is not an arm")
    found = Audit(skill_loaded=None, findings=()) if seen.uses is None else audit(job.arm, seen.uses, places)
    if model is not None and seen.model is not None and seen.model != model:
        differs = Finding(
            kind="model-differs", detail=f"{seen.model}, the other arms ran on {model}", evidence=seen.model
        )
        found = msgspec.structs.replace(found, findings=(*found.findings, differs))
    if attempt.agent == FALLBACK and seen.uses is not None:
        why = "ran as a general-purpose agent, which sees what skills are installed: skillbench install adds our own"
        general = Finding(kind="general-purpose", detail=why, evidence=attempt.agent)
        found = msgspec.structs.replace(found, findings=(*found.findings, general))
    return found


def _arm_problem(seen: Observed, found: Audit) -> str | None:
    if seen.failed is not None:
        return seen.failed
    if not seen.final_text:
        return "no final message"
    return next((f"{f.kind}: {f.detail}" for f in found.findings if f.kind in INVALIDATING), None)


def _arm_record(
    plan: Plan,
    job: Job,
    attempt: Attempt,
    *,
    status: str,
    detail: str | None,
    output: OutputRef | None,
    changes: tuple[Change, ...],
    gate: tuple[GateResult, ...],
    audit: Audit,
    seen: Observed | None,
) -> ArmRecord:
    return msgspec.convert(
        {
            "schema_version": 1,
            "run_id": plan.run_id,
            "case": job.case,
            "trial": job.trial,
            "arm": job.arm,
            "status": status,
            "detail": detail,
            "attempt": attempt.number,
            "output": output,
            "changes": changes,
            "host": seen.host if seen else plan.host,
            "host_version": seen.version if seen else None,
            "model": seen.model if seen else None,
            "effort": plan.settings.effort,
            "temperature": Temperature(requested=plan.settings.temperature, applied=None),
            "started_at": seen.started_at if seen else None,
            "duration_ms": seen.duration_ms if seen else None,
            "requests": seen.requests if seen else None,
            "usage_complete": seen.usage_complete if seen else False,
            "usage_notes": seen.usage_notes if seen else (),
            "turns": seen.turns if seen else None,
            "tool_calls": dict(sorted(seen.tools.items())) if seen else {},
            "gate": gate,
            "audit": audit,
        },
        ArmRecord,
    )


def judgement(plan: Plan, job: Job, attempt: Attempt, seen: Observed) -> Collected:
    """Read a settled judge's reply; a reply that can't be read is malformed, with the reason."""
    reply = read_reply(seen.final_text, len(_case(plan, job.case).criteria)) if seen.failed is None else seen.failed
    if isinstance(reply, Reply):
        return Collected(record=_judgement_record(plan, job, attempt, "ok", None, reply, seen), problem=None)
    status = "malformed" if seen.failed is None else "failed"
    record = _judgement_record(plan, job, attempt, status, reply, None, seen)
    return Collected(record=record, problem=f"{status}: {reply}")


def lost_judgement(plan: Plan, job: Job, attempt: Attempt, why: str, seen: Observed | None) -> JudgementRecord:
    """Return the record of a judge that never answered."""
    return _judgement_record(plan, job, attempt, "failed" if seen else "missing", why, None, seen)


def identical(plan: Plan, job: Job) -> JudgementRecord:
    """Return the record of a pair that is byte-equal: a TIE for which no judge is asked."""
    attempt = Attempt(label="", number=1, handed_out_at=plan.created_at, brief="", world=None, skill=None, agent="")
    why = "both outputs and both worlds' changes are byte-equal"
    return _judgement_record(plan, job, attempt, "identical", why, None, None)


def _judgement_record(
    plan: Plan, job: Job, attempt: Attempt, status: str, detail: str | None, reply: Reply | None, seen: Observed | None
) -> JudgementRecord:
    return msgspec.convert(
        {
            "schema_version": 1,
            "run_id": plan.run_id,
            "case": job.case,
            "trial": job.trial,
            "comparison": job.comparison,
            "seat": job.seat,
            "order": order_of(plan, job),
            "status": status,
            "detail": detail,
            "attempt": attempt.number,
            "winner": reply.winner if reply else None,
            "strength": reply.strength if reply else None,
            "criteria": reply.criteria if reply else (),
            "rationale": reply.rationale if reply else "",
            "model": seen.model if seen else None,
            "requests": seen.requests if seen else (() if status == "identical" else None),
            "usage_complete": seen.usage_complete if seen else status == "identical",
            "usage_notes": seen.usage_notes if seen else (),
        },
        JudgementRecord,
    )


def keep(folder: Path, job: Job, record: ArmRecord | JudgementRecord) -> None:
    """Write a job's record: from here on the job is done."""
    kind = "arms" if isinstance(record, ArmRecord) else "judgements"
    (folder / kind).mkdir(exist_ok=True)
    write_atomic(folder / kind / f"{job.stem}.json", encode(record))


def keep_attempt(folder: Path, job: Job, record: ArmRecord | JudgementRecord) -> None:
    """Write the record of an attempt that does not count, for whoever wants to know why there was another one."""
    (folder / "attempts").mkdir(exist_ok=True)
    write_atomic(folder / "attempts" / f"{job.stem}.{record.attempt}.json", encode(record))


def judgements_of(record: RunRecord, arm: ArmRecord) -> dict[str, JudgementRecord]:
    """Return the judgements, by their files' stems, of every pair that an arm of this trial is one of."""
    return {
        judgement_stem(*key): judgement
        for key, judgement in record.judgements.items()
        if key[:2] == (arm.case, arm.trial) and arm.arm in _arms_of(judgement)
    }


def without(record: RunRecord, judgements: Mapping[str, JudgementRecord]) -> RunRecord:
    """Return the run record without these judgements. Their files go to ``attempts/``."""
    (record.folder / "attempts").mkdir(exist_ok=True)
    for stem, judgement in judgements.items():
        write_atomic(record.folder / "attempts" / f"{stem}.{judgement.attempt}.json", encode(judgement))
        (record.folder / "judgements" / f"{stem}.json").unlink(missing_ok=True)
    left = {key: judgement for key, judgement in record.judgements.items() if judgement_stem(*key) not in judgements}
    return msgspec.structs.replace(record, judgements=left)


def _arms_of(judgement: JudgementRecord) -> tuple[ArmName, ...]:
    return NEW_ARM, next(c.opponent for c in COMPARISONS if c.name == judgement.comparison)


def with_record(record: RunRecord, made: ArmRecord | JudgementRecord) -> RunRecord:
    """Return the run record in memory with one more file, as a new load would give it."""
    if isinstance(made, ArmRecord):
        return msgspec.structs.replace(record, arms={**record.arms, (made.case, made.trial, made.arm): made})
    key = (made.case, made.trial, made.comparison, made.seat)
    return msgspec.structs.replace(record, judgements={**record.judgements, key: made})


def _case(plan: Plan, name: str) -> PlannedCase:
    return next(case for case in plan.cases if case.name == name)
