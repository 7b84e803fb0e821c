"""Remake every golden record and transcript from `source/`: ``python -m checks.golden.make`` in the repository's root.

Deterministic: no clock, no random; the same sources, cases and skills give the same bytes. Run it after any change to a
demo skill, one of its cases or fixtures, or a source file, and commit what it writes: ``runs/``, ``transcripts/`` and
``variants/``, which it makes anew. The gate results are real: every hard assertion is run on the fixture as the recorded
changes leave it. It stops where a judge's quote is not in the output it is taken from.
"""

from __future__ import annotations

import difflib
import hashlib
import shutil
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from pytest_skillbench import casefile, digest, formats
from pytest_skillbench.model import (
    ArmName,
    ArmRecord,
    Audit,
    Base,
    Case,
    Change,
    ComparisonName,
    JudgementRecord,
    Narrative,
    Order,
    OutputRef,
    Packages,
    Plan,
    PlannedCase,
    Request,
    Settings,
    Shape,
    SkillRef,
    Temperature,
    arms_of,
    comparisons_of,
)

from . import variants
from .conversations import agent_id, arm_talk
from .gates import run_gate
from .judges import judgement
from .main_session import Job, main_session
from .recipes import DECISION_RECORD, HERE, RECIPES, RELEASE_NOTES, Recipe
from .sessions import VERSION, Talk, name, number, uuid
from .sources import Wrote, final_files, load

ROOT = HERE.parent.parent
JOBS_AT_ONCE = 10


@dataclass
class Run:
    """Everything that one run's folder holds, before it is written."""

    plan: Plan
    arms: dict[tuple[str, int, ArmName], ArmRecord]
    outputs: dict[tuple[str, int, ArmName], str]
    diffs: dict[tuple[str, int, ArmName], str]
    judgements: dict[tuple[str, int, ComparisonName, int], JudgementRecord]
    narrative: Narrative | None
    talks: dict[tuple[str, int, ArmName], Talk]
    jobs: list[Job]
    session: str


def cases_of(recipe: Recipe) -> dict[str, tuple[Path, Case]]:
    """Return the skill's cases by name, in natural order, each with its folder."""
    folders = sorted((ROOT / "tests" / recipe.path).glob("*/case.md"))
    return {f.parent.name: (f.parent, casefile.parse(f.read_bytes(), str(f.relative_to(ROOT)))) for f in folders}


def texts(folder: Path) -> dict[str, str]:
    """Return a folder's files by their path in it; empty where there is no such folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}


def make_plan(recipe: Recipe, only: Iterable[str] = ()) -> Plan:
    """Return the run's plan with digests of what is in the tree now; `only` names the cases of a variant."""
    chosen = {n: found for n, found in cases_of(recipe).items() if not only or n in set(only)}
    shape: Shape = "three-arm" if recipe.previous else "two-arm"
    planned = tuple(_planned(recipe, name_, folder, case) for name_, (folder, case) in chosen.items())
    return Plan(
        schema_version=1,
        run_id=recipe.run_id,
        skill=SkillRef(name=recipe.skill, path=recipe.path),
        created_at=f"{recipe.created_at:%Y-%m-%dT%H:%M:%SZ}",
        shape=shape,
        trials=5,
        base=Base(branch="main", ref="refs/remotes/origin/main", commit=recipe.commit),
        base_reason=recipe.base_reason,
        settings=Settings(),
        host="claude-code",
        seed=recipe.seed,
        packages=Packages(
            new_skill=digest.package(ROOT / "skills" / recipe.path),
            previous_version=None if recipe.previous is None else digest.package(recipe.previous),
        ),
        cases=planned,
        orders={
            f"{case.name}.{trial}.{comparison.name}": order
            for case in planned
            for comparison in comparisons_of(shape)
            for trial, order in enumerate(_orders(f"{recipe.seed} {case.name} {comparison.name}"), 1)
        },
        suite_sha256=digest.suite_digest((c.name, c.case_sha256, c.fixture_sha256) for c in planned),
        program="pytest-skillbench 0.1.0",
        example=True,
    )


