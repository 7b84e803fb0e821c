"""A case and the result of its recorded run -> its test nodes and their outcomes (FORMATS section 5).

Core: no pytest, no files; each outcome is a function of what was read, never of another node's outcome. The pytest
face (`nodes`) only carries out what is decided here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

from .errors import Problem
from .model import (
    COMPARISONS,
    NEW_ARM,
    Assertion,
    CaseComparison,
    CaseResult,
    ComparisonName,
    GateResult,
    Rule,
    TrialResult,
    Value,
)
from .pairs import arm_problem, gate_failed, gate_problem
from .text import one_line, visible

if TYPE_CHECKING:
    from .scoring import Scored

Kind: TypeAlias = Literal["case", "gate", "trial", "rule"]
Status: TypeAlias = Literal["passed", "failed", "skipped", "flagged"]

#: How much of an assertion's output a failing node shows; the report links the whole.
TAIL_LINES = 8
TAIL_CHARACTERS = 2000
RATIONALE_CHARACTERS = 300


class NodeName(Value, frozen=True):
    """One node of a case: `name` is the leaf of its node id."""

    name: str
    kind: Kind
    comparison: ComparisonName | None = None
    trial: int | None = None


class NodeOutcome(Value, frozen=True):
    """What a node comes to.

    `status` "flagged" is a LOSS that its case passes in spite of. `word` and `letter` are what the terminal shows
    (None: the test runner's own). `result` is the machine's word. `lines`, the reason first, are safe to print. `stale`
    says what has changed since the run.
    """

    status: Status
    result: str
    lines: tuple[str, ...] = ()
    word: str | None = None
    letter: str | None = None
    stale: tuple[str, ...] = ()


class CaseView(Value, frozen=True):
    """All that the outcomes of one case are made from.

    `skill`: its name, None where the case maps to none. `path`: case.md as the user would type it. `problems`: what is
    wrong with it, its fixture or its place, errors only. `scored`: the skill's recorded run, None with `skill`.
    `recorded`: this case's part of it. `stale`: what has changed since, one safe sentence each.
    """

    skill: str | None
    name: str
    path: str
    problems: tuple[Problem, ...]
    scored: Scored | None
    recorded: CaseResult | None
    stale: tuple[str, ...]
    require_runs: bool = False
    require_fresh: bool = False


def case_view(
    *,
    skill: str | None,
    name: str,
    path: str,
    problems: tuple[Problem, ...],
    scored: Scored | None,
    require_runs: bool = False,
    require_fresh: bool = False,
) -> CaseView:
    """Return the view of a case; what the skill's recorded run says of it is looked up here, once."""
    result = scored.result if scored else None
    recorded = result.case(name) if result else None
    return CaseView(
        skill=skill,
        name=name,
        path=path,
        problems=problems,
        scored=scored,
        recorded=recorded,
        stale=tuple(one_line(sentence) for sentence in result.stale) if result and recorded else (),
        require_runs=require_runs,
        require_fresh=require_fresh,
    )


def node_names(trials: int, *, gated: bool) -> Iterator[NodeName]:
    """Yield the nodes of a case in their order: the case, its gate (with hard assertions), the trials, the rules."""
    numbers = range(1, trials + 1)
    yield NodeName(name="case", kind="case")
    if gated:
        for trial in numbers:
            yield NodeName(name=f"gate-trial-{trial}", kind="gate", trial=trial)
    for comparison in COMPARISONS:
        for trial in numbers:
            name = f"{comparison.name}-trial-{trial}"
            yield NodeName(name=name, kind="trial", comparison=comparison.name, trial=trial)
    for comparison in COMPARISONS:
        yield NodeName(name=comparison.name, kind="rule", comparison=comparison.name)


def outcome(view: CaseView, node: NodeName) -> NodeOutcome:
    """Return the outcome of one node."""
    if node.kind == "case":
        return _case(view)
    without = _without_result(view, node)
    if without is not None:
        return without
    found = view.recorded
    assert found is not None  # noqa: S101 - `_without_result` has answered where there is none
    if node.kind == "gate":
        return _gate(view, found, node.trial or 0)
    comparison = found.comparison(node.comparison) if node.comparison else None
    if comparison is None:
        return _not_applicable(view, node)
    if node.kind == "trial":
        return _trial(view, comparison, node.trial or 0)
    return _rule(view, comparison)


def _case(view: CaseView) -> NodeOutcome:
    """Return whether the case itself is sound: it parses, its fixture and its skill are there, its run can be read."""
    lines = [str(problem) for problem in view.problems]
    result = "broken"
    if view.scored is not None and view.scored.state == "broken":
        lines += [f"the run record can't be used: {problem}" for problem in view.scored.problems]
    stale = view.stale
    if not lines and stale and view.require_fresh:
        lines, result = _stale_lines(stale), "stale"
    if lines:
        return NodeOutcome(status="failed", result=result, lines=tuple(lines), stale=stale)
    return NodeOutcome(status="passed", result="stale" if stale else "ok", stale=stale)


def _stale_lines(stale: tuple[str, ...]) -> list[str]:
    return [f"STALE: {stale[0]}", *stale[1:]]


def _without_result(view: CaseView, node: NodeName) -> NodeOutcome | None:
    """Return the outcome of a node that no recorded result speaks of, None where one does."""
    if view.recorded is not None:
        return None
    scored = view.scored
    if scored is None:
        return _absent(view, "no-skill", "no run recorded: this case maps to no skill")
    if scored.state == "broken":
        first = str(scored.problems[0])
        if node.kind == "rule":
            line = f"INCOMPLETE: the run record can't be used: {first}"
            return NodeOutcome(status="failed", result="incomplete", lines=(line,), word="INCOMPLETE")
        return _absent(view, "broken", f"the run record can't be used: {first}")
    again = f"run /benchmark-skill {view.skill}"
    if scored.result is None:
        return _absent(view, "no-run", f"no run recorded: {again}")
    run_id = scored.result.plan.run_id
    return _absent(view, "not-in-run", f"not in the recorded run {run_id}: {again}")


def _absent(view: CaseView, result: str, reason: str) -> NodeOutcome:
    status: Status = "failed" if view.require_runs else "skipped"
    return NodeOutcome(status=status, result=result, lines=(one_line(reason),))


def _not_applicable(view: CaseView, node: NodeName) -> NodeOutcome:
    """Return the outcome in a comparison that the recorded run does not draw."""
    plan = view.scored.result.plan if view.scored and view.scored.result else None
    stale = view.stale if node.kind == "rule" else ()
    reason = f"not applicable: {(plan.base_reason if plan else None) or 'there is no previous version'}"
    if stale and view.require_fresh:
        # what has changed may be what makes the comparison applicable
        return NodeOutcome(status="failed", result="stale", lines=tuple(_stale_lines(stale)), stale=stale)
    return NodeOutcome(status="skipped", result="not-applicable", lines=(one_line(reason),), stale=stale)


# -- hard assertions ---------------------------------------------------------------------------------------------------


def _gate(view: CaseView, found: CaseResult, trial: int) -> NodeOutcome:
    """Return whether every hard assertion held on the new-skill arm of a trial; skipped where that is not known."""
    record = view.scored.record if view.scored else None
    name = found.case.name
    missing = arm_problem(record, name, trial, NEW_ARM) if record is not None else "has not run"
    arm = record.arms.get((name, trial, NEW_ARM)) if record is not None else None
    if missing is not None or arm is None:
        return NodeOutcome(
            status="skipped", result="INVALID", lines=(one_line(f"{NEW_ARM} arm: {missing}"),), word="INVALID"
        )
    if gate_failed(arm, found.case):
        lines: list[str] = []
        for result in arm.gate:
            if result.assertion < len(found.case.assertions):
                lines += _assertion_lines(view.path, found.case.assertions[result.assertion], result)
        return NodeOutcome(status="failed", result="fail", lines=tuple(lines))
    unknown = gate_problem(arm, found.case)
    if unknown is not None:
        return NodeOutcome(status="skipped", result="not-run", lines=(one_line(unknown),), word="NOT RUN")
    return NodeOutcome(status="passed", result="pass")


def _assertion_lines(path: str, assertion: Assertion, result: GateResult) -> Iterator[str]:
    """Yield what a failed assertion was, how it ended and the end of what it said; nothing for one that held."""
    if result.timed_out:
        ended = "timed out"
    elif result.exit_code in (0, None):
        return
    else:
        ended = f"exit code {result.exit_code}"
    title = f" ({one_line(assertion.title, 200)})" if assertion.title else ""
    command = one_line(assertion.command, 500)
    yield f"{one_line(path)}:{assertion.line}: hard assertion failed, {ended}{title}: {command}"
    if "\n" in assertion.command.strip():
        yield from (f"    $ {line}" for line in visible(assertion.command.strip()).split("\n"))
    for label, text in (("stderr", result.stderr), ("stdout", result.stdout)):
        yield from (f"    {label}: {line}" for line in _tail(text))


def _tail(text: str) -> list[str]:
    """Return the last lines of a program's output, safe to print, with a mark where the rest was cut."""
    shown = visible(text.strip("\r\n"))
    if not shown:
        return []
    cut = shown[-TAIL_CHARACTERS:]
    lines = cut.split("\n")
    dropped = len(cut) < len(shown) or len(lines) > TAIL_LINES
    return [*(["… (cut; the run record holds the rest)"] if dropped else []), *lines[-TAIL_LINES:]]


# -- trials and rules --------------------------------------------------------------------------------------------------


def _trial(view: CaseView, comparison: CaseComparison, number: int) -> NodeOutcome:
    """Return the outcome of one trial.

    A LOSS fails only where the rule says that the losses fail the case. Where the case passes, or is not decided yet
    (then the rule node fails as INCOMPLETE, so nothing turns green by it), the LOSS is flagged.
    """
    trial = next((t for t in comparison.trials if t.trial == number), None)
    if trial is None:
        return _absent(view, "not-in-run", f"no trial {number} in the recorded run")
    if trial.outcome in ("WIN", "TIE"):
        return NodeOutcome(status="passed", result=trial.outcome, word=trial.outcome, letter=trial.outcome[0])
    reason = _trial_reason(trial)
    status: Status
    if trial.outcome == "INVALID":
        return NodeOutcome(status="skipped", result="INVALID", lines=(reason,), word="INVALID")
    status = "failed" if trial.outcome == "GATE" or comparison.verdict == "fail" else "flagged"
    word = trial.outcome if status == "failed" else "LOSS (flagged)"
    lines = (reason, *_judges(trial))
    return NodeOutcome(status=status, result=trial.outcome, lines=lines, word=word, letter=trial.outcome[0])


def _trial_reason(trial: TrialResult) -> str:
    if trial.outcome == "LOSS":
        strength = next((vote.strength for vote in trial.votes if vote.outcome == "LOSS" and vote.strength), None)
        return f"LOSS{f' ({one_line(strength)})' if strength else ''}: the judge preferred the other arm's output"
    return one_line(f"{trial.outcome}: {trial.reason or 'no reason was recorded'}")


def _judges(trial: TrialResult) -> Iterator[str]:
    for vote in trial.votes:
        if vote.rationale.strip():
            yield f"    judge {vote.seat}: {vote.outcome}: {one_line(vote.rationale, RATIONALE_CHARACTERS)}"


def _rule(view: CaseView, comparison: CaseComparison) -> NodeOutcome:
    """Return the verdict of the pass rule over the trials of a case."""
    stale = view.stale
    verdict = comparison.verdict
    counts = f"{_counts(comparison)}; the rule: {_rule_text(comparison.rule)}"
    if verdict == "pass":
        if stale and view.require_fresh:
            return NodeOutcome(status="failed", result="stale", lines=tuple(_stale_lines(stale)), stale=stale)
        return NodeOutcome(status="passed", result="pass", lines=(counts,), stale=stale)
    if verdict == "not-applicable":
        return NodeOutcome(status="skipped", result=verdict, lines=(comparison.why or "not applicable",), stale=stale)
    why = one_line(comparison.why or "no reason was given")
    first = why if verdict == "fail" else f"INCOMPLETE: {why}"
    details = [f"    trial {t.trial}: {_trial_reason(t)}" for t in comparison.trials if t.outcome not in ("WIN", "TIE")]
    lines = [first, counts, *details]
    if stale:
        lines += _stale_lines(stale)
    word = "INCOMPLETE" if verdict == "incomplete" else None
    return NodeOutcome(status="failed", result=verdict, lines=tuple(lines), word=word, stale=stale)


def _plural(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _counts(comparison: CaseComparison) -> str:
    parts = [
        _plural(comparison.wins, "win", "wins"),
        _plural(comparison.ties, "tie", "ties"),
        _plural(comparison.losses, "loss", "losses"),
    ]
    if comparison.gates:
        parts.append(f"{comparison.gates} stopped at the gate")
    if comparison.invalid:
        parts.append(f"{comparison.invalid} invalid")
    return f"{', '.join(parts)} of {comparison.rule.trials}"


def _rule_text(rule: Rule) -> str:
    losses = f"at most {_plural(rule.max_losses, 'loss', 'losses')}"
    return losses if rule.min_wins is None else f"at least {_plural(rule.min_wins, 'win', 'wins')} and {losses}"
