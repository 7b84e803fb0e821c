"""``skillbench next``: collect what has finished, then say which jobs to start. Safe to repeat at any time."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from ..text import one_line
from .numbers import seconds, whole

if TYPE_CHECKING:
    from ..project import Project
    from ..turns import Step

#: Clients cut what a tool prints; a batch that would not fit is handed out in smaller ones.
ANSWER_LIMIT = 20_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("skills", nargs="*", metavar="SKILL", help="skills; none means every run that is not done")
    parser.add_argument(
        "--limit", type=whole(1, 1_000), default=10, metavar="N", help="jobs under way at once (default 10)"
    )
    parser.add_argument(
        "--wait", type=seconds(0), default=15, metavar="S", help="seconds to wait for running jobs (15)"
    )
    parser.add_argument(
        "--patience",
        type=seconds(0),
        default=60,
        metavar="S",
        help="seconds until a job that nobody started, or whose session is gone, is handed out again (60)",
    )
    parser.add_argument("--scorecard", action="store_true", help="scorecard runs only")
    parser.add_argument("--json", action="store_true", help="print the step as one line of JSON")


def run(args: argparse.Namespace) -> int:
    """Take one turn of the runs and print it; return 0, also while work is left."""
    from .. import project

    found = project.find(Path.cwd())
    step = _turn(found, args)
    if args.json:
        import msgspec

        print(json.dumps(msgspec.to_builtins(step)))
    else:
        _print(step)
    return 0


def _turn(found: Project, args: argparse.Namespace) -> Step:
    """Step the runs in order until one has jobs, waiting a little where all that is left is under way."""
    import time

    deadline = time.monotonic() + args.wait
    while True:
        step = _once(found, args)
        if step.state != "waiting" or time.monotonic() >= deadline:
            return step
        time.sleep(0.25)


def _once(found: Project, args: argparse.Namespace) -> Step:
    from ..errors import Problem, UsageError
    from ..runfolders import folders
    from ..turns import Step

    steps = []
    for folder in _runs(found, args):
        steps.append(_step(found, folder, args))
        if steps[-1].state in ("jobs", "blocked"):
            break
    if not steps:
        if not folders(found, (), scorecards=args.scorecard):
            what, expected = "no run is started", "skillbench start"
            raise UsageError(Problem(path=found.relative(found.runs), slug="no-run", what=what, expected=expected))
        return Step(state="done", done=0, total=0, jobs=(), message="every run that was started here is done")
    return next((one for wanted in ("jobs", "blocked", "waiting") for one in steps if one.state == wanted), steps[-1])


def _step(found: Project, folder: Path, args: argparse.Namespace) -> Step:
    """Take one turn of one run, of whichever kind."""
    import os
    from datetime import UTC, datetime

    from ..doctor import agent_names
    from ..exposure import copies
    from ..hosts.claude_agents import ClaudeCode
    from ..hosts.manual import Manual
    from ..runfolders import is_scorecard, skill_of
    from ..turns import Circumstances, Patience

    given = Circumstances(
        observer=Manual(folder) if _host(found, folder) == "manual" else ClaudeCode.here(),
        now=datetime.now(UTC),
        limit=args.limit,
        session=os.environ.get("CLAUDE_CODE_SESSION_ID"),
        copies=copies(found, skill_of(folder)),
        patience=Patience(start=args.patience, idle=args.patience),
        answer_limit=ANSWER_LIMIT,
        agents=agent_names(found),
    )
    if is_scorecard(folder):
        from ..scorecard import turn

        return turn.take(found, folder, given)
    from .. import advance

    return advance.take(found, folder, given)


def _host(found: Project, folder: Path) -> str | None:
    from .. import record
    from ..runfolders import is_scorecard

    shown = found.relative(folder)
    if is_scorecard(folder):
        from ..scorecard import observations

        scorecard = observations.load(folder, shown)
        return scorecard.plan.host if scorecard is not None else None
    run = record.load(folder, shown)
    return run.plan.host if run is not None else None


def _runs(found: Project, args: argparse.Namespace) -> list[Path]:
    """Return the runs to step: those of the named skills, else all that were started here and are not done."""
    from ..errors import Problem, UsageError
    from ..runfolders import folders, is_started, skill_of

    if not args.skills:
        return started(found, scorecards=args.scorecard)
    runs = []
    for name in args.skills:
        there = folders(found, [name], scorecards=args.scorecard)
        runs += [folder for folder in there if is_started(folder)]
        if not any(map(is_started, there)):
            what = f'no run of "{skill_of(there[0])}" is started'
            where = found.relative(there[0])
            raise UsageError(Problem(path=where, slug="no-run", what=what, expected="skillbench start"))
    return runs


def started(found: Project, *, scorecards: bool = False) -> list[Path]:
    """Return the folders of the runs that were started here and have not ended, by name; of `scorecards` only."""
    from ..runfolders import folders, is_started
    from ..runstate import has_ended

    there = folders(found, (), scorecards=scorecards)
    return [folder for folder in there if is_started(folder) and not has_ended(folder)]


def _print(step: Step) -> None:
    counts = f"{step.done} of {step.total} done. " if step.total else ""
    print(f"{step.state}: {counts}{one_line(step.message)}")
    for job in step.jobs:
        print(f"\n[{job.label}] {job.agent}\n{job.prompt}")
