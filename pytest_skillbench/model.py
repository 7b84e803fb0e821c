"""The frozen records that travel through the program, in the order in which they come into being.

Vocabulary is DESIGN.md's. Core: pure data, no behaviour but what can be read off a record itself.
Token counts are whole tokens, times are UTC text (``2026-11-30T22:10:05Z``), durations are milliseconds, money is US
dollars.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

ArmName: TypeAlias = Literal["new-skill", "previous-version", "no-skill"]
ComparisonName: TypeAlias = Literal["efficacy", "regression"]
Shape: TypeAlias = Literal["two-arm", "three-arm"]
Outcome: TypeAlias = Literal["WIN", "TIE", "LOSS", "GATE", "INVALID"]
Verdict: TypeAlias = Literal["pass", "fail", "incomplete", "not-applicable"]
Order: TypeAlias = Literal["new-first", "new-second"]
Label: TypeAlias = Literal["A", "B"]
Winner: TypeAlias = Literal["A", "B", "TIE"]
Seat: TypeAlias = Literal[1, 2, 3] | Literal["swap"]

Count: TypeAlias = Annotated[int, Meta(ge=0)]
TrialNumber: TypeAlias = Annotated[int, Meta(ge=1, le=25)]
Sha256: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Time: TypeAlias = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
RunId: TypeAlias = Annotated[str, Meta(pattern="^[0-9A-Za-z][0-9A-Za-z.-]{0,63}$")]
Slug: TypeAlias = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]*$", max_length=128)]


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of everything that is written to or read from a file of ours: closed and frozen."""


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """Base of what only lives in memory."""


# -- arms and comparisons ----------------------------------------------------------------------------------------------


class Comparison(Value, frozen=True):
    """A head-to-head of the new-skill arm against `opponent`, and the pass rule that belongs to it.

    `win_fifths` fifths of N trials must be wins (None: no floor); `loss_fifths` fifths may be losses. `gated`: a failed
    hard assertion fails the case in this comparison.
    """

    name: ComparisonName
    title: str
    opponent: ArmName
    win_fifths: int | None
    loss_fifths: int
    gated: bool


EFFICACY = Comparison(name="efficacy", title="Efficacy", opponent="no-skill", win_fifths=3, loss_fifths=1, gated=True)
REGRESSION = Comparison(
    name="regression",
    title="Regression",
    opponent="previous-version",
    win_fifths=None,
    loss_fifths=1,
    gated=False,
)
COMPARISONS: tuple[Comparison, ...] = (EFFICACY, REGRESSION)
NEW_ARM: ArmName = "new-skill"
ARMS: tuple[ArmName, ...] = ("new-skill", "previous-version", "no-skill")


def arms_of(shape: Shape) -> tuple[ArmName, ...]:
    """Return the arms of a run of this shape, in the order of the cost table."""
    return ARMS if shape == "three-arm" else ("new-skill", "no-skill")


def comparisons_of(shape: Shape) -> tuple[Comparison, ...]:
    """Return the comparisons that a run of this shape draws."""
    return tuple(c for c in COMPARISONS if c.opponent in arms_of(shape))


# -- authored: settings and cases ------------------------------------------------------------------------------------


class Settings(Record, frozen=True):
    """``skillbench.yaml`` with every default filled in. Unknown keys are errors, missing ones take these values."""

    skills_root: Annotated[str, Meta(min_length=1)] = "skills"
    trials: TrialNumber = 5
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    effort: str | None = None
    model: str | None = None
    judge_model: str | None = None
    judging: Literal["one-order", "both-orders"] = "one-order"
    arm_timeout_minutes: Annotated[float, Meta(gt=0, le=1440)] = 30
    gate_timeout_seconds: Annotated[float, Meta(gt=0, le=3600)] = 60
    retries: Annotated[int, Meta(ge=0, le=10)] = 2
    delivery: Literal["brief", "inline"] = "brief"
    order: tuple[Slug, ...] | None = None


class SeedTurn(Record, frozen=True):
    """One turn of the conversation that precedes the prompt."""

    role: Literal["user", "assistant", "system"]
    text: str


class Assertion(Record, frozen=True):
    """One hard assertion: a complete shell command, the 1-based line of case.md where it starts, its title comment."""

    shell: Literal["sh", "bash"]
    line: Annotated[int, Meta(ge=1)]
    title: str | None
    command: str


class SectionLines(Value, frozen=True):
    """The 1-based line of each section's heading in case.md; None where the section is absent."""

    prompt: int
    seed: int | None
    assertions: int | None
    criteria: int


