"""Made-up runs for the tests of the view and the report: results written down trial by trial, without any file.

A run is spelled as strips: ``efficacy="WWTWL"`` is five trials, X a failed hard assertion, ? an INVALID trial. The
rules decide the verdicts, as in the program; tokens, texts and judges are made up, and the same every time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from pytest_skillbench.model import (
    ARMS,
    COMPARISONS,
    ArmCost,
    ArmName,
    ArmTrial,
    Assertion,
    Base,
    CaseComparison,
    CaseResult,
    Certainty,
    Change,
    Comparison,
    CriterionJudgement,
    Flag,
    GateResult,
    HistoryCost,
    HistoryLine,
    HistoryVerdict,
    Label,
    Odds,
    Outcome,
    PackageDigest,
    Packages,
    Plan,
    PlannedCase,
    Ratio,
    RunMeta,
    Seat,
    SeedTurn,
    Settings,
    SkillRef,
    SkillResult,
    SkillVerdict,
    TrialResult,
    Usage,
    Verdict,
    Vote,
    Winner,
    arms_of,
    comparisons_of,
)
from pytest_skillbench.rules import flips_to_fail, of_skill, rule_for, verdict

Judged: TypeAlias = Literal["WIN", "TIE", "LOSS"]
META = RunMeta(program="pytest-skillbench 0.0.0", repo="agent-skills")
RUN_ID = "20261014T094200Z-7f3c1a"
OUTCOMES: dict[str, Outcome] = {"W": "WIN", "T": "TIE", "L": "LOSS", "X": "GATE", "?": "INVALID"}
PROSE = {
    "new-skill": "### Concurrency\nput() reads size before it writes.\nConsider thread   safety here: callers may see"
    " stale values.\nA lock would be the simplest answer.\n\nseverity: major\n",
    "previous-version": "### Lost update in put(), cache.py:41\nT1 reads size = 9. T2 reads size = 9. Both write 10.\n"
    "Fix: hold self._lock across lines 41 to 47.\nCost: one uncontended acquire per put.\n\nseverity: blocker\n",
    "no-skill": "The code looks fine to me. You may want to add a test.\n\nseverity: none\n",
}
PASSAGE: dict[ArmName, str] = {
    "new-skill": "Consider thread safety here",
    "previous-version": "T1 reads size = 9. T2 reads size = 9.",
    "no-skill": "The code looks fine to me.",
}


class MemoryTexts:
    """Texts of a run that are held in memory; what was not given is made up from `PROSE`."""

    def __init__(
        self,
        outputs: Mapping[tuple[str, int, ArmName], str | None] | None = None,
        changes: Mapping[tuple[str, int, ArmName], str | None] | None = None,
    ) -> None:
        self.outputs = outputs or {}
        self.diffs = changes or {}

    def output(self, case: str, trial: int, arm: ArmName, /) -> str | None:
        """Return what was given, None included, else the made-up output of the arm."""
        return self.outputs.get((case, trial, arm), PROSE[arm])

    def changes(self, case: str, trial: int, arm: ArmName, /) -> str | None:
        """Return what was given, None included, else a made-up diff."""
        diff = "--- /dev/null\n+++ b/review.md\n@@ -0,0 +1,2 @@\n+# Review\n+severity: major\n"
        return self.diffs.get((case, trial, arm), diff)


def planned(name: str, **changes: object) -> PlannedCase:
    """Return a frozen case with two hard assertions and two soft criteria."""
    case = PlannedCase(
        name=name,
        path=f"tests/review/code-review/{name}",
        description=f"The review of {name} must find what is wrong with it.",
        case_sha256="c" * 64,
        fixture_sha256=None,
        prompt="Please review the change in this folder.\n\nWrite what you find to review.md.",
        seed_turns=(),
        assertions=(
            Assertion(shell="sh", line=14, title=None, command='test -f "$WORLD/review.md"'),
            Assertion(
                shell="sh",
                line=15,
                title="names a severity",
                command="grep -qE '^severity: (blocker|major|minor|none)$' \"$OUTPUT\"",
            ),
        ),
        criteria=("Names the lost update in put().", "Gives a concrete interleaving, not a general warning."),
    )
    return msgspec.structs.replace(case, **changes)


def usage(scale: float = 1.0, **changes: object) -> Usage:
    """Return usage of about fifty thousand cost-equivalent tokens, times `scale`."""
    found = Usage(
        model="claude-sonnet-4-5",
        input=int(700 * scale),
        cache_write_5m=int(16_000 * scale),
        cache_write_1h=0,
        cache_read=int(150_000 * scale),
        output=int(3_800 * scale),
        api_calls=9,
        complete=True,
        notes=(),
        cost_equivalent_tokens=54_700 * scale,
        cost_usd=0.1641 * scale,
        classic_weights=False,
    )
    return msgspec.structs.replace(found, **changes)


def case(
    name: str,
    efficacy: str,
    regression: str | None = None,
    *,
    plan: PlannedCase | None = None,
    flags: dict[tuple[str, int], tuple[Flag, ...]] | None = None,
    panel: str | None = None,
    rationale: str | None = None,
) -> CaseResult:
    """Return a case from its strips.

    `flags`: (comparison, trial) -> flags. `panel`: the comparison that three judges voted on.
    `rationale`: every judge's.
    """
    frozen = plan or planned(name)
    strips = {"efficacy": efficacy, "regression": regression}
    parts = []
    for comparison in COMPARISONS:
        strip = strips[comparison.name]
        if strip is not None:
            found = {t: f for (kind, t), f in (flags or {}).items() if kind == comparison.name}
            parts.append(_comparison(comparison, strip, found, panel == comparison.name, rationale))
    arms = tuple(
        _arm(arm, trial, efficacy[trial - 1], frozen)
        for trial in range(1, len(efficacy) + 1)
        for arm in (ARMS if regression is not None else ("new-skill", "no-skill"))
    )
    return CaseResult(case=frozen, comparisons=tuple(parts), arms=arms)


def _comparison(
    comparison: Comparison, strip: str, flags: dict[int, tuple[Flag, ...]], panel: bool, rationale: str | None
) -> CaseComparison:
    trials = tuple(
        _trial(comparison, number, OUTCOMES[letter], flags.get(number, ()), panel, rationale)
        for number, letter in enumerate(strip, 1)
    )
    rule = rule_for(comparison, len(strip))
    wins, ties, losses, gates, invalid = (strip.count(letter) for letter in "WTLX?")
    found = verdict(rule, wins=wins, ties=ties, losses=losses, gates=gates, invalid=invalid, gate_failed=gates > 0)
    flips = flips_to_fail(rule, wins=wins, ties=ties, losses=losses + invalid) if found == "pass" else None
    why = None
    if found == "fail":
        why = (
            f"{losses} loss{'' if losses == 1 else 'es'}, the rule allows {rule.max_losses}"
            if not gates
            else "a hard assertion failed"
        )
    if found == "incomplete":
        why = f"{invalid} of {len(strip)} trials can't be scored and could decide it"
    return CaseComparison(
        comparison=comparison.name, verdict=found, rule=rule, wins=wins, ties=ties, losses=losses, gates=gates,
        invalid=invalid, trials=trials, flips=flips, narrowest=False, why=why,
    )  # fmt: skip


def _trial(
    comparison: Comparison,
    number: int,
    outcome: Outcome,
    flags: tuple[Flag, ...],
    panel: bool,
    rationale: str | None,
) -> TrialResult:
    reasons = {
        "GATE": "a hard assertion failed, so no judge was asked",
        "INVALID": f"{comparison.opponent} arm timed out: no final message after 30 minutes",
    }
    votes: tuple[Vote, ...] = ()
    if outcome in ("WIN", "TIE", "LOSS"):
        seats: tuple[Seat, ...] = (1, 2, 3) if panel else (1,)
        votes = tuple(_vote(comparison, number, outcome, seat, rationale) for seat in seats)
    return TrialResult(
        trial=number, outcome=outcome, reason=reasons.get(outcome), new_label=votes[0].new_label if votes else None,
        votes=votes, identical=False, inconsistent=False, gate_failed=outcome == "GATE", flags=flags,
    )  # fmt: skip


def _vote(comparison: Comparison, number: int, outcome: Judged, seat: Seat, rationale: str | None) -> Vote:
    new: Label = "A" if number % 2 else "B"
    other: Label = "B" if new == "A" else "A"
    winners: dict[Judged, Winner] = {"WIN": new, "LOSS": other, "TIE": "TIE"}
    winner = winners[outcome]
    quotes = {new: PASSAGE["new-skill"], other: PASSAGE[comparison.opponent]}
    said = CriterionJudgement(
        criterion=2, better=winner, because="Only one of them shows an interleaving.", quote_a=quotes["A"],
        quote_b=quotes["B"],
    )  # fmt: skip
    text = {
        "WIN": f"{new} finds the lost update; {other} stays at a general remark.",
        "TIE": "Both find the lost update and neither prices its fix.",
        "LOSS": f"{other} walks through an interleaving and prices its fix. {new} stays at a general warning.",
    }[outcome]
    return Vote(
        seat=seat, outcome=outcome, new_label=new, winner=winner, strength="clear" if winner != "TIE" else None,
        rationale=text if rationale is None else rationale, criteria=(said,), unverified_quotes=(),
        model="claude-opus-4-5",
    )  # fmt: skip


def _arm(arm: ArmName, trial: int, letter: str, frozen: PlannedCase) -> ArmTrial:
    scale = {"new-skill": 1.0, "previous-version": 0.94, "no-skill": 0.68}[arm] * (1 + trial / 50)
    broken = arm == "new-skill" and letter == "X"
    gate = tuple(
        GateResult(
            assertion=index, exit_code=1 if broken and index == 1 else 0, timed_out=False, duration_ms=12, stdout="",
            stderr="grep: no line names a severity\n" if broken and index == 1 else "",
        )
        for index in range(len(frozen.assertions) if arm == "new-skill" else 0)
    )  # fmt: skip
    timed_out = letter == "?" and arm == "no-skill"
    return ArmTrial(
        arm=arm, trial=trial, status="timed-out" if timed_out else "ok",
        problem="timed out: no final message after 30 minutes" if timed_out else None, model="claude-sonnet-4-5",
        turns=int(9 * scale), duration_ms=42_000, usage=usage(scale),
        changes=(Change(path="review.md", change="added", sha256="a" * 64, bytes=26),) if arm == "new-skill" else (),
        gate=gate, output_bytes=len(PROSE[arm]),
    )  # fmt: skip


def result(*cases: CaseResult, name: str = "code-review", **changes: object) -> SkillResult:
    """Return the scored run of `cases`; the shape is theirs. `changes` replace fields of the result."""
    three = any(len(c.comparisons) == 2 for c in cases)
    plan = make_plan(cases, "three-arm" if three else "two-arm", name)
    drawn = comparisons_of(plan.shape)
    marked = tuple(_marked(c, cases) for c in cases)
    found = SkillResult(
        plan=plan,
        verdicts=tuple(_skill_verdict(marked, c, c in drawn) for c in COMPARISONS),
        cases=marked,
        costs=tuple(_cost(marked, arm) for arm in arms_of(plan.shape)),
        ratios=tuple(
            Ratio(
                opponent=c.opponent, trials=plan.trials * len(cases), expected=plan.trials * len(cases), turns=1.45,
                raw=1.72, cost_equivalent_tokens=1.48 if c.opponent == "no-skill" else 1.06, cost_usd=1.48,
            )
            for c in drawn
        ),
        certainty=_certainty(marked, drawn),
        price_table="2026-10-01",
        stale=(),
        problems=(),
    )  # fmt: skip
    return msgspec.structs.replace(found, **changes)


def make_plan(cases: Sequence[CaseResult], shape: str, name: str = "code-review", **changes: object) -> Plan:
    """Return the plan of a run of `cases`."""
    three = shape == "three-arm"
    package = PackageDigest(tree_sha256="9b1f7c20" * 8, files=4, bytes=9_000)
    plan = Plan(
        schema_version=1,
        run_id=RUN_ID,
        skill=SkillRef(name=name, path=f"review/{name}"),
        created_at="2026-10-14T09:42:00Z",
        shape="three-arm" if three else "two-arm",
        trials=len(cases[0].comparisons[0].trials) if cases else 5,
        base=Base(branch="main", ref="refs/remotes/origin/main", commit="1a2b3c4d" * 5) if three else None,
        base_reason=None if three else "new skill",
        settings=Settings(),
        host="claude-code",
        seed=7,
        packages=Packages(new_skill=package, previous_version=package if three else None),
        cases=tuple(c.case for c in cases),
        orders={},
        suite_sha256="5e" * 32,
        program="pytest-skillbench 0.0.0",
    )
    return msgspec.structs.replace(plan, **changes)


def _marked(found: CaseResult, cases: Sequence[CaseResult]) -> CaseResult:
    """Put the chip "narrowest margin" on the first passing case with the fewest flips of an all-green comparison."""
    parts = []
    for part in found.comparisons:
        rivals = [p for c in cases for p in c.comparisons if p.comparison == part.comparison]
        green = all(p.verdict == "pass" for p in rivals)
        first = min(rivals, key=lambda p: p.flips or 0)
        at_edge = part.losses == part.rule.max_losses if part.comparison == "regression" else part is first
        parts.append(msgspec.structs.replace(part, narrowest=green and at_edge))
    return msgspec.structs.replace(found, comparisons=tuple(parts))


def _skill_verdict(cases: Sequence[CaseResult], comparison: Comparison, drawn: bool) -> SkillVerdict:
    parts = [p for c in cases for p in c.comparisons if p.comparison == comparison.name]
    return SkillVerdict(
        comparison=comparison.name,
        verdict=of_skill(p.verdict for p in parts) if drawn else "not-applicable",
        cases=len(parts),
        cases_passed=sum(p.verdict == "pass" for p in parts),
        wins=sum(p.wins for p in parts),
        ties=sum(p.ties for p in parts),
        losses=sum(p.losses for p in parts),
        gates=sum(p.gates for p in parts),
        invalid=sum(p.invalid for p in parts),
    )


def _cost(cases: Sequence[CaseResult], arm: ArmName) -> ArmCost:
    ran = [a for c in cases for a in c.arms if a.arm == arm]
    known = [a.usage for a in ran if a.usage is not None]
    total = sum(u.cost_equivalent_tokens for u in known)
    return ArmCost(
        arm=arm, runs=len(known), expected=len(ran), turns=sum(a.turns or 0 for a in ran),
        usage=usage(total / 54_700) if known else None,
    )  # fmt: skip


def _certainty(cases: Sequence[CaseResult], drawn: Sequence[Comparison]) -> Certainty:
    trials = [(c, p, t) for c in cases for p in c.comparisons for t in p.trials]
    votes = [v for _, _, t in trials for v in t.votes]
    panels = [(c.case.name, t) for c, _, t in trials if len(t.votes) > 1]
    flagged = dict.fromkeys((c.case.name, t.trial, f) for c, _, t in trials for f in t.flags if f.arm is not None)
    odds = []
    for comparison in drawn:
        parts = [p for c in cases for p in c.comparisons if p.comparison == comparison.name]
        ties, decided = sum(p.ties for p in parts), sum(p.wins + p.ties + p.losses for p in parts)
        odds.append(
            Odds(
                comparison=comparison.name, ties=ties, decided=decided,
                tie_rate=ties / decided if decided else None, pass_case=0.18 if decided else None,
                pass_skill=0.18 ** len(cases) if decided else None,
            )
        )  # fmt: skip
    return Certainty(
        a_won=sum(v.winner == "A" for v in votes), decisive=sum(v.winner != "TIE" for v in votes),
        new_as_a=sum(v.new_label == "A" for v in votes), judged=len(votes), panels=1 if panels else 0,
        panel_cases=tuple(dict.fromkeys(name for name, _ in panels)),
        panel_votes=sum(len(t.votes) for _, t in panels),
        panel_agreeing=sum(v.outcome == t.outcome for _, t in panels for v in t.votes),
        arm_runs=sum(len(c.arms) for c in cases), flagged=tuple(flagged), inconsistent=0, odds=tuple(odds),
    )  # fmt: skip


def line(
    run_id: str,
    at: str,
    efficacy: int,
    regression: int | None = None,
    *,
    efficacy_verdict: Verdict = "pass",
    regression_verdict: Verdict = "pass",
    skill: str = "9",
    suite: str = "5",
) -> HistoryLine:
    """Return a run's history line with these nets; `regression` None is a two-arm run."""

    def part(net: int, verdict: Verdict) -> HistoryVerdict:
        wins, losses = max(net, 0) + 1, max(-net, 0) + 1
        return HistoryVerdict(net=net, wins=wins, ties=3, losses=losses, invalid=0, cases_passed=4, verdict=verdict)

    return HistoryLine(
        schema_version=1,
        run_id=run_id,
        at=at,
        shape="two-arm" if regression is None else "three-arm",
        base_commit=None if regression is None else "1a2b3c4d" * 5,
        skill_sha256=skill * 64,
        suite_sha256=suite * 64,
        cases=5,
        trials=5,
        efficacy=part(efficacy, efficacy_verdict),
        regression=None if regression is None else part(regression, regression_verdict),
        cost_equivalent_tokens=HistoryCost(new_skill=1.4e6, previous_version=None, no_skill=9.5e5),
    )


