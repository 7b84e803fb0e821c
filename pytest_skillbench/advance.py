"""One turn of the run: collect what has finished, then say what to run next (``skillbench next``).

Gather. Repeating it is always safe: under a lock it reads what is recorded, looks at what is under way, records what
has settled, and hands out open jobs up to the limit. Killed at any point, called twice, or called from a new session,
it neither loses nor repeats work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from . import collect, worlds
from .errors import SkillbenchError
from .handout import HandedOut, announce, places_of, prepare
from .jobs import Job, byte_equal, not_yet_known, open_jobs
from .model import ArmRecord, JudgementRecord, Value
from .observed import Observed, Observer
from .project import Project
from .record import RunRecord, load
from .runstate import Attempt, RunState, age, end, hand_out, lease_again, read_state, under_way, used, write_state

StepState: TypeAlias = Literal["jobs", "waiting", "done", "blocked"]

LOCK_SECONDS = 120


class Patience(Value, frozen=True):
    """How long to wait for signs of life, in seconds.

    `start`: for a job that was handed out to be started, before it is handed out again. `idle`: for a subagent of
    another session, which may have died with it, before it is given up.
    """

    start: float = 60
    idle: float = 60


class Step(Value, frozen=True):
    """What ``skillbench next`` prints. `done` and `total` count jobs; `total` is an upper bound, but for panels."""

    state: StepState
    done: int
    total: int
    jobs: tuple[HandedOut, ...]
    message: str


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
    """Take one turn of the run recorded in `folder`.

    `limit`: jobs under way at once; `answer_limit`: characters of all prompts of the step, at least one job regardless;
    `agents`: see `handout.prepare`.
    Raises SkillbenchError where the record can't be used.
    """
    from filelock import FileLock

    with FileLock(folder / ".lock", timeout=LOCK_SECONDS):
        record = load(folder, project.relative(folder))
        if record is None:
            raise FileNotFoundError(folder)
        state = read_state(folder, record.plan.run_id)
        turn = _Turn(project, record, state, observer, now, session, copies, patience or Patience(), agents or {})
        return turn.take(limit, answer_limit)


class _Turn:
    """The working of one `step`, under the lock."""

    def __init__(
        self,
        project: Project,
        record: RunRecord,
        state: RunState | None,
        observer: Observer,
        now: datetime,
        session: str | None,
        copies: tuple[Path, ...],
        patience: Patience,
        agents: Mapping[str, str],
    ) -> None:
        self.project = project
        self.record = record
        self.observer = observer
        self.now = now
        self.session = session
        self.copies = copies
        self.patience = patience
        self.agents = agents
        self.blocked: str | None = None
        self.state = state or RunState(schema_version=1, run_id=record.plan.run_id, root="", attempts={})

    def take(self, limit: int, answer_limit: int) -> Step:
        self._collect()
        self._record_identical()
        if self.blocked is not None:
            return self._step("blocked", (), self.blocked)
        open_ = open_jobs(self.record)
        if not open_ and not not_yet_known(self.record):
            return self._finish()
        jobs = self._hand_out(open_, limit, answer_limit)
        if jobs:
            return self._step("jobs", jobs, "start each job as one subagent, all in one message, then call next again")
        return self._step("waiting", (), "jobs are under way; call next again when they have finished")

    # -- collecting ----------------------------------------------------------------------------------------------------

    def _collect(self) -> None:
        busy = [(job, attempt) for job in open_jobs(self.record) if (attempt := under_way(self.state, job.stem))]
        if not busy:
            return
        if not self._has_root():
            for job, _ in busy:
                self.state = end(self.state, job.stem, "its world is gone", free=True)
            self._save()
            return
        seen = self.observer.observe([attempt.label for _, attempt in busy], self.record.plan.created_at)
        for job, attempt in busy:
            self._look_at(job, attempt, seen)
        self._save()

    def _look_at(self, job: Job, attempt: Attempt, seen: Mapping[str, Sequence[Observed]]) -> None:
        found = seen.get(attempt.label, ())
        if not found:
            return
        if not all(one.settled for one in found):
            self._look_at_running(job, attempt, found)
        elif (limit := next((one.limit for one in found if one.limit is not None), None)) is not None:
            self.state = end(self.state, job.stem, f"usage limit: {limit}", free=True)
            self.blocked = limit
        elif job.kind == "arm" and len(found) > 1:
            self._failed(job, attempt, f"started {len(found)} times, so that its world was shared", found[0])
        else:
            self._settled(job, attempt, found[0])

    def _look_at_running(self, job: Job, attempt: Attempt, found: Sequence[Observed]) -> None:
        minutes = self.record.plan.settings.arm_timeout_minutes
        if age(attempt, self.now) > timedelta(minutes=minutes):
            self._failed(job, attempt, f"no answer in {minutes:g} minutes", found[0], status="timed-out")
        elif attempt.session != self.session and min(one.idle_seconds for one in found) > self.patience.idle:
            self.state = end(self.state, job.stem, "given up: the session that ran it has gone", free=True)

    def _settled(self, job: Job, attempt: Attempt, seen: Observed) -> None:
        plan, folder = self.record.plan, self.record.folder
        if job.kind == "arm":
            places = places_of(self.project, self.state, plan, attempt, self.copies)
            try:
                made = collect.arm(plan, folder, job, attempt, seen, places, self.state.model)
            except SkillbenchError as error:  # what the arm left can't be read: its world is gone or too large
                self._failed(job, attempt, error.problems[0].what, seen)
                return
        else:
            made = collect.judgement(plan, job, attempt, seen)
        if made.problem is not None and used(self.state, job.stem) < plan.settings.retries:
            collect.keep_attempt(folder, job, made.record)
            self.state = end(self.state, job.stem, made.problem)
            return
        if job.kind == "arm" and made.problem is None and self.state.model is None:
            self.state = msgspec.structs.replace(self.state, model=seen.model)
        self._keep(job, made.record)

    def _failed(self, job: Job, attempt: Attempt, why: str, seen: Observed | None, status: str = "failed") -> None:
        plan = self.record.plan
        lost: ArmRecord | JudgementRecord
        if job.kind == "arm":
            lost = collect.lost_arm(plan, job, attempt, status, why, seen)
        else:
            lost = collect.lost_judgement(plan, job, attempt, why, seen)
        if used(self.state, job.stem) < plan.settings.retries:
            collect.keep_attempt(self.record.folder, job, lost)
            self.state = end(self.state, job.stem, why)
        else:
            self._keep(job, lost)

    def _keep(self, job: Job, made: ArmRecord | JudgementRecord) -> None:
        collect.keep(self.record.folder, job, made)
        self.record = collect.with_record(self.record, made)

    def _record_identical(self) -> None:
        for job in byte_equal(self.record):
            self._keep(job, collect.identical(self.record.plan, job))

    # -- handing out ---------------------------------------------------------------------------------------------------

    def _hand_out(self, open_: Sequence[Job], limit: int, answer_limit: int) -> tuple[HandedOut, ...]:
        """Hand out open jobs so that at most `limit` are under way. The state is on disk before anything is said."""
        if not self._has_root():
            self.state = msgspec.structs.replace(self.state, root=str(worlds.make_root(self.project.root)), ended=False)
        busy, chosen = 0, []
        for job in open_:
            attempt = under_way(self.state, job.stem)
            if attempt is not None and not self._forgotten(attempt):
                busy += 1
            else:
                chosen.append(job)
        handed: list[HandedOut] = []
        for job in chosen[: max(0, limit - busy)]:
            if sum(len(one.prompt) + 200 for one in handed) > answer_limit - 2_000:
                break
            if under_way(self.state, job.stem) is not None:
                self.state = lease_again(self.state, job.stem, self.now)
            else:
                attempt = prepare(self.record, self.state, job, self.now, self.session, self.agents)
                self.state = hand_out(self.state, job.stem, attempt)
            handed.append(announce(self.record.plan, job, self.state.attempts[job.stem][-1]))
        self._save()
        return tuple(handed)

    def _forgotten(self, attempt: Attempt) -> bool:
        """Return whether an attempt that nobody has started was handed out long enough ago to be handed out again."""
        if age(attempt, self.now) <= timedelta(seconds=self.patience.start):
            return False
        return not self.observer.observe([attempt.label], self.record.plan.created_at)

    def _finish(self) -> Step:
        left = worlds.remove(Path(self.state.root)) if self._has_root() else []
        self.state = msgspec.structs.replace(self.state, ended=True)
        self._save()
        said = f"all jobs are recorded: run `pytest --skillbench` or `skillbench score {self.record.plan.skill.name}`"
        return self._step("done", (), said + (f"; could not remove {left[0]}" if left else ""))

    def _has_root(self) -> bool:
        return bool(self.state.root) and Path(self.state.root).is_dir()

    def _save(self) -> None:
        write_state(self.record.folder, self.state)

    def _step(self, state: StepState, jobs: tuple[HandedOut, ...], message: str) -> Step:
        done = len(self.record.arms) + len(self.record.judgements)
        total = done + len(open_jobs(self.record)) + not_yet_known(self.record)
        return Step(state=state, done=done, total=total, jobs=jobs, message=message)
