"""What both faces call: score the recorded run of a skill, and write report, leaderboard and history.

Gather around a pure core: reads records through `record`, hands them to `results`, and puts what `report` makes of
the result into the reports folder, under one lock, each file whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from . import __version__, history
from .errors import Problem, ProjectError, SkillbenchError
from .files import read_bounded, write_atomic
from .freshness import changed_since
from .model import RunMeta, SkillResult, Value
from .prices import PriceTable, bundled
from .project import Project
from .record import JSON_LIMIT, RunRecord, load
from .results import results
from .tree import SkillEntry, Tree

if TYPE_CHECKING:
    from .scorecard.past import Past
    from .view import LeaderboardInput

State: TypeAlias = Literal["scored", "no-run", "broken", "no-cases"]

LOCK_SECONDS = 120


class Scored(Value, frozen=True):
    """A skill with the result of its recorded run.

    `state`: "scored"; "no-run", nothing was recorded; "broken", the record's plan can't be used (`problems` say why);
    "no-cases", neither run nor case. `result` and `record` are there when it is scored, and only then.
    """

    skill: SkillEntry
    state: State
    result: SkillResult | None
    record: RunRecord | None
    problems: tuple[Problem, ...]


class Written(Value, frozen=True):
    """The files that were written, absolute; `warnings` are history lines that could not be read, one sentence each."""

    reports: tuple[Path, ...]
    index: Path
    summary: Path
    warnings: tuple[str, ...]


def score(project: Project, skill: SkillEntry, prices: PriceTable | None = None) -> Scored:
    """Score the recorded run of one skill. Never raises for a bad record: that is the state "broken"."""
    folder = project.runs / f"{skill.name}.run"
    try:
        record = load(folder, project.relative(folder))
    except SkillbenchError as error:
        return Scored(skill=skill, state="broken", result=None, record=None, problems=error.problems)
    if record is None:
        state: State = "no-run" if skill.cases else "no-cases"
        return Scored(skill=skill, state=state, result=None, record=None, problems=())
    if record.plan.skill.name != skill.name or record.plan.skill.path != skill.path:
        problem = Problem(
            path=f"{record.shown}/plan.json",
            slug="record-other-skill",
            place="$.skill",
            what=f'a run of "{record.plan.skill.name}" at "{record.plan.skill.path}"',
            expected=f'a run of "{skill.name}" at "{skill.path}"',
        )
        return Scored(skill=skill, state="broken", result=None, record=None, problems=(problem,))
    result = results(record, prices or bundled(), changed_since(project, record.plan, skill))
    return Scored(skill=skill, state="scored", result=result, record=record, problems=())


def write(tree: Tree, scored: Sequence[Scored], prices: PriceTable | None = None) -> Written:
    """Write the report of each scored skill, its history line, the leaderboard of all skills and ``summary.md``.

    A skill without a run that the scorecard evaluated has a report of that alone.

    The other skills' recorded runs are scored for the leaderboard. Two writers at once wait for each other. Raises
    ProjectError where the reports folder can't be written; every file that is there is then whole, old or new.
    """
    from filelock import FileLock, Timeout

    project = tree.project
    try:
        project.reports.mkdir(parents=True, exist_ok=True)
        ignore = project.reports / ".gitignore"
        if not ignore.exists():
            write_atomic(ignore, b"*\n")  # reports are local and are never committed, whatever the repo ignores
        with FileLock(project.reports / ".lock", timeout=LOCK_SECONDS):
            return _write(tree, scored, prices or bundled())
    except Timeout:
        raise ProjectError(_unwritable(project, f"still locked after {LOCK_SECONDS} s by another scoring")) from None
    except OSError as error:
        raise ProjectError(_unwritable(project, error.strerror or str(error))) from error


def _unwritable(project: Project, why: str) -> Problem:
    shown = project.relative(project.reports)
    return Problem(path=shown, slug="reports", what=f"can't write the reports: {why}")


def _write(tree: Tree, scored: Sequence[Scored], prices: PriceTable) -> Written:
    from . import report, view

    project = tree.project
    given = {item.skill.path: item for item in scored}
    meta = RunMeta(program=f"pytest-skillbench {__version__}", repo=project.root.name)
    reports: list[Path] = []
    warnings: list[str] = []
    rows: list[LeaderboardInput] = []
    pasts = _evaluations(project, warnings)
    for skill in tree.skills:
        item = given.get(skill.path) or score(project, skill, prices)
        past = _history(project, item, keep=skill.path in given, warnings=warnings)
        row = _row(item, past, pasts.get(skill.name, ()))
        rows.append(row)
        path = project.reports / f"{skill.name}.html"
        if row.has_card:
            write_atomic(path, report.card_html(view.card_page(row, meta)).encode("utf-8"))
            reports += [path] if skill.path in given else []
        if item.result is None or item.record is None or skill.path not in given:
            continue
        page = view.skill_page(
            item.result,
            past.until(item.result.plan.run_id),
            item.record,
            item.record.narrative,
            meta,
            evidence=item.record.evidence,
            pasts=pasts.get(skill.name, ()),
            run_link=os.path.relpath(item.record.folder, project.reports),
        )
        write_atomic(path, report.skill_html(page).encode("utf-8"))
        reports.append(path)
    index = view.index_page(rows, meta)
    written = Written(
        reports=tuple(reports),
        index=project.reports / "index.html",
        summary=project.reports / "summary.md",
        warnings=tuple(warnings),
    )
    write_atomic(written.index, report.index_html(index).encode("utf-8"))
    write_atomic(written.summary, report.summary_md(index).encode("utf-8"))
    return written


def _history(project: Project, item: Scored, *, keep: bool, warnings: list[str]) -> history.History:
    """Return the skill's history; with `keep`, this run's line is in it and on disk."""
    path = project.reports / f"{item.skill.name}.history.jsonl"
    shown = project.relative(path)
    try:
        data = read_bounded(path, JSON_LIMIT, shown)
    except FileNotFoundError:
        data = b""
    if keep and item.result is not None:
        new = history.record(data, history.line_of(item.result), shown)
        if new != data:
            write_atomic(path, new)
        data = new
    past = history.read(data, shown)
    if keep:
        warnings.extend(str(problem) for problem in past.problems)
    return past


def _evaluations(project: Project, warnings: list[str]) -> dict[str, tuple[Past, ...]]:
    """Return the last evaluations of each skill by the scorecard; its modules are loaded only where there are any."""
    if not (project.root / project.settings.evals_root).is_dir():
        return {}
    from .scorecard.past import by_skill

    return by_skill(project, warnings)


def _row(item: Scored, past: history.History, pasts: tuple[Past, ...]) -> LeaderboardInput:
    from .view import LeaderboardInput

    return LeaderboardInput(
        name=item.skill.name,
        path=item.skill.path,
        state=item.state,
        result=item.result,
        history=past.until(item.result.plan.run_id) if item.result else past.lines,
        cases=len(item.skill.cases),
        problem=str(item.problems[0]) if item.problems else None,
        pasts=pasts,
    )
