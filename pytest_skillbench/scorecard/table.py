"""An evaluation -> what the terminal shows of it: a framed table, the dimensions that moved, the regressions.

Core: pure text. Columns are aligned by the width that a terminal gives a character; where the stream can't hold the
frame's characters, plain ASCII is drawn. Whatever an author or a model wrote is one safe line.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal

from ..model import Value
from ..text import one_line
from .records import DIMENSIONS
from .scores import DimensionResult, Evaluation, SkillScore

TITLE = "SKILL SCORECARD"
DISCLAIMER = (
    "A lint and a guard against drift, not proof of quality: what a skill is worth is said by its head-to-heads."
)
_HEADS = ("Skill", "Score", "Baseline", "Delta", "Status")
_MOST_UNGRADED = 10


class Frame(Value, frozen=True):
    """The characters of a frame: double lines around the title, single ones around the table, and an absent value."""

    double: tuple[str, ...]
    single: tuple[str, ...]
    none: str
    minus: str


UNICODE = Frame(double=tuple("╔═╗║╚╝"), single=tuple("┌─┬┐│├┼┤└┴┘"), none="—", minus="−")
ASCII = Frame(double=tuple("+=+|++"), single=tuple("+-++|++++++"), none="-", minus="-")


def frame_for(encoding: str | None) -> Frame:
    """Return the frame that a stream of this encoding can hold."""
    try:
        "".join((*UNICODE.double, *UNICODE.single, UNICODE.none, UNICODE.minus)).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def width(text: str) -> int:
    """Return how many cells of a terminal a text takes: two for a wide character, none for a mark upon another."""
    return sum(
        0
        if unicodedata.category(char) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(char) in "WF"
        else 1
        for char in text
    )


def render(evaluation: Evaluation, encoding: str | None) -> str:
    """Return the text of an evaluation for a stream of this encoding (None: ASCII), without a newline at the end."""
    return "\n".join(_Table(evaluation, encoding or "ascii").lines())


class _Table:
    def __init__(self, evaluation: Evaluation, encoding: str) -> None:
        self.evaluation = evaluation
        self.encoding = encoding
        self.frame = frame_for(encoding)

    def lines(self) -> Iterator[str]:
        yield from self._title()
        yield ""
        yield self._overall() if self.evaluation.results else "No skill was evaluated."
        if self.evaluation.results:
            yield ""
            yield from self._framed([self._cells(name, found) for name, found in self.evaluation.results.items()])
        for name, found in self.evaluation.results.items():
            if _moved(found):
                yield from ("", self.said(f"Dimensions of {name}"), *self._dimensions(found))
        yield from ("", "Regressions", *self._regressions())
        yield from self._missing()
        yield from ("", DISCLAIMER)

    def said(self, text: str) -> str:
        """Return a text on one safe line, with only such characters as the stream can hold."""
        plain = one_line(text)
        try:
            return plain.encode(self.encoding, "backslashreplace").decode(self.encoding)
        except LookupError:
            return plain.encode("ascii", "backslashreplace").decode("ascii")

    def _title(self) -> Iterator[str]:
        left, across, right, side, low_left, low_right = self.frame.double
        yield left + across * 62 + right
        yield side + TITLE.center(62) + side
        yield low_left + across * 62 + low_right

    def _overall(self) -> str:
        summary, comparison = self.evaluation.summary, self.evaluation.comparison
        against = "no baseline"
        if comparison.baseline_version is not None:
            against = f"baseline {comparison.baseline_version}: {self._number(comparison.baseline_overall)}"
        score = self._number(summary.overall_score)
        whole = "" if summary.complete else f" ({summary.skills_incomplete} of {summary.skills_evaluated} incomplete)"
        return self.said(f"Overall score: {score}{whole}, {against}. Status: {summary.status}")

    def _number(self, value: Decimal | None) -> str:
        return self.frame.none if value is None else f"{value}"

    def _delta(self, value: Decimal | None) -> str:
        if value is None:
            return self.frame.none
        return f"{value:+}".replace("-", self.frame.minus) if value else f"{abs(value)}"

    def _cells(self, name: str, found: SkillScore) -> tuple[str, ...]:
        mark = "" if found.complete or found.overall is None else "*"
        score = f"{self._number(found.overall)}{mark}"
        return self.said(name), score, self._number(found.baseline), self._delta(found.delta), found.status

    def _framed(self, rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
        widths = [max(width(row[i]) for row in (_HEADS, *rows)) for i in range(len(_HEADS))]
        top, line, tee, right, bar, mid, cross, mid_right, low, low_tee, low_right = self.frame.single

        def rule(first: str, between: str, last: str) -> str:
            return first + between.join(line * (cells + 2) for cells in widths) + last

        yield rule(top, tee, right)
        yield bar + bar.join(f" {_padded(head, cells)} " for head, cells in zip(_HEADS, widths, strict=True)) + bar
        yield rule(mid, cross, mid_right)
        for row in rows:
            padded = [
                _padded(cell, cells, right=0 < i < 4) for i, (cell, cells) in enumerate(zip(row, widths, strict=True))
            ]
            yield bar + bar.join(f" {cell} " for cell in padded) + bar
        yield rule(low, low_tee, low_right)
        if any("*" in row[1] for row in rows):
            yield "* incomplete: the mean of the dimensions that were observed"

    def _dimensions(self, found: SkillScore) -> Iterator[str]:
        names = max(len(name) for name in found.dimensions)
        for name, part in found.dimensions.items():
            yield f"  {name:<{names}}  {self._number(part.score):>5} {self.said(self._dimension(part))}"

    def _dimension(self, part: DimensionResult) -> str:
        baseline = ""
        if part.baseline is not None:
            moved = f", {self._delta(part.delta)}" if part.delta is not None else ""
            baseline = f"(baseline {part.baseline}{moved})"
        between = f"{part.low} to {part.high}, " if part.score is None and part.low is not None else ""
        count = f" count {part.weighted}" if part.weighted is not None else ""
        said = "; ".join(text for text in (part.detail, part.why and f"{between}{part.why}") if text)
        detail = f": {said}" if said else ""
        return f"{baseline}{count} {part.status}{detail}"

    def _regressions(self) -> Iterator[str]:
        for change in self.evaluation.comparison.regressions:
            limit = self.evaluation.thresholds[change.dimension]
            within = f"within {limit.warning}" if change.dimension != "token_efficiency" else "the score alone"
            why = f"{change.status}: {change.detail}" if change.status in ("WARN", "BLOCKED") else within
            yield f"  {self.said(f'{change.skill}: {change.dimension} {self._delta(change.delta)} ({why})')}"
        if not any(change.status == "BLOCKED" for change in self.evaluation.comparison.regressions):
            compared = self.evaluation.comparison.baseline_version is not None
            yield "  nothing is BLOCKED" if compared else "  nothing to compare with"

    def _missing(self) -> Iterator[str]:
        rows = list(
            dict.fromkeys(
                (name, row.case, row.trial, row.ungraded)
                for name, found in self.evaluation.results.items()
                for row in found.rows
                if row.ungraded is not None
            )
        )
        dimensions = tuple(f"{dimension}: " for dimension in DIMENSIONS)  # their gaps stand with them above
        gaps = [
            (name, gap)
            for name, found in self.evaluation.results.items()
            for gap in found.missing
            if not gap.startswith(dimensions)
        ]
        if gaps:
            yield from ("", "Incomplete", *(f"  {self.said(f'{name}: {gap}')}" for name, gap in gaps))
        if rows:
            total = self.evaluation.summary
            yield from ("", f"Ungraded: {total.eval_cases_ungraded} of {total.eval_cases_total} cases")
            for name, case, trial, why in rows[:_MOST_UNGRADED]:
                yield f"  {self.said(f'{name}: {case} trial {trial}: {why}')}"
            if len(rows) > _MOST_UNGRADED:
                yield f"  and {len(rows) - _MOST_UNGRADED} more"
        notes = [(name, note) for name, found in self.evaluation.results.items() for note in found.notes]
        if notes:
            yield from ("", "Notes", *(f"  {self.said(f'{name}: {note}')}" for name, note in notes))


def _moved(found: SkillScore) -> bool:
    """Tell whether a skill has anything to show but that all is as it was."""
    return any(part.delta or part.status not in ("OK", "not-applicable") for part in found.dimensions.values())


def _padded(text: str, cells: int, *, right: bool = False) -> str:
    space = " " * (cells - width(text))
    return space + text if right else text + space
