"""Scores of skills -> an `Evaluation`, with totals that are computed from its own rows and from nothing else.

Core: pure. `evaluate` gathers what goes in; `resultsfile` is its file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Literal

from ..model import Value
from . import compare
from .baseline import Baseline, BaselineSkill
from .config import Config
from .dimensions import ALARM, mean, not_applicable, overall, score, static
from .grading import UNUSABLE, Seen, dimensions_of, grade, in_order, polarity, ungraded
from .ids import LostCase
from .records import DIMENSIONS, Category, Dimension, EvalCase
from .scores import (
    Change,
    Comparison,
    DimensionResult,
    DimensionScore,
    Evaluation,
    Insights,
    Limits,
    Row,
    Size,
    SkillScore,
    Standing,
    Summary,
)

HIDDEN = "the skill sets disable-model-invocation, so no model may use it unasked"
_STRONG, _WEAK = Decimal(90), Decimal(70)


class Gathered(Value, frozen=True):
    """What was gathered of one skill. `seen` gives what there is of a case in a trial.

    `invocable`: whether a model may use it unasked. `cjk`: its text has Chinese or Japanese characters. `lost`: the
    documents of its case files that can't be used.
    """

    name: str
    cases: tuple[EvalCase, ...]
    trials: int
    seen: Callable[[EvalCase, int], Seen]
    size: Size | None
    invocable: bool
    cjk: bool
    run_id: str | None
    lost: tuple[LostCase, ...] = ()
    notes: tuple[str, ...] = ()


def skill_score(given: Gathered, config: Config, baseline: Baseline | None) -> SkillScore:
    """Return the scores of one skill and how they stand against the baseline."""
    lost = (row for each in given.lost for row in ungraded(each, given.trials))
    probed = (row for row in lost if given.invocable or row.dimension != "trigger_accuracy")
    rows = in_order([*(row for case in given.cases for row in _rows(given, case)), *probed])
    scores = _scores(given, rows)
    total = overall(scores, config.weights)
    before = baseline.skills.get(given.name) if baseline is not None else None
    fewer = _fewer(given, before)
    grown = compare.growth(given.size, before, baseline, cjk=given.cjk)
    dimensions: dict[Dimension, DimensionResult] = {}
    for name in DIMENSIONS:
        known = before.scores.get(name) if before is not None else None
        limit = config.thresholds[name]
        if name == "token_efficiency":
            dimensions[name] = compare.measured(scores[name], known, grown, given.size, limit)
        else:
            dimensions[name] = compare.observed(scores[name], known, limit, fewer)
    missing = (*(_gap(name, scores[name]) for name in total.missing), *_lacking(given, config))
    old = before.overall if before is not None else None
    delta = total.score - old if total.score is not None and old is not None and not missing else None
    compared = before is not None
    return SkillScore(
        **{name: scores[name].score for name in DIMENSIONS},
        overall=total.score,
        complete=not missing,
        missing=missing,
        baseline=old,
        delta=delta,
        status=compare.standing(
            [found.status for found in dimensions.values()],
            complete=not missing and (compared or not config.require_comparison),
            delta=delta,
            compared=compared,
            fewer=fewer,
        ),
        run_id=given.run_id,
        eval_count=_count(given),
        ungraded=len({row.case for row in rows if row.ungraded is not None}),
        size=given.size,
        notes=(*given.notes, *_notes(given, before, dimensions)),
        dimensions=dimensions,
        rows=rows,
    )


def _count(given: Gathered) -> int:
    """Return how many cases a skill has, those that can't be used among them."""
    return len(given.cases) + len(given.lost)


def _cases(number: int) -> str:
    return f"{number} case{'' if number == 1 else 's'}"


def _fewer(given: Gathered, before: BaselineSkill | None) -> str | None:
    """Return why no score is an improvement: the baseline had more cases, and one that failed may have been taken out.

    None where it is not so.
    """
    had = before.eval_count if before is not None else None
    if had is None or _count(given) >= had:
        return None
    return f"no improvement over {_cases(_count(given))}, where the baseline had {had}"


