"""What is to be run for a plan, and in which order: the pure half of the state machine.

Core. `open_jobs` looks only at the run record: what is recorded is done, what is not and is called for is open. That is
why a run can be resumed by repeating the command, and why no job can be lost: there is no list of jobs that could
disagree with the record. Which of the open jobs are under way is the other half, `runstate`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from .model import ArmName, Comparison, ComparisonName, Order, Plan, PlannedCase, Seat, Value, arms_of, comparisons_of
from .pairs import pair
from .record import RunRecord, arm_stem, judgement_stem
from .trials import score

#: A panel is asked for when a comparison of a case is split at least this much on both sides (FORMATS section 3).
PANEL_WINS = PANEL_LOSSES = 2


class Job(Value, frozen=True):
    """One piece of work for a subagent: run an arm (`arm` set), or judge a pair (`comparison` and `seat` set)."""

    kind: Literal["arm", "judge"]
    case: str
    trial: int
    arm: ArmName | None = None
    comparison: ComparisonName | None = None
    seat: Seat | None = None

    @property
    def stem(self) -> str:
        """Return the name of the record file that this job fills, without suffix; unique in a run."""
        if self.arm is not None:
            return arm_stem(self.case, self.trial, self.arm)
        if self.comparison is None or self.seat is None:
            raise ValueError("a job is either an arm or a seat of a comparison")
        return judgement_stem(self.case, self.trial, self.comparison, self.seat)


def arm_jobs(plan: Plan) -> Iterator[Job]:
    """Yield every arm job of a plan, interleaved: which arm starts a trial rotates, so that none is always first.

    Prompt caches favour whoever comes later, and a client that fills up or a day that ends cuts off the last ones.
    """
    arms = arms_of(plan.shape)
    for trial in range(1, plan.trials + 1):
        for number, case in enumerate(plan.cases):
            turn = (trial + number) % len(arms)
            for arm in (*arms[turn:], *arms[:turn]):
                yield Job(kind="arm", case=case.name, trial=trial, arm=arm)


def judge_seats(plan: Plan) -> tuple[Seat, ...]:
    """Return the seats that every judged pair has, whatever comes out."""
    return (1, "swap") if plan.settings.judging == "both-orders" else (1,)


def judge_jobs(record: RunRecord) -> Iterator[Job]:
    """Yield every judge job that the record calls for so far, answered or not: first judges and swaps, then panels.

    A pair is judged when both its arms are recorded and usable, no hard assertion has failed (efficacy), and the two
    differ. A panel is called when all trials of a case in a comparison have their outcome and are split.
    """
    plan = record.plan
    for trial in range(1, plan.trials + 1):
        for case in plan.cases:
            for comparison in comparisons_of(plan.shape):
                if asks_a_judge(record, case, trial, comparison):
                    for seat in judge_seats(plan):
                        yield _judge(case, trial, comparison, seat)
    for case in plan.cases:
        for comparison in comparisons_of(plan.shape):
            if calls_a_panel(record, case, comparison):
                for trial in range(1, plan.trials + 1):
                    if asks_a_judge(record, case, trial, comparison):
                        yield _judge(case, trial, comparison, 2)
                        yield _judge(case, trial, comparison, 3)


def _judge(case: PlannedCase, trial: int, comparison: Comparison, seat: Seat) -> Job:
    return Job(kind="judge", case=case.name, trial=trial, comparison=comparison.name, seat=seat)


def asks_a_judge(record: RunRecord, case: PlannedCase, trial: int, comparison: Comparison) -> bool:
    """Return whether this pair, as far as it is recorded, is to be judged."""
    found = pair(record, case, trial, comparison)
    return found.problem is None and not found.gate_failed and not found.same


def calls_a_panel(record: RunRecord, case: PlannedCase, comparison: Comparison) -> bool:
    """Return whether two more judges a trial are called for: no first judgement is open and the trials are split.

    Once a panel has begun it goes on, though its first votes may have made the split disappear.
    """
    trials = range(1, record.plan.trials + 1)
    if any((case.name, trial, comparison.name, seat) in record.judgements for trial in trials for seat in (2, 3)):
        return True
    for trial in trials:
        if not all((case.name, trial, arm) in record.arms for arm in ("new-skill", comparison.opponent)):
            return False
        if asks_a_judge(record, case, trial, comparison) and not all(
            (case.name, trial, comparison.name, seat) in record.judgements for seat in judge_seats(record.plan)
        ):
            return False
    outcomes = [score(record, case, trial, comparison).outcome for trial in trials]
    return outcomes.count("WIN") >= PANEL_WINS and outcomes.count("LOSS") >= PANEL_LOSSES


def open_jobs(record: RunRecord) -> tuple[Job, ...]:
    """Return the jobs that have no record yet, in the order in which they are to be run."""
    arms = [job for job in arm_jobs(record.plan) if (job.case, job.trial, job.arm) not in record.arms]
    judges = [job for job in judge_jobs(record) if judge_key(job) not in record.judgements]
    return (*arms, *judges)


def judge_key(job: Job) -> tuple[str, int, ComparisonName, Seat]:
    """Return the key of a judge job's record. Raises ValueError for an arm job."""
    if job.comparison is None or job.seat is None:
        raise ValueError(f"{job.stem} is not a judge's job")
    return job.case, job.trial, job.comparison, job.seat


def not_yet_known(record: RunRecord) -> int:
    """Return how many judge jobs may still be called for: those of the pairs whose arms have not both run."""
    plan = record.plan
    return sum(
        len(judge_seats(plan))
        for trial in range(1, plan.trials + 1)
        for case in plan.cases
        for comparison in comparisons_of(plan.shape)
        if not all((case.name, trial, arm) in record.arms for arm in ("new-skill", comparison.opponent))
    )


def byte_equal(record: RunRecord) -> Iterator[Job]:
    """Yield the first seat of every pair that is not recorded yet and needs no judge: its two sides are byte-equal."""
    plan = record.plan
    for trial in range(1, plan.trials + 1):
        for case in plan.cases:
            for comparison in comparisons_of(plan.shape):
                found = pair(record, case, trial, comparison)
                if found.problem is None and not found.gate_failed and found.same:
                    job = _judge(case, trial, comparison, 1)
                    if judge_key(job) not in record.judgements:
                        yield job


def order_of(plan: Plan, job: Job) -> Order:
    """Return how a judge job shows its pair: as planned for the first and third seat, turned round for the others."""
    planned = plan.orders.get(f"{job.case}.{job.trial}.{job.comparison}", "new-first")
    if job.seat in (1, 3):
        return planned
    return "new-second" if planned == "new-first" else "new-first"
