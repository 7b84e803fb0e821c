"""Token sums, cost-equivalent tokens and dollars of any number of requests.

Core: pure. All arithmetic is in whole tokens and exact fractions, rounded once at the end to the nearest float, so that
neither the order of requests nor the way they are grouped can change a figure. Both definitions of cost are FORMATS
section 3's.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from operator import mul
from typing import TypeAlias

from .model import Request, Usage
from .prices import PriceTable, Rates

CLASSIC = Rates(input=1, cache_write_5m=1.25, cache_write_1h=2, cache_read=0.1, output=5)
_MILLION = 1_000_000

_Parts: TypeAlias = "dict[tuple[str, Rates | None], _Sums]"


def main_model(requests: Iterable[Request]) -> str | None:
    """Return the model with the most tokens (of several, the first in the alphabet), None where there is no request."""
    tokens: dict[str, int] = {}
    for request in requests:
        model = request.model
        tokens[model] = tokens.get(model, 0) + _context(request) + request.output
    return _most(tokens)


def summarize(
    requests: Iterable[Request],
    table: PriceTable,
    *,
    at: str | None,
    complete: bool,
    notes: Sequence[str],
    main_model: str | None = None,
) -> Usage:
    """Sum the requests of an arm or a transcript, all at the prices of one time (`at`, ISO 8601; None: the newest).

    `complete` and `notes` say whether the requests are all there are. `main_model` None: the one with the most tokens.
    """
    return summarize_dated(
        ((request, at) for request in requests), table, complete=complete, notes=notes, main_model=main_model
    )


def summarize_dated(
    dated: Iterable[tuple[Request, str | None]],
    table: PriceTable,
    *,
    complete: bool,
    notes: Sequence[str],
    main_model: str | None = None,
) -> Usage:
    """Sum requests, each at the prices of its own day; the main model's input token is that of its last day."""
    plans: dict[tuple[str, str | None, str], _Plan] = {}
    calls = 0
    for request, at in dated:
        calls += 1
        key = request.model, at, request.speed
        plan = plans.get(key)
        if plan is None:
            plan = plans[key] = _Plan(table, request, at)
        plan.add(request)
    sums, last = _gather(plans)

    total = _Sums()
    tokens: Counter[str] = Counter()
    for (model, _), part in sums.items():
        total.join(part)
        tokens[model] += part.raw
    main = main_model or _most(tokens)
    dollars = _dollars(sums)
    unit = _input_price(table, main, last)
    classic = dollars is None or unit is None
    equivalent = total.cost(CLASSIC) if dollars is None or unit is None else dollars / unit
    known = calls > 0 or complete
    return Usage(
        model=main,
        input=total.input,
        cache_write_5m=total.write_5m,
        cache_write_1h=total.write_1h,
        cache_read=total.read,
        output=total.output,
        api_calls=calls,
        complete=complete,
        notes=tuple(notes),
        cost_equivalent_tokens=float(equivalent),
        cost_usd=float(dollars / _MILLION) if dollars is not None and known else None,
        classic_weights=classic and calls > 0,
    )


def add(usages: Sequence[Usage]) -> Usage:
    """Sum usages, for tables: complete only if all are, in dollars only if all are priced.

    The cost-equivalent tokens add up as they are, each in input tokens of its own main model. Floats are summed exactly
    (`math.fsum`), so the order is no matter. No usage at all is not complete.
    """
    tokens: Counter[str] = Counter()
    for usage in usages:
        if usage.model is not None:
            tokens[usage.model] += usage.raw
    dollars = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return Usage(
        model=_most(tokens),
        input=sum(usage.input for usage in usages),
        cache_write_5m=sum(usage.cache_write_5m for usage in usages),
        cache_write_1h=sum(usage.cache_write_1h for usage in usages),
        cache_read=sum(usage.cache_read for usage in usages),
        output=sum(usage.output for usage in usages),
        api_calls=sum(usage.api_calls for usage in usages),
        complete=bool(usages) and all(usage.complete for usage in usages),
        notes=tuple(dict.fromkeys(note for usage in usages for note in usage.notes)),
        cost_equivalent_tokens=math.fsum(usage.cost_equivalent_tokens for usage in usages),
        cost_usd=math.fsum(dollars) if usages and len(dollars) == len(usages) else None,
        classic_weights=any(usage.classic_weights for usage in usages),
    )


