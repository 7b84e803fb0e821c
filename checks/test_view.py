"""The view: what a reader is told, in which words and which order, from results that are written down by hand."""

from __future__ import annotations

from itertools import product
from typing import Literal, TypeAlias

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import factory
from pytest_skillbench import view
from pytest_skillbench.model import (
    Flag,
    HistoryLine,
    Narrative,
    NarrativeEvidence,
    NarrativeSentence,
    SkillResult,
    Verdict,
)
from pytest_skillbench.view import words
from pytest_skillbench.view.excerpts import Passage, excerpt, locate
from pytest_skillbench.view.page import SkillPage
from pytest_skillbench.view.ribbons import recent, ribbon, spark, ticks
from pytest_skillbench.view.texts import brief, budget, cut, few, fit, tail, weight

Standing: TypeAlias = Literal["scored", "no-run", "broken", "no-cases"]
VERDICTS: tuple[Verdict, ...] = ("pass", "fail", "incomplete")
GREEN, RED, OPEN = "WWWWW", "LLLLL", "WW???"


def page(
    result: SkillResult,
    *,
    narrative: Narrative | None = None,
    history: tuple[HistoryLine, ...] | None = None,
    texts: factory.MemoryTexts | None = None,
    run_link: str = "",
) -> SkillPage:
    """Return the report of a result, with the factory's history and texts."""
    past = (*factory.past(), factory.own_line(result)) if history is None else history
    return view.skill_page(result, past, texts or factory.MemoryTexts(), narrative, factory.META, run_link)


# -- words -------------------------------------------------------------------------------------------------------------


def test_figures_are_written_one_way() -> None:
    """A minus is a minus, a price is never rounded to nothing, a share is never rounded to certainty."""
    assert [words.signed(n) for n in (12, 0, -3)] == ["+12", "0", "−3"]
    assert [words.dollars(x) for x in (0, 4.216, 1234.5, 0.0031, 0.00001)] == [
        "$0.00", "$4.22", "$1,234.50", "$0.0031", "<$0.0001",
    ]  # fmt: skip
    assert [words.percent(x) for x in (0, 1, 0.5, 0.0004, 0.00001, 0.9999, 0.99999)] == [
        "0%", "100%", "50%", "0.04%", "<0.01%", "99.99%", ">99.99%",
    ]  # fmt: skip
    assert [words.times(x) for x in (None, 1.4814, 0.001, 0)] == ["—", "1.48×", "<0.01×", "0.00×"]
    assert words.moment("2026-10-04T09:42:00Z") == "4 Oct 2026, 09:42 UTC"


def test_unknown_unpriced_and_lower_bounds_never_look_like_a_figure() -> None:
    """No usage is a dash, no price is "unpriced", an incomplete sum is marked: none of them is a zero."""
    assert (words.tokens(None), words.price(None)) == ("—", "—")
    assert words.price(factory.usage(cost_usd=None)) == "unpriced"
    assert words.tokens(factory.usage(complete=False)) == "≥ 54,700"
    assert words.price(factory.usage(), partial=True) == "≥ $0.16"


@given(st.text(alphabet=st.characters(), max_size=80))
def test_a_link_is_never_more_than_a_relative_path(name: str) -> None:
    """Whatever a folder is called, lone surrogates too, its link has no scheme, query, fragment, quote or space."""
    assert not set(words.encoded(name)) & set(":?#\"'<> \\\n")


# -- headline ----------------------------------------------------------------------------------------------------------

