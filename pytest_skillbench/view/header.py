"""The top and the bottom of a report: badges, metadata, the jump to the failures, what the headline rests on, digests.

Core.
"""

from __future__ import annotations

from ..model import CaseComparison, CaseResult, ComparisonName, SkillResult, SkillVerdict, arms_of
from .parts import Badge, Fact, Link, Note, Tone
from .ribbons import STATE
from .sure import anchor_of
from .texts import brief
from .words import (
    ARM_SHORT,
    COMPARISON_TITLE,
    VERDICT_WORD,
    counts,
    host,
    moment,
    numeral,
    plural,
    signed,
    whole,
)

_NAMED = 3
_JUMPS = 6
_MODELS = 4


def base_name(result: SkillResult) -> str:
    """Return the released version's name: branch and short commit."""
    base = result.plan.base
    return f"{brief(base.branch, 60)}@{base.commit[:7]}" if base else "the previous version"


def branch_name(result: SkillResult) -> str:
    """Return the name of the branch that the previous version comes from."""
    return brief(result.plan.base.branch, 60) if result.plan.base else "the default branch"


def _reason(result: SkillResult) -> str:
    return brief(result.plan.base_reason or "no previous version", 120)


def _parts(result: SkillResult, name: ComparisonName) -> list[tuple[CaseResult, CaseComparison]]:
    return [(case, part) for case in result.cases if (part := case.comparison(name)) is not None]


def _link(case: CaseResult) -> Link:
    return Link(href=f"#{anchor_of(case.case.name)}", text=case.case.name)


def badge(result: SkillResult, name: ComparisonName) -> Badge:
    """Return a comparison's verdict badge, with the cases that a reader should know of."""
    found = result.verdict(name)
    title = COMPARISON_TITLE[name]
    if found.verdict == "not-applicable":
        notes = (Note(text=f"two-arm run: {_reason(result)}"),)
        return Badge(title=title, versus="", state="na", word="n/a", count="", unit="", notes=notes)
    versus = "vs no skill" if name == "efficacy" else f"vs {base_name(result)}"
    return Badge(
        title=title,
        versus=versus,
        state=STATE[found.verdict],
        word=VERDICT_WORD[found.verdict],
        count=f"{found.cases_passed}/{found.cases}",
        unit="case" if found.cases == 1 else "cases",
        notes=_badge_notes(result, found),
    )


def _badge_notes(result: SkillResult, found: SkillVerdict) -> tuple[Note, ...]:
    parts = _parts(result, found.comparison)
    if not parts:
        return (Note(text="no cases, so nothing was shown"),)
    if found.verdict == "pass":
        narrow = [(case, part) for case, part in parts if part.narrowest]
        notes = [
            Note(icon="thin", tone="flag", lead="Narrowest margin:", link=_link(case), text=_distance(part))
            for case, part in narrow
        ]
        return _some(notes, "narrow")
    if found.verdict == "incomplete":
        notes = [
            Note(link=_link(case), text=f": {part.invalid} of {plural(part.rule.trials, 'trial')} can't be scored")
            for case, part in parts
            if part.verdict == "incomplete"
        ]
        return _some(notes, "incomplete")
    return _some(
        [Note(link=_link(case), text=f" {_failing(part)}") for case, part in parts if part.verdict == "fail"], "failing"
    )


def _some(notes: list[Note], kind: str) -> tuple[Note, ...]:
    left = len(notes) - _NAMED
    return (*notes[:_NAMED], Note(text=f"and {left} more {kind} below")) if left > 0 else tuple(notes)


def _distance(part: CaseComparison) -> str:
    flips = part.flips or 0
    return f", {numeral(flips)} flip{'' if flips == 1 else 's'} from failing"


def _failing(part: CaseComparison) -> str:
    """Return in a few words which threshold a failing case missed."""
    total, rule = part.rule.trials, part.rule
    broken = sum(t.gate_failed for t in part.trials)
    if broken:
        return f"breaks a hard assertion in {broken} of {plural(total, 'trial')}"
    if part.losses > rule.max_losses:
        return f"lost {part.losses} of {plural(total, 'trial')}, the rule allows {rule.max_losses or 'none'}"
    return f"won {part.wins} of {plural(total, 'trial')}, the rule needs {rule.min_wins}"


