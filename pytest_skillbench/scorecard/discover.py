"""The files of a scorecard in a repository: its config, and every case of every skill, with all that is wrong.

Gather: lists folders and reads files. Cases lie in ``<evals root>/cases/<skill>/*.yaml`` and in
``tests/<skill path>/evals/*.yaml``. Whatever is wrong is a Problem, and never makes another case disappear.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import msgspec

from ..errors import Problem, SkillbenchError, in_order
from ..files import read_bounded
from ..model import Value
from ..project import Project
from ..suggest import closest, natural
from ..tree import SkillEntry, Tree
from .cases import Draft, Lost, parse
from .config import FILE, Config, default
from .config import parse as parse_config
from .ids import LostCase, finish, lost_case, slugs
from .records import Context, ContextFile, EvalCase

LIMIT = 1 << 20
CONTEXT_LIMIT = 16 << 20
TESTS_FOLDER = "evals"


class CaseFile(Value, frozen=True):
    """A file of cases: its path below the root, and the folder that says whose they are."""

    path: str
    file: Path
    place: str


class Found(Value, frozen=True):
    """The config, the cases by the name of their skill in the order of their files, all problems in order.

    `lost`: the documents (or files) that can't be used, by the name of the skill whose folder they are in.
    """

    config: Config
    cases: dict[str, tuple[EvalCase, ...]]
    lost: dict[str, tuple[LostCase, ...]]
    problems: tuple[Problem, ...]


def discover(tree: Tree) -> Found:
    """Return what there is in a project. Raises nothing for bad content: that is among the problems."""
    config, wrong = read_config(tree.project)
    problems = [*wrong, *_unknown_targets(tree, config)]
    files = list(_files(tree, config, problems))
    names = _file_slugs(files)
    cases: dict[str, list[EvalCase]] = {}
    lost: dict[str, list[LostCase]] = {}
    for file in files:
        found, unusable = _cases(tree, file, names[file.path], problems)
        lost.setdefault(file.place, []).extend(lost_case(file.path, names[file.path], each) for each in unusable)
        for case in found:
            cases.setdefault(case.skill, []).append(case)
    return Found(
        config=config,
        cases={skill: tuple(found) for skill, found in sorted(cases.items())},
        lost={skill: tuple(unusable) for skill, unusable in sorted(lost.items()) if unusable},
        problems=in_order(dict.fromkeys(problems)),
    )


def _file_slugs(files: Iterable[CaseFile]) -> dict[str, str]:
    """Return a slug of each file by its path, unique among those of its skill."""
    stems: dict[str, dict[str, str]] = {}
    for file in files:
        stems.setdefault(file.place, {})[file.path] = PurePosixPath(file.path).stem
    return {path: short for of_skill in stems.values() for path, short in slugs(of_skill).items()}


def read_config(project: Project) -> tuple[Config, tuple[Problem, ...]]:
    """Return the repository's config with its problems; the defaults where there is no ``config.yaml``."""
    root = project.settings.evals_root
    shown = f"{root}/{FILE}"
    if not project.holds(project.root / shown):
        return default(root), (_leaves(shown),)
    try:
        data = read_bounded(project.root / shown, LIMIT, shown)
    except FileNotFoundError:
        return default(root), ()
    except SkillbenchError as error:
        return default(root), error.problems
    return parse_config(data, shown, root)


def _leaves(shown: str) -> Problem:
    what = "a link that leaves the repository, not read"
    return Problem(path=shown, slug="link-leaves", what=what, expected="a file in it")


def _unknown_targets(tree: Tree, config: Config) -> list[Problem]:
    known = [skill.name for skill in tree.skills]
    shown = f"{tree.project.settings.evals_root}/{FILE}"
    return [
        Problem(
            path=shown,
            line=config.lines.get(name),
            slug="evals-unknown-skill",
            what=f'no skill "{name}"',
            expected=f"a skill in {tree.project.relative(tree.project.skills)}",
            suggestion=closest(name, known),
        )
        for name in config.targets or ()
        if tree.skill(name) is None
    ]


# -- files -------------------------------------------------------------------------------------------------------------


def _files(tree: Tree, config: Config, problems: list[Problem]) -> Iterator[CaseFile]:
    project = tree.project
    root = project.root / config.cases_path
    if config.cases_path != default(project.settings.evals_root).cases_path and not root.is_dir():
        shown = f"{project.settings.evals_root}/{FILE}"
        what = f'eval_cases.path "{config.cases_path}" is no folder, so no case is read there'
        problems.append(Problem(path=shown, slug="evals-no-cases", what=what, severity="warning"))
    for name in _entries(root, config.cases_path, problems):
        if (root / name).is_dir():
            yield from _folder(project, root / name, f"{config.cases_path}/{name}", name, problems)
        elif name.casefold().endswith((".yaml", ".yml")):
            what = "a case file outside of a skill's folder, not read"
            where = f"{config.cases_path}/<skill>/{name}"
            shown = f"{config.cases_path}/{name}"
            problems.append(Problem(path=shown, slug="eval-file", what=what, expected=where, severity="warning"))
    for skill in tree.skills:
        if skill.tests is not None and (skill.tests / TESTS_FOLDER).is_dir():
            shown = f"{project.relative(skill.tests)}/{TESTS_FOLDER}"
            yield from _folder(project, skill.tests / TESTS_FOLDER, shown, skill.name, problems)