def _planned(recipe: Recipe, case_name: str, folder: Path, case: Case) -> PlannedCase:
    fixture = folder / "fixture"
    return PlannedCase(
        name=case_name,
        path=f"tests/{recipe.path}/{case_name}",
        description=case.description,
        case_sha256=digest.case_digest((folder / "case.md").read_bytes()),
        fixture_sha256=digest.fixture(fixture if fixture.is_dir() else None),
        prompt=case.prompt,
        seed_turns=case.seed_turns,
        assertions=case.assertions,
        criteria=case.criteria,
    )


def _orders(key: str) -> list[Order]:
    """Return the order of each of five trials: two or three of each kind, which and where by the key."""
    firsts = 2 + number(f"{key} firsts", 0, 1)
    ranked = sorted(range(5), key=lambda trial: name(f"{key} {trial}"))
    return ["new-first" if trial in ranked[:firsts] else "new-second" for trial in range(5)]


def make_run(
    recipe: Recipe,
    only: Iterable[str] = (),
    changed: Mapping[tuple[str, int, ArmName], Wrote] | None = None,
    unjudged: Container[tuple[str, int, str]] = (),
) -> Run:
    """Return a whole run. For a variant, `changed` replaces what single arms wrote, `unjudged` leaves judgements out."""
    plan = make_plan(recipe, only)
    session = uuid(f"{recipe.run_id} session")
    run = Run(plan, {}, {}, {}, {}, None, {}, [], session)
    skills: dict[ArmName, dict[str, str] | None] = {
        "new-skill": texts(ROOT / "skills" / recipe.path),
        "previous-version": texts(recipe.previous) if recipe.previous else None,
        "no-skill": None,
    }
    cases = cases_of(recipe)
    for planned in plan.cases:
        folder, case = cases[planned.name]
        wrote, said = load(recipe.skill, planned.name)
        fixture = texts(folder / "fixture")
        for trial in range(1, plan.trials + 1):
            for arm in arms_of(plan.shape):
                key = (planned.name, trial, arm)
                mine = (changed or {}).get(key, wrote[trial, arm])
                label, at = _job(recipe, len(run.talks))
                run.talks[key] = arm_talk(label, session, at, case, mine, fixture, skills[arm])
                run.jobs.append(Job(label=label, agent=agent_id(label), reply=mine.reply, talk=run.talks[key]))
                run.outputs[key] = mine.reply
                run.arms[key], run.diffs[key] = _arm(plan, key, mine, fixture, case, run.talks[key], at)
        for item in said:
            if (planned.name, item.trial, item.comparison) not in unjudged:
                made = judgement(plan, planned.name, item, run.outputs, run.arms)
                run.judgements[planned.name, item.trial, made.comparison, item.seat] = made
    if recipe.narrative:
        found = {"schema_version": 1, "run_id": recipe.run_id, "sentences": recipe.narrative}
        run.narrative = msgspec.convert(found, Narrative)
    return run


def _job(recipe: Recipe, at: int) -> tuple[str, datetime]:
    """Return the label and the start of the run's job number `at`: ten at a time, a batch every three minutes or so."""
    label = f"{recipe.run_id.rsplit('-', 1)[1]}.{name(f'{recipe.run_id} job {at}', 3).lower()}"
    batch = at // JOBS_AT_ONCE
    wait = 41 + batch * 187 + number(f"{label} start", 0, 9)
    return label, recipe.created_at + timedelta(seconds=wait, milliseconds=number(f"{label} ms", 0, 999))


