"""The HTML and Markdown: locked by snapshots, closed to hostile text, bounded in size, the same bytes every time."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from checks import factory
from pytest_skillbench import report, view
from pytest_skillbench.model import (
    ARMS,
    Assertion,
    Change,
    CriterionJudgement,
    Flag,
    GateResult,
    Narrative,
    NarrativeEvidence,
    NarrativeSentence,
    SeedTurn,
    SkillRef,
    SkillResult,
)
from pytest_skillbench.text import visible

HOSTILE = (
    "</pre></script><img src=x onerror=alert(1)> <!-- ]]> \"'` &lt;b&gt; {{ 7*7 }} {% raw %}"
    "\x1b]8;;http://evil.example\x07\x00\r\u202e\ud800 javascript:alert(1)"
)


class HtmlSnapshot(SingleFileSnapshotExtension):
    """One readable .html file a snapshot: it opens in a browser."""

    _write_mode = WriteMode.TEXT
    file_extension = "html"


class MarkdownSnapshot(SingleFileSnapshotExtension):
    """One .md file a snapshot."""

    _write_mode = WriteMode.TEXT
    file_extension = "md"


def html_of(result: SkillResult, narrative: Narrative | None = None, texts: view.Texts | None = None) -> str:
    """Return a result's report with the factory's history."""
    history = (*factory.past(), factory.own_line(result))
    page = view.skill_page(result, history, texts or factory.MemoryTexts(), narrative, factory.META)
    return report.skill_html(page)


def leaderboard() -> view.IndexPage:
    """Return a leaderboard with a skill in every group."""
    results = {
        "code-review": factory.failing(),
        "commit-message": factory.calm(),
        "half-run": factory.incomplete(),
        "pdf-forms": factory.result(factory.case("one", "WWWWW", "TTWTT")),
        "changelog": factory.result(factory.case("one", "WTTTL", "TTTTT")),
    }
    rows = [
        view.LeaderboardInput(
            name=name,
            path=f"group/{name}",
            state="scored",
            result=result,
            history=(*factory.past(), factory.own_line(result)),
            cases=len(result.cases),
            problem=None,
        )
        for name, result in results.items()
    ]
    empty = rows[0]
    for name, state in (("waiting", "no-run"), ("torn", "broken"), ("empty", "no-cases")):
        problem = "tests/.reports/torn.run/plan.json: $.trials: expected an integer" if state == "broken" else None
        rows.append(
            msgspec.structs.replace(
                empty, name=name, path=f"group/{name}", state=state, result=None, history=(), cases=3, problem=problem
            )
        )
    return view.index_page(rows, factory.META)


# -- snapshots ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["failing", "calm", "incomplete"])
def test_report_snapshot(kind: str, snapshot: SnapshotAssertion) -> None:
    """The whole page of a failing three-arm, a calm two-arm and an incomplete run, byte for byte."""
    assert html_of(getattr(factory, kind)()) == snapshot(extension_class=HtmlSnapshot)


def test_index_snapshot(snapshot: SnapshotAssertion) -> None:
    """The whole leaderboard, byte for byte."""
    assert report.index_html(leaderboard()) == snapshot(extension_class=HtmlSnapshot)


def test_summary_snapshot(snapshot: SnapshotAssertion) -> None:
    """The Markdown for a CI job's page, byte for byte."""
    assert report.summary_md(leaderboard()) == snapshot(extension_class=MarkdownSnapshot)


# -- the file itself ---------------------------------------------------------------------------------------------------


