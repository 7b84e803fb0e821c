"""skills/ and tests/ -> skills with their cases: discovery, the authored order, and every problem of them.

Gather: lists folders, reads SKILL.md front matter and ``skillbench.yaml``; reads no case before `read_case`. Whatever
is wrong is a Problem on its skill or case, and never makes another one disappear.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from . import fixtures
from .errors import CaseError, Problem, SettingsError, SkillbenchError, UsageError, in_order
from .files import read_bounded
from .mirror import Mirror
from .model import Case, Settings, Value
from .naming import case_problem, skill_problems
from .project import REPORTS, Project
from .settings import FILE, load_with_lines
from .skillfile import broken
from .suggest import closest, natural
from .walk import Folder, walk

CASE_FILE = "case.md"
SKILL_FILE = "SKILL.md"
CASE_LIMIT = 1 << 20
_ELSEWHERE = (".claude/skills", ".agents/skills", ".codex/skills")


class CaseEntry(Value, frozen=True):
    """A case that was found, not read. `path` is its folder below the root with ``/``; `problems` are of its place."""

    name: str
    path: str
    folder: Path
    file: Path
    problems: tuple[Problem, ...]


class SkillEntry(Value, frozen=True):
    """A skill that was found. `path` is below the skills root; `tests` its folder of cases, None where there is none.

    `cases` are in authored order: those that `settings.order` names, then the rest in natural order of their names.
    """

    name: str
    path: str
    folder: Path
    tests: Path | None
    settings: Settings
    cases: tuple[CaseEntry, ...]
    problems: tuple[Problem, ...]


class Tree(Value, frozen=True):
    """Everything below skills/ and tests/. `orphans` are cases that map to no skill; `problems` is all, in order.

    `places` finds a case by the real path of its folder.
    """

    project: Project
    skills: tuple[SkillEntry, ...]
    orphans: tuple[CaseEntry, ...]
    problems: tuple[Problem, ...]
    places: dict[str, tuple[SkillEntry | None, CaseEntry]]

    def skill(self, name: str) -> SkillEntry | None:
        """Return the skill with this path below the skills root, else the first with this name."""
        wanted = name.strip("/")
        by_path = (skill for skill in self.skills if skill.path == wanted)
        return next(by_path, None) or next((skill for skill in self.skills if skill.name == name), None)

    def select(self, names: Iterable[str]) -> tuple[SkillEntry, ...]:
        """Return the skills with these names or paths, each once, all for none.

        Raises UsageError for a name that no skill has, or more than one.
        """
        found: dict[str, SkillEntry] = {}
        unknown = []
        for name in (wanted := tuple(names)):
            skill = self.skill(name)
            same = [other.path for other in self.skills if other.name == name]
            if skill is not None and (skill.path == name.strip("/") or len(same) == 1):
                found[skill.path] = skill
            elif skill is not None:
                where = self.project.relative(self.project.skills)
                what = f'{len(same)} skills are named "{name}"'
                unknown.append(Problem(path=where, slug="unknown-skill", what=what, expected=" or ".join(same)))
            else:
                where = self.project.relative(self.project.skills)
                guess = closest(name, [known for s in self.skills for known in (s.path, s.name)])
                unknown.append(Problem(path=where, slug="unknown-skill", what=f'no skill "{name}"', suggestion=guess))
        if unknown:
            raise UsageError(*unknown)
        return tuple(found.values()) if wanted else self.skills

    def no_cases(self, skill: SkillEntry) -> Problem:
        """Return the warning that a skill has no cases."""
        where = f"{self.project.relative(self.project.tests)}/{skill.path}/<case>/{CASE_FILE}"
        shown = f"{self.project.relative(self.project.skills)}/{skill.path}"
        return Problem(path=shown, slug="skill-no-cases", what="no cases", expected=where, severity="warning")

    def entry_for(self, case_md: Path) -> tuple[SkillEntry | None, CaseEntry] | None:
        """Return the case that a ``case.md`` belongs to and its skill (None: it maps to none), by any path to it."""
        if case_md.name != CASE_FILE:
            return None
        return self.places.get(os.path.realpath(case_md.parent))


def discover(project: Project) -> Tree:
    """Return what there is in the project. Raises nothing for bad content: that is among the problems."""
    loose: list[Problem] = []
    found = _skill_folders(project, loose)
    names = skill_problems([(path, project.relative(project.skills / path)) for path in found])
    tests = _test_folders(project, frozenset(found), loose)
    mirror = Mirror(tests, tuple(found), project.relative(project.tests))
    loose += mirror.problems()
    places: dict[str, tuple[SkillEntry | None, CaseEntry]] = {}
    skills = []
    for path, folder in found.items():
        problems = [names[path]] if path in names else []
        problems += _skill_file(project, path, folder)
        skill = _skill(project, path, tests, mirror, problems)
        skills.append(skill)
        places |= {tests[f"{path}/{case.name}"].real: (skill, case) for case in skill.cases}
    orphans = []
    for path, problem in mirror.orphans.items():
        entry = _case(project, path, tests[path], (problem,))
        orphans.append(entry)
        places[tests[path].real] = (None, entry)
    everything = [*loose, *(p for s in skills for p in s.problems)]
    everything += [p for s in skills for c in s.cases for p in c.problems]
    everything += [p for c in orphans for p in c.problems]
    return Tree(
        project=project,
        skills=tuple(skills),
        orphans=tuple(orphans),
        problems=in_order(dict.fromkeys(everything)),
        places=places,
    )


def read_case(entry: CaseEntry) -> Case:
    """Read and parse a case. Raises CaseError, also where the file can't be read or may not be."""
    from .casefile import parse  # the Markdown parser costs more to load than all the rest of a scoring

    shown = f"{entry.path}/{CASE_FILE}"
    barred = [problem for problem in entry.problems if problem.slug == "case-link-leaves"]
    if barred:
        raise CaseError(*barred)
    try:
        data = read_bounded(entry.file, CASE_LIMIT, shown)
    except FileNotFoundError:
        raise CaseError(Problem(path=shown, slug="case-unreadable", what="there is no such file")) from None
    except SkillbenchError as error:
        raise CaseError(*error.problems) from error
    return parse(data, shown)


