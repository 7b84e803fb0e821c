"""Measure the pytest plugin: 10,000 nodes, its start, and what it costs a session that does not ask for it.

Everything is measured against plain pytest without this plugin, in turns. Other plugins that happen to be installed are
kept out, so that neither side hides behind them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from checks.records import CASE, write_run, write_skill

from .measure import best, python

NODES_A_CASE = 18  # the case, five gates, two times five trials, two rules
CASES = 556
STRIP = ("WWTWL", "TTWTL")
PLAIN = "import pytest\n\n@pytest.mark.parametrize('n', range({count}))\ndef test_trivial(n):\n    pass\n"
PYTEST = python("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_skillbench.plugin")
BLOCKED = python("-m", "pytest", "-q", "-p", "no:cacheprovider")


def make(root: Path, cases: int) -> None:
    """Write a project with one recorded skill, and as many trivial parametrized tests as its cases have nodes."""
    names = [f"case-{number:04}" for number in range(cases)]
    write_skill(root, "reviewing", dict.fromkeys(names, CASE))
    write_run(root, "reviewing", dict.fromkeys(names, STRIP))
    (root / "plain").mkdir()
    (root / "plain/test_trivial.py").write_text(PLAIN.format(count=cases * NODES_A_CASE))


def rows() -> list[tuple[str, float | None, str, str]]:
    """Return one row a measurement: name, measured, required, detail."""
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder, "large"), Path(folder, "small")
        make(large, CASES)
        make(small, 1)
        many = best(
            {
                "cases": [*PYTEST, "--skillbench", "--skillbench-no-report", "tests"],
                "reported": [*PYTEST, "--skillbench", "tests"],
                "plain": [*BLOCKED, "plain"],
            },
            rounds=3,
            cwd=large,
            allowed=frozenset({0, 1}),
            PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
        )
        start = best(
            {
                "on": [*PYTEST, "--skillbench", "plain/test_trivial.py::test_trivial[0]"],
                "first": [
                    *PYTEST,
                    "--skillbench",
                    "--skillbench-no-report",
                    "tests/reviewing/case-0000/case.md::case",
                ],
                "off": [*PYTEST, "plain/test_trivial.py::test_trivial[0]"],
                "plain": [*BLOCKED, "plain/test_trivial.py::test_trivial[0]"],
            },
            rounds=15,
            cwd=small,
            allowed=frozenset({0}),
            PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
        )
    nodes = CASES * NODES_A_CASE
    both = f"{many['cases']:.2f} s against {many['plain']:.2f} s; with the report {many['reported']:.2f} s"
    return [
        (f"plugin: {nodes:,} nodes over as many trivial tests", many["cases"] / many["plain"], "<= 1.5", both),
        (
            "plugin: start of pytest --skillbench over plain pytest (ms)",
            (start["on"] - start["plain"]) * 1000,
            "<= 60",
            f"{start['on'] * 1000:.0f} ms against {start['plain'] * 1000:.0f} ms, the same trivial test; "
            f"where a case is read and its run scored instead {start['first'] * 1000:.0f} ms",
        ),
        (
            "plugin: installed, not asked for, over plain pytest (ms)",
            (start["off"] - start["plain"]) * 1000,
            "<= 15",
            f"{start['off'] * 1000:.0f} ms against {start['plain'] * 1000:.0f} ms",
        ),
    ]


if __name__ == "__main__":
    for row in rows():
        print(*row, sep="\t")