class Outline(HTMLParser):
    """Reads a page as a browser's parser would see its elements, attributes and text."""

    VOID = frozenset({"meta", "link", "br", "img", "hr", "input"})

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.comments: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an SVG element that closes itself."""
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Check that elements nest: a text that broke out would close something that is not open."""
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note text."""
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        """Note a comment: the pages have none."""
        self.comments.append(data)


@pytest.mark.parametrize("kind", ["failing", "calm", "incomplete", "index"])
def test_page_is_one_closed_file(kind: str) -> None:
    """No script, no inline style, no event handler, no address outside; ids are unique; elements nest."""
    html = report.index_html(leaderboard()) if kind == "index" else html_of(getattr(factory, kind)())
    seen = Outline(html)
    assert seen.open == []
    assert seen.comments == []
    tags = {tag for tag, _ in seen.elements}
    assert not tags & {"script", "img", "iframe", "object", "embed", "base", "form", "audio", "video"}
    for tag, attributes in seen.elements:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("href", "src"):
            target = attributes.get(name) or ""
            assert ":" not in target or (tag == "link" and target.startswith("data:image/svg+xml,"))
    ids = [attributes["id"] for _, attributes in seen.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_policy_allows_our_style_by_its_hash_and_nothing_else() -> None:
    """The Content-Security-Policy names the digest of exactly the style that is in the file."""
    html = html_of(factory.failing())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert policy is not None
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style.group(1).encode()).digest()).decode()
    assert policy.group(1) == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert html.index("Content-Security-Policy") < html.index("<style>")


def test_same_page_same_bytes() -> None:
    """Rendering has no clock, no chance and no order of a dictionary in it."""
    assert html_of(factory.failing()) == html_of(factory.failing())


def test_notices_show_where_they_are_due_and_nowhere_else() -> None:
    """Example data, STALE, unusable files and the jump link are on the page when they are true, and only then."""
    calm, open_ = html_of(factory.calm()), html_of(factory.incomplete())
    plan = msgspec.structs.replace(factory.calm().plan, example=True)
    example = html_of(msgspec.structs.replace(factory.calm(), plan=plan))
    assert ("Example data." in example, "Example data." in calm) == (True, False)
    assert ("STALE." in open_, "STALE." in calm) == (True, False)
    assert ("could not be used" in open_, "could not be used" in calm) == (True, False)
    assert ("Jump to the" in html_of(factory.failing()), "Jump to the" in calm, "Jump to the" in open_) == (
        True, False, False,
    )  # fmt: skip


# -- hostile text ------------------------------------------------------------------------------------------------------


def hostile(text: str) -> tuple[SkillResult, Narrative, factory.MemoryTexts]:
    """Return a run with `text` in every field that a model, a judge, an author or a client can fill."""
    frozen = factory.planned(
        "only",
        description=text,
        path=text,
        prompt=text,
        seed_turns=(SeedTurn(role="user", text=text),),
        assertions=(Assertion(shell="sh", line=9, title=text, command=text),),
        criteria=(text,),
    )
    flag = Flag(kind=text, detail=text, evidence=text, arm="new-skill")
    found = factory.case("only", "LXW?W", "LTWT?", plan=frozen, rationale=text, flags={("efficacy", 3): (flag,)})
    said = CriterionJudgement(criterion=1, better="A", because=text, quote_a=text, quote_b="not in it " + text)
    parts = []
    for part in found.comparisons:
        trials = []
        for trial in part.trials:
            votes = tuple(
                msgspec.structs.replace(
                    vote, criteria=(said,), strength=text, model=text, unverified_quotes=("not in it " + text,)
                )
                for vote in trial.votes
            )
            trials.append(msgspec.structs.replace(trial, votes=votes, reason=trial.reason and text))
        parts.append(msgspec.structs.replace(part, trials=tuple(trials), why=text))
    arms = tuple(
        msgspec.structs.replace(
            arm,
            model=text,
            problem=arm.problem and text,
            changes=(Change(path=text, change="added", sha256=None, bytes=3),),
            gate=(GateResult(assertion=0, exit_code=1, timed_out=False, duration_ms=1, stdout=text, stderr=text),)
            if arm.arm == "new-skill"
            else (),
        )
        for arm in found.arms
    )
    found = msgspec.structs.replace(found, comparisons=tuple(parts), arms=arms)
    result = factory.result(found)
    assert result.plan.base is not None
    base = msgspec.structs.replace(result.plan.base, branch=text, ref=text)
    plan = msgspec.structs.replace(
        result.plan,
        skill=SkillRef(name=text, path=text),
        base=base,
        base_reason=text,
        host=text,
        settings=msgspec.structs.replace(result.plan.settings, effort=text),
    )
    costs = tuple(
        msgspec.structs.replace(cost, usage=factory.usage(complete=False, notes=(text,))) for cost in result.costs
    )
    result = msgspec.structs.replace(result, plan=plan, costs=costs, stale=(text,), problems=(text,), price_table=text)
    evidence = (NarrativeEvidence(quote=text, from_="only.3.regression"),)
    narrative = Narrative(
        schema_version=1,
        run_id=factory.RUN_ID,
        sentences=(
            NarrativeSentence(about="headline", text=text, evidence=evidence),
            NarrativeSentence(about=text, text=text, evidence=(NarrativeEvidence(value=text, is_=text),)),
        ),
    )
    texts = {("only", trial, arm): f"before\n{text}\nafter" for trial in range(1, 6) for arm in ARMS}
    return result, narrative, factory.MemoryTexts(texts, texts)


def test_hostile_text_is_shown_and_does_nothing() -> None:
    """Markup, template syntax, escape sequences and lone surrogates are literal text in every field."""
    result, narrative, texts = hostile(HOSTILE)
    tame = "plain words"
    expected = Outline(html_of(*hostile(tame)))
    html = html_of(result, narrative, texts)
    html.encode("utf-8")
    seen = Outline(html)
    assert seen.open == []
    assert seen.comments == []
    allowed = {(tag, name) for tag, attributes in expected.elements for name in attributes}
    assert {(tag, name) for tag, attributes in seen.elements for name in attributes} <= allowed
    assert {tag for tag, _ in seen.elements} <= {tag for tag, _ in expected.elements}
    text = "".join(seen.text)
    assert text.count("<img src=x onerror=alert(1)>") >= 20
    assert "{{ 7*7 }}" in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", html)
    for tag, attributes in seen.elements:
        target = attributes.get("href") or ""
        assert tag == "link" or ":" not in target, target


def test_hostile_leaderboard_and_summary() -> None:
    """The leaderboard and the Markdown take hostile names and reasons the same way; a cell never breaks a table."""
    result, _, _ = hostile(HOSTILE + " | [a](http://x) **b** @user #12 www.evil.example https://evil.example :smile:")
    name = result.plan.skill.name
    rows = [
        view.LeaderboardInput(name=name, path=name, state="scored", result=result, history=(), cases=1, problem=None),
        view.LeaderboardInput(name=name, path=name, state="broken", result=None, history=(), cases=1, problem=name),
        view.LeaderboardInput(name=name, path=name, state="no-run", result=None, history=(), cases=1, problem=None),
    ]
    meta = msgspec.structs.replace(factory.META, repo=HOSTILE)
    page = view.index_page(rows, meta)
    seen = Outline(report.index_html(page))
    assert seen.open == []
    assert "img" not in {tag for tag, _ in seen.elements}
    markdown = report.summary_md(page)
    markdown.encode("utf-8")
    body = [line for line in markdown.splitlines() if line.startswith("| **")]
    assert len(body) == 3
    assert {line.count("|") for line in body} == {9}
    for bare in ("<img", "](http", "@user", " #12", "www.", "https://", ":smile:", "`"):
        assert bare not in markdown


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(alphabet=st.characters(), min_size=1, max_size=60))
def test_any_text_renders(text: str) -> None:
    """No text that can be put into the fields breaks a page, adds an element or is lost."""
    result, narrative, texts = hostile(text)
    html = html_of(result, narrative, texts)
    html.encode("utf-8")
    seen = Outline(html)
    assert seen.open == []
    assert visible(f"before\n{text}\nafter") in "".join(seen.text)


# -- size --------------------------------------------------------------------------------------------------------------


def heavy(fill: str) -> str:
    """Return the report of 50 cases, 5 trials, three arms, all lost, with `fill` in every text."""
    strip = "LLLLL"
    cases = []
    for n in range(50):
        frozen = factory.planned(
            f"case-{n}",
            description=fill,
            prompt=fill,
            assertions=tuple(Assertion(shell="sh", line=9, title=fill, command=fill) for _ in range(3)),
            criteria=(fill, fill, fill),
        )
        case = factory.case(f"case-{n}", strip, strip, plan=frozen, rationale=fill)
        parts = []
        for part in case.comparisons:
            said = tuple(
                CriterionJudgement(criterion=c, better="A", because=fill, quote_a=fill[:300], quote_b=fill[:300])
                for c in (1, 2, 3)
            )
            trials = tuple(
                msgspec.structs.replace(t, votes=(msgspec.structs.replace(t.votes[0], criteria=said),))
                for t in part.trials
            )
            parts.append(msgspec.structs.replace(part, trials=trials, why=fill))
        cases.append(msgspec.structs.replace(case, comparisons=tuple(parts)))
    whole = fill * 3
    outputs = {(f"case-{n}", t, arm): whole for n in range(50) for t in range(1, 6) for arm in ARMS}
    return html_of(factory.result(*cases), None, factory.MemoryTexts(outputs, outputs))


FILLS = {"prose": "The quick brown fox. " * 300, "markup": "<'\"&>" * 800, "control": "\x1b\u202e漢" * 800}


@pytest.mark.parametrize("fill", FILLS.values(), ids=FILLS)
def test_largest_report_is_bounded(fill: str) -> None:
    """50 cases, 5 trials, three arms, all lost, with any amount of text: at most 1.5 MB, and it says what is cut."""
    html = heavy(fill)
    assert len(html.encode("utf-8")) <= 1_500_000
    assert "more characters" in html
    assert html.count('class="trial"') == 500
    assert html.count('<figure class="out') == 200


def test_cut_output_says_so_and_links_to_the_whole() -> None:
    """A five-megabyte output is a page's share, a count of what is left out, and a relative link to the file."""
    texts = factory.MemoryTexts({("only", 1, "new-skill"): "line of text\n" * 400_000})
    html = html_of(factory.result(factory.case("only", "LLLWW")), None, texts)
    assert len(html) < 120_000
    more = re.search(r"… ([\d,]+) more characters: <a href=\"([^\"]+)\">open the whole output", html)
    assert more is not None
    assert int(more.group(1).replace(",", "")) > 5_000_000
    assert more.group(2) == "code-review.run/outputs/only.1.new-skill.md"


def test_empty_runs_render() -> None:
    """A run without cases, and one where nothing could be scored, are pages like any other, and not green."""
    empty = html_of(factory.result())
    assert "Nothing measured" in empty
    nothing = html_of(factory.result(factory.case("a", "?????", "?????")))
    assert nothing.count("Incomplete") >= 4
    assert 'class="badge is-pass"' not in nothing
