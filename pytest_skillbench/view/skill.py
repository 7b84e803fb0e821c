"""A scored run and its history -> the report of one skill, top to bottom as it is read.

Core, the view's entry for a single skill: same result, history and texts in, same page out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from ..model import (
    CaseResult,
    FrozenEvidence,
    HistoryLine,
    Narrative,
    RunMeta,
    SkillResult,
)
from .card import scorecard
from .case import case_view, shown_rationales
from .cost import cost_table
from .evidence import Context, Texts, needs_look
from .frozen import frozen
from .header import badge, base_name, branch_name, digests, facts, jumps, resting_on
from .headline import headline
from .narrative import Checked, check
from .page import CaseView, SkillPage
from .parts import State, Tick
from .ribbons import recent, ribbon, ticks
from .sure import sure_rows
from .texts import Budget, brief, budget
from .words import (
    capital,
    plural,
)

if TYPE_CHECKING:
    from ..scorecard.past import Past

_LISTED = 40


def skill_page(
    result: SkillResult,
    history: Sequence[HistoryLine],
    texts: Texts,
    narrative: Narrative | None,
    meta: RunMeta,
    run_link: str = "",
    evidence: FrozenEvidence | None = None,
    pasts: Sequence[Past] = (),
) -> SkillPage:
    """Return the report of a run.

    `history`: oldest first, the run's own line included. `texts`: the run's whole texts, read as they are needed.
    `run_link`: the run record's folder as seen from the report file, not encoded; empty means ``<skill>.run``.
    `evidence`: the freeze that the run was exported as, None where it was not. `pasts`: the skill's last evaluations by
    the scorecard, oldest first.
    """
    plan = result.plan
    context = Context(
        texts=texts,
        budget=_budget(result),
        run_link=run_link.rstrip("/") or f"{plan.skill.name}.run",
        price_table=result.price_table,
        versus={"efficacy": "new vs no skill", "regression": f"new vs {base_name(result)}"},
    )
    shown = {key: value for case in result.cases for key, value in shown_rationales(case, context).items()}
    checked = check(narrative, result, shown)
    lines = recent(history, plan.run_id)
    return SkillPage(
        name=brief(plan.skill.name, 200),
        shape=f"{plan.shape} run, {plural(len(plan.cases), 'case')} × {plural(plan.trials, 'trial')}",
        state=_state(result),
        example=plan.example,
        stale=tuple(brief(text, 300) for text in result.stale[:_LISTED]),
        badges=(badge(result, "efficacy"), badge(result, "regression")),
        facts=facts(result),
        jumps=jumps(result),
        ribbons=(
            ribbon(lines, plan.run_id, "efficacy", "net margin, wins − losses"),
            ribbon(lines, plan.run_id, "regression", f"resets when {branch_name(result)} moves"),
        ),
        ticks=ticks(lines, plan.run_id) or (Tick(text="now", marks=(), now=True),),
        headline=headline(result),
        evidence=resting_on(result),
        told=checked.told.get("headline", ()),
        costs=cost_table(result),
        sure=sure_rows(result),
        columns=("Efficacy: new vs no skill", _regression_column(result)),
        legend=_legend(result),
        cases=tuple(_with_narrative(case, result, context, checked) for case in result.cases),
        scorecard=scorecard(pasts),
        frozen=frozen(evidence),
        problems=tuple(brief(text, 400) for text in result.problems[:_LISTED]),
        notes=(*_overflow(result), *checked.notes),
        program=brief(meta.program, 100),
        run_id=brief(plan.run_id, 80),
        digests=digests(result),
    )


def _budget(result: SkillResult) -> Budget:
    trials = [t for case in result.cases for part in case.comparisons for t in part.trials]
    looked = [t for t in trials if needs_look(t)]
    return budget(
        pairs=len(looked),
        parts=sum(any(map(needs_look, part.trials)) for case in result.cases for part in case.comparisons),
        votes=sum(len(t.votes) for t in trials),
        criteria=sum(len(vote.criteria) for t in looked for vote in t.votes),
        cases=len(result.cases),
        commands=sum(len(case.case.assertions) for case in result.cases),
        findings=sum(2 * len(t.flags) + (t.reason is not None) for t in looked),
    )


def _with_narrative(case: CaseResult, result: SkillResult, context: Context, checked: Checked) -> CaseView:
    view = case_view(case, result, context)
    told = checked.told.get(case.case.name)
    return msgspec.structs.replace(view, told=told) if told else view


def _regression_column(result: SkillResult) -> str:
    if result.plan.shape == "two-arm":
        return "Regression: not compared"
    return f"Regression: new vs {base_name(result)}"


def _legend(result: SkillResult) -> str:
    parts = [part for case in result.cases for part in case.comparisons]
    text = f"authored order, {plural(result.plan.trials, 'trial')}: W win, T tie, L loss"
    text += ", ✕ hard assertion failed" if any(part.gates for part in parts) else ""
    text += ", ? invalid" if any(part.invalid for part in parts) else ""
    return text + (", ● flagged" if any(t.flags for part in parts for t in part.trials) else "")


def _state(result: SkillResult) -> State:
    """Return the page's own state, for its icon and title: any red, else anything missing, else green."""
    found = {v.verdict for v in result.verdicts}
    return "fail" if "fail" in found else "part" if "incomplete" in found else "pass"


def _overflow(result: SkillResult) -> tuple[str, ...]:
    notes = []
    for found, what in ((result.stale, "changes since the run"), (result.problems, "files that could not be used")):
        if len(found) > _LISTED:
            notes.append(f"{capital(what)}: {_LISTED} of {len(found)} are listed.")
    return tuple(notes)
