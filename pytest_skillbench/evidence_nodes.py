"""``--skillbench-evidence DIR``: the graded criteria of a frozen benchmark as pytest nodes.

Face (pytest): one node a criterion and attempt of the treatment, ``<case>-attempt-<n>-<criterion>``, below the freeze's
``suite.json``. What was graded is carried out and never graded anew; where a byte is not as it was frozen or imported,
every node fails with the exact message.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from .errors import EvidenceError
from .evidence.compare import inspect
from .evidence.documents import read_suite
from .evidence.load import MANIFEST, SUITE
from .evidence.records import CriterionResult, Evidence, Run
from .files import read_bounded
from .nodes import Explanation, NodeFailure, by_path, place_skip
from .text import one_line

_LIMIT = 1 << 20


class EvidenceSession:
    """The plugin object of a session that was given freezes; `folders` are absolute."""

    def __init__(self, config: pytest.Config, folders: list[Path]) -> None:
        self.config = config
        self.files = [folder / SUITE for folder in folders]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        """Collect the freezes as well as what was asked for; alone, where nothing was."""
        config = self.config
        named = config.args_source == pytest.Config.ArgsSource.ARGS
        if not named and not config.option.skillbench and not hasattr(config, "workerinput"):
            config.args.clear()
        config.args += [os.fspath(file) for file in self.files if os.fspath(file) not in config.args]

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Take the ``suite.json`` of each freeze."""
        return EvidenceFile.make(parent, file_path) if file_path in self.files else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Tell a skipped node at its place."""
        report = yield
        if isinstance(item, EvidenceItem):
            place_skip(report, item.path, item.line)
        return report


def session_of(config: pytest.Config, folders: list[str]) -> EvidenceSession:
    """Return the plugin object. Raises UsageError for a folder that is no freeze."""
    found = []
    for given in folders:
        folder = Path(os.path.realpath(config.invocation_params.dir / given))
        if not (folder / MANIFEST).is_file() or not (folder / SUITE).is_file():
            what = "no frozen benchmark" if folder.is_dir() else "no such folder"
            raise pytest.UsageError(
                f"--skillbench-evidence {given}: {what}; expected a folder with {MANIFEST} and {SUITE}"
            )
        found.append(folder)
    return EvidenceSession(config, found)


class EvidenceFile(pytest.File):
    """A freeze, by its ``suite.json``."""

    @classmethod
    def make(cls, parent: pytest.Collector, path: Path) -> EvidenceFile:
        """Return the collector of a freeze. Outside pytest's rootdir its node id is its absolute path."""
        self: EvidenceFile = cls.from_parent(parent, path=path, **by_path(parent, path))
        return self

    def collect(self) -> Iterator[EvidenceItem]:
        """Yield every criterion of every attempt of every case; verifies the freeze once."""
        evidence: Evidence | None = None
        broken = None
        try:
            evidence = inspect(self.path.parent)
        except EvidenceError as error:
            broken = error.message
        except OSError as error:
            broken = f"{error.filename or self.path.parent}: {error.strerror or error}"
        try:
            data = read_bounded(self.path, _LIMIT, SUITE)
            suite = evidence.freeze.suite if evidence is not None else read_suite(data, SUITE)
        except (EvidenceError, OSError):
            raise self.CollectError(one_line(broken or "the suite can't be read")) from None
        lines = data.decode("utf-8", "replace").split("\n")
        runs = {run.run.slot: run.run for run in evidence.retained} if evidence is not None else {}
        for case in suite.cases:
            line = next((at for at, text in enumerate(lines) if f'"id": "{case.id}"' in text), 0)
            for attempt in range(1, case.limits.attempts + 1):
                run = runs.get((case.id, "treatment", attempt))
                for criterion in case.criteria:
                    name = f"{case.id}-attempt-{attempt}-{criterion.id}"
                    yield EvidenceItem.make(self, name, line, criterion.id, run, broken)


class EvidenceItem(pytest.Item):
    """One criterion of one attempt, as it was graded."""

    line: int
    criterion: str
    run: Run | None
    broken: str | None

    @classmethod
    def make(
        cls, parent: EvidenceFile, name: str, line: int, criterion: str, run: Run | None, broken: str | None
    ) -> EvidenceItem:
        """Return a node; `line` is the 0-based line of its case in the suite."""
        self: EvidenceItem = cls.from_parent(parent, name=name)
        self.line = line
        self.criterion = criterion
        self.run = run
        self.broken = broken
        return self

    @property
    def result(self) -> CriterionResult | None:
        """Return how the treatment was graded, None where it has no run."""
        found = self.run.criteria if self.run is not None else ()
        return next((result for result in found if result.id == self.criterion), None)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Return the suite, the 0-based line of the case, and the node's name."""
        return self.path, self.line, self.name

    def runtest(self) -> None:
        """Carry out what was graded."""
        if self.run is not None:
            self.user_properties.append(("kind", self.run.execution.kind))
        if self.broken is not None:
            raise NodeFailure
        result = self.result
        if result is None:
            raise pytest.skip.Exception("no treatment run is imported")
        if result.verdict == "fail":
            raise NodeFailure
        if result.verdict != "pass":
            raise pytest.skip.Exception(f"{result.verdict}: {one_line(result.reason)}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return why the node failed, without a traceback."""
        if not isinstance(excinfo.value, NodeFailure):
            return super().repr_failure(excinfo, style)
        where = f"{one_line(os.fspath(self.path))}:{self.line + 1}"
        if self.broken is not None:
            return Explanation(one_line(self.broken), where, "EVIDENCE")
        run, result = self.run, self.result
        why = result.reason if result is not None else ""
        declared = f"run {run.id}, declared {run.execution.kind}, {run.execution.status}" if run is not None else ""
        return Explanation(f"graded fail: {one_line(why)}\n{declared}", where, "EVIDENCE")
