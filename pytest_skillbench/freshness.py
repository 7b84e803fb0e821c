"""Has anything changed since a run was frozen? The plan's digests against the working tree, as sentences.

Gather: reads the tree, decides nothing about verdicts: a STALE run is scored from its frozen copy.
"""

from __future__ import annotations

from . import digest
from .errors import SkillbenchError
from .files import read_bounded
from .model import Plan
from .project import Project
from .tree import CASE_LIMIT, CaseEntry, SkillEntry


def changed_since(project: Project, plan: Plan, skill: SkillEntry) -> tuple[str, ...]:
    """Return what differs between a run's plan and the skill's working tree now, in the order of the cases.

    Empty where the run is fresh. A file that can't be read any more counts as changed and says why.
    """
    found = []
    try:
        if not same_package(project, plan.packages.new_skill.tree_sha256, skill):
            found.append("the skill has changed since the run")
    except SkillbenchError as error:
        found.append(f"the skill can't be compared with the run: {error.problems[0].what}")
    now = {case.name: case for case in skill.cases}
    for planned in plan.cases:
        case = now.pop(planned.name, None)
        if case is None:
            found.append(f"case {planned.name} is gone")
            continue
        found += _case(planned.name, planned.case_sha256, planned.fixture_sha256, case)
    found += [f"case {name} is new: it has no trials in this run" for name in now]
    return tuple(found)


def same_package(project: Project, recorded: str, skill: SkillEntry) -> bool:
    """Compare the skill's folder with what was run: as it lies there, else without the files that git ignores.

    Raises SkillbenchError for a folder that can't be read.
    """
    if digest.package(skill.folder).tree_sha256 == recorded:
        return True
    from .released import working_package

    return working_package(project.root, skill.folder).tree_sha256 == recorded


def _case(name: str, case_sha256: str, fixture_sha256: str | None, case: CaseEntry) -> list[str]:
    found = []
    try:
        if digest.case_digest(read_bounded(case.file, CASE_LIMIT, case.path)) != case_sha256:
            found.append(f"case {name} has changed: case.md differs from what was run")
        fixture = case.folder / "fixture"
        if digest.fixture(fixture if fixture.is_dir() else None) != fixture_sha256:
            found.append(f"case {name} has changed: its fixture differs from what was run")
    except (SkillbenchError, OSError) as error:
        why = error.problems[0].what if isinstance(error, SkillbenchError) else str(error)
        found.append(f"case {name} can't be compared with the run: {why}")
    return found
