"""What the golden runs must give, written by hand; nothing here is computed by the program.

Outcomes, verdicts and nets were written down from the authored sources (`win` of each judge, majority of each panel)
and the pass rules. Token sums were added up from the transcripts alone, with jq and awk: for every arm's file, the last
line's usage of each ``message.id``, the arm looked up in ``jobs.json`` by the label in ``meta.json``; a turn is a
message with a ``tool_use`` block. Dollars are those sums times the model's published prices, per million tokens:
input 3, cache write 3.75 (5 minutes) and 6 (1 hour), cache read 0.30, output 15; cost-equivalent tokens are
dollars / 0.000003.
A remake changes the sums when a skill, a case, a source, a prompt template or the client changes: add them up again the
same way, see README.md.
"""

from __future__ import annotations

from typing import NamedTuple


class Comparison(NamedTuple):
    """One case in one comparison. `outcomes` is a letter a trial: W, T, L, G (gate), I (invalid)."""

    outcomes: str
    wins: int
    ties: int
    losses: int
    gates: int
    invalid: int
    net: int
    verdict: str
    narrowest: bool = False


class Badge(NamedTuple):
    """A skill's verdict in one comparison, with the counts over all its trials."""

    verdict: str
    cases_passed: int
    wins: int
    ties: int
    losses: int
    gates: int
    invalid: int
    net: int


class Cost(NamedTuple):
    """One arm's sums over all its trials."""

    runs: int
    turns: int
    api_calls: int
    input: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    output: int
    cost_usd: float
    cost_equivalent_tokens: float


class Run(NamedTuple):
    """A whole run. `panels` maps ``<case>.<comparison>`` to the votes of each trial, seats 1 to 3, for the new arm."""

    shape: str
    badges: dict[str, Badge]
    cases: dict[str, dict[str, Comparison]]
    costs: dict[str, Cost]
    ratios: dict[str, float]
    panels: dict[str, tuple[str, ...]]
    identical: tuple[str, ...]


RELEASE_NOTES = Run(
    shape="three-arm",
    badges={
        "efficacy": Badge("pass", 3, wins=12, ties=2, losses=1, gates=0, invalid=0, net=11),
        "regression": Badge("fail", 2, wins=2, ties=9, losses=4, gates=0, invalid=0, net=-2),
    },
    cases={
        "buried-breaking-change": {
            "efficacy": Comparison("WWTWW", 4, 1, 0, 0, 0, 4, "pass"),
            "regression": Comparison("LTLLT", 0, 2, 3, 0, 0, -3, "fail"),
        },
        "reverted-feature": {
            "efficacy": Comparison("WWWWW", 5, 0, 0, 0, 0, 5, "pass"),
            "regression": Comparison("TTWTT", 1, 4, 0, 0, 0, 1, "pass"),
        },
        "unreleased-and-security": {
            "efficacy": Comparison("WTWLW", 3, 1, 1, 0, 0, 2, "pass", narrowest=True),
            # One loss is the most that is allowed, but the Regression badge is red, so no chip.
            "regression": Comparison("TTLTW", 1, 3, 1, 0, 0, 0, "pass"),
        },
    },
    costs={
        "new-skill": Cost(15, 96, 111, 659, 68_186, 0, 873_404, 20_081, 0.8209107, 273_636.9),
        "previous-version": Cost(15, 99, 114, 676, 73_777, 0, 894_152, 20_111, 0.84860235, 282_867.45),
        "no-skill": Cost(15, 64, 79, 473, 46_265, 0, 554_469, 14_890, 0.56460345, 188_201.15),
    },
    ratios={"no-skill": 1.45396, "previous-version": 0.967368},
    panels={
        "unreleased-and-security.efficacy": ("WWT", "LTT", "WWW", "LLW", "WTW"),
        "unreleased-and-security.regression": ("TTW", "WTT", "LLT", "LTW", "WWT"),
    },
    identical=("reverted-feature.4.regression",),
)

DECISION_RECORD = Run(
    shape="two-arm",
    badges={
        "efficacy": Badge("pass", 3, wins=13, ties=2, losses=0, gates=0, invalid=0, net=13),
        "regression": Badge("not-applicable", 0, wins=0, ties=0, losses=0, gates=0, invalid=0, net=0),
    },
    cases={
        # Two cases are two flips from failing; the first in authored order carries the chip.
        "changed-their-mind": {"efficacy": Comparison("WWTWW", 4, 1, 0, 0, 0, 4, "pass", narrowest=True)},
        "corrected-figures": {"efficacy": Comparison("WWWWW", 5, 0, 0, 0, 0, 5, "pass")},
        "no-decision-yet": {"efficacy": Comparison("WTWWW", 4, 1, 0, 0, 0, 4, "pass")},
    },
    costs={
        "new-skill": Cost(15, 42, 57, 344, 28_109, 13_466, 400_536, 9_770, 0.45394755, 151_315.85),
        "no-skill": Cost(15, 15, 30, 190, 13_077, 31_898, 167_858, 5_957, 0.38070915, 126_903.05),
    },
    ratios={"no-skill": 1.192374},
    panels={},
    identical=(),
)

RUNS = {"release-notes": RELEASE_NOTES, "decision-record": DECISION_RECORD}

#: ``variants/<name>/<skill>.run``: the skill, and per case and comparison what must come out. Costs are not looked at.
VARIANTS: dict[str, tuple[str, dict[str, dict[str, Comparison]]]] = {
    "gate-failure": (
        "decision-record",
        {"no-decision-yet": {"efficacy": Comparison("WTGWW", 3, 1, 0, 1, 0, 3, "fail")}},
    ),
    "half-done": (
        "release-notes",
        {
            "reverted-feature": {
                "efficacy": Comparison("WIIII", 1, 0, 0, 0, 4, 1, "incomplete"),
                "regression": Comparison("TIWII", 1, 1, 0, 0, 3, 1, "incomplete"),
            }
        },
    ),
}
