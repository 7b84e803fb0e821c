"""Small suites, freezes and runs on disk, for the tests of evidence.

What is built is right in every respect; a test then breaks one thing. The dicts are those of the files, so that a test
can write what the program itself never would.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_skillbench.evidence.freeze import prepare
from pytest_skillbench.evidence.records import Imported, Prepared
from pytest_skillbench.evidence.runs import import_run

Json = dict[str, Any]
ARTIFACTS = {"answer.md": b"An answer.\n", "workspace/.git/HEAD": b"ref: refs/heads/main\n"}
PROMPT = "Say what is wrong with the file — briefly.\n"


def criterion(name: str = "names-it", *, critical: bool = True) -> Json:
    """Return a criterion of a suite."""
    return {"id": name, "critical": critical, "description": "Names the mistake."}


def suite_case(name: str = "null-check", **changes: Any) -> Json:
    """Return a case of a suite: one fixture in two places, one critical criterion and one other, two attempts."""
    return {
        "id": name,
        "phase": "final-acceptance",
        "class": "functional",
        "prompt": f"{name}.md",
        "fixtures": [{"path": "data/file.py", "target": "src/file.py"}, {"path": "data/file.py", "target": "copy.py"}],
        "skills": ["code-review"],
        "criteria": [criterion(), criterion("stays-brief", critical=False)],
        "limits": {"attempts": 2, "seconds": 60},
    } | changes


def suite(*cases: Json, **changes: Any) -> Json:
    """Return a suite of these cases, or of one."""
    found: Json = {
        "schema_version": 1,
        "id": "reviews",
        "description": "Reviews of small files, naïve ones too.",
        "cases": list(cases) or [suite_case()],
    }
    return found | changes


def write_suite(folder: Path, value: Json) -> Path:
    """Write a suite and the files that it names beside it; return suite.json."""
    folder.mkdir(parents=True, exist_ok=True)
    for case in value["cases"]:
        (folder / case["prompt"]).write_text(PROMPT, encoding="utf-8")
        for fixture in case["fixtures"]:
            (folder / fixture["path"]).parent.mkdir(parents=True, exist_ok=True)
            (folder / fixture["path"]).write_text("print(None.x)\n")
    (folder / "suite.json").write_text(json.dumps(value), encoding="utf-8")
    return folder / "suite.json"


def write_package(root: Path, name: str = "code-review", **files: str) -> Path:
    """Write a package below `root`: SKILL.md, LICENSE, a reference, and `files`."""
    folder = root / name
    (folder / "references").mkdir(parents=True, exist_ok=True)
    content = {"SKILL.md": f"---\nname: {name}\n---\nRead.\n", "LICENSE": "MIT\n", "references/a note.md": "Note.\n"}
    for path, text in (content | files).items():
        (folder / path).write_text(text)
    return folder


def freeze(root: Path, value: Json | None = None, name: str = "freeze") -> Prepared:
    """Write sources below `root` and freeze them at ``root/name``."""
    value = value or suite()
    for skill in {skill for case in value["cases"] for skill in case["skills"]}:
        write_package(root / "skills", skill)
    return prepare(write_suite(root / "suite", value), root / "skills", root / name)


def result(name: str = "names-it", verdict: str = "pass", evidence: Sequence[str] = ("answer.md",)) -> Json:
    """Return how a run was graded by one criterion."""
    return {"id": name, "verdict": verdict, "reason": "It does.", "evidence": list(evidence)}


def run(digest: str, variant: str = "baseline", attempt: int = 1, **changes: Any) -> Json:
    """Return a run.json of the first case of `suite`, with both artifacts."""
    return {
        "schema_version": 1,
        "id": f"run-{variant}-{attempt}",
        "benchmark_sha256": digest,
        "case_id": "null-check",
        "variant": variant,
        "attempt": attempt,
        "execution": execution(),
        "metrics": {"wall_time_ms": 59_000, "input_tokens": 1_200, "output_tokens": None},
        "artifacts": artifacts(ARTIFACTS),
        "criteria": [result(), result("stays-brief", "fail", ())],
        "limitations": ["One reader graded it."],
    } | changes


def execution(**changes: Any) -> Json:
    """Return a run's execution, that of an agent."""
    return {
        "kind": "agent",
        "status": "executed",
        "executor": "a client, headless",
        "model": "a-model-1",
        "environment": "a container",
        "settings": "high effort",
        "fresh_context": True,
    } | changes


def artifacts(files: Mapping[str, bytes]) -> list[Json]:
    """Return the inventory of artifacts."""
    return [
        {"path": path, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for path, data in files.items()
    ]


def write_artifacts(folder: Path, files: Mapping[str, bytes] | None = None) -> Path:
    """Write artifacts below `folder` and return it."""
    for path, data in (ARTIFACTS if files is None else files).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_run(root: Path, value: Json) -> Path:
    """Write a run.json below `root` and return it."""
    path = root / f"{value['id']}.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def imported(root: Path, value: Json, name: str = "freeze") -> Imported:
    """Import a run, whose artifacts are those of `ARTIFACTS`, into ``root/name``."""
    return import_run(root / name, write_run(root, value), write_artifacts(root / "artifacts"))


def state(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return everything below `root`: the mode of each folder and file, and a file's bytes."""
    return {
        str(path.relative_to(root)): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(root.rglob("*"))
    }
