"""How sure is this? The exact odds, against known values and against counting every possible run."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from pytest_skillbench.certainty import chance_of_passing
from pytest_skillbench.model import COMPARISONS, EFFICACY, REGRESSION, Comparison
from pytest_skillbench.rules import passes, rule_for


@pytest.mark.parametrize(
    ("tie_rate", "fails_unchanged", "passes_useless"), [(0, 81, 19), (0.3, 57, 18), (0.5, 37, 9), (0.8, 8, 1)]
)
def test_known_odds_of_five_trials(tie_rate: float, fails_unchanged: int, passes_useless: int) -> None:
    """The published values for one case and five trials, in per cent."""
    assert round(100 * (1 - chance_of_passing(rule_for(REGRESSION, 5), tie_rate))) == fails_unchanged
    assert round(100 * chance_of_passing(rule_for(EFFICACY, 5), tie_rate)) == passes_useless


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.name)
@pytest.mark.parametrize("trials", [1, 2, 5, 7])
@pytest.mark.parametrize("tie_rate", [Fraction(0), Fraction(3, 10), Fraction(1)])
def test_the_sum_equals_counting_every_run(comparison: Comparison, trials: int, tie_rate: Fraction) -> None:
    """The trinomial sum is the total probability of all 3^N sequences of outcomes that pass."""
    chance = {"W": (1 - tie_rate) / 2, "T": tie_rate, "L": (1 - tie_rate) / 2}
    rule = rule_for(comparison, trials)
    total = Fraction(0)
    for outcomes in product("WTL", repeat=trials):
        if passes(rule, outcomes.count("W"), outcomes.count("L")):
            one = Fraction(1)
            for outcome in outcomes:
                one *= chance[outcome]
            total += one
    assert chance_of_passing(rule, float(tie_rate)) == pytest.approx(float(total), abs=1e-12)