class _Plan:
    """Where the requests of one model, time and speed go: a sum for each context size at which the price changes."""

    __slots__ = ("day", "model", "steps", "sums")

    def __init__(self, table: PriceTable, request: Request, at: str | None) -> None:
        self.model = request.model
        self.day = None if at is None else at[:10]
        price = table.price(self.model, self.day)
        ladder = None if price is None else price.ladder(request.speed)
        rates = [None] if ladder is None else [ladder.rates, *(tier.rates for tier in ladder.tiers)]
        self.steps = () if ladder is None else tuple(tier.above for tier in ladder.tiers)
        self.sums = [(rate, _Sums()) for rate in rates]

    def add(self, request: Request) -> None:
        at = bisect_left(self.steps, _context(request)) if self.steps else 0
        self.sums[at][1].add(request)


def _gather(plans: dict[tuple[str, str | None, str], _Plan]) -> tuple[_Parts, dict[str, str | None]]:
    """Return the sums by model and rates, and each model's last day; an unknown day counts as the latest."""
    parts: _Parts = {}
    last: dict[str, str | None] = {}
    for plan in plans.values():
        seen = last.get(plan.model, plan.day)
        last[plan.model] = None if seen is None or plan.day is None else max(seen, plan.day)
        for rates, sums in plan.sums:
            parts.setdefault((plan.model, rates), _Sums()).join(sums)
    return parts, last


class _Sums:
    """Whole tokens of the five components."""

    __slots__ = ("input", "output", "read", "write_1h", "write_5m")

    def __init__(self) -> None:
        self.input = self.write_5m = self.write_1h = self.read = self.output = 0

    def add(self, request: Request) -> None:
        self.input += request.input
        self.write_5m += request.cache_write_5m
        self.write_1h += request.cache_write_1h
        self.read += request.cache_read
        self.output += request.output

    def join(self, other: _Sums) -> None:
        self.input += other.input
        self.write_5m += other.write_5m
        self.write_1h += other.write_1h
        self.read += other.read
        self.output += other.output

    @property
    def raw(self) -> int:
        return self.input + self.write_5m + self.write_1h + self.read + self.output

    def cost(self, rates: Rates) -> Fraction:
        """Return what the tokens cost, exactly, in millionths of the rates' unit."""
        each, unit = _whole(rates)
        tokens = (self.input, self.write_5m, self.write_1h, self.read, self.output)
        return Fraction(sum(map(mul, tokens, each)), unit)


@cache
def exact(price: float) -> Fraction:
    """Return the decimal number that a price was written as: 0.1 is one tenth, not the float nearest to it."""
    return Fraction(repr(price))


@cache
def _whole(rates: Rates) -> tuple[tuple[int, ...], int]:
    """Return the five prices as whole numbers of one unit, and how many units are one of the rates' own."""
    prices = [
        exact(price)
        for price in (rates.input, rates.cache_write_5m, rates.cache_write_1h, rates.cache_read, rates.output)
    ]
    unit = math.lcm(*(price.denominator for price in prices))
    return tuple(price.numerator * (unit // price.denominator) for price in prices), unit


def _context(request: Request) -> int:
    return request.input + request.cache_write_5m + request.cache_write_1h + request.cache_read


def _most(tokens: Mapping[str, int]) -> str | None:
    return min(tokens, key=lambda model: (-tokens[model], model), default=None)


def _dollars(sums: _Parts) -> Fraction | None:
    """Return millionths of dollars, None where a model is unpriced (no tokens of it cost nothing at any price)."""
    dollars = Fraction(0)
    for (_, rates), part in sums.items():
        if rates is not None:
            dollars += part.cost(rates)
        elif part.raw:
            return None
    return dollars


def _input_price(table: PriceTable, main: str | None, last: dict[str, str | None]) -> Fraction | None:
    """Return the price of an uncached input token of the main model, in millionths; None: unpriced, or free."""
    if main is None:
        return None
    days = [last[main]] if main in last else list(last.values())
    day = None if not days or None in days else max(day for day in days if day is not None)
    price = table.price(main, day)
    rate = exact(price.standard.rates.input) if price is not None else Fraction(0)
    return rate or None
