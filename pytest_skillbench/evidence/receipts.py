"""Receipts: how sure one is, its mandatory limitations, its canonical bytes and its keys.

Core. A caller's event becomes a receipt by `asserted`, which knows one assurance only; `retained` raises that of a
receipt whose benchmark was verified; `stored` reads one back. All three end in `finish`, which holds every law.

Nothing here grants ``locally_observed_official_process``: it is for a program that itself ran an official validator on
the exact package and checked the bytes before and after. This one runs none, so it neither grants nor stores that tier.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import msgspec
from msgspec import UNSET

from ..errors import QualityError
from .coverage import BehavioralCoverage, Coverage, OfficialCoverage, result_of
from .envelope import (
    BenchmarkFacts,
    GivenEvent,
    Limitation,
    Payload,
    QualityReceipt,
    Source,
    closed,
    moment,
)
from .repository import public_repository

RECEIPT_LIMIT = 16_384
CALLER_ARTIFACTS = 16

_replace = msgspec.structs.replace


def asserted(tree: object) -> QualityReceipt:
    """Return the receipt of a caller's parsed event: an assertion, whatever it says of itself.

    Raises QualityError ``invalid_input``, also where `assurance` or `benchmark` is supplied.
    """
    given = closed(tree, GivenEvent)
    if given.payload.assurance is not UNSET or given.payload.benchmark is not UNSET:
        raise QualityError("invalid_input")
    if len(given.payload.artifacts) > CALLER_ARTIFACTS:
        raise QualityError("invalid_input")
    return _receipt(given)


def stored(tree: object) -> QualityReceipt:
    """Return a receipt from its own parsed JSON. Raises QualityError ``invalid_input`` for what is not one of ours."""
    given = closed(tree, GivenEvent)
    if given.payload.assurance not in ("caller_assertion", "verified_retained_benchmark"):
        raise QualityError("invalid_input")
    return _receipt(given)


def encode(receipt: QualityReceipt) -> bytes:
    """Return the canonical bytes of a receipt: one line of JSON without spaces, fields in their order."""
    return msgspec.json.encode(receipt)


def source_key(source: Source) -> str:
    """Return the key of a source over all its revisions: SHA-256 of ``[repository, package_path]`` as compact JSON."""
    return _json_digest([source.repository, source.package_path])


def identity_key(source: Source) -> str:
    """Return the key of one exact revision: SHA-256 of ``[source_key, resolved_git_sha, package_sha256]``."""
    return _json_digest([source_key(source), source.resolved_git_sha, source.package_sha256])


def finish(receipt: QualityReceipt) -> QualityReceipt:
    """Return the receipt in its normal order with every limitation that applies.

    Raises QualityError ``invalid_input`` where its parts contradict each other or it is over `RECEIPT_LIMIT` bytes.
    """
    payload = receipt.payload
    coverage = _in_order(payload.coverage)
    artifacts = tuple(sorted(payload.artifacts, key=lambda artifact: artifact.locator.encode()))
    if (
        result_of(coverage) != payload.result
        or len({artifact.locator for artifact in artifacts}) != len(artifacts)
        or not _assurance_fits(payload)
    ):
        raise QualityError("invalid_input")
    benchmark = payload.benchmark
    if isinstance(benchmark, BenchmarkFacts):
        benchmark = _replace(benchmark, comparability_reasons=tuple(sorted(set(benchmark.comparability_reasons))))
    finished = _replace(
        receipt,
        payload=_replace(
            payload,
            coverage=coverage,
            artifacts=artifacts,
            benchmark=benchmark,
            limitations=tuple(sorted({*payload.limitations, *_required(payload)})),
        ),
    )
    if len(encode(finished)) > RECEIPT_LIMIT:
        raise QualityError("invalid_input")
    return finished


def _receipt(given: GivenEvent) -> QualityReceipt:
    payload = given.payload
    moment(given.occurred_at)
    coverage: Coverage
    if payload.kind == "official_validation":
        coverage = closed(payload.coverage, OfficialCoverage)
    else:
        coverage = closed(payload.coverage, BehavioralCoverage)
    return finish(
        QualityReceipt(
            schema_version=given.schema_version,
            event_id=given.event_id,
            correlation_id=given.correlation_id,
            occurred_at=given.occurred_at,
            source_host=given.source_host,
            source_adapter=given.source_adapter,
            event_type=given.event_type,
            session=given.session,
            payload=Payload(
                collection=payload.collection,
                skill=payload.skill,
                source=_source(payload.source),
                kind=payload.kind,
                assurance="caller_assertion" if payload.assurance is UNSET else payload.assurance,
                method=payload.method,
                result=payload.result,
                coverage=coverage,
                artifacts=payload.artifacts,
                limitations=payload.limitations,
                benchmark=payload.benchmark,
            ),
        )
    )


def _source(source: Source) -> Source:
    """Normalize the address; a revision needs a repository, and a ref a revision, or neither says anything."""
    if source.repository is None:
        if source.resolved_git_sha is not None or source.source_ref is not None:
            raise QualityError("invalid_input")
        return source
    repository = public_repository(source.repository)
    if repository is None or (source.source_ref is not None and source.resolved_git_sha is None):
        raise QualityError("invalid_input")
    return _replace(source, repository=repository)


def _in_order(coverage: Coverage) -> Coverage:
    if isinstance(coverage, OfficialCoverage):
        return coverage
    cases = tuple(sorted(coverage.selected_cases, key=lambda case: case.case_id))
    return _replace(coverage, selected_cases=cases)


def _assurance_fits(payload: Payload) -> bool:
    """Tell whether a benchmark's facts and the assurance that they give come together, and stay within the coverage."""
    benchmark, coverage = payload.benchmark, payload.coverage
    if not isinstance(benchmark, BenchmarkFacts):
        return payload.assurance == "caller_assertion" and len(payload.artifacts) <= CALLER_ARTIFACTS
    return (
        payload.assurance == "verified_retained_benchmark"
        and isinstance(coverage, BehavioralCoverage)
        and max(benchmark.baseline_overruns, benchmark.treatment_overruns) <= coverage.expected_pairs
        and benchmark.runs_with_limitations <= coverage.imported_runs
    )


def _required(payload: Payload) -> Iterator[Limitation]:
    yield "source_identity_asserted"
    yield "artifact_locator_inert"
    if payload.assurance == "caller_assertion":
        yield "caller_assertion"
    coverage = payload.coverage
    if isinstance(coverage, OfficialCoverage):
        yield from ("validator_authenticity_unverified", "behavior_not_assessed")
        return
    yield from ("grading_asserted", "executor_asserted", "metrics_asserted", "acceptance_is_phase_label")
    if any(case.joint_workflow for case in coverage.selected_cases):
        yield "joint_workflow"
    if coverage.comparison_status == "incomplete":
        yield "comparison_incomplete"
    if coverage.fixture_runs:
        yield "fixture_evidence"
    if coverage.manual_runs:
        yield "manual_evidence"
    if isinstance(payload.benchmark, BenchmarkFacts):
        if payload.benchmark.baseline_overruns or payload.benchmark.treatment_overruns:
            yield "reported_budget_overrun"
        if payload.benchmark.runs_with_limitations:
            yield "retained_run_limitations"


def _json_digest(value: list[str | None]) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()
