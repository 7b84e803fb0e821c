"""The last evaluation that was kept, for ``--report-only``; `past` has the last few, for the reports.

Gather: reads ``evals/results/``.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..errors import Problem, UsageError
from ..project import Project
from . import resultsfile
from .config import Config
from .results import averages, insights, summary
from .scores import Evaluation


def last(project: Project, config: Config, names: Sequence[str] = ()) -> tuple[str, Evaluation]:
    """Return the path of the last evaluation and what it says.

    `names`: only these skills of it; the last evaluation that has all of them is taken. Raises UsageError where there
    is none, and SkillbenchError where the one that counts can't be read.
    """
    shown = config.results_path
    folder = resultsfile.folder_of(project, shown)
    for name in reversed(resultsfile.names(folder)):
        evaluation = resultsfile.read(folder, name, shown)
        if all(wanted in evaluation.results for wanted in names):
            return f"{shown}/{name}", only(evaluation, names) if names else evaluation
    what = f"no evaluation of {', '.join(names)}" if names else "no evaluation"
    raise UsageError(
        Problem(path=shown, slug="evals-no-results", what=what, expected="one: run skillbench scorecard first")
    )


def only(evaluation: Evaluation, names: Sequence[str]) -> Evaluation:
    """Return an evaluation with some of its skills, and totals over these."""
    results = {name: found for name, found in evaluation.results.items() if name in names}
    old = evaluation.comparison
    comparison = msgspec.structs.replace(
        old,
        deltas={name: deltas for name, deltas in old.deltas.items() if name in names},
        regressions=tuple(change for change in old.regressions if change.skill in names),
        improvements=tuple(change for change in old.improvements if change.skill in names),
    )
    return msgspec.structs.replace(
        evaluation,
        scope=tuple(results),
        summary=summary(results),
        dimension_averages=averages(results),
        results=results,
        comparison=comparison,
        insights=insights(results, comparison),
    )
