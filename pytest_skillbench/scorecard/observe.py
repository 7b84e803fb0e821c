"""What a host saw of one finished job -> an observation: how it ended, what it triggered, which tools it called.

Gather: over what an `Observer` read; writes nothing. Whatever was not seen stays unknown: null, never false or zero.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from ..audit import Places
from ..model import Value
from ..observed import Observed, ToolUse
from ..programs import OPENERS
from ..runstate import Attempt
from ..text import one_line, visible
from ..tools import Used, used
from ..touch import Touch, covers, inside, inside_pattern, parts_of, real
from ..touches import programs_of
from .danger import danger
from .ending import choice, ending
from .jobs import EvalJob
from .listing import names_in
from .observations import reference
from .records import ENDED, Observation, Probe, ScorecardPlan, Status, ToolCall, shortened

#: Why an attempt at a probe did not count, where the client did not offer the skill after all: it is asked next time.
NOT_LISTED = "the client did not list the skill to the probe"
_ASIDE = frozenset({"cd", "pwd", "echo", "true", ":"})
_NAME = 200


class Sight(Value, frozen=True):
    """What an observation is made with, beside the job.

    `places`: where things are; `evals`: the folder of the cases, which no job may read. `names`: what the skill under
    test may be called in a Skill call; `copies`: folders of it that a probe may open. `listing`: what was on offer
    where a probe was asked.
    """

    places: Places
    evals: Path
    names: Collection[str]
    copies: Sequence[Path]
    listing: str


class Looked(Value, frozen=True):
    """A finished attempt: its observation, its final message, and why it does not count if it does not."""

    observation: Observation
    output: bytes | None
    problem: str | None


def probe_of(job: EvalJob, attempt: Attempt, agent: str) -> Probe | None:
    """Return how an attempt at a job sees what is triggered; None for a task. `agent`: our probe's definition."""
    if not job.case.is_probe:
        return None
    return "observed" if attempt.agent.rsplit(":", 1)[-1] == agent else "asked"


class _Found(Value, frozen=True):
    """What is made of how a subagent ended. `problem`: why the attempt does not count, None where it does."""

    status: Status
    detail: str | None
    triggered: bool | None = None
    words: str | None = None
    problem: str | None = None


def look(plan: ScorecardPlan, job: EvalJob, attempt: Attempt, probe: Probe | None, seen: Observed, at: Sight) -> Looked:
    """Return what is to be recorded of a subagent that has settled."""
    status, detail = ending(seen)
    if probe == "observed":
        found = _watched(status, detail, seen, at)
    elif probe == "asked":
        found = _answered(status, detail, seen, at)
    else:
        why = _spoiled(seen.uses, at) if status in ENDED and seen.uses is not None else None
        found = _unknown(why) if why is not None else _Found(status=status, detail=detail)
    problem = found.problem
    if found.status == "failed" or (probe is not None and found.triggered is None):
        problem = problem or found.detail  # nothing is known of what it would have done
    text = seen.final_text.encode("utf-8", "replace") if seen.failed is None and seen.final_text else None
    observation = _observation(
        plan,
        job,
        attempt,
        probe,
        seen,
        status=found.status,
        detail=found.detail,
        triggered=found.triggered,
        words=found.words,
        at=at,
        text=text,
    )
    return Looked(observation=observation, output=text, problem=problem)


def _watched(status: Status, detail: str | None, seen: Observed, at: Sight) -> _Found:
    """Return what a probe that was offered the skill did: it used it, or ended by itself without."""
    words = _used(seen.uses, at) if seen.uses is not None else None
    if words is not None:
        return _Found(status=status, detail=detail, triggered=True, words=words)
    if status not in ("answered", "refused"):
        return _Found(status=status, detail=detail)
    if seen.uses is None:
        return _unknown("the host does not show tool calls")
    if not _listed(seen, at):
        return _unknown(NOT_LISTED)
    return _Found(status=status, detail=detail, triggered=False)


def _answered(status: Status, detail: str | None, seen: Observed, at: Sight) -> _Found:
    """Return what a probe that was asked says that it would use."""
    if status != "answered":
        return _Found(status=status, detail=detail, triggered=False if status == "refused" else None)
    answer = choice(seen.final_text, names_in(at.listing))
    if isinstance(answer, str):
        return _unknown(f"malformed: {answer}")
    named = answer.skill is not None and _is_named(answer.skill, at.names)
    words = f'answered "{answer.skill}"' if answer.skill is not None else "answered that it would use none"
    return _Found(status=status, detail=detail, triggered=named, words=words)


def _unknown(why: str) -> _Found:
    return _Found(status="failed", detail=why, problem=why)


def lost(
    plan: ScorecardPlan,
    job: EvalJob,
    attempt: Attempt,
    probe: Probe | None,
    status: Status,
    why: str,
    seen: Observed | None,
    at: Sight,
) -> Observation:
    """Return the observation of a job that came to nothing: timed out, started twice, or failed before an answer.

    A probe that was seen to use the skill before that has triggered it all the same.
    """
    words = _used(seen.uses, at) if probe == "observed" and seen is not None and seen.uses is not None else None
    triggered = True if words is not None else None
    return _observation(
        plan, job, attempt, probe, seen, status=status, detail=why, triggered=triggered, words=words, at=at, text=None
    )


def never_run(plan: ScorecardPlan, job: EvalJob, why: str) -> Observation:
    """Return the observation of a job that is not run, since its case can't be run as it is meant."""
    attempt = Attempt(label="", number=1, handed_out_at=plan.created_at, brief="", world=None, skill=None, agent="")
    return _observation(
        plan, job, attempt, job.case.probe, None, status="missing", detail=why, triggered=None, words=None, at=None,
        text=None,
    )  # fmt: skip