HEADLINES = {
    (GREEN, "TTTTT"): "Safe edit, and the skill earns its keep.",
    (GREEN, RED): "Still valuable, but this edit regressed one case.",
    (RED, "TTTTT"): "Not shown to beat no skill: it does on 0 of 1 case; the edit made no case worse.",
    (RED, RED): "Not shown to beat no skill: it does on 0 of 1 case, and this edit regressed one case.",
    (OPEN, OPEN): "No verdict yet: evidence is missing in 1 of 1 case.",
    (GREEN, OPEN): "Earns its keep; whether this edit made it worse is not known yet.",
    (OPEN, "TTTTT"): "This edit made no case worse; whether the skill beats no skill is not known yet.",
    (OPEN, RED): "This edit regressed one case; whether the skill beats no skill is not known yet.",
    (RED, OPEN): "Not shown to beat no skill: it does on 0 of 1 case; whether the edit made it worse is not known yet.",
    (GREEN, None): "Earns its keep: it beats no skill on every case.",
    (RED, None): "Not shown to beat no skill: it does on 0 of 1 case.",
    (OPEN, None): "No verdict yet: evidence is missing in 1 of 1 case.",
}


@pytest.mark.parametrize("strips", HEADLINES, ids=lambda s: f"{s[0]}-{s[1]}")
def test_headline_reads_both_verdicts_together(strips: tuple[str, str | None]) -> None:
    """Each crossing of the two verdicts has its own meaning, and missing evidence is never told as a success."""
    assert view.headline(factory.result(factory.case("only", *strips))) == HEADLINES[strips]


def test_headline_of_nothing_claims_nothing() -> None:
    """A run without a case is not an achievement."""
    assert view.headline(factory.result()) == "Nothing measured: this skill has no cases."


def test_headline_tells_a_broken_output_from_a_useless_skill() -> None:
    """A skill that fails on a hard assertion alone is not said to add nothing."""
    found = factory.result(factory.case("a", "WWWWX", "TTTTT"), factory.case("b", GREEN, "TTTTT"))
    assert view.headline(found) == "Breaks its hard assertions in one case; the edit made no case worse."


# -- the header --------------------------------------------------------------------------------------------------------


def test_red_page_says_what_failed_and_jumps_there() -> None:
    """The badge names the case and the threshold; the jump link is there, and only when something is red."""
    found = page(factory.failing())
    efficacy, regression = found.badges
    assert (efficacy.state, efficacy.count, regression.state, regression.count) == ("fail", "4/5", "fail", "4/5")
    assert [note.text for note in regression.notes] == [" lost 3 of 5 trials, the rule allows 1"]
    assert [jump.href for jump in found.jumps] == ["#c.race-in-cache", "#c.missing-tests"]
    assert page(factory.calm()).jumps == ()
    assert page(factory.incomplete()).jumps == ()


def test_green_badge_still_names_its_narrowest_case() -> None:
    """A barely green skill does not look as safe as a clean sweep."""
    efficacy, regression = page(factory.calm()).badges
    assert [(note.lead, note.link and note.link.text, note.text) for note in efficacy.notes] == [
        ("Narrowest margin:", "scoped-monorepo", ", one flip from failing")
    ]
    assert (regression.word, regression.notes[0].text) == ("n/a", "two-arm run: new skill")


def test_incomplete_is_its_own_state() -> None:
    """Missing evidence is neither green nor red, on the badge, the page and the row."""
    found = page(factory.incomplete())
    assert [badge.word for badge in found.badges] == ["Incomplete", "Incomplete"]
    assert found.state == "part"
    assert [strip.state for strip in found.cases[0].strips] == ["part", "part"]
    assert [strip.word for strip in found.cases[1].strips] == ["Pass", "Pass"]


def test_stale_problems_and_example_are_said() -> None:
    """What a reader must know before believing a page is on it."""
    result = factory.incomplete()
    result = msgspec.structs.replace(result, plan=msgspec.structs.replace(result.plan, example=True))
    found = page(result)
    assert found.example
    assert found.stale == ("case half-run has changed: case.md differs from what was run",)
    assert "half-run.3.no-skill.json" in found.problems[0]


# -- ribbons -----------------------------------------------------------------------------------------------------------


