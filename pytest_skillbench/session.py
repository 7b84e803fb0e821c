"""One pytest session under ``--skillbench``: finds the project, hands pytest its cases, writes the reports at the end.

Face (pytest): the working half of the plugin, imported only when it is asked for. It joins the gatherers (`project`,
`tree`, `scoring`) to pytest's hooks; what a node comes to is decided in `outcomes`, what is printed in `terminal`.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from . import nodes, project, terminal
from .arguments import CASE_FILE, relative_to_tests, split_argument, understand
from .collecting import Layout, folders_of
from .errors import ProjectError, SkillbenchError
from .project import Project
from .suite import Suite
from .text import one_line
from .tree import discover

if TYPE_CHECKING:
    from .hosts import Host
    from .prices import PriceTable
    from .scoring import Scored, Written


class SkillbenchSession:
    """The plugin object of one session; all of its state is here."""

    layout: Layout
    suite: Suite
    added_hosts: tuple[Host, ...]

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.ran: set[str] = set()
        self.summary = terminal.Summary()
        self._whole = False

    # -- start ---------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Find the project and its cases, and make the arguments that name them plain."""
        try:
            self._start()
        except SkillbenchError as error:
            raise pytest.UsageError("\n".join(str(problem) for problem in error.problems)) from None

    def _start(self) -> None:
        config = self.config
        found = self._find_project()
        self.suite = Suite(
            discover(found),
            config.getoption("skillbench_skill") or (),
            self._amended_prices(),
            require_runs=config.getoption("skillbench_require_runs"),
            require_fresh=config.getoption("skillbench_require_fresh"),
        )
        self.added_hosts = self._added_hosts()
        start = config.invocation_params.dir
        asked = (split_argument(argument, start) for argument in config.args)
        self._whole = any(named is not None and _reaches(named[0], found) for named in asked)
        tests = _as_pytest_spells(found, config.rootpath)
        selection = None
        if not config.pluginmanager.has_plugin("dsession"):  # with pytest-xdist, each worker collects and does this
            known = {*self.suite.entries, *folders_of(self.suite.entries)}
            arguments = understand(config.args, start, tests, known)
            config.args[:] = arguments.args
            selection = arguments.selection
        self.layout = Layout(
            tests,
            self.suite.entries,
            selection,
            config.getoption("ignore") or (),
            config.getoption("ignore_glob") or (),
        )

    def _find_project(self) -> Project:
        """Return the project of the first argument that reaches into a ``tests/``, else the one around the start."""
        config = self.config
        start = config.invocation_params.dir
        runs, reports = (_folder(config.getoption(name), start) for name in ("skillbench_runs", "skillbench_reports"))
        if runs is not None and not runs.is_dir():
            raise pytest.UsageError(f"--skillbench-runs {config.getoption('skillbench_runs')}: no such folder")
        for argument in config.args:
            named = split_argument(argument, start)
            if named is None:
                continue
            try:
                found = project.find(named[0], runs=runs, reports=reports)
            except ProjectError:
                continue
            if relative_to_tests(named[0], found.tests) is not None or _reaches(named[0], found):
                return found
        return project.find(start, runs=runs, reports=reports)

    def _amended_prices(self) -> PriceTable | None:
        """Return the bundled prices with what other plugins put in their place, the last registered one on top.

        None where nobody amends them: the table is then read when, and only if, a run is scored.
        """
        if not self.config.hook.pytest_skillbench_prices.get_hookimpls():
            return None
        from .prices import PriceTable, bundled

        table = bundled()
        found = self.config.hook.pytest_skillbench_prices(config=self.config, prices=table)
        for amendment in reversed(found):
            if not isinstance(amendment, PriceTable):
                raise pytest.UsageError(
                    f"pytest_skillbench_prices: got {type(amendment).__name__}; expected a PriceTable"
                )
            table = table.merged(amendment)
        return table

    def _added_hosts(self) -> tuple[Host, ...]:
        """Return the agent clients that other plugins add, each under a name of its own."""
        lists = self.config.hook.pytest_skillbench_hosts(config=self.config)
        added = tuple(host for found in reversed(lists) for host in found)
        if added:
            from .hosts import HOSTS, Host

            taken = {host.name for host in HOSTS}
            for host in added:
                if not isinstance(host, Host):
                    raise pytest.UsageError(f"pytest_skillbench_hosts: got {type(host).__name__}; expected a Host")
                if host.name in taken:
                    raise pytest.UsageError(f'pytest_skillbench_hosts: two hosts named "{one_line(host.name)}"')
                taken.add(host.name)
        return added

    @property
    def hosts(self) -> tuple[Host, ...]:
        """Return every agent client of this session: the built-in ones, then those that plugins added."""
        from .hosts import HOSTS

        return (*HOSTS, *self.added_hosts)

    def pytest_report_header(self) -> str:
        """Say what was found, and where the run records are."""
        return terminal.header(self.suite.tree, len(self.suite.entries))

    # -- collection ----------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Let no other rule hide a case, and let nothing into a fixture or the reports."""
        return self.layout.ignore(collection_path)

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Take a case.md of ours, and nobody else (a doctest glob such as ``*.md``) with us."""
        others = yield
        if file_path.name != CASE_FILE:
            return others
        key = self.layout.key(file_path)
        if key is None:
            return others
        return [nodes.CaseFile.make(parent, file_path, self, key)] if key in self.suite.entries else []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep each node once, however often and by whatever path its case was named, and nothing that was not."""
        seen: set[tuple[str, str]] = set()
        kept = []
        for item in items:
            if isinstance(item, nodes.CaseItem):
                identity = (item.key, item.name)
                if identity in seen:
                    continue
                seen.add(identity)
            elif self.layout.unasked(item.path, _behind_file(item)):
                continue
            kept.append(item)
        items[:] = kept

    # -- reports of nodes ----------------------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Mark the reports of our nodes."""
        report = yield
        if isinstance(item, nodes.CaseItem):
            item.amend(report)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember which skills' nodes ran, in this process or in a worker of pytest-xdist."""
        mark = nodes.mark_of(report)
        if mark is not None:
            self.ran.add(mark["skill"])
            nodes.explain(report, mark)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.TestReport | pytest.CollectReport
    ) -> tuple[str, str, str | tuple[str, dict[str, bool]]] | None:
        """Show WIN, TIE, LOSS and GATE as W, T, L and G."""
        mark = nodes.mark_of(report)
        return nodes.status(report, mark) if mark is not None and isinstance(report, pytest.TestReport) else None

    # -- end -----------------------------------------------------------------------------------------------------------

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write report, leaderboard and history of the skills whose nodes ran; once, in the controlling process."""
        if hasattr(self.config, "workerinput") or not hasattr(self, "suite"):
            return
        scored = tuple(self.suite.scored(skill) for skill in self.suite.tree.skills if skill.path in self.ran)
        written, error = None, None
        if any(item.state in ("scored", "broken") for item in scored) and not self.config.getoption(
            "skillbench_no_report"
        ):
            written, error = self._write(scored)
        whole = self._whole and not self.config.getoption("skillbench_skill")
        loose = self.suite.loose_problems() if whole else ()
        self.summary = terminal.Summary(scored=scored, written=written, problems=loose)
        if any(problem.severity == "error" for problem in loose):
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        if error is not None:
            terminal.complain(self.config, f"skillbench: error: the report was not written: {one_line(error)}")
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        for item in scored:
            if item.result is not None:
                self.config.hook.pytest_skillbench_result(
                    config=self.config,
                    skill=item.skill.name,
                    result=item.result,
                    report=self._report_of(item.skill.name, written),
                )

    def _write(self, scored: tuple[Scored, ...]) -> tuple[Written | None, str | None]:
        """Write the reports; return what was written, or why it was not."""
        from . import scoring

        try:
            return scoring.write(self.suite.tree, scored, self.suite.prices), None
        except SkillbenchError as error:
            return None, "; ".join(str(problem) for problem in error.problems)
        except OSError as error:
            return None, f"{error.filename or self.suite.tree.project.reports}: {error.strerror or error}"
        except Exception as error:
            # A fault of ours. The outcomes are known and must be told: it can't be left to end the session.
            if self.config.getoption("fulltrace"):
                raise
            return None, f"internal error, {type(error).__name__}: {error} (--full-trace shows where)"

    def _report_of(self, name: str, written: Written | None) -> Path | None:
        return next((path for path in written.reports if path.name == f"{name}.html"), None) if written else None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say in a few lines how the skills stand, and where the report is."""
        if hasattr(self, "suite"):
            terminal.write_summary(terminalreporter, self.suite.tree, self.summary)


def _reaches(path: Path, found: Project) -> bool:
    """Return whether collecting a path collects all of the project's ``tests/``."""
    return Path(os.path.realpath(found.tests)).is_relative_to(os.path.realpath(path))


def _behind_file(item: pytest.Item) -> str:
    """Return the part of an item's id that is behind its file."""
    file = next((node for node in item.iter_parents() if isinstance(node, pytest.File)), None)
    return item.nodeid.removeprefix(file.nodeid).removeprefix("::") if file is not None else item.name


def _folder(given: str | None, start: Path) -> Path | None:
    return None if given is None else Path(os.path.abspath(start / given))


def _as_pytest_spells(found: Project, rootpath: Path) -> Path:
    """Return ``tests/`` by the path that pytest gives what it collects: below its rootdir, which may be a link."""
    real = Path(os.path.realpath(rootpath))
    if found.tests.is_relative_to(real):
        return rootpath / found.tests.relative_to(real)
    if real.is_relative_to(found.root):
        up = len(real.relative_to(found.root).parts)
        root = rootpath.parents[up - 1]
        if os.path.realpath(root) == str(found.root):
            return root / found.tests.name
    return found.tests
