"""``skillbench usage``: the JSON shape, the table, and what it says about files that it can't count."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_skillbench.cli import main
from pytest_skillbench.prices import bundled

from .transcripts import answer, prompt, tool, usage, write

SUMS = ["input", "cache_write_5m", "cache_write_1h", "cache_read", "output", "turns", "api_calls", "complete", "notes"]
SUMS += ["cost_equivalent_tokens", "cost_usd"]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Write a session with a subagent, two resumed responses and a dated model; return the projects folder."""
    folder = tmp_path / "projects"
    write(
        folder / "p" / "s1.jsonl",
        prompt(),
        answer("msg_a", content=[tool()]),
        answer("msg_b", usage=usage(output=1000)),
    )
    write(
        folder / "p" / "s1" / "subagents" / "agent-a1.jsonl",
        prompt(),
        answer("msg_a"),
        answer("msg_c", model="claude-haiku-4-5-20251001"),
    )
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the command in this process; return exit code, stdout, stderr."""
    code = main(["usage", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def report(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """Run the command with ``--json``; it must succeed without a word on stderr."""
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def test_the_json_has_exactly_the_documented_shape(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Other programs read it: keys, their order, per-file sums, and a total that counts the shared response once."""
    found = report(capsys, session)
    assert list(found) == ["schema_version", "files", "total", "price_table"]
    assert (found["schema_version"], found["price_table"]) == (1, bundled().date)
    assert [list(file) for file in found["files"]] == [["path", "host", "model", *SUMS]] * 2
    assert list(found["total"]) == SUMS
    main_file, agent = found["files"]
    assert main_file["path"] == str(session / "p" / "s1.jsonl")
    assert (main_file["host"], main_file["model"]) == ("claude-code", "claude-opus-5")
    assert (main_file["output"], agent["output"], found["total"]["output"]) == (1050, 100, 1100)
    assert (main_file["turns"], main_file["api_calls"], found["total"]["api_calls"]) == (1, 2, 3)
    assert found["total"]["complete"] is True
    assert found["total"]["notes"] == []
    opus, haiku = (3 * 5 + 10 * 6.25 + 100 * 0.5), (3 * 1 + 10 * 1.25 + 100 * 0.1)
    assert main_file["cost_usd"] == pytest.approx((2 * opus + 1050 * 25) / 1e6, rel=1e-12)
    assert found["total"]["cost_usd"] == pytest.approx((2 * opus + 1050 * 25 + haiku + 50 * 5) / 1e6, rel=1e-12)
    assert main_file["cost_equivalent_tokens"] == pytest.approx((2 * opus + 1050 * 25) / 5, rel=1e-12)


