"""Where runs lie: ``<skill>.run`` a head-to-head, ``<skill>.scorecard`` a scorecard run, both below the runs folder.

Gather: lists folders, for the commands that serve runs of both kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .project import Project

RUN, SCORECARD = ".run", ".scorecard"


def folders(project: Project, names: Sequence[str], *, scorecards: bool = False) -> list[Path]:
    """Return the folders of the runs of these skills, of all for none, by name; `scorecards`: of scorecard runs only.

    A named skill without any has the folder in which it would be.
    """
    kinds = (SCORECARD,) if scorecards else (RUN, SCORECARD)
    if not names:
        return sorted(folder for kind in kinds for folder in project.runs.glob(f"[!.]*{kind}"))
    found = []
    for name in names:
        places = [project.runs / f"{name}{kind}" for kind in kinds]
        found += [place for place in places if place.is_dir()] or places[:1]
    return found


def is_scorecard(folder: Path) -> bool:
    """Return whether a run's folder is that of a scorecard run."""
    return folder.name.endswith(SCORECARD)


def skill_of(folder: Path) -> str:
    """Return the name of the skill whose run a folder holds."""
    return folder.name.removesuffix(SCORECARD if is_scorecard(folder) else RUN)


def is_started(folder: Path) -> bool:
    """Return whether a run was started here, and not only recorded elsewhere: what its jobs get is in it."""
    return (folder / "frozen").is_dir()
