"""The words and bases that all records share: arms, comparisons, outcomes, bounded numbers.

Core: pure data, no behaviour but what can be read off a record itself.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

ArmName: TypeAlias = Literal["new-skill", "previous-version", "no-skill"]
ComparisonName: TypeAlias = Literal["efficacy", "regression"]
Shape: TypeAlias = Literal["two-arm", "three-arm"]
Outcome: TypeAlias = Literal["WIN", "TIE", "LOSS", "GATE", "INVALID"]
Verdict: TypeAlias = Literal["pass", "fail", "incomplete", "not-applicable"]
Order: TypeAlias = Literal["new-first", "new-second"]
Label: TypeAlias = Literal["A", "B"]
Winner: TypeAlias = Literal["A", "B", "TIE"]
Seat: TypeAlias = Literal[1, 2, 3] | Literal["swap"]

#: The end of a pattern. Alone, Python's ``$`` lets a line feed through; JSON Schema has no other spelling for the end.
END = r"$(?!\n)"

Count: TypeAlias = Annotated[int, Meta(ge=0, le=10**15)]
TrialNumber: TypeAlias = Annotated[int, Meta(ge=1, le=25)]
Sha256: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}" + END)]
Time: TypeAlias = Annotated[
    str, Meta(pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3])(:[0-5][0-9]){2}Z" + END)
]
RunId: TypeAlias = Annotated[str, Meta(pattern="^[0-9A-Za-z][0-9A-Za-z.-]{0,63}" + END)]
Slug: TypeAlias = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]*" + END, max_length=128)]


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of everything that is written to or read from a file of ours: closed and frozen."""


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """Base of what only lives in memory."""


class Comparison(Value, frozen=True):
    """A head-to-head of the new-skill arm against `opponent`, and the pass rule that belongs to it.

    `win_fifths` fifths of N trials must be wins (None: no floor); `loss_fifths` fifths may be losses. `gated`: a failed
    hard assertion fails the case in this comparison.
    """

    name: ComparisonName
    title: str
    opponent: ArmName
    win_fifths: int | None
    loss_fifths: int
    gated: bool


EFFICACY = Comparison(name="efficacy", title="Efficacy", opponent="no-skill", win_fifths=3, loss_fifths=1, gated=True)
REGRESSION = Comparison(
    name="regression",
    title="Regression",
    opponent="previous-version",
    win_fifths=None,
    loss_fifths=1,
    gated=False,
)
COMPARISONS: tuple[Comparison, ...] = (EFFICACY, REGRESSION)
NEW_ARM: ArmName = "new-skill"
ARMS: tuple[ArmName, ...] = ("new-skill", "previous-version", "no-skill")


def arms_of(shape: Shape) -> tuple[ArmName, ...]:
    """Return the arms of a run of this shape, in the order of the cost table."""
    return ARMS if shape == "three-arm" else ("new-skill", "no-skill")


def comparisons_of(shape: Shape) -> tuple[Comparison, ...]:
    """Return the comparisons that a run of this shape draws."""
    return tuple(c for c in COMPARISONS if c.opponent in arms_of(shape))
