"""``skillbench watch``: the same as ``status``, drawn anew while a run goes on."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from ..progress import Progress


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("skills", nargs="*", metavar="SKILL", help="skills; none means every run that is recorded")
    parser.add_argument("--every", type=float, default=2, metavar="S", help="seconds between two looks (default 2)")


def run(args: argparse.Namespace) -> int:
    """Draw until every run is done, or until interrupted; return 0."""
    import time

    from rich.live import Live

    from .. import progress, project

    found = project.find(Path.cwd())
    with Live(refresh_per_second=4) as live:
        while True:
            runs = progress.of_project(found, args.skills)
            live.update(_table(runs), refresh=True)
            if all(one.open == 0 for one in runs):
                return 0
            time.sleep(max(0.2, args.every))


def _table(runs: list[Progress]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from ..text import one_line

    table = Table(box=None, pad_edge=False)
    for title in ("Skill", "Recorded", "Open", "Under way", "Arms", "Judgements", "Tokens", "Left"):
        table.add_column(title, justify="left" if title in ("Skill", "Arms", "Judgements") else "right")
    for one in runs:
        arms = "  ".join(f"{name} {done}/{total}" for name, (done, total) in one.arms.items())
        judged = "  ".join(f"{name} {done}/{total}" for name, (done, total) in one.comparisons.items())
        left = "" if not one.open else f"{one.left_ms / 60000:,.0f} min" if one.left_ms else "unknown"
        cells = (one_line(one.skill), str(one.recorded), str(one.open), str(one.under_way), arms, judged)
        table.add_row(*(Text(cell) for cell in cells), f"{one.tokens:,}", left)
    return table
