"""An answer that was handed in by ``skillbench record`` -> the run it belongs to.

Gather: checks that the label is one that was handed out and is still open, and brings a world from elsewhere into the
job's own, where collection looks for it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from .advance import LOCK_SECONDS
from .errors import Problem, UsageError
from .hosts.manual import Manual
from .jobs import open_jobs
from .project import Project
from .record import load
from .runstate import Attempt, read_state, under_way


def hand_in(
    project: Project, folder: Path, label: str, output: bytes, transcript: Path | None, world: Path | None
) -> None:
    """Keep an answer for the next turn of the run. Raises UsageError for a label that is not open, and OSError."""
    from filelock import FileLock

    shown = project.relative(folder)
    if not (folder / "frozen").is_dir():
        raise UsageError(Problem(path=shown, slug="no-run", what="no run is started", expected="skillbench start"))
    with FileLock(folder / ".lock", timeout=LOCK_SECONDS):
        attempt = _attempt(folder, shown, label)
        if world is not None:
            _bring(world, attempt, shown)
        Manual(folder).hand_in(label, output, transcript)


def _attempt(folder: Path, shown: str, label: str) -> Attempt:
    record = load(folder, shown)
    state = read_state(folder, record.plan.run_id) if record is not None else None
    if record is not None and state is not None:
        for job in open_jobs(record):
            attempt = under_way(state, job.stem)
            if attempt is not None and attempt.label == label:
                return attempt
    what = f'"{label}" is not the label of a job that is under way'
    raise UsageError(Problem(path=shown, slug="label", what=what, expected="one that skillbench next printed"))


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
