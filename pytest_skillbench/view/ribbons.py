"""History lines -> the trend ribbons, their shared time axis and the leaderboard's sparklines.

Core. Answers one question: is this a real change, or the noise of one run to the next? So the earlier runs' range is a
band, the edits of the skill are marked, and a two-arm run is a gap in the Regression ribbon, never a zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..model import ComparisonName, HistoryLine, HistoryVerdict, Verdict
from .parts import Dot, Line, Ribbon, Spark, State, Tick
from .words import COMPARISON_TITLE, VERDICT_WORD, day, plural, signed

SHOWN = 7
STATE: dict[Verdict, State] = {"pass": "pass", "fail": "fail", "incomplete": "part", "not-applicable": "na"}
_TOP, _BOTTOM, _MIDDLE = 21.0, 40.0, 30.5


def recent(history: Sequence[HistoryLine], run_id: str) -> tuple[HistoryLine, ...]:
    """Return the last seven runs up to and including `run_id`; the last seven of all where that run has no line."""
    here = next((i for i, line in enumerate(history) if line.run_id == run_id), len(history) - 1)
    return tuple(history[max(0, here + 1 - SHOWN) : here + 1])


def part_of(line: HistoryLine, comparison: ComparisonName) -> HistoryVerdict | None:
    """Return a run's part in a comparison, None where it did not draw it."""
    return line.efficacy if comparison == "efficacy" else line.regression


def ticks(lines: Sequence[HistoryLine], run_id: str) -> tuple[Tick, ...]:
    """Return the time axis: each run's day, and what had changed since the run before it."""
    before = [None, *lines]
    return tuple(
        Tick(
            text="now" if line.run_id == run_id else day(line.at),
            marks=() if previous is None else _changes(previous, line),
            now=line.run_id == run_id,
        )
        for previous, line in zip(before, lines, strict=False)
    )


def _changes(before: HistoryLine, line: HistoryLine) -> tuple[str, ...]:
    """Return what makes two runs differ but chance: the skill, the cases, the released version."""
    marks = []
    if before.skill_sha256 != line.skill_sha256:
        marks.append("edited")
    if before.suite_sha256 != line.suite_sha256:
        marks.append("cases changed")
    if before.base_commit != line.base_commit and None not in (before.base_commit, line.base_commit):
        marks.append("base moved")
    return tuple(marks)


def ribbon(lines: Sequence[HistoryLine], run_id: str, comparison: ComparisonName, about: str) -> Ribbon:
    """Return one comparison's ribbon over `lines` (oldest first, at most seven)."""
    xs = [f"{(2 * i + 1) * 100 / (2 * max(len(lines), 1)):.2f}%" for i in range(len(lines))]
    parts = [part_of(line, comparison) for line in lines]
    low, high = _range([p.net for p in parts if p])
    ys = [None if p is None else _height(p.net, low, high) for p in parts]
    earlier = [y for y, line in zip(ys, lines, strict=True) if y is not None and line.run_id != run_id]
    band = (min(earlier) - 3, max(earlier) + 3) if len(earlier) > 1 else None
    net, muted, readout = _readout(lines, run_id, comparison)
    zero = _height(0, low, high) if low < 0 < high or (low == 0) != (high == 0) else None
    return Ribbon(
        title=COMPARISON_TITLE[comparison],
        about=about,
        label=_label(lines, run_id, comparison),
        band_y=f"{band[0]:.1f}" if band else "",
        band_height=f"{band[1] - band[0]:.1f}" if band else "",
        zero_y=f"{zero:.1f}" if zero is not None else "",
        lines=tuple(
            Line(x1=x1, y1=f"{y1:.1f}", x2=x2, y2=f"{y2:.1f}")
            for (x1, y1), (x2, y2) in pairwise(zip(xs, ys, strict=True))
            if y1 is not None and y2 is not None
        ),
        dots=tuple(
            _dot(line, part, run_id, x, y)
            for line, part, x, y in zip(lines, parts, xs, ys, strict=True)
            if part is not None and y is not None
        ),
        gaps=tuple(x for x, p in zip(xs, parts, strict=True) if p is None),
        edits=tuple(
            f"{(i + 1) * 100 / len(lines):.2f}%"  # half-way: the edit came between the two runs
            for i, (before, line) in enumerate(pairwise(lines))
            if before.skill_sha256 != line.skill_sha256
        ),
        net=net,
        muted=muted,
        readout=readout,
    )


def _range(nets: Sequence[int]) -> tuple[int, int]:
    return (min(nets), max(nets)) if nets else (0, 0)