def test_ribbon_shows_seven_runs_and_leaves_gaps() -> None:
    """The last seven runs up to this one; a two-arm run has no dot and breaks the line, and is never a zero."""
    own = factory.own_line(factory.failing())
    lines = recent((*factory.past(), own), factory.RUN_ID)
    assert [line.run_id for line in lines] == ["r1", "r2", "r3", "r4", "r5", "r6", factory.RUN_ID]
    found = ribbon(lines, factory.RUN_ID, "regression", "")
    assert (len(found.dots), len(found.gaps), len(found.lines)) == (5, 2, 4)
    assert [dot.now for dot in found.dots] == [False] * 4 + [True]
    assert found.dots[2].state == "part"
    assert found.net == "−2"
    assert found.readout == ("−3 vs previous, below earlier range", "3 of last 5 three-arm runs green")


def test_ribbon_leaves_out_runs_after_this_one() -> None:
    """An older run's report, rendered again, ends with that run."""
    assert recent(factory.past(), "r3")[-1].run_id == "r3"


def test_two_arm_run_has_no_current_regression() -> None:
    """The readout of a two-arm run is n/a, with the last real value in words."""
    own = factory.own_line(factory.calm())
    found = ribbon(recent((*factory.past(), own), factory.RUN_ID), factory.RUN_ID, "regression", "")
    assert (found.net, found.muted) == ("n/a", True)
    assert found.readout == ("two-arm run; last three-arm net +1", "3 of last 4 three-arm runs green")


def test_edits_are_marked_between_runs() -> None:
    """An edit of the skill, of its cases or a moved base is on the axis; the ribbon's line stands between the runs."""
    a = factory.line("a", "2026-10-01T00:00:00Z", 1, 0)
    b = factory.line("b", "2026-10-02T00:00:00Z", 1, 0, skill="8", suite="7")
    c = msgspec.structs.replace(b, run_id="c", base_commit="f" * 40)
    assert [tick.marks for tick in ticks((a, b, c), "c")] == [(), ("edited", "cases changed"), ("base moved",)]
    assert ribbon((a, b, c), "c", "efficacy", "").edits == ("33.33%",)
    assert "edited before: 2 Oct." in ribbon((a, b, c), "c", "efficacy", "").label


@given(
    st.lists(
        st.tuples(st.integers(-200, 200), st.none() | st.integers(-200, 200), st.sampled_from(VERDICTS)),
        max_size=9,
    )
)
def test_ribbons_stay_in_their_box(runs: list[tuple[int, int | None, Verdict]]) -> None:
    """No history, however odd, puts a dot outside its ribbon or breaks a page."""
    lines = tuple(
        factory.line(f"r{i}", "2026-10-01T00:00:00Z", net, other, efficacy_verdict=verdict)
        for i, (net, other, verdict) in enumerate(runs)
    )
    for name in ("efficacy", "regression"):
        shown = recent(lines, f"r{len(runs) - 1}")
        found = ribbon(shown, f"r{len(runs) - 1}", name, "")
        assert all(20 <= float(dot.y) <= 41 and 0 <= float(dot.x.rstrip("%")) <= 100 for dot in found.dots)
        assert len(found.dots) + len(found.gaps) == len(shown)
        small = spark(shown, f"r{len(runs) - 1}", name)
        assert small is None or all(0 <= float(dot.y) <= 24 for dot in small.dots)


# -- cost and certainty ------------------------------------------------------------------------------------------------


def test_cost_table_has_a_row_an_arm_and_a_ratio_an_opponent() -> None:
    """Three rows and two ratios, two rows and one ratio; the price table's date stands where a dollar does."""
    three, two = page(factory.failing()).costs, page(factory.calm()).costs
    assert [row.arm for row in three.rows] == ["new-skill", "previous-version", "no-skill"]
    assert [row.title for row in three.ratios] == ["new ÷ no-skill", "new ÷ previous"]
    assert [row.arm for row in two.rows] == ["new-skill", "no-skill"]
    assert "2026-10-01" in two.notes[0]
    assert "2026-10-01" in page(factory.failing()).cases[1].evidence[0].cost


