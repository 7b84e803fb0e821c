"""``skillbench``: the command line, a thin face over the same functions that the plugin calls.

One module a command, imported only when that command runs, so that ``skillbench --help`` starts as fast as argparse.
A command module has ``configure(parser)`` and ``run(args) -> exit code``. Exit codes: 0 green or done, 1 red,
2 usage or broken input, 3 incomplete.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from .. import __version__

COMMANDS = {
    "check": "look at the tests tree and every case.md, and try hard assertions on the untouched fixture",
    "score": "apply the pass rules to recorded runs; write report, leaderboard and history",
    "usage": "count the tokens and the cost of any transcripts",
    "start": "plan and freeze a run per skill, or resume one",
    "next": "collect what finished, then say which jobs to start",
    "record": "hand in an answer where transcripts can't be found",
    "status": "say where each run stands",
    "watch": "show where each run stands, live",
    "clean": "remove worlds and materializations of ended runs",
    "install": "put the benchmark skill and its agents into a project",
    "doctor": "look at what a run needs and what is there",
    "scorecard": "score five dimensions of a skill and hold them against a stored baseline",
    "evidence": "freeze a suite, import graded runs, and compare them",
    "quality": "record quality receipts of exact skill revisions, and read them",
    "schema": "print the JSON Schema of a file format",
}


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="skillbench",
        description="Prove whether an Agent Skill earns its keep, and whether an edit made it worse.",
        epilog="Exit codes: 0 green or done, 1 red, 2 usage or broken input, 3 incomplete.",
    )
    parser.add_argument("--version", action="version", version=f"pytest-skillbench {__version__}")
    parser.add_argument("-C", metavar="DIR", dest="directory", help="run as if started in DIR")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name in argv:
            import_module(f".{name}", __name__).configure(command)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no traceback reaches a user for anything a user can mend."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    args = _parser(arguments).parse_args(arguments)
    from ..errors import SkillbenchError

    try:
        if args.directory is not None:
            os.chdir(args.directory)
        return int(import_module(f".{args.command}", __name__).run(args))
    except SkillbenchError as error:
        for problem in error.problems:
            print(f"skillbench: error: {problem}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        print(f"skillbench: error: {error}", file=sys.stderr)
        return 2
