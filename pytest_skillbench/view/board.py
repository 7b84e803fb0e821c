"""The leaderboard as plain frozen records of finished strings: the contract between the view and the templates.

Core. A template places what is here, and decides nothing.
"""

from __future__ import annotations

from ..model import Value
from .parts import Chip, Fact, Link, ScoreCell, Spark, State


class Standing(Value, frozen=True):
    """A skill's cell for one comparison on the leaderboard."""

    title: str
    state: State
    word: str
    detail: str
    fragile: bool
    net: str
    spark: Spark | None


class Row(Value, frozen=True):
    """A skill on the leaderboard. `standings` empty: nothing was measured, and `advice` says what to do."""

    name: str
    link: Link | None
    line: str
    chips: tuple[Chip, ...]
    standings: tuple[Standing, ...]
    ratios: tuple[tuple[str, str], ...]
    score: ScoreCell | None
    at: str
    advice: str
    command: str


class Group(Value, frozen=True):
    """The skills of one standing."""

    title: str
    about: str
    rows: tuple[Row, ...]


class Tally(Value, frozen=True):
    """How many skills are in a group."""

    number: int
    text: str
    icon: str
    tone: str


class IndexPage(Value, frozen=True):
    """The leaderboard. `scored`: some skill was evaluated by the scorecard, so that there is a column for it."""

    title: str
    headline: str
    state: State
    facts: tuple[Fact, ...]
    tallies: tuple[Tally, ...]
    groups: tuple[Group, ...]
    scored: bool
    program: str