def test_cost_table_marks_what_is_not_known() -> None:
    """Unknown usage is a dash with a reason, a partial sum a lower bound, an unpriced model no dollar."""
    result = factory.calm()
    new, none = result.costs
    new = msgspec.structs.replace(
        new,
        runs=12,
        usage=factory.usage(complete=False, notes=("a line was torn",), cost_usd=None, classic_weights=True),
    )
    none = msgspec.structs.replace(none, runs=0, turns=None, usage=None)
    found = page(msgspec.structs.replace(result, costs=(new, none))).costs
    assert (found.rows[0].tokens, found.rows[0].price, found.rows[0].turns[:1]) == ("≥ 54,700†", "unpriced", "≥")
    assert found.rows[1].components == ("—",) * 5
    assert (found.rows[1].turns, found.rows[1].raw, found.rows[1].tokens, found.rows[1].price) == ("—",) * 4
    said = " ".join(found.notes)
    assert "a line was torn" in said
    assert "— is unknown" in said
    assert "$" not in said


def test_sure_strip_says_what_it_rests_on() -> None:
    """The strip counts what was judged and links to each finding; nothing decided means nothing said."""
    rows = {row.label: row for row in page(factory.failing()).sure}
    assert rows["Integrity"].value == "1 of 75"
    assert [link.href for link in rows["Integrity"].links] == ["#c.race-in-cache.r3"]
    assert rows["Judge agreement"].value == "15/15"
    assert rows["Tie rate"].text == "Efficacy 4 of 24, Regression 21 of 25 trials"
    nothing = {row.label: row.value for row in page(factory.result(factory.case("a", "?????", "?????"))).sure}
    assert {nothing[label] for label in ("Tie rate", "Passing by luck", "False alarm", "Position balance")} == {"n/a"}
    assert nothing["Missing evidence"] == "10 of 10"


def test_every_link_of_the_page_has_a_target() -> None:
    """A link inside the report leads somewhere, for every mix of outcomes."""
    for result in (factory.failing(), factory.calm(), factory.incomplete()):
        found = page(result)
        targets = {case.anchor for case in found.cases}
        targets |= {e.anchor for case in found.cases for e in case.evidence}
        targets |= {
            p.anchor for c in found.cases for e in c.evidence for f in e.figures for p in f.pieces if p.kind == "mark"
        }
        wanted = [link.href for row in found.sure for link in row.links] + [jump.href for jump in found.jumps]
        wanted += [f"#{cell.anchor}" for c in found.cases for p in c.panels for cell in p.cells if cell.anchor]
        wanted += [
            r.href for c in found.cases for e in c.evidence for j in e.judged for k in j.criteria for r in k.refs
        ]
        assert {href.removeprefix("#") for href in wanted} <= targets


# -- cases -------------------------------------------------------------------------------------------------------------


def test_cases_keep_their_order_and_open_where_a_look_is_due() -> None:
    """Authored order whatever the verdict; a case opens for a fail, a flagged loss, a note, missing evidence."""
    found = page(factory.failing())
    assert [case.name for case in found.cases] == [c.case.name for c in factory.failing().cases]
    assert [case.open for case in found.cases] == [False, True, True, True, False]
    assert not any(case.open for case in page(factory.calm()).cases)
    assert [case.open for case in page(factory.incomplete()).cases] == [True, True]
    noted = factory.case("a", GREEN, flags={("efficacy", 2): (factory.NOT_LOADED,)})
    assert page(factory.result(noted)).cases[0].open


def test_each_outcome_has_its_own_cell() -> None:
    """GATE and INVALID look like neither a win, a tie nor a loss, and say what they are."""
    cells = page(factory.result(factory.case("a", "WTLX?"))).cases[0].strips[0].cells
    assert [cell.letter for cell in cells] == ["W", "T", "L", "✕", "?"]
    assert len({cell.look for cell in cells}) == 5
    assert cells[3].label == "not judged, a hard assertion failed"
    assert [bool(cell.anchor) for cell in cells] == [False, False, True, True, True]


