"""A run record -> the results model (`SkillResult`): outcomes, verdicts, margins, cost and certainty in one value.

Core, and the one path for both shapes: nothing here knows how many arms there are but through `arms_of` and
`comparisons_of`. Same record and same price table in, same result out.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from .certainty import certainty
from .model import (
    COMPARISONS,
    NEW_ARM,
    ArmCost,
    ArmName,
    ArmRecord,
    ArmTrial,
    CaseComparison,
    CaseResult,
    Comparison,
    PlannedCase,
    Ratio,
    SkillResult,
    SkillVerdict,
    Usage,
    arms_of,
    comparisons_of,
)
from .pairs import arm_problem
from .prices import PriceTable
from .record import RunRecord
from .rules import flips_to_fail, of_skill, rule_for, verdict
from .trials import score
from .usage import add, summarize


def results(record: RunRecord, table: PriceTable, stale: Sequence[str] = ()) -> SkillResult:
    """Score a run.

    `stale`: what has changed in the tree since the run was frozen (sentences); it changes no number.
    """
    plan = record.plan
    drawn = comparisons_of(plan.shape)
    cases = tuple(
        CaseResult(
            case=case,
            comparisons=tuple(_case_comparison(record, case, comparison) for comparison in drawn),
            arms=tuple(
                _arm_trial(record, table, case, trial, name)
                for trial in range(1, plan.trials + 1)
                for name in arms_of(plan.shape)
            ),
        )
        for case in plan.cases
    )
    for comparison in drawn:
        cases = _mark_narrowest(cases, comparison)
    verdicts = tuple(_skill_verdict(cases, comparison, comparison in drawn) for comparison in COMPARISONS)
    return SkillResult(
        plan=plan,
        verdicts=verdicts,
        cases=cases,
        costs=tuple(_arm_cost(cases, name, plan.trials) for name in arms_of(plan.shape)),
        ratios=tuple(_ratio(cases, comparison, plan.trials) for comparison in drawn),
        certainty=certainty(plan, record, cases, drawn),
        price_table=table.date,
        stale=tuple(stale),
        problems=tuple(str(problem) for problem in record.problems),
    )


def _case_comparison(record: RunRecord, case: PlannedCase, comparison: Comparison) -> CaseComparison:
    rule = rule_for(comparison, record.plan.trials)
    trials = tuple(score(record, case, trial, comparison) for trial in range(1, rule.trials + 1))
    wins, ties, losses, gates, invalid = (
        sum(trial.outcome == outcome for trial in trials) for outcome in ("WIN", "TIE", "LOSS", "GATE", "INVALID")
    )
    gate_failed = any(trial.gate_failed for trial in trials)
    found = verdict(rule, wins=wins, ties=ties, losses=losses, gates=gates, invalid=invalid, gate_failed=gate_failed)
    part = CaseComparison(
        comparison=comparison.name,
        verdict=found,
        rule=rule,
        wins=wins,
        ties=ties,
        losses=losses,
        gates=gates,
        invalid=invalid,
        trials=trials,
        flips=flips_to_fail(rule, wins=wins, ties=ties, losses=losses + invalid) if found == "pass" else None,
        narrowest=False,
        why=None,
    )
    return msgspec.structs.replace(part, why=_why(part))


def _why(part: CaseComparison) -> str | None:
    """Return the mechanical reason for a verdict that is not a pass, in one sentence without a full stop."""
    rule, reasons = part.rule, []
    if part.verdict == "incomplete":
        seen = sorted({f"trial {t.trial}: {t.reason}" for t in part.trials if t.outcome == "INVALID"})
        return (
            f"{_count(part.invalid, 'trial')} of {rule.trials} can't be scored and could decide it ({'; '.join(seen)})"
        )
    if part.verdict == "fail":
        if failed := [t.trial for t in part.trials if t.gate_failed]:
            reasons.append(f"a hard assertion failed in {_trials(failed)}")
        if part.losses > rule.max_losses:
            lost = [t.trial for t in part.trials if t.outcome == "LOSS"]
            allowed = "none" if rule.max_losses == 0 else str(rule.max_losses)
            reasons.append(f"{_count(part.losses, 'loss', 'losses')} ({_trials(lost)}), the rule allows {allowed}")
        if rule.min_wins is not None and part.wins + part.invalid < rule.min_wins:
            reasons.append(f"{_count(part.wins, 'win')}, the rule needs {rule.min_wins}")
        # With INVALID trials a fail can rest on both thresholds at once: no completion satisfies the two together.
        return "; ".join(reasons) or (
            f"{part.wins} wins and {part.losses} losses: no outcome of the {part.invalid} invalid trials would pass"
        )
    return None


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _trials(numbers: Sequence[int]) -> str:
    return f"trial{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


def _mark_narrowest(cases: tuple[CaseResult, ...], comparison: Comparison) -> tuple[CaseResult, ...]:
    """Put the chip "narrowest margin" where FORMATS section 3 wants it, on a green badge only.

    With a wins floor: the first case, in authored order, with the fewest flips. Without: every case that stands at
    exactly the allowed number of losses.
    """
    parts = [part for case in cases if (part := case.comparison(comparison.name)) is not None]
    if not parts or of_skill(part.verdict for part in parts) != "pass":
        return cases
    if comparison.win_fifths is None:
        chosen = {i for i, part in enumerate(parts) if part.losses + part.invalid == part.rule.max_losses}
    else:
        flips = [part.flips or 0 for part in parts]
        chosen = {flips.index(min(flips))}
    marked = []
    for index, case in enumerate(cases):
        changed = tuple(
            msgspec.structs.replace(part, narrowest=index in chosen) if part.comparison == comparison.name else part
            for part in case.comparisons
        )
        marked.append(msgspec.structs.replace(case, comparisons=changed))
    return tuple(marked)


def _skill_verdict(cases: Sequence[CaseResult], comparison: Comparison, drawn: bool) -> SkillVerdict:
    parts = [part for case in cases if (part := case.comparison(comparison.name)) is not None]
    return SkillVerdict(
        comparison=comparison.name,
        verdict=of_skill(part.verdict for part in parts) if drawn else "not-applicable",
        cases=len(parts),
        cases_passed=sum(part.verdict == "pass" for part in parts),
        wins=sum(part.wins for part in parts),
        ties=sum(part.ties for part in parts),
        losses=sum(part.losses for part in parts),
        gates=sum(part.gates for part in parts),
        invalid=sum(part.invalid for part in parts),
    )


def _arm_trial(record: RunRecord, table: PriceTable, case: PlannedCase, trial: int, name: ArmName) -> ArmTrial:
    arm = record.arms.get((case.name, trial, name))
    problem = arm_problem(record, case.name, trial, name)
    if arm is None:
        return ArmTrial(
            arm=name, trial=trial, status="missing", problem=problem, model=None, turns=None, duration_ms=None,
            usage=None, changes=(), gate=(), output_bytes=None,
        )  # fmt: skip
    usage = _usage(arm, table, arm.started_at or record.plan.created_at)
    return ArmTrial(
        arm=name,
        trial=trial,
        status=arm.status,
        problem=problem,
        model=arm.model,
        turns=arm.turns,
        duration_ms=arm.duration_ms,
        usage=usage,
        changes=arm.changes,
        gate=arm.gate,
        output_bytes=arm.output.bytes if arm.output else None,
    )


def _usage(arm: ArmRecord, table: PriceTable, at: str) -> Usage | None:
    """Sum what an arm used; None where nothing is known. What the record can't be right about is a lower bound.

    A response's id (``msg_…``) is unique, so a second entry of it is not counted; an arm that answered has used tokens,
    so no entry at all is unknown and never zero.
    """
    if arm.requests is None or (not arm.requests and arm.status == "ok"):
        return None
    once = {request.id if request.id.startswith("msg_") else n: request for n, request in enumerate(arm.requests)}
    doubled = len(arm.requests) - len(once)
    notes = arm.usage_notes
    if doubled:
        notes = (*notes, f"{doubled} of {len(arm.requests)} responses are recorded twice and were counted once")
    return summarize(
        once.values(),
        table,
        at=at,
        complete=arm.usage_complete and not doubled,
        notes=notes,
        main_model=arm.model,
    )


def _arm_cost(cases: Sequence[CaseResult], name: ArmName, trials: int) -> ArmCost:
    """Sum an arm over every trial that it ran, usable or not: it was paid for all the same."""
    ran = [arm for case in cases for arm in case.arms if arm.arm == name]
    known = [arm.usage for arm in ran if arm.usage is not None]
    turns = [arm.turns for arm in ran if arm.turns is not None]
    usage = add(known) if known else None
    expected = len(cases) * trials
    if usage is not None and len(known) < expected:
        note = f"{expected - len(known)} of {expected} arm runs have no usage"
        usage = msgspec.structs.replace(usage, complete=False, notes=(*usage.notes, note))
    return ArmCost(arm=name, runs=len(known), expected=expected, turns=sum(turns) if turns else None, usage=usage)


def _ratio(cases: Sequence[CaseResult], comparison: Comparison, trials: int) -> Ratio:
    """Return new-skill over the opponent, over the trials whose two arms are usable and whose usage is exact.

    Both means are over the same trials, so their quotient is that of the sums.
    """
    pairs: list[tuple[ArmTrial, ArmTrial]] = []
    for case in cases:
        for trial in range(1, trials + 1):
            new, other = case.arm(NEW_ARM, trial), case.arm(comparison.opponent, trial)
            if new is not None and other is not None and _counts(new) and _counts(other):
                pairs.append((new, other))

    def quotient(values: Sequence[tuple[float | None, float | None]]) -> float | None:
        top = [value for value, _ in values if value is not None]
        bottom = [value for _, value in values if value is not None]
        if not values or len(top) < len(values) or len(bottom) < len(values) or not sum(bottom):
            return None
        return sum(top) / sum(bottom)

    usages = [(new.usage, other.usage) for new, other in pairs if new.usage and other.usage]
    return Ratio(
        opponent=comparison.opponent,
        trials=len(pairs),
        expected=len(cases) * trials,
        turns=quotient([(new.turns, other.turns) for new, other in pairs]),
        raw=quotient([(new.raw, other.raw) for new, other in usages]),
        cost_equivalent_tokens=quotient(
            [(new.cost_equivalent_tokens, other.cost_equivalent_tokens) for new, other in usages]
        ),
        cost_usd=quotient([(new.cost_usd, other.cost_usd) for new, other in usages]),
    )


def _counts(arm: ArmTrial) -> bool:
    return arm.problem is None and arm.usage is not None and arm.usage.complete
