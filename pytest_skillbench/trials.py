"""One trial in one comparison: two arm records and the judgements of the pair -> WIN, TIE, LOSS, GATE or INVALID.

Core: everything comes from the run record it is handed. This is where the judges are unblinded, where audit findings
make a trial INVALID, and where several judgements of one pair become one outcome.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal, TypeAlias

from .model import (
    NEW_ARM,
    ArmName,
    ArmRecord,
    Comparison,
    Flag,
    JudgementRecord,
    Label,
    Outcome,
    PlannedCase,
    Seat,
    TrialResult,
    Vote,
)
from .pairs import pair
from .record import RunRecord, judgement_stem

Judged: TypeAlias = Literal["WIN", "TIE", "LOSS"]

PANEL: tuple[Seat, ...] = (2, 3)
SEATS_AFTER_FIRST: tuple[Seat, ...] = ("swap", *PANEL)


class _InvalidError(Exception):
    """Raised inside this module where a trial can't be scored, with the reason; never leaves it."""


def score(record: RunRecord, case: PlannedCase, trial: int, comparison: Comparison) -> TrialResult:
    """Return the outcome of one trial in one comparison, with its reason, votes and flags.

    The order of the questions is FORMATS section 3's: is the new arm usable; did a hard assertion fail (efficacy);
    is the other arm usable and of the same model (all of `pairs`); what did the judges say.
    """
    found = pair(record, case, trial, comparison)
    flags = [*_audit_flags(found.new), *_audit_flags(found.other)]
    votes: tuple[Vote, ...] = ()
    outcome: Outcome = "INVALID"
    reason = found.problem
    inconsistent = False
    first = record.judgements.get((case.name, trial, comparison.name, 1))
    identical = reason is None and first is not None and first.status == "identical"
    try:
        if identical and not found.same:
            raise _InvalidError("the judgement says identical, but the two outputs or changes differ")
        if identical:
            outcome = "TIE"
        elif reason is None:
            votes = _votes(record, case, trial, comparison)
            outcome, inconsistent = _combine(votes, record, case, trial, comparison)
    except _InvalidError as why:
        identical, reason = False, str(why)
    if found.gate_failed and outcome == "INVALID":
        outcome, reason = "GATE", "a hard assertion failed, so no judge was asked"
    for vote in votes:
        flags += [
            Flag(kind="unverified-quote", detail=quote, evidence=f"judge {vote.seat}")
            for quote in vote.unverified_quotes
        ]
    if inconsistent:
        flags.append(Flag(kind="inconsistent", detail="the two orders gave different answers", evidence="both-orders"))
    return TrialResult(
        trial=trial,
        outcome=outcome,
        reason=reason,
        new_label=votes[0].new_label if votes else None,
        votes=votes,
        identical=identical,
        inconsistent=inconsistent,
        gate_failed=found.gate_failed,
        flags=tuple(flags),
    )


def _audit_flags(arm: ArmRecord | None) -> list[Flag]:
    if arm is None:
        return []
    flags = [Flag(kind=f.kind, detail=f.detail, evidence=f.evidence, arm=arm.arm) for f in arm.audit.findings]
    kinds = {flag.kind for flag in flags}
    if arm.arm != "no-skill" and arm.audit.skill_loaded is False and "skill-not-loaded" not in kinds:
        flags.append(Flag(kind="skill-not-loaded", detail="SKILL.md was never opened", evidence="audit", arm=arm.arm))
    if arm.arm == "no-skill" and arm.audit.skill_loaded and "contaminated" not in kinds:
        flags.append(Flag(kind="contaminated", detail="the baseline opened the skill", evidence="audit", arm=arm.arm))
    return flags


def _votes(record: RunRecord, case: PlannedCase, trial: int, comparison: Comparison) -> tuple[Vote, ...]:
    """Return every usable judgement of the pair, first, swap, panel. Raises _InvalidError where the first is not."""
    votes = [_vote(record, _judgement(record, case.name, trial, comparison, 1), case, comparison)]
    for seat in SEATS_AFTER_FIRST:
        try:
            votes.append(_vote(record, _judgement(record, case.name, trial, comparison, seat), case, comparison))
        except _InvalidError:
            continue  # `_combine` knows which seats the trial can't do without
    return tuple(votes)


