"""The agent's narrative, held to the page: a sentence is shown only if all its evidence is true and visible.

Core. The narrator may add a voice, never a fact: values are compared with what the page prints, quotes with the
rationales as the page shows them. A sentence that fails is dropped, and the page says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..model import Narrative, NarrativeEvidence, NarrativeSentence, SkillResult, Value
from .page import Told
from .parts import Link, Note
from .texts import brief
from .words import (
    COMPARISON_TITLE,
    MINUS,
    UNKNOWN,
    VERDICT_WORD,
    price,
    signed,
    times,
    tokens,
    whole,
)

SENTENCE_LIMIT = 600
_SENTENCES = 4


class Shown(Value, frozen=True):
    """A judged trial: its rationales as the page shows them, the quotes that are not in any output, a link."""

    texts: tuple[str, ...]
    unverified: tuple[str, ...]
    href: str


class Checked(Value, frozen=True):
    """The sentences that hold, by what they are about (``headline`` or a case), and a note for each dropped."""

    told: dict[str, tuple[Told, ...]]
    notes: tuple[str, ...]


def values(result: SkillResult) -> dict[str, str]:
    """Return every value a sentence may rest on: its path, and how the page writes it."""
    found: dict[str, str] = {}
    for v in result.verdicts:
        if v.verdict == "not-applicable":
            continue
        found |= {
            f"{v.comparison}.verdict": VERDICT_WORD[v.verdict],
            f"{v.comparison}.cases_passed": whole(v.cases_passed),
            f"{v.comparison}.cases": whole(v.cases),
            f"{v.comparison}.net": signed(v.net),
        }
        found |= _counts(v.comparison, v)
    for cost in result.costs:
        partial = cost.runs < cost.expected
        found[f"cost.{cost.arm}.turns"] = UNKNOWN if cost.turns is None else whole(cost.turns)
        found[f"cost.{cost.arm}.cost_equivalent_tokens"] = tokens(cost.usage, partial=partial)
        found[f"cost.{cost.arm}.cost_usd"] = price(cost.usage, partial=partial)
    for ratio in result.ratios:
        found |= {
            f"ratio.{ratio.opponent}.turns": times(ratio.turns),
            f"ratio.{ratio.opponent}.raw": times(ratio.raw),
            f"ratio.{ratio.opponent}.cost_equivalent_tokens": times(ratio.cost_equivalent_tokens),
            f"ratio.{ratio.opponent}.cost_usd": times(ratio.cost_usd),
        }
    for case in result.cases:
        for part in case.comparisons:
            path = f"cases.{case.case.name}.{part.comparison}"
            found |= {f"{path}.verdict": VERDICT_WORD[part.verdict], f"{path}.net": signed(part.net)}
            found |= _counts(path, part)
    return {path: text for path, text in found.items() if text != UNKNOWN}


def _counts(path: str, part: object) -> dict[str, str]:
    return {f"{path}.{name}": whole(getattr(part, name)) for name in ("wins", "ties", "losses", "gates", "invalid")}


def check(narrative: Narrative | None, result: SkillResult, shown: Mapping[str, Shown]) -> Checked:
    """Return the sentences that may be shown.

    `shown` maps ``<case>.<trial>.<comparison>`` to the rationales that the page shows.
    """
    if narrative is None:
        return Checked(told={}, notes=())
    if narrative.run_id != result.plan.run_id:
        note = f"The narrative is of another run ({brief(narrative.run_id, 80)}) and is not shown."
        return Checked(told={}, notes=(note,))
    known = values(result)
    cases = {case.case.name for case in result.cases}
    told: dict[str, list[Told]] = {}
    notes = []
    for sentence in narrative.sentences:
        problem = _misplaced(sentence, cases, told) or _untrue(sentence.evidence, known, shown)
        if problem is not None:
            about = brief(sentence.about, 80)
            notes.append(f"A sentence about {about} is not shown: {problem}.")
            continue
        evidence = tuple(_note(item, known, shown) for item in sentence.evidence)
        told.setdefault(sentence.about, []).append(Told(text=brief(sentence.text, SENTENCE_LIMIT), evidence=evidence))
    return Checked(told={about: tuple(found) for about, found in told.items()}, notes=tuple(notes[:20]))


def _misplaced(sentence: NarrativeSentence, cases: set[str], told: Mapping[str, Sequence[Told]]) -> str | None:
    if sentence.about != "headline" and sentence.about not in cases:
        return "this run has no such case"
    if not sentence.text.strip():
        return "it is empty"
    if not sentence.evidence:
        return "it names no evidence"
    return f"only {_SENTENCES} are" if len(told.get(sentence.about, ())) >= _SENTENCES else None


def _untrue(evidence: Sequence[NarrativeEvidence], known: Mapping[str, str], shown: Mapping[str, Shown]) -> str | None:
    """Return the first piece of evidence that is not true of this run or not on the page, in words."""
    for item in evidence:
        problem = _wrong_value(item, known) if item.value is not None else _wrong_quote(item, shown)
        if problem is not None:
            return problem
    return None


def _wrong_value(item: NarrativeEvidence, known: Mapping[str, str]) -> str | None:
    path = item.value or ""
    if path not in known:
        return f'the page has no value "{brief(path, 80)}"'
    said = (item.is_ or "").strip().replace("-", MINUS)
    if said != known[path].replace("-", MINUS):
        return f'it says {path} is "{brief(item.is_ or "", 40)}", the page says "{known[path]}"'
    return None


def _wrong_quote(item: NarrativeEvidence, shown: Mapping[str, Shown]) -> str | None:
    source = shown.get(item.from_ or "")
    if source is None:
        return f'the page shows no rationale of "{brief(item.from_ or "", 80)}"'
    quote = _fold(item.quote or "")
    if not quote or not any(quote in _fold(text) for text in source.texts):
        return f"the quote is not in the rationale of {item.from_}"
    if any(quote in _fold(text) or _fold(text) in quote for text in source.unverified if text.strip()):
        return f"the quote repeats words of {item.from_} that are not in the output they are taken from"
    return None


_fold: Callable[[str], str] = lambda text: " ".join(text.split())  # noqa: E731 - one expression, used often


def _note(item: NarrativeEvidence, known: Mapping[str, str], shown: Mapping[str, Shown]) -> Note:
    if item.value is not None:
        return Note(text=f"{_label(item.value)} {known[item.value]}")
    source = item.from_ or ""
    case, trial, _ = source.rsplit(".", 2)
    link = Link(href=shown[source].href, text=f"judge, {case} trial {trial}")
    return Note(quote=brief(item.quote or "", SENTENCE_LIMIT), link=link, text="")


def _label(path: str) -> str:
    """Return a value's path in words: ``cases.tidy.efficacy.net`` is ``tidy, Efficacy net``."""
    parts = path.split(".")
    last = parts[-1].replace("_", "-" if parts[-1] == "cost_equivalent_tokens" else " ").replace("-tokens", " tokens")
    if parts[0] == "cases":
        return f"{parts[1]}, {parts[2].capitalize()} {last}"
    if parts[0] == "ratio":
        return f"new ÷ {parts[1]}, {last}"
    if parts[0] == "cost":
        return f"{parts[1]}, {last}"
    return f"{COMPARISON_TITLE['efficacy' if parts[0] == 'efficacy' else 'regression']} {last}"
