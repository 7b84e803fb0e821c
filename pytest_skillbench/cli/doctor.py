"""``skillbench doctor``: what a benchmark needs, what of it is there, and what to do about the rest."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..text import one_line

_MARK = {"ok": "ok      ", "warning": "warning ", "blocker": "blocker "}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("skills", nargs="*", metavar="SKILL", help="look for copies of these; none means all")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def run(args: argparse.Namespace) -> int:
    """Print every check and return 0, or 2 where something stands in the way of any run."""
    from ..doctor import examine

    checks = examine(Path.cwd(), args.skills)
    if args.json:
        found = [{"topic": c.topic, "status": c.status, "text": c.text, "hint": c.hint} for c in checks]
        print(json.dumps({"schema_version": 1, "checks": found}))
    else:
        width = max(len(check.topic) for check in checks)
        for check in checks:
            print(f"{_MARK[check.status]} {check.topic:<{width}}  {one_line(check.text)}")
            if check.hint:
                print(f"{'':9}{'':<{width}}  expected {one_line(check.hint)}")
    return 2 if any(check.status == "blocker" for check in checks) else 0
