"""From an observation to rows: what holds, what does not, and what is not known and therefore no number."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillbench.model import OutputRef
from pytest_skillbench.scorecard.cases import folded
from pytest_skillbench.scorecard.grading import Seen, dimensions_of, grade
from pytest_skillbench.scorecard.records import Category, Context, EvalCase, Expected, Observation, Status, ToolCall
from pytest_skillbench.scorecard.scores import Row
from pytest_skillbench.scorecard.structure import structures

from .scorecards import NOW, RUN_ID

REF = OutputRef(sha256="a" * 64, bytes=1)


def case(category: Category = "output-quality", **expected: object) -> EvalCase:
    """Return a case that expects this."""
    return EvalCase(
        id="c--n",
        file="c.yaml",
        line=1,
        name="n",
        slug="n",
        skill="s",
        category=category,
        input="x",
        context=Context(),
        expected=Expected(**expected),  # type: ignore[arg-type]  # the test's own keywords
        tags=(),
        sha256="a" * 64,
    )


def observation(status: Status = "answered", **fields: object) -> Observation:
    """Return an observation of it, of a task unless said otherwise."""
    found = Observation(
        schema_version=1,
        run_id=RUN_ID,
        case="c--n",
        trial=1,
        status=status,
        detail=None if status == "answered" else "because",
        attempt=1,
        probe=None,
        triggered=None,
        seen=None,
        tool_calls=(),
        output=REF,
        host="h",
        host_version=None,
        model=None,
        started_at=NOW,
        duration_ms=None,
        requests=None,
        usage_complete=False,
        usage_notes=(),
        turns=None,
    )
    return msgspec.structs.replace(found, **fields)


def rows(of: EvalCase, seen: Observation | str, output: str | None = "") -> dict[str, Row]:
    """Return the rows of a case by dimension."""
    what = (
        Seen(observation=None, why=seen)
        if isinstance(seen, str)
        else Seen(observation=seen, why=None, output=lambda: output)
    )
    return {row.dimension: row for row in grade(of, 1, what)}


# -- which case counts where -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "wanted"),
    [
        (case("trigger-positive", triggered=True, tools_used=("Bash",), output_contains=("x",)), {"trigger_accuracy"}),
        (case("output-quality", output_contains=("x",)), {"output_quality"}),
        (case("output-quality", output_contains=("x",), tools_used=("Bash",)), {"output_quality", "tool_usage"}),
        (case("output-quality", output_contains=("x",), error_handled=True), {"output_quality", "error_handling"}),
        (case("tool-usage", tools_used=("Bash",), output_contains=("x",)), {"tool_usage", "output_quality"}),
        (case("error-handling", output_contains=("x",), error_handled=True), {"error_handling"}),
        (case("token-efficiency"), set()),
    ],
)
def test_which_dimensions_a_case_counts_in(of: EvalCase, wanted: set[str]) -> None:
    """A probe counts for triggering alone; a task for all that it says anything of."""
    assert set(dimensions_of(of)) == wanted


# -- triggering --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expected", [True, False])
@pytest.mark.parametrize("seen", [True, False])
def test_triggering(expected: bool, seen: bool) -> None:
    """Right where it was used just when it should be."""
    row = rows(case("trigger-accuracy", triggered=expected), observation(probe="observed", triggered=seen))
    found = row["trigger_accuracy"]
    assert (found.held, found.of) == (int(expected is seen), 1)
    assert found.category == ("trigger-positive" if expected else "trigger-negative")
    assert bool(found.failed) == (expected is not seen)


@pytest.mark.parametrize("status", ["timed-out", "limit-hit", "failed", "missing", "error"])
def test_a_probe_that_did_not_end_is_no_negative(status: Status) -> None:
    """Not having been seen to use the skill says nothing where it still could have: a negative is not right."""
    for triggered in (False, None):
        row = rows(
            case("trigger-negative", triggered=False), observation(status, probe="observed", triggered=triggered)
        )
        assert row["trigger_accuracy"].held is None
        assert row["trigger_accuracy"].ungraded
    used = rows(case("trigger-positive", triggered=True), observation(status, probe="observed", triggered=True))
    assert used["trigger_accuracy"].held == 1


def test_a_probe_that_nobody_saw() -> None:
    """Null is not false."""
    row = rows(case("trigger-negative", triggered=False), observation(probe="observed"))["trigger_accuracy"]
    assert (row.held, row.ungraded) == (None, "whether it was triggered was not observed")


# -- the final message -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keyword", "text", "holds"),
    [
        ("Nomad", "the NOMAD cluster", True),
        ("straße", "STRASSE", True),
        ("状态", "集群状态：正常", True),
        ("NOMAD", "Ｎｏｍａｄ", True),  # full width
        ("é", "e\u0301", True),
        ("fi", "ﬁle", True),
        ("two words", "two  words", False),  # white space is not folded
        ("e", "é", False),  # nor are accents
        ("状態", "状态", False),  # nor scripts
        ("a.c", "abc", False),  # nor is it a pattern
    ],
)
def test_keywords(keyword: str, text: str, holds: bool) -> None:
    """NFKC and casefold on both sides, and nothing else."""
    assert rows(case(output_contains=(keyword,)), observation(), text)["output_quality"].held == int(holds)
    assert rows(case(output_not_contains=(keyword,)), observation(), text)["output_quality"].held == int(not holds)


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_a_text_holds_what_it_is_made_of(before: str, keyword: str, after: str) -> None:
    """Folding is the same on both sides, so a keyword that stands there between blanks is found, whatever it is."""
    assert folded(keyword) in folded(f"{before} {keyword} {after}")


def test_the_share_of_checks_that_hold() -> None:
    """Each keyword, each forbidden one and the structure are one check."""
    of = case(output_contains=("a", "b"), output_not_contains=("c", "d"), output_structure="table")
    row = rows(of, observation(), "a c")["output_quality"]
    assert (row.held, row.of) == (2, 5)
    assert row.failed == ('lacks "b"', 'has "c"', "no table")


TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("plain words | with | bars\n", set()),
        (TABLE, {"table"}),
        (f"```\n{TABLE}```\n", {"code-block"}),
        ("> " + TABLE.replace("\n", "\n> "), {"table"}),
        ("- a\n- b\n", {"list"}),
        ("1. a\n", {"list"}),
        ("1. a\n2. b\n", {"list", "step-by-step"}),
        ("1. a\n   - x\n   - y\n", {"list"}),
        ("- a\n  1. x\n  2. y\n", {"list", "step-by-step"}),
        ("1. a\n```sh\nx\n```\n2. b\n", {"list", "code-block", "step-by-step"}),
        ("1. a\n\nnote\n\n2. b\n", {"list", "step-by-step"}),
        ("1. a\n\nnote\n\n1. b\n", {"list"}),
        ("2. a\n\nnote\n\n4. b\n", {"list"}),
        ("2026. was a year\n3 blind mice\n", {"list"}),
        ("a - b\nc * d\n", set()),
        ("## Step 1: do\n\nx\n\n## Step 2: go\n", {"heading", "step-by-step"}),
        ("### 第 1 步\n\n### 第 2 步\n", {"heading", "step-by-step"}),
        ("## 2\n\n## 1\n", {"heading"}),
        ("## Step 1\n", {"heading"}),
        ("## Step one\n\n## Step Two\n", {"heading", "step-by-step"}),
        ("## 第一步\n\n## 第二步: 写\n", {"heading", "step-by-step"}),
        ("## 一、准备\n\n## 二、执行\n", {"heading", "step-by-step"}),
        ("**Step 1:** do\n\n**Step 2:** go\n", {"step-by-step"}),
        ("**第一步**\n\n**第二步**\n", {"step-by-step"}),
        ("## One more thing\n\n## Two caveats\n", {"heading"}),
        ("## 一个例子\n\n## 二手\n", {"heading"}),
        ("**1** do\n\n**2** go\n", set()),
        ("Step 1 is\n\nStep 2 is\n", set()),
        ('{"a": NaN}', set()),
        ("Title\n=====\n", {"heading"}),
        ("#no heading\n", set()),
        ("    indented\n", {"code-block"}),
        ('{"a": 1}', {"json"}),
        ("[1, 2]\n", {"json"}),
        ("12", set()),
        ('```json\n{"a": [1]}\n```\n', {"code-block", "json"}),
        ("```json\n{a: 1}\n```\n", {"code-block"}),
        ('```yaml\n{"a": 1}\n```\n', {"code-block"}),
        ('the answer is {"a": 1}\n', set()),
        ("[" * 5000, set()),
        ("", set()),
    ],
)
def test_structures_are_parsed(text: str, wanted: set[str]) -> None:
    """By CommonMark's blocks; what only looks alike is none."""
    assert structures(text) == wanted


