"""What an evaluation covered, as counts that have to agree with each other and with the result they stand for.

Core. `envelope` reads these from a caller, `retained` counts them from a benchmark; both are held to the same laws.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from ..model import Record
from .records import Completeness, Phase

Result: TypeAlias = Literal["pass", "fail", "blocked", "not-run"]
Id: TypeAlias = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9-]{0,63}\Z")]

_One: TypeAlias = Annotated[int, Meta(ge=0, le=1)]
_Pairs: TypeAlias = Annotated[int, Meta(ge=0, le=80)]  # 16 cases of at most 5 attempts
_SomePairs: TypeAlias = Annotated[int, Meta(ge=1, le=80)]
_Runs: TypeAlias = Annotated[int, Meta(ge=0, le=160)]  # two arms a pair
Failures: TypeAlias = Annotated[int, Meta(ge=0, le=5120)]  # 80 runs of 64 criteria


class OfficialCoverage(Record, frozen=True):
    """One package put before one official validator: it ran and passed or failed, or was blocked, or did not run."""

    selected_packages: Annotated[int, Meta(ge=1, le=1)]
    executed: _One
    blocked: _One
    not_run: _One
    passed: _One
    failed: _One


class SelectedCase(Record, frozen=True):
    """A frozen case that selects the skill; `joint_workflow`: it selects others as well."""

    case_id: Id
    phase: Phase
    attempts: Annotated[int, Meta(ge=1, le=5)]
    joint_workflow: bool


class TreatmentCoverage(Record, frozen=True):
    """The treatment arm's attempts. `unresolved`: executed, with a critical criterion neither passed nor failed."""

    expected: _SomePairs
    executed: _Pairs
    blocked: _Pairs
    not_run: _Pairs
    missing: _Pairs
    passed: _Pairs
    failed: _Pairs
    unresolved: _Pairs


class BehavioralCoverage(Record, frozen=True):
    """Both arms over the selected cases, counted as `evidence compare` counts a suite."""

    expected_pairs: _SomePairs
    imported_runs: _Runs
    missing_runs: _Runs
    paired_cases: _Pairs
    declared_agent_pairs: _Pairs
    declared_controlled_agent_pairs: _Pairs
    fixture_runs: _Runs
    manual_runs: _Runs
    unexecuted_runs: _Runs
    critical_failures: Annotated[int, Meta(ge=0, le=10240)]
    treatment_critical_failures: Failures
    comparison_status: Completeness
    selected_cases: Annotated[tuple[SelectedCase, ...], Meta(min_length=1, max_length=16)]
    treatment: TreatmentCoverage


Coverage: TypeAlias = OfficialCoverage | BehavioralCoverage


def result_of(coverage: Coverage) -> Result | None:
    """Return the only result that the counts allow; None where they contradict each other."""
    if isinstance(coverage, OfficialCoverage):
        return _official_result(coverage)
    laws = (_adds_up, _arms_are_possible, _agent_pairs_are_possible, _is_complete_only_if_whole)
    return treatment_result(coverage.treatment) if all(law(coverage) for law in laws) else None


def treatment_result(treatment: TreatmentCoverage) -> Result:
    """One failure fails, all passed passes, nothing tried is not-run; every mixture is blocked."""
    if treatment.failed:
        return "fail"
    if treatment.passed == treatment.expected:
        return "pass"
    return "not-run" if treatment.not_run + treatment.missing == treatment.expected else "blocked"


def _official_result(coverage: OfficialCoverage) -> Result | None:
    if coverage.executed + coverage.blocked + coverage.not_run != 1:
        return None
    if coverage.passed + coverage.failed != coverage.executed:
        return None
    if coverage.executed:
        return "pass" if coverage.passed else "fail"
    return "blocked" if coverage.blocked else "not-run"


def _treatment_runs(coverage: BehavioralCoverage) -> int:
    return coverage.treatment.executed + coverage.treatment.blocked + coverage.treatment.not_run


def _adds_up(coverage: BehavioralCoverage) -> bool:
    """Each case once, and every expected run is imported or missing, in all and in the treatment arm."""
    cases, treatment = coverage.selected_cases, coverage.treatment
    expected = coverage.expected_pairs
    return (
        len({case.case_id for case in cases}) == len(cases)
        and expected == sum(case.attempts for case in cases) == treatment.expected
        and coverage.imported_runs + coverage.missing_runs == 2 * expected
        and _treatment_runs(coverage) + treatment.missing == expected
        and treatment.passed + treatment.failed + treatment.unresolved == treatment.executed
    )


def _arms_are_possible(coverage: BehavioralCoverage) -> bool:
    """Hold the counts to two arms of one run a slot: what the treatment arm leaves must fit into the baseline arm."""
    expected, treatment = coverage.expected_pairs, _treatment_runs(coverage)
    baseline = coverage.imported_runs - treatment
    baseline_executed = coverage.imported_runs - coverage.unexecuted_runs - coverage.treatment.executed
    return (
        0 <= baseline <= expected
        and 0 <= baseline_executed <= baseline
        and max(0, coverage.imported_runs - expected) <= coverage.paired_cases <= min(treatment, baseline)
        and coverage.fixture_runs + coverage.manual_runs <= coverage.imported_runs
        and coverage.treatment_critical_failures <= coverage.critical_failures
        and (coverage.treatment.failed > 0 or coverage.treatment_critical_failures == 0)
    )


def _agent_pairs_are_possible(coverage: BehavioralCoverage) -> bool:
    """Take a declared agent pair for what it is: two executed agent runs of one slot."""
    pairs = coverage.declared_agent_pairs
    baseline_executed = coverage.imported_runs - coverage.unexecuted_runs - coverage.treatment.executed
    agents = coverage.imported_runs - coverage.fixture_runs - coverage.manual_runs
    return (
        coverage.declared_controlled_agent_pairs
        <= pairs
        <= min(coverage.paired_cases, coverage.treatment.executed, baseline_executed, agents // 2)
    )


def _is_complete_only_if_whole(coverage: BehavioralCoverage) -> bool:
    """Say complete only of controlled agent pairs in every slot, all graded: nothing missing counts as good."""
    return coverage.comparison_status == "incomplete" or (
        coverage.declared_controlled_agent_pairs == coverage.expected_pairs
        and coverage.missing_runs == coverage.unexecuted_runs == 0
        and coverage.fixture_runs == coverage.manual_runs == coverage.treatment.unresolved == 0
    )
