"""A skill's last evaluations by the scorecard -> its section in the report, and its cell on the leaderboard.

Core. The scorecard is an instrument of its own: nothing here touches a verdict, and the section says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from .page import Scorecard, ScoreRow
from .parts import ScoreCell, ScoreState
from .texts import brief
from .words import MINUS, UNKNOWN

if TYPE_CHECKING:
    from ..scorecard.past import Past
    from ..scorecard.scores import DimensionResult, SkillScore

_STATE: dict[str, ScoreState] = {
    "UP": "pass",
    "OK": "pass",
    "NEW": "na",
    "WARN": "warn",
    "BLOCKED": "fail",
    "incomplete": "part",
    "not-run": "part",
    "not-applicable": "na",
}
_WORD = {
    "UP": "up",
    "OK": "ok",
    "NEW": "new",
    "WARN": "warning",
    "BLOCKED": "blocked",
    "incomplete": "incomplete",
    "not-run": "not run",
    "not-applicable": "n/a",
}


def scorecard(pasts: Sequence[Past]) -> Scorecard | None:
    """Return the section of a report; `pasts` oldest first. None where the skill was never evaluated."""
    if not pasts:
        return None
    last = pasts[-1]
    score = last.score
    return Scorecard(
        source=last.name,
        overall=_points(score.overall),
        about="" if score.complete else "over the dimensions that were observed",
        state=_STATE[score.status],
        word=_WORD[score.status],
        baseline=f"baseline {last.baseline_version}" if last.baseline_version is not None else "no baseline",
        rows=tuple(_row(name, result) for name, result in score.dimensions.items()),
        missing=tuple(brief(text, 300) for text in score.missing if text.partition(":")[0] not in score.dimensions),
        notes=tuple(brief(text, 300) for text in score.notes),
        trend=tuple((past.date, _whole(past.score) or "incomplete") for past in pasts),
    )


def cell(pasts: Sequence[Past]) -> ScoreCell | None:
    """Return the cell of the leaderboard, None where the skill was never evaluated."""
    if not pasts:
        return None
    score = pasts[-1].score
    return ScoreCell(overall=_whole(score), state=_STATE[score.status], word=_WORD[score.status])


def _row(name: str, result: DimensionResult) -> ScoreRow:
    why = result.detail or result.why or ""
    return ScoreRow(
        name=name.replace("_", " ").capitalize(),
        score=_points(result.score),
        baseline=_points(result.baseline),
        delta=_delta(result.delta),
        state=_STATE[result.status],
        word=_WORD[result.status],
        why=brief(why, 300),
    )


def _whole(score: SkillScore) -> str:
    """Return an overall score where it is of all dimensions; that of a few, by itself, would say too much."""
    return _points(score.overall) if score.complete else ""


def _points(value: Decimal | None) -> str:
    return UNKNOWN if value is None else f"{value}"


def _delta(value: Decimal | None) -> str:
    if value is None:
        return ""
    return f"{value:+}".replace("-", MINUS) if value else "0.0"
