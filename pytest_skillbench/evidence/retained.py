"""What a verified benchmark says of one package: the receipt's facts, taken from bytes and not from a caller.

Gather: `quality` hands in an assertion and where the bytes are. The whole benchmark is verified, cases of other skills
included; the facts are then those of the cases that select the skill. This raises the assurance to
``verified_retained_benchmark``: the bytes are those that were frozen and imported. Who executed and graded them, and
with what, stays an assertion.
"""

from __future__ import annotations

import msgspec

from ..errors import QualityError
from .coverage import BehavioralCoverage, SelectedCase, TreatmentCoverage, treatment_result
from .envelope import Artifact, BenchmarkFacts, Method, QualityReceipt, Reason
from .receipts import finish
from .records import Case, Evidence, Pair, RetainedRun, Variant

METHOD = Method(name="retained-benchmark-comparison", version="1", revision=None, source_sha256=None)

_REASONS: dict[str, Reason] = {
    "A baseline/treatment run is missing.": "missing_arm",
    "Both arms must have executed.": "unexecuted_arm",
    "The pair is not two declared agent executions.": "non_agent_pair",
    "Fresh independent contexts are not declared for both arms.": "fresh_context_unasserted",
    "Reported baseline wall time exceeds the frozen case limit.": "baseline_overrun",
    "Reported treatment wall time exceeds the frozen case limit.": "treatment_overrun",
    "Comparable model is unknown.": "model_unknown",
    "Comparable environment is unknown.": "environment_unknown",
    "Comparable settings is unknown.": "settings_unknown",
    "Declared model differs between arms.": "model_different",
    "Declared environment differs between arms.": "environment_different",
    "Declared settings differs between arms.": "settings_different",
}


def from_evidence(asserted: QualityReceipt, evidence: Evidence) -> QualityReceipt:
    """Return the receipt with method, result, coverage, artifacts and assurance of a verified benchmark.

    Raises QualityError ``invalid_input`` where the event is no behavioural evaluation, the benchmark holds no such
    package or another revision of it, or the receipt would be too long to name all its runs.
    """
    payload = asserted.payload
    freeze = evidence.freeze
    digests = {package.name: package.tree_sha256 for package in freeze.manifest.packages}
    if payload.kind != "behavioral_evaluation" or digests.get(payload.skill) != payload.source.package_sha256:
        raise QualityError("invalid_input")
    cases = tuple(case for case in freeze.suite.cases if payload.skill in case.skills)
    names = {case.id for case in cases}
    pairs = tuple(pair for pair in evidence.comparison.cases if pair.case_id in names)
    runs = tuple(retained for retained in evidence.retained if retained.run.case_id in names)
    coverage = _coverage(cases, pairs, runs)
    manifest = Artifact(locator="manifest.json", sha256=freeze.manifest_sha256, scope="benchmark_manifest")
    return finish(
        msgspec.structs.replace(
            asserted,
            payload=msgspec.structs.replace(
                payload,
                assurance="verified_retained_benchmark",
                method=METHOD,
                result=treatment_result(coverage.treatment),
                coverage=coverage,
                artifacts=(manifest, *map(_artifact, runs)),
                limitations=tuple(limit for limit in payload.limitations if limit != "caller_assertion"),
                benchmark=_facts(evidence, pairs, runs),
            ),
        )
    )


def _artifact(retained: RetainedRun) -> Artifact:
    return Artifact(locator=f"runs/{retained.run.id}/run.json", sha256=retained.run_sha256, scope="benchmark_run")


def _coverage(cases: tuple[Case, ...], pairs: tuple[Pair, ...], runs: tuple[RetainedRun, ...]) -> BehavioralCoverage:
    executions = [retained.run.execution for retained in runs]
    failures = [failure.variant for pair in pairs for failure in pair.critical_failures]
    return BehavioralCoverage(
        expected_pairs=len(pairs),
        imported_runs=len(runs),
        missing_runs=2 * len(pairs) - len(runs),
        paired_cases=sum(pair.baseline_run is not None and pair.treatment_run is not None for pair in pairs),
        declared_agent_pairs=sum(pair.declared_agent_pair for pair in pairs),
        declared_controlled_agent_pairs=sum(pair.declared_controlled_agent_pair for pair in pairs),
        fixture_runs=sum(execution.kind == "fixture" for execution in executions),
        manual_runs=sum(execution.kind == "manual" for execution in executions),
        unexecuted_runs=sum(execution.status != "executed" for execution in executions),
        critical_failures=len(failures),
        treatment_critical_failures=failures.count("treatment"),
        comparison_status="complete" if all(pair.comparison_status == "complete" for pair in pairs) else "incomplete",
        selected_cases=tuple(
            SelectedCase(
                case_id=case.id,
                phase=case.phase,
                attempts=case.limits.attempts,
                joint_workflow=len(case.skills) > 1,
            )
            for case in cases
        ),
        treatment=_treatment(pairs, runs),
    )


def _treatment(pairs: tuple[Pair, ...], runs: tuple[RetainedRun, ...]) -> TreatmentCoverage:
    statuses = {item.run.id: item.run.execution.status for item in runs if item.run.variant == "treatment"}
    counts = list(statuses.values())
    executed = [pair for pair in pairs if statuses.get(pair.treatment_run or "") == "executed"]
    return TreatmentCoverage(
        expected=len(pairs),
        executed=counts.count("executed"),
        blocked=counts.count("blocked"),
        not_run=counts.count("not-run"),
        missing=len(pairs) - len(counts),
        passed=sum(pair.observed_treatment_result == "pass" for pair in executed),
        failed=sum(pair.observed_treatment_result == "fail" for pair in executed),
        unresolved=sum(pair.observed_treatment_result == "blocked" for pair in executed),
    )


def _facts(evidence: Evidence, pairs: tuple[Pair, ...], runs: tuple[RetainedRun, ...]) -> BenchmarkFacts:
    comparison = evidence.comparison
    observed = comparison.observed_treatment_result
    if observed == "not-run":  # a suite's result is never that: what did not run is blocked
        raise QualityError("invalid_input")
    return BenchmarkFacts(
        suite=comparison.suite,
        benchmark_sha256=comparison.benchmark_sha256,
        scope="selected_package_cases",
        suite_comparison_status=comparison.comparison_status,
        suite_observed_treatment_result=observed,
        result_basis="critical_treatment_criteria",
        baseline_failed_criteria=_failed(pairs, "baseline"),
        treatment_failed_criteria=_failed(pairs, "treatment"),
        baseline_overruns=sum(pair.reported_budget.baseline_within_limit is False for pair in pairs),
        treatment_overruns=sum(pair.reported_budget.treatment_within_limit is False for pair in pairs),
        runs_with_limitations=sum(bool(retained.run.limitations) for retained in runs),
        comparability_reasons=tuple(_REASONS[reason] for pair in pairs for reason in pair.comparability_reasons),
    )


def _failed(pairs: tuple[Pair, ...], arm: Variant) -> int:
    verdicts = [getattr(criterion, arm) for pair in pairs for criterion in pair.criteria]
    return sum(verdict is not None and verdict.verdict == "fail" for verdict in verdicts)
