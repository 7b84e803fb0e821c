"""``evals/config.yaml`` -> `Config`: weights, thresholds, where the files are, what every skill must have.

Core: bytes in, a record and problems out. A key that is wrong has its default, so that one slip does not hide the
next; whoever evaluates refuses to while there is any error.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

from ..errors import Problem, in_order
from ..model import Value
from ..suggest import closest
from ..yamlread import Field, Source, decimal_of, decoded, fields_of, flag_of, is_tagged, items_of, mapping, text_of
from .records import CATEGORIES, DIMENSIONS, Category, Dimension

FILE = "config.yaml"
_TOP = (
    "version",
    "created",
    "description",
    "dimensions",
    "regression_thresholds",
    "baseline",
    "eval_cases",
    "target_skills",
)


class Threshold(Value, frozen=True):
    """How far a dimension may move from its baseline.

    In points of score, negative, for all dimensions but token_efficiency, where it is growth of the size in per cent,
    positive. Only what is *past* a threshold counts: exactly at it is within.
    """

    warning: Decimal
    blocking: Decimal


WEIGHTS: Mapping[Dimension, Decimal] = {
    "trigger_accuracy": Decimal("0.25"),
    "output_quality": Decimal("0.25"),
    "tool_usage": Decimal("0.20"),
    "error_handling": Decimal("0.15"),
    "token_efficiency": Decimal("0.15"),
}
THRESHOLDS: Mapping[Dimension, Threshold] = {
    "trigger_accuracy": Threshold(warning=Decimal(-5), blocking=Decimal(-15)),
    "output_quality": Threshold(warning=Decimal(-10), blocking=Decimal(-20)),
    "tool_usage": Threshold(warning=Decimal(-5), blocking=Decimal(-15)),
    "error_handling": Threshold(warning=Decimal(-10), blocking=Decimal(-20)),
    "token_efficiency": Threshold(warning=Decimal(20), blocking=Decimal(50)),
}
REQUIRED: tuple[Category, ...] = ("trigger-positive", "trigger-negative", "output-quality")


class Config(Value, frozen=True):
    """A config with every default filled in; paths are below the repository's root, with ``/``.

    `targets` None: every skill that has eval cases. `lines` are the 1-based lines of the names in `targets`.
    """

    weights: Mapping[Dimension, Decimal]
    thresholds: Mapping[Dimension, Threshold]
    baseline_path: str
    results_path: str
    cases_path: str
    require_comparison: bool = False
    auto_update: bool = False
    min_cases: int = 3
    required: tuple[Category, ...] = REQUIRED
    targets: tuple[str, ...] | None = None
    lines: Mapping[str, int] = {}


def default(root: str) -> Config:
    """Return what holds where there is no ``config.yaml`` in the evals root, a path below the repository's."""
    return Config(
        weights=WEIGHTS,
        thresholds=THRESHOLDS,
        baseline_path=f"{root}/baseline.yaml",
        results_path=f"{root}/results",
        cases_path=f"{root}/cases",
    )


def parse(data: bytes, shown: str, root: str) -> tuple[Config, tuple[Problem, ...]]:
    """Return the config in `data` and every problem of it; `shown` is the file's name in messages."""
    source = decoded(data, shown, "evals-config")
    if isinstance(source, Problem):
        return default(root), (source,)
    reader = _Reader(source)
    values = reader.read(default(root))
    return values, in_order(reader.problems)


