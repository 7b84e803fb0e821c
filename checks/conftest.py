"""What the tests share: pytest's own plugin tester, and a project on disk to run it on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

# pytester forgets what a run imports, so that what is loaded late would be loaded twice: neither PyYAML's C half nor
# msgspec's records bear that.
import yaml  # noqa: F401

import pytest_skillbench.scorecard.evaluate
import pytest_skillbench.scorecard.past
import pytest_skillbench.scoring
import pytest_skillbench.view  # noqa: F401
from checks.records import CASE, UNGATED, Strips, write_run, write_skill

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def bench(pytester: pytest.Pytester) -> Path:
    """Write a project: the skill ``review/code-review``, its gated case ``null-check``, its ungated ``off-by-one``."""
    write_skill(pytester.path, "review/code-review", {"null-check": CASE, "off-by-one": UNGATED})
    return pytester.path


@pytest.fixture
def recorded(bench: Path) -> Callable[..., Path]:
    """Record a run of ``bench``'s skill: strips in, run folder out. No strips: everything passes, three arms.

    A case without a strip wins all its trials and ties all of regression, so that the run covers both; with
    ``only=True`` the run does not have it.
    """

    def record(strips: Strips | None = None, *, only: bool = False, **options: object) -> Path:
        given = dict(strips or {"null-check": ("WWWTL", "TTTTT"), "off-by-one": ("WWWWW", "TTTTL")})
        if not only:
            one = next(iter(given.values()))
            trials = len(one if isinstance(one, str) else one[0])
            rest: str | tuple[str, str] = "W" * trials if isinstance(one, str) else ("W" * trials, "T" * trials)
            given = {"null-check": rest, "off-by-one": rest, **given}
        return write_run(bench, "review/code-review", given, **options)  # type: ignore[arg-type] # passed on as given

    return record


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Run pytest in this process with ``--skillbench`` and the given arguments, colors and CI variables off."""

    def start(*arguments: object) -> pytest.RunResult:
        return pytester.runpytest_inprocess("--skillbench", "-p", "no:randomly", *map(str, arguments))

    return start
