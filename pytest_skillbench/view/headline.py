"""The "so what": a run's two verdicts read together into one sentence, from its values alone.

Core. Used by the report, the leaderboard, the terminal and the command line, so that they never tell different stories.
"""

from __future__ import annotations

from ..model import CaseComparison, ComparisonName, SkillResult
from .words import capital, numeral, plural


def headline(result: SkillResult) -> str:
    """Return the sentence that reads Efficacy and Regression together. Always ends in a full stop."""
    if not result.cases:
        return "Nothing measured: this skill has no cases."
    efficacy = result.verdict("efficacy").verdict
    regression = result.verdict("regression").verdict
    if regression == "not-applicable":
        return _alone(result)
    known_bad = {
        ("fail", "fail"): f"{_lacking(result)}, and this edit regressed {_cases(result, 'regression')}.",
        ("fail", "pass"): f"{_lacking(result)}; the edit made no case worse.",
        ("fail", "incomplete"): f"{_lacking(result)}; whether the edit made it worse is not known yet.",
        ("pass", "fail"): f"Still valuable, but this edit regressed {_cases(result, 'regression')}.",
        ("incomplete", "fail"): (
            f"This edit regressed {_cases(result, 'regression')}; whether the skill beats no skill is not known yet."
        ),
    }
    others = {
        ("pass", "pass"): "Safe edit, and the skill earns its keep.",
        ("pass", "incomplete"): "Earns its keep; whether this edit made it worse is not known yet.",
        ("incomplete", "pass"): "This edit made no case worse; whether the skill beats no skill is not known yet.",
        ("incomplete", "incomplete"): f"No verdict yet: evidence is missing in {_open_cases(result)}.",
    }
    return (known_bad | others)[efficacy, regression]


def _alone(result: SkillResult) -> str:
    verdict = result.verdict("efficacy")
    if verdict.verdict == "pass":
        return "Earns its keep: it beats no skill on every case."
    if verdict.verdict == "fail":
        return f"{_lacking(result)}."
    return f"No verdict yet: evidence is missing in {_open_cases(result)}."


def _lacking(result: SkillResult) -> str:
    """Return what a red Efficacy means: a malformed output is not the same as an output that adds nothing."""
    failed = [c for c in _of(result, "efficacy") if c.verdict == "fail"]
    gated = [c for c in failed if any(t.gate_failed for t in c.trials)]
    if len(gated) == len(failed):
        return f"Breaks its hard assertions in {numeral(len(gated))} case{'' if len(gated) == 1 else 's'}"
    passed = result.verdict("efficacy").cases_passed
    return f"Not shown to beat no skill: it does on {passed} of {plural(len(result.cases), 'case')}"


def _cases(result: SkillResult, name: ComparisonName) -> str:
    number = sum(c.verdict == "fail" for c in _of(result, name))
    return f"{numeral(number)} case{'' if number == 1 else 's'}"


def _open_cases(result: SkillResult) -> str:
    number = sum(any(c.verdict == "incomplete" for c in case.comparisons) for case in result.cases)
    return f"{number} of {plural(len(result.cases), 'case')}"


def _of(result: SkillResult, name: ComparisonName) -> list[CaseComparison]:
    return [found for case in result.cases if (found := case.comparison(name)) is not None]


def case_line(comparisons: tuple[CaseComparison, ...]) -> str | None:
    """Return a case's one-liner, composed from its values; None where the row already says all there is.

    Only cases that need a look (a fail, a missing piece, a flagged loss) get a sentence.
    """
    by_name = {c.comparison: c for c in comparisons}
    names: tuple[ComparisonName, ...] = ("regression", "efficacy")
    parts = [text for name in names if (found := by_name.get(name)) and (text := _case_part(found))]
    return capital("; ".join(parts)) + "." if parts else None


def _case_part(found: CaseComparison) -> str | None:
    total = found.rule.trials
    opponent = "no skill" if found.comparison == "efficacy" else "the released version"
    if found.verdict == "incomplete":
        return f"not decided against {opponent}: {found.invalid} of {total} trials can't be scored"
    if found.verdict == "fail" and any(t.gate_failed for t in found.trials):
        broken = sum(t.gate_failed for t in found.trials)
        return f"broke a hard assertion in {broken} of {total} trials"
    if found.verdict == "fail" and found.losses > found.rule.max_losses:
        return f"lost {found.losses} of {total} trials to {opponent}"
    if found.verdict == "fail":
        return f"won only {found.wins} of {total} trials against {opponent}"
    if found.losses:
        return f"passes against {opponent}, with {plural(found.losses, 'loss', 'losses')} to look at"
    return None
