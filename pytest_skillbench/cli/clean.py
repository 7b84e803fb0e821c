"""``skillbench clean``: remove the worlds and materializations of runs that have ended, and nothing else."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("skills", nargs="*", metavar="SKILL", help="skills; none means every run that has ended")
    parser.add_argument(
        "--all", action="store_true", help="also of runs that have not ended: their open jobs start anew"
    )


def run(args: argparse.Namespace) -> int:
    """Remove the temp roots and say which; return 0, or 2 where something is left."""
    from .. import project, worlds
    from ..record import load
    from ..runstate import read_state
    from ..text import one_line

    found = project.find(Path.cwd())
    folders = [found.runs / f"{name}.run" for name in args.skills] or sorted(found.runs.glob("*.run"))
    left: list[str] = []
    for folder in folders:
        record = load(folder, found.relative(folder))
        state = read_state(folder, record.plan.run_id) if record is not None else None
        if state is None or not state.root or not Path(state.root).is_dir() or not (state.ended or args.all):
            continue
        left += worlds.remove(Path(state.root))
        print(f"removed {one_line(state.root)}")
    for path in left:
        print(f"still there: {one_line(path)}")
    return 2 if left else 0
