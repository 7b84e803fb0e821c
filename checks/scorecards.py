"""Small projects with an evals tree and a recorded scorecard run, for the tests that read real files.

What a job came to is spelled in one letter: ``+`` all as expected, ``-`` nothing as expected, ``t`` timed out, ``?``
no file at all. Records are written by the program's own writers, so each is one that a harness could have left.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from pytest_skillbench import digest, tree
from pytest_skillbench.model import SkillRef
from pytest_skillbench.project import find
from pytest_skillbench.scorecard import discover, observations
from pytest_skillbench.scorecard.records import EvalCase, Observation, PlannedEval, ScorecardPlan, ToolCall

RUN_ID = "20261130T221005Z-7f3a9c"
NOW = "2026-11-30T22:10:05Z"

CASES = """\
name: asks-for-it
skill: {skill}
category: trigger-positive
input: Please review this.
expected: {{triggered: true}}
---
name: asks-again
skill: {skill}
category: trigger-positive
input: Have a look at my change.
expected: {{triggered: true}}
---
name: asks-for-tea
skill: {skill}
category: trigger-negative
input: Make tea.
expected: {{triggered: false}}
---
name: says-it
skill: {skill}
category: output-quality
input: Review change.diff.
expected: {{output_contains: [mistake, line 3], output_not_contains: [perfect], output_structure: list}}
---
name: reads
skill: {skill}
category: tool-usage
input: Review change.diff.
expected: {{tools_used: [Read, Bash]}}
---
name: nothing-there
skill: {skill}
category: error-handling
input: Review nothing.diff.
expected: {{output_contains: [mistake], error_handled: true}}
"""
GOOD = "What I found:\n\n- a Mistake in LINE 3\n"
BAD = "All perfect.\n"


def write_skill(root: Path, path: str = "group/reviewing", text: str | None = None) -> Path:
    """Write a skill and return its folder; creates the project."""
    folder = root / "skills" / path
    folder.mkdir(parents=True, exist_ok=True)
    (root / "tests").mkdir(exist_ok=True)
    name = path.rsplit("/", 1)[-1]
    (folder / "SKILL.md").write_text(text or f"---\nname: {name}\ndescription: Reviews code.\n---\nRead, then say.\n")
    return folder


def write_cases(root: Path, skill: str = "reviewing", text: str = CASES, file: str = "cases.yaml") -> Path:
    """Write a file of cases of a skill and return its path."""
    folder = root / "evals/cases" / skill
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(text.replace("{skill}", skill).replace("{{", "{").replace("}}", "}").encode())
    return folder / file


def write_run(
    root: Path,
    letters: Mapping[str, str] | str = "+",
    *,
    skill: str = "reviewing",
    trials: int = 1,
    run_id: str = RUN_ID,
) -> Path:
    """Record a scorecard run of a skill's cases; return its folder. An earlier run there makes place.

    `letters`: what each case came to, by name, one letter a trial; a single letter is for all.
    """
    found = tree.discover(find(root))
    entry = found.skill(skill)
    assert entry is not None
    cases = discover.discover(found).cases[skill]
    folder = observations.folder_of(found.project.runs, skill)
    shutil.rmtree(folder, ignore_errors=True)
    plan = ScorecardPlan(
        schema_version=1,
        run_id=run_id,
        skill=SkillRef(name=entry.name, path=entry.path),
        created_at=NOW,
        trials=trials,
        host="claude-code",
        package=digest.package(entry.folder),
        settings=entry.settings,
        cases=tuple(planned(case) for case in cases),
        program="pytest-skillbench 0.0.0",
    )
    observations.write_plan(folder, plan)
    for case in cases:
        strip = letters if isinstance(letters, str) else letters.get(case.name, "+")
        for trial in range(1, trials + 1):
            letter = strip[(trial - 1) % len(strip)]
            if case.has_job and letter != "?":
                made, output = observed(case, trial, letter, run_id)
                observations.write_observation(folder, made, output)
    return folder


def planned(case: EvalCase) -> PlannedEval:
    """Return a case as a plan holds it, its trigger to be observed."""
    fields = {name: getattr(case, name) for name in EvalCase.__struct_fields__}
    return PlannedEval(**fields, probe="observed" if case.is_probe else None)


def observed(case: EvalCase, trial: int, letter: str, run_id: str = RUN_ID) -> tuple[Observation, bytes | None]:
    """Return what was seen of a job, and its final message."""
    known, good = letter != "t", letter == "+"
    triggered = case.expected.triggered if good else not case.expected.triggered
    output = (GOOD if good else BAD).encode() if known else None
    calls = tuple(ToolCall(name=tool, input="x", dangerous=None) for tool in case.expected.tools_used if good)
    return (
        Observation(
            schema_version=1,
            run_id=run_id,
            case=case.id,
            trial=trial,
            status="answered" if known else "timed-out",
            detail=None if known else "after 30 minutes",
            attempt=1,
            probe="observed" if case.is_probe else None,
            triggered=triggered if case.is_probe and known else None,
            seen="Skill call" if case.is_probe and known and triggered else None,
            tool_calls=calls if known else None,
            output=observations.reference(output) if output is not None else None,
            host="claude-code",
            host_version=None,
            model="claude-sonnet-4-5",
            started_at=NOW,
            duration_ms=1000,
            requests=None,
            usage_complete=False,
            usage_notes=("the host gave no usage",),
            turns=2,
        ),
        output,
    )