def facts(result: SkillResult) -> tuple[Fact, ...]:
    """Return the run's metadata: when, against what, how, by whom, which proof."""
    plan = result.plan
    arms = arms_of(plan.shape)
    expected = len(plan.cases) * plan.trials * len(arms)
    ran = result.certainty.arm_runs
    facts = [
        Fact(label="Run", text=moment(plan.created_at), machine=plan.created_at),
        Fact(label="Base", text=base_name(result), code=True)
        if plan.shape == "three-arm"
        else Fact(label="Base", text=f"none: {_reason(result)}"),
        Fact(label="Arms", text=", ".join(ARM_SHORT[arm] for arm in arms)),
        Fact(
            label="Trials",
            text=f"{whole(ran)}{'' if ran == expected else f' of {whole(expected)}'} arm runs,"
            f" {plural(result.certainty.judged, 'judgement')}",
        ),
        Fact(label="Client", text=host(plan.host)),
        _models(result),
        Fact(label="Judge", text=_judges(result), code=True),
    ]
    if plan.settings.temperature is not None:
        facts.append(Fact(label="Temperature", text=f"{plan.settings.temperature:g} asked for"))
    if plan.settings.effort:
        facts.append(Fact(label="Effort", text=brief(plan.settings.effort, 40)))
    facts.append(Fact(label="Run id", text=brief(plan.run_id, 80), code=True))
    facts.append(Fact(label="Skill", text=f"sha256:{plan.packages.new_skill.tree_sha256[:12]}", code=True))
    return tuple(fact for fact in facts if fact.text)


def _models(result: SkillResult) -> Fact:
    names = dict.fromkeys(arm.model for case in result.cases for arm in case.arms if arm.model)
    return Fact(label="Model" if len(names) < 2 else "Models", text=_named(list(names)), code=True)


def _judges(result: SkillResult) -> str:
    votes = (v for case in result.cases for part in case.comparisons for t in part.trials for v in t.votes)
    return _named(list(dict.fromkeys(vote.model for vote in votes if vote.model)))


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _MODELS} more" if len(names) > _MODELS else ""
    return ", ".join(brief(name, 60) for name in names[:_MODELS]) + more


def jumps(result: SkillResult) -> tuple[Link, ...]:
    """Return a link to each failed case, the first six; none where nothing is red."""
    failed = [case for case in result.cases if any(part.verdict == "fail" for part in case.comparisons)]
    return tuple(_link(case) for case in failed[:_JUMPS])


def resting_on(result: SkillResult) -> tuple[Note, ...]:
    """Return the values that the composed headline rests on."""
    notes = []
    for found in result.verdicts:
        if found.verdict == "not-applicable" or not found.cases:
            continue
        state = STATE[found.verdict]
        icon = {"pass": "ok", "fail": "no"}.get(state, "part")
        text = f"{COMPARISON_TITLE[found.comparison]} {found.cases_passed}/{plural(found.cases, 'case')}: "
        text += counts(found.wins, found.ties, found.losses, found.gates, found.invalid)
        tone: Tone = "flag" if state in ("part", "na") else "pass" if state == "pass" else "fail"
        notes.append(Note(text=f"{text}, net {signed(found.net)}", icon=icon, tone=tone))
        for case, part in [p for p in _parts(result, found.comparison) if p[1].verdict == "fail"][:_NAMED]:
            spread = counts(part.wins, part.ties, part.losses, part.gates, part.invalid)
            notes.append(Note(link=_link(case), text=f": {spread}, {_failing(part)}", icon="no", tone="fail"))
    return tuple(notes)


def digests(result: SkillResult) -> tuple[Fact, ...]:
    """Return the full digests of what was compared, for the footer."""
    packages = result.plan.packages
    facts = [Fact(label="Skill", text=f"sha256:{packages.new_skill.tree_sha256}", code=True)]
    if packages.previous_version is not None:
        facts.append(Fact(label="Previous", text=f"sha256:{packages.previous_version.tree_sha256}", code=True))
    facts.append(Fact(label="Cases", text=f"sha256:{result.plan.suite_sha256}", code=True))
    return tuple(facts)
