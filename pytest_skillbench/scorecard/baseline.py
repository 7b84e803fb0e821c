"""``evals/baseline.yaml`` -> `Baseline`: the scores that were confirmed once, and that an evaluation is held against.

Core: bytes in, a record or problems out. `rebase` makes the next one and `splice` writes it into the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import yaml

from ..errors import Problem, in_order
from ..model import Value
from ..yamlread import Field, Source, decimal_of, decoded, fields_of, is_tagged, kind_of, mapping
from .records import DIMENSIONS, Dimension

LONGEST = 4 << 20
TOP_KEYS = ("version", "overall_score", "skills", "generated_by", "description", "created")
SKILL_KEYS = (*DIMENSIONS, "overall", "eval_count", "last_evaluated", "skill_lines", "skill_words", "forced", "notes")
_COUNTS = ("eval_count", "skill_lines", "skill_words")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class BaselineSkill(Value, frozen=True):
    """One skill's scores, 0 to 100, only those that it has; its size in lines and words.

    `forced`: what was wrong when it was written with ``--force``. `line`: where it stands, 1-based.
    """

    scores: Mapping[Dimension, Decimal]
    overall: Decimal | None = None
    eval_count: int | None = None
    last_evaluated: str | None = None
    skill_lines: int | None = None
    skill_words: int | None = None
    forced: str | None = None
    line: int | None = None


class Baseline(Value, frozen=True):
    """A baseline. `version` and `generated_by` are words about it and nothing that is computed with."""

    version: str | None
    overall_score: Decimal | None
    skills: Mapping[str, BaselineSkill]
    generated_by: str | None = None


def parse(data: bytes, shown: str) -> tuple[Baseline | None, tuple[Problem, ...]]:
    """Return the baseline in `data`, None where there is none that can be used, and every problem of it."""
    source = decoded(data, shown, "evals-baseline")
    if isinstance(source, Problem):
        return None, (source,)
    reader = _Reader(source)
    baseline = reader.read()
    return (None if reader.problems else baseline), in_order(reader.problems)


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []

    def read(self) -> Baseline:
        fields, problems = mapping(self.source, TOP_KEYS, "the baseline", LONGEST)
        self.problems += problems
        if not problems and "skills" not in fields:
            self.problems.append(self.source.problem(1, '"skills" is missing', "skills and their scores"))
        skills = fields.get("skills")
        found, problems = fields_of(self.source, skills.node if skills else None, None, '"skills"')
        self.problems += problems
        return Baseline(
            version=self._spelled(fields.get("version")),
            overall_score=self._score(fields.get("overall_score")),
            skills={name: self._skill(field) for name, field in found.items()},
            generated_by=self._spelled(fields.get("generated_by")),
        )

    def _skill(self, field: Field) -> BaselineSkill:
        fields, problems = fields_of(self.source, field.node, SKILL_KEYS, f'"{field.key}"')
        self.problems += problems
        scores: dict[Dimension, Decimal] = {}
        for dimension in DIMENSIONS:
            value = self._score(fields.get(dimension))
            if value is not None:
                scores[dimension] = value
        counts = {name: self._whole(fields.get(name)) for name in _COUNTS}
        return BaselineSkill(
            scores=scores,
            overall=self._score(fields.get("overall")),
            eval_count=counts["eval_count"],
            last_evaluated=self._spelled(fields.get("last_evaluated")),
            skill_lines=counts["skill_lines"],
            skill_words=counts["skill_words"],
            forced=self._spelled(fields.get("forced")),
            line=field.line,
        )

    def _number(self, field: Field | None) -> Decimal | None:
        if field is None or is_tagged(field.node, "null"):
            return None
        value = decimal_of(self.source, field.node, f'"{field.key}"')
        if isinstance(value, Problem):
            self.problems.append(value)
            return None
        return value

    def _score(self, field: Field | None) -> Decimal | None:
        value = self._number(field)
        if field is not None and value is not None and not 0 <= value <= 100:
            what = f'"{field.key}" is {value}'
            self.problems.append(self.source.problem(field.line, what, "a score from 0 to 100"))
            return None
        return value

    def _whole(self, field: Field | None) -> int | None:
        value = self._number(field)
        if field is not None and value is not None and (value < 0 or value != int(value)):
            what = f'"{field.key}" is {value}'
            self.problems.append(self.source.problem(field.line, what, "a whole number, 0 or more"))
            return None
        return None if value is None else int(value)

    def _spelled(self, field: Field | None) -> str | None:
        """Return what stands there, whatever YAML takes it for: a version or a date, which is only ever shown."""
        if field is None or is_tagged(field.node, "null"):
            return None
        node: Any = field.node
        if not isinstance(node, yaml.ScalarNode) or _CONTROL.search(node.value):
            what = f'"{field.key}" is {kind_of(node)}'
            self.problems.append(self.source.problem(field.line, what, "text on one line"))
            return None
        return str(node.value)
