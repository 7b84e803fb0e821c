"""One trial of a run of ours -> how each arm is graded by each criterion of an exported case.

Core. Hard assertions are graded as they ran. A soft criterion is judged by comparison alone, so what it can say of an
arm is that it was at least as good as the other one; the criterion's description says that. Whatever is not known is
"blocked" or "not-run" with the reason, and never a pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from ..model import EFFICACY, NEW_ARM, ArmName, ArmRecord, PlannedCase, TrialResult, Vote
from ..pairs import arm_problem
from ..record import RunRecord
from ..text import one_line
from ..trials import score
from .records import Criterion, CriterionResult, Graded, Variant

Better: TypeAlias = Literal["new", "other", "tie"]

#: The two arms of the efficacy comparison by the names that evidence has for them.
ARM_OF: dict[Variant, ArmName] = {"treatment": NEW_ARM, "baseline": EFFICACY.opponent}
OUTPUT, CHANGES, RECORD = "output.md", "changes.diff", "arm.json"
HEAD_TO_HEAD = "head-to-head"
TEXT_LIMIT = 2_000


def criteria_of(case: PlannedCase) -> tuple[Criterion, ...]:
    """Return what an exported case is graded by: its hard assertions, its soft criteria, the trial as a whole.

    The hard assertions are critical; where there is none, the soft criteria are.
    """
    hard = [
        Criterion(id=f"assertion-{number}", critical=True, description=fit(f"Hard assertion: {_named(assertion)}"))
        for number, assertion in enumerate(((one.title or one.command) for one in case.assertions), 1)
    ]
    soft = [
        Criterion(
            id=f"criterion-{number}",
            critical=not hard,
            description=fit(f"Judged blind to be at least as good as the other arm in: {text}"),
        )
        for number, text in enumerate(case.criteria, 1)
    ]
    whole = "Judged blind, over all criteria, to be at least as good as the other arm: the trial's Efficacy outcome"
    return (*hard, *soft, Criterion(id=HEAD_TO_HEAD, critical=False, description=whole))


def graded(record: RunRecord, case: PlannedCase, trial: int, variant: Variant) -> Iterator[CriterionResult]:
    """Yield the results of one arm's run by all `criteria_of` its case, in their order."""
    arm = record.arms[case.name, trial, ARM_OF[variant]]
    problem = arm_problem(record, case.name, trial, ARM_OF[variant])
    outcome = score(record, case, trial, EFFICACY)
    for number in range(1, len(case.assertions) + 1):
        yield _assertion(arm, number, variant, problem)
    for number in range(1, len(case.criteria) + 1):
        yield _result(f"criterion-{number}", variant, problem, outcome, *_criterion(outcome, number))
    overall: dict[str, Better] = {"WIN": "new", "TIE": "tie", "LOSS": "other"}
    said = next((vote.rationale for vote in outcome.votes if vote.outcome == outcome.outcome), "")
    yield _result(HEAD_TO_HEAD, variant, problem, outcome, overall.get(outcome.outcome), said or outcome.outcome)


def judgement_path(vote: Vote) -> str:
    """Return where an exported run keeps a judgement."""
    return f"judgements/{vote.seat}.json"


def fit(text: str, limit: int = TEXT_LIMIT) -> str:
    """Return text as evidence takes it: visible, on one line, at most so many bytes, cut with a mark."""
    line = one_line(text, limit) or "(nothing was said)"
    while len(line.encode()) > limit:
        line = line[: len(line) * limit // len(line.encode()) - 1].rstrip() + "…"
    return line


def _named(assertion: str) -> str:
    return assertion if assertion.strip() else "an empty command"


def _assertion(arm: ArmRecord, number: int, variant: Variant, problem: str | None) -> CriterionResult:
    """Grade a hard assertion; a run has them only on the new skill's arm."""
    name = f"assertion-{number}"
    if problem is not None:
        return _open(name, "blocked", problem)
    if variant == "baseline":
        return _open(name, "not-run", "hard assertions are run on the new skill's world only")
    ran = next((result for result in arm.gate if result.assertion == number - 1), None)
    if ran is None or (ran.exit_code is None and not ran.timed_out):
        return _open(name, "blocked", "the assertion was not run to an end")
    verdict: Graded = "pass" if ran.exit_code == 0 and not ran.timed_out else "fail"
    how = "timed out" if ran.timed_out else f"exit code {ran.exit_code}"
    return CriterionResult(id=name, verdict=verdict, reason=how, evidence=(RECORD, OUTPUT))


def _criterion(outcome: TrialResult, number: int) -> tuple[Better | None, str]:
    """Return which arm most judges of a trial found better in one criterion, and one's reason; a split is a tie."""
    if outcome.identical:
        return "tie", "both outputs and both worlds' changes are byte-equal"
    found: list[tuple[Better, str]] = []
    for vote in outcome.votes:
        for criterion in vote.criteria:
            if criterion.criterion == number:
                side: Better = "new" if criterion.better == vote.new_label else "other"
                found.append(("tie" if criterion.better == "TIE" else side, criterion.because))
    if not found:
        return None, "no judge said anything of this criterion"
    sides = [side for side, _ in found]
    new, other = sides.count("new"), sides.count("other")
    ties = sides.count("tie")
    better: Better = "new" if new > other + ties else "other" if other > new + ties else "tie"
    return better, next((why for side, why in found if side == better), "the judges differ")


def _result(
    name: str, variant: Variant, problem: str | None, outcome: TrialResult, better: Better | None, why: str
) -> CriterionResult:
    if problem is not None:
        return _open(name, "blocked", problem)
    if outcome.outcome == "INVALID":
        return _open(name, "blocked", f"the trial is INVALID: {outcome.reason}")
    if outcome.outcome == "GATE":
        return _open(name, "not-run", outcome.reason or "a hard assertion failed, so no judge was asked")
    if better is None:
        return _open(name, "blocked", why)
    worse = "other" if variant == "treatment" else "new"
    evidence = (*(judgement_path(vote) for vote in outcome.votes), OUTPUT)
    return CriterionResult(id=name, verdict="fail" if better == worse else "pass", reason=fit(why), evidence=evidence)


def _open(name: str, verdict: Graded, why: str) -> CriterionResult:
    return CriterionResult(id=name, verdict=verdict, reason=fit(why), evidence=())
