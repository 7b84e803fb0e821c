"""The pass rules: the arithmetic that every verdict rests on."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillbench.model import COMPARISONS, EFFICACY, REGRESSION, Comparison
from pytest_skillbench.rules import flips_to_fail, of_skill, passes, rule_for, verdict

COMPARISON = st.sampled_from(COMPARISONS)


@st.composite
def counts(draw: st.DrawFn) -> dict[str, int]:
    """Draw counts of the five outcomes that add up to 1..25 trials."""
    outcomes = draw(st.lists(st.sampled_from(["wins", "ties", "losses", "gates", "invalid"]), min_size=1, max_size=25))
    return {name: outcomes.count(name) for name in ("wins", "ties", "losses", "gates", "invalid")}


@pytest.mark.parametrize(
    ("trials", "wins", "losses"),
    [
        (1, 1, 0),
        (2, 2, 0),
        (3, 2, 0),
        (4, 3, 0),
        (5, 3, 1),
        (6, 4, 1),
        (9, 6, 1),
        (10, 6, 2),
        (15, 9, 3),
        (25, 15, 5),
    ],
)
def test_thresholds_scale_with_the_trials(trials: int, wins: int, losses: int) -> None:
    """ceil(0.6 N) wins and floor(0.2 N) losses, exactly, with no float in between."""
    efficacy, regression = rule_for(EFFICACY, trials), rule_for(REGRESSION, trials)
    assert (efficacy.min_wins, efficacy.max_losses) == (wins, losses)
    assert (regression.min_wins, regression.max_losses) == (None, losses)


@pytest.mark.parametrize(
    ("outcomes", "efficacy", "regression"),
    [
        ("WWWWW", "pass", "pass"),
        ("WWWTL", "pass", "pass"),
        ("WWWLL", "fail", "fail"),
        ("WWTTT", "fail", "pass"),  # too few wins to earn its keep, but no regression
        ("TTTTT", "fail", "pass"),  # a clean refactor holds quality steady
        ("TTTTL", "fail", "pass"),
        ("TTTLL", "fail", "fail"),
        ("WWWTI", "pass", "pass"),  # a pass even if the missing trial was lost
        ("WWWLI", "incomplete", "incomplete"),
        ("WWTTI", "incomplete", "pass"),
        ("WWLII", "incomplete", "incomplete"),  # 2 wins, 1 loss, 2 timed out
        ("TTTII", "fail", "incomplete"),  # can't reach three wins any more
        ("LLIII", "fail", "fail"),
        ("IIIII", "incomplete", "incomplete"),  # nothing was shown
    ],
)
def test_known_verdicts(outcomes: str, efficacy: str, regression: str) -> None:
    """The seed's rules for five trials, and the rule that a missing trial decides nothing it could have changed."""
    got = []
    for comparison in COMPARISONS:
        numbers = {name: outcomes.count(name[0].upper()) for name in ("wins", "ties", "losses", "invalid")}
        got.append(verdict(rule_for(comparison, 5), **numbers, gates=0, gate_failed=False))
    assert got == [efficacy, regression]


@given(COMPARISON, counts())
def test_a_verdict_is_what_every_completion_agrees_on(comparison: Comparison, found: dict[str, int]) -> None:
    """Pass or fail stands exactly when every completion of the INVALID trials gives that same answer."""
    trials = sum(found.values())
    rule = rule_for(comparison, trials)
    got = verdict(rule, **found, gate_failed=found["gates"] > 0)
    if found["gates"]:
        assert got == "fail"
        return
    answers = {
        passes(rule, found["wins"] + won, found["losses"] + lost)
        for won, lost in product(range(found["invalid"] + 1), repeat=2)
        if won + lost <= found["invalid"]
    }
    assert got == ("incomplete" if len(answers) == 2 else "pass" if answers == {True} else "fail")


@given(COMPARISON, counts())
def test_more_missing_evidence_is_never_better(comparison: Comparison, found: dict[str, int]) -> None:
    """Losing a trial's evidence never turns a fail or an incomplete into a pass."""
    rule = rule_for(comparison, sum(found.values()))
    before = verdict(rule, **found, gate_failed=False)
    for name in ("wins", "ties", "losses"):
        if found[name]:
            fewer = {**found, name: found[name] - 1, "invalid": found["invalid"] + 1}
            after = verdict(rule, **fewer, gate_failed=False)
            assert after == "incomplete" or after == before or name == "losses"
            if name == "losses" and after == "pass":
                assert before == "pass"


@given(COMPARISON, counts())
def test_flips_are_the_fewest_that_fail(comparison: Comparison, found: dict[str, int]) -> None:
    """The margin is a true shortest way to red: no way of fewer flips exists, and one of exactly that many does."""
    wins, ties, losses = found["wins"], found["ties"], found["losses"] + found["invalid"]
    if not wins + ties + losses:
        return
    rule = rule_for(comparison, wins + ties + losses)
    if not passes(rule, wins, losses):
        return
    costs = [
        w_to_t + t_to_l + 2 * w_to_l
        for w_to_t in range(wins + 1)
        for w_to_l in range(wins - w_to_t + 1)
        for t_to_l in range(ties + 1)
        if not passes(rule, wins - w_to_t - w_to_l, losses + t_to_l + w_to_l)
    ]
    assert flips_to_fail(rule, wins=wins, ties=ties, losses=losses) == min(costs)


def test_a_denominator_never_shrinks() -> None:
    """Counts that do not add up to the rule's trials are a programming error, not a smaller experiment."""
    with pytest.raises(ValueError, match="the rule is for 5"):
        verdict(rule_for(EFFICACY, 5), wins=3, ties=0, losses=0, gates=0, invalid=0, gate_failed=False)


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        ([], "incomplete"),
        (["pass"], "pass"),
        (["pass", "incomplete"], "incomplete"),
        (["incomplete", "fail"], "fail"),
        (["pass", "pass"], "pass"),
    ],
)
def test_a_skill_is_as_good_as_its_worst_case(cases: list[str], expected: str) -> None:
    """Red wins over unknown, unknown over green, and no case at all is not green."""
    assert of_skill(cases) == expected  # type: ignore[arg-type] # the strings are verdicts
