"""A skill, its cases and its released version -> a run's plan, and the frozen copies that go with it.

Gather. What is frozen here is what the arms get: later edits of the skill, a case or a fixture make the run STALE and
never leak into it. Randomness and the clock come in as arguments, so that the same inputs give the same plan.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from . import __version__, digest, prompts
from .errors import Problem, SkillbenchError, in_order
from .files import write_atomic
from .formats import encode
from .model import (
    ArmName,
    Base,
    Case,
    Comparison,
    Order,
    PackageDigest,
    Packages,
    Plan,
    PlannedCase,
    Shape,
    SkillRef,
    Value,
    comparisons_of,
)

if TYPE_CHECKING:
    from .project import Project
    from .tree import CaseEntry, SkillEntry

FROZEN = "frozen"
NEW_FIRST: list[Order] = ["new-first"]
NEW_SECOND: list[Order] = ["new-second"]


class Previous(Value, frozen=True):
    """The released version of a skill, or why there is none: `reason` is set exactly where `package` is not."""

    base: Base | None
    reason: str | None
    package: PackageDigest | None


def make(
    skill: SkillEntry,
    cases: list[tuple[CaseEntry, Case, str | None]],
    working: PackageDigest,
    previous: Previous,
    *,
    host: str,
    trials: int | None,
    now: datetime,
    seed: int,
) -> Plan:
    """Return the plan of a run.

    `cases` are in authored order, each with its parsed text and its fixture's digest. `trials` overrides the skill's
    setting. `seed` is 0..2**53; it decides the A/B orders and the run id's suffix.
    """
    shape: Shape = "two-arm" if previous.package is None else "three-arm"
    settings = msgspec.structs.replace(skill.settings, trials=trials or skill.settings.trials)
    chance = random.Random(seed)  # noqa: S311 - balance, not secrecy; recorded so that it can be checked
    planned = tuple(
        PlannedCase(
            name=entry.name,
            path=entry.path,
            description=case.description,
            case_sha256=case.sha256,
            fixture_sha256=fixture,
            prompt=case.prompt,
            seed_turns=case.seed_turns,
            assertions=case.assertions,
            criteria=case.criteria,
        )
        for entry, case, fixture in cases
    )
    orders: dict[str, Order] = {}
    for comparison in comparisons_of(shape):
        orders |= balanced_orders([case.name for case in planned], settings.trials, comparison, chance)
    return Plan(
        schema_version=1,
        run_id=f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{chance.getrandbits(24):06x}",
        skill=SkillRef(name=skill.name, path=skill.path),
        created_at=f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        shape=shape,
        trials=settings.trials,
        base=previous.base,
        base_reason=previous.reason,
        settings=settings,
        host=host,
        seed=seed,
        packages=Packages(new_skill=working, previous_version=previous.package),
        cases=planned,
        orders=orders,
        suite_sha256=digest.suite_digest((case.name, case.case_sha256, case.fixture_sha256) for case in planned),
        program=f"pytest-skillbench {__version__}",
        prompts_sha256=prompts.digest(),
    )


def balanced_orders(cases: list[str], trials: int, comparison: Comparison, chance: random.Random) -> dict[str, Order]:
    """Return who is shown as A in each trial: half of a case's trials each way, odd ones evened out over cases.

    A judge that always answers A then helps and harms the new arm alike, and the position balance shows it.
    """
    orders: dict[str, Order] = {}
    first_gets_more = chance.random() < 0.5
    for number, case in enumerate(cases):
        more = (number % 2 == 0) == first_gets_more
        firsts = (trials + more) // 2
        drawn = firsts * NEW_FIRST + (trials - firsts) * NEW_SECOND
        chance.shuffle(drawn)
        orders |= {f"{case}.{trial}.{comparison.name}": order for trial, order in enumerate(drawn, 1)}
    return orders


def freeze(
    project: Project, plan: Plan, entries: Sequence[CaseEntry], packages: Mapping[ArmName, Callable[[Path], object]]
) -> Path:
    """Write the run record of a new plan with its frozen copies and return its folder.

    `packages` has for each with-skill arm a function that writes its skill version into a folder. The record appears
    whole, in place of an earlier run's. Raises SkillbenchError where a copy does not have the digest that the plan
    names, since something changed in between.
    """
    target = project.runs / f"{plan.skill.name}.run"
    project.runs.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".new-run.", dir=project.runs))
    try:
        building.chmod(0o755)
        for name in ("arms", "judgements", "outputs", "changes"):
            (building / name).mkdir()
        frozen = building / FROZEN
        for arm, write in packages.items():
            folder = frozen / "packages" / arm
            folder.mkdir(parents=True)
            write(folder)
        for entry in entries:
            folder = frozen / "cases" / entry.name
            folder.mkdir(parents=True)
            shutil.copyfile(entry.file, folder / "case.md")
            if (entry.folder / "fixture").is_dir():
                shutil.copytree(entry.folder / "fixture", folder / "fixture", symlinks=True)
        _verify(plan, building, project.relative(target))
        write_atomic(building / "plan.json", encode(plan))
        put_in_place(target, building)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    return target


def _verify(plan: Plan, folder: Path, shown: str) -> None:
    """Hold every frozen copy to the plan's digest."""
    packages = {"new-skill": plan.packages.new_skill, "previous-version": plan.packages.previous_version}
    wrong = [
        f"frozen/packages/{name}"
        for name, package in packages.items()
        if package is not None and digest.package(frozen_package(folder, name)).tree_sha256 != package.tree_sha256
    ]
    for case in plan.cases:
        copy = folder / FROZEN / "cases" / case.name
        if digest.case_digest((copy / "case.md").read_bytes()) != case.case_sha256:
            wrong.append(f"frozen/cases/{case.name}/case.md")
        if digest.fixture(frozen_fixture(folder, case.name)) != case.fixture_sha256:
            wrong.append(f"frozen/cases/{case.name}/fixture")
    if wrong:
        what = "changed while it was being frozen; run `skillbench start` again"
        raise SkillbenchError(*in_order(Problem(path=f"{shown}/{path}", slug="freeze", what=what) for path in wrong))