def _height(net: int, low: int, high: int) -> float:
    return _MIDDLE if low == high else _BOTTOM - (net - low) * (_BOTTOM - _TOP) / (high - low)


def _dot(line: HistoryLine, part: HistoryVerdict, run_id: str, x: str, y: float) -> Dot:
    now = line.run_id == run_id
    return Dot(
        x=x,
        y=f"{y:.1f}",
        label=signed(part.net),
        label_y=f"{y - (12 if now else 8.5):.1f}",
        title=_spoken(line, part, run_id),
        state=STATE[part.verdict],
        now=now,
    )


def _spoken(line: HistoryLine, part: HistoryVerdict | None, run_id: str) -> str:
    when = "now" if line.run_id == run_id else day(line.at)
    if part is None:
        return f"{when}: two-arm run, no value"
    return f"{when}: net {signed(part.net)}, {VERDICT_WORD[part.verdict].lower()}"


def _label(lines: Sequence[HistoryLine], run_id: str, comparison: ComparisonName) -> str:
    said = [_spoken(line, part_of(line, comparison), run_id) for line in lines]
    edits = [
        "now" if line.run_id == run_id else day(line.at)
        for before, line in pairwise(lines)
        if before.skill_sha256 != line.skill_sha256
    ]
    text = f"{COMPARISON_TITLE[comparison]} net margin, oldest first. {'; '.join(said)}."
    return text + (f" The skill was edited before: {', '.join(edits)}." if edits else "")


def _readout(
    lines: Sequence[HistoryLine], run_id: str, comparison: ComparisonName
) -> tuple[str, bool, tuple[str, ...]]:
    """Return the words beside a ribbon: current net, change against the run before, how many were green."""
    parts = [(line, part) for line in lines if (part := part_of(line, comparison)) is not None]
    kind = "" if comparison == "efficacy" else "three-arm "
    green = sum(part.verdict == "pass" for _, part in parts)
    count = f"{green} of last {plural(len(parts), f'{kind}run')} green" if parts else "no earlier three-arm run"
    if len(parts) == 1:
        count = "green" if green else "not green"
    current = next((part for line, part in parts if line.run_id == run_id), None)
    if current is None:
        last = f"two-arm run; last three-arm net {signed(parts[-1][1].net)}" if parts else "two-arm run"
        return "n/a", True, (last, count)
    earlier = [part.net for line, part in parts if line.run_id != run_id]
    if not earlier:
        return signed(current.net), False, (f"first {kind}run", count)
    moved = current.net - earlier[-1]
    change = f"{signed(moved)} vs previous" if moved else "same as previous"
    if len(earlier) > 1:
        change += f", {_place(current.net, earlier)} earlier range"
    return signed(current.net), False, (change, count)


def _place(net: int, earlier: Sequence[int]) -> str:
    if net > max(earlier):
        return "above"
    return "below" if net < min(earlier) else "inside"


def spark(lines: Sequence[HistoryLine], run_id: str, comparison: ComparisonName) -> Spark | None:
    """Return the leaderboard's sparkline in a 90 x 24 box, the newest run at its right; None without any value."""
    lines = lines[-SHOWN:]
    parts = [part_of(line, comparison) for line in lines]
    nets = [p.net for p in parts if p]
    if not nets:
        return None
    low, high = _range([*nets, 0] if comparison == "regression" else nets)
    points: list[tuple[HistoryLine, HistoryVerdict, int, float] | None] = []
    for i, (line, part) in enumerate(zip(lines, parts, strict=True), start=SHOWN - len(lines)):
        y = 12.0 if low == high or part is None else 20 - (part.net - low) * 16 / (high - low)
        points.append(None if part is None else (line, part, 6 + 13 * i, y))
    said = ("two-arm" if p is None else f"{signed(p.net)} {VERDICT_WORD[p.verdict].lower()}" for p in parts)
    zero = 12.0 if low == high else 20 + low * 16 / (high - low)
    return Spark(
        label=f"last runs: {', '.join(said)}",
        zero_y=f"{zero:.1f}" if comparison == "regression" else "",
        lines=tuple(
            f"{a[2]},{a[3]:.1f} {b[2]},{b[3]:.1f}" for a, b in pairwise(points) if a is not None and b is not None
        ),
        dots=tuple(
            Dot(
                x=str(p[2]),
                y=f"{p[3]:.1f}",
                label="",
                label_y="",
                title="",
                state=STATE[p[1].verdict],
                now=p[0].run_id == run_id,
            )
            for p in points
            if p is not None
        ),
    )