@pytest.mark.parametrize(
    ("efficacy", "regression"), list(product(["WWWWW", "WWWTT", "LWWWW", "XWWWW"], ["TTTTT", "LL?TT"]))
)
def test_rule_lines_agree_with_the_verdict(efficacy: str, regression: str) -> None:
    """A panel whose lines are all ticked is a pass, and a pass has no line that is not."""
    for panel in page(factory.result(factory.case("a", efficacy, regression))).cases[0].panels:
        marks = {note.icon for note in panel.rules if note.icon and "can't be scored" not in note.text}
        assert (marks == {"ok"}) == (panel.state == "pass")


def test_two_arm_case_says_why_it_was_not_compared() -> None:
    """The Regression column stays where it is and reads n/a with the reason."""
    panel = page(factory.calm()).cases[0].panels[1]
    assert (panel.word, panel.why_lead, panel.why) == ("n/a", "Not compared:", "new skill.")


def test_evidence_of_a_loss_shows_the_pair_the_quotes_and_the_cost() -> None:
    """The losing pair is on the page, new on the left, quotes marked where they stand though white space differs."""
    trial = page(factory.failing()).cases[1].evidence[0]
    assert [figure.arm for figure in trial.figures] == ["new-skill", "previous-version"]
    assert [figure.preferred for figure in trial.figures] == ["no", "yes"]
    marks = [piece.text for figure in trial.figures for piece in figure.pieces if piece.kind == "mark"]
    assert marks == ["Consider thread   safety here", "T1 reads size = 9. T2 reads size = 9."]
    assert trial.figures[0].link is not None
    assert trial.figures[0].link.href == "code-review.run/outputs/race-in-cache.1.new-skill.md"


def test_unverified_quote_is_said_and_never_marked() -> None:
    """A quote that is not in the output is shown as such; it makes no mark."""
    result = factory.result(factory.case("a", "LWWWW"))
    trial = result.cases[0].comparisons[0].trials[0]
    vote = trial.votes[0]
    vote = msgspec.structs.replace(vote, unverified_quotes=(factory.PASSAGE["new-skill"],))
    flag = Flag(kind="unverified-quote", detail=factory.PASSAGE["new-skill"], evidence="judge 1")
    trial = msgspec.structs.replace(trial, votes=(vote,), flags=(flag,))
    part = result.cases[0].comparisons[0]
    part = msgspec.structs.replace(part, trials=(trial, *part.trials[1:]))
    case = msgspec.structs.replace(result.cases[0], comparisons=(part,))
    found = page(msgspec.structs.replace(result, cases=(case,))).cases[0].evidence[0]
    assert found.judged[0].criteria[0].unverified == (factory.PASSAGE["new-skill"],)
    assert [p.kind for p in found.figures[0].pieces] == ["text"]
    assert found.findings == ()


def test_gate_evidence_shows_the_command_and_its_words() -> None:
    """A failed hard assertion is shown with its command, exit and stderr; the table has one exit a trial."""
    case = page(factory.failing()).cases[3]
    broken = case.evidence[0].broken[0]
    assert (broken.outcome, broken.stderr) == ("exit 1", "grep: no line names a severity")
    assert [exit_ for exit_, _ in case.checks[1].exits] == ["0", "0", "1", "0", "0"]
    assert case.evidence[0].judged == ()


def test_missing_output_is_said() -> None:
    """An arm without an output has its reason in the place of the text, and no link to a file that is not there."""
    texts = factory.MemoryTexts({("half-run", 3, "no-skill"): None})
    figure = page(factory.incomplete(), texts=texts).cases[0].evidence[0].figures[1]
    assert figure.missing == "timed out: no final message after 30 minutes"
    assert figure.link is None


def test_links_follow_the_run_record() -> None:
    """A run record that lies elsewhere, under a name that needs encoding, is linked to relative to the report."""
    trial = page(factory.failing(), run_link="../../runs/ä b:c.run").cases[1].evidence[0]
    link = trial.figures[0].link
    assert link is not None
    assert link.href == "../../runs/%C3%A4%20b%3Ac.run/outputs/race-in-cache.1.new-skill.md"