def check_frozen(plan: Plan, folder: Path, shown: str, case: PlannedCase, arm: ArmName) -> None:
    """Hold the frozen copies that an arm is given to the plan. Raises SkillbenchError where one was changed since."""
    packages = {"new-skill": plan.packages.new_skill, "previous-version": plan.packages.previous_version}
    wrong = []
    package = packages.get(arm)
    if package is not None and digest.package(frozen_package(folder, arm)).tree_sha256 != package.tree_sha256:
        wrong.append(f"packages/{arm}")
    if digest.fixture(frozen_fixture(folder, case.name)) != case.fixture_sha256:
        wrong.append(f"cases/{case.name}/fixture")
    if wrong:
        what, expected = "is not what was frozen when the run was started", "skillbench start --fresh"
        raise SkillbenchError(
            *(Problem(path=f"{shown}/{FROZEN}/{path}", slug="frozen", what=what, expected=expected) for path in wrong)
        )


def put_in_place(target: Path, building: Path) -> None:
    """Put the new record in the place of an old one; a kill in between leaves one of the two, whole."""
    if not target.exists():
        building.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=".old-run.", dir=target.parent))
    target.rename(old / "run")
    building.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def frozen_package(folder: Path, arm: str) -> Path:
    """Return the frozen skill version of an arm in a run record."""
    return folder / FROZEN / "packages" / arm


def frozen_fixture(folder: Path, case: str) -> Path | None:
    """Return the frozen fixture of a case in a run record, None for a case without one."""
    fixture = folder / FROZEN / "cases" / case / "fixture"
    return fixture if fixture.is_dir() else None
