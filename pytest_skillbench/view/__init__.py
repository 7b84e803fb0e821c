"""Results and history -> what a reader sees, formatted and ordered: report, leaderboard, headline.

Core: pure, no I/O but the texts it is handed. `report` turns the pages into HTML; the terminal and the command line use
`headline`. One module a part of the page: words, texts, excerpts, ribbons, cost, sure, narrative, evidence, case,
header, and the pages themselves: skill, cardpage and leaderboard. What they are made of: parts, page, board.
"""

from __future__ import annotations

from .board import IndexPage
from .cardpage import card_page
from .evidence import Texts
from .headline import headline
from .leaderboard import LeaderboardInput, index_page, standing
from .page import CardPage, SkillPage
from .skill import skill_page

__all__ = [
    "CardPage",
    "IndexPage",
    "LeaderboardInput",
    "SkillPage",
    "Texts",
    "card_page",
    "headline",
    "index_page",
    "skill_page",
    "standing",
]
