"""Small runs for single tests: a hard assertion that fails, and a run that is half done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import msgspec

from pytest_skillbench.model import Audit, Finding

from .sources import Wrote

# It names both options, and says what it waits for, but nowhere that the question is open.
TOO_SURE = """# One system for feature flags

Status: Accepted

## Context
Three half-built systems are to become one, and time is what matters.

## Decision
We buy Flagpole, once security has seen the questionnaire on the 9th.

## Alternatives
- **Extend the billing service's own**: six weeks against two

## Next steps
- [ ] Aylin counts the places that need per-tenant rules, Friday the 5th"""


def all_of(make_run: Callable[..., Any], release_notes: Any, decision_record: Any) -> Iterator[tuple[str, Any]]:
    """Yield each variant's folder name and run. `make_run` is `make.make_run`; the recipes are `make`'s."""
    yield "gate-failure", _gate_failure(make_run, decision_record)
    yield "half-done", _half_done(make_run, release_notes)


def _gate_failure(make_run: Callable[..., Any], recipe: Any) -> Any:
    """Trial 3 of the new arm breaks a hard assertion: no judge was asked for it."""
    case = "no-decision-yet"
    wrote = Wrote(reply=TOO_SURE, entry=None, links=True, unreleased="merged")
    recipe = replace(recipe, run_id="20261127T083011Z-0d6a7e", narrative=())
    return make_run(recipe, (case,), {(case, 3, "new-skill"): wrote}, unjudged={(case, 3, "efficacy")})


def _half_done(make_run: Callable[..., Any], recipe: Any) -> Any:
    """One whole trial, and every way in which the four others are not usable."""
    case = "reverted-feature"
    run = make_run(replace(recipe, run_id="20261127T101544Z-e41b90", narrative=()), (case,))
    # Trial 2: no answer for efficacy yet, and one for regression that could not be read.
    del run.judgements[case, 2, "efficacy", 1]
    key = (case, 2, "regression", 1)
    unread = {"status": "malformed", "detail": "no JSON object in the answer", "winner": None, "strength": None}
    run.judgements[key] = msgspec.structs.replace(run.judgements[key], **unread, criteria=(), rationale="")
    # Trial 3: the baseline found the skill.
    seen = Finding(
        kind="contaminated",
        detail="the no-skill arm read the skill's SKILL.md",
        evidence="tool call 4, Bash: cat /home/dev/courier/skills/writing/release-notes/SKILL.md",
    )
    _audit(run, (case, 3, "no-skill"), Audit(skill_loaded=True, findings=(seen,)))
    # Trial 4: the new arm never opened the skill, so nobody was asked.
    unopened = Finding(
        kind="skill-not-loaded", detail="SKILL.md was never opened", evidence="no tool call on the skill's folder"
    )
    _audit(run, (case, 4, "new-skill"), Audit(skill_loaded=False, findings=(unopened,)))
    # Trial 5: the previous version ran out of time, the baseline has not run.
    late = (case, 5, "previous-version")
    out_of_time = {"status": "timed-out", "detail": "no answer after 30 minutes", "output": None, "changes": ()}
    run.arms[late] = msgspec.structs.replace(run.arms[late], **out_of_time)
    del run.arms[case, 5, "no-skill"]
    for trial in (4, 5):
        for comparison in ("efficacy", "regression"):
            run.judgements.pop((case, trial, comparison, 1), None)
    return run


def _audit(run: Any, key: tuple[str, int, str], audit: Audit) -> None:
    run.arms[key] = msgspec.structs.replace(run.arms[key], audit=audit)
