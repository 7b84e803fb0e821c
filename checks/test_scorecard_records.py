"""``<skill>.scorecard/``: what the harness leaves is read back, and what it can't have left is not believed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_skillbench import project, tree
from pytest_skillbench.cli import main
from pytest_skillbench.errors import FormatError
from pytest_skillbench.scorecard import discover, observations
from pytest_skillbench.scorecard.records import TEXT_LIMIT, Observation, shortened

from .scorecards import observed, write_cases, write_run, write_skill


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return the folder of a recorded run."""
    write_skill(tmp_path)
    write_cases(tmp_path)
    return write_run(tmp_path)


def change(run: Path, name: str, **fields: Any) -> None:
    """Change fields of one observation on disk."""
    path = run / "observations" / f"{name}.1.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def test_what_is_written_is_read(run: Path) -> None:
    """A run is there whole, with its outputs."""
    found = observations.load(run, "r")
    assert found is not None
    assert (found.problems, found.unusable, len(found.observations)) == ((), {}, 6)
    assert found.output("cases--says-it", 1) == "What I found:\n\n- a Mistake in LINE 3\n"
    assert found.output("cases--says-it", 2) is None


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"run_id": "r2"}, 'belongs to run "r2"'),
        ({"trial": 2}, "says another case or trial than its file name"),
        ({"triggered": True, "probe": None}, "says what was triggered, but not how it was seen"),
        (
            {"triggered": False, "status": "timed-out"},
            "says that nothing was triggered, though its job ended as timed-out",
        ),
        ({"triggered": False, "status": "error"}, "though its job ended as error"),
        ({"output": {"sha256": "a" * 64, "bytes": 5}}, "has other bytes than were recorded"),
        ({"status": "fine"}, "Invalid enum value"),
        ({"verdict": "good"}, "unknown field"),
        ({"detail": "x" * 2001}, "length <= 2000"),
    ],
)
def test_an_observation_that_contradicts_itself_is_unusable(run: Path, fields: dict[str, Any], says: str) -> None:
    """It is named, with why, and the other jobs are read."""
    change(run, "cases--asks-for-it", **fields)
    found = observations.load(run, "r")
    assert found is not None
    assert len(found.observations) == 5
    assert says in found.unusable["cases--asks-for-it", 1]
    assert found.problems[0].path == "r/observations/cases--asks-for-it.1.json"


def test_files_that_are_missing_foreign_or_no_files(run: Path) -> None:
    """A lost output makes its job unusable; a file that nobody planned is told of and not counted."""
    (run / "outputs/cases--says-it.1.md").unlink()
    (run / "observations/cases--reads.1.json").unlink()
    (run / "observations/cases--reads.7.json").write_text("{}")
    (run / "observations/cases--nothing-there.1.json").write_text("{")
    found = observations.load(run, "r")
    assert found is not None
    assert sorted(found.observations) == [(f"cases--asks-{n}", 1) for n in ("again", "for-it", "for-tea")]
    assert "is missing" in found.unusable["cases--says-it", 1]
    assert [p.severity for p in found.problems if p.path.endswith("reads.7.json")] == ["warning"]
    assert found.output("cases--says-it", 1) is None


def test_a_run_without_a_plan(tmp_path: Path) -> None:
    """No folder and an empty one are no run; a folder with anything but a plan is an error, as is a plan twice over."""
    assert observations.load(tmp_path / "none", "r") is None
    (tmp_path / "r").mkdir()
    assert observations.load(tmp_path / "r", "r") is None
    (tmp_path / "r/observations").mkdir()
    with pytest.raises(FormatError, match=r"r/plan.json: no plan.json in the scorecard run"):
        observations.load(tmp_path / "r", "r")
    (tmp_path / "file").write_text("")
    with pytest.raises(FormatError, match="not a folder"):
        observations.load(tmp_path / "file", "r")


def test_a_plan_with_a_case_twice(run: Path) -> None:
    """Two cases with one id would be one file."""
    plan = json.loads((run / "plan.json").read_text())
    plan["cases"].append(plan["cases"][0])
    (run / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(FormatError, match='two cases with the id "cases--asks-for-it"'):
        observations.load(run, "r")


def test_the_writer_refuses_another_output(tmp_path: Path) -> None:
    """An observation never names bytes that are not there."""
    write_skill(tmp_path)
    write_cases(tmp_path)
    (case, *_) = discover.discover(tree.discover(project.find(tmp_path))).cases["reviewing"]
    made, _ = observed(case, 1, "+")
    with pytest.raises(ValueError, match="not the one that the observation names"):
        observations.write_observation(tmp_path, made, b"something else")
    with pytest.raises(ValueError, match="not the one that the observation names"):
        observations.write_observation(tmp_path, msgspec.structs.replace(made, output=None), b"x")
    assert observations.reference(b"x").sha256 == hashlib.sha256(b"x").hexdigest()


def test_texts_are_cut_with_a_mark() -> None:
    """What a record may hold is exactly what `shortened` gives."""
    assert shortened("x" * TEXT_LIMIT) == "x" * TEXT_LIMIT
    assert len(shortened("x" * (TEXT_LIMIT + 1))) == TEXT_LIMIT
    assert shortened("x" * (TEXT_LIMIT + 1)).endswith("x…")


@pytest.mark.parametrize("name", ["scorecard-plan", "scorecard-observation"])
def test_the_formats_have_schemas(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Programs that record runs of their own are told what the files hold."""
    assert main(["schema", name]) == 0
    assert "$defs" in json.loads(capsys.readouterr().out)


def test_an_observation_is_closed() -> None:
    """Nothing may be left out of a record: what is not known is said to be null."""
    assert all(field.required for field in msgspec.structs.fields(Observation))
