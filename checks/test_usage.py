"""Sums of usage: exact, the same in any order, and never a number where a price is not known."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillbench.model import Request, Usage
from pytest_skillbench.prices import Ladder, ModelPrice, PriceTable, Rates, Tier
from pytest_skillbench.usage import add, main_model, summarize, summarize_dated

CHEAP = Rates(input=1, cache_write_5m=1.25, cache_write_1h=2, cache_read=0.1, output=5)
DEAR = Rates(input=10, cache_write_5m=12.5, cache_write_1h=20, cache_read=0.25, output=50)
FREE = Rates(input=0, cache_write_5m=0, cache_write_1h=0, cache_read=0, output=0)
TABLE = PriceTable(
    date="2026-12-01",
    models={
        "cheap": (ModelPrice(standard=Ladder(rates=CHEAP)),),
        "dear": (ModelPrice(standard=Ladder(rates=DEAR), fast=Ladder(rates=CHEAP)),),
        "tiered": (ModelPrice(standard=Ladder(rates=CHEAP, tiers=(Tier(above=1000, rates=DEAR),))),),
        "moved": (
            ModelPrice(standard=Ladder(rates=DEAR)),
            ModelPrice(since="2026-06-01", standard=Ladder(rates=CHEAP)),
        ),
        "free": (ModelPrice(standard=Ladder(rates=FREE)),),
    },
)  # fmt: skip


def request(
    model: str = "cheap", plain: int = 0, output: int = 0, speed: Literal["standard", "fast"] = "standard", **more: int
) -> Request:
    """Return a request with the given figures, the others 0."""
    figures = {"cache_write_5m": 0, "cache_write_1h": 0, "cache_read": 0, **more}
    return Request(id="msg", model=model, input=plain, output=output, speed=speed, **figures)


def total(*requests: Request, at: str | None = None, **more: Any) -> Usage:
    """Summarize at the test's table."""
    return summarize(requests, TABLE, at=at, **{"complete": True, "notes": (), **more})


def test_every_component_has_its_own_price() -> None:
    """A million of each component costs the sum of the five rates; in input tokens of the model, that over its rate."""
    one = total(request("dear", 10**6, 10**6, cache_write_5m=10**6, cache_write_1h=10**6, cache_read=10**6))
    assert one.cost_usd == 10 + 12.5 + 20 + 0.25 + 50
    assert one.cost_equivalent_tokens == 9_275_000
    assert (one.raw, one.api_calls, one.classic_weights) == (5 * 10**6, 1, False)


def test_the_unit_is_an_input_token_of_the_main_model() -> None:
    """A dear helper counts ten times in the tokens of a cheap main model: that with most tokens, if none is given."""
    mixed = (request("cheap", 1000), request("dear", 100))
    assert (total(*mixed).model, total(*mixed).cost_equivalent_tokens) == ("cheap", 2000)
    given_ = total(*mixed, main_model="dear")
    assert (given_.model, given_.cost_equivalent_tokens) == ("dear", 200)
    assert total(*mixed).cost_usd == given_.cost_usd == 0.002


def test_a_context_tier_reprices_the_whole_request() -> None:
    """Input and cache tokens of one request make its context; output does not; only more than the threshold counts."""
    assert total(request("tiered", 400, 9999, cache_read=600)).cost_usd == (400 + 60 + 9999 * 5) / 1e6
    above = total(request("tiered", 400, 10, cache_read=601))
    assert above.cost_usd == float(Fraction(4000 + 500) + Fraction("150.25")) / 1e6
    assert above.cost_equivalent_tokens == 4650.25, "the unit is the price of the lowest tier"
    two = total(request("tiered", 600), request("tiered", 600))
    assert two.cost_usd == 0.0012, "two small requests are not a large one"


def test_prices_hold_by_date_and_each_request_has_its_own() -> None:
    """An old request keeps its old price; without a date the newest holds; the unit is that of the last day."""
    assert total(request("moved", 1000), at="2026-05-31T23:59:59Z").cost_usd == 0.01
    assert total(request("moved", 1000), at="2026-06-01T00:00:00Z").cost_usd == 0.001
    assert total(request("moved", 1000)).cost_usd == 0.001
    dated = [(request("moved", 1000), "2026-05-01"), (request("moved", 1000), "2026-07-01")]
    both = summarize_dated(dated, TABLE, complete=True, notes=())
    assert (both.cost_usd, both.cost_equivalent_tokens) == (0.011, 11000)