def own_line(found: SkillResult) -> HistoryLine:
    """Return the history line of a run of the factory's."""
    efficacy, regression = found.verdict("efficacy"), found.verdict("regression")
    two = found.plan.shape == "two-arm"
    made = line(RUN_ID, found.plan.created_at, efficacy.net, None if two else regression.net, skill="a")
    return msgspec.structs.replace(
        made,
        efficacy=msgspec.structs.replace(made.efficacy, verdict=efficacy.verdict),
        regression=made.regression and msgspec.structs.replace(made.regression, verdict=regression.verdict),
    )


def past() -> tuple[HistoryLine, ...]:
    """Return eight earlier runs, the oldest too old to be shown: two two-arm ones, edits of the skill, a failed one."""
    return (
        line("r0", "2026-10-01T08:00:00Z", 40, None, skill="0"),
        line("r1", "2026-10-02T08:00:00Z", 15, None, efficacy_verdict="fail", skill="1"),
        line("r2", "2026-10-05T08:00:00Z", 13, None, efficacy_verdict="fail", skill="1"),
        line("r3", "2026-10-06T08:00:00Z", 17, 3, skill="2"),
        line("r4", "2026-10-08T08:00:00Z", 20, 1, skill="2"),
        line("r5", "2026-10-12T08:00:00Z", 18, 0, skill="2", regression_verdict="incomplete"),
        line("r6", "2026-10-13T08:00:00Z", 18, 1, skill="9"),
    )


