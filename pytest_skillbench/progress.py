"""Where a run stands: jobs by state, per arm and comparison, tokens so far, and how long the rest may take.

Gather: reads the record and the state, changes nothing. `status` prints it once, `watch` draws it again and again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .errors import Problem, SkillbenchError, UsageError
from .jobs import not_yet_known, open_jobs
from .model import ArmRecord, JudgementRecord, Request, Value, arms_of, comparisons_of
from .project import Project
from .record import RunRecord, load
from .runfolders import folders, is_scorecard
from .runstate import read_state, under_way


class Progress(Value, frozen=True):
    """One run. `open` counts jobs without a record, `under_way` those of them that were handed out.

    `arms` and `comparisons` map a name to (recorded, in all as far as known). `tokens`: raw, over arms and judges; None
    where nothing is known of any, and a lower bound where `tokens_complete` is False. `left_ms`: subagent time that the
    open arms will take by the mean of the recorded ones, None before there is one.
    """

    skill: str
    run_id: str
    shape: str
    recorded: int
    open: int
    under_way: int
    arms: dict[str, tuple[int, int]]
    comparisons: dict[str, tuple[int, int]]
    tokens: int | None
    tokens_complete: bool
    left_ms: int | None


def of_project(
    project: Project, names: Sequence[str], *, scorecards: bool = False
) -> tuple[list[Progress], tuple[Problem, ...]]:
    """Return the progress of the runs of the named skills, or of all recorded, by name; of `scorecards` only.

    Beside it: what is wrong with the runs that can't be read. Raises UsageError for a named skill without a run.
    """
    found = []
    problems: list[Problem] = []
    for folder in folders(project, names, scorecards=scorecards):
        try:
            progress = _of_folder(project, folder)
        except SkillbenchError as error:
            problems += error.problems
            continue
        if progress is not None:
            found.append(progress)
        elif names:
            raise UsageError(Problem(path=project.relative(folder), slug="no-run", what="no run is recorded"))
    return found, tuple(problems)


def _of_folder(project: Project, folder: Path) -> Progress | None:
    shown = project.relative(folder)
    if is_scorecard(folder):
        from .scorecard import observations
        from .scorecard.progress import of_run

        run = observations.load(folder, shown)
        return of_run(run) if run is not None else None
    record = load(folder, shown)
    return of_record(record, folder) if record is not None else None


def of_record(record: RunRecord, folder: Path) -> Progress:
    """Return the progress of one run."""
    plan = record.plan
    jobs = open_jobs(record)
    state = read_state(folder, plan.run_id)
    each = len(plan.cases) * plan.trials
    ran = Counter(arm for _, _, arm in record.arms)
    judged = Counter(comparison for _, _, comparison, _ in record.judgements)
    waiting = Counter(job.comparison for job in jobs if job.comparison is not None)
    told: list[ArmRecord | JudgementRecord] = [*record.arms.values(), *record.judgements.values()]
    known = [one.requests for one in told if one.requests is not None]
    requests = [request for usage in known for request in usage]
    times = [arm.duration_ms for arm in record.arms.values() if arm.duration_ms is not None]
    open_arms = sum(job.kind == "arm" for job in jobs)
    return Progress(
        skill=plan.skill.name,
        run_id=plan.run_id,
        shape=plan.shape,
        recorded=len(record.arms) + len(record.judgements),
        open=len(jobs) + not_yet_known(record),
        under_way=sum(under_way(state, job.stem) is not None for job in jobs) if state is not None else 0,
        arms={arm: (ran[arm], each) for arm in arms_of(plan.shape)},
        comparisons={
            c.name: (judged[c.name], max(each, judged[c.name] + waiting[c.name])) for c in comparisons_of(plan.shape)
        },
        tokens=sum(map(raw_tokens, requests)) if known or not told else None,
        tokens_complete=all(one.usage_complete for one in told),
        left_ms=round(sum(times) / len(times) * open_arms) if times else None,
    )


def line(progress: Progress) -> str:
    """Return a run's progress on one line."""
    state = "done" if progress.open == 0 else f"{progress.open} open, {progress.under_way} under way"
    parts = [f"{name} {done}/{total}" for name, (done, total) in {**progress.arms, **progress.comparisons}.items()]
    left = f", about {progress.left_ms / 60000:,.0f} min of arms left" if progress.left_ms and progress.open else ""
    return (
        f"{progress.skill}: {progress.run_id}, {progress.shape}: {state} ({', '.join(parts)}); "
        f"{tokens(progress)} so far{left}"
    )


def tokens(progress: Progress) -> str:
    """Return a run's tokens in words: a figure, a lower bound, or that they are unknown."""
    if progress.tokens is None:
        return "unknown tokens"
    return f"{progress.tokens:,} tokens" if progress.tokens_complete else f"at least {progress.tokens:,} tokens"


def raw_tokens(request: Request) -> int:
    """Return all the tokens of a request, whatever they cost."""
    return request.input + request.cache_write_5m + request.cache_write_1h + request.cache_read + request.output
