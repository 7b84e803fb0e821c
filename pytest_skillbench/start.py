"""``skillbench start``: validate a skill and its cases, decide the shape, and freeze a plan, or find the run to resume.

Gather: the step between `tree`/`released` and `plan`. Nothing is written before everything that can be wrong has been
looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from . import digest, released, worlds
from .errors import Problem, SkillbenchError, UsageError, in_order
from .fixtures import NAME as FIXTURE
from .jobs import arm_jobs, judge_seats, not_yet_known, open_jobs
from .model import ArmName, Plan, SkillResult, Value
from .plan import Previous, freeze, make
from .project import Project
from .record import RunRecord, load
from .runstate import root_of
from .tree import SkillEntry, fixture_problems, read_case

if TYPE_CHECKING:
    from .scorecard.records import ScorecardPlan

DEFAULT_HOST = "claude-code"


class Estimate(Value, frozen=True):
    """What a run will use, by the means of this skill's last recorded run; None where that had no such figure.

    Raw tokens, US dollars, and milliseconds of subagent time (arms run side by side, so the clock shows less).
    """

    tokens: int | None
    cost_usd: float | None
    duration_ms: int | None


class Begun(Value, frozen=True):
    """A run to go on with. `resumed`: it was there already; `folder` None: a dry run, nothing was written.

    `arms` and `judges` count jobs; `notes` are sentences that the user should read before the run.
    """

    skill: SkillEntry
    plan: Plan
    folder: Path | None
    resumed: bool
    arms: int
    judges: int
    estimate: Estimate | None
    notes: tuple[str, ...]


def begin(
    project: Project,
    skill: SkillEntry,
    *,
    host: str | None,
    trials: int | None,
    fresh: bool,
    dry_run: bool,
    now: datetime,
    seed: int,
    last: SkillResult | None = None,
) -> Begun:
    """Resume the skill's unfinished run, or plan and freeze a new one. Raises SkillbenchError with all problems.

    `host` and `trials` None: what a run that is resumed has, else Claude Code and the settings. `last` is the result of
    the skill's last finished run, for the estimate.
    """
    folder = project.runs / f"{skill.name}.run"
    if not fresh and (record := _unfinished(project, folder)) is not None:
        check_same(record.shown, record.plan, host, trials)
        return _begun(skill, record.plan, folder, resumed=True, last=last, notes=())
    host = host or DEFAULT_HOST
    entries, problems = [], [*skill.problems]
    if not skill.cases:
        what = "no cases, so there is nothing to run"
        where = project.relative(project.tests / skill.path)
        problems.append(Problem(path=where, slug="start-no-cases", what=what, expected="<case>/case.md"))
    for entry in skill.cases:
        problems += [*entry.problems, *fixture_problems(entry)]
        try:
            case = read_case(entry)
        except SkillbenchError as error:
            problems += error.problems
            continue
        fixture = entry.folder / FIXTURE
        if not any(problem.path.startswith(f"{entry.path}/") for problem in problems if problem.severity == "error"):
            entries.append((entry, case, digest.fixture(fixture if fixture.is_dir() else None)))
    if errors := [problem for problem in problems if problem.severity == "error"]:
        raise SkillbenchError(*in_order(dict.fromkeys(errors)))
    version = released.compare(project.root, skill.folder)
    notes = [*version.notes, *(f"{problem}" for problem in _preflight(project, skill, host))]
    if version.problem is not None:
        notes.append(f"no previous version: {version.reason}")
    plan = make(
        skill,
        entries,
        version.working,
        Previous(
            base=version.base,
            reason=None if version.regression else version.reason,
            package=version.previous if version.regression else None,
        ),
        host=host,
        trials=trials,
        now=now,
        seed=seed,
    )
    if dry_run:
        return _begun(skill, plan, None, resumed=False, last=last, notes=tuple(notes))
    earlier = root_of(folder)
    target = freeze(project, plan, skill.cases, _writers(project, skill, plan, version))
    notes += remove_worlds(earlier) if earlier is not None else []
    return _begun(skill, plan, target, resumed=False, last=last, notes=tuple(notes))


def remove_worlds(root: Path) -> list[str]:
    """Remove the worlds of the run that a new one takes the place of; return what to say where that fails."""
    try:
        return [f"could not remove {left}" for left in worlds.remove(root)]
    except SkillbenchError as error:
        return [str(problem) for problem in error.problems]


def check_same(shown: str, plan: Plan | ScorecardPlan, host: str | None, trials: int | None) -> None:
    """Refuse to resume the run in the folder `shown` as another one than it is. Raises UsageError."""
    wanted = [f"--host {host}"] if host not in (None, plan.host) else []
    wanted += [f"--trials {trials}"] if trials not in (None, plan.trials) else []
    if wanted:
        raise UsageError(
            Problem(
                path=shown,
                slug="start-other-run",
                what=f"a run of {plan.trials} trials on {plan.host} is not finished; {' '.join(wanted)} is another run",
                expected="the same to resume it, or --fresh to start anew",
            )
        )


def _preflight(project: Project, skill: SkillEntry, host: str) -> tuple[Problem, ...]:
    """Return what could spoil the run in this client: said before it, since it can't be mended after."""
    if host != "claude-code":
        return ()
    from .doctor import preflight

    return preflight(project, skill.name)


def _writers(
    project: Project, skill: SkillEntry, plan: Plan, version: released.Released
) -> Mapping[ArmName, Callable[[Path], object]]:
    def new(folder: Path) -> object:
        return released.materialize_working(project.root, skill.folder, folder)

    def previous(folder: Path) -> object:
        if version.base is None:
            raise ValueError("a previous version without a base")
        return released.materialize_previous(
            project.root, version.base, skill.folder, folder, line_ends=version.line_ends
        )

    if plan.shape == "two-arm":
        return {"new-skill": new}
    return {"new-skill": new, "previous-version": previous}


def _unfinished(project: Project, folder: Path) -> RunRecord | None:
    """Return the recorded run where jobs of it are open. Raises SkillbenchError where its plan can't be used."""
    record = load(folder, project.relative(folder))
    if record is None or not (folder / "frozen").is_dir():
        return None
    return record if open_jobs(record) or not_yet_known(record) else None


def _begun(
    skill: SkillEntry,
    plan: Plan,
    folder: Path | None,
    *,
    resumed: bool,
    last: SkillResult | None,
    notes: tuple[str, ...],
) -> Begun:
    arms = sum(1 for _ in arm_jobs(plan))
    judges = len(plan.orders) * len(judge_seats(plan))
    return Begun(
        skill=skill,
        plan=plan,
        folder=folder,
        resumed=resumed,
        arms=arms,
        judges=judges,
        estimate=_estimate(last, arms) if last is not None else None,
        notes=notes,
    )


def _estimate(last: SkillResult, arms: int) -> Estimate | None:
    """Scale the last run's means per arm run to the number of arm runs; judges are not in it.

    None: that run knows of none.
    """
    ran = [arm for case in last.cases for arm in case.arms]
    usages = [arm.usage for arm in ran if arm.usage is not None]
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    times = [arm.duration_ms for arm in ran if arm.duration_ms is not None]
    if not usages and not times:
        return None
    return Estimate(
        tokens=round(sum(usage.raw for usage in usages) / len(usages) * arms) if usages else None,
        cost_usd=sum(costs) / len(costs) * arms if costs and len(costs) == len(usages) else None,
        duration_ms=round(sum(times) / len(times) * arms) if times else None,
    )
