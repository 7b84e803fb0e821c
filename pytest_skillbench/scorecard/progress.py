"""Where a scorecard run stands, in the terms of `progress`: probes and tasks in the place of arms.

Gather: reads the state beside the run, changes nothing.
"""

from __future__ import annotations

from ..progress import Progress, raw_tokens
from ..runstate import read_state, under_way
from .jobs import jobs, open_jobs
from .observations import ScorecardRun


def of_run(run: ScorecardRun) -> Progress:
    """Return the progress of a scorecard run. `left_ms` is of all open jobs."""
    plan = run.plan
    open_ = open_jobs(run)
    planned = list(jobs(plan))
    state = read_state(run.folder, plan.run_id)
    keys = [(job.case.id, job.trial) for job in planned]
    told = [run.observations[key] for key in keys if key in run.observations]
    known = [one.requests for one in told if one.requests is not None]
    times = [one.duration_ms for one in told if one.duration_ms is not None]
    counts = {}
    for kind, is_probe in (("probes", True), ("tasks", False)):
        total = sum(job.case.is_probe is is_probe for job in planned)
        left = sum(job.case.is_probe is is_probe for job in open_)
        counts[kind] = (total - left, total)
    return Progress(
        skill=plan.skill.name,
        run_id=plan.run_id,
        shape="scorecard",
        recorded=len(planned) - len(open_),
        open=len(open_),
        under_way=sum(under_way(state, job.stem) is not None for job in open_) if state is not None else 0,
        arms=counts,
        comparisons={},
        tokens=sum(map(raw_tokens, (request for usage in known for request in usage))) if known or not told else None,
        tokens_complete=all(one.usage_complete for one in told),
        left_ms=round(sum(times) / len(times) * len(open_)) if times else None,
    )