def test_fast_requests_have_their_own_price_or_none() -> None:
    """A model whose fast price is unknown is unpriced in fast mode, never at the price of the standard mode."""
    assert total(request("dear", 1000, speed="fast")).cost_usd == 0.001
    unpriced = total(request("cheap", 1000, speed="fast"))
    assert (unpriced.cost_usd, unpriced.classic_weights) == (None, True)


def test_an_unpriced_model_makes_the_arm_unpriced_and_classically_weighted() -> None:
    """One unknown model: no dollars for the arm, and 1 / 1.25 / 2 / 0.1 / 5 for all of its requests, marked."""
    arm = total(request("dear", 1000), request("nobody", 100, 10, cache_write_5m=8, cache_write_1h=4, cache_read=50))
    assert arm.cost_usd is None
    assert arm.classic_weights
    assert arm.cost_equivalent_tokens == 1000 + 100 + 10 + 8 + 5 + 50


def test_a_main_model_without_a_price_leaves_the_dollars_known() -> None:
    """The arm's dollars are those of its requests; only the unit is missing, so the classic weights stand in."""
    for main in ("nobody", "free"):
        arm = total(request("dear", 1000), main_model=main)
        assert (arm.cost_usd, arm.cost_equivalent_tokens, arm.classic_weights) == (0.01, 1000, True)


def test_no_tokens_cost_nothing_at_any_price() -> None:
    """A failed call of an unknown model does not unprice the arm."""
    arm = total(request("cheap", 1000), request("nobody"))
    assert (arm.cost_usd, arm.classic_weights, arm.api_calls) == (0.001, False, 2)


def test_nothing_is_free_only_where_it_is_known_to_be_nothing() -> None:
    """No requests: 0 dollars if that is all there was, no number if it may not be."""
    assert total().cost_usd == 0
    gone = total(complete=False, notes=("the transcript is missing",))
    assert (gone.cost_usd, gone.complete, gone.model, gone.classic_weights) == (None, False, None, False)
    assert gone.notes == ("the transcript is missing",)


def test_adding_keeps_what_is_missing() -> None:
    """A table's sum is complete and priced only if every part is; notes are kept once; no part at all is a gap."""
    good, other = total(request("cheap", 100)), total(request("dear", 10, 1))
    both = add([good, other])
    assert (both.input, both.output, both.api_calls, both.complete) == (110, 1, 2, True)
    assert both.cost_usd == pytest.approx(0.00025, abs=1e-18)
    assert both.cost_equivalent_tokens == 100 + 15
    assert both.model == "cheap"
    part = total(request("nobody", 5), complete=False, notes=("why", "why else"))
    bad = add([good, part, part])
    assert (bad.complete, bad.cost_usd, bad.classic_weights, bad.notes) == (False, None, True, ("why", "why else"))
    assert (add([]).complete, add([]).cost_usd, add([]).raw) == (False, None, 0)


def test_the_main_model_is_the_one_with_most_tokens() -> None:
    """Of two with as many, the first in the alphabet; of none, none."""
    assert main_model([request("b", 5), request("a", 5)]) == "a"
    assert main_model([request("b", 5), request("a", 2), request("b", 0, 1), request("a", 5)]) == "a"
    assert main_model([]) is None


REQUESTS = st.builds(
    request, st.sampled_from(["cheap", "dear", "tiered", "moved"]), st.integers(0, 10**13), st.integers(0, 10**6),
    cache_write_5m=st.integers(0, 2000), cache_write_1h=st.integers(0, 2000), cache_read=st.integers(0, 2000),
)  # fmt: skip


@given(st.lists(REQUESTS, max_size=12), st.integers(0, 99))
def test_no_order_changes_a_bit(requests: list[Request], seed: int) -> None:
    """Exact fractions, rounded once: the same requests in any order give the same figures to the last bit."""
    shuffled = requests[:]
    random.Random(seed).shuffle(shuffled)
    assert total(*requests) == total(*shuffled)
    assert add([total(r) for r in requests]) == add([total(r) for r in shuffled])


@given(st.lists(REQUESTS, min_size=1, max_size=12))
def test_the_sum_is_the_ledger(requests: list[Request]) -> None:
    """No token is lost or doubled, and the dollars are those of each request alone, summed exactly."""
    found = total(*requests)
    assert found.raw == sum(r.input + r.cache_write_5m + r.cache_write_1h + r.cache_read + r.output for r in requests)
    exact = Fraction(0)
    for r in requests:
        price = TABLE.models[r.model][-1].rates(r.input + r.cache_write_5m + r.cache_write_1h + r.cache_read)
        assert price is not None
        for name in Rates.__struct_fields__:
            exact += Fraction(repr(getattr(price, name))) * getattr(r, name)
    assert found.cost_usd == float(exact / 10**6)
