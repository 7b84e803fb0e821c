"""A skill's scores against its baseline -> deltas and statuses.

Core: pure. A status is past a threshold or it is not: exactly at it is within. token_efficiency is held to the growth
of the skill's size and to the size of its references, never to its score.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

from ..model import Value
from .baseline import Baseline, BaselineSkill
from .config import Threshold
from .scores import DimensionResult, DimensionScore, Size, Standing, Status

REFERENCES_WARN, REFERENCES_BLOCK = 3000, 5000
_WORST: tuple[Standing, ...] = ("BLOCKED", "incomplete", "WARN")


class Growth(Value, frozen=True):
    """How a size changed since the baseline: of what, from how much to how much."""

    unit: str
    before: int
    after: int

    def past(self, threshold: Decimal) -> bool:
        """Tell whether it grew by more than `threshold` per cent. From nothing, any growth is past every threshold."""
        return (self.after - self.before) * 100 > Fraction(threshold) * self.before

    def __str__(self) -> str:
        """Say it in words, with per cent where there was anything before."""
        per_cent = f" ({(self.after - self.before) * 100 / self.before:+.1f} %)" if self.before else ""
        return f"{self.before:,} to {self.after:,} {self.unit}{per_cent}"


def growth(size: Size | None, before: BaselineSkill | None, baseline: Baseline | None, *, cjk: bool) -> Growth | None:
    """Return how SKILL.md grew since the baseline, None where that is not known.

    By words. A baseline that another program wrote may count a Chinese sentence as one word, so in a text with such
    characters its lines are compared, if it has them.
    """
    if size is None or before is None or baseline is None:
        return None
    ours = (baseline.generated_by or "").startswith("pytest-skillbench")
    if before.skill_words is not None and (ours or not cjk):
        return Growth(unit="words", before=before.skill_words, after=size.words)
    if before.skill_lines is not None:
        return Growth(unit="lines", before=before.skill_lines, after=size.lines)
    return None


def observed(
    found: DimensionScore, before: Decimal | None, threshold: Threshold, fewer: str | None = None
) -> DimensionResult:
    """Return a dimension with its delta in points and its status. `before`: the baseline's score of it.

    `fewer`: why a score that rose is no improvement, None where it is one. One whose score is not known is BLOCKED all
    the same where it would be, however the ungraded rows had come out.
    """
    delta = found.score - before if found.score is not None and before is not None else None
    detail = None
    status: Status
    if found.state == "not-applicable":
        status = "not-applicable"
    elif found.score is None:
        hopeless = found.high is not None and before is not None and found.high - before < threshold.blocking
        status = "BLOCKED" if hopeless else "not-run"
        detail = f"{found.high} at most, past {threshold.blocking}" if hopeless else None
    elif delta is None:
        status = "NEW"
    elif delta < threshold.blocking:
        status, detail = "BLOCKED", f"past {threshold.blocking}"
    elif delta < threshold.warning:
        status, detail = "WARN", f"past {threshold.warning}"
    elif delta > 0:
        status, detail = ("UP", None) if fewer is None else ("OK", fewer)
    else:
        status = "OK"
    return _result(found, before, delta, status, detail)


def measured(
    found: DimensionScore, before: Decimal | None, grown: Growth | None, size: Size | None, threshold: Threshold
) -> DimensionResult:
    """Return token_efficiency with its status, by growth and by the words of the references."""
    delta = found.score - before if found.score is not None and before is not None else None
    if found.score is None or size is None:
        return _result(found, before, delta, "not-run", None)
    references = f"{size.reference_words:,} words in references"
    blocked, warned = [], []
    if grown is not None and grown.past(threshold.blocking):
        blocked.append(f"{grown}, past +{threshold.blocking} %")
    elif grown is not None and grown.past(threshold.warning):
        warned.append(f"{grown}, past +{threshold.warning} %")
    if size.reference_words > REFERENCES_BLOCK:
        blocked.append(f"{references}, more than {REFERENCES_BLOCK:,}")
    elif size.reference_words > REFERENCES_WARN:
        warned.append(f"{references}, more than {REFERENCES_WARN:,}")
    status: Status
    detail = None
    if blocked or warned:
        status, detail = "BLOCKED" if blocked else "WARN", "; ".join([*blocked, *warned])
    elif grown is None:
        status, detail = "NEW", "the baseline has no size to compare with" if before is not None else None
    else:
        status = "UP" if delta is not None and delta > 0 else "OK"
    return _result(found, before, delta, status, detail)


def standing(
    statuses: Iterable[Status], *, complete: bool, delta: Decimal | None, compared: bool, fewer: str | None
) -> Standing:
    """Return a skill's status: the worst of its dimensions', and of being incomplete; else how its overall moved."""
    found = {*statuses, *(() if complete else ("incomplete",))}
    worst = next((status for status in _WORST if status in found), None)
    if worst is not None:
        return worst
    if not compared or delta is None:
        return "NEW"
    return "UP" if delta > 0 and fewer is None else "OK"


def worst(standings: Iterable[Standing]) -> Standing:
    """Return the status of several skills together."""
    found = set(standings)
    order: tuple[Standing, ...] = (*_WORST, "NEW", "OK", "UP")
    if found == {"OK", "UP"}:
        return "OK"
    return next((status for status in order if status in found), "incomplete")


def _result(
    found: DimensionScore, before: Decimal | None, delta: Decimal | None, status: Status, detail: str | None
) -> DimensionResult:
    return DimensionResult(
        state=found.state,
        score=found.score,
        why=found.why,
        rows=found.rows,
        ungraded=found.ungraded,
        asked=found.asked,
        low=found.low,
        high=found.high,
        weighted=found.weighted,
        baseline=before,
        delta=delta,
        status=status,
        detail=detail,
    )
