"""``evals/results/<date>.yaml``: an evaluation's file, written once and never again, and read back strictly.

Gather: lists, reads and writes that folder. Two evaluations of one day, also at the same moment, are two files: the
second is ``<date>-2.yaml``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import msgspec

from ..errors import FormatError, Problem, ProjectError
from ..files import read_bounded, write_new
from ..project import Project
from ..yamlread import compose, decoded, plain_of
from ..yamlwrite import dump
from . import dimensions, results
from .scores import Evaluation

LIMIT = 64 << 20
_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})(?:-([1-9][0-9]{0,8}))?\.yaml")
_HEAD = "# An evaluation by the scorecard. It is never changed; every total is computed from the rows below.\n"


def text_of(evaluation: Evaluation) -> str:
    """Return the file of an evaluation."""
    return _HEAD + dump(msgspec.to_builtins(evaluation, builtin_types=(Decimal,)))


def parse(data: bytes, shown: str) -> Evaluation:
    """Read such a file; `shown` is its name in messages. Raises FormatError with the line or the place."""
    source = decoded(data, shown, "evals-results")
    if isinstance(source, Problem):
        raise FormatError(source)
    root = compose(source, LIMIT)
    if isinstance(root, Problem):
        raise FormatError(root)
    tree = plain_of(source, root) if root is not None else None
    if isinstance(tree, Problem):
        raise FormatError(tree)
    try:
        evaluation = msgspec.convert(tree, Evaluation)
    except msgspec.ValidationError as error:
        what, _, place = str(error).replace("`", '"').partition(" - at ")
        problem = Problem(path=shown, slug="evals-results", place=place.strip('"') or "$", what=what)
        raise FormatError(problem) from None
    wrong = [
        Problem(path=shown, slug="evals-results", place=place, what=f"is {stands}", expected=f"{expected}, by its rows")
        for place, stands, expected in totals(evaluation)
        if stands != expected
    ]
    if wrong:
        raise FormatError(*wrong)
    return evaluation


def totals(evaluation: Evaluation) -> Iterator[tuple[str, object, object]]:
    """Yield every total of an evaluation: its place, what stands there, and what its rows come to."""
    for name, skill in evaluation.results.items():
        place = f"$.results.{name}"
        for dimension, found in skill.dimensions.items():
            rows = [row for row in skill.rows if row.dimension == dimension]
            yield f"{place}.{dimension}", getattr(skill, dimension), found.score
            if dimension == "token_efficiency":
                expected = dimensions.static(skill.size).score
            else:
                expected = dimensions.score(dimension, rows).score
            yield f"{place}.dimensions.{dimension}.score", found.score, expected
        yield f"{place}.overall", skill.overall, dimensions.overall(skill.dimensions, evaluation.weights).score
    summary = results.summary(evaluation.results)
    for field in summary.__struct_fields__:
        yield f"$.summary.{field}", getattr(evaluation.summary, field), getattr(summary, field)
    averages = results.averages(evaluation.results)
    for dimension, average in averages.items():
        yield f"$.dimension_averages.{dimension}", evaluation.dimension_averages.get(dimension), average


def folder_of(project: Project, shown: str) -> Path:
    """Return the folder of the evaluations, which may not be there. Raises ProjectError for one outside."""
    folder = project.root / shown
    if not project.holds(folder):
        what = "a link that leaves the repository"
        raise ProjectError(Problem(path=shown, slug="evals-results", what=what, expected="a folder in it"))
    return folder


def names(folder: Path) -> list[str]:
    """Return the names of the evaluations in a folder, oldest first; none where there is no such folder."""
    try:
        found = [match for name in os.listdir(folder) if (match := _NAME.fullmatch(name)) and _is_day(match[1])]
    except FileNotFoundError:
        return []
    return [match[0] for match in sorted(found, key=lambda match: (match[1], int(match[2] or 1)))]


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def read(folder: Path, name: str, shown: str) -> Evaluation:
    """Read one evaluation of a folder, which messages call `shown`. Raises SkillbenchError."""
    path = f"{shown}/{name}"
    try:
        return parse(read_bounded(folder / name, LIMIT, path), path)
    except FileNotFoundError:
        raise FormatError(Problem(path=path, slug="evals-results", what="there is no such file")) from None


def write(folder: Path, evaluation: Evaluation, shown: str) -> str:
    """Write an evaluation under the first name of its day that is free, and return that name. Raises ProjectError.

    The file appears whole, under a name that nobody else has.
    """
    data = text_of(evaluation).encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = {name for name in names(folder) if name.startswith(evaluation.date)}
        number = 1
        while True:
            name = f"{evaluation.date}.yaml" if number == 1 else f"{evaluation.date}-{number}.yaml"
            if name not in taken and write_new(folder / name, data):
                return name
            number += 1
    except OSError as error:
        what = f"can't write the evaluation: {error.strerror or error}"
        raise ProjectError(Problem(path=shown, slug="evals-results", what=what)) from error
