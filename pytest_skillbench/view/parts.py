"""The pieces that pages are made of: links, notes, badges, ribbons, the cost table, the strip "How sure is this?".

Core. Plain frozen records of finished strings; see `page` for how they make a report and `board` for the leaderboard.
Every string is safe to show (`text.visible`) and still to be escaped. Coordinates are those of the SVG around them.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..model import Value

#: pass: circle and check; fail: diamond and cross; part: square with dots (evidence missing); na: dashed ring.
State: TypeAlias = Literal["pass", "fail", "part", "na"]
#: Of a scorecard: as `State`, and warn for what fell past its warning threshold.
ScoreState: TypeAlias = Literal["pass", "warn", "fail", "part", "na"]
Tone: TypeAlias = Literal["", "pass", "fail", "flag", "na"]


class ScoreCell(Value, frozen=True):
    """A skill's overall score of the scorecard, "" where that is incomplete, and how it stands."""

    overall: str
    state: ScoreState
    word: str


class Link(Value, frozen=True):
    """A link inside the report or to a file of the run record. Its target is never made of untrusted text."""

    href: str
    text: str


class Note(Value, frozen=True):
    """A short line: icon (a symbol's id) and tone, `lead`, a quote of a judge's, a link, `text`; any may be empty."""

    text: str
    lead: str = ""
    quote: str = ""
    link: Link | None = None
    icon: str = ""
    tone: Tone = ""


class Badge(Value, frozen=True):
    """A verdict badge."""

    title: str
    versus: str
    state: State
    word: str
    count: str
    unit: str
    notes: tuple[Note, ...]


class Fact(Value, frozen=True):
    """A label and its value in the header. `machine` is the value of a ``<time>``."""

    label: str
    text: str
    code: bool = False
    machine: str = ""


class Dot(Value, frozen=True):
    """One run on a ribbon."""

    x: str
    y: str
    label: str
    label_y: str
    title: str
    state: State
    now: bool


class Line(Value, frozen=True):
    """A stretch between two runs."""

    x1: str
    y1: str
    x2: str
    y2: str


class Ribbon(Value, frozen=True):
    """A trend ribbon: net margin over the last runs, oldest first. Empty coordinates mean that a part is not drawn."""

    title: str
    about: str
    label: str
    band_y: str
    band_height: str
    zero_y: str
    lines: tuple[Line, ...]
    dots: tuple[Dot, ...]
    gaps: tuple[str, ...]
    edits: tuple[str, ...]
    net: str
    muted: bool
    readout: tuple[str, ...]


class Tick(Value, frozen=True):
    """A run on the ribbons' shared time axis. `marks`: what changed since the run before."""

    text: str
    marks: tuple[str, ...]
    now: bool


class Spark(Value, frozen=True):
    """A leaderboard's small ribbon."""

    label: str
    zero_y: str
    lines: tuple[str, ...]
    dots: tuple[Dot, ...]


class CostRow(Value, frozen=True):
    """An arm's row of the cost table. `bar`: its share of the dearest arm in percent, "" where unknown."""

    arm: str
    turns: str
    raw: str
    tokens: str
    price: str
    bar: str
    components: tuple[str, ...]


class RatioRow(Value, frozen=True):
    """A ratio's row of the cost table."""

    title: str
    turns: str
    raw: str
    tokens: str
    price: str


class CostTable(Value, frozen=True):
    """What each arm cost. `notes` stand under the table, `definitions` explain cost-equivalent tokens."""

    rows: tuple[CostRow, ...]
    ratios: tuple[RatioRow, ...]
    notes: tuple[str, ...]
    definitions: tuple[str, ...]


class SureRow(Value, frozen=True):
    """A line of "How sure is this?". `balance`: where the dot sits between 0 and 72, "" where there is none."""

    label: str
    value: str
    text: str
    warn: bool = False
    balance: str = ""
    links: tuple[Link, ...] = ()
    tail: str = ""


class Chip(Value, frozen=True):
    """A flag on a case's row."""

    icon: str
    text: str
    tone: Literal["", "q", "bad"] = ""
