"""``skillbench install``: the runner skill and its agents into a project, or into a home folder for all projects."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from ..text import one_line

if TYPE_CHECKING:
    from ..errors import Problem
    from ..install import Item

_BEFORE = {"missing": "written", "stale": "updated", "extra": "removed", "current": "unchanged"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    from ..install import FOLDERS

    parser.add_argument(
        "--dir", type=Path, metavar="DIR", help="where to (default: this repository; your home folder: every project)"
    )
    parser.add_argument(
        "--agents",
        choices=FOLDERS,
        default="claude",
        help="claude: .claude/, for Claude Code (the default); agents: .agents/, for other clients",
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if anything is stale")
    parser.add_argument("--json", action="store_true", help="print what was done as JSON")


def run(args: argparse.Namespace) -> int:
    """Install, or check, and return 0; with ``--check`` 1 where the installation is not current."""
    from .. import install

    root = args.dir if args.dir is not None else _repository()
    items = install.inspect(root, args.agents) if args.check else install.install(root, args.agents)
    current = install.is_current(items)
    if args.json:
        _print_json(items, args, root, current=current)
    elif args.check:
        _print_check(items)
    else:
        _print_done(items, args.agents, current=current)
    return 1 if args.check and not current else 0


def _repository() -> Path:
    """Return the repository that we are in. Raises ProjectError where there is none."""
    from .. import project
    from ..errors import ProjectError

    try:
        return project.find(Path.cwd()).root
    except ProjectError as error:
        raise ProjectError(*(_with_dir(problem) for problem in error.problems)) from error


def _with_dir(problem: Problem) -> Problem:
    import msgspec

    return msgspec.structs.replace(problem, expected="a git repository, or where to with --dir DIR")


def _print_json(items: tuple[Item, ...], args: argparse.Namespace, root: Path, *, current: bool) -> None:
    files = [
        {"path": item.path, "state": item.state, "done": None if args.check else _BEFORE[item.state]} for item in items
    ]
    document = {
        "schema_version": 1,
        "root": str(root),
        "agents": args.agents,
        "current": current if args.check else True,
        "files": files,
    }
    print(json.dumps(document))


def _print_check(items: tuple[Item, ...]) -> None:
    for item in items:
        if item.state != "current":
            print(f"{item.state}  {one_line(item.path)}")
    if all(item.state == "current" for item in items):
        print("current")
    elif all(item.state in _BEFORE for item in items):
        print("mend it with: skillbench install")


def _print_done(items: tuple[Item, ...], client: str, *, current: bool) -> None:
    for item in items:
        print(f"{_BEFORE[item.state]}  {one_line(item.path)}")
    if current:
        print("nothing to do: it was installed already")
    elif client == "claude":
        print("Start Claude Code anew (it reads agents when it starts), then: /benchmark-skill SKILL")
    else:
        print("Start your client anew, then ask for benchmark-skill by name")