def category_of(source: Source, node: Any, what: str) -> Category | Problem:
    """Return a category, spelled with hyphens or underscores alike."""
    text = text_of(source, node, what)
    if isinstance(text, Problem):
        return text
    plain = text.strip().replace("_", "-")
    for category in CATEGORIES:
        if plain == category:
            return category
    line = source.line(node.start_mark.index)
    return source.problem(line, f'{what} is "{text}"', f"one of {', '.join(CATEGORIES)}", closest(plain, CATEGORIES))


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []

    def read(self, base: Config) -> Config:
        fields, problems = mapping(self.source, _TOP, "the config")
        self.problems += problems
        baseline = self._inner(fields, "baseline", ("path", "require_comparison", "auto_update", "history_path"))
        cases = self._inner(fields, "eval_cases", ("path", "min_cases_per_skill", "required_categories"))
        targets, lines = self._targets(fields.get("target_skills"))
        return Config(
            weights=self._weights(fields),
            thresholds=self._thresholds(fields),
            baseline_path=self._path(baseline, "path", base.baseline_path),
            results_path=self._path(baseline, "history_path", base.results_path),
            cases_path=self._path(cases, "path", base.cases_path),
            require_comparison=self._flag(baseline, "require_comparison"),
            auto_update=self._flag(baseline, "auto_update"),
            min_cases=self._least(cases.get("min_cases_per_skill"), base.min_cases),
            required=self._required(cases.get("required_categories"), base.required),
            targets=targets,
            lines=lines,
        )

    def _inner(self, fields: Mapping[str, Field], name: str, known: tuple[str, ...]) -> dict[str, Field]:
        field = fields.get(name)
        found, problems = fields_of(self.source, field.node if field else None, known, f'"{name}"')
        self.problems += problems
        return found

    def _take(self, value: Any, otherwise: Any) -> Any:
        """Return a value that was read, or `otherwise` where it is a problem, which is kept."""
        if isinstance(value, Problem):
            self.problems.append(value)
            return otherwise
        return value

    def _weights(self, fields: Mapping[str, Field]) -> dict[Dimension, Decimal]:
        weights = dict(WEIGHTS)
        before = len(self.problems)
        found = self._inner(fields, "dimensions", DIMENSIONS)
        for dimension in DIMENSIONS:
            inner = self._inner(found, dimension, ("weight", "description", "name"))
            if "weight" in inner:
                node = inner["weight"].node
                value = decimal_of(self.source, node, f"the weight of {dimension}")
                weight = self._take(value, weights[dimension])
                if not 0 <= weight <= 1:
                    what = f"the weight of {dimension} is {weight}"
                    self.problems.append(self.source.problem(inner["weight"].line, what, "a number from 0 to 1"))
                weights[dimension] = weight
        total = sum(weights.values(), Decimal(0))
        if total != 1 and len(self.problems) == before:
            spelled = " + ".join(f"{weights[name]}" for name in DIMENSIONS)
            what = f"the weights sum to {total.normalize():f} ({spelled}, with defaults for those that are absent)"
            self.problems.append(self.source.problem(fields["dimensions"].line, what, "a sum of exactly 1"))
        return weights if len(self.problems) == before else dict(WEIGHTS)

    def _thresholds(self, fields: Mapping[str, Field]) -> dict[Dimension, Threshold]:
        thresholds = dict(THRESHOLDS)
        found = self._inner(fields, "regression_thresholds", DIMENSIONS)
        for dimension in DIMENSIONS:
            inner = self._inner(found, dimension, ("warning", "blocking", "description"))
            base = THRESHOLDS[dimension]
            warning = self._threshold(dimension, inner.get("warning"), "warning", base.warning)
            blocking = self._threshold(dimension, inner.get("blocking"), "blocking", base.blocking)
            if abs(blocking) < abs(warning):
                line = min(field.line for field in inner.values())
                what = f"{dimension} blocks at {blocking} and warns at {warning}"
                expected = "a blocking threshold that is no nearer to 0 than the warning one"
                self.problems.append(self.source.problem(line, what, expected))
            thresholds[dimension] = Threshold(warning=warning, blocking=blocking)
        return thresholds

    def _threshold(self, dimension: Dimension, field: Field | None, name: str, base: Decimal) -> Decimal:
        if field is None:
            return base
        what = f"the {name} threshold of {dimension}"
        value: Decimal = self._take(decimal_of(self.source, field.node, what), base)
        if value == 0 or (value < 0) != (base < 0):
            expected = "points of score below the baseline, below 0"
            if dimension == "token_efficiency":
                expected = "growth in per cent, above 0: more is worse here, and the score is not meant"
            suggestion = f"{-value}" if value else None
            self.problems.append(self.source.problem(field.line, f"{what} is {value}", expected, suggestion))
            return base
        return value

    def _path(self, fields: Mapping[str, Field], name: str, otherwise: str) -> str:
        field = fields.get(name)
        if field is None:
            return otherwise
        text = self._take(text_of(self.source, field.node, f'"{name}"'), None)
        if text is None:
            return otherwise
        parts = PurePosixPath(text).parts
        if text.startswith(("/", "~")) or ".." in parts or "\\" in text or not parts or parts[0] == ".git":
            expected = f"a path below the repository's root, such as {otherwise}"
            self.problems.append(self.source.problem(field.line, f'"{name}" is "{text}"', expected))
            return otherwise
        return PurePosixPath(*parts).as_posix()

    def _flag(self, fields: Mapping[str, Field], name: str) -> bool:
        field = fields.get(name)
        return bool(field and self._take(flag_of(self.source, field.node, f'"{name}"'), False))

    def _least(self, field: Field | None, otherwise: int) -> int:
        if field is None:
            return otherwise
        value: Decimal = self._take(decimal_of(self.source, field.node, f'"{field.key}"'), Decimal(otherwise))
        if value != int(value) or not 0 <= value <= 10_000:
            what = f'"{field.key}" is {value}'
            self.problems.append(self.source.problem(field.line, what, "a whole number from 0 to 10000"))
            return otherwise
        return int(value)

    def _required(self, field: Field | None, otherwise: tuple[Category, ...]) -> tuple[Category, ...]:
        if field is None:
            return otherwise
        nodes = self._take(items_of(self.source, field.node, f'"{field.key}"'), [])
        found = [self._take(category_of(self.source, node, "a required category"), None) for node in nodes]
        return tuple(dict.fromkeys(category for category in found if category is not None))

    def _targets(self, field: Field | None) -> tuple[tuple[str, ...] | None, dict[str, int]]:
        if field is None or is_tagged(field.node, "null"):
            return None, {}
        lines: dict[str, int] = {}
        for node in self._take(items_of(self.source, field.node, '"target_skills"'), []):
            line = self.source.line(node.start_mark.index)
            name = self._take(text_of(self.source, node, "a target skill"), None)
            if name in lines:
                what = f'skill "{name}" is there twice'
                self.problems.append(self.source.problem(line, what, f"it only at line {lines[name]}"))
            elif name is not None:
                lines[name] = line
        return tuple(lines), lines
