"""The history file: one line a run, capped, and nothing lost that is not ours to lose."""

from __future__ import annotations

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillbench.formats import decode
from pytest_skillbench.history import CAP, read, record
from pytest_skillbench.model import HistoryLine

from .test_formats import LINE


def line(run_id: str, net: int = 3) -> HistoryLine:
    """Return a valid history line of a run."""
    found = decode(json.dumps({**LINE, "run_id": run_id}).encode(), HistoryLine, "x")
    return msgspec.structs.replace(found, efficacy=msgspec.structs.replace(found.efficacy, net=net))


def runs(data: bytes) -> list[str]:
    """Return the ids of the readable runs of a file."""
    return [found.run_id for found in read(data, "x").lines]


def test_a_run_scored_again_replaces_its_line() -> None:
    """One line a run_id: scoring again changes it in place and never makes a second point in the ribbon."""
    data = b""
    for run_id in ("a", "b", "c"):
        data = record(data, line(run_id), "x")
    again = record(data, line("b", net=-1), "x")
    assert runs(again) == ["a", "b", "c"]
    assert read(again, "x").lines[1].efficacy.net == -1
    assert record(again, line("b", net=-1), "x") == again


def test_the_oldest_runs_are_trimmed() -> None:
    """At most CAP runs stay, the newest ones."""
    data = b""
    for number in range(CAP + 7):
        data = record(data, line(f"r{number}"), "x")
    assert runs(data) == [f"r{number}" for number in range(7, CAP + 7)]


def test_a_torn_or_foreign_line_is_kept_and_told() -> None:
    """A line that can't be read never breaks a run, is named with its number, and stays in the file as it was."""
    torn = b'{"schema_version":1,"run_id":"to'
    data = record(b'{"schema_version": 2}\n\n' + torn, line("a"), "x")
    assert data.startswith(b'{"schema_version": 2}\n\n' + torn + b"\n")
    found = read(data, "h.jsonl")
    assert [item.run_id for item in found.lines] == ["a"]
    assert [problem.line for problem in found.problems] == [1, 3]
    assert all(problem.severity == "warning" for problem in found.problems)


def test_windows_line_ends_are_no_second_history() -> None:
    """A file that an editor rewrote with CRLF still reads as the same runs."""
    data = record(record(b"", line("a"), "x"), line("b"), "x")
    assert runs(data.replace(b"\n", b"\r\n")) == ["a", "b"]


def test_the_ribbon_ends_at_the_run_that_is_shown() -> None:
    """Scoring an old record again shows the history as it was up to that run."""
    data = b"".join(record(b"", line(run_id), "x") for run_id in ("a", "b", "c"))
    assert [item.run_id for item in read(data, "x").until("b")] == ["a", "b"]
    assert [item.run_id for item in read(data, "x").until("gone")] == ["a", "b", "c"]


@given(st.lists(st.binary(max_size=60), max_size=8), st.sampled_from(["a", "b"]))
def test_recording_loses_nothing(junk: list[bytes], run_id: str) -> None:
    """Whatever was in the file, every line of it is still there afterwards, and the run is read back."""
    before = b"\n".join(junk)
    after = record(before, line(run_id), "x")
    assert after.startswith(before)
    assert read(after, "x").lines[-1].run_id == run_id
    assert record(after, line(run_id), "x") == after