@given(st.text('|-`#> \n1.*[]{}":\t0a', max_size=200))
def test_no_text_stops_the_parser(text: str) -> None:
    """Whatever a model wrote has some structures, or none."""
    assert structures(text) <= {"table", "list", "code-block", "step-by-step", "json", "heading"}


@pytest.mark.parametrize("status", ["error", "timed-out", "limit-hit", "failed", "missing"])
def test_a_task_that_did_not_end_has_no_quality(status: Status) -> None:
    """It is ungraded with its reason, and not zero; what it left unsaid is not right either."""
    row = rows(case(output_not_contains=("x",)), observation(status), "")["output_quality"]
    assert (row.held, row.ungraded) == (None, f"{status}: because")


def test_an_answer_without_a_message() -> None:
    """No final message holds nothing that it should not: that would be right by being absent."""
    row = rows(case(output_not_contains=("x",)), observation(output=None))["output_quality"]
    assert row.ungraded == "answered, without a final message"
    assert rows(case(output_not_contains=("x",)), observation(), None)["output_quality"].held is None


# -- tools -------------------------------------------------------------------------------------------------------------


def call(name: str, dangerous: str | None = None) -> ToolCall:
    """Return a tool call."""
    return ToolCall(name=name, input="rm -rf /", dangerous=dangerous)


