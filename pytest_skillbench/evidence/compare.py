"""A freeze and its runs -> what they show, pair by pair, and which pairs may be compared at all.

Core: `compare` is pure arithmetic over records; `inspect` hands it what was verified. It says what was declared and
what was graded; it certifies nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from .load import verify
from .reading import JSON_LIMIT, WHITE_SPACE, refuse
from .records import (
    VARIANTS,
    Budget,
    Case,
    Change,
    Comparison,
    Coverage,
    CriterionPair,
    CriterionResult,
    CriticalFailure,
    Evidence,
    Freeze,
    Graded,
    LimitationsPair,
    MetricsPair,
    Pair,
    Run,
)
from .runs import read_runs

#: What no comparison shows, however it ends.
LIMITS = (
    "The digests prove that bytes are unchanged, not who made them: executor, model, context, metrics and grades are "
    "as declared.",
    "Fixture and manual runs are evidence of their own kind and never count as agent runs.",
    "A pass is of the critical criteria of these runs: neither conformance to a standard, nor fitness for release, nor "
    "proof that the skill was the cause.",
    "Final-acceptance is a label in the suite; that nobody tuned on the case is for its owner to assert.",
    "One pair is one observation and no statistic; nothing is filled in for a figure that was not reported.",
)
_GRADES = ("pass", "fail")
_CONDITIONS = ("model", "environment", "settings")
_UNKNOWN = re.compile(r"unknown|unavailable|not[- _]?(known|recorded|available)|n/a", re.IGNORECASE | re.ASCII)


def inspect(directory: Path) -> Evidence:
    """Return the freeze at `directory`, its runs and their comparison, all of whose bytes were verified.

    Only reads. The freeze is looked at again when the runs have been read. Raises EvidenceError.
    """
    loaded = verify(directory)
    freeze = loaded.freeze
    retained = read_runs(freeze)
    after = verify(directory, loaded).freeze
    if (after.manifest_sha256, after.suite) != (freeze.manifest_sha256, freeze.suite):
        raise refuse("Freeze changed during comparison.", str(directory), expected="nothing that writes here meanwhile")
    comparison = compare(freeze, [entry.run for entry in retained])
    size = len(msgspec.json.encode(comparison))
    if size > JSON_LIMIT:
        expected = f"at most {JSON_LIMIT:,}; there would be {size:,}"
        raise refuse(f"Comparison output exceeds {JSON_LIMIT} bytes.", str(directory), expected=expected)
    return Evidence(freeze=freeze, retained=retained, comparison=comparison)


def compare(freeze: Freeze, runs: Sequence[Run]) -> Comparison:
    """Return what ``evidence compare`` says of a freeze and the runs of it, no two of which have one slot."""
    by_slot = {run.slot: run for run in runs}
    pairs = tuple(
        _pair(case, attempt, by_slot.get((case.id, "baseline", attempt)), by_slot.get((case.id, "treatment", attempt)))
        for case in freeze.suite.cases
        for attempt in range(1, case.limits.attempts + 1)
    )
    complete = all(pair.comparison_status == "complete" for pair in pairs)
    return Comparison(
        schema_version=1,
        suite=freeze.suite.id,
        benchmark_sha256=freeze.manifest.benchmark_sha256,
        packages=freeze.manifest.packages,
        coverage=_coverage(pairs, runs),
        observed_treatment_result=overall(pair.observed_treatment_result for pair in pairs),
        comparison_status="complete" if complete else "incomplete",
        cases=pairs,
        limits=LIMITS,
    )


def overall(results: Iterable[Graded]) -> Graded:
    """Return a suite's result from those of its pairs: any fail is a fail, only all passes a pass, else blocked."""
    found = tuple(results)
    if "fail" in found:
        return "fail"
    return "pass" if all(result == "pass" for result in found) else "blocked"


def observed(case: Case, run: Run | None) -> Graded:
    """Return what a run shows of the critical criteria of its case."""
    if run is None or run.execution.status == "not-run":
        return "not-run"
    if run.execution.status == "blocked":
        return "blocked"
    verdicts = {result.id: result.verdict for result in run.criteria}
    critical = [verdicts[criterion.id] for criterion in case.criteria if criterion.critical]
    if "fail" in critical:
        return "fail"
    return "pass" if all(verdict == "pass" for verdict in critical) else "blocked"


