"""The pytest plugin's door: options and hooks, and nothing else.

Face (pytest): imported in every pytest session on the machine, so it imports pytest alone. Only under ``--skillbench``
is the working half (`session`) imported and registered; without it this file's hooks return at once.
"""

from __future__ import annotations

import os

import pytest

#: What each option is called, without ``--skillbench-``: they mean nothing without ``--skillbench``.
_DEPENDENT = ("runs", "reports", "skill", "no-report", "require-runs", "require-fresh")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the command-line options."""
    group = parser.getgroup("skillbench", "skill benchmarks (pytest-skillbench)")
    group.addoption(
        "--skillbench",
        action="store_true",
        help="collect every case.md below the project's tests/ and make its recorded trials test outcomes",
    )
    group.addoption(
        "--skillbench-runs",
        metavar="DIR",
        help="read run records from DIR instead of tests/.reports",
    )
    group.addoption(
        "--skillbench-reports",
        metavar="DIR",
        help="write reports, leaderboard and history to DIR instead of tests/.reports",
    )
    group.addoption(
        "--skillbench-skill",
        action="append",
        metavar="NAME",
        help="only the cases of this skill (may be given several times)",
    )
    group.addoption(
        "--skillbench-no-report",
        action="store_true",
        help="write no report, leaderboard or history",
    )
    group.addoption(
        "--skillbench-require-runs",
        action="store_true",
        help="fail the nodes of a case that no run was recorded for, instead of skipping them",
    )
    group.addoption(
        "--skillbench-require-fresh",
        action="store_true",
        help="fail the case and rule nodes of a run whose skill, case or fixture has changed since (STALE)",
    )
    group.addoption(
        "--skillbench-evidence",
        action="append",
        metavar="DIR",
        help="collect the graded criteria of the frozen benchmark in DIR, each as a node (may be given several times)",
    )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare our hooks, so that implementing one is never an error, with or without ``--skillbench``."""
    from . import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Refuse an argument inside a fixture before pytest imports the ``conftest.py`` files that lead to it."""
    options = early_config.known_args_namespace
    if not options.skillbench:
        return
    from .arguments import inside_fixture

    start = early_config.invocation_params.dir
    given = list(options.file_or_dir) or [os.curdir]
    for argument in given:
        case = inside_fixture(argument, start)
        if case is not None:
            raise pytest.UsageError(
                f"{argument}: inside the fixture of a case, which is never entered; expected {case}"
            )


def pytest_configure(config: pytest.Config) -> None:
    """Under ``--skillbench``, register the half that works; likewise for evidence."""
    if config.option.skillbench_evidence:
        from .evidence_nodes import session_of

        config.pluginmanager.register(session_of(config, config.option.skillbench_evidence), "skillbench-evidence")
    if not config.option.skillbench:
        for name in _DEPENDENT:
            if getattr(config.option, f"skillbench_{name.replace('-', '_')}"):
                raise pytest.UsageError(f"--skillbench-{name} does nothing by itself; add --skillbench")
        return
    from .scorecard_nodes import ScorecardSession
    from .session import SkillbenchSession

    bench = SkillbenchSession(config)
    config.pluginmanager.register(bench, "skillbench-session")
    config.pluginmanager.register(ScorecardSession(bench), "skillbench-scorecard")