def _folder(project: Project, folder: Path, shown: str, place: str, problems: list[Problem]) -> Iterator[CaseFile]:
    for name in _entries(folder, shown, problems):
        path, file = f"{shown}/{name}", folder / name
        if name.casefold().endswith((".yaml", ".yml")) and not name.endswith(".yaml"):
            what, expected = "not read", "the ending .yaml"
            problems.append(Problem(path=path, slug="eval-file", what=what, expected=expected, severity="warning"))
        elif name.endswith(".yaml"):
            if not project.holds(file):
                problems.append(_leaves(path))
            else:
                yield CaseFile(path=path, file=file, place=place)


def _entries(folder: Path, shown: str, problems: list[Problem]) -> list[str]:
    """Return the names in a folder that are not hidden, in natural order; none where there is no such folder."""
    try:
        names = [name for name in os.listdir(folder) if not name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        problems.append(Problem(path=shown, slug="evals-unreadable", what=f"can't be read: {error.strerror}"))
        return []
    return sorted(names, key=natural)


# -- cases -------------------------------------------------------------------------------------------------------------


def _cases(tree: Tree, file: CaseFile, file_slug: str, problems: list[Problem]) -> tuple[list[EvalCase], list[Lost]]:
    """Return the cases in a file, and which of its documents can't be used."""
    try:
        parsed = parse(read_bounded(file.file, LIMIT, file.path), file.path)
    except FileNotFoundError:
        problems.append(Problem(path=file.path, slug="eval-file", what="a link that leads nowhere"))
        return [], [Lost(line=1)]
    except SkillbenchError as error:
        problems += error.problems
        return [], [Lost(line=1)]
    problems += parsed.problems
    names = slugs({draft.name: draft.name for draft in parsed.drafts})
    cases, lost = [], list(parsed.lost)
    for draft in parsed.drafts:
        skill = _skill(tree, file, draft, problems)
        if skill is None:
            lost.append(Lost(line=draft.line, category=draft.category))
            continue
        context = _with_files(tree.project, file, draft, problems)
        cases.append(finish(draft, file.path, file_slug, names[draft.name], skill.name, context))
    return cases, sorted(lost, key=lambda each: each.line)


def _skill(tree: Tree, file: CaseFile, draft: Draft, problems: list[Problem]) -> SkillEntry | None:
    """Return the skill that a case is of; None, with a problem, where there is none or the folder is another's."""

    def refuse(what: str, expected: str | None, suggestion: str | None) -> None:
        line = draft.lines["skill"]
        problems.append(
            Problem(
                path=file.path,
                line=line,
                slug="eval-case-skill",
                what=what,
                expected=expected,
                suggestion=suggestion,
            )
        )

    skill = tree.skill(draft.skill)
    if skill is None:
        known = [name for entry in tree.skills for name in (entry.name, entry.path)]
        where = f"a skill in {tree.project.relative(tree.project.skills)}"
        refuse(f'no skill "{draft.skill}"', where, closest(draft.skill, known))
        return None
    if Counter(entry.name for entry in tree.skills)[skill.name] > 1:
        refuse(f'two skills are named "{skill.name}"', "unique names of skills", None)
        return None
    if file.place != skill.name:
        refuse(f'a case of "{draft.skill}" in the folder of "{file.place}"', "the skill of its folder", file.place)
        return None
    return skill


def _with_files(project: Project, file: CaseFile, draft: Draft, problems: list[Problem]) -> Context:
    """Return a case's context with where its files are and what is in them; they lie beside the case file."""
    files = []
    for item in draft.context.files:
        if item.source is None:
            files.append(item)
            continue
        shown = f"{PurePosixPath(file.path).parent}/{item.source}"
        digest = None
        try:
            place = project.root / shown
            if project.holds(place):
                digest = hashlib.sha256(read_bounded(place, CONTEXT_LIMIT, shown)).hexdigest()
        except FileNotFoundError:
            pass  # said below, since a case without its file is still a case
        except SkillbenchError as error:
            problems += error.problems
        if digest is None:
            line = draft.lines["context"]
            what = f'the file "{item.path}" of the case "{draft.name}" is not there, so it can\'t be run as it is meant'
            problems.append(
                Problem(path=file.path, line=line, slug="eval-case-file", what=what, expected=shown, severity="warning")
            )
        files.append(ContextFile(path=item.path, source=shown, sha256=digest))
    return msgspec.structs.replace(draft.context, files=tuple(files))
