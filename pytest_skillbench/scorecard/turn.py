"""One turn of a scorecard run (``skillbench next``): what has finished is observed, what is open is handed out.

Gather: the jobs of `jobs`, observed by `observe`; how a turn goes is in `turns`. The observation is written last, so
that a kill at any moment leaves the job open and nothing half said.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

import msgspec

from .. import digest, worlds
from ..errors import Problem, SkillbenchError
from ..files import write_atomic
from ..formats import encode
from ..handout import AGENTS, FALLBACK, HandedOut, places_of, prompt_of
from ..observed import Observed
from ..project import Project
from ..prompts import scorecard as prompts
from ..runstate import Attempt, RunState, at, end, label_of, read_state
from ..turns import LOCK_SECONDS, Circumstances, Step, Turn
from . import observe
from .begin import frozen_context, frozen_listing, frozen_package
from .jobs import EvalJob, jobs, open_jobs, why_not
from .listing import PROBE_AGENT, offer
from .observations import ScorecardRun, load, write_observation
from .records import Observation, Probe, Status

#: A probe's input stands in its prompt as a user would have typed it; a longer one is read from a file.
INLINE_CHARACTERS = 4_000
_NO_SEED = 0  # a label gives nothing away but the run's id, which has its own random part


def take(project: Project, folder: Path, given: Circumstances) -> Step:
    """Take one turn of the scorecard run recorded in `folder`.

    Raises SkillbenchError where the record can't be used or a frozen copy was changed, FileNotFoundError for no run.
    """
    from filelock import FileLock

    with FileLock(folder / ".lock", timeout=LOCK_SECONDS):
        run = load(folder, project.relative(folder))
        if run is None:
            raise FileNotFoundError(folder)
        return _Turn(project, run, read_state(folder, run.plan.run_id), given).take()


class _Turn(Turn[EvalJob]):
    """A turn of a scorecard run: probes and tasks."""

    def __init__(self, project: Project, run: ScorecardRun, state: RunState | None, given: Circumstances) -> None:
        plan = run.plan
        state = state or RunState(schema_version=1, run_id=plan.run_id, root="", attempts={})
        super().__init__(project, run.folder, state, plan.settings, plan.created_at, given)
        self.run = run

    def open_jobs(self) -> Sequence[EvalJob]:
        return open_jobs(self.run)

    def not_yet_known(self) -> int:
        return 0

    def recorded(self) -> int:
        return sum(1 for _ in jobs(self.run.plan)) - len(open_jobs(self.run))

    def without_subagent(self) -> None:
        for job in open_jobs(self.run):
            why = why_not(job.case)
            if why is not None:
                self._keep(observe.never_run(self.run.plan, job, why), None)

    def works_alone(self, job: EvalJob) -> bool:
        return not job.case.is_probe

    def farewell(self) -> str:
        return f"all jobs are recorded: run `skillbench scorecard --skill {self.run.plan.skill.name}`"

    # -- handing out ---------------------------------------------------------------------------------------------------

    def prepare(self, job: EvalJob) -> Attempt:
        plan, case = self.run.plan, job.case
        root = Path(self.state.root)
        earlier = self.state.attempts.get(job.stem, ())
        label = label_of(plan.run_id, _NO_SEED, job.stem, len(earlier) + 1)
        skill: Path | None = None
        world: Path | None = None
        if not case.is_probe or case.context.files:
            world = worlds.make_world(root, frozen_context(self.folder, case.id))
        agents = self.given.agents
        agent = agents.get(AGENTS["arm"], FALLBACK)
        if not case.is_probe and world is not None:
            self._check_package()
            skill = worlds.materialize(root, frozen_package(self.folder), plan.skill.name)
            text = prompts.task_brief(case.input, case.context.env, world, skill / "SKILL.md")
        elif self._is_observed(job, earlier):
            agent = agents[PROBE_AGENT]
            text = prompts.probe_prompt(case.input, label, world)
        else:
            text = prompts.asked_brief(case.input, frozen_listing(self.folder), world, secrets.token_hex(16))
        return Attempt(
            label=label,
            number=len(earlier) + 1,
            handed_out_at=at(self.given.now),
            brief=str(worlds.write_brief(root, text)),
            world=str(world) if world else None,
            skill=str(skill) if skill else None,
            agent=agent,
            session=self.given.session,
        )

    def _is_observed(self, job: EvalJob, earlier: Sequence[Attempt]) -> bool:
        """Return whether a probe is observed: as planned, where the client knows our agent and lists the skill."""
        if job.case.probe != "observed" or PROBE_AGENT not in self.given.agents:
            return False
        return not any(attempt.ended == observe.NOT_LISTED for attempt in earlier)

    def _check_package(self) -> None:
        folder = frozen_package(self.folder)
        if digest.package(folder).tree_sha256 != self.run.plan.package.tree_sha256:
            what, expected = "is not what was frozen when the run was started", "skillbench start --scorecard --fresh"
            raise SkillbenchError(
                Problem(path=self.project.relative(folder), slug="frozen", what=what, expected=expected)
            )

    def announce(self, job: EvalJob, attempt: Attempt) -> HandedOut:
        settings = self.run.plan.settings
        probe = self._probe(job, attempt)
        if probe is None:
            prompt = prompt_of(attempt, "arm", settings.delivery)
        elif probe == "asked":
            prompt = prompt_of(attempt, "judge", settings.delivery)
        else:
            text = Path(attempt.brief).read_text(encoding="utf-8")
            prompt = text if len(text) <= INLINE_CHARACTERS else prompt_of(attempt, "arm", "brief")
        return HandedOut(label=attempt.label, agent=attempt.agent, prompt=prompt, model=settings.model)

    # -- collecting ----------------------------------------------------------------------------------------------------

    def settled(self, job: EvalJob, attempt: Attempt, seen: Observed) -> None:
        probe, sight = self._probe(job, attempt), self._sight(attempt)
        looked = observe.look(self.run.plan, job, attempt, probe, seen, sight)
        unlisted = looked.problem == observe.NOT_LISTED
        if looked.problem is not None and (unlisted or self.may_retry(job)):
            self._keep_attempt(job, looked.observation)
            self.state = end(self.state, job.stem, looked.problem, free=unlisted)
            return
        self._keep(looked.observation, looked.output)

    def lost(
        self, job: EvalJob, attempt: Attempt, why: str, seen: Observed | None, status: str, *, again: bool
    ) -> None:
        named: Status = "timed-out" if status == "timed-out" else "failed"
        probe = self._probe(job, attempt)
        made = observe.lost(self.run.plan, job, attempt, probe, named, why, seen, self._sight(attempt))
        if again:
            self._keep_attempt(job, made)
        else:
            self._keep(made, None)

    def _probe(self, job: EvalJob, attempt: Attempt) -> Probe | None:
        return observe.probe_of(job, attempt, PROBE_AGENT)

    def _sight(self, attempt: Attempt) -> observe.Sight:
        plan = self.run.plan
        places = places_of(self.project, self.state, plan.skill.name, attempt, self.given.copies)
        mine = offer(frozen_package(self.folder) / "SKILL.md", plan.skill.name)
        return observe.Sight(
            places=places,
            evals=self.project.root / plan.settings.evals_root,
            names={plan.skill.name, *([mine.name] if mine is not None else [])},
            copies=(*self.given.copies, self.project.skills / plan.skill.path),
            listing=frozen_listing(self.folder),
        )

    def _keep(self, made: Observation, output: bytes | None) -> None:
        write_observation(self.folder, made, output)
        found = {**self.run.observations, (made.case, made.trial): made}
        self.run = msgspec.structs.replace(self.run, observations=found)

    def _keep_attempt(self, job: EvalJob, made: Observation) -> None:
        """Keep the record of an attempt that does not count, for whoever wants to know why there was another one."""
        (self.folder / "attempts").mkdir(exist_ok=True)
        write_atomic(self.folder / "attempts" / f"{job.stem}.{made.attempt}.json", encode(made))
