"""``skillbench start --scorecard``: plan and freeze a scorecard run per skill, or resume the unfinished one."""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from datetime import UTC, datetime
from typing import Any

from ..errors import Problem, SkillbenchError
from ..scorecard.begin import Begun, begin
from ..scorecard.discover import Found, discover
from ..text import one_line
from ..tree import SkillEntry, Tree
from .numbers import counted


def run(tree: Tree, args: argparse.Namespace) -> int:
    """Start every chosen skill; return 0, or 2 where one can't be started.

    What is wrong with the eval files is told on standard error, and every case that can be used runs all the same.
    Raises UsageError for a name that no skill has.
    """
    found = discover(tree)
    chosen = _chosen(tree, found, args)
    begun: list[Begun] = []
    _tell(found.problems)
    failed = False
    for skill in chosen:
        try:
            begun.append(
                begin(
                    tree,
                    found.cases.get(skill.name, ()),
                    skill,
                    host=args.host,
                    trials=args.trials,
                    fresh=args.fresh,
                    dry_run=args.dry_run,
                    now=datetime.now(UTC),
                    chance=secrets.randbits(24),
                )
            )
        except SkillbenchError as error:
            failed = True
            _tell(error.problems)
    if args.json:
        print(json.dumps({"schema_version": 1, "runs": [_builtins(item) for item in begun]}))
    else:
        for item in begun:
            _print(item)
        if not chosen:
            print("nothing to start: no skill has changed" if args.changed else "nothing to start: no eval cases")
        elif begun and not args.dry_run:
            print("A task may run any command that this session allows while the scorecard runs.")
            print("Next: skillbench next --scorecard")
    return 2 if failed else 0


def _tell(problems: tuple[Problem, ...]) -> None:
    for problem in problems:
        print(f"skillbench: {problem.severity}: {problem}", file=sys.stderr)


def _chosen(tree: Tree, found: Found, args: argparse.Namespace) -> list[SkillEntry]:
    """Return the named skills, else those that the config targets, else all that have eval cases."""
    chosen = list(tree.select(args.skills)) if args.skills else []
    if not args.skills and found.config.targets is not None:
        named = (tree.skill(name) for name in found.config.targets)
        chosen = list({skill.path: skill for skill in named if skill is not None}.values())
    elif not args.skills:
        chosen = [skill for skill in tree.skills if skill.name in found.cases]
    if args.changed:
        from ..released import compare

        chosen = [skill for skill in chosen if compare(tree.project.root, skill.folder).differs]
    return chosen


def _builtins(item: Begun) -> dict[str, Any]:
    plan = item.plan
    return {
        "skill": item.skill.name,
        "run_id": plan.run_id,
        "shape": "scorecard",
        "cases": len(plan.cases),
        "trials": plan.trials,
        "probes": item.probes,
        "tasks": item.tasks,
        "resumed": item.resumed,
        "notes": list(item.notes),
    }


def _print(item: Begun) -> None:
    plan = item.plan
    verb = "resumed" if item.resumed else "planned" if item.folder is None else "started"
    print(f"{one_line(item.skill.name)}: {verb} {plan.run_id}, scorecard")
    size = f"{counted(len(plan.cases), 'eval case')} x {counted(plan.trials, 'trial')}"
    print(f"  {size}: {counted(item.probes, 'probe')}, {counted(item.tasks, 'task')}")
    for note in item.notes:
        print(f"  note: {one_line(note)}")
