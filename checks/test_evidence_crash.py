"""A process that is killed, or whose disk is full, at any moment: the state before or the state after, no third one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


def rounds(action: str, way: str, folder: Path) -> list[dict[str, Any]]:
    """Return what was left each time; the last round is the one that nothing stopped."""
    command = [sys.executable, "-W", "error", "-m", "checks.stopping", action, way, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found[-1] | {"call": ""} == found[-1]
    assert found[-1]["state"] == "after"
    return found


@pytest.mark.parametrize("action", ["prepare", "import"])
def test_a_kill_at_every_call(tmp_path: Path, action: str) -> None:
    """Killed before every call that changes a disk, half through every write: a freeze is there whole or not at all.

    What was not yet whole lies beside, is read by nobody, is in nobody's way, and is gone after the next time.
    """
    found = rounds(action, "kill", tmp_path)
    assert {one["code"] for one in found[:-1]} == {77}
    assert {one["state"] for one in found} == {"before", "after"}
    stopped = [one["call"] for one in found[:-1]]
    assert {"open", "write", "fsync", "mkdir", "renameat2"} <= set(stopped)
    placed = stopped.index("renameat2")
    assert [one["state"] for one in found] == ["before"] * (placed + 1) + ["after"] * (len(found) - placed - 1)
    assert {one["again"] for one in found if one["state"] == "before"} == {"after"}
    if action == "import":
        assert [one["runs"] for one in found] == [{"before": 1, "after": 2}[one["state"]] for one in found]
    purpose = {"prepare": ".freeze.prepare-", "import": ".freeze.import-"}[action]
    assert all(name.startswith(purpose) for one in found for name in one["beside"])
    assert found[-1]["beside"] == []


@pytest.mark.parametrize("action", ["prepare", "import"])
def test_a_full_disk_at_every_call(tmp_path: Path, action: str) -> None:
    """A call that fails is an error, after which nothing of it is left, not even beside."""
    found = rounds(action, "full", tmp_path)
    stopped = [one for one in found[:-1] if one["code"]]
    assert {one["code"] for one in stopped} == {2}
    assert {"open", "write", "fsync", "mkdir", "renameat2"} <= {one["call"] for one in stopped}
    assert {one["state"] for one in stopped} <= {"before", "after"}
    assert all(one["state"] == "before" for one in stopped if one["call"] != "fsync")
    assert {one["again"] for one in found if one["state"] == "before"} == {"after"}
    assert all(one["beside"] == [] for one in found)
