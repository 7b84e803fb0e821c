"""Measure ``skillbench score`` and the start of the command line."""

from __future__ import annotations

import tempfile
from pathlib import Path

from checks.records import CASE, write_run, write_skill

from .measure import best, python

STRIP = ("WWTWL", "TTWTL")
OK = frozenset({0, 1})
ARGPARSE = "import argparse; argparse.ArgumentParser().print_help()"


def make(root: Path, cases: int) -> None:
    """Write a project with one skill and its three-arm run of five trials a case."""
    names = [f"case-{number:04}" for number in range(cases)]
    write_skill(root, "reviewing", dict.fromkeys(names, CASE))
    write_run(root, "reviewing", dict.fromkeys(names, STRIP))


def rows() -> list[tuple[str, float | None, str, str]]:
    """Return one row a measurement: name, measured, required, detail."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small"), Path(folder, "large")
        make(small, 20)
        make(large, 2000)
        score = python("-m", "pytest_skillbench", "score")
        twenty = best({"score": score, "bare": python("-c", "pass")}, rounds=7, cwd=small, allowed=OK)
        many = best({"score": score}, rounds=2, cwd=large, allowed=OK)["score"]
        hundred = (many - twenty["bare"]) / 100 / (twenty["score"] - twenty["bare"])
        start = best(
            {
                "help": python("-m", "pytest_skillbench", "--help"),
                "argparse": python("-c", ARGPARSE),
            },
            rounds=15,
            cwd=small,
            allowed=OK,
        )
    return [
        ("score, 20 cases x 5 trials x 3 arms (seconds)", twenty["score"], "<= 0.5", "interpreter start included"),
        ("score, 2,000 cases against 100 x 20 cases", hundred, "<= 1.2", f"linear is 1 or less; {many:.1f} s in all"),
        ("skillbench --help against python -c argparse", start["help"] / start["argparse"], "<= 1.5", "whole process"),
    ]
