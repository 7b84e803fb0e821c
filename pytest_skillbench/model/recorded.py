"""What a run leaves on disk: the plan, the arms, the judgements, the narrative (FORMATS section 2).

Core: pure data, no behaviour but what can be read off a record itself.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from .authored import Assertion, SeedTurn, Settings
from .base import (
    END,
    ArmName,
    ComparisonName,
    Count,
    Order,
    Record,
    RunId,
    Seat,
    Sha256,
    Shape,
    Slug,
    Time,
    TrialNumber,
    Winner,
)

VERSION_1: TypeAlias = Literal[1]


class SkillRef(Record, frozen=True):
    """A skill's unique name and its path below the skills root, with ``/``."""

    name: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]


class Base(Record, frozen=True):
    """Where the previous version comes from: the default branch's HEAD."""

    branch: str
    ref: str
    commit: Annotated[str, Meta(pattern="^[0-9a-f]{40}([0-9a-f]{24})?" + END)]


class PackageDigest(Record, frozen=True):
    """The identity of a skill's directory: tree digest, number of files, bytes."""

    tree_sha256: Sha256
    files: Count
    bytes: Count


class Packages(Record, frozen=True, rename={"new_skill": "new-skill", "previous_version": "previous-version"}):
    """The skill versions that the arms were given."""

    new_skill: PackageDigest
    previous_version: PackageDigest | None


class PlannedCase(Record, frozen=True):
    """A case as it was frozen when the run started."""

    name: Slug
    path: str
    description: str
    case_sha256: Sha256
    fixture_sha256: Sha256 | None
    prompt: str
    seed_turns: tuple[SeedTurn, ...]
    assertions: tuple[Assertion, ...]
    criteria: Annotated[tuple[str, ...], Meta(min_length=1)]


class Plan(Record, frozen=True, omit_defaults=True):
    """``plan.json``. `orders` maps ``<case>.<trial>.<comparison>`` to who is shown as A by the first judge.

    `prompts_sha256` is the digest of the templates by which arms and judges were told what to do. `example` marks the
    recorded runs that ship with the program, so that a report of them says so.
    """

    schema_version: VERSION_1
    run_id: RunId
    skill: SkillRef
    created_at: Time
    shape: Shape
    trials: TrialNumber
    base: Base | None
    base_reason: str | None
    settings: Settings
    host: str
    seed: int
    packages: Packages
    cases: tuple[PlannedCase, ...]
    orders: dict[str, Order]
    suite_sha256: Sha256
    program: str
    prompts_sha256: Sha256 | None = None
    example: bool = False


class Request(Record, frozen=True, gc=False):
    """One API response's usage: five disjoint token components, the model that answered, the speed tier."""

    id: str
    model: str
    input: Count
    cache_write_5m: Count
    cache_write_1h: Count
    cache_read: Count
    output: Count
    speed: Literal["standard", "fast"] = "standard"


class OutputRef(Record, frozen=True):
    """The final message's digest and size; its bytes are ``outputs/<case>.<trial>.<arm>.md``."""

    sha256: Sha256
    bytes: Count


class Change(Record, frozen=True):
    """One file that the arm changed in its world."""

    path: str
    change: Literal["added", "modified", "deleted"]
    sha256: Sha256 | None
    bytes: Count | None


class Temperature(Record, frozen=True):
    """What was asked for and what the client really applied."""

    requested: float | None
    applied: float | None


class GateResult(Record, frozen=True):
    """One hard assertion's outcome. `exit_code` None and not timed out: it never ran to an end, so nothing is known."""

    assertion: Count
    exit_code: int | None
    timed_out: bool
    duration_ms: Count
    stdout: str
    stderr: str


class Finding(Record, frozen=True):
    """What the audit saw: `contaminated`, `skill-not-loaded`, `model-differs` make a trial INVALID; others: notes."""

    kind: Annotated[str, Meta(min_length=1)]
    detail: str
    evidence: str


class Audit(Record, frozen=True):
    """What the arm touched. `skill_loaded` None: the host can't tell."""

    skill_loaded: bool | None
    findings: tuple[Finding, ...]


class ArmRecord(Record, frozen=True):
    """``arms/<case>.<trial>.<arm>.json``. `requests` None: the host gave no usage, so it is unknown and never zero."""

    schema_version: VERSION_1
    run_id: RunId
    case: Slug
    trial: TrialNumber
    arm: ArmName
    status: Literal["ok", "failed", "timed-out", "limit-hit", "missing"]
    detail: str | None
    attempt: Annotated[int, Meta(ge=1)]
    output: OutputRef | None
    changes: tuple[Change, ...]
    host: str
    host_version: str | None
    model: str | None
    effort: str | None
    temperature: Temperature
    started_at: Time | None
    duration_ms: Count | None
    requests: tuple[Request, ...] | None
    usage_complete: bool
    usage_notes: tuple[str, ...]
    turns: Count | None
    tool_calls: dict[str, Count]
    gate: tuple[GateResult, ...]
    audit: Audit


class CriterionJudgement(Record, frozen=True):
    """What the judge said of one soft criterion (1-based), with quotes from the two outputs."""

    criterion: Annotated[int, Meta(ge=1)]
    better: Winner
    because: str
    quote_a: str | None
    quote_b: str | None


class JudgementRecord(Record, frozen=True):
    """``judgements/<case>.<trial>.<comparison>[.<seat>].json``."""

    schema_version: VERSION_1
    run_id: RunId
    case: Slug
    trial: TrialNumber
    comparison: ComparisonName
    seat: Seat
    order: Order
    status: Literal["ok", "malformed", "failed", "missing", "identical"]
    detail: str | None
    attempt: Annotated[int, Meta(ge=1)]
    winner: Winner | None
    strength: Literal["slight", "clear"] | None
    criteria: tuple[CriterionJudgement, ...]
    rationale: str
    model: str | None
    requests: tuple[Request, ...] | None
    usage_complete: bool
    usage_notes: tuple[str, ...]


class FrozenEvidence(Record, frozen=True):
    """``evidence.json``: the freeze that this run was exported as, and what `compare` said of it then.

    `name` is the freeze's folder without the way to it; `runs` of `expected_runs` were imported, those of the first
    `trials` of `of_trials`.
    """

    schema_version: VERSION_1
    run_id: RunId
    name: str
    suite: str
    benchmark_sha256: Sha256
    cases: Count
    trials: TrialNumber
    of_trials: TrialNumber
    runs: Count
    expected_runs: Count
    observed_treatment_result: Literal["pass", "fail", "blocked", "not-run"]
    comparison_status: Literal["complete", "incomplete"]


class NarrativeEvidence(Record, frozen=True):
    """Either ``{"value", "is"}`` or ``{"quote", "from"}``; `formats` refuses any other mix."""

    value: str | None = None
    is_: str | None = msgspec.field(default=None, name="is")
    quote: str | None = None
    from_: str | None = msgspec.field(default=None, name="from")


class NarrativeSentence(Record, frozen=True):
    """A sentence of the agent's, shown only where all its evidence is true of the run."""

    about: str
    text: str
    evidence: Annotated[tuple[NarrativeEvidence, ...], Meta(min_length=1)]


class Narrative(Record, frozen=True):
    """``narrative.json``."""

    schema_version: VERSION_1
    run_id: RunId
    sentences: tuple[NarrativeSentence, ...]
