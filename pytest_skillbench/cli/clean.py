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
    from ..errors import Problem, UsageError
    from ..runstate import has_ended, root_of
    from ..text import one_line

    found = project.find(Path.cwd())
    folders = [found.runs / f"{name}.run" for name in args.skills] or sorted(found.runs.glob("*.run"))
    left: list[str] = []
    for folder in folders:
        if not folder.is_dir():
            what = f'no run of "{folder.name.removesuffix(".run")}" is recorded'
            raise UsageError(Problem(path=found.relative(folder), slug="no-run", what=what))
        root = root_of(folder)
        if root is None:
            continue
        if not (has_ended(folder) or args.all):
            print(f"{one_line(folder.name.removesuffix('.run'))}: not ended, its worlds are kept; --all removes them")
            continue
        left += worlds.remove(root)
        print(f"removed {one_line(str(root))}")
    for path in left:
        print(f"still there: {one_line(path)}")
    return 2 if left else 0
