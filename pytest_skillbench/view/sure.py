"""The strip "How sure is this?": what could make these verdicts wrong, one line each, with its number.

Core. The arithmetic is `certainty`'s; here it is put into words.
"""

from __future__ import annotations

from ..model import ComparisonName, Flag, Odds, SkillResult
from .parts import Link, SureRow
from .words import COMPARISON_TITLE, percent, plural, readable, whole

_LINKS = 4


def anchor_of(case: str, comparison: ComparisonName | None = None, trial: int | None = None) -> str:
    """Return the id of a case, or of a trial's evidence in it. Case names are slugs, so the dots keep ids apart."""
    return f"c.{case}" if comparison is None else f"c.{case}.{comparison[0]}{trial}"


def sure_rows(result: SkillResult) -> tuple[SureRow, ...]:
    """Return the strip of a run, in the order in which a reader should doubt it."""
    rows = [_integrity(result), _missing(result), _luck(result), _false_alarm(result), _position(result)]
    rows += [_agreement(result), _orders(result), _ties(result)]
    return tuple(row for row in rows if row is not None)


def _position(result: SkillResult) -> SureRow:
    c = result.certainty
    if not c.decisive:
        text = (
            f"no judge preferred either side in {plural(c.judged, 'judgement')}" if c.judged else "no judge was asked"
        )
        return SureRow(label="Position balance", value="n/a", text=text)
    share = c.a_won / c.decisive
    return SureRow(
        label="Position balance",
        value=percent(share),
        text=f"A won {c.a_won} of {c.decisive} decided; new was A in {c.new_as_a} of {c.judged}",
        balance=f"{3.2 + share * 65.6:.1f}",
    )


def _agreement(result: SkillResult) -> SureRow:
    c = result.certainty
    if not c.panels:
        return SureRow(label="Judge agreement", value="n/a", text="no comparison was split; no panel was called")
    names = ", ".join(c.panel_cases[:3]) + (f" and {len(c.panel_cases) - 3} more" if len(c.panel_cases) > 3 else "")
    return SureRow(
        label="Judge agreement",
        value=f"{c.panel_agreeing}/{c.panel_votes}",
        text=f"panel votes with the majority; {plural(c.panels, 'panel')}, on {names}",
    )


def _orders(result: SkillResult) -> SureRow | None:
    if result.plan.settings.judging != "both-orders":
        return None
    number = result.certainty.inconsistent
    return SureRow(
        label="Both orders",
        value=whole(number),
        text=f"{plural(number, 'trial')} judged differently when A and B changed places; counted as ties",
        warn=number > 0,
    )


def _ties(result: SkillResult) -> SureRow:
    known = [o for o in result.certainty.odds if o.tie_rate is not None]
    if not known:
        return SureRow(label="Tie rate", value="n/a", text="no trial was decided")
    return SureRow(
        label="Tie rate",
        value=", ".join(percent(o.tie_rate) for o in known if o.tie_rate is not None),
        text=", ".join(f"{COMPARISON_TITLE[o.comparison]} {o.ties} of {o.decided}" for o in known) + " trials",
    )


def _odds(result: SkillResult, comparison: ComparisonName) -> Odds | None:
    return next((o for o in result.certainty.odds if o.comparison == comparison), None)


def _all_cases(result: SkillResult) -> str:
    number = len(result.cases)
    return "the one case" if number == 1 else f"all {whole(number)} cases"


def _luck(result: SkillResult) -> SureRow:
    found = _odds(result, "efficacy")
    if found is None or found.pass_skill is None or found.pass_case is None:
        return SureRow(label="Passing by luck", value="n/a", text="no trial was decided, so nothing can be said")
    each = f"; {percent(found.pass_case)} per case" if len(result.cases) > 1 else ""
    return SureRow(
        label="Passing by luck",
        value=percent(found.pass_skill),
        text=f"chance that a do-nothing skill passes Efficacy on {_all_cases(result)}{each}, at this run's tie rate",
    )


def _false_alarm(result: SkillResult) -> SureRow | None:
    found = _odds(result, "regression")
    if found is None:
        return None
    if found.pass_skill is None or found.pass_case is None:
        return SureRow(label="False alarm", value="n/a", text="no trial was decided, so nothing can be said")
    each = f"; {percent(1 - found.pass_case)} per case" if len(result.cases) > 1 else ""
    return SureRow(
        label="False alarm",
        value=percent(1 - found.pass_skill),
        text=f"chance that an unchanged skill fails Regression somewhere{each}, at this run's tie rate",
    )


def _missing(result: SkillResult) -> SureRow | None:
    invalid = sum(part.invalid for case in result.cases for part in case.comparisons)
    if not invalid:
        return None
    total = sum(part.rule.trials for case in result.cases for part in case.comparisons)
    return SureRow(
        label="Missing evidence",
        value=f"{invalid} of {total}",
        text="trials can't be scored: each verdict holds whatever they would have been, or reads Incomplete",
        warn=True,
    )


def _integrity(result: SkillResult) -> SureRow:
    c = result.certainty
    runs = {(case, trial, flag.arm) for case, trial, flag in c.flagged}
    if not runs:
        return SureRow(label="Integrity", value=f"0 of {whole(c.arm_runs)}", text="arm runs flagged by the audit")
    links: dict[str, Link] = {}
    for case, trial, flag in c.flagged:
        anchor = _where(result, case, trial, flag)
        links.setdefault(
            f"{anchor} {flag.kind}", Link(href=f"#{anchor}", text=f"{readable(flag.kind)}, {case} trial {trial}")
        )
    shown = tuple(links.values())
    return SureRow(
        label="Integrity",
        value=f"{whole(len(runs))} of {whole(c.arm_runs)}",
        text="arm runs flagged:",
        warn=True,
        links=shown[:_LINKS],
        tail=f"and {len(shown) - _LINKS} more" if len(shown) > _LINKS else "",
    )


def _where(result: SkillResult, case: str, trial: int, flag: Flag) -> str:
    """Return the anchor of the first evidence that shows a finding."""
    found = result.case(case)
    for part in found.comparisons if found else ():
        if any(t.trial == trial and flag in t.flags for t in part.trials):
            return anchor_of(case, part.comparison, trial)
    return anchor_of(case)
