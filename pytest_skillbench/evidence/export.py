"""A recorded run of ours -> a freeze with its runs imported (``skillbench evidence export``).

Gather: lays the run's cases, fixtures and skill out as a suite in a temporary folder, freezes that, and imports the
new-skill arm as treatment and the no-skill arm as baseline, all before the freeze appears in its place.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from .. import digest
from ..model import Plan, PlannedCase, Value
from ..plan import frozen_fixture, frozen_package
from ..project import Project
from ..record import RunRecord
from ..tree import SkillEntry
from .exported import MOST_ATTEMPTS, MOST_SECONDS, TRANSCRIPT, identifier, limits_of, run_of, whole_run
from .freeze import gather, write
from .grading import criteria_of, fit
from .load import SUITE, Loaded, verify
from .reading import json_bytes, refuse
from .records import VARIANTS, Case, Fixture, Package, Run, Suite
from .runs import retain

LICENSE = "LICENSE"
_LICENSES = (LICENSE, "LICENSE.md", "LICENSE.txt", "LICENCE", "COPYING")


#: Returns what is to be kept of the transcript of a record file's stem and attempt, None for nothing.
Transcripts: TypeAlias = Callable[[str, int], bytes | None]


def no_transcripts(_stem: str, _attempt: int) -> None:
    """Keep no transcript."""


class Exported(Value, frozen=True):
    """What ``export`` says: the freeze, the run that it is of, what is in it, and what to know.

    `runs` are the evidence runs, `transcripts` those of them that have the client's transcript among their artifacts.
    """

    schema_version: int
    directory: str
    suite: str
    benchmark_sha256: str
    run_id: str
    cases: int
    runs: int
    transcripts: int
    packages: tuple[Package, ...]
    notes: tuple[str, ...]


def export(
    project: Project,
    skill: SkillEntry | None,
    record: RunRecord,
    output: Path,
    *,
    license_file: Path | None = None,
    dereference: bool = False,
    transcript: Transcripts = no_transcripts,
) -> Exported:
    """Write the freeze of a recorded run at `output`, which must not exist.

    `skill`: the skill as it is now, from which its files are taken where the record has no frozen copy and nothing has
    changed. `license_file`: the package's LICENSE where it has none; else the nearest above the skill is taken.
    `transcript`: what to keep of each. Raises EvidenceError and OSError; then nothing is at `output`.
    """
    notes: list[str] = []
    with tempfile.TemporaryDirectory(prefix="skillbench-export-") as name:
        folder = Path(name)
        package = _package(project, skill, record, folder, license_file, notes)
        suite = _suite(record, {case.name: _fixtures(skill, record, case, folder) for case in record.plan.cases})
        for case in record.plan.cases:
            (folder / _prompt(case)).parent.mkdir(parents=True, exist_ok=True)
            (folder / _prompt(case)).write_text(_conversation(case), encoding="utf-8", newline="")
        (folder / SUITE).write_bytes(json_bytes(suite))
        sources = gather(folder / SUITE, {identifier(record.plan.skill.name): package}, dereference=dereference)
        runs: list[Run] = []
        said = write(
            sources,
            output,
            protected=[project.skills, project.tests, record.folder],
            then=lambda freeze: runs.extend(_import_all(record, freeze, transcript)),
        )
    notes += _limits(record.plan)
    missing = 2 * sum(case.limits.attempts for case in suite.cases) - len(runs)
    if missing:
        have = "arm run has" if missing == 1 else "arm runs have"
        notes.append(f"{missing} {have} no record, and no run in the freeze")
    return Exported(
        schema_version=1,
        directory=said.directory,
        suite=said.suite,
        benchmark_sha256=said.benchmark_sha256,
        run_id=record.plan.run_id,
        cases=said.cases,
        runs=len(runs),
        transcripts=sum(any(file.path == TRANSCRIPT for file in run.artifacts) for run in runs),
        packages=said.packages,
        notes=tuple(notes),
    )


def _import_all(record: RunRecord, freeze: Path, transcript: Transcripts) -> Iterator[Run]:
    """Import the two arms of every trial that has its place; yield what was imported."""
    loaded = verify(freeze)
    digest_of_freeze = loaded.freeze.manifest.benchmark_sha256
    for case in record.plan.cases:
        for trial in range(1, min(record.plan.trials, MOST_ATTEMPTS) + 1):
            for variant in VARIANTS:
                made = run_of(record, case, trial, variant, digest_of_freeze, transcript)
                if made is not None:
                    yield _imported(loaded, *made)


def _imported(loaded: Loaded, run: Run, artifacts: dict[str, bytes]) -> Run:
    retain(loaded, json_bytes(run), run.id, lambda file: artifacts[file.path])
    return run


def _suite(record: RunRecord, fixtures: dict[str, tuple[Fixture, ...]]) -> Suite:
    plan = record.plan
    skill = identifier(plan.skill.name)
    cases = tuple(
        Case(
            id=identifier(case.name),
            phase="exploratory",
            class_="functional",
            prompt=_prompt(case),
            fixtures=fixtures[case.name],
            skills=(skill,),
            criteria=criteria_of(case),
            limits=limits_of(plan),
        )
        for case in plan.cases
    )
    text = f"Run {plan.run_id} of the skill {plan.skill.path}: the new skill (treatment) against no skill (baseline)"
    return Suite(schema_version=1, id=skill, description=fit("; ".join([text, *whole_run(plan)])), cases=cases)


def _prompt(case: PlannedCase) -> str:
    return f"prompts/{identifier(case.name)}.md"


def _conversation(case: PlannedCase) -> str:
    """Return the case's prompt, behind the turns that come before it where there are any."""
    turns = [f"[{turn.role}]\n{turn.text}" for turn in case.seed_turns]
    return "\n\n".join([*turns, f"[user]\n{case.prompt}"]) if turns else case.prompt


