"""``skillbench start``: plan and freeze a run per skill, or resume the one that is not finished."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..text import one_line
from .numbers import counted, whole

if TYPE_CHECKING:
    from ..start import Begun


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("skills", nargs="*", metavar="SKILL", help="skills to run; none means all")
    parser.add_argument("--all", action="store_true", help="every skill that has cases (the default)")
    parser.add_argument("--changed", action="store_true", help="only skills that differ from the released version")
    parser.add_argument("--trials", type=whole(1, 25), metavar="N", help="trials of each case, 1 to 25")
    parser.add_argument("--host", choices=("claude-code", "manual"), help="what runs the jobs (default claude-code)")
    parser.add_argument(
        "--scorecard", action="store_true", help="the eval cases of the skills, in place of their cases"
    )
    parser.add_argument("--fresh", action="store_true", help="start anew although a run is not finished")
    parser.add_argument("--dry-run", action="store_true", help="say what would be run, write nothing")
    parser.add_argument("--json", action="store_true", help="print the same as JSON")


def run(args: argparse.Namespace) -> int:
    """Start every chosen skill and return 0, or 2 where one of them can't be started."""
    import secrets
    import sys
    from datetime import UTC, datetime

    from .. import project, scoring, start, tree
    from ..errors import Problem, SkillbenchError, UsageError

    if args.all and (args.skills or args.changed):
        raise UsageError(
            Problem(path="--all", slug="usage", what="given together with a choice", expected="one of the two")
        )
    found = tree.discover(project.find(Path.cwd()))
    if args.scorecard:
        from . import start_scorecard

        return start_scorecard.run(found, args)
    chosen = [skill for skill in found.select(args.skills) if args.skills or skill.cases]
    if args.changed:
        from ..released import compare

        chosen = [skill for skill in chosen if compare(found.project.root, skill.folder).differs]
    begun, failed = [], False
    for skill in chosen:
        try:
            begun.append(
                start.begin(
                    found.project,
                    skill,
                    host=args.host,
                    trials=args.trials,
                    fresh=args.fresh,
                    dry_run=args.dry_run,
                    now=datetime.now(UTC),
                    seed=secrets.randbits(53),
                    last=scoring.score(found.project, skill).result,
                )
            )
        except SkillbenchError as error:
            failed = True
            for problem in error.problems:
                print(f"skillbench: error: {problem}", file=sys.stderr)
    if args.json:
        print(json.dumps({"schema_version": 1, "runs": [_builtins(item) for item in begun]}))
    else:
        for item in begun:
            _print(item)
        if not chosen:
            print("nothing to start: no skill has changed" if args.changed else "nothing to start: no skill has cases")
        elif begun and not args.dry_run:
            print("An arm may run any command that this session allows while the benchmark runs.")
            print("Next: skillbench next")
    return 2 if failed else 0


def _builtins(item: Begun) -> dict[str, Any]:
    estimate = item.estimate
    return {
        "skill": item.skill.name,
        "run_id": item.plan.run_id,
        "shape": item.plan.shape,
        "base": {"ref": item.plan.base.ref, "commit": item.plan.base.commit} if item.plan.base else None,
        "base_reason": item.plan.base_reason,
        "cases": len(item.plan.cases),
        "trials": item.plan.trials,
        "arms": item.arms,
        "judges": item.judges,
        "resumed": item.resumed,
        "estimate": {"tokens": estimate.tokens, "cost_usd": estimate.cost_usd, "duration_ms": estimate.duration_ms}
        if estimate
        else None,
        "notes": list(item.notes),
    }


def _print(item: Begun) -> None:
    plan = item.plan
    why = f" ({one_line(plan.base_reason)})" if plan.base_reason else ""
    verb = "resumed" if item.resumed else "planned" if item.folder is None else "started"
    base = f" against {one_line(plan.base.branch)} {plan.base.commit[:12]}" if plan.base and not why else ""
    print(f"{one_line(item.skill.name)}: {verb} {plan.run_id}, {plan.shape}{base}{why}")
    size = f"{counted(len(plan.cases), 'case')} x {counted(plan.trials, 'trial')}"
    print(f"  {size}: {item.arms} arm jobs, up to {item.judges} judge jobs (and panels where trials are split)")
    estimate = item.estimate
    if estimate is None:
        print("  no earlier run to estimate tokens, cost and time from")
    else:
        tokens = f"{estimate.tokens:,} tokens" if estimate.tokens is not None else "tokens unknown"
        cost = f"${estimate.cost_usd:,.2f}" if estimate.cost_usd is not None else "cost unknown"
        time = f"{estimate.duration_ms / 60000:,.0f} min of subagent time" if estimate.duration_ms else "time unknown"
        print(f"  by the last run the arms will use about {tokens}, {cost}, {time}")
    for note in item.notes:
        print(f"  note: {one_line(note)}")