def test_the_total_of_one_file_is_the_file(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file given alone, or twice, or through a link is one file, and its subagents are not silently part of it."""
    path = session / "p" / "s1.jsonl"
    link = session / "again.jsonl"
    link.symlink_to(path)
    code, out, err = run(capsys, path, path, link, "--json")
    found = json.loads(out)
    assert (code, len(found["files"])) == (0, 1)
    assert {key: found["files"][0][key] for key in SUMS} == found["total"]
    code, out, err = run(capsys, path)
    assert (code, err.count("1 transcript of its subagents")) == (0, 1)


def test_the_table_marks_what_is_not_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Aligned columns, thousands separators, ≥ with its reason below, "unpriced" and never $0."""
    write(tmp_path / "a.jsonl", answer(stop=None, usage=usage(read=1_234_567)))
    write(tmp_path / "b.jsonl", answer("msg_b", model="house-model"))
    code, out, err = run(capsys, tmp_path)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    header, first, second, total = lines[0], lines[2], lines[3], lines[5]
    assert header.split()[:1] == ["input"]
    assert "≥1,234,567" in first
    assert "≥$0.6186" in first
    assert "unpriced" in second
    assert "≥" not in second
    assert "~" in second
    assert "unpriced" in total
    assert "$0 " not in out
    assert first.index("claude-opus-5") == second.index("house-model") == header.index("model")
    assert first.index("≥1,234,567") + len("≥1,234,567") == header.index("cache read") + len("cache read")
    assert "1 of 1 responses end with a null stop_reason" in out
    assert "1 / 1.25 / 2 / 0.1 / 5" in out
    assert f"Prices of {bundled().date}." in out


def test_a_file_that_no_host_reads_is_reported_and_never_zero_and_complete(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another client's session in the folder may have cost anything: the total says that it is not all."""
    write(session / "rollout.jsonl", {"type": "session_meta", "payload": {"id": "x"}})
    found = report(capsys, session)
    (unknown,) = [file for file in found["files"] if file["host"] is None]
    assert (unknown["complete"], unknown["notes"], unknown["cost_usd"]) == (False, ["no host reads this file"], None)
    assert (found["total"]["complete"], found["total"]["output"]) == (False, 1100)
    assert found["total"]["notes"] == ["rollout.jsonl: no host reads this file"]
    code, out, err = run(capsys, session / "rollout.jsonl")
    assert (code, out) == (2, "")
    assert "no host reads this file" in err


def test_a_host_can_be_named(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--host`` reads whatever it is given as that client's; a slip is a suggestion."""
    odd = write(session / "odd.txt", {"type": "unheard-of"}, answer("msg_z"))
    assert report(capsys, odd, "--host", "claude-code")["total"]["output"] == 50
    code, _, err = run(capsys, odd, "--host", "claude-cod")
    assert (code, 'did you mean "claude-code"?' in err) == (2, True)


def test_prices_can_be_given(session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of the same shape as the built-in one; a broken one is an error with its place."""
    rates = {"input": 1, "cache_write_5m": 0, "cache_write_1h": 0, "cache_read": 0, "output": 0}
    mine = tmp_path / "mine.json"
    mine.write_text(
        json.dumps(
            {"schema_version": 1, "date": "2027-01-01", "models": {"claude-opus-5": [{"standard": {"rates": rates}}]}}
        )
    )
    found = report(capsys, session / "p" / "s1.jsonl", "--prices", mine)
    assert found["total"]["cost_usd"] == 6e-06
    assert found["price_table"] == f"{bundled().date}, amended 2027-01-01"
    mine.write_text("{}")
    code, _, err = run(capsys, session, "--prices", mine)
    assert (code, err.startswith(f"skillbench: error: {mine}")) == (2, True)
    assert run(capsys, session, "--prices", tmp_path / "none.json")[0] == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
def test_what_is_not_there_is_an_error_with_its_name(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Missing paths, empty folders and pipes: all of them named, exit 2, and no hang."""
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe.jsonl")
    code, out, err = run(capsys, session, tmp_path / "gone", tmp_path / "empty", tmp_path / "pipe.jsonl")
    assert (code, out) == (2, "")
    assert [line.rsplit(": ", 1)[1] for line in err.splitlines()] == [
        "no transcript in this folder", "no such file or folder", "neither a file nor a folder",
    ]  # fmt: skip


def test_a_link_that_leads_nowhere_is_said(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rest of the folder is counted, and the total is a lower bound."""
    (session / "lost.jsonl").symlink_to(session / "nowhere")
    found = report(capsys, session)
    assert (found["total"]["output"], found["total"]["complete"]) == (1100, False)
    assert found["total"]["notes"] == ["lost.jsonl: can't be read: No such file or directory"]


def test_hostile_names_reach_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file's and a model's name may hold anything."""
    write(tmp_path / "a\x1b[2Jb\n.jsonl", answer(model="m\x1b]0;x\x07\u202e" + "y" * 300, stop=None))
    code, out, _ = run(capsys, tmp_path)
    assert code == 0
    assert not set(out) & set("\x1b\x07\u202e\r")
    assert max(map(len, out.splitlines())) < 400
    assert report(capsys, tmp_path)["files"][0]["path"].endswith("a\x1b[2Jb\n.jsonl")


@pytest.mark.parametrize("encoding", ["ascii", "utf-8", "latin-1"])
def test_any_terminal_can_show_it(session: Path, encoding: str) -> None:
    """A terminal that has no ≥ and names that are not text make no traceback, in a process as users start it."""
    write(session / "p" / "é\u2713.jsonl", answer("msg_q", stop=None))
    (session / os.fsdecode(b"\xff.jsonl")).write_bytes(json.dumps(answer("msg_r")).encode() + b"\n")
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    for more in ([], ["--json"]):
        done = subprocess.run(
            [sys.executable, "-m", "pytest_skillbench", "usage", str(session), *more],
            capture_output=True,
            env=environment,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.strip()


def test_the_same_files_give_the_same_bytes(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Twice the same command, twice the same output."""
    assert run(capsys, session, "--json") == run(capsys, session, "--json")
    assert run(capsys, session) == run(capsys, session)
