"""The cases of one session with all that their nodes need: what is wrong with each, what was recorded, where it is.

Gather, for the pytest face and without pytest: joins `tree`, `scoring` and `outcomes`, and reads each skill's run once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .errors import Problem, SkillbenchError, in_order
from .model import Case, Value
from .outcomes import CaseView, Kind, case_view
from .tree import CASE_FILE, CaseEntry, SkillEntry, Tree, fixture_problems, read_case

if TYPE_CHECKING:
    from .prices import PriceTable
    from .scoring import Scored


class Reading(Value, frozen=True):
    """What collecting a case needs: its view, and how many nodes of which kinds, on which 0-based lines of case.md."""

    view: CaseView
    trials: int
    gated: bool
    lines: dict[Kind, int]
    tags: tuple[str, ...]


class Suite:
    """The chosen skills' cases, by key: their case.md below ``tests/``, with ``/``.

    `skills`: names or paths, none for all; a case that maps to no skill is then there as well. Raises UsageError for a
    skill that is not there. `prices`: None for the bundled ones.
    """

    def __init__(
        self, tree: Tree, skills: Sequence[str], prices: PriceTable | None, *, require_runs: bool, require_fresh: bool
    ) -> None:
        self.tree = tree
        self.prices = prices
        self._require_runs = require_runs
        self._require_fresh = require_fresh
        self._readings: dict[str, Reading] = {}
        self._scored: dict[str, Scored] = {}
        self.entries: dict[str, tuple[SkillEntry | None, CaseEntry]] = {}
        for skill in tree.select(skills):
            for case in skill.cases:
                self.entries[self._key(case)] = (skill, case)
        if not skills:
            for case in tree.orphans:
                self.entries[self._key(case)] = (None, case)

    def _key(self, case: CaseEntry) -> str:
        return case.file.relative_to(self.tree.project.tests).as_posix()

    def scored(self, skill: SkillEntry) -> Scored:
        """Return a skill's scored run; read once."""
        if skill.path not in self._scored:
            from .scoring import score  # what can score is a third of what is loaded, and is needed for a node of ours

            self._scored[skill.path] = score(self.tree.project, skill, self.prices)
        return self._scored[skill.path]

    def reading(self, key: str) -> Reading:
        """Return a case, its fixture and what was recorded of it; read once, however many arguments name its nodes."""
        if key not in self._readings:
            self._readings[key] = self._read(key)
        return self._readings[key]

    def _read(self, key: str) -> Reading:
        skill, entry = self.entries[key]
        case: Case | None = None
        problems: list[Problem] = [*entry.problems, *(skill.problems if skill else ())]
        try:
            case = read_case(entry)
        except SkillbenchError as error:
            problems += error.problems
        problems += fixture_problems(entry)
        view = case_view(
            skill=skill.name if skill else None,
            name=entry.name,
            path=self.tree.project.relative(entry.file),
            problems=in_order(problem for problem in dict.fromkeys(problems) if problem.severity == "error"),
            scored=self.scored(skill) if skill else None,
            require_runs=self._require_runs,
            require_fresh=self._require_fresh,
        )
        recorded = view.recorded
        settings = skill.settings if skill else self.tree.project.settings
        result = view.scored.result if view.scored else None
        return Reading(
            view=view,
            trials=result.plan.trials if result and recorded else settings.trials,
            gated=bool(recorded.case.assertions if recorded else case and case.assertions),
            lines=_lines(case),
            tags=case.tags if case else (),
        )

    def loose_problems(self) -> tuple[Problem, ...]:
        """Return what is wrong with the tree and is on no node."""
        on_nodes = {
            problem
            for skill, case in self.entries.values()
            for problem in (*case.problems, *(skill.problems if skill else ()))
            if problem.severity == "error"
        }
        loose = [problem for problem in self.tree.problems if problem not in on_nodes]
        loose += [self.tree.no_cases(skill) for skill in self.tree.skills if not skill.cases]
        for skill in self.tree.skills:
            for case in skill.cases:
                if not case.file.is_file():  # pytest visits files alone: this one would be passed over in silence
                    loose += self._unreadable(case)
            loose += self._lost(skill)
        return in_order(dict.fromkeys(loose))

    def _unreadable(self, case: CaseEntry) -> tuple[Problem, ...]:
        try:
            read_case(case)
        except SkillbenchError as error:
            return error.problems
        return ()

    def _lost(self, skill: SkillEntry) -> list[Problem]:
        """Return the failed cases of a recorded run that have no file any more, and so no node that could fail."""
        result = self._scored[skill.path].result if skill.path in self._scored else None
        there = {case.name for case in skill.cases if case.file.is_file()}
        return [
            Problem(
                path=f"{case.case.path}/{CASE_FILE}",
                slug="case-lost",
                what=f"failed {part.comparison} in the recorded run, and is no case here any more",
            )
            for case in (result.cases if result is not None else ())
            for part in case.comparisons
            if case.case.name not in there and part.verdict in ("fail", "incomplete")
        ]


def _lines(case: Case | None) -> dict[Kind, int]:
    """Return the 0-based line of case.md that each kind of node is shown at; the first where it does not parse."""
    if case is None:
        return {"case": 0, "gate": 0, "trial": 0, "rule": 0}
    criteria = case.lines.criteria - 1
    gate = (case.lines.assertions or case.lines.criteria) - 1
    return {"case": 0, "gate": gate, "trial": criteria, "rule": criteria}
