"""Measure ``skillbench evidence compare`` on a freeze as large as one may be, against ``sha256sum`` over its files."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from pathlib import Path

from checks.freezes import criterion, suite, suite_case, write_suite
from pytest_skillbench.evidence.documents import MOST_FILES, TREE_LIMIT
from pytest_skillbench.evidence.freeze import prepare

from .measure import best, python

OK = frozenset({0})
PACKAGES = 16
#: What the suite, the prompts and the executors' files take of the limits.
RESERVED_FILES, RESERVED_BYTES = 5, 16_384


def make(root: Path) -> Path:
    """Write the largest freeze: 16 packages, 2,048 files and 32 MiB in all."""
    chance = random.Random(7)
    names = [f"skill-{number:02}" for number in range(PACKAGES)]
    count = MOST_FILES - RESERVED_FILES
    size = (TREE_LIMIT - RESERVED_BYTES) // count
    for number in range(count):
        folder = root / "skills" / names[number % PACKAGES]
        name = (
            ("SKILL.md", "LICENSE")[number // PACKAGES] if number < 2 * PACKAGES else f"part-{number % 9}/{number}.md"
        )
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(chance.randbytes(size))
    write_suite(root / "suite", suite(suite_case(skills=names, criteria=[criterion()])))
    prepare(root / "suite" / "suite.json", root / "skills", root / "freeze")
    return root / "freeze"


def rows() -> list[tuple[str, float | None, str, str]]:
    """Return one row a measurement: name, measured, required, detail."""
    name = "evidence: verifying 32 MiB in 2,048 files, of sha256sum"
    program = shutil.which("sha256sum")
    if program is None:
        return [(name, None, "<= 2", "not measured: there is no sha256sum")]
    with tempfile.TemporaryDirectory() as folder:
        freeze = make(Path(folder))
        files = sorted(str(path) for path in freeze.rglob("*") if path.is_file() and path.name != "manifest.json")
        time.sleep(2.5)  # a freeze that was not made this very moment, as they are
        took = best(
            {
                "ours": python("-m", "pytest_skillbench", "evidence", "compare", "--benchmark", str(freeze), "--json"),
                "sums": [program, "--", *files],
            },
            rounds=9,
            cwd=Path(folder),
            allowed=OK,
        )
    detail = f"whole commands: {took['ours'] * 1000:.0f} ms against {took['sums'] * 1000:.0f} ms, {len(files):,} files"
    return [(name, took["ours"] / took["sums"], "<= 2", detail)]
