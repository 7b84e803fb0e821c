"""``skillbench next``: collect what has finished, then say which jobs to start. Safe to repeat at any time."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from ..text import one_line
from .numbers import seconds, whole

if TYPE_CHECKING:
    from ..advance import Step
    from ..project import Project

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
    import os
    from datetime import UTC, datetime

    from ..advance import Patience, Step, step
    from ..doctor import agent_names
    from ..errors import Problem, UsageError
    from ..exposure import copies
    from ..hosts.claude_agents import ClaudeCode
    from ..hosts.manual import Manual
    from ..record import load

    steps = []
    for name, folder in _runs(found, args.skills):
        record = load(folder, found.relative(folder))
        manual = record is not None and record.plan.host == "manual"
        steps.append(
            step(
                found,
                folder,
                Manual(folder) if manual else ClaudeCode.here(),
                now=datetime.now(UTC),
                limit=args.limit,
                session=os.environ.get("CLAUDE_CODE_SESSION_ID"),
                copies=copies(found, name),
                patience=Patience(start=args.patience, idle=args.patience),
                answer_limit=ANSWER_LIMIT,
                agents=agent_names(found),
            )
        )
        if steps[-1].state in ("jobs", "blocked"):
            break
    if not steps:
        if not any(found.runs.glob("*.run")):
            what, expected = "no run is started", "skillbench start"
            raise UsageError(Problem(path=found.relative(found.runs), slug="no-run", what=what, expected=expected))
        return Step(state="done", done=0, total=0, jobs=(), message="every run that was started here is done")
    return next((one for wanted in ("jobs", "blocked", "waiting") for one in steps if one.state == wanted), steps[-1])


def _runs(found: Project, names: list[str]) -> list[tuple[str, Path]]:
    """Return the runs to step: those of the named skills, else all that were started here and are not done."""
    from ..errors import Problem, UsageError

    if names:
        runs = [(name, found.runs / f"{name}.run") for name in names]
        for name, folder in runs:
            if not (folder / "frozen").is_dir():
                what = f'no run of "{name}" is started'
                raise UsageError(
                    Problem(path=found.relative(folder), slug="no-run", what=what, expected="skillbench start")
                )
        return runs
    return [(folder.name.removesuffix(".run"), folder) for folder in started(found)]


def started(found: Project) -> list[Path]:
    """Return the folders of the runs that were started here and have not ended, by name."""
    if not found.runs.is_dir():
        return []
    from ..record import load
    from ..runstate import read_state

    folders = []
    for folder in sorted(found.runs.glob("*.run")):
        if (folder / "frozen").is_dir() and (record := load(folder, found.relative(folder))) is not None:
            state = read_state(folder, record.plan.run_id)
            if state is None or not state.ended:
                folders.append(folder)
    return folders


def _print(step: Step) -> None:
    print(f"{step.state}: {step.done} of {step.total} done. {one_line(step.message)}")
    for job in step.jobs:
        print(f"\n[{job.label}] {job.agent}\n{job.prompt}")
