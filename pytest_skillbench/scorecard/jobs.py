"""Which jobs a scorecard's plan calls for and which of them are open: the pure half of its state machine.

Core. As with head-to-heads, what is recorded is done and what is not is open: there is no list of jobs that could
disagree with the record.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import PurePosixPath

from ..model import Value
from .observations import ScorecardRun, stem
from .records import PlannedEval, ScorecardPlan

_LONGEST_NAME = 255  # bytes; what file systems take


class EvalJob(Value, frozen=True):
    """One piece of work for a subagent: a case in a trial."""

    case: PlannedEval
    trial: int

    @property
    def stem(self) -> str:
        """Return the name of the record file that this job fills, without suffix; unique in a run."""
        return stem(self.case.id, self.trial)


def has_job(case: PlannedEval) -> bool:
    """Return whether there is anything to run for a case: no file is run, and no probe of what can't be triggered."""
    return case.has_job and (not case.is_probe or case.probe is not None)


def jobs(plan: ScorecardPlan) -> Iterator[EvalJob]:
    """Yield every job of a plan, trial by trial, so that one that ends early has each case at least once."""
    for trial in range(1, plan.trials + 1):
        for case in plan.cases:
            if has_job(case):
                yield EvalJob(case=case, trial=trial)


def open_jobs(run: ScorecardRun) -> tuple[EvalJob, ...]:
    """Return the jobs that have no usable observation yet, in the order in which they are to be run."""
    return tuple(job for job in jobs(run.plan) if (job.case.id, job.trial) not in run.observations)


def why_not(case: PlannedEval) -> str | None:
    """Return why a case can't be run as it is meant, None where it can: its world can't be what its context says."""
    files = case.context.files
    for file in files:
        if file.content is None and file.sha256 is None:
            return f'the file "{file.path}" of its context was not there when the run was started'
    taken = {PurePosixPath(file.path) for file in files}
    for path in taken:
        if any(part.casefold() == ".git" for part in path.parts):
            return f'the file "{path}" of its context lies in a .git: a world is no repository'
        if any(len(os.fsencode(part)) > _LONGEST_NAME or "\0" in part for part in path.parts):
            return f'the file "{path}" of its context has a name that no folder can hold'
        if taken.intersection(path.parents):
            return f'the file "{path}" of its context lies in another file'
    return None
