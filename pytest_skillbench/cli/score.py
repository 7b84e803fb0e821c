"""``skillbench score``: the same scoring and the same reports as ``pytest --skillbench``, without pytest."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..text import one_line

if TYPE_CHECKING:
    from ..model import SkillResult, SkillVerdict
    from ..scoring import Scored, Written


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("skills", nargs="*", metavar="SKILL", help="skills to score; none means all")
    parser.add_argument("--all", action="store_true", help="score every skill (the default)")
    parser.add_argument("--runs", type=Path, metavar="DIR", help="where the run records are (default: tests/.reports)")
    parser.add_argument("--reports", type=Path, metavar="DIR", help="where to write (default: tests/.reports)")
    parser.add_argument("--no-report", action="store_true", help="write nothing, only say the verdicts")
    parser.add_argument("--json", action="store_true", help="print the results model as JSON")


def run(args: argparse.Namespace) -> int:
    """Score, write, print, and return the exit code: broken 2, red 1, incomplete 3, green 0."""
    from .. import project, scoring, tree
    from ..errors import Problem, UsageError

    if args.all and args.skills:
        raise UsageError(
            Problem(path="--all", slug="usage", what="given together with skills", expected="one of the two")
        )
    if args.runs is not None and not args.runs.is_dir():
        raise UsageError(Problem(path=str(args.runs), slug="usage", what="no such folder", expected="run records"))
    found = tree.discover(project.find(Path.cwd(), runs=args.runs, reports=args.reports))
    chosen = found.select(args.skills)
    scored = [scoring.score(found.project, skill) for skill in chosen]
    written = None if args.no_report else scoring.write(found, scored)
    if args.json:
        _print_json(scored, written)
    else:
        _print_text(scored, written, found.project.root)
    return exit_code(scored, named=bool(args.skills))


def exit_code(scored: Sequence[Scored], *, named: bool) -> int:
    """Return 2 for a broken record, else 1 for any red, else 3 for anything not known, else 0.

    A skill without a run is not green: asked for by name, or when no skill at all has one, that is 3.
    """
    if any(item.state == "broken" for item in scored):
        return 2
    results = [item.result for item in scored if item.result is not None]
    verdicts = {verdict.verdict for result in results for verdict in result.verdicts}
    if "fail" in verdicts:
        return 1
    missing = len(results) < len(scored) if named else not results
    return 3 if missing or "incomplete" in verdicts else 0


def _print_json(scored: Sequence[Scored], written: Written | None) -> None:
    import msgspec

    document = {
        "schema_version": 1,
        "skills": [
            {
                "name": item.skill.name,
                "path": item.skill.path,
                "state": item.state,
                "problems": [str(problem) for problem in item.problems],
                "result": msgspec.to_builtins(item.result) if item.result is not None else None,
            }
            for item in scored
        ],
        "reports": [str(path) for path in written.reports] if written else [],
        "index": str(written.index) if written else None,
        "summary": str(written.summary) if written else None,
        "warnings": list(written.warnings) if written else [],
    }
    print(json.dumps(document, ensure_ascii=True))


def _print_text(scored: Sequence[Scored], written: Written | None, root: Path) -> None:
    width = max((len(item.skill.name) for item in scored), default=0)
    for item in scored:
        print(f"{item.skill.name:<{width}}  {_summary(item)}")
        for line in _notes(item):
            print(f"{'':<{width}}  {one_line(line)}")
    if not scored:
        print("no skills found")
    if written is not None:
        for warning in written.warnings:
            print(f"warning: {one_line(warning)}")
        for path in (*written.reports, written.index):
            print(f"report: {_shown(path, root)}")


def _shown(path: Path, root: Path) -> str:
    """Return a path that can be opened from the current folder."""
    return str(path.relative_to(root)) if path.is_relative_to(root) and root == Path.cwd() else str(path)


def _summary(item: Scored) -> str:
    if item.result is not None:
        return ", ".join(_badge(verdict) for verdict in item.result.verdicts)
    words = {
        "no-run": f"no run recorded: run /benchmark-skill {item.skill.name}",
        "no-cases": "no cases",
        "broken": "the run record can't be used",
    }
    return words[item.state]


def _badge(verdict: SkillVerdict) -> str:
    """Return ``Efficacy pass 3/3 (12W 3T 0L)``, with what could not be judged where there is any."""
    title = verdict.comparison.capitalize()
    if verdict.verdict == "not-applicable":
        return f"{title} not applicable"
    counts = f"{verdict.wins}W {verdict.ties}T {verdict.losses}L"
    counts += f" {verdict.gates} gate" if verdict.gates else ""
    counts += f" {verdict.invalid} invalid" if verdict.invalid else ""
    return f"{title} {verdict.verdict.upper()} {verdict.cases_passed}/{verdict.cases} ({counts})"


def _notes(item: Scored) -> list[str]:
    notes = [str(problem) for problem in item.problems]
    if item.result is not None:
        from ..view import headline

        notes.append(headline(item.result))
        notes += _example(item.result)
        notes += [f"STALE: {line}" for line in item.result.stale]
        notes += [
            f"{case.case.name}: {part.comparison} {part.verdict}: {part.why}"
            for case in item.result.cases
            for part in case.comparisons
            if part.why
        ]
        notes += [
            f"{case.case.name}: {part.comparison} trial {trial.trial} is INVALID: {trial.reason}"
            for case in item.result.cases
            for part in case.comparisons
            for trial in part.trials
            if trial.outcome == "INVALID" and not part.why
        ]
        notes += item.result.problems
    return notes


def _example(result: SkillResult) -> list[str]:
    said = "example data: recorded with a real client against a scripted model, not a measurement"
    return [said] if result.plan.example else []
