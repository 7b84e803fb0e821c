"""An answer that was handed in by ``skillbench record`` -> the run it belongs to.

Gather: checks that the label is one that was handed out and is still open, and brings a world from elsewhere into the
job's own, where collection looks for it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from .errors import Problem, UsageError
from .hosts.manual import Manual
from .jobs import open_jobs
from .project import Project
from .record import load
from .runfolders import folders, is_scorecard, is_started
from .runstate import Attempt, read_state, under_way
from .turns import LOCK_SECONDS


def folder_of(project: Project, skill: str, label: str) -> Path:
    """Return the run of a skill that a label belongs to: the one in which it is under way, else the first there is.

    Raises SkillbenchError where a record can't be used.
    """
    found = folders(project, [skill])
    open_ = (folder for folder in found if any(one.label == label for one in _open(folder, project.relative(folder))))
    return next(open_, found[0])


def hand_in(
    project: Project, folder: Path, label: str, output: bytes, transcript: Path | None, world: Path | None
) -> None:
    """Keep an answer for the next turn of the run. Raises UsageError for a label that is not open, and OSError."""
    from filelock import FileLock

    shown = project.relative(folder)
    if not is_started(folder):
        raise UsageError(Problem(path=shown, slug="no-run", what="no run is started", expected="skillbench start"))
    with FileLock(folder / ".lock", timeout=LOCK_SECONDS):
        attempt = _attempt(folder, shown, label)
        if world is not None:
            _bring(world, attempt, shown)
        Manual(folder).hand_in(label, output, transcript)


def _attempt(folder: Path, shown: str, label: str) -> Attempt:
    for attempt in _open(folder, shown):
        if attempt.label == label:
            return attempt
    what = f'"{label}" is not the label of a job that is under way'
    raise UsageError(Problem(path=shown, slug="label", what=what, expected="one that skillbench next printed"))


def _open(folder: Path, shown: str) -> Iterator[Attempt]:
    """Yield the attempts of a run that are under way."""
    stems, run_id = _open_stems(folder, shown)
    state = read_state(folder, run_id) if run_id is not None else None
    if state is None:
        return
    for stem in stems:
        if (attempt := under_way(state, stem)) is not None:
            yield attempt


def _open_stems(folder: Path, shown: str) -> tuple[list[str], str | None]:
    """Return the names of a run's open jobs and its id; none where no run is recorded."""
    if is_scorecard(folder):
        from .scorecard import jobs, observations

        run = observations.load(folder, shown)
        return ([job.stem for job in jobs.open_jobs(run)], run.plan.run_id) if run is not None else ([], None)
    record = load(folder, shown)
    return ([job.stem for job in open_jobs(record)], record.plan.run_id) if record is not None else ([], None)


def _bring(world: Path, attempt: Attempt, shown: str) -> None:
    """Replace the job's world with a copy of the folder where the work was done."""
    if attempt.world is None or not world.is_dir():
        what = "a judge has no world" if attempt.world is None else f'"{world}" is not a folder'
        raise UsageError(Problem(path=shown, slug="world", what=what))
    own = Path(attempt.world)
    if own.resolve() == world.resolve():
        return
    shutil.rmtree(own)
    shutil.copytree(world, own, symlinks=True)
