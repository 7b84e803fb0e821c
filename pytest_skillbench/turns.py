"""One turn of any run: collect what has finished, then say what to run next. What a job is, the kinds of runs say.

Gather. Repeating a turn is always safe: under a lock it reads what is recorded, looks at what is under way, records
what has settled, and hands out open jobs up to the limit. Killed at any point, called twice, or called from a new
session, it neither loses nor repeats work. `advance` takes the turns of head-to-heads, `scorecard.turn` those of
scorecards.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

import msgspec

from . import worlds
from .files import remove_leftovers
from .handout import HandedOut
from .model import Settings, Value
from .observed import Observed, Observer
from .project import Project
from .runstate import Attempt, RunState, age, end, hand_out, lease_again, under_way, used, write_state

StepState: TypeAlias = Literal["jobs", "waiting", "done", "blocked"]

LOCK_SECONDS = 120


class AnyJob(Protocol):
    """What a turn knows of a job: the name of the record file that it fills, without suffix; unique in a run."""

    @property
    def stem(self) -> str:
        """Return that name."""


J = TypeVar("J", bound=AnyJob)


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


class Circumstances(Value, frozen=True):
    """Who takes a turn, when and where.

    `limit`: jobs under way at once; `answer_limit`: characters of all prompts of the step, at least one job regardless;
    `session`: the client's conversation; `copies`: where copies of the skill under test are installed; `agents`: our
    agent definitions by the names under which this client knows them, absent ones are not installed.
    """

    observer: Observer
    now: datetime
    limit: int
    session: str | None = None
    copies: tuple[Path, ...] = ()
    patience: Patience = Patience()
    answer_limit: int = 1_000_000
    agents: Mapping[str, str] = {}


class Turn(ABC, Generic[J]):
    """The working of one turn, under the run's lock. `folder` is the run's record, `since` when it was planned."""

    def __init__(
        self,
        project: Project,
        folder: Path,
        state: RunState,
        settings: Settings,
        since: str,
        given: Circumstances,
    ) -> None:
        self.project = project
        self.folder = folder
        self.state = state
        self.settings = settings
        self.since = since
        self.given = given
        self.blocked: str | None = None

    # -- what a kind of run says of itself -----------------------------------------------------------------------------

    @abstractmethod
    def open_jobs(self) -> Sequence[J]:
        """Return the jobs that have no record yet, in the order in which they are to be run."""

    @abstractmethod
    def not_yet_known(self) -> int:
        """Return how many jobs may still be called for by what others come to."""

    @abstractmethod
    def recorded(self) -> int:
        """Return how many jobs have their record."""

    @abstractmethod
    def without_subagent(self) -> None:
        """Record what needs nobody to run it."""

    @abstractmethod
    def works_alone(self, job: J) -> bool:
        """Return whether a job that was started twice is spoiled, since both worked in one world."""

    @abstractmethod
    def settled(self, job: J, attempt: Attempt, seen: Observed) -> None:
        """Take what a subagent that has ended did: keep it, or end the attempt."""

    @abstractmethod
    def lost(self, job: J, attempt: Attempt, why: str, seen: Observed | None, status: str, *, again: bool) -> None:
        """Take an attempt that came to nothing: it is tried `again`, or this is its record."""

    @abstractmethod
    def prepare(self, job: J) -> Attempt:
        """Make all that a new attempt needs below the run's temp root."""

    @abstractmethod
    def announce(self, job: J, attempt: Attempt) -> HandedOut:
        """Return how an attempt is handed to the orchestrator; the same for the same attempt."""

    @abstractmethod
    def farewell(self) -> str:
        """Return what to say when all jobs are recorded."""

    # -- the turn ------------------------------------------------------------------------------------------------------

    def take(self) -> Step:
        """Take the turn. Raises SkillbenchError where no world can be made, and OSError."""
        self._collect()
        self.without_subagent()
        if self.blocked is not None:
            return self._step("blocked", (), self.blocked)
        open_ = self.open_jobs()
        if not open_ and not self.not_yet_known():
            return self._finish()
        jobs = self._hand_out(open_)
        if jobs:
            return self._step("jobs", jobs, "start each job as one subagent, all in one message, then call next again")
        return self._step("waiting", (), "jobs are under way; call next again when they have finished")

    # -- collecting ----------------------------------------------------------------------------------------------------

    def _collect(self) -> None:
        busy = [(job, attempt) for job in self.open_jobs() if (attempt := under_way(self.state, job.stem))]
        if not busy:
            return
        if not self._has_root():
            for job, _ in busy:
                self.state = end(self.state, job.stem, "its world is gone", free=True)
            self._save()
            return
        seen = self.given.observer.observe([attempt.label for _, attempt in busy], self.since)
        for job, attempt in busy:
            self._look_at(job, attempt, seen)
        self._save()

    def _look_at(self, job: J, attempt: Attempt, seen: Mapping[str, Sequence[Observed]]) -> None:
        found = seen.get(attempt.label, ())
        if not found:
            if not self.given.observer.sees_running and self._is_late(attempt):
                self.failed(job, attempt, self._no_answer(), None, status="timed-out")
            return
        if not all(one.settled for one in found):
            self._look_at_running(job, attempt, found)
        elif (limit := next((one.limit for one in found if one.limit is not None), None)) is not None:
            self.state = end(self.state, job.stem, f"usage limit: {limit}", free=True)
            self.blocked = limit
        elif self.works_alone(job) and len(found) > 1:
            self.failed(job, attempt, f"started {len(found)} times, so that its world was shared", found[0])
        else:
            self.settled(job, attempt, found[0])

    def _look_at_running(self, job: J, attempt: Attempt, found: Sequence[Observed]) -> None:
        if self._is_late(attempt):
            self.failed(job, attempt, self._no_answer(), found[0], status="timed-out")
        elif attempt.session != self.given.session and (
            min(one.idle_seconds for one in found) > self.given.patience.idle
        ):
            self.state = end(self.state, job.stem, "given up: the session that ran it has gone", free=True)

    def _is_late(self, attempt: Attempt) -> bool:
        return age(attempt, self.given.now) > timedelta(minutes=self.settings.arm_timeout_minutes)

    def _no_answer(self) -> str:
        return f"no answer in {self.settings.arm_timeout_minutes:g} minutes"

    def failed(self, job: J, attempt: Attempt, why: str, seen: Observed | None, status: str = "failed") -> None:
        """Take an attempt that came to nothing, and end it where it may be tried again."""
        again = self.may_retry(job)
        self.lost(job, attempt, why, seen, status, again=again)
        if again:
            self.state = end(self.state, job.stem, why)

    def may_retry(self, job: J) -> bool:
        """Return whether another attempt of a job is allowed after the one that is under way."""
        return used(self.state, job.stem) < self.settings.retries

    # -- handing out ---------------------------------------------------------------------------------------------------

    def _hand_out(self, open_: Sequence[J]) -> tuple[HandedOut, ...]:
        """Hand out open jobs so that at most `limit` are under way. The state is on disk before anything is said."""
        if not self._has_root():
            self.state = msgspec.structs.replace(self.state, root=str(worlds.make_root(self.project.root)), ended=False)
            self._save()  # what goes wrong from here on leaves no folder that nobody knows of
        busy, chosen = 0, []
        for job in open_:
            attempt = under_way(self.state, job.stem)
            if attempt is not None and not self._forgotten(attempt):
                busy += 1
            else:
                chosen.append(job)
        handed: list[HandedOut] = []
        for job in chosen[: max(0, self.given.limit - busy)]:
            if sum(len(one.prompt) + 200 for one in handed) > self.given.answer_limit - 2_000:
                break
            if under_way(self.state, job.stem) is not None:
                self.state = lease_again(self.state, job.stem, self.given.now)
            else:
                self.state = hand_out(self.state, job.stem, self.prepare(job))
            handed.append(self.announce(job, self.state.attempts[job.stem][-1]))
        self._save()
        return tuple(handed)

    def _forgotten(self, attempt: Attempt) -> bool:
        """Return whether an attempt that nobody has started was handed out long enough ago to be handed out again.

        Where nobody can see whether it was started, it has all the time that a job has (`_look_at`).
        """
        if not self.given.observer.sees_running:
            return False
        if age(attempt, self.given.now) <= timedelta(seconds=self.given.patience.start):
            return False
        return not self.given.observer.observe([attempt.label], self.since)

    def _finish(self) -> Step:
        left = worlds.remove(Path(self.state.root)) if self._has_root() else []
        remove_leftovers(self.folder)
        self.state = msgspec.structs.replace(self.state, ended=True)
        self._save()
        return self._step("done", (), self.farewell() + (f"; could not remove {left[0]}" if left else ""))

    def _has_root(self) -> bool:
        return bool(self.state.root) and Path(self.state.root).is_dir()

    def _save(self) -> None:
        write_state(self.folder, self.state)

    def _step(self, state: StepState, jobs: tuple[HandedOut, ...], message: str) -> Step:
        done = self.recorded()
        total = done + len(self.open_jobs()) + self.not_yet_known()
        return Step(state=state, done=done, total=total, jobs=jobs, message=message)
