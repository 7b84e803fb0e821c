"""A run record on disk (FORMATS section 2) -> `RunRecord`: what is there, what is missing, what can't be used.

Gather: the only module that reads ``<skill>.run/``. It decides nothing: a file that can't be read is kept as the reason
why, and the rules make of it what they must.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias, TypeVar

from .errors import FormatError, Problem, SkillbenchError, in_order
from .files import read_bounded
from .formats import T, decode
from .model import (
    ArmName,
    ArmRecord,
    ComparisonName,
    FrozenEvidence,
    JudgementRecord,
    Narrative,
    Plan,
    Seat,
    Value,
    arms_of,
    comparisons_of,
)

JSON_LIMIT = 64 * 1024 * 1024
TEXT_LIMIT = 64 * 1024 * 1024

ArmKey: TypeAlias = tuple[str, int, ArmName]
JudgementKey: TypeAlias = tuple[str, int, ComparisonName, Seat]

N = TypeVar("N", Narrative, FrozenEvidence)

SEATS: tuple[Seat, ...] = (1, 2, 3, "swap")


def arm_stem(case: str, trial: int, arm: ArmName) -> str:
    """Return the name, without suffix, of an arm's files: ``<case>.<trial>.<arm>``."""
    return f"{case}.{trial}.{arm}"


def judgement_stem(case: str, trial: int, comparison: ComparisonName, seat: Seat) -> str:
    """Return the name, without suffix, of a judgement's file; the first seat has no part of its own."""
    stem = f"{case}.{trial}.{comparison}"
    return stem if seat == 1 else f"{stem}.{seat}"


class RunRecord(Value, frozen=True):
    """A run as recorded. `unusable` maps a file's stem to why it can't be used, where a file is there.

    `folder` is where the texts are read from when they are asked for; `shown` is how messages call it.
    """

    folder: Path
    shown: str
    plan: Plan
    arms: dict[ArmKey, ArmRecord]
    judgements: dict[JudgementKey, JudgementRecord]
    unusable: dict[str, str]
    narrative: Narrative | None
    evidence: FrozenEvidence | None
    problems: tuple[Problem, ...]

    def output(self, case: str, trial: int, arm: ArmName) -> str | None:
        """Return an arm's whole final message, None where there is none."""
        return self._text("outputs", f"{arm_stem(case, trial, arm)}.md")

    def changes(self, case: str, trial: int, arm: ArmName) -> str | None:
        """Return the unified diff of what an arm changed in its world, None where none was kept."""
        return self._text("changes", f"{arm_stem(case, trial, arm)}.diff")

    def _text(self, kind: str, name: str) -> str | None:
        try:
            data = read_bounded(self.folder / kind / name, TEXT_LIMIT, f"{self.shown}/{kind}/{name}")
        except (FileNotFoundError, SkillbenchError):
            return None  # the load has already told of it
        return data.decode("utf-8", "replace")