def _rows(given: Gathered, case: EvalCase) -> Iterable[Row]:
    if case.is_probe and not given.invocable:
        return
    if dimensions_of(case):
        for trial in range(1, given.trials + 1):
            yield from grade(case, trial, given.seen(case, trial))


def _scores(given: Gathered, rows: Sequence[Row]) -> dict[Dimension, DimensionScore]:
    found = {name: score(name, [row for row in rows if row.dimension == name]) for name in DIMENSIONS[:-1]}
    if not given.invocable:
        found["trigger_accuracy"] = not_applicable(HIDDEN)
    return {**found, "token_efficiency": static(given.size)}


def _gap(name: Dimension, found: DimensionScore) -> str:
    """Return what is missing of a dimension, without the names of cases, which are in its rows."""
    if found.ungraded and found.why != ALARM:
        return f"{name}: {found.ungraded} of {found.rows} ungraded"
    return f"{name}: {found.why}"


def _lacking(given: Gathered, config: Config) -> list[str]:
    """Return what the config asks for and the skill's cases do not have."""
    lacking = []
    if given.lost:
        lacking.append(f"{len(given.lost)} of its cases can't be used")
    if len(given.cases) < config.min_cases:
        lacking.append(f"{_cases(len(given.cases))}, where the config asks for {config.min_cases}")
    have: set[Category] = set()
    for case in given.cases:
        have |= {case.category, polarity(case), *(("trigger-accuracy",) if case.is_probe else ())}
    wanted = [name for name in config.required if given.invocable or not name.startswith("trigger-")]
    return lacking + [f"no case of the category {name}" for name in wanted if name not in have]


def _notes(
    given: Gathered, before: BaselineSkill | None, dimensions: Mapping[Dimension, DimensionResult]
) -> Iterable[str]:
    found = dimensions["trigger_accuracy"]
    if found.asked:
        yield f"trigger_accuracy: {found.asked} of {found.rows} asked, not observed"
    had = before.eval_count if before is not None else None
    if had is not None and had != _count(given):
        yield f"{_cases(_count(given))}, where the baseline had {had}: the scores are not of the same cases"


# -- the whole ---------------------------------------------------------------------------------------------------------


def evaluation(
    skills: Mapping[str, SkillScore],
    config: Config,
    baseline: Baseline | None,
    *,
    date: str,
    scope: Literal["all"] | tuple[str, ...],
    program: str,
) -> Evaluation:
    """Return the evaluation of some skills: everything but the skills' own scores is computed from these."""
    results = {name: skills[name] for name in sorted(skills)}
    comparison = compared(results, baseline, required=config.require_comparison)
    return Evaluation(
        date=date,
        type="scorecard",
        scope=scope,
        is_baseline=False,
        generated_by=program,
        summary=summary(results),
        dimension_averages=averages(results),
        weights=dict(config.weights),
        thresholds={
            name: Limits(warning=limit.warning, blocking=limit.blocking) for name, limit in config.thresholds.items()
        },
        results=results,
        comparison=comparison,
        insights=insights(results, comparison),
    )


def summary(results: Mapping[str, SkillScore]) -> Summary:
    """Return the totals over the rows of an evaluation."""
    complete = {name: found for name, found in results.items() if found.complete and found.overall is not None}
    ranked = sorted(complete, key=lambda name: (-(complete[name].overall or 0), name))
    several = len(ranked) > 1 and complete[ranked[0]].overall != complete[ranked[-1]].overall
    return Summary(
        overall_score=mean(found.overall for found in results.values()),
        complete=bool(results) and len(complete) == len(results),
        status=compare.worst(found.status for found in results.values()),
        skills_evaluated=len(results),
        skills_incomplete=len(results) - len(complete),
        eval_cases_total=sum(found.eval_count for found in results.values()),
        eval_cases_ungraded=sum(found.ungraded for found in results.values()),
        top_performer=ranked[0] if several else None,
        needs_improvement=ranked[-1] if several else None,
    )


