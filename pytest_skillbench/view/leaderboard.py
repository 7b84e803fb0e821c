"""All skills of a repository -> the leaderboard: the most urgent first, with the reason for each group.

Core. A regression comes before a failing Efficacy: it broke something that worked. Nothing that was not measured is
ever among the green.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ..model import ComparisonName, HistoryLine, RunMeta, SkillResult, Value
from .board import Group, IndexPage, Row, Standing, Tally
from .card import cell
from .headline import headline
from .parts import Chip, Fact, Link, State
from .ribbons import STATE, recent, spark
from .texts import brief
from .words import (
    COMPARISON_TITLE,
    VERDICT_WORD,
    capital,
    encoded,
    host,
    moment,
    numeral,
    plural,
    short_moment,
    signed,
    times,
    whole,
)

if TYPE_CHECKING:
    from ..scorecard.past import Past


class LeaderboardInput(Value, frozen=True):
    """What is known of one skill.

    `state`: "scored" (`result` is there), "no-run" (`cases` are waiting), "broken" (`problem` says why its record can't
    be used), "no-cases". `history` is oldest first; so are `pasts`, the last evaluations by the scorecard.
    """

    name: str
    path: str
    state: Literal["scored", "no-run", "broken", "no-cases"]
    result: SkillResult | None
    history: tuple[HistoryLine, ...]
    cases: int
    problem: str | None
    pasts: tuple[Past, ...] = ()

    @property
    def has_card(self) -> bool:
        """Whether its report is of the scorecard alone, since there is no run."""
        return bool(self.pasts) and self.state in ("no-run", "no-cases")


class _Kind(Value, frozen=True):
    """A group of the leaderboard, in order of urgency."""

    title: str
    about: str
    tally: str
    icon: str
    tone: str


_GROUPS: dict[str, _Kind] = {
    "regressed": _Kind(
        title="Regressed", about="the edit broke something that worked", tally="regressed", icon="no", tone="fail"
    ),
    "failing": _Kind(
        title="Adds nothing", about="not shown to beat no skill", tally="add nothing", icon="no", tone="fail"
    ),
    "incomplete": _Kind(
        title="Incomplete", about="evidence is missing; no verdict yet", tally="incomplete", icon="part", tone="flag"
    ),
    "fragile": _Kind(
        title="Fragile", about="passing, with a case one flip from failing", tally="fragile", icon="thin", tone="flag"
    ),
    "clean": _Kind(title="Clean", about="green with room to spare", tally="clean", icon="ok", tone="pass"),
    "no-run": _Kind(title="Not run yet", about="cases are waiting", tally="not run", icon="na", tone="na"),
    "no-cases": _Kind(title="No cases", about="nothing to measure", tally="without cases", icon="na", tone="na"),
}


def standing(row: LeaderboardInput) -> str:
    """Return a skill's group: regressed, failing, incomplete, fragile, clean, no-run or no-cases."""
    if row.state == "broken":
        return "incomplete"
    if row.result is None:
        return "no-cases" if row.state == "no-cases" else "no-run"
    verdicts = {v.comparison: v.verdict for v in row.result.verdicts}
    if verdicts["regression"] == "fail":
        return "regressed"
    if verdicts["efficacy"] == "fail":
        return "failing"
    if "incomplete" in verdicts.values():
        return "incomplete"
    return "fragile" if any(_fragile(row.result, name) for name in verdicts) else "clean"


def _fragile(result: SkillResult, name: ComparisonName) -> bool:
    """Return whether a passing badge has a case one flip from failing."""
    parts = (case.comparison(name) for case in result.cases)
    return result.verdict(name).verdict == "pass" and any(p is not None and p.flips == 1 for p in parts)


def index_page(rows: Sequence[LeaderboardInput], meta: RunMeta) -> IndexPage:
    """Return the leaderboard of `rows`, in any order; within a group they are sorted by name."""
    grouped: dict[str, list[LeaderboardInput]] = {key: [] for key in _GROUPS}
    for row in sorted(rows, key=lambda r: (r.name, r.path)):
        grouped[standing(row)].append(row)
    measured = [row.result for row in rows if row.result is not None]
    return IndexPage(
        title=f"{plural(len(rows), 'skill')}, {whole(len(measured))} benchmarked",
        headline=_summary(grouped),
        state=_state(grouped),
        facts=_facts(measured, meta),
        tallies=tuple(
            Tally(number=len(found), text=kind.tally, icon=kind.icon, tone=kind.tone)
            for key, kind in _GROUPS.items()
            if (found := grouped[key])
        ),
        groups=tuple(
            Group(title=kind.title, about=kind.about, rows=tuple(_row(row) for row in found))
            for key, kind in _GROUPS.items()
            if (found := grouped[key])
        ),
        scored=any(row.pasts for row in rows),
        program=brief(meta.program, 100),
    )


def _state(grouped: dict[str, list[LeaderboardInput]]) -> State:
    if grouped["regressed"] or grouped["failing"]:
        return "fail"
    if grouped["incomplete"]:
        return "part"
    return "pass" if grouped["fragile"] or grouped["clean"] else "na"


