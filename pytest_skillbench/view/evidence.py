"""One trial that needs a look: why, what the judge said, the pair of outputs with the quoted passages marked, its cost.

Core. Reads full texts through `Texts` only for the trials it shows, and cuts each to its share of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..model import (
    COMPARISONS,
    NEW_ARM,
    ArmName,
    ArmTrial,
    CaseComparison,
    CaseResult,
    CriterionJudgement,
    Flag,
    TrialResult,
    Value,
    Verdict,
    Vote,
)
from .cost import trial_cost
from .excerpts import Excerpt, Passage, excerpt
from .page import Broken, Changed, CriterionSaid, Evidence, Figure, Judged
from .parts import Link, Note
from .sure import anchor_of
from .texts import Budget, Cut, brief, cut, few, tail
from .words import ARM_SPOKEN, COMPARISON_TITLE, byte_count, capital, encoded, plural, readable

_FINDINGS = 6
#: So many criteria of a judgement are shown.
CRITERIA = 12


class Texts(Protocol):
    """Where the whole texts of a run are read from; None where there is no such text."""

    def output(self, case: str, trial: int, arm: ArmName, /) -> str | None:
        """Return an arm's final message."""

    def changes(self, case: str, trial: int, arm: ArmName, /) -> str | None:
        """Return the unified diff of what an arm changed in its world."""


class Context(Value, frozen=True):
    """What every part of a report needs: the run's texts, each text's share of the page, where the record lies."""

    texts: Texts
    budget: Budget
    run_link: str
    price_table: str
    versus: dict[str, str]

    def file(self, kind: str, name: str) -> str:
        """Return the link to a file of the run record, as seen from the report."""
        return encoded(f"{self.run_link}/{kind}/{name}")


class Pair(Value, frozen=True):
    """The two arms of a comparison's trial, new first."""

    case: CaseResult
    part: CaseComparison
    trial: TrialResult
    opponent: ArmName

    @property
    def anchor(self) -> str:
        """Return the id of the trial's evidence."""
        return anchor_of(self.case.case.name, self.part.comparison, self.trial.trial)

    def arm(self, name: ArmName) -> ArmTrial | None:
        """Return what an arm did in this trial."""
        return self.case.arm(name, self.trial.trial)

    def labelled(self, vote: Vote, label: str) -> ArmName:
        """Return which arm a judge saw under a label."""
        return NEW_ARM if label == vote.new_label else self.opponent


def opponent_of(part: CaseComparison) -> ArmName:
    """Return the arm that the new skill meets in a comparison."""
    return next(c.opponent for c in COMPARISONS if c.name == part.comparison)


def needs_look(trial: TrialResult) -> bool:
    """Return whether a trial's evidence is put in front of the reader."""
    return trial.outcome in ("LOSS", "GATE", "INVALID") or bool(trial.flags) or trial.inconsistent or trial.gate_failed


def looked_at(case: CaseResult, context: Context) -> tuple[tuple[Pair, bool], ...]:
    """Return a case's trials that need a look, and whether each is shown whole: losses first, as the page has room."""
    found: list[tuple[Pair, bool]] = []
    for part in case.comparisons:
        opponent = opponent_of(part)
        pairs = [Pair(case=case, part=part, trial=t, opponent=opponent) for t in part.trials if needs_look(t)]
        urgent = sorted(pairs, key=lambda pair: pair.trial.outcome not in ("LOSS", "GATE"))
        whole = {pair.trial.trial for pair in urgent[: context.budget.full]}
        found += [(pair, pair.trial.trial in whole) for pair in pairs]
    return tuple(found)


