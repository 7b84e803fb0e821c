"""Small projects and complete run records on disk, for the tests that read real files.

A run is spelled as strips of letters, one letter a trial: W, T, L; X a failed hard assertion, no judge asked; ? the
other arm timed out; J a malformed judgement. Digests come from `digest`, orders are balanced, and every file is one
that the program itself could have recorded, so nothing is STALE or INVALID by accident.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path

from pytest_skillbench import digest, tree
from pytest_skillbench.formats import encode
from pytest_skillbench.model import (
    ArmName,
    ArmRecord,
    Audit,
    Base,
    Case,
    Comparison,
    CriterionJudgement,
    GateResult,
    JudgementRecord,
    Order,
    OutputRef,
    Packages,
    Plan,
    PlannedCase,
    Record,
    Request,
    Shape,
    SkillRef,
    Temperature,
    Winner,
    arms_of,
    comparisons_of,
)
from pytest_skillbench.project import find
from pytest_skillbench.tree import SkillEntry

RUN_ID = "20261130T221005Z-7f3a9c"
NOW = "2026-11-30T22:10:05Z"
HOST, MODEL = "claude-code", "claude-sonnet-4-5"

CASE = """\
---
description: Finds what is wrong
tags: [smoke]
---
## Prompt
Please review the file in this folder.

## Hard assertions
```sh
test -s "$OUTPUT"
```

