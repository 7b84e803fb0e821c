"""What is computed for a scorecard: rows, dimensions, skills, and the evaluation, which is a file as well.

Core: pure data. Scores are 0 to 100 with one decimal, exact decimals and never floats; everything that is derived from
a score is derived from it as it stands here, so that a reader can recompute every total. Annotations are real here, as
in `records`.
"""

from decimal import Decimal
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from ..model import Count, Record, RunId, TrialNumber
from ..model.base import END
from .records import CaseId, Category, Dimension, Probe

State: TypeAlias = Literal["scored", "not-run", "not-applicable"]
#: Of a dimension. `NEW`: there is nothing to compare it with.
Status: TypeAlias = Literal["UP", "OK", "WARN", "BLOCKED", "NEW", "not-run", "not-applicable"]
#: Of a skill and of an evaluation: the worst of its parts.
Standing: TypeAlias = Literal["UP", "OK", "WARN", "BLOCKED", "NEW", "incomplete"]
Day: TypeAlias = Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}" + END)]


class Row(Record, frozen=True, omit_defaults=True):
    """What one case in one trial came to in one dimension.

    `held` of `of` checks held, or, where nothing is known, both are null and `ungraded` says why. `failed`: the checks
    that did not hold, in words. `category` of a trigger case is trigger-positive or trigger-negative. `probe`: how the
    trigger was seen.
    """

    case: CaseId
    trial: TrialNumber
    dimension: Dimension
    category: Category
    held: Count | None = None
    of: Count | None = None
    failed: tuple[str, ...] = ()
    ungraded: str | None = None
    probe: Probe | None = None


class DimensionScore(Record, frozen=True):
    """One dimension of one skill.

    `score` is there where `state` is "scored", which asks for every one of its rows to be graded: a missing observation
    never makes a score better. Else `why` says what is missing, and the score would have been from `low` to `high`,
    however the ungraded rows had come out (null where there is no row at all). `rows` of which `ungraded`; `asked`: of
    how many the trigger was asked and not observed. `weighted`: the trigger count with +1 right, -1 missed, -0.5 false
    alarm; null for other dimensions and where a row is ungraded.
    """

    state: State
    score: Decimal | None
    why: str | None
    rows: Count
    ungraded: Count
    asked: Count
    low: Decimal | None
    high: Decimal | None
    weighted: Decimal | None


class DimensionResult(DimensionScore, frozen=True):
    """A dimension against the baseline. `detail`: why the status is what it is, where a number does not say it."""

    baseline: Decimal | None
    delta: Decimal | None
    status: Status
    detail: str | None


class Size(Record, frozen=True):
    """How big a skill is: lines and words of SKILL.md, an estimate of its tokens, words of its references.

    A Chinese or Japanese character is a word.
    """

    lines: Count
    words: Count
    tokens: Count
    reference_words: Count


class SkillScore(Record, frozen=True):
    """One skill in an evaluation: the five scores and the overall one, and all that they were made of.

    `overall`: the weighted mean over the dimensions that have a score, null where none has. `complete`: no dimension
    with a weight is without one, and the skill has the cases that the config asks for; `missing` names what is not
    there. `delta` compares complete overalls only. `run_id` null: no run was recorded. `eval_count`: its cases, of
    which `ungraded` have a row that could not be graded. `notes`: what a reader should know besides.
    """

    trigger_accuracy: Decimal | None
    output_quality: Decimal | None
    tool_usage: Decimal | None
    error_handling: Decimal | None
    token_efficiency: Decimal | None
    overall: Decimal | None
    complete: bool
    missing: tuple[str, ...]
    baseline: Decimal | None
    delta: Decimal | None
    status: Standing
    run_id: RunId | None
    eval_count: Count
    ungraded: Count
    size: Size | None
    notes: tuple[str, ...]
    dimensions: dict[Dimension, DimensionResult]
    rows: tuple[Row, ...]


class Summary(Record, frozen=True):
    """Totals over `Evaluation.results`. Best and worst are of the complete skills; null where they would say nothing.

    `overall_score`: the mean of the skills' overalls; with `complete` false not all of them, or not the whole of them.
    """

    overall_score: Decimal | None
    complete: bool
    status: Standing
    skills_evaluated: Count
    skills_incomplete: Count
    eval_cases_total: Count
    eval_cases_ungraded: Count
    top_performer: str | None
    needs_improvement: str | None


class Change(Record, frozen=True):
    """A dimension that moved past a threshold, or up: where, from what to what."""

    skill: str
    dimension: Dimension
    baseline: Decimal | None
    score: Decimal | None
    delta: Decimal | None
    status: Status
    detail: str | None


class Comparison(Record, frozen=True):
    """Against the baseline: its version (null: there is none), the deltas, what got worse and what got better.

    `required`: the config asks for a baseline, so an evaluation without one is incomplete.
    """

    baseline_version: str | None
    baseline_overall: Decimal | None
    required: bool
    deltas: dict[str, dict[str, Decimal]]
    regressions: tuple[Change, ...]
    improvements: tuple[Change, ...]


class Insights(Record, frozen=True):
    """Sentences made of the figures by rule."""

    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    recommendations: tuple[str, ...]


class Limits(Record, frozen=True):
    """A threshold as the evaluation applied it."""

    warning: Decimal
    blocking: Decimal


class Evaluation(Record, frozen=True):
    """``evals/results/<date>.yaml``: one evaluation, whole. `scope`: "all", or the skills that were asked for.

    `weights` and `thresholds` are those that were applied, so that the file explains itself.
    """

    date: Day
    type: Literal["scorecard"]
    scope: Literal["all"] | tuple[str, ...]
    is_baseline: bool
    generated_by: str
    summary: Summary
    dimension_averages: dict[Dimension, Decimal | None]
    weights: dict[Dimension, Decimal]
    thresholds: dict[Dimension, Limits]
    results: dict[str, SkillScore]
    comparison: Comparison
    insights: Insights