# -- texts cut to size -------------------------------------------------------------------------------------------------

HEAVY = st.text(alphabet=st.sampled_from("a <&\"'\n\t\r\x00\x1bé漢🎉\ud800\u202e"), max_size=400)


@given(HEAVY, st.integers(0, 200))
def test_fit_never_exceeds_and_wastes_little(text: str, allowed: int) -> None:
    """A cut text weighs at most what it may, whatever it is made of, and not much less."""
    stop = fit(text, allowed)
    assert weight(text[:stop]) <= allowed
    assert (
        stop == len(text) or allowed - weight(text[:stop]) <= 12 or weight(text[stop]) > allowed - weight(text[:stop])
    )


@given(HEAVY, st.integers(40, 200))
def test_cut_says_how_much_is_missing(text: str, allowed: int) -> None:
    """A text is whole, or it says how many characters are not shown."""
    found = cut(text, allowed)
    assert bool(found.more) == (weight(text) > allowed)


@given(HEAVY, st.integers(60, 400), st.lists(st.tuples(st.integers(0, 399), st.integers(1, 60)), max_size=5))
def test_excerpt_is_the_text_or_a_bounded_part_of_it(text: str, allowed: int, places: list[tuple[int, int]]) -> None:
    """Pieces, gaps and the rest add up to the text; what is shown stays within its share of the page."""
    passages = [
        Passage(number=i, quote=text[start : start + size], anchor=f"m{i}") for i, (start, size) in enumerate(places, 1)
    ]
    found = excerpt(text, passages, allowed)
    shown = "".join(piece.text for piece in found.pieces if piece.kind != "gap")
    assert weight(shown) <= allowed + 16 * (len(passages) + 1)
    if weight(text) <= allowed and len(text) <= allowed:
        assert not found.more
        assert set(found.anchors) == {p.number for p in passages if p.quote.strip()}


def test_excerpt_shows_the_quoted_passage_of_a_long_text() -> None:
    """A passage deep in a long output is on the page, marked, with what was left out before and behind it."""
    text = "x" * 5_000 + "\n  the  decisive\nsentence \n" + "y " * 5_000
    passage = Passage(number=3, quote="the decisive sentence", anchor="here")
    found = excerpt(text, [passage], 600)
    kinds = [piece.kind for piece in found.pieces]
    assert kinds[:2] == ["text", "gap"]
    assert "mark" in kinds
    assert found.anchors == {3: "here"}
    assert found.more.startswith("… 9,")


def test_overlapping_passages_share_a_mark() -> None:
    """Two judges who quote the same words do not tear the text."""
    found = excerpt(
        "one two three",
        [Passage(number=1, quote="one two", anchor="a"), Passage(number=2, quote="two three", anchor="b")],
        99,
    )
    assert [(piece.text, piece.numbers) for piece in found.pieces] == [("one two three", "1, 2")]
    assert found.anchors == {1: "a", 2: "a"}


@given(st.text(alphabet="ab \n\t", max_size=60), st.integers(0, 59), st.integers(1, 30))
def test_locate_finds_what_is_there(text: str, start: int, size: int) -> None:
    """A quote is found whatever its white space became, and the place found holds its words."""
    quote = " ".join(text[start : start + size].split())
    place = locate(text, quote)
    if not quote:
        assert place is None
    else:
        assert place is not None
        assert " ".join(text[slice(*place)].split()) == quote


def test_locate_is_quick_on_a_hostile_text() -> None:
    """Five megabytes of the same word and a quote that nearly matches everywhere cost no backtracking."""
    assert locate("a " * 2_500_000, "a " * 400 + "b") is None


def test_short_texts() -> None:
    """One-line and tail cuts say that they are cuts; a list says how many it leaves out."""
    assert brief("a\n\n b\x1b[2K", 99) == "a b␛[2K"
    assert brief("word " * 100, 20) == "word word word…"
    assert tail("first\n" * 100 + "last\n", 20).startswith("…")
    assert tail("first\n" * 100 + "last\n", 20).endswith("last")
    assert few(["aaaa", "bbbb", "cccc"], 9) == ("aaaa", "bbbb", "and 1 more")


