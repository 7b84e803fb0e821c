"""The cost table: what each arm took, and the ratios that can be trusted.

Core. Cost never gates. Nothing unknown becomes a zero: a dash where a figure is not known, ``unpriced`` where a model
has no price, ``≥`` where a figure is a lower bound.
"""

from __future__ import annotations

from ..model import ArmCost, ArmTrial, Ratio, SkillResult, Usage
from .parts import CostRow, CostTable, RatioRow
from .texts import brief
from .words import ARM_SHORT, LOWER_BOUND, UNKNOWN, bound, plural, price, times, tokens, whole

COMPONENTS = ("Input", "Cache write 5 min", "Cache write 1 h", "Cache read", "Output")
_NOTES = 6


def cost_table(result: SkillResult) -> CostTable:
    """Return the table of a run: one row an arm, one ratio row an opponent, and the notes under it."""
    most = max((c.usage.cost_equivalent_tokens for c in result.costs if c.usage), default=0.0)
    return CostTable(
        rows=tuple(_row(cost, most) for cost in result.costs),
        ratios=tuple(_ratio(ratio) for ratio in result.ratios),
        notes=_notes(result),
        definitions=_definitions(result),
    )


def _row(cost: ArmCost, most: float) -> CostRow:
    usage = cost.usage
    partial = cost.runs < cost.expected
    share = 100 * usage.cost_equivalent_tokens / most if usage and most else None
    return CostRow(
        arm=cost.arm,
        turns=UNKNOWN if cost.turns is None else (LOWER_BOUND if partial else "") + whole(cost.turns),
        raw=_raw(usage, partial),
        tokens=tokens(usage, partial=partial) + ("†" if usage and usage.classic_weights else ""),
        price=price(usage, partial=partial),
        bar="" if share is None else f"{share:.0f}%",
        components=tuple(UNKNOWN if usage is None else bound(usage, partial) + whole(n) for n in _parts(usage)),
    )


def _raw(usage: Usage | None, partial: bool) -> str:
    return UNKNOWN if usage is None else bound(usage, partial) + whole(usage.raw)


def _parts(usage: Usage | None) -> tuple[int, ...]:
    if usage is None:
        return (0,) * len(COMPONENTS)
    return (usage.input, usage.cache_write_5m, usage.cache_write_1h, usage.cache_read, usage.output)


def _ratio(ratio: Ratio) -> RatioRow:
    opponent = "previous" if ratio.opponent == "previous-version" else "no-skill"
    return RatioRow(
        title=f"new ÷ {opponent}",
        turns=times(ratio.turns),
        raw=times(ratio.raw),
        tokens=times(ratio.cost_equivalent_tokens),
        price=times(ratio.cost_usd),
    )


def _notes(result: SkillResult) -> tuple[str, ...]:
    ratios = result.ratios
    trust = "the ratio is what to trust" if len(ratios) == 1 else "the ratios are what to trust"
    notes = [f"Absolute cost is inflated by shared-context cache overhead; {trust}."]
    if any(c.usage and c.usage.cost_usd is not None for c in result.costs):
        notes[0] += f" Dollars are imputed from the price table of {brief(result.price_table, 40)}."
    short = [r for r in ratios if r.trials < r.expected]
    if short:
        parts = (f"new ÷ {ARM_SHORT[r.opponent]} {r.trials} of {plural(r.expected, 'trial')}" for r in short)
        notes.append(f"Ratios are over the trials complete in both arms: {', '.join(parts)}.")
    reasons = dict.fromkeys(
        f"{cost.arm}: {brief(note, 200)}"
        for cost in result.costs
        if cost.usage and not cost.usage.complete
        for note in (cost.usage.notes[: _NOTES - 1] or ("usage is not complete",))
    )
    shown = list(reasons)[:_NOTES]
    if shown:
        more = f"; and {len(reasons) - len(shown)} more" if len(reasons) > len(shown) else ""
        notes.append(f"≥ marks a lower bound ({'; '.join(shown)}{more}).")
    if any(c.usage is None for c in result.costs):
        notes.append("— is unknown: the client gave no usage.")
    if any(c.usage and c.usage.cost_usd is None for c in result.costs):
        notes.append("Unpriced: a model that answered is not in the price table.")
    return tuple(notes)


def _definitions(result: SkillResult) -> tuple[str, ...]:
    dated = brief(result.price_table, 40)
    return (
        "Cost-equivalent tokens, where priced: imputed dollars divided by the price of one uncached input token of"
        f" the arm's main model, request by request, from the price table of {dated}.",
        "Classic weights, where unpriced (marked †): input ×1, cache write ×1.25 (5 min) or ×2 (1 h), cache read ×0.1,"
        " output ×5.",
    )


def trial_cost(arms: tuple[ArmTrial | None, ...], dated: str) -> str:
    """Return what one trial cost in each of `arms`, in a sentence, dated where a dollar is shown."""
    parts: list[str] = []
    priced = False
    for arm in arms:
        if arm is None or arm.status == "missing":
            continue
        turns = "unknown turns" if arm.turns is None else plural(arm.turns, "turn")
        unit = "" if parts else " cost-equivalent tokens"
        parts.append(f"{arm.arm} {turns}, {tokens(arm.usage)}{unit}, {price(arm.usage)}")
        priced = priced or (arm.usage is not None and arm.usage.cost_usd is not None)
    if not parts:
        return ""
    return f"Cost of this trial: {'; '.join(parts)}" + (f" (prices of {brief(dated, 40)})." if priced else ".")
