"""Events of skill quality for the tests: complete, valid, and easy to bend."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import uuid
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from pytest_skillbench.cli import main

PERIOD = ("--collection", "demo", "--from", "2026-09-01T00:00:00.000Z", "--until", "2026-10-01T00:00:00.000Z")
CONTROLLED = {
    "expected_pairs": 1,
    "imported_runs": 2,
    "missing_runs": 0,
    "paired_cases": 1,
    "declared_agent_pairs": 1,
    "declared_controlled_agent_pairs": 1,
    "fixture_runs": 0,
    "manual_runs": 0,
    "unexecuted_runs": 0,
    "critical_failures": 0,
    "treatment_critical_failures": 0,
    "comparison_status": "complete",
    "selected_cases": [{"case_id": "one", "phase": "tuning", "attempts": 1, "joint_workflow": False}],
    "treatment": {
        "expected": 1,
        "executed": 1,
        "blocked": 0,
        "not_run": 0,
        "missing": 0,
        "passed": 1,
        "failed": 0,
        "unresolved": 0,
    },
}


def event(at: str = "2026-09-19T12:00:00.000Z", **payload: Any) -> dict[str, Any]:
    """Return a passed official validation with new ids, as parsed JSON; `payload` replaces fields of its payload."""
    return {
        "schema_version": 2,
        "event_type": "skill.quality.recorded",
        "event_id": str(uuid.uuid4()),
        "correlation_id": str(uuid.uuid4()),
        "occurred_at": at,
        "source_host": "manual",
        "source_adapter": "example",
        "session": None,
        "payload": {
            "collection": "demo",
            "skill": "example-skill",
            "source": {
                "repository": "https://example.org/skills",
                "source_ref": "main",
                "resolved_git_sha": "a" * 40,
                "package_path": "skills/example-skill",
                "package_sha256": "b" * 64,
            },
            "kind": "official_validation",
            "method": {"name": "skills-ref", "version": "0.1.0", "revision": None, "source_sha256": None},
            "result": "pass",
            "coverage": {
                "selected_packages": 1,
                "executed": 1,
                "blocked": 0,
                "not_run": 0,
                "passed": 1,
                "failed": 0,
            },
            "artifacts": [{"locator": "observations/result.json", "sha256": "c" * 64, "scope": "official_result"}],
            "limitations": [],
            **payload,
        },
    }


def behavioral(coverage: dict[str, Any] | None = None, **payload: Any) -> dict[str, Any]:
    """Return a complete, passed behavioural evaluation of one pair; `coverage` replaces fields of its coverage.

    A `treatment` in `coverage` replaces fields of the treatment's.
    """
    given = dict(coverage or {})
    treatment = {**CONTROLLED["treatment"], **given.pop("treatment", {})}  # type: ignore[dict-item] # it is a dict
    counts = {**CONTROLLED, **given, "treatment": treatment}
    return event(**{"kind": "behavioral_evaluation", "coverage": counts, **payload})


def write(path: Path, value: object) -> Path:
    """Write `value` as indented JSON; return the path."""
    path.write_text(json.dumps(value, indent=2) + "\n")
    return path


def quality(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run ``skillbench quality`` in this process, which is faster; the result is as that of `process`."""
    command = ["quality", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    kept, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(command)
    except SystemExit as left:
        code = int(left.code or 0)
    finally:
        sys.stdin = kept
    return subprocess.CompletedProcess(command, code, out.getvalue().encode(), err.getvalue().encode())


def process(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run ``skillbench quality`` in a process of its own."""
    command = [sys.executable, "-m", "pytest_skillbench", "quality", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False)