def test_budget_depends_on_counts_alone_and_shows_every_pair_of_a_small_run() -> None:
    """A run of ordinary size shows each losing pair; a huge one shows the first of each comparison, legibly."""
    few_pairs = budget(pairs=20, parts=4, votes=50, criteria=60, cases=5, commands=10, findings=3)
    many = budget(pairs=500, parts=100, votes=500, criteria=1500, cases=50, commands=100, findings=0)
    assert (few_pairs.full, few_pairs.output > 5_000) == (20, True)
    assert (many.full, many.output >= 800) == (1, True)


# -- narrative ---------------------------------------------------------------------------------------------------------


def told(
    result: SkillResult, *evidence: NarrativeEvidence, about: str = "headline", run_id: str = factory.RUN_ID
) -> SkillPage:
    """Return the report of a result with one narrated sentence that rests on `evidence`."""
    sentence = NarrativeSentence(about=about, text="The edit drops the interleaving.", evidence=evidence)
    return page(result, narrative=Narrative(schema_version=1, run_id=run_id, sentences=(sentence,)))


def test_narrative_is_shown_when_all_its_evidence_holds() -> None:
    """A value as the page prints it (a hyphen may stand for a minus) and a quote of the judge's carry a sentence."""
    found = told(
        factory.failing(),
        NarrativeEvidence(value="regression.net", is_="-2"),
        NarrativeEvidence(quote="walks through  an interleaving", from_="race-in-cache.1.regression"),
    )
    assert [t.text for t in found.told] == ["The edit drops the interleaving."]
    assert [note.text or note.quote for note in found.told[0].evidence] == [
        "Regression net −2",
        "walks through an interleaving",
    ]
    assert found.notes == ()


BAD_EVIDENCE = {
    "wrong value": (NarrativeEvidence(value="efficacy.net", is_="+19"), 'the page says "+18"'),
    "unknown value": (NarrativeEvidence(value="efficacy.charm", is_="9"), 'no value "efficacy.charm"'),
    "no such trial": (NarrativeEvidence(quote="walks", from_="race-in-cache.9.regression"), "no rationale of"),
    "not said": (NarrativeEvidence(quote="was never said", from_="race-in-cache.1.regression"), "not in the rationale"),
    "empty quote": (NarrativeEvidence(quote="  ", from_="race-in-cache.1.regression"), "not in the rationale"),
}


@pytest.mark.parametrize("bad", BAD_EVIDENCE)
def test_narrative_is_dropped_with_a_note(bad: str) -> None:
    """One false piece of evidence drops the sentence, though the others hold; the footer says why."""
    evidence, why = BAD_EVIDENCE[bad]
    found = told(factory.failing(), NarrativeEvidence(value="regression.net", is_="−2"), evidence)
    assert found.told == ()
    assert why in found.notes[0]


def test_narrative_may_not_rest_on_an_unverified_quote() -> None:
    """Words that a judge put into an output's mouth carry no sentence."""
    result = factory.result(factory.case("a", "LWWWW", rationale='B says "all is lost" and means it.'))
    part = result.cases[0].comparisons[0]
    vote = msgspec.structs.replace(part.trials[0].votes[0], unverified_quotes=("all is lost",))
    trial = msgspec.structs.replace(part.trials[0], votes=(vote,))
    part = msgspec.structs.replace(part, trials=(trial, *part.trials[1:]))
    case = msgspec.structs.replace(result.cases[0], comparisons=(part,))
    result = msgspec.structs.replace(result, cases=(case,))
    assert told(result, NarrativeEvidence(quote="and means it", from_="a.1.efficacy")).told
    assert not told(result, NarrativeEvidence(quote='says "all is lost"', from_="a.1.efficacy")).told