def evidence(pair: Pair, context: Context, full: bool) -> Evidence:
    """Return what is shown of one trial in one comparison; without `full`, the outputs are links only."""
    trial = pair.trial
    passages = _passages(pair) if full else ()
    shown = _excerpts(pair, passages, context) if full else {}
    anchors = {number: anchor for found in shown.values() for number, anchor in found.anchors.items()}
    arms: tuple[ArmName, ...] = (NEW_ARM, pair.opponent)
    return Evidence(
        anchor=pair.anchor,
        title=f"Trial {trial.trial}: {_title(trial, pair.part.verdict)}",
        versus=f"{COMPARISON_TITLE[pair.part.comparison]}, {context.versus[pair.part.comparison]}",
        reason=capital(brief(trial.reason, context.budget.finding)) if trial.reason else "",
        findings=_findings(trial, context),
        broken=_broken(pair, context) if trial.gate_failed else (),
        judged=tuple(_judged(pair, index, passages, anchors, context, full) for index in range(len(trial.votes))),
        figures=tuple(_figure(pair, name, shown.get(name), context, full) for name in arms),
        folded=full and trial.outcome not in ("LOSS", "GATE"),
        brief=not full,
        changed=tuple(c for name in arms if full and (c := _changed(pair, name, context)) is not None),
        cost=trial_cost((pair.arm(NEW_ARM), pair.arm(pair.opponent)), context.price_table),
    )


def _title(trial: TrialResult, verdict: Verdict) -> str:
    if trial.outcome == "LOSS":
        return "flagged loss" if verdict == "pass" else "loss"
    words = {"GATE": "hard assertion failed, not judged", "INVALID": "invalid, not scored", "WIN": "win", "TIE": "tie"}
    noted = trial.flags or trial.inconsistent or trial.gate_failed
    return words[trial.outcome] + (", with a note" if trial.outcome in ("WIN", "TIE") and noted else "")


def _findings(trial: TrialResult, context: Context) -> tuple[Note, ...]:
    """Return the audit's notes; what a judge misquoted is said beside the judge's own words."""
    flags = [flag for flag in trial.flags if flag.kind != "unverified-quote"]
    notes = [_finding(flag, context) for flag in flags[:_FINDINGS]]
    if len(flags) > _FINDINGS:
        notes.append(Note(text=f"and {len(flags) - _FINDINGS} more", icon="warn"))
    return tuple(notes)


def _finding(flag: Flag, context: Context) -> Note:
    kind = readable(flag.kind)
    where = f"{flag.arm} arm: " if flag.arm else ""
    text = brief(f"{where}{flag.detail}", context.budget.finding)
    source = brief(flag.evidence, context.budget.finding)
    return Note(lead=kind[:1].upper() + kind[1:], text=text + (f" ({source})" if source else ""), icon="warn")


def _broken(pair: Pair, context: Context) -> tuple[Broken, ...]:
    arm = pair.arm(NEW_ARM)
    commands = pair.case.case.assertions
    return tuple(
        Broken(
            command=brief(commands[result.assertion].command, context.budget.command),
            outcome="timed out" if result.timed_out else f"exit {result.exit_code}",
            stderr=tail(result.stderr, context.budget.stderr),
        )
        for result in (arm.gate if arm else ())
        if result.assertion < len(commands) and (result.timed_out or result.exit_code not in (0, None))
    )


def _quotes(criteria: Sequence[CriterionJudgement]) -> list[tuple[int, str, str]]:
    """Return the quotes of a judgement as (index of the criterion said, label of the output, quote)."""
    return [
        (index, label, quote)
        for index, said in enumerate(criteria[:CRITERIA])
        for label, quote in (("A", said.quote_a), ("B", said.quote_b))
        if quote
    ]


class _Cited(Value, frozen=True):
    """A verified quote with where it comes from."""

    vote: int
    said: int
    arm: ArmName
    passage: Passage


def _passages(pair: Pair) -> tuple[_Cited, ...]:
    """Return the verified quotes, numbered, of all judges of a trial, in reading order."""
    cited: list[_Cited] = []
    for at, vote in enumerate(pair.trial.votes):
        for said, label, quote in _quotes(vote.criteria):
            if quote in vote.unverified_quotes:
                continue
            number = len(cited) + 1
            passage = Passage(number=number, quote=quote, anchor=f"{pair.anchor}.{number}")
            cited.append(_Cited(vote=at, said=said, arm=pair.labelled(vote, label), passage=passage))
    return tuple(cited)


def _excerpts(pair: Pair, cited: Sequence[_Cited], context: Context) -> dict[ArmName, Excerpt]:
    found: dict[ArmName, Excerpt] = {}
    for name in (NEW_ARM, pair.opponent):
        text = context.texts.output(pair.case.case.name, pair.trial.trial, name)
        if text is not None:
            found[name] = excerpt(text, [c.passage for c in cited if c.arm == name], context.budget.output)
    return found