def load(folder: Path, shown: str) -> RunRecord | None:
    """Read a run record; None where no run was recorded there.

    Raises FormatError or SkillbenchError where ``plan.json`` is missing from a record or can't be used: without it
    nothing else means anything. Every other bad file is a problem of the record and unusable, never an exception.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise FormatError(Problem(path=shown, slug="record", what="not a folder", expected="a run record's folder"))
    if not folder.is_dir() or not any(not entry.name.startswith(".") for entry in folder.iterdir()):
        return None
    try:
        data = read_bounded(folder / "plan.json", JSON_LIMIT, f"{shown}/plan.json")
    except FileNotFoundError:
        what = "no plan.json in the run record"
        raise FormatError(
            Problem(path=f"{shown}/plan.json", slug="record-no-plan", what=what, expected="the run's plan")
        ) from None
    plan = decode(data, Plan, f"{shown}/plan.json")
    _check_plan(plan, f"{shown}/plan.json")
    return _Loader(folder, shown, plan).load()


def _check_plan(plan: Plan, path: str) -> None:
    """Refuse a plan that contradicts itself."""

    def refuse(place: str, what: str, expected: str) -> FormatError:
        return FormatError(Problem(path=path, slug="plan", place=place, what=what, expected=expected))

    names = [case.name for case in plan.cases]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) != len(names) else None
    if twice is not None:
        raise refuse("$.cases", f'two cases named "{twice}"', "each case once")
    if plan.shape == "three-arm" and (plan.base is None or plan.packages.previous_version is None):
        raise refuse("$.shape", "a three-arm plan without a previous version", "base and packages.previous-version")
    if plan.shape == "two-arm" and not plan.base_reason:
        raise refuse("$.base_reason", "a two-arm plan that does not say why", "the reason, such as new skill")


class _Loader:
    """Reads the files that the plan calls for, and names those that it does not."""

    def __init__(self, folder: Path, shown: str, plan: Plan) -> None:
        self.folder = folder
        self.shown = shown
        self.plan = plan
        self.problems: list[Problem] = []
        self.unusable: dict[str, str] = {}

    def load(self) -> RunRecord:
        arms: dict[ArmKey, ArmRecord] = {}
        present = self._listing("arms")
        for key in self._arm_keys():
            stem = arm_stem(*key)
            if f"{stem}.json" in present:
                arm = self._read("arms", stem, ArmRecord)
                if arm is not None and self._belongs("arms", stem, arm, (arm.case, arm.trial, arm.arm) == key):
                    arms[key] = arm
                    self._check_output(stem, arm)
        self._foreign("arms", present, {f"{arm_stem(*key)}.json" for key in self._arm_keys()})

        judgements: dict[JudgementKey, JudgementRecord] = {}
        present = self._listing("judgements")
        for judgement_key in self._judgement_keys():
            stem = judgement_stem(*judgement_key)
            if f"{stem}.json" in present:
                judgement = self._read("judgements", stem, JudgementRecord)
                if judgement is not None:
                    found = (judgement.case, judgement.trial, judgement.comparison, judgement.seat)
                    if self._belongs("judgements", stem, judgement, found == judgement_key):
                        judgements[judgement_key] = judgement
        self._foreign("judgements", present, {f"{judgement_stem(*key)}.json" for key in self._judgement_keys()})

        narrative = self._of_this_run("narrative.json", Narrative)
        evidence = self._of_this_run("evidence.json", FrozenEvidence)
        return RunRecord(
            folder=self.folder,
            shown=self.shown,
            plan=self.plan,
            arms=arms,
            judgements=judgements,
            unusable=self.unusable,
            narrative=narrative,
            evidence=evidence,
            problems=in_order(self.problems),
        )

    def _arm_keys(self) -> Iterator[ArmKey]:
        for case in self.plan.cases:
            for trial in range(1, self.plan.trials + 1):
                for arm in arms_of(self.plan.shape):
                    yield case.name, trial, arm

    def _judgement_keys(self) -> Iterator[JudgementKey]:
        for case in self.plan.cases:
            for trial in range(1, self.plan.trials + 1):
                for comparison in comparisons_of(self.plan.shape):
                    for seat in SEATS:
                        yield case.name, trial, comparison.name, seat

    def _listing(self, kind: str) -> set[str]:
        try:
            return {entry.name for entry in (self.folder / kind).iterdir() if not entry.name.startswith(".")}
        except FileNotFoundError:
            return set()
        except NotADirectoryError:
            self.problems.append(Problem(path=f"{self.shown}/{kind}", slug="record", what="not a folder"))
            return set()

    def _foreign(self, kind: str, present: set[str], expected: set[str]) -> None:
        for name in sorted(present - expected):
            what = "a file that the plan does not call for; it was not counted"
            problem = Problem(path=f"{self.shown}/{kind}/{name}", slug="record-foreign", what=what, severity="warning")
            self.problems.append(problem)

    def _read(self, kind: str, stem: str, record: type[T]) -> T | None:
        shown = f"{self.shown}/{kind}/{stem}.json"
        try:
            return decode(read_bounded(f"{self.folder}/{kind}/{stem}.json", JSON_LIMIT, shown), record, shown)
        except FileNotFoundError:
            return None  # gone since it was listed: missing, which is what it now is
        except SkillbenchError as error:
            self.problems.extend(error.problems)
            self.unusable[stem] = f"{kind}/{stem}.json can't be used: {_short(error.problems[0])}"
            return None

    def _belongs(self, kind: str, stem: str, value: ArmRecord | JudgementRecord, named_right: bool) -> bool:
        if named_right and value.run_id == self.plan.run_id:
            return True
        what = (
            f'belongs to run "{value.run_id}"'
            if named_right
            else "says another case, trial, arm or seat than its file name"
        )
        expected = f'run "{self.plan.run_id}"' if named_right else "contents that agree with the file name"
        shown = f"{self.shown}/{kind}/{stem}.json"
        self.problems.append(Problem(path=shown, slug="record-mismatch", what=what, expected=expected))
        self.unusable[stem] = f"{kind}/{stem}.json {what}"
        return False

    def _check_output(self, stem: str, arm: ArmRecord) -> None:
        """Hold the output to its digest: a judgement speaks of those bytes and no others."""
        if arm.output is None:
            return
        name = f"outputs/{stem}.md"
        try:
            data = read_bounded(f"{self.folder}/{name}", TEXT_LIMIT, f"{self.shown}/{name}")
        except FileNotFoundError:
            what = "missing, though the arm record names it"
        except SkillbenchError as error:
            what = error.problems[0].what
        else:
            if len(data) == arm.output.bytes and hashlib.sha256(data).hexdigest() == arm.output.sha256:
                return
            what = "its bytes are not those that were recorded"
        self.problems.append(Problem(path=f"{self.shown}/{name}", slug="record-output", what=what))
        self.unusable[stem] = f"{name}: {what}"

    def _of_this_run(self, name: str, record: type[N]) -> N | None:
        """Return what stands in one of the record's own files; None where it is not there, not usable or another's."""
        shown = f"{self.shown}/{name}"
        try:
            found = decode(read_bounded(self.folder / name, JSON_LIMIT, shown), record, shown)
        except FileNotFoundError:
            return None
        except SkillbenchError as error:
            self.problems.extend(error.problems)
            return None
        if found.run_id != self.plan.run_id:
            what = f'written for run "{found.run_id}"; it is not shown'
            self.problems.append(Problem(path=shown, slug="record-mismatch", what=what, severity="warning"))
            return None
        return found


def _short(problem: Problem) -> str:
    return problem.what if problem.place is None else f"{problem.place}: {problem.what}"