def test_narrative_replaces_a_cases_line_and_never_the_headline() -> None:
    """The narrator may give a case its sentence; what the verdicts mean stays the program's to say."""
    good = NarrativeEvidence(value="cases.race-in-cache.regression.losses", is_="3")
    found = told(factory.failing(), good, about="race-in-cache")
    assert [t.text for t in found.cases[1].told] == ["The edit drops the interleaving."]
    assert found.headline == view.headline(factory.failing())
    assert told(factory.failing(), good, about="no-such-case").notes
    assert "another run" in told(factory.failing(), good, run_id="other").notes[0]


# -- leaderboard -------------------------------------------------------------------------------------------------------


def entry(
    name: str, efficacy: str | None = None, regression: str | None = None, state: Standing = "scored", cases: int = 2
) -> view.LeaderboardInput:
    """Return a skill for the leaderboard: a run with one case of these strips, or a state without a run."""
    result = factory.result(factory.case("only", efficacy, regression), name=name) if efficacy else None
    return view.LeaderboardInput(
        name=name,
        path=f"group/{name}",
        state=state,
        result=result,
        history=(factory.own_line(result),) if result else (),
        cases=cases,
        problem="plan.json: $.trials: expected an integer" if state == "broken" else None,
    )


def test_leaderboard_puts_the_most_urgent_first() -> None:
    """Regressions, then efficacy failures, incomplete and broken, fragile, clean, no run, no cases; then by name."""
    rows = [
        entry("nothing", state="no-cases"),
        entry("waiting", state="no-run"),
        entry("clean", GREEN, "TTTTT"),
        entry("alone", GREEN, None),
        entry("fragile-regression", GREEN, "LTTTT"),
        entry("fragile-efficacy", "WWWTT", None),
        entry("broken", state="broken"),
        entry("half", OPEN, "TTTTT"),
        entry("useless", RED, "TTTTT"),
        entry("both", RED, RED),
        entry("regressed", GREEN, RED),
        entry("hidden-regression", OPEN, RED),
    ]
    found = view.index_page(rows, factory.META)
    assert [(group.title, [row.name for row in group.rows]) for group in found.groups] == [
        ("Regressed", ["both", "hidden-regression", "regressed"]),
        ("Adds nothing", ["useless"]),
        ("Incomplete", ["broken", "half"]),
        ("Fragile", ["fragile-efficacy", "fragile-regression"]),
        ("Clean", ["alone", "clean"]),
        ("Not run yet", ["waiting"]),
        ("No cases", ["nothing"]),
    ]
    assert found.headline == "Three skills regressed, and one more is not shown to beat no skill."
    assert found.title == "12 skills, 9 benchmarked"
    assert view.index_page(list(reversed(rows)), factory.META) == found


def test_leaderboard_never_calls_the_unmeasured_green() -> None:
    """No run, no cases and a record that can't be read have no badge at all, and say what to do."""
    rows = [entry("w", state="no-run", cases=1), entry("n", state="no-cases"), entry("b", state="broken")]
    found = view.index_page(rows, factory.META)
    by_name = {row.name: row for group in found.groups for row in group.rows}
    assert all(not row.standings and row.link is None for row in by_name.values())
    assert (by_name["w"].line, by_name["w"].command) == ("Not run yet: 1 case is waiting.", "/benchmark-skill w")
    assert by_name["b"].advice == "plan.json: $.trials: expected an integer"
    assert found.headline == "Nothing red, but one skill lacks evidence for a verdict."
    assert view.index_page([], factory.META).headline == "Nothing has been benchmarked yet."


def test_leaderboard_row_reads_not_applicable_without_a_previous_version() -> None:
    """A skill with no previous version reads n/a in its Regression cell, with the reason."""
    row = view.index_page([entry("alone", GREEN, None)], factory.META).groups[0].rows[0]
    assert (row.standings[1].word, row.standings[1].detail) == ("n/a", "new skill")
    assert row.ratios == (("vs no skill", "1.48×"), ("vs previous", "n/a"))


def test_same_evidence_gives_the_same_page() -> None:
    """The view has no clock, no chance and no memory."""
    assert page(factory.failing()) == page(factory.failing())
