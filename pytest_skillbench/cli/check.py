"""``skillbench check``: look at the tests tree and every case.md, without a run.

Face: finds the project, calls `check.check`, prints. Exit code 0 with warnings at most, 2 with errors.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``skillbench check``."""
    parser.add_argument("skills", nargs="*", metavar="SKILL", help="names or paths of skills; all without")
    parser.add_argument("--json", action="store_true", help="print one JSON object for machines")
    parser.add_argument(
        "--no-run", action="store_true", help="do not run the hard assertions on the untouched fixtures"
    )


def run(args: argparse.Namespace) -> int:
    """Print every problem and a summary. Raises UsageError for a SKILL that is not there."""
    from ..check import check
    from ..project import find
    from ..tree import discover

    tree = discover(find(Path.cwd()))
    skills = tree.select(args.skills)
    problems = check(tree, [skill.path for skill in skills] if args.skills else (), run=not args.no_run)
    counts = {kind: sum(problem.severity == kind for problem in problems) for kind in ("error", "warning")}
    if args.json:
        print(json.dumps(_document(problems, skills), indent=2))
    else:
        for problem in problems:
            print(f"{problem}" if problem.severity == "error" else f"{problem} (warning)")
        cases = sum(len(skill.cases) for skill in skills) + (0 if args.skills else len(tree.orphans))
        found = ", ".join(_number(count, kind) for kind, count in counts.items())
        print(f"{found} in {_number(len(skills), 'skill')}, {_number(cases, 'case')}")
    return 2 if counts["error"] else 0


def _number(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _document(problems: Sequence[Any], skills: Sequence[Any]) -> dict[str, Any]:
    """Return what ``--json`` prints. Plain ASCII escapes keep it valid whatever a file is called."""
    fields = ("path", "line", "place", "severity", "slug", "what", "expected", "suggestion")
    return {
        "schema_version": 1,
        "problems": [{name: getattr(problem, name) for name in fields} for problem in problems],
        "skills": [
            {"name": skill.name, "path": skill.path, "cases": [case.name for case in skill.cases]} for skill in skills
        ],
    }