def _summary(grouped: dict[str, list[LeaderboardInput]]) -> str:
    """Return the state of all skills in one sentence, composed from the groups."""
    number = {key: len(found) for key, found in grouped.items()}
    regressed, failing, incomplete = number["regressed"], number["failing"], number["incomplete"]
    green = number["fragile"] + number["clean"]
    if regressed:
        text = f"{capital(numeral(regressed))} skill{'' if regressed == 1 else 's'} regressed"
        if failing:
            more = f"{numeral(failing)} more {'is' if failing == 1 else 'are'}"
            text += f", and {more} not shown to beat no skill"
        return f"{text}."
    if failing:
        are = " is" if failing == 1 else "s are"
        return f"Nothing regressed, but {numeral(failing)} skill{are} not shown to beat no skill."
    if incomplete:
        lacks = " lacks" if incomplete == 1 else "s lack"
        return f"Nothing red, but {numeral(incomplete)} skill{lacks} evidence for a verdict."
    if not green:
        return "Nothing has been benchmarked yet."
    text = "The one benchmarked skill is green" if green == 1 else "Every benchmarked skill is green"
    return f"{text}{', narrowly' if green == 1 and number['fragile'] else ''}."


def _facts(measured: Sequence[SkillResult], meta: RunMeta) -> tuple[Fact, ...]:
    facts = [Fact(label="Repo", text=brief(meta.repo, 120), code=True)]
    bases = dict.fromkeys(
        f"{brief(r.plan.base.branch, 60)}@{r.plan.base.commit[:7]}" for r in measured if r.plan.base is not None
    )
    if bases:
        label = "Base" if len(bases) == 1 else "Bases"
        facts.append(Fact(label=label, text=", ".join(list(bases)[:4]), code=True))
    if measured:
        latest = max(r.plan.created_at for r in measured)
        facts.append(Fact(label="Latest run", text=moment(latest), machine=latest))
        clients = dict.fromkeys(host(r.plan.host) for r in measured)
        facts.append(Fact(label="Client", text=", ".join(list(clients)[:4])))
    return tuple(fact for fact in facts if fact.text)


def _row(row: LeaderboardInput) -> Row:
    name = brief(row.name, 200)
    result = row.result
    if result is None:
        return Row(
            name=name,
            link=Link(href=f"{encoded(row.name)}.html", text=name) if row.has_card else None,
            line=unmeasured(row),
            chips=(),
            standings=(),
            ratios=(),
            score=cell(row.pasts),
            at="",
            advice=_advice(row),
            command=command(row),
        )
    lines = recent(row.history, result.plan.run_id)
    ratios = {ratio.opponent: ratio for ratio in result.ratios}
    previous = ratios.get("previous-version")
    none = ratios.get("no-skill")
    return Row(
        name=name,
        link=Link(href=f"{encoded(row.name)}.html", text=name),
        line=headline(result),
        chips=_chips(result),
        standings=(_standing(result, lines, "efficacy"), _standing(result, lines, "regression")),
        ratios=(
            ("vs no skill", times(none.cost_equivalent_tokens if none else None)),
            ("vs previous", times(previous.cost_equivalent_tokens) if previous else "n/a"),
        ),
        score=cell(row.pasts),
        at=short_moment(result.plan.created_at),
        advice="",
        command="",
    )


def unmeasured(row: LeaderboardInput) -> str:
    """Return in a sentence why a skill has no result."""
    if row.state == "broken":
        return "The recorded run can't be read."
    if row.state == "no-cases":
        return "No cases."
    return f"Not run yet: {plural(row.cases, 'case')} {'is' if row.cases == 1 else 'are'} waiting."


def _advice(row: LeaderboardInput) -> str:
    if row.state == "broken":
        return brief(row.problem or "", 300)
    return "add" if row.state == "no-cases" else ""


def command(row: LeaderboardInput) -> str:
    """Return what to type, or which file to write, for a result; "" where neither would help."""
    if row.state == "no-run":
        return f"/benchmark-skill {brief(row.name, 200)}"
    return f"tests/{brief(row.path, 200)}/<case>/case.md" if row.state == "no-cases" else ""


def _chips(result: SkillResult) -> tuple[Chip, ...]:
    chips = []
    if result.stale:
        chips.append(Chip(icon="warn", text="stale"))
    if result.plan.example:
        chips.append(Chip(icon="", text="example data", tone="q"))
    return tuple(chips)


def _standing(result: SkillResult, lines: Sequence[HistoryLine], name: ComparisonName) -> Standing:
    found = result.verdict(name)
    title = COMPARISON_TITLE[name]
    if found.verdict == "not-applicable":
        reason = brief(result.plan.base_reason or "no previous version", 80)
        return Standing(title=title, state="na", word="n/a", detail=reason, fragile=False, net="", spark=None)
    return Standing(
        title=title,
        state=STATE[found.verdict],
        word=f"{VERDICT_WORD[found.verdict]} {found.cases_passed}/{found.cases}",
        detail=f"{plural(found.invalid, 'trial')} invalid" if found.invalid else "",
        fragile=_fragile(result, name),
        net=signed(found.net),
        spark=spark(lines, result.plan.run_id, name),
    )