def fixture_problems(entry: CaseEntry) -> tuple[Problem, ...]:
    """Return what is wrong with a case's ``fixture/``: links that leave, special files, a ``.git``; () for none."""
    return fixtures.problems(entry.folder / fixtures.NAME, f"{entry.path}/{fixtures.NAME}")


# -- skills ------------------------------------------------------------------------------------------------------------


def _skill_folders(project: Project, problems: list[Problem]) -> dict[str, Folder]:
    """Return the folders with a SKILL.md, by path below the skills root, sorted."""
    shown = project.relative(project.skills)
    if not project.skills.is_dir():
        other = next((name for name in _ELSEWHERE if (project.root / name).is_dir()), None)
        expected = f"a folder with skills in it, or skills_root: {other or '…'} in tests/{FILE}"
        problems.append(Problem(path=shown, slug="tree-no-skills-root", what="no such folder", expected=expected))
        return {}
    folders, found = walk(project.skills, project.root, shown, lambda _, name: name != ".git")
    problems += found
    skills = {}
    for path, folder in folders.items():
        for name in (*folder.files, *folder.folders):
            if name.casefold() == SKILL_FILE.casefold() and name != SKILL_FILE:
                where = f"{shown}/{folder.below(name)}"
                what = f'"{name}" makes no skill'
                problems.append(
                    Problem(path=where, slug="skill-spelling", what=what, suggestion=SKILL_FILE, severity="warning")
                )
        if SKILL_FILE not in folder.files and SKILL_FILE not in folder.folders:
            continue
        if path:
            skills[path] = folder
        else:
            what = "a skill needs a folder of its own"
            where = f"{shown}/<name>/{SKILL_FILE}"
            problems.append(
                Problem(
                    path=f"{shown}/{SKILL_FILE}", slug="skill-at-root", what=what, expected=where, severity="warning"
                )
            )
    if not skills:
        what = f"no {SKILL_FILE} below it"
        problems.append(Problem(path=shown, slug="tree-no-skills", what=what, severity="warning"))
    return skills


