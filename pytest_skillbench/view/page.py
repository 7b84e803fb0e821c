"""A skill's report as plain frozen records of finished strings: the contract between the view and the templates.

Core. A template places what is here, and decides nothing.
"""

from __future__ import annotations

from ..model import Value
from .excerpts import Piece
from .parts import Badge, Chip, CostTable, Fact, Link, Note, Ribbon, ScoreState, State, SureRow, Tick
from .texts import Cut


class Cell(Value, frozen=True):
    """One trial in a strip: its letter, its CSS classes, the anchor of its evidence ("" for none)."""

    letter: str
    look: str
    under: str
    votes: str
    anchor: str
    label: str


class Strip(Value, frozen=True):
    """A comparison in a case's row."""

    title: str
    state: State
    word: str
    count: str
    cells: tuple[Cell, ...]
    label: str


class Panel(Value, frozen=True):
    """A comparison in an open case: the rule line by line, the distance from failing, why it failed."""

    title: str
    versus: str
    state: State
    word: str
    cells: tuple[Cell, ...]
    panel: bool
    rules: tuple[Note, ...]
    why_lead: str
    why: str


class Check(Value, frozen=True):
    """A hard assertion: its command, one exit per trial, the stderr tail of the first trial that failed."""

    title: str
    command: Cut
    exits: tuple[tuple[str, str], ...]
    stderr: str


class Told(Value, frozen=True):
    """A narrator's or composed sentence with the evidence it rests on."""

    text: str
    evidence: tuple[Note, ...]


class CriterionSaid(Value, frozen=True):
    """What a judge said of one criterion. `refs` are numbered passages; `unverified` quotes are not in the output."""

    number: str
    better: str
    because: Cut
    refs: tuple[Link, ...]
    unseen: tuple[str, ...]
    unverified: tuple[str, ...]


class Judged(Value, frozen=True):
    """One judge's answer."""

    rationale: Cut
    byline: str
    criteria: tuple[CriterionSaid, ...]


class Figure(Value, frozen=True):
    """An arm's output beside the other's. `missing` says why there is none."""

    arm: str
    shown_as: str
    preferred: str
    pieces: tuple[Piece, ...]
    more: str
    link: Link | None
    missing: str


class Changed(Value, frozen=True):
    """What an arm changed in its world."""

    arm: str
    files: tuple[str, ...]
    diff: Cut | None
    link: Link | None


class Broken(Value, frozen=True):
    """A hard assertion that failed in a trial."""

    command: str
    outcome: str
    stderr: str


class Evidence(Value, frozen=True):
    """A trial that needs a look. `folded`: its outputs rest behind a disclosure; `brief`: they are links only."""

    anchor: str
    title: str
    versus: str
    reason: str
    findings: tuple[Note, ...]
    broken: tuple[Broken, ...]
    judged: tuple[Judged, ...]
    figures: tuple[Figure, ...]
    folded: bool
    brief: bool
    changed: tuple[Changed, ...]
    cost: str


class Rationale(Value, frozen=True):
    """A passing trial's rationale."""

    title: str
    text: Cut
    byline: str


class Turn(Value, frozen=True):
    """A turn of the seed conversation."""

    role: str
    text: Cut


class CaseView(Value, frozen=True):
    """A case: its row, and what is behind it."""

    anchor: str
    name: str
    description: str
    open: bool
    strips: tuple[Strip, ...]
    chips: tuple[Chip, ...]
    told: tuple[Told, ...]
    panels: tuple[Panel, ...]
    criteria: tuple[Cut, ...]
    trials: tuple[int, ...]
    checks: tuple[Check, ...]
    prompt: Cut
    turns: tuple[Turn, ...]
    source: str
    evidence: tuple[Evidence, ...]
    rationales: tuple[Rationale, ...]


class Frozen(Value, frozen=True):
    """The freeze that a run was exported as: its folder's name, its digest, and its state in words."""

    name: str
    digest: str
    runs: str
    result: str
    comparison: str


class ScoreRow(Value, frozen=True):
    """One dimension of the scorecard; `why`: what its score or its status rests on, where a number does not say it."""

    name: str
    score: str
    baseline: str
    delta: str
    state: ScoreState
    word: str
    why: str


class Scorecard(Value, frozen=True):
    """A skill in its last evaluation. `source`: the evaluation's file; `trend`: day and overall score, oldest first."""

    source: str
    overall: str
    about: str
    state: ScoreState
    word: str
    baseline: str
    rows: tuple[ScoreRow, ...]
    missing: tuple[str, ...]
    notes: tuple[str, ...]
    trend: tuple[tuple[str, str], ...]


class CardPage(Value, frozen=True):
    """The report of a skill that was only evaluated by the scorecard. `line` leads to `command`."""

    name: str
    state: State
    line: str
    command: str
    scorecard: Scorecard
    program: str


class SkillPage(Value, frozen=True):
    """A skill's report."""

    name: str
    shape: str
    state: State
    example: bool
    stale: tuple[str, ...]
    badges: tuple[Badge, ...]
    facts: tuple[Fact, ...]
    jumps: tuple[Link, ...]
    ribbons: tuple[Ribbon, ...]
    ticks: tuple[Tick, ...]
    headline: str
    evidence: tuple[Note, ...]
    told: tuple[Told, ...]
    costs: CostTable
    sure: tuple[SureRow, ...]
    columns: tuple[str, ...]
    legend: str
    cases: tuple[CaseView, ...]
    scorecard: Scorecard | None
    frozen: Frozen | None
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    program: str
    run_id: str
    digests: tuple[Fact, ...]