def _judgement(record: RunRecord, case: str, trial: int, comparison: Comparison, seat: Seat) -> JudgementRecord:
    """Return a seat's usable judgement, or raise _InvalidError with what is wrong with it."""
    found = record.judgements.get((case, trial, comparison.name, seat))
    if found is None:
        unusable = record.unusable.get(judgement_stem(case, trial, comparison.name, seat))
        raise _InvalidError(unusable or "judgement missing: no judge has answered")
    if found.status != "ok":
        raise _InvalidError(f"judgement {found.status}" + (f": {found.detail}" if found.detail else ""))
    if found.winner is None:
        raise _InvalidError("judgement malformed: no winner")
    numbers = [criterion.criterion for criterion in found.criteria]
    criteria = next(len(planned.criteria) for planned in record.plan.cases if planned.name == case)
    if len(set(numbers)) < len(numbers) or max(numbers, default=0) > criteria:
        raise _InvalidError(f"judgement malformed: criteria {numbers}, expected each of 1 to {criteria} at most once")
    planned = record.plan.orders.get(f"{case}.{trial}.{comparison.name}")
    if planned is not None and seat in (1, "swap") and (found.order == planned) != (seat == 1):
        raise _InvalidError(f"judgement shown {found.order} against the plan, so who was A is not known")
    return found


def _vote(record: RunRecord, found: JudgementRecord, case: PlannedCase, comparison: Comparison) -> Vote:
    """Unblind one judgement."""
    label: Label = "A" if found.order == "new-first" else "B"
    outcome: Judged = "TIE" if found.winner == "TIE" else "WIN" if found.winner == label else "LOSS"
    arms: dict[str, ArmName] = {label: NEW_ARM, ("B" if label == "A" else "A"): comparison.opponent}
    unverified = []
    texts: dict[str, str] = {}
    for criterion in found.criteria:
        for shown, quote in (("A", criterion.quote_a), ("B", criterion.quote_b)):
            if quote is None:
                continue
            if shown not in texts:
                texts[shown] = _fold(record.output(case.name, found.trial, arms[shown]) or "")
            if not is_quote(quote, texts[shown], folded=True):
                unverified.append(quote)
    return Vote(
        seat=found.seat,
        outcome=outcome,
        new_label=label,
        winner=found.winner or "TIE",
        strength=found.strength,
        rationale=found.rationale,
        criteria=found.criteria,
        unverified_quotes=tuple(unverified),
        model=found.model,
    )


def is_quote(quote: str, text: str, *, folded: bool = False) -> bool:
    """Return whether `quote` stands in `text`, white space folded on both sides. An empty quote is none."""
    needle = _fold(quote)
    return bool(needle) and needle in (text if folded else _fold(text))


def _fold(text: str) -> str:
    return " ".join(text.split())


def _combine(
    votes: tuple[Vote, ...], record: RunRecord, case: PlannedCase, trial: int, comparison: Comparison
) -> tuple[Judged, bool]:
    """Return the outcome of all judgements of a pair, and whether its two orders disagreed.

    Both orders: they agree or it is a TIE. A panel of three: the majority, none is a TIE; a seat that has not answered
    leaves the trial INVALID unless the other two already agree, since no answer of its could then change the outcome.
    """
    seats = {vote.seat: vote.outcome for vote in votes}
    first, inconsistent = seats[1], False
    if record.plan.settings.judging == "both-orders":
        if "swap" not in seats:
            raise _InvalidError("judgement in the other order is missing or malformed")
        inconsistent = seats["swap"] != first
        first = "TIE" if inconsistent else first
    asked = [
        seat
        for seat in PANEL
        if (case.name, trial, comparison.name, seat) in record.judgements
        or judgement_stem(case.name, trial, comparison.name, seat) in record.unusable
    ]
    if not asked:
        return first, inconsistent
    panel = [first, *(outcome for seat, outcome in seats.items() if seat in PANEL)]
    winner, count = Counter(panel).most_common(1)[0]
    if count >= 2:
        return winner, inconsistent
    if len(panel) < 3:
        raise _InvalidError(f"the panel is not complete: {len(panel)} of 3 judges have answered")
    return "TIE", inconsistent