@pytest.mark.parametrize(
    ("calls", "held", "of"),
    [
        ((), 0, 2),
        ((call("Bash"),), 1, 2),
        ((call("bash"), call("READ"), call("Read")), 2, 2),
        ((call("Bash"), call("Read"), call("Write")), 2, 2),
        ((call("Bash", "deletes outside the world"), call("Read")), 2, 3),
        ((call("Bash", "network"), call("Bash", "network")), 1, 4),
    ],
)
def test_tools(calls: tuple[ToolCall, ...], held: int, of: int) -> None:
    """Recall of the expected tools; each dangerous call costs, and is listed with what it did."""
    row = rows(case("tool-usage", tools_used=("Bash", "Read")), observation(tool_calls=calls))["tool_usage"]
    assert (row.held, row.of) == (held, of)
    assert sum("dangerous" in text for text in row.failed) == sum(c.dangerous is not None for c in calls)


def test_tools_that_the_host_does_not_show() -> None:
    """Null is not "none"."""
    row = rows(case("tool-usage", tools_used=("Bash",)), observation(tool_calls=None))["tool_usage"]
    assert (row.held, row.ungraded) == (None, "the host does not show the tool calls")


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "output", "held"),
    [("answered", "config", 2), ("answered", "", 1), ("refused", "config", 0), ("error", "config", 0)],
)
def test_error_handling(status: Status, output: str, held: int) -> None:
    """The checks, and that it ended in an answer; a refusal or an error is nothing of it, whatever words it has."""
    of = case("error-handling", output_contains=("config",), error_handled=True)
    row = rows(of, observation(status), output)["error_handling"]
    assert (row.held, row.of) == (held, 2)


@pytest.mark.parametrize("output", ["I can't help with that.", None])
def test_a_refusal_is_no_output_of_quality(output: str | None) -> None:
    """A case that only forbids words is not held by a message that says nothing, nor by none at all."""
    of = case(output_not_contains=("perfect", "great"))
    seen = observation("refused", output=REF if output else None, detail="I can't help with that.")
    row = rows(of, seen, output)["output_quality"]
    assert (row.held, row.of, row.failed) == (0, 2, ("ended as refused: I can't help with that.",))


def test_error_handling_that_was_cut_short() -> None:
    """A time-out is no error of the skill's: nothing is known."""
    row = rows(case("error-handling", error_handled=True), observation("timed-out"))["error_handling"]
    assert row.held is None


def test_a_job_that_is_not_there() -> None:
    """Every row of the case says why."""
    found = rows(case(output_contains=("x",), tools_used=("Bash",)), "no run recorded")
    assert {name: row.ungraded for name, row in found.items()} == {
        "output_quality": "no run recorded",
        "tool_usage": "no run recorded",
    }
