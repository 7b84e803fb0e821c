"""An arm of a run of ours -> an evidence run: its declaration and the artifacts that it is graded by.

Gather: reads the run record's files. What the record does not know stays null; what it doubts is a limitation.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from ..model import EFFICACY, ArmRecord, Plan, PlannedCase
from ..pairs import arm_problem
from ..record import RunRecord, arm_stem, judgement_stem
from ..trials import score
from .documents import FILE_LIMIT
from .grading import ARM_OF, CHANGES, OUTPUT, RECORD, fit, graded, judgement_path
from .records import CriterionResult, Execution, File, Limits, Metrics, Run, Variant
from .trees import read_bytes, strict

TRANSCRIPT = "transcript.jsonl"
MOST_ATTEMPTS = 5
MOST_SECONDS = 3_600
_LARGEST = 1_000_000_000
_MOST_LIMITATIONS = 32
EXAMPLE = "example data: recorded with a real client against a scripted model, not a measurement"
_RELATIVE = "soft criteria are judged by comparison: a pass is to be at least as good as the other arm"
_MODES = "file modes, empty folders and links of the case's fixture are not in the freeze"


def identifier(name: str) -> str:
    """Return a name as evidence's ids are: small letters, digits and hyphens from a letter on, at most 40 characters.

    A name that is none, or longer, gets a digest at its end, so that two names stay two.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    plain = plain if re.match(r"[a-z]", plain) else f"case-{plain}"
    if len(plain) <= 40 and plain in (name, f"case-{name}"):
        return plain
    return f"{plain[:31].rstrip('-')}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def limits_of(plan: Plan) -> Limits:
    """Return the attempts and the seconds that an exported case has."""
    seconds = math.ceil(plan.settings.arm_timeout_minutes * 60)
    return Limits(attempts=min(plan.trials, MOST_ATTEMPTS), seconds=max(1, min(seconds, MOST_SECONDS)))


def whole_run(plan: Plan) -> list[str]:
    """Return what has to be known of everything that is exported of a run."""
    notes = [EXAMPLE] if plan.example else []
    if plan.trials > MOST_ATTEMPTS:
        notes.append(f"trials 1 to {MOST_ATTEMPTS} of {plan.trials} were exported: a case has no more attempts")
    return notes


def run_of(
    record: RunRecord,
    case: PlannedCase,
    trial: int,
    variant: Variant,
    benchmark_sha256: str,
    transcript: Callable[[str, int], bytes | None],
) -> tuple[Run, dict[str, bytes]] | None:
    """Return the evidence run of one arm with its artifacts by path, None where the arm has no record.

    `transcript` returns what is to be kept of the transcript of a record file's stem and attempt, None for nothing.
    """
    arm = record.arms.get((case.name, trial, ARM_OF[variant]))
    if arm is None:
        return None
    limitations = [*whole_run(record.plan), *_limitations(arm)]
    artifacts = _artifacts(record, case, trial, variant)
    if (kept := transcript(arm_stem(case.name, trial, arm.arm), arm.attempt)) is not None:
        artifacts[TRANSCRIPT] = kept
    else:
        limitations.append("the client's transcript is not retained")
    if arm.changes and CHANGES not in artifacts:
        limitations.append(f"{CHANGES} is not retained: it is not in the run record")
    large = [path for path, data in artifacts.items() if len(data) > FILE_LIMIT]
    limitations += [f"{path} is not retained: it has {len(artifacts.pop(path)):,} bytes" for path in large]
    results = tuple(
        result if set(result.evidence) <= artifacts.keys() else _without_evidence(result, artifacts)
        for result in graded(record, case, trial, variant)
    )
    run = Run(
        schema_version=1,
        id=f"{identifier(case.name)}-{trial}-{variant}",
        benchmark_sha256=benchmark_sha256,
        case_id=identifier(case.name),
        variant=variant,
        attempt=trial,
        execution=_execution(record, arm, arm_problem(record, case.name, trial, arm.arm)),
        metrics=_metrics(arm),
        artifacts=tuple(
            File(path=path, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))
            for path, data in sorted(artifacts.items())
        ),
        criteria=results,
        limitations=tuple(fit(text) for text in limitations[:_MOST_LIMITATIONS]),
    )
    return run, artifacts


def _execution(record: RunRecord, arm: ArmRecord, problem: str | None) -> Execution:
    plan = record.plan
    settings = plan.settings
    host = f"{arm.host} {arm.host_version}" if arm.host_version else None
    asked = {
        "model": settings.model,
        "effort": settings.effort,
        "temperature": settings.temperature,
        "delivery": settings.delivery,
        "timeout minutes": settings.arm_timeout_minutes,
        "prompts": plan.prompts_sha256,
    }
    return Execution(
        kind="manual" if plan.host == "manual" else "agent",
        status="executed" if problem is None else "blocked",
        executor=fit(f"{host or arm.host}, driven by {plan.program}", 500),
        model=fit(arm.model) if arm.model else None,
        environment=fit(f"{host}; a fresh copy of the case's fixture for every arm") if host else None,
        settings=fit(", ".join(f"{name} {value}" for name, value in asked.items() if value is not None)),
        fresh_context=plan.host != "manual",
    )


def _metrics(arm: ArmRecord) -> Metrics:
    """Return what an arm took. Tokens are known only where every response is; input includes what caches took."""
    tokens: tuple[int, int] | None = None
    if arm.requests and arm.usage_complete:
        given = sum(r.input + r.cache_write_5m + r.cache_write_1h + r.cache_read for r in arm.requests)
        tokens = given, sum(r.output for r in arm.requests)
    return Metrics(
        wall_time_ms=_within(arm.duration_ms),
        input_tokens=_within(tokens[0] if tokens else None),
        output_tokens=_within(tokens[1] if tokens else None),
    )


def _within(value: int | None) -> int | None:
    return value if value is not None and value <= _LARGEST else None


def _limitations(arm: ArmRecord) -> list[str]:
    notes = [f"usage is not exact: {note}" for note in arm.usage_notes]
    seen = [f"audit, {finding.kind}: {finding.detail}" for finding in arm.audit.findings]
    return [_RELATIVE, _MODES, *seen, *notes]


def _artifacts(record: RunRecord, case: PlannedCase, trial: int, variant: Variant) -> dict[str, bytes]:
    """Return the files of the run record that tell of an arm, by their paths in the evidence run."""
    stem = arm_stem(case.name, trial, ARM_OF[variant])
    found = {RECORD: f"arms/{stem}.json", OUTPUT: f"outputs/{stem}.md", CHANGES: f"changes/{stem}.diff"}
    for vote in score(record, case, trial, EFFICACY).votes:
        found[judgement_path(vote)] = f"judgements/{judgement_stem(case.name, trial, EFFICACY.name, vote.seat)}.json"
    return {path: data for path, name in found.items() if (data := _bytes(record.folder, name)) is not None}


def _bytes(folder: Path, name: str) -> bytes | None:
    """Return a file of the record, None where there is none. A link leads elsewhere and is refused."""
    try:
        return read_bytes(folder, name, f"{folder}/{name}", strict(file=_LARGEST))
    except FileNotFoundError:
        return None


def _without_evidence(result: CriterionResult, artifacts: dict[str, bytes]) -> CriterionResult:
    """Return a result of which some evidence is not retained: without any, nothing is claimed."""
    left = tuple(path for path in result.evidence if path in artifacts)
    if left or result.verdict != "pass":
        return replace(result, evidence=left)
    return replace(result, verdict="blocked", reason=fit(f"not retained: {', '.join(result.evidence)}"), evidence=())
