"""The hooks that other plugins and ``conftest.py`` files may implement, and nothing else.

Face (pytest): declared in every session, so that an implementation is never an unknown hook, and called only under
``--skillbench``. Imports nothing of ours at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from .hosts import Host
    from .model import SkillResult
    from .prices import PriceTable


@pytest.hookspec
def pytest_skillbench_hosts(config: pytest.Config) -> Sequence[Host] | None:
    """Register agent clients, kept as ``hosts`` on the plugin ``skillbench-session``; no outcome depends on them.

    Called once, when the session starts, in every process of it (each worker of pytest-xdist as well).

    :param config: the session's configuration.
    :return: `pytest_skillbench.hosts.Host` records, or None for none. The hosts of all implementations are added behind
        the built-in ones; a name that is taken is a usage error.
    """


@pytest.hookspec
def pytest_skillbench_prices(config: pytest.Config, prices: PriceTable) -> PriceTable | None:
    """Amend the prices with which token usage becomes dollars and cost-equivalent tokens.

    Called once, before the first run is scored, in every process of the session.

    :param config: the session's configuration.
    :param prices: the table that comes with the program.
    :return: a table (`pytest_skillbench.prices.load` reads one) whose models are used in place of those of the same
        name, or None. Of two implementations that price one model, the one that was registered last wins. Every dollar
        is then shown with both tables' dates.
    """


@pytest.hookspec
def pytest_skillbench_result(config: pytest.Config, skill: str, result: SkillResult, report: Path | None) -> None:
    """Look at the result of a skill that was scored.

    Called at the end of the session, in the controlling process only, once for each skill that has a recorded run and
    any of whose nodes ran, after its report was written.

    :param config: the session's configuration.
    :param skill: the skill's name.
    :param result: everything the report is made of, frozen: nothing an implementation does changes an outcome.
    :param report: the HTML report that was written, or None (``--skillbench-no-report``, or it could not be written).
    :return: nothing.
    """


__all__ = ["pytest_skillbench_hosts", "pytest_skillbench_prices", "pytest_skillbench_result"]
