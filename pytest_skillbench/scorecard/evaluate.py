"""What every face calls: evaluate the skills of a repository from what was recorded of them, and their baseline.

Gather around the core (`results`): reads the evals tree, the recorded scorecard runs and the skills' files; writes
nothing, runs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from .. import __version__
from ..errors import Problem, SkillbenchError, in_order
from ..freshness import same_package
from ..model import Value
from ..project import Project
from ..suggest import closest
from ..tree import SkillEntry, Tree
from . import discover as discovery
from . import update
from .baseline import Baseline
from .baseline import parse as parse_baseline
from .config import FILE, Config
from .discover import Found
from .grading import Seen
from .observations import ScorecardRun, folder_of, load
from .records import EvalCase
from .results import Gathered, evaluation, skill_score
from .scores import Evaluation
from .size import measure

PROGRAM = f"pytest-skillbench {__version__}"


class Evaluated(Value, frozen=True):
    """An evaluation and what it was made from. `problems` are of config, cases, baseline, runs and skills, in order.

    `usable`: config and baseline are without errors, so that the evaluation may be kept. `left_out`: the skills that
    were not evaluated, since they have no eval cases or the config does not target them.
    """

    evaluation: Evaluation
    found: Found
    baseline: Baseline | None
    problems: tuple[Problem, ...]
    usable: bool
    left_out: tuple[str, ...]

    @property
    def broken(self) -> bool:
        """Whether anything that people wrote, or a run, can't be used."""
        return any(problem.severity == "error" for problem in self.problems)


def evaluate(tree: Tree, names: Sequence[str], *, date: str) -> Evaluated:
    """Evaluate the skills with these names (or paths), else those that the config targets or that have eval cases.

    `date` is that of the evaluation, as in ``2026-11-30``. Raises UsageError for a name that no skill has.
    """
    found = discovery.discover(tree)
    chosen = _chosen(tree, found, names)
    baseline, problems = baseline_of(tree.project, found.config)
    problems = (*problems, *_gone(tree, found.config, baseline))
    config_path = f"{tree.project.settings.evals_root}/{FILE}"
    own = [*problems, *(problem for problem in found.problems if problem.path == config_path)]
    all_problems = [*found.problems, *problems]
    scores = {}
    for skill in chosen:
        gathered, wrong = gather(tree.project, skill, found)
        all_problems += wrong
        scores[skill.name] = skill_score(gathered, found.config, baseline)
    scope: Literal["all"] | tuple[str, ...] = tuple(skill.name for skill in chosen) if names else "all"
    evaluated = {skill.name for skill in chosen}
    return Evaluated(
        evaluation=evaluation(scores, found.config, baseline, date=date, scope=scope, program=PROGRAM),
        found=found,
        baseline=baseline,
        problems=in_order(dict.fromkeys(all_problems)),
        usable=not any(problem.severity == "error" for problem in own),
        left_out=() if names else tuple(s.name for s in tree.skills if s.name not in evaluated),
    )


def baseline_of(project: Project, config: Config) -> tuple[Baseline | None, tuple[Problem, ...]]:
    """Return the baseline, None where there is none that can be used, and what is wrong with it."""
    path = config.baseline_path
    try:
        data = update.read(project, path)
    except SkillbenchError as error:
        return None, error.problems
    return parse_baseline(data, path) if data is not None else (None, ())


def _gone(tree: Tree, config: Config, baseline: Baseline | None) -> tuple[Problem, ...]:
    """Return a warning for each row of the baseline whose skill is not there: nothing is held to it."""
    known = [skill.name for skill in tree.skills]
    return tuple(
        Problem(
            path=config.baseline_path,
            line=row.line,
            slug="evals-unknown-skill",
            what=f'no skill "{name}", so nothing is held to this row',
            expected=f"a skill in {tree.project.relative(tree.project.skills)}",
            suggestion=closest(name, known),
            severity="warning",
        )
        for name, row in (baseline.skills.items() if baseline is not None else ())
        if name not in known
    )


def _chosen(tree: Tree, found: Found, names: Sequence[str]) -> tuple[SkillEntry, ...]:
    if names:
        return tree.select(names)
    if found.config.targets is not None:
        wanted = {skill.path: skill for name in found.config.targets if (skill := tree.skill(name)) is not None}
        return tuple(wanted.values())
    return tuple(skill for skill in tree.skills if skill.name in found.cases or skill.name in found.lost)


def gather(project: Project, skill: SkillEntry, found: Found) -> tuple[Gathered, tuple[Problem, ...]]:
    """Return what there is of one skill, and what is wrong with its files and its run. Raises nothing for content."""
    shown = project.relative(skill.folder)
    measured = measure(skill.folder, shown)
    problems = [*measured.problems]
    run, why = None, "no run recorded"
    folder = folder_of(project.runs, skill.name)
    try:
        run = load(folder, project.relative(folder))
    except SkillbenchError as error:
        problems += error.problems
        why = "the recorded run can't be used"
    cases = found.cases.get(skill.name, ())
    notes: list[str] = []
    if run is not None:
        problems += run.problems
        why = _stale(project, skill, run, problems)
        if why:
            notes.append(f"the recorded run was {why}: run it again")
        gone = {case.id for case in run.plan.cases} - {case.id for case in cases}
        if gone:
            notes.append(f"of the recorded run these cases can't be found: {', '.join(sorted(gone))}")
        if run.plan.example:
            notes.append("example data: recorded with a scripted model, not a measurement")
    gathered = Gathered(
        name=skill.name,
        cases=cases,
        trials=run.plan.trials if run is not None else 1,
        seen=_sight(run, why),
        size=measured.size,
        invocable=measured.invocable,
        cjk=measured.has_cjk,
        run_id=run.plan.run_id if run is not None else None,
        lost=found.lost.get(skill.name, ()),
        notes=tuple(notes),
    )
    return gathered, tuple(problems)


def _stale(project: Project, skill: SkillEntry, run: ScorecardRun, problems: list[Problem]) -> str:
    """Return why nothing in a run can be held for this skill's, "" where it can."""
    if (run.plan.skill.name, run.plan.skill.path) != (skill.name, skill.path):
        what = f'a run of "{run.plan.skill.name}" at "{run.plan.skill.path}"'
        expected = f'a run of "{skill.name}" at "{skill.path}"'
        path = f"{run.shown}/plan.json"
        problems.append(Problem(path=path, slug="scorecard-other-skill", place="$.skill", what=what, expected=expected))
        return "of another skill"
    try:
        same = same_package(project, run.plan.package.tree_sha256, skill)
    except SkillbenchError as error:
        problems += error.problems
        return "of a skill whose files can't be read now"
    return "" if same else "of another version of the skill"


def _sight(run: ScorecardRun | None, why: str) -> Callable[[EvalCase, int], Seen]:
    """Return how to look a job up. `why`: the reason that holds for all jobs, "" where each has its own."""
    if run is None or why:
        return lambda _case, _trial: Seen(observation=None, why=why)
    planned = {case.id: case for case in run.plan.cases}

    def seen(case: EvalCase, trial: int) -> Seen:
        then = planned.get(case.id)
        if then is None:
            return Seen(observation=None, why="was not in the recorded run")
        if then.sha256 != case.sha256:
            return Seen(observation=None, why="changed since the recorded run")
        observation = run.observations.get((case.id, trial))
        if observation is None:
            absent = run.plan.no_probes if case.is_probe and run.plan.no_probes else "missing from the recorded run"
            return Seen(observation=None, why=run.unusable.get((case.id, trial), absent))
        return Seen(observation=observation, why=None, output=lambda: run.output(case.id, trial))

    return seen
