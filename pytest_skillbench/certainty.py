"""How sure is this? Position balance, panel agreement, integrity, and the exact odds of a verdict by luck.

Core: whole numbers and binomial coefficients in, probabilities out. The model behind the odds: the trials of a case
are independent, a trial is a tie with probability t, and wins and losses are equally likely, (1 - t)/2 each; so the
counts are trinomial and every sum below is exact but for the last rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb, fsum

from .model import CaseResult, Certainty, Comparison, Flag, Odds, Plan, Rule
from .record import RunRecord
from .rules import passes, rule_for


def chance_of_passing(rule: Rule, tie_rate: float) -> float:
    """Return the probability (0..1) that one case passes `rule` when neither arm is better.

    `tie_rate` is 0..1. Known values for N = 5 and t = 0 / 0.3 / 0.5 / 0.8: efficacy 0.19 / 0.18 / 0.09 / 0.01,
    regression 0.19 / 0.43 / 0.63 / 0.92.
    """
    n, decisive = rule.trials, (1 - tie_rate) / 2
    terms = [
        comb(n, wins) * comb(n - wins, losses) * decisive ** (wins + losses) * tie_rate ** (n - wins - losses)
        for wins in range(n + 1)
        for losses in range(n - wins + 1)
        if passes(rule, wins, losses)
    ]
    return min(1.0, fsum(terms))


def odds(comparison: Comparison, trials: int, cases: Sequence[CaseResult]) -> Odds:
    """Return the odds of one comparison at the run's own tie rate, for one case and for all cases of the run."""
    parts = [part for case in cases if (part := case.comparison(comparison.name)) is not None]
    ties = sum(part.ties for part in parts)
    decided = sum(part.wins + part.ties + part.losses for part in parts)
    if not decided:
        return Odds(comparison=comparison.name, ties=0, decided=0, tie_rate=None, pass_case=None, pass_skill=None)
    one = chance_of_passing(rule_for(comparison, trials), ties / decided)
    return Odds(
        comparison=comparison.name,
        ties=ties,
        decided=decided,
        tie_rate=ties / decided,
        pass_case=one,
        pass_skill=one ** len(cases),
    )


def certainty(
    plan: Plan, record: RunRecord, cases: Sequence[CaseResult], comparisons: Iterable[Comparison]
) -> Certainty:
    """Return the strip's values for a run; counts are of judgements that answered, panels and both orders included."""
    drawn = tuple(comparisons)
    votes = [v for case in cases for part in case.comparisons for trial in part.trials for v in trial.votes]
    panels = [
        (case.case.name, part.comparison, trial)
        for case in cases
        for part in case.comparisons
        for trial in part.trials
        if any(vote.seat in (2, 3) for vote in trial.votes)
    ]
    panel_votes = [(vote, trial.outcome) for _, _, trial in panels for vote in trial.votes if vote.seat != "swap"]
    return Certainty(
        a_won=sum(vote.winner == "A" for vote in votes),
        decisive=sum(vote.winner != "TIE" for vote in votes),
        new_as_a=sum(vote.new_label == "A" for vote in votes),
        judged=len(votes),
        panels=len({(name, comparison) for name, comparison, _ in panels}),
        panel_cases=tuple(dict.fromkeys(name for name, _, _ in panels)),
        panel_votes=len(panel_votes),
        panel_agreeing=sum(vote.outcome == outcome for vote, outcome in panel_votes),
        arm_runs=len(record.arms),
        flagged=_flagged(cases),
        inconsistent=sum(t.inconsistent for case in cases for part in case.comparisons for t in part.trials),
        odds=tuple(odds(comparison, plan.trials, cases) for comparison in drawn),
    )


def _flagged(cases: Sequence[CaseResult]) -> tuple[tuple[str, int, Flag], ...]:
    """Return each audit finding once, though a new-skill arm stands in two comparisons: (case, trial, flag)."""
    found: dict[tuple[str, int, Flag], None] = {}
    for case in cases:
        for part in case.comparisons:
            for trial in part.trials:
                for flag in trial.flags:
                    if flag.arm is not None:
                        found[case.case.name, trial.trial, flag] = None
    return tuple(found)
