"""Where the repository is and where its parts are: root, tests/, skills root, reports, runs.

Gather: the first step of every command and of the plugin; looks at folders and reads ``tests/skillbench.yaml``.
"""

from __future__ import annotations

import os
from pathlib import Path

from . import settings as settings_file
from .errors import Problem, ProjectError
from .model import Settings, Value

TESTS = "tests"
REPORTS = ".reports"


class Project(Value, frozen=True):
    """A repository that follows the convention. All paths are absolute; `tests` and `skills` need not exist yet."""

    root: Path
    tests: Path
    skills: Path
    reports: Path
    runs: Path
    settings: Settings

    def relative(self, path: Path) -> str:
        """Return `path` as a user at the root would type it: with ``/``, absolute only where it is outside."""
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return path.as_posix()

    def holds(self, path: Path) -> bool:
        """Return whether what `path` leads to, links followed, is in the repository; it need not exist."""
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.root))


def find(start: Path, *, runs: Path | None = None, reports: Path | None = None) -> Project:
    """Return the project that `start` (a file or a folder) belongs to.

    Going up from there, the nearest folder with both ``tests/`` and the skills root wins, else the nearest with
    ``.git``, else the nearest with ``tests/``. A folder inside a case's ``fixture/`` is somebody's test data and never
    the root. `runs` and `reports` say where those are instead of ``tests/.reports``. Raises ProjectError where there is
    no such folder and SettingsError where ``tests/skillbench.yaml`` does not parse.
    """
    folder = Path(os.path.realpath(start))
    ancestors = [folder, *folder.parents]
    for inner in reversed(ancestors):
        if inner.name == "fixture" and (inner.parent / "case.md").is_file():
            ancestors = [*inner.parents]
            break
    ancestors = [folder for folder in ancestors if folder.is_dir()]
    with_tests = [folder for folder in ancestors if (folder / TESTS).is_dir()]
    for root in with_tests:
        settings = _settings(root)
        if (root / settings.skills_root).is_dir():
            return _project(root, settings, runs, reports)
    with_git = [folder for folder in ancestors if os.path.lexists(folder / ".git")]
    for root in (*with_git[:1], *with_tests[:1]):
        return _project(root, _settings(root), runs, reports)
    raise ProjectError(
        Problem(
            path=str(start),
            slug="project-no-root",
            what="no repository here or above",
            expected="a folder with tests/ and skills/ in it: go there, or say where with -C DIR",
        )
    )


def _settings(root: Path) -> Settings:
    shown = f"{TESTS}/{settings_file.FILE}"
    return settings_file.load(root / TESTS / settings_file.FILE, shown, Settings(), repo=True)


def _project(root: Path, settings: Settings, runs: Path | None, reports: Path | None) -> Project:
    home = Path(os.path.abspath(reports)) if reports is not None else root / TESTS / REPORTS
    return Project(
        root=root,
        tests=root / TESTS,
        skills=root / settings.skills_root,
        reports=home,
        runs=Path(os.path.abspath(runs)) if runs is not None else root / TESTS / REPORTS,
        settings=settings,
    )
