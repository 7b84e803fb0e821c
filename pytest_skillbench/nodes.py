"""A case.md as a pytest file and its nodes as pytest items: they carry out what `outcomes` decides.

Face (pytest): no rule and no arithmetic here. Every node is directly below its file and has a plain name, an integer
line in case.md and no ``callspec``, which is what test explorers need to show it and click through to it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .outcomes import CaseView, NodeName, NodeOutcome, node_names, outcome
from .text import one_line

if TYPE_CHECKING:
    from .session import SkillbenchSession

#: The attribute of a test report that says it is ours; plain strings, so that it survives pytest-xdist's wire.
MARK = "skillbench"


class NodeFailure(Exception):  # noqa: N818 - not an error of the program: the way to tell pytest that a node failed
    """Raised by a node that fails. Never shown as a traceback."""


class Explanation:
    """Why a node failed: short lines, and where to look. Stands where pytest keeps a traceback.

    `reprcrash` is what pytest's own one-line summaries ask for.
    """

    def __init__(self, text: str, where: str, word: str) -> None:
        self.text = text
        self.last = f"{where}: {word}"
        self.reprcrash = Crash(where, text.split("\n", 1)[0])

    def __str__(self) -> str:
        return self.text

    def toterminal(self, tw: Any) -> None:
        """Write the lines, the reason in red, and where that is: the heading above them has the node's name only."""
        first, *others = self.text.split("\n")
        tw.line(first, red=True)
        for line in (*others, self.last):
            tw.line(line)


class Crash:
    """The reason in one line, and its place."""

    def __init__(self, where: str, message: str) -> None:
        self.path, _, line = where.rpartition(":")
        self.lineno = int(line)
        self.message = message

    def __str__(self) -> str:
        return f"{self.path}:{self.lineno}: {self.message}"


def by_path(parent: pytest.Collector, path: Path) -> dict[str, Any]:
    """Return what a collector of a file outside pytest's rootdir is given besides: its absolute path as its node id."""
    return {} if path.is_relative_to(parent.config.rootpath) else {"nodeid": path.as_posix()}


class CaseFile(pytest.File):
    """One ``case.md``."""

    bench: SkillbenchSession
    key: str

    @classmethod
    def make(cls, parent: pytest.Collector, path: Path, bench: SkillbenchSession, key: str) -> CaseFile:
        """Return the collector of a case. Outside pytest's rootdir its node id is its absolute path."""
        self: CaseFile = cls.from_parent(parent, path=path, **by_path(parent, path))
        self.bench = bench
        self.key = key
        return self

    def collect(self) -> Iterator[CaseItem]:
        """Yield the nodes of the case: the same ones whatever the state of its run."""
        reading = self.bench.suite.reading(self.key)
        wanted = self.bench.layout.leaves(self.key)
        self.extra_keyword_matches.update(reading.tags)
        unseen = set(wanted or ())
        for node in node_names(reading.trials, gated=reading.gated):
            unseen.discard(node.name)
            if wanted is None or node.name in wanted:
                yield CaseItem.make(self, node, reading.view, reading.lines[node.kind])
        if unseen:
            raise self.CollectError(f"not found: {', '.join(f'{self.nodeid}::{one_line(n)}' for n in sorted(unseen))}")


