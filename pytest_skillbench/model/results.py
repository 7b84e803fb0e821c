"""What is computed of a run: usage, outcomes, verdicts, cost, certainty (FORMATS section 3).

Core: pure data, no behaviour but what can be read off a record itself.
"""

from typing import Literal

from .base import ArmName, ComparisonName, Label, Outcome, Seat, Value, Verdict, Winner
from .recorded import Change, CriterionJudgement, GateResult, Plan, PlannedCase


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


class RunMeta(Value, frozen=True):
    """What a pure function would otherwise have to ask the machine for."""

    program: str
    repo: str