def reasons_against(case: Case, baseline: Run | None, treatment: Run | None) -> tuple[str, ...]:
    """Return why two runs may not be compared, in the format's words and order; () where they may."""
    if baseline is None or treatment is None:
        return ("A baseline/treatment run is missing.",)
    both = (baseline, treatment)
    reasons = []
    if any(run.execution.status != "executed" for run in both):
        reasons.append("Both arms must have executed.")
    if any(run.execution.kind != "agent" for run in both):
        reasons.append("The pair is not two declared agent executions.")
    if not all(run.execution.fresh_context for run in both):
        reasons.append("Fresh independent contexts are not declared for both arms.")
    for variant, run in zip(VARIANTS, both, strict=True):
        if _within(case, run) is False:
            reasons.append(f"Reported {variant} wall time exceeds the frozen case limit.")
    for name in _CONDITIONS:
        declared: list[str | None] = [getattr(run.execution, name) for run in both]
        if not all(map(is_known, declared)):
            reasons.append(f"Comparable {name} is unknown.")
        elif declared[0] != declared[1]:
            reasons.append(f"Declared {name} differs between arms.")
    return tuple(reasons)


def is_known(declared: str | None) -> bool:
    """Tell whether a declared model, environment or settings says anything."""
    return declared is not None and not _UNKNOWN.fullmatch(declared.strip(WHITE_SPACE))


def _pair(case: Case, attempt: int, baseline: Run | None, treatment: Run | None) -> Pair:
    reasons = reasons_against(case, baseline, treatment)
    agents = all(
        run is not None and run.execution.kind == "agent" and run.execution.status == "executed"
        for run in (baseline, treatment)
    )
    controlled = agents and not reasons
    criteria = _criteria(case, baseline, treatment, controlled=controlled)
    complete = controlled and all(criterion.change != "not-compared" for criterion in criteria)
    return Pair(
        case_id=case.id,
        phase=case.phase,
        attempt=attempt,
        baseline_run=None if baseline is None else baseline.id,
        treatment_run=None if treatment is None else treatment.id,
        declared_agent_pair=agents,
        declared_controlled_agent_pair=controlled,
        comparability_reasons=reasons,
        comparison_status="complete" if complete else "incomplete",
        observed_treatment_result=observed(case, treatment),
        critical_failures=tuple(
            CriticalFailure(variant=variant, criterion=criterion.id)
            for criterion in criteria
            for variant, result in zip(VARIANTS, (criterion.baseline, criterion.treatment), strict=True)
            if criterion.critical and result is not None and result.verdict == "fail"
        ),
        criteria=criteria,
        reported_metrics=MetricsPair(
            baseline=None if baseline is None else baseline.metrics,
            treatment=None if treatment is None else treatment.metrics,
        ),
        reported_budget=Budget(
            seconds_limit=case.limits.seconds,
            baseline_within_limit=_within(case, baseline),
            treatment_within_limit=_within(case, treatment),
        ),
        run_limitations=LimitationsPair(
            baseline=() if baseline is None else baseline.limitations,
            treatment=() if treatment is None else treatment.limitations,
        ),
    )


def _criteria(
    case: Case, baseline: Run | None, treatment: Run | None, *, controlled: bool
) -> tuple[CriterionPair, ...]:
    before, after = (
        {} if run is None else {result.id: result for result in run.criteria} for run in (baseline, treatment)
    )
    return tuple(
        CriterionPair(
            id=criterion.id,
            critical=criterion.critical,
            baseline=before.get(criterion.id),
            treatment=after.get(criterion.id),
            change=_change(before.get(criterion.id), after.get(criterion.id)) if controlled else "not-compared",
        )
        for criterion in case.criteria
    )


def _change(before: CriterionResult | None, after: CriterionResult | None) -> Change:
    if before is None or after is None or before.verdict not in _GRADES or after.verdict not in _GRADES:
        return "not-compared"
    if before.verdict == after.verdict:
        return "unchanged"
    return "improved" if after.verdict == "pass" else "regressed"


def _within(case: Case, run: Run | None) -> bool | None:
    if run is None or run.metrics.wall_time_ms is None:
        return None
    return run.metrics.wall_time_ms <= case.limits.seconds * 1_000


def _coverage(pairs: Sequence[Pair], runs: Sequence[Run]) -> Coverage:
    return Coverage(
        expected_pairs=len(pairs),
        imported_runs=len(runs),
        missing_runs=2 * len(pairs) - len(runs),
        paired_cases=sum(pair.baseline_run is not None and pair.treatment_run is not None for pair in pairs),
        declared_agent_pairs=sum(pair.declared_agent_pair for pair in pairs),
        declared_controlled_agent_pairs=sum(pair.declared_controlled_agent_pair for pair in pairs),
        fixture_runs=sum(run.execution.kind == "fixture" for run in runs),
        manual_runs=sum(run.execution.kind == "manual" for run in runs),
        unexecuted_runs=sum(run.execution.status != "executed" for run in runs),
    )