class Case(Value, frozen=True):
    """A parsed ``case.md``. `sha256` is of its text with CRLF and BOM normalised away, so both spell the same case."""

    description: str
    tags: tuple[str, ...]
    prompt: str
    seed_turns: tuple[SeedTurn, ...]
    assertions: tuple[Assertion, ...]
    criteria: tuple[str, ...]
    lines: SectionLines
    sha256: str


# -- recorded: the run record (FORMATS section 2) ----------------------------------------------------------------------

VERSION_1: TypeAlias = Literal[1]


class SkillRef(Record, frozen=True):
    """A skill's unique name and its path below the skills root, with ``/``."""

    name: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]


class Base(Record, frozen=True):
    """Where the previous version comes from: the default branch's HEAD."""

    branch: str
    ref: str
    commit: Annotated[str, Meta(pattern="^[0-9a-f]{40}([0-9a-f]{24})?$")]


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


# -- computed: usage ---------------------------------------------------------------------------------------------------


class Usage(Value, frozen=True):
    """Sums over requests. `complete` False: every figure is a lower bound, and `notes` say why.

    `cost_equivalent_tokens` counts in uncached input tokens of the main model; `cost_usd` None: a model is unpriced.
    `classic_weights`: the weights 1 / 1.25 / 2 / 0.1 / 5 stood in for a missing price.
    """

    model: str | None
    input: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    output: int
    api_calls: int
    complete: bool
    notes: tuple[str, ...]
    cost_equivalent_tokens: float
    cost_usd: float | None
    classic_weights: bool

    @property
    def raw(self) -> int:
        """Return the sum of the five components."""
        return self.input + self.cache_write_5m + self.cache_write_1h + self.cache_read + self.output


# -- computed: results (FORMATS section 3) -----------------------------------------------------------------------------


class Rule(Value, frozen=True):
    """A pass rule at N trials: `min_wins` None means no floor."""

    trials: int
    min_wins: int | None
    max_losses: int


class Flag(Value, frozen=True):
    """Something a reader must see at a trial: an audit finding, an inconsistency, a quote that is not in the output."""

    kind: str
    detail: str
    evidence: str
    arm: ArmName | None = None


class Vote(Value, frozen=True):
    """One usable judgement, unblinded. `outcome` is for the new-skill arm; `new_label` is what it was shown as."""

    seat: Seat
    outcome: Literal["WIN", "TIE", "LOSS"]
    new_label: Label
    winner: Winner
    strength: str | None
    rationale: str
    criteria: tuple[CriterionJudgement, ...]
    unverified_quotes: tuple[str, ...]
    model: str | None


class TrialResult(Value, frozen=True):
    """A trial's outcome in one comparison. `reason` says why it is INVALID or GATE, in a sentence, else None.

    `new_label` is how the first judge was shown the new arm (None where no judge was asked); `votes` are in seat order,
    empty for `identical`, INVALID and GATE.
    """

    trial: int
    outcome: Outcome
    reason: str | None
    new_label: Label | None
    votes: tuple[Vote, ...]
    identical: bool
    inconsistent: bool
    gate_failed: bool
    flags: tuple[Flag, ...]


class CaseComparison(Value, frozen=True):
    """One case in one comparison. `flips`: trial-flips to failing, for a passing case, else None.

    `narrowest`: carries the chip "narrowest margin". `why`: one sentence for a fail or an incomplete, else None.
    """

    comparison: ComparisonName
    verdict: Verdict
    rule: Rule
    wins: int
    ties: int
    losses: int
    gates: int
    invalid: int
    trials: tuple[TrialResult, ...]
    flips: int | None
    narrowest: bool
    why: str | None

    @property
    def net(self) -> int:
        """Return wins minus losses."""
        return self.wins - self.losses


class ArmTrial(Value, frozen=True):
    """What one arm did in one trial. `usage` None: unknown. `problem`: why the arm is not usable, else None."""

    arm: ArmName
    trial: int
    status: str
    problem: str | None
    model: str | None
    turns: int | None
    duration_ms: int | None
    usage: Usage | None
    changes: tuple[Change, ...]
    gate: tuple[GateResult, ...]
    output_bytes: int | None