def averages(results: Mapping[str, SkillScore]) -> dict[Dimension, Decimal | None]:
    """Return the mean of each dimension over the skills that have a score of it; None where none has."""
    return {name: mean(found.dimensions[name].score for found in results.values()) for name in DIMENSIONS}


def compared(results: Mapping[str, SkillScore], baseline: Baseline | None, *, required: bool) -> Comparison:
    """Return what moved against the baseline. `regressions`: all that fell or is past a threshold, worst first."""
    changes = [
        Change(
            skill=name,
            dimension=dimension,
            baseline=part.baseline,
            score=part.score,
            delta=part.delta,
            status=part.status,
            detail=part.detail,
        )
        for name, found in results.items()
        for dimension, part in found.dimensions.items()
    ]
    fallen = [c for c in changes if c.status in ("WARN", "BLOCKED") or (c.delta is not None and c.delta < 0)]
    rank = {"BLOCKED": 0, "WARN": 1}
    return Comparison(
        baseline_version=(baseline.version or "unnamed") if baseline is not None else None,
        baseline_overall=baseline.overall_score if baseline is not None else None,
        required=required,
        deltas={name: deltas for name, found in results.items() if (deltas := _deltas(found))},
        regressions=tuple(sorted(fallen, key=lambda c: (rank.get(c.status, 2), c.delta or 0, c.skill, c.dimension))),
        improvements=tuple(c for c in changes if c.status == "UP"),
    )


def _deltas(found: SkillScore) -> dict[str, Decimal]:
    deltas = {str(name): part.delta for name, part in found.dimensions.items() if part.delta is not None}
    return deltas if found.delta is None else {**deltas, "overall": found.delta}


def insights(results: Mapping[str, SkillScore], comparison: Comparison) -> Insights:
    """Return what the figures say, in sentences: what is strong, what is weak, what to do next."""
    found = averages(results)
    strengths = [f"{name} averages {value}" for name, value in found.items() if value is not None and value >= _STRONG]
    weaknesses = [f"{name} averages {value}" for name, value in found.items() if value is not None and value < _WEAK]
    weaknesses += [
        f"{c.skill}: {c.dimension} is {c.status}: {c.detail}"
        for c in comparison.regressions
        if c.status in ("WARN", "BLOCKED")
    ]
    return Insights(
        strengths=tuple(strengths),
        weaknesses=tuple(weaknesses),
        recommendations=tuple(_recommendations(results, comparison)),
    )


def _recommendations(results: Mapping[str, SkillScore], comparison: Comparison) -> Iterable[str]:
    for name, found in results.items():
        blocked = [dimension for dimension, part in found.dimensions.items() if part.status == "BLOCKED"]
        if blocked:
            yield f"{name}: mend {', '.join(blocked)}, or confirm the drop with --update-baseline --force"
        if any(part.why == ALARM for part in found.dimensions.values()):
            yield f"{name}: look at the probe before the skill; {ALARM}"
        reasons = {row.case: row.ungraded for row in found.rows if row.ungraded is not None}
        unusable = [case for case, why in reasons.items() if why.startswith(UNUSABLE)]
        if unusable:
            yield f"{name}: mend the cases that can't be used: `skillbench check` says what is wrong"
        if len(reasons) > len(unusable):
            count = len(reasons) - len(unusable)
            yield f"{name}: run /benchmark-skill --scorecard {name} for the {count} ungraded cases"
        for name_of, part in found.dimensions.items():
            if part.state == "not-run" and not part.rows and name_of != "token_efficiency":
                yield f"{name}: write cases that observe {name_of}"
    if comparison.baseline_version is None and results:
        yield "confirm a baseline with skillbench scorecard --update-baseline, once every dimension is observed"


def exit_code(status: Standing) -> int:
    """Return 1 for BLOCKED, 3 for incomplete, else 0; broken input, 2, is said by whoever read it."""
    return {"BLOCKED": 1, "incomplete": 3}.get(status, 0)
