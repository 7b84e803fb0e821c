"""Rows and sizes -> the score of each dimension, and the overall one.

Core: pure, and exact: fractions until a score is rounded to one decimal, decimals from there on, so that no total ever
depends on an order or on floats.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

from ..model import Value
from .records import Dimension
from .scores import DimensionScore, Row, Size

#: As many positives that were not triggered, and no other, are an alarm and no score.
ALARM_AT = 3
ALARM = "no positive case at all was triggered: probably the probe, not the skill"
_LINES = ((200, 100), (300, 90), (400, 80), (500, 70))
_LONGEST = 50
_TENTH = Decimal("0.1")
_EXACT = Context(prec=60, rounding=ROUND_HALF_UP)


class Overall(Value, frozen=True):
    """The weighted mean of the scores that there are, and the dimensions with a weight that have none, in order."""

    score: Decimal | None
    missing: tuple[Dimension, ...]


def rounded(value: Fraction) -> Decimal:
    """Return an exact value with one decimal, halves up."""
    quotient = _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
    return quotient.quantize(_TENTH, context=_EXACT)


def mean(values: Iterable[Decimal | None]) -> Decimal | None:
    """Return the mean of the values that are there, with one decimal; None where there is none."""
    found = [Fraction(value) for value in values if value is not None]
    return rounded(sum(found, Fraction(0)) / len(found)) if found else None


def score(dimension: Dimension, rows: Sequence[Row]) -> DimensionScore:
    """Return the score of a dimension that is observed: the mean over its rows, 100 where every check held.

    There is one only where every row is graded. `rows` are those of the dimension; their order is nothing.
    """
    graded = [Fraction(row.held or 0, row.of) for row in rows if row.of]
    ungraded = len(rows) - len(graded)
    if not rows:
        return _without("no case observes it", rows=0, ungraded=0)
    low = rounded(100 * sum(graded, Fraction(0)) / len(rows))
    high = rounded(100 * (sum(graded, Fraction(0)) + ungraded) / len(rows))
    asked = sum(row.probe == "asked" for row in rows)
    if dimension == "trigger_accuracy" and _is_alarming(rows):
        return _without(ALARM, rows=len(rows), ungraded=ungraded, asked=asked)
    if ungraded:
        why = f"{ungraded} of {len(rows)} ungraded: {_reasons(rows)}"
        return _without(why, rows=len(rows), ungraded=ungraded, asked=asked, low=low, high=high)
    return DimensionScore(
        state="scored",
        score=low,
        why=None,
        rows=len(rows),
        ungraded=0,
        asked=asked,
        low=low,
        high=high,
        weighted=_weighted(rows) if dimension == "trigger_accuracy" else None,
    )


def not_applicable(why: str) -> DimensionScore:
    """Return a dimension that has no meaning for this skill."""
    return DimensionScore(
        state="not-applicable",
        score=None,
        why=why,
        rows=0,
        ungraded=0,
        asked=0,
        low=None,
        high=None,
        weighted=None,
    )


def static(size: Size | None) -> DimensionScore:
    """Return token_efficiency, which is read off SKILL.md's lines; not run where the skill can't be read."""
    if size is None:
        return _without("the skill's files can't be read", rows=0, ungraded=0)
    points = Decimal(next((points for below, points in _LINES if size.lines < below), _LONGEST)).quantize(_TENTH)
    return DimensionScore(
        state="scored",
        score=points,
        why=None,
        rows=0,
        ungraded=0,
        asked=0,
        low=points,
        high=points,
        weighted=None,
    )


def overall(scores: Mapping[Dimension, DimensionScore], weights: Mapping[Dimension, Decimal]) -> Overall:
    """Return the weighted mean over the dimensions that have a score, and which of the others are missing.

    A dimension that is not applicable, or has no weight, is neither counted nor missing.
    """
    counted = [name for name in weights if weights[name] > 0 and scores[name].state != "not-applicable"]
    values = {name: found for name in counted if (found := scores[name].score) is not None}
    return Overall(score=weighted_mean(values, weights), missing=tuple(name for name in counted if name not in values))


def weighted_mean(values: Mapping[Dimension, Decimal], weights: Mapping[Dimension, Decimal]) -> Decimal | None:
    """Return the mean of some dimensions' scores by their weights, with one decimal; None where none has a weight."""
    total = sum((Fraction(weights[name]) for name in values), Fraction(0))
    if not total:
        return None
    return rounded(
        sum((Fraction(weights[name]) * Fraction(value) for name, value in values.items()), Fraction(0)) / total
    )


def _without(
    why: str, *, rows: int, ungraded: int, asked: int = 0, low: Decimal | None = None, high: Decimal | None = None
) -> DimensionScore:
    return DimensionScore(
        state="not-run",
        score=None,
        why=why,
        rows=rows,
        ungraded=ungraded,
        asked=asked,
        low=low,
        high=high,
        weighted=None,
    )


def _is_alarming(rows: Sequence[Row]) -> bool:
    positives: dict[str, bool] = {}
    for row in rows:
        if row.category == "trigger-positive" and row.of:
            positives[row.case] = positives.get(row.case, False) or bool(row.held)
    return len(positives) >= ALARM_AT and not any(positives.values())


def _weighted(rows: Sequence[Row]) -> Decimal:
    """Return +1 for each that is right, -1 for each positive that was missed, -0.5 for each false alarm (seed 004)."""
    cost = {"trigger-positive": Decimal(1), "trigger-negative": Decimal("0.5")}
    return sum((Decimal(1) if row.held else -cost[row.category] for row in rows), Decimal(0))


def _reasons(rows: Sequence[Row]) -> str:
    """Name the first few ungraded cases, with why."""
    found = sorted({(row.case, row.trial, row.ungraded or "") for row in rows if row.ungraded is not None})
    named = [f"{case} trial {trial} ({why})" for case, trial, why in found[:3]]
    return ", ".join([*named, *([f"and {len(found) - 3} more"] if len(found) > 3 else [])])
