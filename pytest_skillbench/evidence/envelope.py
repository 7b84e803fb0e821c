"""The closed event of a quality receipt: every field's type, and nothing but these fields.

Core: the parsed JSON in, records out. `receipts` builds the receipt from it. Field order is the order in which a
receipt is written, which is its identity: a receipt is compared, hashed and returned as bytes.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ..errors import QualityError
from ..model import Record
from .coverage import Coverage, Failures, Id, Result
from .records import Completeness

QualityKind: TypeAlias = Literal["official_validation", "behavioral_evaluation"]
Assurance: TypeAlias = Literal["caller_assertion", "locally_observed_official_process", "verified_retained_benchmark"]
Scope: TypeAlias = Literal[
    "official_result", "benchmark_manifest", "benchmark_run", "evaluation_artifact", "comparison_summary"
]
Limitation: TypeAlias = Literal[
    "caller_assertion",
    "source_identity_asserted",
    "artifact_locator_inert",
    "validator_authenticity_unverified",
    "behavior_not_assessed",
    "grading_asserted",
    "executor_asserted",
    "metrics_asserted",
    "joint_workflow",
    "comparison_incomplete",
    "fixture_evidence",
    "manual_evidence",
    "acceptance_is_phase_label",
    "historical_revision",
    "reported_budget_overrun",
    "retained_run_limitations",
]
Reason: TypeAlias = Literal[
    "missing_arm",
    "unexecuted_arm",
    "non_agent_pair",
    "fresh_context_unasserted",
    "baseline_overrun",
    "treatment_overrun",
    "model_unknown",
    "environment_unknown",
    "settings_unknown",
    "model_different",
    "environment_different",
    "settings_different",
]
KINDS: tuple[QualityKind, ...] = get_args(QualityKind)
EVENT_TYPE = "skill.quality.recorded"

# \Z and not $, which would let a line feed through.
SLUG = r"\A[a-z][a-z0-9]*(?:-[a-z0-9]+)*\Z"
HASH = r"\A[a-f0-9]{64}\Z"
_PART = r"(?!\.{1,2}(?:/|\Z))[A-Za-z0-9._ -]+"

QualitySlug: TypeAlias = Annotated[str, Meta(pattern=SLUG, max_length=64)]
Hash: TypeAlias = Annotated[str, Meta(pattern=HASH)]
GitSha: TypeAlias = Annotated[str, Meta(pattern=r"\A(?:[a-f0-9]{40}|[a-f0-9]{64})\Z")]
Uuid: TypeAlias = Annotated[
    str, Meta(pattern=r"\A[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z")
]
#: A portable relative path: at most 512 bytes, 16 parts, none of them ``.`` or ``..``, not blank.
Relative: TypeAlias = Annotated[str, Meta(pattern=rf"\A(?! *\Z){_PART}(?:/{_PART}){{0,15}}\Z", max_length=512)]
Ref: TypeAlias = Annotated[
    str, Meta(pattern=r"\A(?!.*(?:\.\.|//))[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,126}[A-Za-z0-9._-])?\Z")
]
Version: TypeAlias = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._+-]{0,127}\Z")]
Moment: TypeAlias = Annotated[
    str, Meta(pattern=r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z\Z")
]

_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
T = TypeVar("T")


class Source(Record, frozen=True):
    """Where a skill revision comes from, as asserted; `package_sha256` is the tree digest of its files."""

    repository: str | None
    source_ref: Ref | None
    resolved_git_sha: GitSha | None
    package_path: Relative
    package_sha256: Hash


class Method(Record, frozen=True):
    """What was done to come to the result, by name and, where known, exact version."""

    name: QualitySlug
    version: Version | None
    revision: GitSha | None
    source_sha256: Hash | None


class Artifact(Record, frozen=True):
    """Something that the result rests on. The locator is never opened."""

    locator: Relative
    sha256: Hash
    scope: Scope


class BenchmarkFacts(Record, frozen=True):
    """What a verified benchmark says beyond the coverage: of the selected cases, and of its whole suite."""

    suite: Id
    benchmark_sha256: Hash
    scope: Literal["selected_package_cases"]
    suite_comparison_status: Completeness
    suite_observed_treatment_result: Literal["pass", "fail", "blocked"]
    result_basis: Literal["critical_treatment_criteria"]
    baseline_failed_criteria: Failures
    treatment_failed_criteria: Failures
    baseline_overruns: Annotated[int, Meta(ge=0, le=80)]
    treatment_overruns: Annotated[int, Meta(ge=0, le=80)]
    runs_with_limitations: Annotated[int, Meta(ge=0, le=160)]
    comparability_reasons: Annotated[tuple[Reason, ...], Meta(max_length=12)]


class Payload(Record, frozen=True):
    """What a receipt says of one skill revision."""

    collection: QualitySlug
    skill: QualitySlug
    source: Source
    kind: QualityKind
    assurance: Assurance
    method: Method
    result: Result
    coverage: Coverage
    artifacts: tuple[Artifact, ...]
    limitations: tuple[Limitation, ...]
    benchmark: BenchmarkFacts | UnsetType = UNSET


class QualityReceipt(Record, frozen=True):
    """One observation, as it is stored and returned."""

    schema_version: Literal[2]
    event_id: Uuid
    correlation_id: Uuid
    occurred_at: Moment
    source_host: QualitySlug
    source_adapter: QualitySlug
    event_type: Literal["skill.quality.recorded"]
    session: None
    payload: Payload


class GivenPayload(Record, frozen=True):
    """A payload as it is read: `coverage` by its kind, `assurance` and `benchmark` in a stored receipt only."""

    collection: QualitySlug
    skill: QualitySlug
    source: Source
    kind: QualityKind
    method: Method
    result: Result
    coverage: dict[str, Any]
    artifacts: Annotated[tuple[Artifact, ...], Meta(min_length=1, max_length=161)]
    limitations: Annotated[tuple[Limitation, ...], Meta(max_length=32)]
    assurance: Assurance | UnsetType = UNSET
    benchmark: BenchmarkFacts | UnsetType = UNSET


class GivenEvent(Record, frozen=True):
    """An event as it is read."""

    schema_version: Literal[2]
    event_type: Literal["skill.quality.recorded"]
    event_id: Uuid
    correlation_id: Uuid
    occurred_at: Moment
    source_host: QualitySlug
    source_adapter: QualitySlug
    session: None
    payload: GivenPayload


def closed(tree: object, record: type[T]) -> T:
    """Return a parsed JSON value as `record`. Raises QualityError ``invalid_input`` for anything that is not one."""
    try:
        return msgspec.convert(tree, record)
    except (msgspec.ValidationError, RecursionError):
        raise QualityError("invalid_input") from None


def moment(text: str) -> datetime:
    """Return the time of ``YYYY-MM-DDTHH:MM:SS.mmmZ``. Raises QualityError ``invalid_input``, also for 30 February."""
    if not _MOMENT.fullmatch(text):
        raise QualityError("invalid_input")
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise QualityError("invalid_input") from None