NOT_LOADED = Flag(
    kind="left-world", detail="read /etc/hosts, which is outside its world", evidence="tool call 4", arm="new-skill"
)


def failing() -> SkillResult:
    """Return a three-arm run: Efficacy green but narrow, Regression red, a panel, a note of the audit, a gate."""
    return result(
        case("sql-injection", "WWWWW", "TTTTT"),
        case("race-in-cache", "WWTWW", "LTLTL", panel="regression", flags={("regression", 3): (NOT_LOADED,)}),
        case("clean-diff", "WTWWL", "TTWTT"),
        case("missing-tests", "WWXTW", "TTTTT"),
        case("large-refactor", "WWWWT", "TTTTT"),
    )


def calm() -> SkillResult:
    """Return a two-arm run that is green everywhere."""
    turns = (
        SeedTurn(role="user", text="We keep losing entries in the cache."),
        SeedTurn(role="assistant", text="Under load?"),
    )
    return result(
        case("scoped-monorepo", "WWWTT", plan=planned("scoped-monorepo", seed_turns=turns, assertions=())),
        case("plain-fix", "WWWWW"),
        case("revert", "WWTWW"),
        name="commit-message",
    )


def incomplete() -> SkillResult:
    """Return a three-arm run with trials that can't be scored: one verdict hangs on them, one does not."""
    found = result(case("half-run", "WW??T", "TT??T"), case("still-fine", "WWWW?", "TTTT?"))
    return msgspec.structs.replace(
        found,
        stale=("case half-run has changed: case.md differs from what was run",),
        problems=("tests/.reports/code-review.run/arms/half-run.3.no-skill.json: $.turns: expected `int`, got `str`",),
    )
