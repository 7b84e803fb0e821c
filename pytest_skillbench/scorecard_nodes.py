"""The scorecard as pytest nodes: each eval case in its YAML file, each skill's dimensions in ``evals/config.yaml``.

Face (pytest): carries out what `scorecard.evaluate` found in the recorded runs and the baseline; nothing is run and
nothing is written. What evaluates is imported only once a file of the scorecard is collected.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pytest

from .model import Value
from .nodes import Explanation, NodeFailure, by_path, place_skip
from .text import one_line

if TYPE_CHECKING:
    from .errors import Problem
    from .scorecard.evaluate import Evaluated
    from .scorecard.records import EvalCase
    from .scorecard.scores import DimensionResult, Row
    from .session import SkillbenchSession

Outcome: TypeAlias = Literal["passed", "failed", "skipped", "warned"]
_CONFIG = "config.yaml"
_IN_TESTS = "evals"


class ScorecardWarning(pytest.PytestWarning):
    """A dimension of a skill fell past its warning threshold."""


class ScorecardSession:
    """The plugin object of one session's scorecard; `bench` knows the project."""

    def __init__(self, bench: SkillbenchSession) -> None:
        self.bench = bench
        self._evaluated: Evaluated | None = None
        self._places: tuple[str, str, str] | None = None

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Take a case file or the config of the scorecard, and nothing else."""
        if file_path.suffix != ".yaml":
            return None
        shown = self._shown(file_path)
        if shown is None:
            return None
        return EvalFile.make(parent, file_path, self, shown)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Tell a skipped node at its place."""
        report = yield
        if isinstance(item, EvalItem):
            place_skip(report, item.path, item.line)
        return report

    def _shown(self, path: Path) -> str | None:
        """Return a file of ours by its path below the repository's root, None for any other file."""
        project = self.bench.suite.tree.project
        real = Path(os.path.realpath(path.parent)) / path.name
        if not real.is_relative_to(project.root):
            return None
        parts = real.relative_to(project.root).parts
        own = self._is_own("/".join(parts))
        beside = parts[-2:-1] == (_IN_TESTS,) and real.is_relative_to(project.tests)
        return "/".join(parts) if own or beside else None

    def _is_own(self, shown: str) -> bool:
        """Return whether a file is the config, a case, or else below the evals root and no evaluation."""
        if self._places is None:
            from .scorecard.discover import read_config

            project = self.bench.suite.tree.project
            config, _ = read_config(project)
            self._places = (f"{project.settings.evals_root}/", f"{config.cases_path}/", f"{config.results_path}/")
        evals, cases, results = self._places
        return shown == self.config or shown.startswith(cases) or shown.startswith(evals) > shown.startswith(results)

    @property
    def config(self) -> str:
        """Return where the config would be, below the repository's root."""
        return f"{self.bench.suite.tree.project.settings.evals_root}/{_CONFIG}"

    @property
    def home(self) -> str:
        """Return the file whose nodes are the dimensions, and what is wrong elsewhere.

        It is the config; where there is none, the first file with a case.
        """
        project = self.bench.suite.tree.project
        files = [case.file for cases in self.evaluated.found.cases.values() for case in cases]
        return self.config if (project.root / self.config).is_file() or not files else files[0]

    @property
    def evaluated(self) -> Evaluated:
        """Return the evaluation of the session's skills; made once, from files alone."""
        if self._evaluated is None:
            from .scorecard.evaluate import evaluate

            names = self.bench.config.getoption("skillbench_skill") or ()
            self._evaluated = evaluate(self.bench.suite.tree, names, date="1970-01-01")  # of no matter for an outcome
        return self._evaluated

    def problems(self, shown: str) -> list[Problem]:
        """Return the errors that a file's nodes carry: its own; the home's also those of no other collected file."""
        errors = [problem for problem in self.evaluated.problems if problem.severity == "error"]
        project = self.bench.suite.tree.project
        if shown != self.home:
            return [problem for problem in errors if problem.path == shown]
        config = self.evaluated.found.config
        tests = f"{project.relative(project.tests)}/"
        return [
            problem
            for problem in errors
            if problem.path == shown
            or (
                not problem.path.startswith(f"{config.cases_path}/")
                and not (problem.path.startswith(tests) and f"/{_IN_TESTS}/" in problem.path)
            )
        ]


class Verdict(Value, frozen=True):
    """What a node comes to, and why, in lines."""

    outcome: Outcome
    lines: tuple[str, ...] = ()