class CaseResult(Value, frozen=True):
    """A frozen case with everything that was measured on it. `arms` is in the order of trial, then `ARMS`."""

    case: PlannedCase
    comparisons: tuple[CaseComparison, ...]
    arms: tuple[ArmTrial, ...]

    def comparison(self, name: ComparisonName) -> CaseComparison | None:
        """Return this case's part of a comparison, None in a run that does not draw it."""
        return next((c for c in self.comparisons if c.comparison == name), None)

    def arm(self, name: ArmName, trial: int) -> ArmTrial | None:
        """Return what an arm did in a trial."""
        return next((a for a in self.arms if a.arm == name and a.trial == trial), None)


class SkillVerdict(Value, frozen=True):
    """A skill's badge in one comparison: counts over all trials of all cases."""

    comparison: ComparisonName
    verdict: Verdict
    cases: int
    cases_passed: int
    wins: int
    ties: int
    losses: int
    gates: int
    invalid: int

    @property
    def net(self) -> int:
        """Return wins minus losses."""
        return self.wins - self.losses


class ArmCost(Value, frozen=True):
    """One row of the cost table: sums over `runs` arm runs with known usage, of `expected`. None: nothing is known."""

    arm: ArmName
    runs: int
    expected: int
    turns: int | None
    usage: Usage | None


class Ratio(Value, frozen=True):
    """New-skill arm over `opponent`: means over the `trials` (of `expected`) that are complete in both arms.

    Each ratio is None where no such trial exists or the divisor is zero.
    """

    opponent: ArmName
    trials: int
    expected: int
    turns: float | None
    raw: float | None
    cost_equivalent_tokens: float | None
    cost_usd: float | None


class Odds(Value, frozen=True):
    """Exact odds of one comparison's rule at the run's own tie rate, wins and losses equally likely. 0..1.

    `decided` trials are WIN, TIE or LOSS. `tie_rate` None: none was, so nothing can be said. `pass_case`/`pass_skill`:
    a skill that does nothing (efficacy) or that was not changed (regression) passes one case / all cases of the run.
    """

    comparison: ComparisonName
    ties: int
    decided: int
    tie_rate: float | None
    pass_case: float | None
    pass_skill: float | None


class Certainty(Value, frozen=True):
    """The strip "How sure is this?"."""

    a_won: int
    decisive: int
    new_as_a: int
    judged: int
    panels: int
    panel_cases: tuple[str, ...]
    panel_votes: int
    panel_agreeing: int
    arm_runs: int
    flagged: tuple[tuple[str, int, Flag], ...]
    inconsistent: int
    odds: tuple[Odds, ...]


class SkillResult(Value, frozen=True):
    """The results model of one run: what every face shows, and nothing that is not in the run record.

    `stale`: what has changed in the tree since the run was frozen, one sentence each. `problems`: files of the record
    that could not be used, as ``path: what``.
    """

    plan: Plan
    verdicts: tuple[SkillVerdict, ...]
    cases: tuple[CaseResult, ...]
    costs: tuple[ArmCost, ...]
    ratios: tuple[Ratio, ...]
    certainty: Certainty
    price_table: str
    stale: tuple[str, ...]
    problems: tuple[str, ...]

    def verdict(self, name: ComparisonName) -> SkillVerdict:
        """Return the badge of a comparison; `not-applicable` in a run that does not draw it."""
        return next(v for v in self.verdicts if v.comparison == name)

    def case(self, name: str) -> CaseResult | None:
        """Return the result of a case by name."""
        return next((c for c in self.cases if c.case.name == name), None)


# -- computed: history (FORMATS section 4) -----------------------------------------------------------------------------


class HistoryVerdict(Record, frozen=True):
    """One comparison's part of a history line."""

    net: int
    wins: Count
    ties: Count
    losses: Count
    invalid: Count
    cases_passed: Count
    verdict: Verdict


class HistoryCost(
    Record,
    frozen=True,
    rename={"new_skill": "new-skill", "previous_version": "previous-version", "no_skill": "no-skill"},
):
    """Cost-equivalent tokens of each arm, summed over its trials; None: unknown, or no such arm."""

    new_skill: float | None
    previous_version: float | None
    no_skill: float | None


class HistoryLine(Record, frozen=True):
    """One line of ``<skill>.history.jsonl``: one run."""

    schema_version: VERSION_1
    run_id: RunId
    at: Time
    shape: Shape
    base_commit: str | None
    skill_sha256: Sha256
    suite_sha256: Sha256
    cases: Count
    trials: TrialNumber
    efficacy: HistoryVerdict
    regression: HistoryVerdict | None
    cost_equivalent_tokens: HistoryCost


# -- where things are --------------------------------------------------------------------------------------------------


class RunMeta(Value, frozen=True):
    """What a pure function would otherwise have to ask the machine for."""

    program: str
    repo: str
