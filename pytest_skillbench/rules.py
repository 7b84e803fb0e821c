"""The pass rules (FORMATS section 3, seed 000): counts of WIN, TIE, LOSS, GATE and INVALID -> a verdict and its margin.

Core: pure arithmetic on whole numbers. Nothing missing ever counts as good: INVALID trials are completed in every
possible way, and a verdict stands only if all completions agree.
"""

from __future__ import annotations

from collections.abc import Iterable

from .model import Comparison, Rule, Verdict


def rule_for(comparison: Comparison, trials: int) -> Rule:
    """Return the comparison's pass rule at `trials` trials (1..25).

    Thresholds scale: wins >= ceil(3N/5) where there is a floor, losses <= floor(N/5). For N = 5 that is 3 and 1.
    """
    floor = None if comparison.win_fifths is None else -(-comparison.win_fifths * trials // 5)
    return Rule(trials=trials, min_wins=floor, max_losses=comparison.loss_fifths * trials // 5)


def passes(rule: Rule, wins: int, losses: int) -> bool:
    """Return whether a complete set of trials with these counts passes."""
    return wins >= (rule.min_wins or 0) and losses <= rule.max_losses


def verdict(rule: Rule, *, wins: int, ties: int, losses: int, gates: int, invalid: int, gate_failed: bool) -> Verdict:
    """Return the verdict of a case in one comparison.

    `gate_failed`: a hard assertion failed in some trial, and the comparison is gated: that fails the case outright.
    The counts add up to the rule's number of trials, else ValueError: a denominator never shrinks.
    """
    if wins + ties + losses + gates + invalid != rule.trials:
        raise ValueError(f"{wins}+{ties}+{losses}+{gates}+{invalid} trials counted, the rule is for {rule.trials}")
    if gate_failed or gates:
        return "fail"
    # Every completion lies between "all INVALID trials won" and "all lost": the rules only rise with wins and only
    # fall with losses, so the two ends decide for all between them.
    if passes(rule, wins, losses + invalid):
        return "pass"
    if not passes(rule, wins + invalid, losses):
        return "fail"
    return "incomplete"


def flips_to_fail(rule: Rule, *, wins: int, ties: int, losses: int) -> int:
    """Return how many trial-flips a passing case is from failing: WIN to TIE and TIE to LOSS are one, WIN to LOSS two.

    INVALID trials are to be counted as losses by the caller, as the verdict does. At least 1 for a passing case.
    """
    needed = rule.max_losses + 1 - losses
    from_ties = min(needed, ties)
    ways = [from_ties + 2 * (needed - from_ties)]
    if rule.min_wins is not None:
        ways.append(wins - rule.min_wins + 1)
    return min(ways)


def of_skill(verdicts: Iterable[Verdict]) -> Verdict:
    """Return a skill's verdict in a comparison: `fail` if any case fails, else `incomplete` if any is, else `pass`.

    No case at all is `incomplete`: nothing was shown.
    """
    found = set(verdicts)
    if "fail" in found:
        return "fail"
    return "pass" if found == {"pass"} else "incomplete"