## Soft criteria
- Names the mistake.
"""
UNGATED = CASE.split("## Hard assertions")[0] + "## Soft criteria\n- Names the mistake.\n"

#: What a case's letters are: efficacy alone (two-arm), or efficacy and regression (three-arm).
Strips = Mapping[str, str | tuple[str, str]]


def write_skill(root: Path, path: str, cases: Mapping[str, str] | None = None) -> None:
    """Write ``skills/<path>`` and its cases below ``tests/``, name -> text of case.md. Creates the project."""
    folder = root / "skills" / path
    folder.mkdir(parents=True, exist_ok=True)
    name = path.rsplit("/", 1)[-1]
    (folder / "SKILL.md").write_text(
        f"---\nname: {name}\ndescription: Reviews code.\n---\nRead, then say what is wrong.\n"
    )
    for case, text in (cases or {}).items():
        write_case(root, f"{path}/{case}", text)


def write_case(root: Path, path: str, text: str = CASE, fixture: Mapping[str, str] | None = None) -> Path:
    """Write ``tests/<path>/case.md`` and its fixture; return the case.md."""
    folder = root / "tests" / path
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "case.md").write_bytes(text.encode())
    for name, content in (fixture or {}).items():
        (folder / "fixture" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "fixture" / name).write_text(content)
    return folder / "case.md"


def write_run(
    root: Path,
    skill: str,
    strips: Strips,
    *,
    into: Path | None = None,
    base_reason: str = "new skill",
    run_id: str = RUN_ID,
    example: bool = False,
    rationale: str = "One names the line, the other does not.",
    stderr: str = "nothing was written\n",
    output: str = "The file has a mistake in it.\n",
) -> Path:
    """Record a run of a skill (by its path) over the cases that `strips` names; return the ``<skill>.run`` folder.

    An earlier run there makes place.

    All strips have one length, the number of trials, and one shape. `into`: where run records are kept, default
    ``tests/.reports``. `rationale`, `stderr`, `output`: what judges, failing assertions and arms say.
    """
    found = find(root)
    entry = next(s for s in tree.discover(found).skills if s.path == skill)
    both = {name: (s, None) if isinstance(s, str) else s for name, s in strips.items()}
    plan = _plan(entry, both, base_reason, run_id, example)
    folder = (into or found.reports) / f"{entry.name}.run"
    shutil.rmtree(folder, ignore_errors=True)
    for kind in ("arms", "judgements", "outputs"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    _write(folder / "plan.json", plan)
    for case in plan.cases:
        letters = dict(zip(("efficacy", "regression"), both[case.name], strict=True))
        for trial in range(1, plan.trials + 1):
            of_trial = {name: strip[trial - 1] for name, strip in letters.items() if strip is not None}
            for arm in arms_of(plan.shape):
                _write_arm(folder, plan, case, trial, arm, of_trial, output, stderr)
            for comparison in comparisons_of(plan.shape):
                letter = of_trial[comparison.name]
                if letter not in "X?":
                    _write_judgement(folder, plan, case, trial, comparison, letter, rationale)
    return folder


def _plan(
    entry: SkillEntry, strips: Mapping[str, tuple[str, str | None]], base_reason: str, run_id: str, example: bool
) -> Plan:
    three = any(regression is not None for _, regression in strips.values())
    lengths = {len(strip) for pair in strips.values() for strip in pair if strip is not None}
    (trials,) = lengths or {entry.settings.trials}
    cases = tuple(_planned(case) for case in entry.cases if case.name in strips)
    assert {case.name for case in cases} == set(strips), "a strip for a case that is not there"
    shape: Shape = "three-arm" if three else "two-arm"
    package = digest.package(entry.folder)
    return Plan(
        schema_version=1,
        run_id=run_id,
        skill=SkillRef(name=entry.name, path=entry.path),
        created_at=NOW,
        shape=shape,
        trials=trials,
        base=Base(branch="main", ref="refs/heads/main", commit="1a2b3c4d" * 5) if three else None,
        base_reason=None if three else base_reason,
        settings=entry.settings,
        host=HOST,
        seed=7,
        packages=Packages(new_skill=package, previous_version=package if three else None),
        cases=cases,
        orders={
            f"{case.name}.{trial}.{comparison.name}": _order(trial)
            for case in cases
            for trial in range(1, trials + 1)
            for comparison in comparisons_of(shape)
        },
        suite_sha256=digest.suite_digest((c.name, c.case_sha256, c.fixture_sha256) for c in cases),
        program="pytest-skillbench 0.0.0",
        example=example,
    )


def _planned(entry: tree.CaseEntry) -> PlannedCase:
    case: Case = tree.read_case(entry)
    return PlannedCase(
        name=entry.name,
        path=entry.path,
        description=case.description,
        case_sha256=case.sha256,
        fixture_sha256=digest.fixture(entry.folder / "fixture"),
        prompt=case.prompt,
        seed_turns=case.seed_turns,
        assertions=case.assertions,
        criteria=case.criteria,
    )


def _order(trial: int) -> Order:
    return "new-first" if trial % 2 else "new-second"


def _request(stem: str) -> Request:
    return Request(
        id=f"msg_{stem}", model=MODEL, input=3, cache_write_5m=100, cache_write_1h=0, cache_read=1000, output=50
    )


def _write_arm(
    folder: Path,
    plan: Plan,
    case: PlannedCase,
    trial: int,
    arm: ArmName,
    letters: Mapping[str, str],
    output: str,
    stderr: str,
) -> None:
    timed_out = {"no-skill": letters["efficacy"] == "?", "previous-version": letters.get("regression") == "?"}
    ok = not timed_out.get(arm, False)
    stem = f"{case.name}.{trial}.{arm}"
    data = f"{output}\n{arm}, trial {trial}\n".encode("utf-8", "surrogatepass") if ok else b""
    failing = len(case.assertions) - 1 if letters["efficacy"] == "X" else None
    gate = tuple(
        GateResult(
            assertion=index,
            exit_code=1 if index == failing else 0,
            timed_out=False,
            duration_ms=12,
            stdout="",
            stderr=stderr if index == failing else "",
        )
        for index in range(len(case.assertions) if arm == "new-skill" else 0)
    )
    record = ArmRecord(
        schema_version=1,
        run_id=plan.run_id,
        case=case.name,
        trial=trial,
        arm=arm,
        status="ok" if ok else "timed-out",
        detail=None if ok else "no final message after 30 minutes",
        attempt=1,
        output=OutputRef(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data)) if ok else None,
        changes=(),
        host=HOST,
        host_version="2.1.332",
        model=MODEL,
        effort=None,
        temperature=Temperature(requested=None, applied=None),
        started_at=NOW,
        duration_ms=12345,
        requests=(_request(stem),),
        usage_complete=True,
        usage_notes=(),
        turns=1,
        tool_calls={"Read": 2},
        gate=gate,
        audit=Audit(skill_loaded=arm != "no-skill", findings=()),
    )
    _write(folder / "arms" / f"{stem}.json", record)
    if ok:
        (folder / "outputs" / f"{stem}.md").write_bytes(data)


def _write_judgement(
    folder: Path, plan: Plan, case: PlannedCase, trial: int, comparison: Comparison, letter: str, rationale: str
) -> None:
    order = _order(trial)
    new, other = ("A", "B") if order == "new-first" else ("B", "A")
    winners: dict[str, Winner | None] = {"W": new, "L": other, "T": "TIE", "J": None}  # type: ignore[dict-item] # A or B
    winner = winners[letter]
    stem = f"{case.name}.{trial}.{comparison.name}"
    record = JudgementRecord(
        schema_version=1,
        run_id=plan.run_id,
        case=case.name,
        trial=trial,
        comparison=comparison.name,
        seat=1,
        order=order,
        status="ok" if winner else "malformed",
        detail=None if winner else "no JSON in the answer",
        attempt=1,
        winner=winner,
        strength="clear" if winner in ("A", "B") else None,
        criteria=(CriterionJudgement(criterion=1, better=winner, because="It names it.", quote_a=None, quote_b=None),)
        if winner
        else (),
        rationale=rationale,
        model=MODEL,
        requests=(_request(stem),),
        usage_complete=True,
        usage_notes=(),
    )
    _write(folder / "judgements" / f"{stem}.json", record)


def _write(path: Path, record: Record) -> None:
    path.write_bytes(encode(record))