class EvalFile(pytest.File):
    """A file of cases, or the config."""

    scorecard: ScorecardSession
    shown: str

    @classmethod
    def make(cls, parent: pytest.Collector, path: Path, scorecard: ScorecardSession, shown: str) -> EvalFile:
        """Return the collector of a file. Outside pytest's rootdir its node id is its absolute path."""
        self: EvalFile = cls.from_parent(parent, path=path, **by_path(parent, path))
        self.scorecard = scorecard
        self.shown = shown
        return self

    def collect(self) -> Iterator[EvalItem]:
        """Yield a node for each case, or for each dimension of each skill, and for each problem of the file."""
        from .scorecard.dimensions import ALARM

        evaluated = self.scorecard.evaluated
        numbers: dict[str, int] = {}
        for problem in self.scorecard.problems(self.shown):
            name = f"line-{problem.line}" if problem.line and problem.path == self.shown else problem.slug
            numbers[name] = numbers.get(name, 0) + 1
            unique = name if numbers[name] == 1 else f"{name}-{numbers[name]}"
            yield EvalItem.make(self, unique, (problem.line or 1) - 1, Verdict(outcome="failed", lines=(str(problem),)))
        if self.shown == self.scorecard.home:
            for skill, score in evaluated.evaluation.results.items():
                line = evaluated.found.config.lines.get(skill, 1) - 1
                for dimension, result in score.dimensions.items():
                    yield EvalItem.make(self, f"{skill}-{dimension.replace('_', '-')}", line, of_dimension(result))
        for skill, cases in evaluated.found.cases.items():
            found = evaluated.evaluation.results.get(skill)
            alarm = ALARM if found is not None and found.dimensions["trigger_accuracy"].why == ALARM else None
            for case in cases:
                if case.file == self.shown and found is not None:
                    rows = [row for row in found.rows if row.case == case.id]
                    yield EvalItem.make(self, case.slug, case.line - 1, of_case(case, rows, alarm), case.tags)


def of_case(case: EvalCase, rows: list[Row], alarm: str | None) -> Verdict:
    """Return what a case comes to: every check of every trial held, some did not, or it is not all known.

    `alarm`: that no positive case of its skill was triggered at all, so that a probe that saw nothing shows nothing.
    """
    if alarm and case.is_probe and all(row.held == int(not case.expected.triggered) for row in rows if row.of):
        return Verdict(outcome="skipped", lines=(f"no score: {alarm}",))
    wrong = [row for row in rows if row.held is not None and row.of is not None and row.held < row.of]
    if wrong:
        told = [f"trial {row.trial}, {row.dimension}: {one_line(text)}" for row in wrong for text in row.failed]
        return Verdict(outcome="failed", lines=tuple(told or ["a check did not hold"]))
    unknown = next((row for row in rows if row.ungraded is not None), None)
    if unknown is not None:
        return Verdict(outcome="skipped", lines=(f"ungraded: {one_line(unknown.ungraded or '')}",))
    if not rows:
        why = "its skill is not for models to use unasked" if case.is_probe else "measured from the skill's files"
        return Verdict(outcome="skipped", lines=(f"not applicable: {why}",))
    return Verdict(outcome="passed")


def of_dimension(result: DimensionResult) -> Verdict:
    """Return what a dimension comes to: past its blocking threshold, past its warning, within, or not known."""
    score = f"{result.score} (baseline {result.baseline})" if result.baseline is not None else f"{result.score}"
    line = one_line(f"{result.status}: {score}: {result.detail or result.why or ''}").rstrip(": ")
    if result.status == "BLOCKED":
        return Verdict(outcome="failed", lines=(line,))
    if result.status == "WARN":
        return Verdict(outcome="warned", lines=(line,))
    if result.status in ("not-run", "not-applicable"):
        return Verdict(outcome="skipped", lines=(one_line(f"{result.status}: {result.why or ''}").rstrip(": "),))
    return Verdict(outcome="passed")


class EvalItem(pytest.Item):
    """One node: its verdict is known when it is collected, from files alone."""

    line: int
    verdict: Verdict

    @classmethod
    def make(cls, parent: EvalFile, name: str, line: int, verdict: Verdict, tags: tuple[str, ...] = ()) -> EvalItem:
        """Return a node; `line` is its 0-based line in the file, `tags` can be selected with ``-k``."""
        self: EvalItem = cls.from_parent(parent, name=name)
        self.line = line
        self.verdict = verdict
        self.extra_keyword_matches.update(tags)
        return self

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Return the file, the 0-based line and the node's name."""
        return self.path, self.line, self.name

    def runtest(self) -> None:
        """Carry out the verdict."""
        if self.verdict.outcome == "failed":
            raise NodeFailure
        if self.verdict.outcome == "skipped":
            raise pytest.skip.Exception(self.verdict.lines[0])
        if self.verdict.outcome == "warned":
            self.warn(ScorecardWarning(self.verdict.lines[0]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return why the node failed, without a traceback."""
        if not isinstance(excinfo.value, (NodeFailure, ScorecardWarning)):
            return super().repr_failure(excinfo, style)
        where = f"{one_line(os.fspath(self.path))}:{self.line + 1}"
        return Explanation("\n".join(self.verdict.lines), where, "SCORECARD")
