"""One case of the report: its row with both strips, and behind it the rule line by line, the bar, the evidence.

Core. Opens by itself where something failed, is missing, was lost or was flagged; its position never depends on that.
"""

from __future__ import annotations

from ..model import (
    NEW_ARM,
    CaseComparison,
    CaseResult,
    ComparisonName,
    PlannedCase,
    SkillResult,
    TrialResult,
)
from .evidence import CRITERIA, Context, Pair, byline, evidence, looked_at, needs_look, opponent_of
from .headline import case_line
from .narrative import Shown
from .page import CaseView, Cell, Check, Panel, Rationale, Strip, Told, Turn
from .parts import Chip, Note, State
from .ribbons import STATE
from .sure import anchor_of
from .texts import brief, cut, tail
from .words import (
    COMPARISON_TITLE,
    OUTCOME_LETTER,
    OUTCOME_WORD,
    VERDICT_WORD,
    capital,
    counts,
    numeral,
    plural,
    readable,
    signed,
)

_LOOK = {"WIN": "w", "TIE": "t", "LOSS": "l", "GATE": "x", "INVALID": "v"}
_MOST = 24
_ORDER: tuple[ComparisonName, ...] = ("efficacy", "regression")


def case_view(case: CaseResult, result: SkillResult, context: Context) -> CaseView:
    """Return a case as the report shows it, with its composed one-liner."""
    looked = looked_at(case, context)
    line = case_line(case.comparisons)
    planned = case.case
    return CaseView(
        anchor=anchor_of(planned.name),
        name=planned.name,
        description=brief(planned.description, 240),
        open=bool(looked) or any(c.verdict in ("fail", "incomplete") for c in case.comparisons),
        strips=tuple(_strip(case, name) for name in _ORDER),
        chips=_chips(case),
        told=(Told(text=line, evidence=()),) if line else (),
        panels=tuple(_panel(case, name, result, context) for name in _ORDER),
        criteria=tuple(
            cut(text, max(60, context.budget.authored // len(planned.criteria))) for text in planned.criteria[:_MOST]
        ),
        trials=tuple(range(1, result.plan.trials + 1)),
        checks=_checks(case, result.plan.trials, context),
        prompt=cut(planned.prompt, context.budget.prompt),
        turns=_turns(planned, context),
        source=brief(planned.path, 300) + "/case.md",
        evidence=tuple(evidence(pair, context, full) for pair, full in looked),
        rationales=_rationales(case, context),
    )


def _pairs(case: CaseResult) -> list[Pair]:
    return [
        Pair(case=case, part=part, trial=trial, opponent=opponent_of(part))
        for part in case.comparisons
        for trial in part.trials
    ]


def shown_rationales(case: CaseResult, context: Context) -> dict[str, Shown]:
    """Return what a narrator may quote: ``<case>.<trial>.<comparison>`` -> the judges' words as the page shows them."""
    found = {}
    full = {pair.anchor for pair, whole in looked_at(case, context) if whole}
    for pair in _pairs(case):
        votes = pair.trial.votes
        texts = [cut(vote.rationale, context.budget.rationale).shown for vote in votes]
        if pair.anchor in full:
            said = [criterion.because for vote in votes for criterion in vote.criteria[:CRITERIA]]
            texts += [cut(because, context.budget.because).shown for because in said]
        key = f"{case.case.name}.{pair.trial.trial}.{pair.part.comparison}"
        found[key] = Shown(
            texts=tuple(texts),
            unverified=tuple(quote for vote in votes for quote in vote.unverified_quotes),
            href=f"#{pair.anchor if needs_look(pair.trial) else anchor_of(case.case.name)}",
        )
    return found


def _rationales(case: CaseResult, context: Context) -> tuple[Rationale, ...]:
    """Return what the judges said of the trials that need no look, for the disclosure at the end of a case."""
    found = []
    for pair in _pairs(case):
        if needs_look(pair.trial):
            continue
        title = f"{COMPARISON_TITLE[pair.part.comparison]}, trial {pair.trial.trial}: {pair.trial.outcome.lower()}"
        if pair.trial.identical:
            same = "Both outputs and all changed files are byte for byte the same; no judge was asked."
            found.append(Rationale(title=title, text=cut(same, 200), byline=""))
        found += [
            Rationale(title=title, text=cut(vote.rationale, context.budget.rationale), byline=byline(pair, vote))
            for vote in pair.trial.votes
        ]
    return tuple(found)


def _turns(planned: PlannedCase, context: Context) -> tuple[Turn, ...]:
    turns = planned.seed_turns[:_MOST]
    each = max(60, context.budget.prompt // max(len(turns), 1))
    shown = [Turn(role=turn.role.capitalize(), text=cut(turn.text, each)) for turn in turns]
    left = len(planned.seed_turns) - len(turns)
    if left:
        shown.append(Turn(role="…", text=cut(f"and {plural(left, 'more turn')}", 60)))
    return tuple(shown)


# -- the row -----------------------------------------------------------------------------------------------------------


def _cells(case: CaseResult, part: CaseComparison) -> tuple[Cell, ...]:
    return tuple(_cell(case, part, trial) for trial in part.trials)


def _cell(case: CaseResult, part: CaseComparison, trial: TrialResult) -> Cell:
    noted = bool(trial.flags) or trial.inconsistent or (trial.gate_failed and trial.outcome != "GATE")
    panel = [vote for vote in trial.votes if vote.seat != "swap"]
    word = OUTCOME_WORD[trial.outcome] + (" (flagged)" if noted else "")
    return Cell(
        letter=OUTCOME_LETTER[trial.outcome],
        look=_LOOK[trial.outcome] + (" g" if noted else ""),
        under=f"{trial.trial}·{trial.new_label}" if trial.new_label else str(trial.trial),
        votes=f"{sum(v.outcome == trial.outcome for v in panel)}/{len(panel)}" if len(panel) > 1 else "",
        anchor=anchor_of(case.case.name, part.comparison, trial.trial) if needs_look(trial) else "",
        label=word,
    )


def _strip(case: CaseResult, name: ComparisonName) -> Strip:
    part = case.comparison(name)
    title = COMPARISON_TITLE[name]
    if part is None:
        return Strip(title=title, state="na", word="n/a", count="", cells=(), label="")
    cells = _cells(case, part)
    return Strip(
        title=title,
        state=STATE[part.verdict],
        word=VERDICT_WORD[part.verdict],
        count=counts(part.wins, part.ties, part.losses, part.gates, part.invalid),
        cells=cells,
        label=f"{title}, trials 1 to {len(cells)}: {', '.join(cell.label for cell in cells)}",
    )


def _chips(case: CaseResult) -> tuple[Chip, ...]:
    chips = [
        Chip(icon="thin", text=f"narrowest margin, {COMPARISON_TITLE[part.comparison]}")
        for part in case.comparisons
        if part.narrowest
    ]
    flagged: dict[str, list[int]] = {}
    for part in case.comparisons:
        lost = [t.trial for t in part.trials if t.outcome == "LOSS"]
        if part.verdict == "pass" and lost:
            chips.append(Chip(icon="flag", text=f"flagged loss, {_short(lost)}"))
        broken = [t.trial for t in part.trials if t.gate_failed]
        if broken:
            chips.append(Chip(icon="no", text=f"hard assertion, {_short(broken)}", tone="bad"))
        for trial in part.trials:
            if trial.outcome == "INVALID":
                flagged.setdefault("invalid", []).append(trial.trial)
            for flag in trial.flags:
                flagged.setdefault(readable(flag.kind), []).append(trial.trial)
    chips += [Chip(icon="warn", text=f"{kind}, {_short(trials)}") for kind, trials in list(flagged.items())[:5]]
    seats = max((len([v for v in t.votes if v.seat != "swap"]) for p in case.comparisons for t in p.trials), default=0)
    if seats > 1:
        chips.append(Chip(icon="trio", text=f"panel of {seats}", tone="q"))
    return tuple(chips)


def _short(trials: list[int]) -> str:
    return " ".join(f"t{trial}" for trial in sorted(set(trials)))


# -- the rule, line by line --------------------------------------------------------------------------------------------


def _panel(case: CaseResult, name: ComparisonName, result: SkillResult, context: Context) -> Panel:
    part = case.comparison(name)
    title = COMPARISON_TITLE[name]
    if part is None:
        reason = brief(result.plan.base_reason or "no previous version", 200)
        return Panel(
            title=title, versus="", state="na", word="n/a", cells=(), panel=False, rules=(),
            why_lead="Not compared:", why=f"{reason}.",
        )  # fmt: skip
    cells = _cells(case, part)
    lead = {"fail": "Why it failed:", "incomplete": "Why it is not decided:"}.get(part.verdict, "")
    return Panel(
        title=title,
        versus=context.versus[name],
        state=STATE[part.verdict],
        word=VERDICT_WORD[part.verdict],
        cells=cells,
        panel=any(cell.votes for cell in cells),
        rules=_rules(part, case),
        why_lead=lead,
        why=_why(part, context),
    )


def _why(part: CaseComparison, context: Context) -> str:
    parts = []
    if part.why:
        parts.append(f"{capital(brief(part.why, 2 * context.budget.finding))}.")
    parts.append(f"Net {signed(part.net)}.")
    if part.flips is not None:
        parts.append(f"{capital(numeral(part.flips))} flip{'' if part.flips == 1 else 's'} from failing.")
    if any(len([v for v in t.votes if v.seat != "swap"]) > 1 for t in part.trials):
        parts.append("The trials were split, so a panel voted; its majority is shown with the votes for it.")
    return " ".join(parts)


def _rules(part: CaseComparison, case: CaseResult) -> tuple[Note, ...]:
    """Return each condition of the pass rule as a checked line."""
    rule = part.rule
    wins, losses = plural(part.wins, "win"), plural(part.losses, "loss", "losses")
    notes = []
    if rule.min_wins is None:
        notes.append(Note(text=f"{wins}, no floor", tone="na"))
    else:
        state: State = "pass" if part.wins >= rule.min_wins else "part"
        state = "fail" if part.wins + part.invalid < rule.min_wins else state
        notes.append(_rule(state, f"{wins}, needs {rule.min_wins} or more"))
    state = "pass" if part.losses + part.invalid <= rule.max_losses else "part"
    state = "fail" if part.losses > rule.max_losses else state
    notes.insert(0 if rule.min_wins is None else 1, _rule(state, f"{losses}, allows {rule.max_losses or 'none'}"))
    if part.comparison == "efficacy" and case.case.assertions:
        broken = sum(t.gate_failed for t in part.trials)
        text = f"hard assertions fail in {plural(broken, 'trial')}" if broken else "hard assertions hold"
        open_ = not broken and any(t.outcome == "INVALID" for t in part.trials)
        notes.append(_rule("fail" if broken else "part" if open_ else "pass", text + (" where known" if open_ else "")))
    if part.invalid:
        notes.append(_rule("part", f"{plural(part.invalid, 'trial')} can't be scored"))
    return tuple(notes)


def _rule(state: State, text: str) -> Note:
    icon = {"pass": "ok", "fail": "no", "part": "part", "na": "na"}[state]
    return Note(text=text, icon=icon, tone="flag" if state == "part" else state)


def _checks(case: CaseResult, trials: int, context: Context) -> tuple[Check, ...]:
    """Return the hard assertions with one exit per trial of the new arm."""
    checks = []
    for index, assertion in enumerate(case.case.assertions[:_MOST]):
        exits, stderr = [], ""
        for trial in range(1, trials + 1):
            arm = case.arm(NEW_ARM, trial)
            ran = next((g for g in arm.gate if g.assertion == index), None) if arm else None
            if ran is None:
                exits.append(("–", "z"))
            elif ran.timed_out or ran.exit_code is None:
                exits.append(("time" if ran.timed_out else "?", "bad" if ran.timed_out else "z"))
            else:
                exits.append((str(ran.exit_code), "bad" if ran.exit_code else "z"))
            if ran is not None and exits[-1][1] == "bad" and not stderr:
                stderr = tail(ran.stderr, context.budget.stderr)
        checks.append(
            Check(
                title=brief(assertion.title, context.budget.stderr) if assertion.title else "",
                command=cut(assertion.command, context.budget.command),
                exits=tuple(exits),
                stderr=stderr,
            )
        )
    return tuple(checks)
