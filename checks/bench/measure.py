"""Side-by-side timing of whole processes: the variants take turns, and the best of each is compared."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path


def best(commands: Mapping[str, Sequence[str]], *, rounds: int, cwd: Path, allowed: frozenset[int]) -> dict[str, float]:
    """Return the fewest seconds that each command took; `allowed` are exit codes that are not failures."""
    seconds: dict[str, float] = {}
    for _ in range(rounds):
        for name, command in commands.items():
            started = time.perf_counter()
            done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
            took = time.perf_counter() - started
            if done.returncode not in allowed:
                raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr[-2000:]}")
            seconds[name] = min(took, seconds.get(name, took))
    return seconds


def python(*arguments: str) -> list[str]:
    """Return a command line of this interpreter."""
    return [sys.executable, *arguments]
