"""``skillbench start --scorecard``: freeze what a scorecard run of a skill needs, or find the run to resume.

Gather. What is frozen here is what the jobs get: the skill, the files of each case's world, the listing for probes that
are asked. Nothing is written before everything that can be wrong has been looked at.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from .. import __version__, digest, released
from ..errors import Problem, SkillbenchError
from ..files import read_bounded, write_atomic
from ..freshness import same_package
from ..model import SkillRef, Value
from ..plan import FROZEN, put_in_place
from ..project import Project
from ..prompts import scorecard as prompts
from ..runstate import root_of
from ..start import DEFAULT_HOST, check_same, remove_worlds
from ..tree import SkillEntry, Tree
from .discover import CONTEXT_LIMIT
from .jobs import jobs, open_jobs, why_not
from .listing import NO_PROBES, listing, not_observable, offer
from .observations import ScorecardRun, folder_of, load, write_plan
from .records import EvalCase, PlannedEval, Probe, ScorecardPlan

LISTING = "listing.md"
DEFAULT_TRIALS = 1
#: What can spoil a job that is given the skill; copies and mentions of it can't, and a probe needs a copy.
_PREFLIGHT = ("preflight-no-agents", "preflight-fresh-agent")


class Begun(Value, frozen=True):
    """A scorecard run to go on with. `resumed`: it was there already; `folder` None: a dry run, nothing was written.

    `probes` and `tasks` count jobs; `notes` are sentences that the user should read before the run.
    """

    skill: SkillEntry
    plan: ScorecardPlan
    folder: Path | None
    resumed: bool
    probes: int
    tasks: int
    notes: tuple[str, ...]


def begin(
    tree: Tree,
    cases: Sequence[EvalCase],
    skill: SkillEntry,
    *,
    host: str | None,
    trials: int | None,
    fresh: bool,
    dry_run: bool,
    now: datetime,
    chance: int,
) -> Begun:
    """Resume the skill's unfinished scorecard run, or plan and freeze a new one with `cases`.

    `host` and `trials` None: what a run that is resumed has, else Claude Code and 1. `chance`: 24 random bits for the
    run's id. Raises SkillbenchError with all problems.
    """
    project = tree.project
    folder = folder_of(project.runs, skill.name)
    run = None if fresh else _unfinished(project, folder)
    if run is not None:
        check_same(run.shown, run.plan, host, trials)
        return _begun(skill, run.plan, folder, resumed=True, notes=_edited(project, cases, skill, run.plan))
    errors = [problem for problem in skill.problems if problem.severity == "error"]
    if errors:
        raise SkillbenchError(*errors)
    if not cases:
        where = f"{project.settings.evals_root}/cases/{skill.name}"
        what = "no eval cases that can be used, so there is nothing to run"
        raise SkillbenchError(Problem(path=where, slug="start-no-evals", what=what, expected="*.yaml with cases"))
    plan, notes = _plan(tree, cases, skill, host or DEFAULT_HOST, trials or DEFAULT_TRIALS, now, chance)
    if dry_run:
        return _begun(skill, plan, None, resumed=False, notes=notes)
    earlier = root_of(folder)
    _freeze(tree, skill, plan, folder)
    left = remove_worlds(earlier) if earlier is not None else []
    return _begun(skill, plan, folder, resumed=False, notes=(*notes, *left))


def _edited(project: Project, cases: Sequence[EvalCase], skill: SkillEntry, plan: ScorecardPlan) -> tuple[str, ...]:
    """Return what a run that is resumed can no longer be used for, since its skill or its cases were edited."""
    if not same_package(project, plan.package.tree_sha256, skill):
        return ("the skill was edited since this was planned, so nothing of it will count; --fresh starts anew",)
    now = {case.id: case.sha256 for case in cases}
    then = {case.id: case.sha256 for case in plan.cases}
    found = sorted(case for case in now.keys() | then.keys() if now.get(case) != then.get(case))
    if not found:
        return ()
    return (f"cases that changed since this was planned will be ungraded: {', '.join(found)}; --fresh starts anew",)


def _unfinished(project: Project, folder: Path) -> ScorecardRun | None:
    """Return the recorded run where jobs of it are open. Raises SkillbenchError where its plan can't be used."""
    run = load(folder, project.relative(folder))
    if run is None or not (folder / FROZEN).is_dir():
        return None
    return run if open_jobs(run) else None


def _begun(
    skill: SkillEntry, plan: ScorecardPlan, folder: Path | None, *, resumed: bool, notes: tuple[str, ...]
) -> Begun:
    planned = list(jobs(plan))
    probes = sum(job.case.is_probe for job in planned)
    return Begun(
        skill=skill,
        plan=plan,
        folder=folder,
        resumed=resumed,
        probes=probes,
        tasks=len(planned) - probes,
        notes=notes,
    )


# -- the plan ----------------------------------------------------------------------------------------------------------


