"""Which jobs are under way: labels, attempts and worlds of one run, in ``<skill>.run/state.json``.

The other half of the state machine (see `jobs`): transitions are pure functions from one state to the next, and
`read`/`write` are the file. Everything in it is about work that is not recorded yet; losing it loses at most the
attempts that are under way. Times are UTC text.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from .errors import SkillbenchError
from .files import read_bounded, write_atomic
from .formats import decode, encode
from .model import VERSION_1, Record, RunId, Time


class Attempt(Record, frozen=True):
    """One hand-out of a job.

    `label` is in the subagent's prompt and description, and says nothing of the arm. `world`, `skill` and `brief` are
    absolute paths below the run's temp root. `ended` says why this attempt did not count; None while it is under way or
    once its job is recorded. `free`: it does not count against the retries, as after a usage limit. `session`: the
    client's conversation that it was handed to, where that is known. `agent`: the kind of subagent that was asked for.
    """

    label: str
    number: Annotated[int, Meta(ge=1)]
    handed_out_at: Time
    brief: str
    world: str | None
    skill: str | None
    agent: str
    session: str | None = None
    ended: str | None = None
    free: bool = False


class RunState(Record, frozen=True):
    """`attempts` maps a job's stem to its hand-outs, oldest first. `model`: what the first finished arm ran on."""

    schema_version: VERSION_1
    run_id: RunId
    root: str
    attempts: dict[str, tuple[Attempt, ...]]
    model: str | None = None
    ended: bool = False


STATE = "state.json"
LIMIT = 64 * 1024 * 1024


def read_state(folder: Path, run_id: str) -> RunState | None:
    """Return the state of a run, None where it has none yet.

    A state that can't be read is started anew: attempts under way are lost, what is recorded is not.
    """
    state = _whatever(folder)
    return state if state is not None and state.run_id == run_id else None


def root_of(folder: Path) -> Path | None:
    """Return the temp root that a run record's state names, whatever run it is of; None where there is none."""
    state = _whatever(folder)
    return Path(state.root) if state and state.root and Path(state.root).is_dir() else None


def has_ended(folder: Path) -> bool:
    """Return whether a run record's state says that all its jobs were recorded."""
    state = _whatever(folder)
    return state is not None and state.ended


def _whatever(folder: Path) -> RunState | None:
    try:
        return decode(read_bounded(folder / STATE, LIMIT, STATE), RunState, STATE)
    except (FileNotFoundError, SkillbenchError):
        return None


def write_state(folder: Path, state: RunState) -> None:
    """Write the state whole. Raises OSError."""
    write_atomic(folder / STATE, encode(state))


def at(time: datetime) -> str:
    """Return a time as it stands in our files."""
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"


def label_of(run_id: str, seed: int, stem: str, number: int) -> str:
    """Return an attempt's label, ``<run suffix>.<8 hex digits>``: the same for the same attempt, telling nothing."""
    suffix = run_id.rsplit("-", 1)[-1]
    mixed = hashlib.sha256(f"{seed}\0{run_id}\0{stem}\0{number}".encode()).hexdigest()
    return f"{suffix}.{mixed[:8]}"


def under_way(state: RunState, stem: str) -> Attempt | None:
    """Return the attempt of a job that has neither ended nor been recorded (the caller asks only for open jobs)."""
    attempts = state.attempts.get(stem, ())
    return attempts[-1] if attempts and attempts[-1].ended is None else None


def used(state: RunState, stem: str) -> int:
    """Return how many attempts of a job have ended and count against its retries."""
    return sum(attempt.ended is not None and not attempt.free for attempt in state.attempts.get(stem, ()))


def hand_out(state: RunState, stem: str, attempt: Attempt) -> RunState:
    """Return the state with a new attempt of a job."""
    return _with(state, stem, (*state.attempts.get(stem, ()), attempt))


def lease_again(state: RunState, stem: str, now: datetime) -> RunState:
    """Return the state with the attempt that is under way handed out anew, label and world unchanged."""
    *earlier, last = state.attempts[stem]
    return _with(state, stem, (*earlier, msgspec.structs.replace(last, handed_out_at=at(now))))


def end(state: RunState, stem: str, why: str, *, free: bool = False) -> RunState:
    """Return the state with the attempt that is under way ended without a record."""
    *earlier, last = state.attempts[stem]
    return _with(state, stem, (*earlier, msgspec.structs.replace(last, ended=why, free=free)))


def age(attempt: Attempt, now: datetime) -> timedelta:
    """Return how long ago an attempt was handed out."""
    return now - datetime.fromisoformat(attempt.handed_out_at)


def _with(state: RunState, stem: str, attempts: tuple[Attempt, ...]) -> RunState:
    return msgspec.structs.replace(state, attempts={**state.attempts, stem: attempts})