def _skill_file(project: Project, path: str, folder: Folder) -> list[Problem]:
    shown = f"{project.relative(project.skills)}/{path}/{SKILL_FILE}"
    if SKILL_FILE not in folder.files:
        return [Problem(path=shown, slug="skill-file", what="a folder", expected="a file")]
    file = Path(folder.real) / SKILL_FILE
    if folder.files[SKILL_FILE] and not project.holds(file):
        what = "a link that leaves the repository, not read"
        return [Problem(path=shown, slug="link-leaves", what=what, expected="a file in it", severity="warning")]
    return broken(file, shown)


def _skill(
    project: Project, path: str, tests: dict[str, Folder], mirror: Mirror, problems: list[Problem]
) -> SkillEntry:
    folder = tests.get(path)
    settings, lines = project.settings, dict[str, int]()
    shown = f"{project.relative(project.tests)}/{path}"
    if folder is not None and (FILE in folder.files or FILE in folder.folders):
        try:
            settings, lines = load_with_lines(project.tests / path / FILE, f"{shown}/{FILE}", settings)
        except SettingsError as error:
            problems += error.problems
    names = mirror.cases.get(path, ())
    cases = []
    for name in names:
        problem = case_problem(name, f"{shown}/{name}", names)
        place = f"{path}/{name}"
        cases.append(_case(project, place, tests[place], (problem,) if problem else ()))
    for name, line in lines.items():
        if name not in names:
            what = f'order names a case "{name}" that is not there'
            guess = closest(name, names)
            problems.append(
                Problem(path=f"{shown}/{FILE}", slug="order-unknown", what=what, line=line, suggestion=guess)
            )
    return SkillEntry(
        name=path.rsplit("/", 1)[-1],
        path=path,
        folder=project.skills / path,
        tests=project.tests / path if folder is not None else None,
        settings=settings,
        cases=_ordered(cases, settings.order or ()),
        problems=in_order(problems),
    )


def _ordered(cases: Iterable[CaseEntry], order: tuple[str, ...]) -> tuple[CaseEntry, ...]:
    rank = {name: number for number, name in enumerate(order)}
    return tuple(sorted(cases, key=lambda case: (rank.get(case.name, len(rank)), natural(case.name))))


# -- cases -------------------------------------------------------------------------------------------------------------


def _test_folders(project: Project, skills: frozenset[str], problems: list[Problem]) -> dict[str, Folder]:
    """Return the folders below tests/ that may hold cases: never a fixture's, never the reports."""
    shown = project.relative(project.tests)
    if not project.tests.is_dir():
        expected = "tests/<skill path>/<case>/case.md"
        problems.append(Problem(path=shown, slug="tree-no-tests", what="no such folder", expected=expected))
        return {}
    prefixes = {"/".join(path.split("/")[: i + 1]) for path in skills for i in range(path.count("/") + 1)}
    reports = {os.path.realpath(project.reports), os.path.realpath(project.runs)}

    def enter(folder: Folder, name: str) -> bool:
        if name in (".git", REPORTS) or os.path.join(folder.real, name) in reports:
            return False
        if name != fixtures.NAME:
            return True
        return CASE_FILE not in folder.files and folder.below(name) in prefixes

    folders, found = walk(project.tests, project.root, shown, enter)
    problems += found
    return folders


def _case(project: Project, path: str, folder: Folder, problems: tuple[Problem, ...]) -> CaseEntry:
    file = project.tests / path / CASE_FILE
    if folder.files.get(CASE_FILE) and not project.holds(file):
        what = "a link that leaves the repository, not read"
        where = project.relative(file)
        problems = (*problems, Problem(path=where, slug="case-link-leaves", what=what, expected="a file in it"))
    return CaseEntry(
        name=path.rsplit("/", 1)[-1],
        path=project.relative(file.parent),
        folder=file.parent,
        file=file,
        problems=problems,
    )
