"""A case and what was observed of it -> rows: so many of so many checks held, or why nothing is known.

Core: pure. Which case counts in which dimension: a probe (``trigger-…``) in trigger_accuracy and nowhere else; a task
in output_quality where it checks the final message and is no error case; in tool_usage where it names tools; in
error_handling where it is an error case. A task of the category output-quality counts there in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..model import Value
from ..text import one_line
from .cases import folded, has_checks
from .ids import LostCase
from .records import ENDED, TRIGGER_CATEGORIES, Category, Dimension, EvalCase, Expected, Observation
from .scores import Row
from .structure import structures

#: How the reason of a row begins whose document can't be used.
UNUSABLE = "the document can't be used"
_MEANT: dict[Dimension, Category] = {
    "trigger_accuracy": "trigger-accuracy",
    "output_quality": "output-quality",
    "tool_usage": "tool-usage",
    "error_handling": "error-handling",
}
_SHOWN = 120
_MOST_FAILED = 50


class Seen(Value, frozen=True):
    """What there is of one job: its observation, or why there is none. `output` is asked only where it is needed."""

    observation: Observation | None
    why: str | None
    output: Callable[[], str | None] = lambda: None


def dimensions_of(case: EvalCase) -> tuple[Dimension, ...]:
    """Return the dimensions that a case counts in; none for one of the category token-efficiency."""
    if not case.has_job:
        return ()
    if case.is_probe:
        return ("trigger_accuracy",)
    found: list[Dimension] = []
    expected = case.expected
    if case.category == "output-quality" or (has_checks(expected) and not expected.error_handled):
        found.append("output_quality")
    if expected.tools_used:
        found.append("tool_usage")
    if expected.error_handled:
        found.append("error_handling")
    return tuple(found)


def polarity(case: EvalCase) -> Category:
    """Return the category of a case, a trigger case's as trigger-positive or trigger-negative."""
    if not case.is_probe:
        return case.category
    return "trigger-positive" if case.expected.triggered else "trigger-negative"


def grade(case: EvalCase, trial: int, seen: Seen) -> Iterator[Row]:
    """Yield the row of each dimension that a case counts in."""
    for dimension in dimensions_of(case):
        found = seen.why if seen.observation is None else _unknown(case, dimension, seen.observation)
        probe = seen.observation.probe if seen.observation is not None else None
        graded: tuple[int, int, list[str]] | str
        if found is not None or seen.observation is None:
            graded = found or "nothing was observed"
        else:
            graded = _grade(case, dimension, seen.observation, seen.output)
        if isinstance(graded, str):
            why = one_line(graded, 300)
            yield Row(case=case.id, trial=trial, dimension=dimension, category=polarity(case), ungraded=why)
            continue
        held, of, failed = graded
        yield Row(
            case=case.id,
            trial=trial,
            dimension=dimension,
            category=polarity(case),
            held=held,
            of=of,
            failed=tuple(failed[:_MOST_FAILED]),
            probe=probe,
        )


def ungraded(lost: LostCase, trials: int) -> Iterator[Row]:
    """Yield the rows of a document that can't be used: in each dimension that it may have been meant for."""
    for trial in range(1, trials + 1):
        for dimension, category in _MEANT.items():
            is_probe = dimension == "trigger_accuracy"
            if lost.category == "token-efficiency":
                continue
            if lost.category is not None and is_probe is not (lost.category in TRIGGER_CATEGORIES):
                continue
            why = f"{UNUSABLE}: {one_line(lost.place, 200)}"
            yield Row(case=lost.id, trial=trial, dimension=dimension, category=lost.category or category, ungraded=why)


def _unknown(case: EvalCase, dimension: Dimension, observation: Observation) -> str | None:
    """Return why an observation says nothing about a dimension, None where it does."""
    status = observation.status if observation.detail is None else f"{observation.status}: {observation.detail}"
    if dimension == "trigger_accuracy":
        if observation.triggered is None:
            return status if observation.status not in ENDED else "whether it was triggered was not observed"
        if observation.triggered is False and observation.status not in ("answered", "refused"):
            return status
        return None
    if observation.status not in ENDED or (observation.status == "error" and dimension != "error_handling"):
        return status
    if dimension == "tool_usage" and observation.tool_calls is None:
        return "the host does not show the tool calls"
    needs_output = dimension != "tool_usage" and observation.status == "answered" and has_checks(case.expected)
    if needs_output and observation.output is None:
        return f"{status}, without a final message"
    return None


def _grade(
    case: EvalCase, dimension: Dimension, observation: Observation, output: Callable[[], str | None]
) -> tuple[int, int, list[str]] | str:
    """Return how many of how many checks held and which did not, or why that can't be told after all."""
    if dimension == "trigger_accuracy":
        right = observation.triggered is case.expected.triggered
        return int(right), 1, [] if right else [_mistake(observation)]
    if dimension == "tool_usage":
        return _tools(case.expected, observation)
    held, of, failed = 0, 0, list[str]()
    if observation.status != "answered":  # whatever a refusal happens to say, or not to say, is no answer
        of = _count(case.expected) + (dimension == "error_handling")
        return 0, of, [f"ended as {observation.status}: {one_line(observation.detail or '', _SHOWN)}"]
    if has_checks(case.expected):
        text = output()
        if text is None:
            return "the final message can't be read"
        held, of, failed = _checks(case.expected, text)
    return (held + 1, of + 1, failed) if dimension == "error_handling" else (held, of, failed)


def _mistake(observation: Observation) -> str:
    if not observation.triggered:
        return f"not triggered{_by(observation)}"
    return f"triggered{_by(observation)}"


def _by(observation: Observation) -> str:
    return f": {one_line(observation.seen, _SHOWN)}" if observation.seen else ""


def _tools(expected: Expected, observation: Observation) -> tuple[int, int, list[str]]:
    """Return the recall of the expected tools; each dangerous call is one more check, which did not hold."""
    calls = observation.tool_calls or ()
    used = {call.name.casefold() for call in calls}
    wanted = {tool.casefold(): tool for tool in expected.tools_used}
    missing = [tool for folded_name, tool in wanted.items() if folded_name not in used]
    dangerous = [call for call in calls if call.dangerous is not None]
    failed = [f"not used: {one_line(tool, _SHOWN)}" for tool in missing]
    failed += [one_line(f"dangerous: {call.name}: {call.dangerous}: {call.input}", 2 * _SHOWN) for call in dangerous]
    return len(wanted) - len(missing), len(wanted) + len(dangerous), failed


def _count(expected: Expected) -> int:
    structure = expected.output_structure is not None
    return len(expected.output_contains) + len(expected.output_not_contains) + structure


def _checks(expected: Expected, text: str) -> tuple[int, int, list[str]]:
    plain = folded(text)
    failed = [f"lacks {_quoted(word)}" for word in expected.output_contains if folded(word) not in plain]
    failed += [f"has {_quoted(word)}" for word in expected.output_not_contains if folded(word) in plain]
    if expected.output_structure is not None and expected.output_structure not in structures(text):
        failed.append(f"no {expected.output_structure}")
    of = _count(expected)
    return of - len(failed), of, failed


def _quoted(word: str) -> str:
    return f'"{one_line(word, _SHOWN)}"'


def in_order(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return rows in the order of the file: by case, trial and dimension, whatever order the documents had."""
    return tuple(sorted(rows, key=lambda row: (row.case, row.trial, row.dimension)))
