"""Side-by-side timing of whole processes: the variants take turns, and the best of each is compared."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path


def best(
    commands: Mapping[str, Sequence[str]], *, rounds: int, cwd: Path, allowed: frozenset[int], **variables: str
) -> dict[str, float]:
    """Return the fewest seconds that each command took; `allowed` are exit codes that are not failures.

    `variables` are added to the environment. Bytecode may be written, as it is where a program is installed.
    """
    environment = {**os.environ, **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    seconds: dict[str, float] = {}
    for _ in range(rounds):
        for name, command in commands.items():
            started = time.perf_counter()
            done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
            took = time.perf_counter() - started
            if done.returncode not in allowed:
                raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr[-2000:]}")
            seconds[name] = min(took, seconds.get(name, took))
    return seconds


def python(*arguments: str) -> list[str]:
    """Return a command line of this interpreter."""
    return [sys.executable, *arguments]