def _plan(
    tree: Tree, cases: Sequence[EvalCase], skill: SkillEntry, host: str, trials: int, now: datetime, chance: int
) -> tuple[ScorecardPlan, tuple[str, ...]]:
    mine = offer(skill.folder / "SKILL.md", skill.name)
    no_probes = NO_PROBES if mine is not None and not mine.invocable else None
    unseen = "" if no_probes is not None else not_observable(tree.project, skill, host)
    probe: Probe | None = None if no_probes is not None else "asked" if unseen else "observed"
    planned = [_planned(case, probe if case.is_probe else None) for case in cases]
    time = now.astimezone(UTC)
    plan = ScorecardPlan(
        schema_version=1,
        run_id=f"{time:%Y%m%dT%H%M%SZ}-{chance & 0xFFFFFF:06x}",
        skill=SkillRef(name=skill.name, path=skill.path),
        created_at=f"{time:%Y-%m-%dT%H:%M:%SZ}",
        trials=trials,
        host=host,
        package=released.working_package(tree.project.root, skill.folder),
        settings=msgspec.structs.replace(skill.settings, trials=trials),
        cases=tuple(planned),
        program=f"pytest-skillbench {__version__}",
        no_probes=no_probes,
        prompts_sha256=prompts.digest(),
    )
    return plan, tuple(_notes(tree, skill, plan, unseen))


def _planned(case: EvalCase, probe: Probe | None) -> PlannedEval:
    fields = {name: getattr(case, name) for name in EvalCase.__struct_fields__}
    return PlannedEval(**fields, probe=probe)


def _notes(tree: Tree, skill: SkillEntry, plan: ScorecardPlan, unseen: str) -> list[str]:
    """Return what the user should know before the run: it can't be mended after."""
    notes = []
    probes = [case for case in plan.cases if case.is_probe]
    if probes and plan.no_probes is not None:
        notes.append(f"no probe is run, trigger_accuracy is not applicable: {plan.no_probes}")
    if probes and unseen:
        notes.append(f"what is triggered is asked and not observed: {unseen}")
    for case in plan.cases:
        where = f"{case.file}:{case.line}"
        if (why := why_not(case)) is not None:
            notes.append(f"{where}: not run: {why}")
        if case.context.env and not case.is_probe:
            names = ", ".join(case.context.env)
            notes.append(f"{where}: no client sets variables for a subagent, so its brief tells it of {names} in words")
    if plan.host == "claude-code":
        from ..doctor import preflight

        notes += [f"{problem}" for problem in preflight(tree.project, skill.name) if problem.slug in _PREFLIGHT]
    return notes


# -- the frozen copies -------------------------------------------------------------------------------------------------


def _freeze(tree: Tree, skill: SkillEntry, plan: ScorecardPlan, target: Path) -> None:
    """Write the record of a new plan with its frozen copies; it appears whole, in place of an earlier run's.

    Raises SkillbenchError where a copy is not what the plan names, since something changed in between, and OSError.
    """
    project = tree.project
    project.runs.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".new-run.", dir=project.runs))
    try:
        building.chmod(0o755)
        package = frozen_package(building)
        package.mkdir(parents=True)
        released.materialize_working(project.root, skill.folder, package)
        if digest.package(package).tree_sha256 != plan.package.tree_sha256:
            raise SkillbenchError(_changed(project.relative(skill.folder)))
        write_atomic(building / FROZEN / LISTING, (listing(tree) + "\n").encode("utf-8", "replace"))
        for case in plan.cases:
            if case.context.files and why_not(case) is None:
                _freeze_context(project, case, building / FROZEN / "contexts" / case.id)
        write_plan(building, plan)
        put_in_place(target, building)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise


def _freeze_context(project: Project, case: PlannedEval, folder: Path) -> None:
    for file in case.context.files:
        if file.source is not None:
            try:
                data = read_bounded(project.root / file.source, CONTEXT_LIMIT, file.source)
            except FileNotFoundError:
                raise SkillbenchError(_changed(file.source)) from None
            if hashlib.sha256(data).hexdigest() != file.sha256:
                raise SkillbenchError(_changed(file.source))
        else:
            data = (file.content or "").encode("utf-8", "replace")
        place = folder / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def _changed(path: str) -> Problem:
    what = "changed while it was being frozen; run `skillbench start --scorecard` again"
    return Problem(path=path, slug="freeze", what=what)


def frozen_package(folder: Path) -> Path:
    """Return the frozen skill in a scorecard run's record."""
    return folder / FROZEN / "package"


def frozen_context(folder: Path, case: str) -> Path | None:
    """Return the frozen content of a case's world in a record, None for a case without one."""
    place = folder / FROZEN / "contexts" / case
    return place if place.is_dir() else None


def frozen_listing(folder: Path) -> str:
    """Return the listing of skills in a record, one a line, "" where there is none any more."""
    try:
        return read_bounded(folder / FROZEN / LISTING, 1 << 24, LISTING).decode("utf-8", "replace").rstrip("\n")
    except FileNotFoundError:
        return ""
