"""The last evaluations of a repository, by skill: what the reports show of the scorecard.

Gather: reads the config for where they are, and those files. An evaluation that can't be read is a warning, and the
others still stand.
"""

from __future__ import annotations

from ..errors import SkillbenchError
from ..model import Value
from ..project import Project
from . import resultsfile
from .discover import read_config
from .scores import SkillScore

#: As many as the trend ribbons of a report have runs.
SHOWN = 7


class Past(Value, frozen=True):
    """One skill in one evaluation: the file's name and day, its scores, the version of the baseline it was held to."""

    name: str
    date: str
    score: SkillScore
    baseline_version: str | None


def by_skill(project: Project, warnings: list[str]) -> dict[str, tuple[Past, ...]]:
    """Return each skill's part in the last evaluations, oldest first; none for a skill that was not in them."""
    shown = read_config(project)[0].results_path
    found: dict[str, list[Past]] = {}
    try:
        folder = resultsfile.folder_of(project, shown)
    except SkillbenchError as error:
        warnings.extend(str(problem) for problem in error.problems)
        return {}
    for name in resultsfile.names(folder)[-SHOWN:]:
        try:
            evaluation = resultsfile.read(folder, name, shown)
        except SkillbenchError as error:
            warnings.extend(str(problem) for problem in error.problems)
            continue
        version = evaluation.comparison.baseline_version
        for skill, score in evaluation.results.items():
            past = Past(name=name, date=evaluation.date, score=score, baseline_version=version)
            found.setdefault(skill, []).append(past)
    return {skill: tuple(pasts) for skill, pasts in found.items()}
