"""A scorecard run on disk -> `ScorecardRun`, and its writers: the only module that knows ``<skill>.scorecard/``.

Gather. As in `record`, nothing is decided here: a file that can't be read is kept as the reason why, and the grading
makes of it what it must. The layout and the meaning of each field are in `records`.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TypeAlias

from ..errors import FormatError, Problem, SkillbenchError, in_order
from ..files import read_bounded, write_atomic
from ..formats import decode, encode
from ..model import OutputRef, Value
from ..record import JSON_LIMIT, TEXT_LIMIT
from .records import Observation, ScorecardPlan

FOLDER = ".scorecard"
PLAN, OBSERVATIONS, OUTPUTS = "plan.json", "observations", "outputs"

ObservationKey: TypeAlias = tuple[str, int]


def folder_of(runs: Path, skill: str) -> Path:
    """Return where the scorecard run of the skill of this name lies: ``<runs>/<skill>.scorecard``."""
    return runs / f"{skill}{FOLDER}"


def stem(case: str, trial: int) -> str:
    """Return the name, without suffix, of the files of one job: ``<case id>.<trial>``."""
    return f"{case}.{trial}"


class ScorecardRun(Value, frozen=True):
    """A run as recorded. `unusable` maps a job to why its observation can't be used, where a file is there.

    `folder` is where the outputs are read from when they are asked for; `shown` is how messages call it.
    """

    folder: Path
    shown: str
    plan: ScorecardPlan
    observations: dict[ObservationKey, Observation]
    unusable: dict[ObservationKey, str]
    problems: tuple[Problem, ...]

    def output(self, case: str, trial: int) -> str | None:
        """Return the whole final message of a job; None where there is none, or where it is not the recorded one."""
        observation = self.observations.get((case, trial))
        if observation is None or observation.output is None:
            return None
        data = _output(self.folder, self.shown, observation)
        return data.decode("utf-8", "replace") if isinstance(data, bytes) else None


def load(folder: Path, shown: str) -> ScorecardRun | None:
    """Read the scorecard run of a skill; None where none was recorded.

    `shown` is what messages call the folder. Raises FormatError or SkillbenchError where ``plan.json`` is missing from
    a record, can't be used or contradicts itself. Every other bad file is a problem of the run and its job unusable.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise FormatError(Problem(path=shown, slug="scorecard", what="not a folder", expected="a scorecard run"))
    if not folder.is_dir() or not any(not entry.name.startswith(".") for entry in folder.iterdir()):
        return None
    path = f"{shown}/{PLAN}"
    try:
        plan = decode(read_bounded(folder / PLAN, JSON_LIMIT, path), ScorecardPlan, path)
    except FileNotFoundError:
        what = f"no {PLAN} in the scorecard run"
        raise FormatError(Problem(path=path, slug="scorecard-no-plan", what=what, expected="the run's plan")) from None
    ids = [case.id for case in plan.cases]
    if len(set(ids)) != len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        what = f'two cases with the id "{twice}"'
        raise FormatError(
            Problem(path=path, slug="scorecard-plan", place="$.cases", what=what, expected="each id once")
        )
    return _Loader(folder, shown, plan).load()


