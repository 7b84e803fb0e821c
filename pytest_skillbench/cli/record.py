"""``skillbench record``: hand in what a subagent or a person answered, for hosts whose transcripts can't be found."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("skill", metavar="SKILL", help="the skill whose run the job belongs to")
    parser.add_argument("label", metavar="LABEL", help="the job's label, as skillbench next printed it")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="the final message, byte for byte")
    parser.add_argument(
        "--transcript", type=Path, metavar="FILE", help="a Claude Code transcript of the job, for usage"
    )
    parser.add_argument("--world", type=Path, metavar="DIR", help="where the work was done, if not in the job's world")


def run(args: argparse.Namespace) -> int:
    """Keep the answer; the next ``skillbench next`` records it. Return 0."""
    from .. import project
    from ..errors import Problem, UsageError
    from ..files import read_bounded
    from ..handin import folder_of, hand_in

    found = project.find(Path.cwd())
    try:
        output = read_bounded(args.output, 64 * 1024 * 1024, str(args.output))
    except FileNotFoundError:
        raise UsageError(Problem(path=str(args.output), slug="no-output", what="there is no such file")) from None
    folder = folder_of(found, args.skill, args.label)
    hand_in(found, folder, args.label, output, args.transcript, args.world)
    print(f"{args.label}: handed in; skillbench next records it")
    return 0