def _observation(
    plan: ScorecardPlan,
    job: EvalJob,
    attempt: Attempt,
    probe: Probe | None,
    seen: Observed | None,
    *,
    status: Status,
    detail: str | None,
    triggered: bool | None,
    words: str | None,
    at: Sight | None,
    text: bytes | None,
) -> Observation:
    calls = None
    if seen is not None and seen.uses is not None and at is not None:
        calls = tuple(_calls(seen.uses, job.case.expected.tools_used, at))
    return Observation(
        schema_version=1,
        run_id=plan.run_id,
        case=job.case.id,
        trial=job.trial,
        status=status,
        detail=shortened(one_line(detail)) if detail is not None else None,
        attempt=attempt.number,
        probe=probe,
        triggered=triggered,
        seen=shortened(one_line(words)) if words is not None else None,
        tool_calls=calls,
        output=reference(text) if text is not None else None,
        host=seen.host if seen is not None else plan.host,
        host_version=seen.version if seen is not None else None,
        model=seen.model if seen is not None else None,
        started_at=seen.started_at if seen is not None else None,
        duration_ms=seen.duration_ms if seen is not None else None,
        requests=seen.requests if seen is not None else None,
        usage_complete=seen.usage_complete if seen is not None else False,
        usage_notes=seen.usage_notes if seen is not None else (),
        turns=seen.turns if seen is not None else None,
    )


# -- what was triggered ------------------------------------------------------------------------------------------------


def _used(uses: Sequence[ToolUse], at: Sight) -> str | None:
    """Return by what the skill under test was used, in words; None where it was not."""
    files = [parts_of(folder / "SKILL.md", at.places.aliases) for folder in at.copies]
    for use in uses:
        call = _read(use, at)
        if call.skill is not None and _is_named(call.skill, at.names):
            return "Skill call" + (
                ", which the client refused" if use.refused else ", which failed" if use.error else ""
            )
        if use.refused or (use.error and call.atomic):
            continue
        for touch in call.touches:
            parts = _parts(touch, at)
            if touch.reads and any(covers(parts, file, touch) for file in files):
                return "opened SKILL.md"
    return None


def _listed(seen: Observed, at: Sight) -> bool:
    """Return whether the skill was on offer, as far as the host tells; else that was looked at before."""
    return seen.listed is None or any(_is_named(name, at.names) for name in seen.listed)


def _is_named(asked: str, names: Collection[str]) -> bool:
    """Return whether a Skill call, or a listing, names the skill, perhaps as ``/name`` or with its plugin before it."""
    plain = asked.strip().strip("/").rsplit(":", 1)[-1].casefold()
    return plain in {name.casefold() for name in names}


# -- what was done -----------------------------------------------------------------------------------------------------


def _read(use: ToolUse, at: Sight) -> Used:
    places = at.places
    known = [str(path) for path in (places.repo, places.root, *places.copies)]
    return used(use, str(places.cwd), str(places.home) if places.home else None, known)


def _parts(touch: Touch, at: Sight) -> tuple[str, ...]:
    return parts_of(real(touch.path, at.places.aliases))


def _calls(uses: Sequence[ToolUse], expected: Collection[str], at: Sight) -> list[ToolCall]:
    found = []
    for use in uses:
        call = _read(use, at)
        if _asked_for(call, at):
            continue
        why = danger(use, call, at.places, expected)
        told = shortened(visible(call.told))
        name = one_line(str(use.name), _NAME) or "(nameless)"
        found.append(ToolCall(name=name, input=told, dangerous=shortened(why) if why is not None else None))
    return found


def _asked_for(call: Used, at: Sight) -> bool:
    """Return whether a call did nothing but open what the harness points at: the brief, and SKILL.md."""
    places = at.places
    asked = [places.brief, *([places.skill / "SKILL.md"] if places.skill is not None else [])]
    own = {parts_of(path, places.aliases) for path in asked}
    touched = [touch for touch in call.touches if touch.reads or touch.writes]
    if not touched or any(touch.writes or _parts(touch, at) not in own for touch in touched):
        return False
    if call.script is None:
        return call.atomic
    programs = programs_of(call.script, str(places.cwd), str(places.home) if places.home else None)
    return all(words[0].rsplit("/", 1)[-1] in OPENERS | _ASIDE for words in programs)


def _spoiled(uses: Sequence[ToolUse], at: Sight) -> str | None:
    """Return why what a task did says nothing of the skill: it never opened it, or read what it must not know."""
    places = at.places
    skill = parts_of(places.skill / "SKILL.md", places.aliases) if places.skill is not None else None
    own = [parts_of(path, places.aliases) for path in (places.world, places.brief) if path]
    own += [parts_of(places.skill.parent, places.aliases)] if places.skill is not None else []
    barred = [parts_of(path, places.aliases) for path in (at.evals, places.tests)]
    root = parts_of(places.root, places.aliases)
    loaded = skill is None
    for use in uses:
        call = _read(use, at)
        if use.refused or (use.error and call.atomic):
            continue
        for touch in call.touches:
            parts = _parts(touch, at)
            loaded = loaded or (skill is not None and touch.reads and covers(parts, skill, touch))
            if not (touch.reads or touch.deep) or touch.writes or any(inside(parts, place) for place in own):
                continue
            of_cases = any(covers(parts, place, touch) or inside_pattern(parts, place) for place in barred)
            if of_cases or (len(parts) > len(root) and inside(parts, root)):
                what = "the cases" if of_cases else "another job's world, skill or brief"
                return f"contaminated: it read {one_line(touch.path, 200)}, where {what} may be"
    return None if loaded else "skill-not-loaded: SKILL.md was never opened"