class _Loader:
    """Reads the observations that the plan calls for, and names those that it does not."""

    def __init__(self, folder: Path, shown: str, plan: ScorecardPlan) -> None:
        self.folder = folder
        self.shown = shown
        self.plan = plan
        self.problems: list[Problem] = []
        self.unusable: dict[ObservationKey, str] = {}

    def load(self) -> ScorecardRun:
        found: dict[ObservationKey, Observation] = {}
        present = self._listing()
        keys = [(case.id, t) for case in self.plan.cases if case.has_job for t in range(1, self.plan.trials + 1)]
        for key in keys:
            if f"{stem(*key)}.json" in present:
                observation = self._read(key)
                if observation is not None:
                    found[key] = observation
        for name in sorted(present - {f"{stem(*key)}.json" for key in keys}):
            what = "a file that the plan does not call for; it was not counted"
            shown = f"{self.shown}/{OBSERVATIONS}/{name}"
            self.problems.append(Problem(path=shown, slug="scorecard-foreign", what=what, severity="warning"))
        return ScorecardRun(
            folder=self.folder,
            shown=self.shown,
            plan=self.plan,
            observations=found,
            unusable=self.unusable,
            problems=in_order(self.problems),
        )

    def _listing(self) -> set[str]:
        try:
            return {entry.name for entry in (self.folder / OBSERVATIONS).iterdir() if not entry.name.startswith(".")}
        except FileNotFoundError:
            return set()
        except NotADirectoryError:
            shown = f"{self.shown}/{OBSERVATIONS}"
            self.problems.append(Problem(path=shown, slug="scorecard", what="not a folder"))
            return set()

    def _read(self, key: ObservationKey) -> Observation | None:
        name = f"{OBSERVATIONS}/{stem(*key)}.json"
        shown = f"{self.shown}/{name}"
        try:
            observation = decode(read_bounded(self.folder / name, JSON_LIMIT, shown), Observation, shown)
        except FileNotFoundError:
            return None  # gone since it was listed: missing, which is what it now is
        except SkillbenchError as error:
            self.problems += error.problems
            self.unusable[key] = f"{name} can't be used: {error.problems[0].what}"
            return None
        what = self._wrong(key, observation)
        if what is None:
            return observation
        self.problems.append(Problem(path=shown, slug="scorecard-mismatch", what=what))
        self.unusable[key] = f"{name} {what}"
        return None

    def _wrong(self, key: ObservationKey, observation: Observation) -> str | None:
        """Return why an observation can't be what the plan asked for, None where it can."""
        if (observation.case, observation.trial) != key:
            return "says another case or trial than its file name"
        if observation.run_id != self.plan.run_id:
            return f'belongs to run "{observation.run_id}", not to "{self.plan.run_id}"'
        if observation.triggered is not None and observation.probe is None:
            return "says what was triggered, but not how it was seen"
        if observation.triggered is False and observation.status not in ("answered", "refused"):
            return f"says that nothing was triggered, though its job ended as {observation.status}"
        data = _output(self.folder, self.shown, observation)
        return data if isinstance(data, str) else None


def _output(folder: Path, shown: str, observation: Observation) -> bytes | str | None:
    """Return the bytes of an output, None where there is none, or why they can't be used as text."""
    if observation.output is None:
        return None
    name = f"{OUTPUTS}/{stem(observation.case, observation.trial)}.md"
    try:
        data = read_bounded(folder / name, TEXT_LIMIT, f"{shown}/{name}")
    except FileNotFoundError:
        return f"names an output, but {name} is missing"
    except SkillbenchError as error:
        return f"names an output, but {name} can't be read: {error.problems[0].what}"
    if reference(data) != observation.output:
        return f"names an output, but {name} has other bytes than were recorded"
    return data


def reference(output: bytes) -> OutputRef:
    """Return what an observation's `output` says of these bytes."""
    return OutputRef(sha256=hashlib.sha256(output).hexdigest(), bytes=len(output))


def write_plan(folder: Path, plan: ScorecardPlan) -> None:
    """Make the folder of a scorecard run and write its plan. Raises OSError."""
    for part in (OBSERVATIONS, OUTPUTS):
        (folder / part).mkdir(parents=True, exist_ok=True)
    write_atomic(folder / PLAN, encode(plan))


def write_observation(folder: Path, observation: Observation, output: bytes | None) -> None:
    """Write what was seen of one job, the output first, so that an observation never names bytes that are not there.

    `output` belongs to `observation.output` (see `reference`). Raises ValueError where it does not, and OSError.
    """
    if (reference(output) if output is not None else None) != observation.output:
        raise ValueError("the output is not the one that the observation names")
    name = stem(observation.case, observation.trial)
    if output is not None:
        write_atomic(folder / OUTPUTS / f"{name}.md", output)
    write_atomic(folder / OBSERVATIONS / f"{name}.json", encode(observation))
