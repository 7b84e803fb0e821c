"""The laws of the arithmetic: exact at the thresholds, blind to order, and never better for what is missing."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillbench.scorecard import compare
from pytest_skillbench.scorecard.baseline import Baseline, BaselineSkill
from pytest_skillbench.scorecard.config import THRESHOLDS, WEIGHTS, Threshold
from pytest_skillbench.scorecard.dimensions import ALARM, mean, overall, rounded, score, static, weighted_mean
from pytest_skillbench.scorecard.records import DIMENSIONS, Category, Dimension
from pytest_skillbench.scorecard.scores import DimensionScore, Row, Size
from pytest_skillbench.scorecard.size import is_invocable, lines, tokens, words

from .test_architecture import IMPURE, PACKAGE, imports

LIMIT = Threshold(warning=Decimal(-5), blocking=Decimal(-15))
GROWTH = THRESHOLDS["token_efficiency"]
SCORES = st.decimals(0, 100, places=1)


def row(held: int | None, of: int = 1, case: str = "c", category: Category = "output-quality", trial: int = 1) -> Row:
    """Return a row; `held` None: ungraded."""
    known = held is not None
    return Row(
        case=case,
        trial=trial,
        dimension="trigger_accuracy" if category.startswith("trigger") else "output_quality",
        category=category,
        held=held,
        of=of if known else None,
        ungraded=None if known else "timed-out",
    )


def scored(value: Decimal | None, high: Decimal | None = None) -> DimensionScore:
    """Return a dimension with this score, or with none and this highest possible one."""
    return DimensionScore(
        state="not-run" if value is None else "scored",
        score=value,
        why="1 of 2 ungraded" if value is None else None,
        rows=2,
        ungraded=int(value is None),
        asked=0,
        low=Decimal(0),
        high=high,
        weighted=None,
    )


@st.composite
def all_rows(draw: st.DrawFn) -> list[Row]:
    """Draw the rows of a dimension; some may be ungraded."""
    found = []
    for number in range(draw(st.integers(1, 8))):
        of = draw(st.integers(1, 5))
        found.append(row(draw(st.none() | st.integers(0, of)), of, case=f"c{number}"))
    return found


# -- scores ------------------------------------------------------------------------------------------------------------


@given(all_rows(), st.randoms())
def test_order_is_nothing(found: list[Row], random: object) -> None:
    """Documents in another order give the same score and the same words."""
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random, as hypothesis gives it
    assert score("output_quality", shuffled) == score("output_quality", found)


@given(all_rows(), st.data())
def test_missing_never_raises_a_score(found: list[Row], data: st.DataObject) -> None:
    """A lost observation takes the score away, and what it could have been lies within the bounds that remain."""
    whole = score("output_quality", found)
    lost = data.draw(st.integers(0, len(found) - 1))
    less = score("output_quality", [*found[:lost], row(None, case=found[lost].case), *found[lost + 1 :]])
    assert less.score is None
    assert (less.state, less.rows, less.ungraded > 0) == ("not-run", len(found), True)
    assert less.low is not None
    assert less.high is not None
    assert whole.low is not None
    assert whole.high is not None
    assert less.low <= whole.low <= whole.high <= less.high


@given(all_rows())
def test_a_score_is_the_mean_of_its_rows(found: list[Row]) -> None:
    """And there is one just where every row is graded."""
    got = score("output_quality", found)
    if any(r.held is None for r in found):
        assert got.score is None
    else:
        exact = sum((Fraction(r.held or 0, r.of or 1) for r in found), Fraction(0)) * 100 / len(found)
        assert got.score is not None
        assert abs(Fraction(got.score) - exact) <= Fraction(1, 20)
        assert got.low == got.score == got.high


def test_no_rows_are_no_score() -> None:
    """Neither 0 nor 100."""
    assert score("tool_usage", []).score is None
    assert score("tool_usage", []).why == "no case observes it"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(Fraction(1, 20), "0.1"), (Fraction(2, 3) * 100, "66.7"), (Fraction(8445, 100), "84.5"), (Fraction(100), "100.0")],
)
def test_rounding_is_half_up(value: Fraction, wanted: str) -> None:
    """As people expect, and without floats: 84.45 is 84.5."""
    assert str(rounded(value)) == wanted


def test_the_alarm() -> None:
    """Three positives and none triggered say something of the probe: no score. Two do not, nor one that was."""
    negatives = [row(1, case="n", category="trigger-negative")]
    positives = [row(0, case=f"p{i}", category="trigger-positive") for i in range(3)]
    alarming = score("trigger_accuracy", positives + negatives)
    assert (alarming.score, alarming.state, alarming.why) == (None, "not-run", ALARM)
    assert score("trigger_accuracy", positives[:2] + negatives).score == Decimal("33.3")
    once = [*positives, row(1, case="p0", category="trigger-positive", trial=2)]
    assert score("trigger_accuracy", once).score == Decimal("25.0")


def test_the_weighted_count() -> None:
    """+1 right, -1 a positive that was missed, -0.5 a false alarm."""
    found = [
        row(1, case="a", category="trigger-positive"),
        row(0, case="b", category="trigger-positive"),
        row(1, case="c", category="trigger-negative"),
        row(0, case="d", category="trigger-negative"),
    ]
    assert score("trigger_accuracy", found).weighted == Decimal("0.5")
    assert score("trigger_accuracy", [*found, row(None, case="e", category="trigger-negative")]).weighted is None


@given(st.dictionaries(st.sampled_from(DIMENSIONS), SCORES))
def test_the_overall_is_within_its_parts(found: dict[Dimension, Decimal]) -> None:
    """The weighted mean of those that are there; the others are named and never a 0."""
    scores = {name: scored(found.get(name)) for name in DIMENSIONS}
    got = overall(scores, WEIGHTS)
    assert set(got.missing) == set(DIMENSIONS) - set(found)
    if not found:
        assert got.score is None
        return
    assert got.score is not None
    assert min(found.values()) <= got.score <= max(found.values())
    assert got.score == weighted_mean(found, WEIGHTS)


def test_a_dimension_without_weight_is_not_missing() -> None:
    """Who gives a dimension no weight has taken it out."""
    scores = {name: scored(None if name == "tool_usage" else Decimal(80)) for name in DIMENSIONS}
    weights = {**WEIGHTS, "tool_usage": Decimal(0), "output_quality": Decimal("0.45")}
    assert overall(scores, weights).missing == ()
    assert overall(scores, WEIGHTS).missing == ("tool_usage",)


@given(st.lists(st.none() | SCORES, max_size=6), st.randoms())
def test_means_know_no_order_and_no_absent_values(values: list[Decimal | None], random: object) -> None:
    """An absent value is neither 0 nor counted."""
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random, as hypothesis gives it
    assert mean(shuffled) == mean([value for value in values if value is not None])


# -- thresholds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "before", "status"),
    [
        ("85.0", "90.0", "OK"),  # exactly at the warning: within
        ("84.9", "90.0", "WARN"),
        ("75.0", "90.0", "WARN"),  # exactly at the blocking: not past it
        ("74.9", "90.0", "BLOCKED"),
        ("90.0", "90.0", "OK"),
        ("90.1", "90.0", "UP"),
        ("0.1", "5.2", "WARN"),  # 5.1, where floats say 5.1000000000000005 and less
        ("0.2", "5.2", "OK"),
        ("85.0", "90.01", "WARN"),
    ],
)
def test_statuses_at_the_thresholds(now: str, before: str, status: str) -> None:
    """Past is past, at is not, to the last digit."""
    found = compare.observed(scored(Decimal(now)), Decimal(before), LIMIT)
    assert found.status == status
    assert found.delta == Decimal(now) - Decimal(before)


@given(SCORES, SCORES)
def test_a_status_says_what_the_delta_says(now: Decimal, before: Decimal) -> None:
    """For every pair of scores, by integers."""
    delta = int(now * 10) - int(before * 10)
    wanted = "BLOCKED" if delta < -150 else "WARN" if delta < -50 else "UP" if delta > 0 else "OK"
    assert compare.observed(scored(now), before, LIMIT).status == wanted


def test_what_is_not_known_is_not_good_and_can_be_bad() -> None:
    """No score is not-run; unless even the best that it could have been is past the threshold."""
    assert compare.observed(scored(None, Decimal(80)), Decimal(90), LIMIT).status == "not-run"
    assert compare.observed(scored(None, Decimal("74.9")), Decimal(90), LIMIT).status == "BLOCKED"
    assert compare.observed(scored(None, Decimal(75)), Decimal(90), LIMIT).status == "not-run"
    assert compare.observed(scored(Decimal(10)), None, LIMIT).status == "NEW"


def size(lines: int = 100, words: int = 1000, references: int = 0) -> Size:
    """Return a size."""
    return Size(lines=lines, words=words, tokens=1, reference_words=references)


@pytest.mark.parametrize(
    ("words_now", "status"),
    [(1000, "OK"), (1200, "OK"), (1201, "WARN"), (1500, "WARN"), (1501, "BLOCKED"), (500, "OK")],
)
def test_growth_and_not_the_score(words_now: int, status: str) -> None:
    """+20 and +50 per cent of size: a score that fell from 100 to 50 is nothing of itself, nor one that rose."""
    before = BaselineSkill(scores={"token_efficiency": Decimal(100)}, skill_words=1000)
    baseline = Baseline(version="1", overall_score=None, skills={}, generated_by="pytest-skillbench 0.1.0")
    now = size(lines=600, words=words_now)
    grown = compare.growth(now, before, baseline, cjk=True)
    found = compare.measured(static(now), Decimal(100), grown, now, GROWTH)
    assert (found.score, found.delta) == (Decimal("50.0"), Decimal("-50.0"))
    assert found.status == status


@given(st.integers(0, 5000), st.integers(0, 10_000))
def test_growth_is_exact(before: int, after: int) -> None:
    """By integers, with nothing to grow from as well."""
    grown = compare.Growth(unit="words", before=before, after=after)
    assert grown.past(Decimal(20)) == (after * 100 > before * 120)
    assert str(after) in str(grown).replace(",", "")


def test_sizes_that_do_not_compare() -> None:
    """Words that another program counted in a Chinese text are not ours: lines, or nothing."""
    foreign = Baseline(version="1", overall_score=None, skills={})
    both = BaselineSkill(scores={}, skill_words=10, skill_lines=100)
    assert str(compare.growth(size(words=900), both, foreign, cjk=True)) == "100 to 100 lines (+0.0 %)"
    assert str(compare.growth(size(words=15), both, foreign, cjk=False)) == "10 to 15 words (+50.0 %)"
    assert compare.growth(size(), BaselineSkill(scores={}, skill_words=10), foreign, cjk=True) is None
    found = compare.measured(static(size()), Decimal(100), None, size(), GROWTH)
    assert (found.status, found.detail) == ("NEW", "the baseline has no size to compare with")


@pytest.mark.parametrize(("references", "status"), [(3000, "OK"), (3001, "WARN"), (5000, "WARN"), (5001, "BLOCKED")])
def test_references(references: int, status: str) -> None:
    """More than 3,000 words warn, more than 5,000 block, whatever the baseline says."""
    now = size(references=references)
    grown = compare.Growth(unit="words", before=1000, after=1000)
    assert compare.measured(static(now), Decimal(100), grown, now, GROWTH).status == status
    if status != "OK":
        assert compare.measured(static(now), None, None, now, GROWTH).status == status


@pytest.mark.parametrize(
    ("count", "points"),
    [(0, 100), (199, 100), (200, 90), (299, 90), (300, 80), (399, 80), (400, 70), (499, 70), (500, 50), (9999, 50)],
)
def test_points_for_lines(count: int, points: int) -> None:
    """Fewer than 200 lines are 100 points, and so on down."""
    assert static(size(lines=count)).score == points
    assert static(None).state == "not-run"


# -- sizes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("one two\nthree", 3),
        ("don't stop -- now", 4),
        ("状态查询", 4),
        ("用 Nomad 部署", 4),  # 用, Nomad, 部, 署
        ("查看Nomad状态。", 5),
        ("コンテナ を 見る", 7),
        ("안녕 세상", 2),
        ("", 0),
        ("  \n", 0),
        ("𠮷野家", 3),
    ],
)
def test_words(text: str, count: int) -> None:
    """As ``wc -w`` where blanks part words, and by characters where none do."""
    assert words(text) == count


@given(st.text("abc \n-'.", max_size=60))
def test_latin_words_are_those_of_wc(text: str) -> None:
    """So that a baseline of another program compares."""
    assert words(text) == len(text.split())


def test_lines_and_tokens() -> None:
    """A last line without its newline is a line; four letters or one character a token."""
    assert [lines(text) for text in ("", "a", "a\n", "a\nb", "\n")] == [0, 1, 1, 2, 1]
    assert [tokens(text) for text in ("", "abcd", "abcde", "状态", "状态 ab")] == [0, 1, 2, 2, 3]


@pytest.mark.parametrize(
    ("text", "invocable"),
    [
        ("---\nname: a\ndisable-model-invocation: true\n---\n", False),
        ("---\ndisable-model-invocation: True\n---\n", False),
        ("---\ndisable-model-invocation: false\n---\n", True),
        ("---\nname: a\n---\ndisable-model-invocation: true\n", True),
        ("no front matter\n", True),
        ("---\nname: [\n---\n", True),
        ("---\nnever closed\ndisable-model-invocation: true\n", True),
    ],
)
def test_who_may_use_a_skill(text: str, invocable: bool) -> None:
    """Only the front matter says it."""
    assert is_invocable(text) is invocable


# -- shape -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "baseline",
        "cases",
        "compare",
        "config",
        "dimensions",
        "grading",
        "ids",
        "records",
        "results",
        "scores",
        "splice",
        "structure",
        "table",
    ],
)
def test_the_core_is_pure(name: str) -> None:
    """No clock, no randomness, no environment, no files: the same input gives the same scores."""
    assert not imports(PACKAGE / "scorecard" / f"{name}.py") & IMPURE