class CaseItem(pytest.Item):
    """One node of a case: what `node` is in what `view` says."""

    key: str
    node: NodeName
    view: CaseView
    line: int
    _outcome: NodeOutcome | None

    @classmethod
    def make(cls, parent: CaseFile, node: NodeName, view: CaseView, line: int) -> CaseItem:
        """Return a node; `line` is the 0-based line of its section in case.md."""
        self: CaseItem = cls.from_parent(parent, name=node.name)
        self.key = parent.key
        self.node = node
        self.view = view
        self.line = line
        self._outcome = None
        return self

    @property
    def outcome(self) -> NodeOutcome:
        """Return what this node comes to; computed once, from files alone."""
        if self._outcome is None:
            self._outcome = outcome(self.view, self.node)
        return self._outcome

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Return the file, the 0-based line of the node's section, and its name."""
        return self.path, self.line, self.name

    def runtest(self) -> None:
        """Carry out the outcome."""
        result = self.outcome
        self.user_properties += _properties(self.view, self.node, result)
        if result.stale:
            self.add_report_section("call", MARK, "\n".join(f"STALE: {sentence}" for sentence in result.stale))
        if result.status == "failed":
            raise NodeFailure
        if result.status == "skipped":
            raise pytest.skip.Exception(result.lines[0])
        if result.status == "flagged":
            # Raised and not called: ``--runxfail`` replaces the function, and a loss must not pass by that.
            raise pytest.xfail.Exception(result.lines[0])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the lines that say why the node failed, without a traceback."""
        if isinstance(excinfo.value, (NodeFailure, pytest.xfail.Exception)):
            return "\n".join(self.outcome.lines)
        return super().repr_failure(excinfo, style)

    def amend(self, report: pytest.TestReport) -> None:
        """Give the report of the call what the terminal, JUnit and the controlling process need."""
        if report.when != "call":
            return
        result = self.outcome
        word = result.word or ("STALE" if result.result == "stale" and result.status == "failed" else "")
        mark = {
            "skill": self.view.scored.skill.path if self.view.scored else "",
            "word": word,
            "letter": result.letter or "",
            "stale": "yes" if result.stale else "",
            "where": f"{one_line(self.view.path)}:{self.line + 1}",
        }
        setattr(report, MARK, mark)
        place_skip(report, self.path, self.line)


def _properties(view: CaseView, node: NodeName, result: NodeOutcome) -> list[tuple[str, object]]:
    """Return the JUnit properties of a node, all of them text that is valid in XML."""
    found: list[tuple[str, object]] = [("skill", one_line(view.skill or "")), ("case", one_line(view.name))]
    if node.comparison is not None:
        found.append(("comparison", node.comparison))
    if node.trial is not None:
        found.append(("trial", str(node.trial)))
    found.append(("result", result.result))
    if result.stale:
        found.append(("stale", "; ".join(result.stale)))
    return found


def place_skip(report: pytest.TestReport, path: Path, line: int) -> None:
    """Let a skipped node of ours be told at its own place, and not at the line of the plugin that skipped it."""
    if report.skipped and not hasattr(report, "wasxfail") and isinstance(report.longrepr, tuple):
        report.longrepr = (os.fspath(path), line + 1, report.longrepr[2])


def mark_of(report: pytest.TestReport | pytest.CollectReport) -> dict[str, str] | None:
    """Return our mark on a report, None where the report is of another item or of setup and teardown."""
    return getattr(report, MARK, None)


def explain(report: pytest.TestReport, mark: dict[str, str]) -> None:
    """Let a failed report of ours say its reason in pytest's one-line summaries as well."""
    if report.failed and isinstance(report.longrepr, str):
        explanation: Any = Explanation(report.longrepr, mark["where"], mark["word"] or "FAILED")
        report.longrepr = explanation


def status(
    report: pytest.TestReport, mark: dict[str, str]
) -> tuple[str, str, str | tuple[str, dict[str, bool]]] | None:
    """Return category, letter and word of a report of ours for the terminal, None for pytest's own."""
    if report.skipped and hasattr(report, "wasxfail"):
        category, letter, word, color = "xfailed", "x", "XFAIL", "yellow"
    else:
        category = report.outcome
        letter, word, color = {
            "passed": (".", "PASSED", "green"),
            "failed": ("F", "FAILED", "red"),
            "skipped": ("s", "SKIPPED", "yellow"),
        }[category]
    shown = mark["word"] or word
    if mark["stale"] and shown != "STALE":
        shown += " (STALE)"
    return category, mark["letter"] or letter, (shown, {color: True})
