"""One turn of a head-to-head (``skillbench next``): what has finished goes into its record, what is open is handed out.

Gather: the jobs of `jobs`, recorded by `collect`, prepared by `handout`; how a turn goes is in `turns`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from . import collect
from .errors import SkillbenchError
from .handout import HandedOut, announce, places_of, prepare
from .jobs import Job, byte_equal, not_yet_known, open_jobs
from .model import ArmRecord, JudgementRecord
from .observed import Observed, Observer
from .project import Project
from .record import RunRecord, load
from .runstate import Attempt, RunState, end, read_state, under_way
from .turns import LOCK_SECONDS, Circumstances, Patience, Step, StepState, Turn

__all__ = ["LOCK_SECONDS", "Patience", "Step", "StepState", "step", "take"]


def step(
    project: Project,
    folder: Path,
    observer: Observer,
    *,
    now: datetime,
    limit: int,
    session: str | None = None,
    copies: tuple[Path, ...] = (),
    patience: Patience | None = None,
    answer_limit: int = 1_000_000,
    agents: Mapping[str, str] | None = None,
) -> Step:
    """Take one turn of the run recorded in `folder`, with `Circumstances` of these arguments. See `take`."""
    given = Circumstances(
        observer=observer,
        now=now,
        limit=limit,
        session=session,
        copies=copies,
        patience=patience or Patience(),
        answer_limit=answer_limit,
        agents=agents or {},
    )
    return take(project, folder, given)


def take(project: Project, folder: Path, given: Circumstances) -> Step:
    """Take one turn of the run recorded in `folder`.

    Raises SkillbenchError where the record can't be used, FileNotFoundError where there is none.
    """
    from filelock import FileLock

    with FileLock(folder / ".lock", timeout=LOCK_SECONDS):
        record = load(folder, project.relative(folder))
        if record is None:
            raise FileNotFoundError(folder)
        state = read_state(folder, record.plan.run_id)
        return _Turn(project, record, state, given).take()


class _Turn(Turn[Job]):
    """A turn of a head-to-head: arms and judges."""

    def __init__(self, project: Project, record: RunRecord, state: RunState | None, given: Circumstances) -> None:
        plan = record.plan
        state = state or RunState(schema_version=1, run_id=plan.run_id, root="", attempts={})
        super().__init__(project, record.folder, state, plan.settings, plan.created_at, given)
        self.record = record

    def open_jobs(self) -> Sequence[Job]:
        return open_jobs(self.record)

    def not_yet_known(self) -> int:
        return not_yet_known(self.record)

    def recorded(self) -> int:
        return len(self.record.arms) + len(self.record.judgements)

    def without_subagent(self) -> None:
        for job in byte_equal(self.record):
            self._keep(job, collect.identical(self.record.plan, job))

    def works_alone(self, job: Job) -> bool:
        return job.kind == "arm"

    def settled(self, job: Job, attempt: Attempt, seen: Observed) -> None:
        plan, folder = self.record.plan, self.record.folder
        if job.kind == "arm":
            if not Path(attempt.world or "").is_dir():
                self.state = end(self.state, job.stem, "its world is gone", free=True)
                return
            places = places_of(self.project, self.state, plan.skill.name, attempt, self.given.copies)
            try:
                made = collect.arm(plan, folder, job, attempt, seen, places, self.state.model)
            except SkillbenchError as error:  # what the arm left can't be read: its world is gone or too large
                self.failed(job, attempt, error.problems[0].what, seen)
                return
        else:
            made = collect.judgement(plan, job, attempt, seen)
        if made.problem is not None and self.may_retry(job):
            collect.keep_attempt(folder, job, made.record)
            self.state = end(self.state, job.stem, made.problem)
            return
        if job.kind == "arm" and made.problem is None and self.state.model is None:
            self.state = msgspec.structs.replace(self.state, model=seen.model)
        self._keep(job, made.record)

    def lost(self, job: Job, attempt: Attempt, why: str, seen: Observed | None, status: str, *, again: bool) -> None:
        plan = self.record.plan
        made: ArmRecord | JudgementRecord
        if job.kind == "arm":
            made = collect.lost_arm(plan, job, attempt, status, why, seen)
        else:
            made = collect.lost_judgement(plan, job, attempt, why, seen)
        if again:
            collect.keep_attempt(self.record.folder, job, made)
        else:
            self._keep(job, made)

    def _keep(self, job: Job, made: ArmRecord | JudgementRecord) -> None:
        if isinstance(made, ArmRecord):
            self._judge_anew(made)
        collect.keep(self.record.folder, job, made)
        self.record = collect.with_record(self.record, made)

    def _judge_anew(self, arm: ArmRecord) -> None:
        """Drop the judgements of an arm that was run again. What their judges said is not taken a second time."""
        stale = collect.judgements_of(self.record, arm)
        for stem in stale:
            if under_way(self.state, stem) is not None:
                self.state = end(self.state, stem, "one of the pair was run again", free=True)
        if stale:
            self._save()  # before anything is dropped, so that a kill in between takes nothing back
            self.record = collect.without(self.record, stale)

    def prepare(self, job: Job) -> Attempt:
        return prepare(self.record, self.state, job, self.given.now, self.given.session, self.given.agents)

    def announce(self, job: Job, attempt: Attempt) -> HandedOut:
        return announce(self.record.plan, job, attempt)

    def farewell(self) -> str:
        return f"all jobs are recorded: run `pytest --skillbench` or `skillbench score {self.record.plan.skill.name}`"
