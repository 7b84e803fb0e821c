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
    parser.add_argument("--scorecard", action="store_true", help="scorecard runs only")


def run(args: argparse.Namespace) -> int:
    """Remove the temp roots and say which; return 0, or 2 where something is left."""
    from .. import project, worlds
    from ..errors import Problem, UsageError
    from ..runfolders import folders, skill_of
    from ..runstate import has_ended, root_of
    from ..text import one_line

    found = project.find(Path.cwd())
    left: list[str] = []
    for folder in folders(found, args.skills, scorecards=args.scorecard):
        if not folder.is_dir():
            what = f'no run of "{skill_of(folder)}" is recorded'
            raise UsageError(Problem(path=found.relative(folder), slug="no-run", what=what))
        root = root_of(folder)
        if root is None:
            continue
        if not (has_ended(folder) or args.all):
            print(f"{one_line(skill_of(folder))}: not ended, its worlds are kept; --all removes them")
            continue
        left += worlds.remove(root)
        print(f"removed {one_line(str(root))}")
    for path in left:
        print(f"still there: {one_line(path)}")
    return 2 if left else 0
