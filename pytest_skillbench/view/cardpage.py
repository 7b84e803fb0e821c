"""A skill that the scorecard evaluated and that has no run -> its report, which is of the scorecard alone.

Core. Its state is none of pass and fail: a scorecard is no verdict, and the page says that there is none.
"""

from __future__ import annotations

from ..model import RunMeta
from .card import scorecard
from .leaderboard import LeaderboardInput, command, unmeasured
from .page import CardPage
from .texts import brief


def card_page(row: LeaderboardInput, meta: RunMeta) -> CardPage:
    """Return the report of a skill whose `has_card` is true. Raises ValueError for one that was never evaluated."""
    found = scorecard(row.pasts)
    if found is None:
        raise ValueError("never evaluated")
    why = f"{unmeasured(row)} To run them:" if row.state == "no-run" else "It has no case for one. To add one:"
    return CardPage(
        name=brief(row.name, 200),
        state="na",
        line=f"No head-to-head yet, so there is no verdict. {why}",
        command=command(row),
        scorecard=found,
        program=brief(meta.program, 100),
    )