def _judged(
    pair: Pair, at: int, cited: Sequence[_Cited], anchors: dict[int, str], context: Context, full: bool
) -> Judged:
    vote = pair.trial.votes[at]
    said = []
    for index, criterion in enumerate(vote.criteria[:CRITERIA] if full else ()):
        mine = [c.passage for c in cited if c.vote == at and c.said == index]
        unverified = [q for i, _, q in _quotes(vote.criteria) if i == index and q in vote.unverified_quotes]
        better = criterion.better
        said.append(
            CriterionSaid(
                number=f"C{criterion.criterion}",
                better="tie" if better == "TIE" else pair.labelled(vote, better),
                because=cut(criterion.because, context.budget.because),
                refs=tuple(Link(href=f"#{anchors[p.number]}", text=str(p.number)) for p in mine if p.number in anchors),
                unseen=tuple(brief(p.quote, context.budget.because) for p in mine if p.number not in anchors),
                unverified=tuple(brief(q, context.budget.because) for q in unverified),
            )
        )
    return Judged(
        rationale=cut(vote.rationale, context.budget.rationale), byline=byline(pair, vote), criteria=tuple(said)
    )


def byline(pair: Pair, vote: Vote) -> str:
    """Return who judged, what was preferred, and how the two arms were shown."""
    seats = [v.seat for v in pair.trial.votes]
    who = "Judge, blind"
    if vote.seat == "swap":
        who += ", the other order"
    elif len([s for s in seats if s != "swap"]) > 1:
        who += f", panel seat {vote.seat}"
    strength = f", {brief(vote.strength, 20)}" if vote.strength and vote.winner != "TIE" else ""
    choice = "a tie" if vote.winner == "TIE" else f"{vote.winner}{strength}"
    other = "B" if vote.new_label == "A" else "A"
    shown = sorted(((vote.new_label, NEW_ARM), (other, pair.opponent)))
    names = ", ".join(f"{label} was {ARM_SPOKEN[name]}" for label, name in shown)
    model = f" ({brief(vote.model, 60)})" if vote.model else ""
    return f"{who}{model}: {choice}. {names}."


def _figure(pair: Pair, name: ArmName, shown: Excerpt | None, context: Context, full: bool) -> Figure:
    trial = pair.trial
    vote = trial.votes[0] if trial.votes else None
    label = ""
    preferred = ""
    if vote is not None:
        label = vote.new_label if name == NEW_ARM else "B" if vote.new_label == "A" else "A"
        settled = {"WIN": NEW_ARM, "LOSS": pair.opponent}.get(trial.outcome)
        preferred = "" if settled is None else "yes" if settled == name else "no"
    arm = pair.arm(name)
    there = shown is not None or (not full and arm is not None and arm.output_bytes is not None)
    missing = ""
    link = None
    if there:
        size = f", {byte_count(arm.output_bytes)}" if arm and arm.output_bytes is not None else ""
        file = context.file("outputs", f"{pair.case.case.name}.{trial.trial}.{name}.md")
        link = Link(href=file, text=f"open the whole output{size}")
    else:
        missing = brief(arm.problem, context.budget.finding) if arm and arm.problem else "no final message was recorded"
    return Figure(
        arm=name,
        shown_as=f"shown as {label}" if label else "",
        preferred=preferred,
        pieces=shown.pieces if shown else (),
        more=shown.more if shown else "",
        link=link,
        missing=missing,
    )


def _changed(pair: Pair, name: ArmName, context: Context) -> Changed | None:
    """Return what an arm changed in its world, None where it changed nothing."""
    arm = pair.arm(name)
    if arm is None or not arm.changes:
        return None
    case, trial = pair.case.case.name, pair.trial.trial
    files = [
        f"{change.change} {change.path}" + (f", {byte_count(change.bytes)}" if change.bytes is not None else "")
        for change in arm.changes
    ]
    diff = context.texts.changes(case, trial, name)
    shown: Cut | None = cut(diff, context.budget.diff) if diff else None
    link = Link(href=context.file("changes", f"{case}.{trial}.{name}.diff"), text="open the whole diff")
    return Changed(
        arm=f"{name} changed {plural(len(arm.changes), 'file')}",
        files=few(files, context.budget.files),
        diff=shown,
        link=link if shown else None,
    )
