"""The records of evidence, each with its fields in the order in which its file has them.

Core: data without behaviour. `documents` reads them from JSON and holds them to the format; `reading.json_bytes` and
`reading.json_line` write them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from ..model import Value

Phase: TypeAlias = Literal["final-acceptance", "tuning", "exploratory"]
CaseClass: TypeAlias = Literal["functional", "failure", "positive", "negative", "adversarial", "boundary"]
Variant: TypeAlias = Literal["baseline", "treatment"]
Kind: TypeAlias = Literal["agent", "manual", "fixture"]
Status: TypeAlias = Literal["executed", "blocked", "not-run"]
Graded: TypeAlias = Literal["pass", "fail", "blocked", "not-run"]
Change: TypeAlias = Literal["not-compared", "unchanged", "improved", "regressed"]
Completeness: TypeAlias = Literal["complete", "incomplete"]

PHASES: tuple[Phase, ...] = ("final-acceptance", "tuning", "exploratory")
CLASSES: tuple[CaseClass, ...] = ("functional", "failure", "positive", "negative", "adversarial", "boundary")
VARIANTS: tuple[Variant, ...] = ("baseline", "treatment")
KINDS: tuple[Kind, ...] = ("agent", "manual", "fixture")
STATUSES: tuple[Status, ...] = ("executed", "blocked", "not-run")
GRADES: tuple[Graded, ...] = ("pass", "fail", "blocked", "not-run")

# -- suite.json --------------------------------------------------------------------------------------------------------


class Fixture(Value, frozen=True):
    """One file of a case's fixture: where it comes from, beside the suite, and where it goes."""

    path: str
    target: str


class Criterion(Value, frozen=True):
    """What a run is graded by."""

    id: str
    critical: bool
    description: str


class Limits(Value, frozen=True):
    """How many attempts an arm has, and how many seconds each."""

    attempts: int
    seconds: int


class Case(Value, frozen=True, rename={"class_": "class"}):
    """One case of a suite."""

    id: str
    phase: Phase
    class_: CaseClass
    prompt: str
    fixtures: tuple[Fixture, ...]
    skills: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    limits: Limits


class Suite(Value, frozen=True):
    """``suite.json``."""

    schema_version: int
    id: str
    description: str
    cases: tuple[Case, ...]

    def packages(self) -> tuple[str, ...]:
        """Return the names of all packages that a case selects, sorted."""
        return tuple(sorted({name for case in self.cases for name in case.skills}))


class Executor(Value, frozen=True):
    """``executor.json``: what an executor may know of a case, which is nothing of its criteria."""

    schema_version: int
    case_id: str
    prompt: str
    fixtures: str
    baseline_packages: tuple[str, ...]
    treatment_packages: tuple[str, ...]
    limits: Limits


# -- manifest.json -----------------------------------------------------------------------------------------------------


class File(Value, frozen=True):
    """The identity of a file's bytes, at a path below the freeze, the package or the artifacts."""

    path: str
    sha256: str
    bytes: int


class Package(Value, frozen=True):
    """The identity of a package: the tree digest of its files, by their paths in it."""

    name: str
    tree_sha256: str


class Manifest(Value, frozen=True):
    """``manifest.json``."""

    schema_version: int
    suite_sha256: str
    benchmark_sha256: str
    files: tuple[File, ...]
    packages: tuple[Package, ...]


class Freeze(Value, frozen=True):
    """A freeze whose bytes have been verified. `directory` is absolute; `manifest_sha256` is of manifest.json."""

    directory: Path
    suite: Suite
    manifest: Manifest
    manifest_sha256: str


# -- run.json and receipt.json -----------------------------------------------------------------------------------------


class Execution(Value, frozen=True):
    """Who executed a run and how, as the caller declares it."""

    kind: Kind
    status: Status
    executor: str
    model: str | None
    environment: str | None
    settings: str | None
    fresh_context: bool


class Metrics(Value, frozen=True):
    """What a run took, as the caller declares it; None is unknown."""

    wall_time_ms: int | None
    input_tokens: int | None
    output_tokens: int | None