def _limits(plan: Plan) -> list[str]:
    notes = whole_run(plan)
    if plan.settings.arm_timeout_minutes * 60 > MOST_SECONDS:
        notes.append(f"arms had {plan.settings.arm_timeout_minutes:g} minutes; a case's limit is {MOST_SECONDS:,} s")
    if plan.shape == "three-arm":
        notes.append("the previous version's arms have no place in the format and were left out")
    return notes


# -- files -------------------------------------------------------------------------------------------------------------


def _package(
    project: Project,
    skill: SkillEntry | None,
    record: RunRecord,
    folder: Path,
    license_file: Path | None,
    notes: list[str],
) -> Path:
    """Return a copy of the skill as it was run, with a LICENSE."""
    plan = record.plan
    copy = folder / "package"
    frozen = frozen_package(record.folder, "new-skill")
    if frozen.is_dir():
        shutil.copytree(frozen, copy, symlinks=True)
    elif skill is not None:
        from ..released import materialize_working

        materialize_working(project.root, skill.folder, copy)
    if not copy.is_dir() or digest.package(copy).tree_sha256 != plan.packages.new_skill.tree_sha256:
        expected = "the run's frozen copy, or a skill that has not changed since"
        raise refuse("The run's package is not available.", f"{record.shown}/plan.json", "$.packages", expected)
    if not os.path.lexists(copy / LICENSE):
        found = license_file or _nearest_license(project, plan)
        if found is not None:
            (copy / LICENSE).write_bytes(found.read_bytes())
            shown = project.relative(found)
            notes.append(f"the package's LICENSE is a copy of {shown}, so its digest is not the run's")
    return copy


def _nearest_license(project: Project, plan: Plan) -> Path | None:
    """Return the license file nearest above the skill, inside the repository."""
    folder = project.skills / plan.skill.path
    above = [parent for parent in (folder, *folder.parents) if parent.is_relative_to(project.root)]
    files = (parent / name for parent in above for name in _LICENSES)
    return next((file for file in files if file.is_file() and not file.is_symlink()), None)


def _fixtures(skill: SkillEntry | None, record: RunRecord, case: PlannedCase, folder: Path) -> tuple[Fixture, ...]:
    """Copy a case's fixture below `folder` and return its files."""
    if case.fixture_sha256 is None:
        return ()
    source = frozen_fixture(record.folder, case.name)
    if source is None:
        entry = next((entry for entry in skill.cases if entry.name == case.name), None) if skill is not None else None
        source = entry.folder / "fixture" if entry is not None else None
    if source is None or digest.fixture(source if source.is_dir() else None) != case.fixture_sha256:
        expected = "the run's frozen copy, or a fixture that has not changed since"
        raise refuse(f"The fixture of case {case.name} is not available.", f"{record.shown}/plan.json", None, expected)
    place = f"fixtures/{identifier(case.name)}"
    shutil.copytree(source, folder / place, symlinks=True)
    found = []
    for parent, _, files in os.walk(folder / place):
        for file in files:
            path = Path(parent, file)
            target = path.relative_to(folder / place).as_posix()
            found.append(Fixture(path=f"{place}/{target}", target=target))
    return tuple(sorted(found, key=lambda fixture: fixture.target.encode("utf-8", "surrogateescape")))