def _arm(
    plan: Plan,
    key: tuple[str, int, ArmName],
    wrote: Wrote,
    fixture: dict[str, str],
    case: Case,
    talk: Talk,
    at: datetime,
) -> tuple[ArmRecord, str]:
    after = final_files(fixture, wrote)
    case_name, trial, arm = key
    data = wrote.reply.encode()
    record = ArmRecord(
        schema_version=1,
        run_id=plan.run_id,
        case=case_name,
        trial=trial,
        arm=arm,
        status="ok",
        detail=None,
        attempt=1,
        output=OutputRef(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data)),
        changes=tuple(_changes(fixture, after)),
        host="claude-code",
        host_version=VERSION,
        model=talk.model,
        effort=None,
        temperature=Temperature(requested=None, applied=None),
        started_at=f"{at:%Y-%m-%dT%H:%M:%SZ}",
        duration_ms=round((talk.at - at).total_seconds() * 1000),
        requests=tuple(msgspec.convert(request, Request) for request in talk.requests),
        usage_complete=True,
        usage_notes=(),
        turns=talk.turns,
        tool_calls=dict(sorted(talk.tool_calls.items())),
        gate=tuple(run_gate(case.assertions, after, wrote.reply, f"{plan.run_id} {key}")) if arm == "new-skill" else (),
        audit=Audit(skill_loaded=arm != "no-skill", findings=()),
    )
    return record, _diff(fixture, after)


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for path in sorted(after):
        if before.get(path) != after[path]:
            data = after[path].encode()
            yield Change(
                path=path,
                change="modified" if path in before else "added",
                sha256=hashlib.sha256(data).hexdigest(),
                bytes=len(data),
            )


def _diff(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    return "".join(
        line
        for path in sorted(after)
        if before.get(path) != after[path]
        for line in difflib.unified_diff(
            before.get(path, "").splitlines(keepends=True),
            after[path].splitlines(keepends=True),
            f"a/{path}" if path in before else "/dev/null",
            f"b/{path}",
        )
    )


def write(run: Run, folder: Path) -> None:
    """Write a run's record."""
    _put(folder / "plan.json", formats.encode(run.plan))
    for (case, trial, arm), record in run.arms.items():
        stem = f"{case}.{trial}.{arm}"
        _put(folder / "arms" / f"{stem}.json", formats.encode(record))
        if record.output is not None:
            _put(folder / "outputs" / f"{stem}.md", run.outputs[case, trial, arm].encode())
            if diff := run.diffs[case, trial, arm]:
                _put(folder / "changes" / f"{stem}.diff", diff.encode())
    for (case, trial, comparison, seat), made in run.judgements.items():
        last = "" if seat == 1 else f".{seat}"
        _put(folder / "judgements" / f"{case}.{trial}.{comparison}{last}.json", formats.encode(made))
    if run.narrative is not None:
        _put(folder / "narrative.json", formats.encode(run.narrative))


def write_transcripts(run: Run, folder: Path) -> None:
    """Write the session that a run's arms came from, and which job was which arm."""
    project = folder / "projects" / "-home-dev-courier"
    _put(project / f"{run.session}.jsonl", main_session(run.plan, run.session, run.jobs))
    for job in run.jobs:
        stem = project / run.session / "subagents" / f"agent-{job.agent}"
        _put(stem.with_suffix(".jsonl"), ("\n".join(job.talk.lines) + "\n").encode())
        meta = {"agentType": "skillbench-arm", "description": job.label}
        _put(stem.with_suffix(".meta.json"), msgspec.json.encode(meta))
    labels = {job.label: ".".join(map(str, key)) for job, key in zip(run.jobs, run.talks, strict=True)}
    _put(folder / "jobs.json", msgspec.json.format(msgspec.json.encode(labels), indent=1) + b"\n")


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def main(target: Path = HERE) -> None:
    """Make everything anew below `target`."""
    for folder in ("runs", "transcripts", "variants"):
        shutil.rmtree(target / folder, ignore_errors=True)
    for recipe in RECIPES:
        run = make_run(recipe)
        write(run, target / "runs" / f"{recipe.skill}.run")
        write_transcripts(run, target / "transcripts" / recipe.skill)
    for variant, made in variants.all_of(make_run, RELEASE_NOTES, DECISION_RECORD):
        write(made, target / "variants" / variant / f"{made.plan.skill.name}.run")


if __name__ == "__main__":
    main()