class CriterionResult(Value, frozen=True):
    """How a run was graded by one criterion; `evidence` are paths of its artifacts."""

    id: str
    verdict: Graded
    reason: str
    evidence: tuple[str, ...]


class Run(Value, frozen=True):
    """``run.json``."""

    schema_version: int
    id: str
    benchmark_sha256: str
    case_id: str
    variant: Variant
    attempt: int
    execution: Execution
    metrics: Metrics
    artifacts: tuple[File, ...]
    criteria: tuple[CriterionResult, ...]
    limitations: tuple[str, ...]

    @property
    def slot(self) -> tuple[str, str, int]:
        """Return what only one run of a freeze may be: case, variant, attempt."""
        return self.case_id, self.variant, self.attempt

    @property
    def artifact_bytes(self) -> int:
        """Return how many bytes its artifacts have together."""
        return sum(artifact.bytes for artifact in self.artifacts)


class Receipt(Value, frozen=True):
    """``receipt.json``: the digest of the run.json beside it."""

    schema_version: int
    run_sha256: str


class RetainedRun(Value, frozen=True):
    """A run that was imported and whose bytes have been verified."""

    run: Run
    run_sha256: str


# -- what the commands say ---------------------------------------------------------------------------------------------


class Prepared(Value, frozen=True):
    """What ``prepare`` says."""

    schema_version: int
    directory: str
    suite: str
    benchmark_sha256: str
    cases: int
    packages: tuple[Package, ...]


class Imported(Value, frozen=True):
    """What ``import-run`` says."""

    schema_version: int
    id: str
    benchmark_sha256: str
    run_sha256: str
    retained_artifacts: int
    execution_kind: Kind
    execution_status: Status
    verification: str


class Coverage(Value, frozen=True):
    """How much of a suite there are runs of, and of which kinds."""

    expected_pairs: int
    imported_runs: int
    missing_runs: int
    paired_cases: int
    declared_agent_pairs: int
    declared_controlled_agent_pairs: int
    fixture_runs: int
    manual_runs: int
    unexecuted_runs: int


class CriticalFailure(Value, frozen=True):
    """A critical criterion that an arm failed."""

    variant: Variant
    criterion: str


class CriterionPair(Value, frozen=True):
    """How both arms were graded by one criterion."""

    id: str
    critical: bool
    baseline: CriterionResult | None
    treatment: CriterionResult | None
    change: Change


class MetricsPair(Value, frozen=True):
    """The declared metrics of both arms."""

    baseline: Metrics | None
    treatment: Metrics | None


class Budget(Value, frozen=True):
    """Whether the arms kept to the case's seconds; None where that is unknown."""

    seconds_limit: int
    baseline_within_limit: bool | None
    treatment_within_limit: bool | None


class LimitationsPair(Value, frozen=True):
    """The declared limitations of both arms."""

    baseline: tuple[str, ...]
    treatment: tuple[str, ...]


class Pair(Value, frozen=True):
    """One case and attempt: its two runs, whether they may be compared, and what they show."""

    case_id: str
    phase: Phase
    attempt: int
    baseline_run: str | None
    treatment_run: str | None
    declared_agent_pair: bool
    declared_controlled_agent_pair: bool
    comparability_reasons: tuple[str, ...]
    comparison_status: Completeness
    observed_treatment_result: Graded
    critical_failures: tuple[CriticalFailure, ...]
    criteria: tuple[CriterionPair, ...]
    reported_metrics: MetricsPair
    reported_budget: Budget
    run_limitations: LimitationsPair


class Comparison(Value, frozen=True):
    """What ``compare`` says of a freeze and its runs."""

    schema_version: int
    suite: str
    benchmark_sha256: str
    packages: tuple[Package, ...]
    coverage: Coverage
    observed_treatment_result: Graded
    comparison_status: Completeness
    cases: tuple[Pair, ...]
    limits: tuple[str, ...]


class Evidence(Value, frozen=True):
    """A freeze with its runs, both verified, and their comparison."""

    freeze: Freeze
    retained: tuple[RetainedRun, ...]
    comparison: Comparison
