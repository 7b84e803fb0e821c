"""``skillbench status``: where each run stands, from its record alone."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ..text import one_line


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("skills", nargs="*", metavar="SKILL", help="skills; none means every run that is recorded")
    parser.add_argument("--scorecard", action="store_true", help="scorecard runs only")
    parser.add_argument("--json", action="store_true", help="print the same as JSON")


def run(args: argparse.Namespace) -> int:
    """Print where the runs stand and return 0, or 3 where one is not done, or 2 where one can't be read."""
    from .. import progress, project

    found = project.find(Path.cwd())
    runs, problems = progress.of_project(found, args.skills, scorecards=args.scorecard)
    if args.json:
        import msgspec

        document = {"schema_version": 1, "problems": [str(problem) for problem in problems]}
        print(json.dumps({**document, "runs": msgspec.to_builtins(runs)}))
    else:
        for one in runs:
            print(one_line(progress.line(one)))
        if not runs and not problems:
            print("no run is recorded: skillbench start")
    for problem in problems:
        print(f"skillbench: error: {problem}", file=sys.stderr)
    if problems:
        return 2
    return 0 if all(one.open == 0 for one in runs) else 3
