"""Runs a case's hard assertions for real, on a world and an output that were authored."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pytest_skillbench.model import Assertion, GateResult

from .sessions import number


def run_gate(assertions: Iterable[Assertion], files: Mapping[str, str], output: str, key: str) -> Iterator[GateResult]:
    """Run every hard assertion on a world with these files and this output. Only the duration is made up."""
    with tempfile.TemporaryDirectory() as temporary:
        world, message = Path(temporary) / "world", Path(temporary) / "output.md"
        for path, text in files.items():
            (world / path).parent.mkdir(parents=True, exist_ok=True)
            (world / path).write_text(text, "utf-8")
        world.mkdir(exist_ok=True)
        message.write_text(output, "utf-8")
        for index, item in enumerate(assertions):
            shell = ["sh", "-eu", "-c"] if item.shell == "sh" else ["bash", "-euo", "pipefail", "-c"]
            env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "OUTPUT": str(message), "WORLD": str(world)}
            done = subprocess.run(
                [*shell, item.command], cwd=world, env=env, capture_output=True, text=True, timeout=60, check=False
            )
            yield GateResult(
                assertion=index,
                exit_code=done.returncode,
                timed_out=False,
                duration_ms=number(f"{key} {index} gate", 3, 19),
                stdout=done.stdout.replace(temporary, ""),
                stderr=done.stderr.replace(temporary, ""),
            )
