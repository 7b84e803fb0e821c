"""``skillbench watch``: the same as ``status``, drawn anew while a run goes on."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..text import one_line
from .numbers import seconds

if TYPE_CHECKING:
    from rich.table import Table

    from ..progress import Progress


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("skills", nargs="*", metavar="SKILL", help="skills; none means every run that is recorded")
    parser.add_argument("--scorecard", action="store_true", help="scorecard runs only")
    parser.add_argument(
        "--every", type=seconds(0.2), default=2, metavar="S", help="seconds between two looks (default 2)"
    )


def run(args: argparse.Namespace) -> int:
    """Draw until every run is done, or until interrupted; return 0. Into a pipe or a file go lines, at every change."""
    import sys
    import time

    from .. import progress, project
    from ..errors import SkillbenchError

    found = project.find(Path.cwd())
    with _Screen() if sys.stdout.isatty() else _Lines() as shown:
        while True:
            runs, problems = progress.of_project(found, args.skills, scorecards=args.scorecard)
            if problems:
                raise SkillbenchError(*problems)
            if not runs:
                print("no run is recorded: skillbench start")
                return 0
            shown.update(runs)
            if all(one.open == 0 for one in runs):
                return 0
            time.sleep(args.every)


class _Lines:
    """A line for each run that is not where it was when it was last looked at."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *raised: object) -> None:
        return None

    def update(self, runs: list[Progress]) -> None:
        """Print what has changed."""
        from ..progress import line

        for one in runs:
            if self._said.get(one.run_id) != line(one):
                self._said[one.run_id] = line(one)
                print(one_line(line(one)), flush=True)


class _Screen:
    """A table that is drawn over itself."""

    def __enter__(self) -> _Screen:
        from rich.live import Live

        self._live = Live(auto_refresh=False)
        self._live.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._live.stop()

    def update(self, runs: list[Progress]) -> None:
        """Draw the table anew."""
        self._live.update(_table(runs), refresh=True)


def _table(runs: list[Progress]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from ..progress import tokens

    table = Table(box=None, pad_edge=False)
    for title in ("Skill", "Recorded", "Open", "Under way", "Arms", "Judgements", "Tokens", "Left"):
        table.add_column(title, justify="left" if title in ("Skill", "Arms", "Judgements") else "right")
    for one in runs:
        arms = "  ".join(f"{name} {done}/{total}" for name, (done, total) in one.arms.items())
        judged = "  ".join(f"{name} {done}/{total}" for name, (done, total) in one.comparisons.items())
        left = "" if not one.open else f"{one.left_ms / 60000:,.0f} min" if one.left_ms else "unknown"
        cells = (one_line(one.skill), str(one.recorded), str(one.open), str(one.under_way), arms, judged)
        table.add_row(*(Text(cell) for cell in cells), tokens(one).removesuffix(" tokens"), left)
    return table
