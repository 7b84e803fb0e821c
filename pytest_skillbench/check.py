"""`skillbench check`: every problem of the tests tree and of every case, and what an author would want to be warned of.

Gather: reads every case and fixture of the skills asked for (of all: the scorecard's files too), and unless told not to
runs every hard assertion on a copy of the untouched fixture with an empty output: one that passes there says nothing
about the arm.
"""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import fixtures, gate
from .errors import CaseError, Problem, Severity, in_order
from .hints import hints
from .model import Assertion, Case, GateResult
from .tree import CASE_FILE, CaseEntry, SkillEntry, Tree, fixture_problems, read_case


def check(tree: Tree, names: Collection[str] = (), *, run: bool = True) -> tuple[Problem, ...]:
    """Return all problems and warnings, in order. `names`: only those skills (by name or path), () for everything.

    `run` False leaves the hard assertions alone. Raises nothing for bad content; a name that is no skill finds nothing.
    """
    wanted = {skill.path for name in names if (skill := tree.skill(name)) is not None}
    skills = [skill for skill in tree.skills if not names or skill.path in wanted]
    found: list[Problem] = []
    if names:
        for skill in skills:
            found += skill.problems
            found += [problem for case in skill.cases for problem in case.problems]
    else:
        found += tree.problems
        found += [problem for case in tree.orphans for problem in _read(case, None)[1]]
        found += _scorecard(tree)
    runnable: list[tuple[SkillEntry, CaseEntry, Case]] = []
    for skill in skills:
        if not skill.cases:
            found.append(tree.no_cases(skill))
        for entry in skill.cases:
            case, problems = _read(entry, skill)
            found += problems
            if case is not None and case.assertions and not any(p.severity == "error" for p in problems):
                runnable.append((skill, entry, case))
    if run and runnable:
        found += _run_all(tree, runnable)
    return in_order(dict.fromkeys(found))


def _scorecard(tree: Tree) -> tuple[Problem, ...]:
    """Return what is wrong with the files below the evals root, and with the eval cases beside the tests."""
    from .scorecard.discover import TESTS_FOLDER, discover
    from .scorecard.evaluate import baseline_of

    roots = [tree.project.root / tree.project.settings.evals_root]
    roots += [skill.tests / TESTS_FOLDER for skill in tree.skills if skill.tests is not None]
    if not any(root.is_dir() for root in roots):
        return ()
    found = discover(tree)
    return (*found.problems, *baseline_of(tree.project, found.config)[1])


def _read(entry: CaseEntry, skill: SkillEntry | None) -> tuple[Case | None, list[Problem]]:
    problems = list(fixture_problems(entry))
    try:
        case = read_case(entry)
    except CaseError as error:
        return None, [*problems, *error.problems]
    if skill is not None:
        problems += hints(case, f"{entry.path}/{CASE_FILE}", skill.name)
    return case, problems


# -- running -----------------------------------------------------------------------------------------------------------


def _run_all(tree: Tree, cases: list[tuple[SkillEntry, CaseEntry, Case]]) -> list[Problem]:
    base = os.path.realpath(tempfile.gettempdir())
    root = os.path.realpath(tree.project.root)
    if base == root or base.startswith(f"{root.rstrip('/')}/"):
        what = f"hard assertions were not run: the folder for temporary files, {base}, is inside the repository"
        expected = "TMPDIR outside it"
        shown = tree.project.relative(tree.project.tests)
        return [Problem(path=shown, slug="check-tmpdir", what=what, expected=expected, severity="warning")]
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        results = pool.map(lambda row: _run(row[1], row[2], row[0].settings.gate_timeout_seconds), cases)
        return [problem for problems in results for problem in problems]


def _run(entry: CaseEntry, case: Case, timeout: float) -> list[Problem]:
    shown = f"{entry.path}/{CASE_FILE}"
    problems = []
    for assertion in case.assertions:
        # Each on a copy of its own: an assertion that writes must not make the next one pass.
        with tempfile.TemporaryDirectory(prefix="check-", ignore_cleanup_errors=True) as folder:
            world, output = Path(folder) / "world", Path(folder) / "output.md"
            try:
                world.mkdir()
                output.touch()
                fixtures.copy(entry.folder / fixtures.NAME, world)
            except OSError as error:
                what = f"its fixture can't be copied: {error}"
                return [Problem(path=shown, slug="check-world", what=what, line=case.lines.assertions)]
            (result,) = gate.run([assertion], world, output, timeout)
            if problem := _judge(assertion, result, shown, timeout):
                problems.append(problem)
            _make_removable(folder)
    return problems


def _judge(assertion: Assertion, result: GateResult, shown: str, timeout: float) -> Problem | None:
    name = f'"{assertion.title}"' if assertion.title else "this hard assertion"
    if result.exit_code == 0:
        what = f"{name} already passes on the untouched fixture with an empty output"
        expected = "one that only a good answer passes"
        return _problem(shown, assertion, "assertion-passes", what, expected, warning=True)
    if result.timed_out:
        what = f"{name} did not end within {timeout:g} s on the untouched fixture"
        return _problem(shown, assertion, "assertion-hangs", what, "an end", warning=True)
    if result.exit_code is None:
        return _problem(shown, assertion, "assertion-not-run", f"{name} could not be run: {result.stderr}", None)
    if result.exit_code in (126, 127):
        what = f"{name} ends with {result.exit_code}, a command that is not there: {result.stderr.strip()}"
        return _problem(shown, assertion, "assertion-command", what, "commands that every machine has", warning=True)
    if result.stderr and (reason := _not_shell(assertion)):
        return _problem(shown, assertion, "assertion-syntax", f"{name} is not {assertion.shell}: {reason}", None)
    return None


def _problem(
    shown: str, assertion: Assertion, slug: str, what: str, expected: str | None, *, warning: bool = False
) -> Problem:
    severity: Severity = "warning" if warning else "error"
    return Problem(path=shown, slug=slug, what=what, line=assertion.line, expected=expected, severity=severity)


def _not_shell(assertion: Assertion) -> str | None:
    """Return what the shell says where it can't even read the command; it runs nothing to find out."""
    arguments = [assertion.shell, "-n", "-c", assertion.command, "assertion"]
    done = subprocess.run(  # noqa: S603  # -n reads a command and runs none
        arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
    )
    return done.stderr.decode(errors="replace").strip()[:500] if done.returncode else None


def _make_removable(folder: str) -> None:
    """Give back the rights that an assertion took from its folders, so that they can be removed."""
    for place, folders, _ in os.walk(folder):
        for name in folders:
            path = os.path.join(place, name)
            if not os.path.islink(path):
                os.chmod(path, stat.S_IRWXU)
