"""How fast and how lean reading transcripts is, side by side with a bare decoder and with ccusage.

``rows()`` measures, ``main()`` prints. All contenders read the same generated file, each time in a fresh process,
in turns, and the best of several turns counts for each: whatever else the machine does meets all of them alike.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

MEGABYTES = int(os.environ.get("SKILLBENCH_BENCH_MEGABYTES", "500"))
TURNS = 5
CCUSAGE = "20.0.24"  # the newest whose native package is complete
ROOT = Path(__file__).parents[2]

# What every reader must at least do: find each line, parse it, and keep the few fields that are counted.
BARE = """
import sys, time
import msgspec
class Usage(msgspec.Struct):
    input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    output_tokens: int = 0
class Message(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
class Line(msgspec.Struct):
    type: str
    message: Message | None = None
decode = msgspec.json.Decoder(Line).decode
start = time.perf_counter()
with open(sys.argv[1], "rb") as file:
    for line in file:
        decode(line)
print(time.perf_counter() - start, 0)
"""
OURS = """
import resource, sys, time
from pathlib import Path
from pytest_skillbench.hosts import claude_code
start = time.perf_counter()
reading = claude_code.read([Path(sys.argv[1])])
seconds = time.perf_counter() - start
assert reading.api_calls > 1000 and reading.complete, reading.notes
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(seconds, peak if sys.platform == "darwin" else peak * 1024)
"""
COMMAND = """
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(seconds, peak if sys.platform == "darwin" else peak * 1024)
"""


def lines(size: int, seed: int = 7) -> Iterator[bytes]:
    """Yield the lines of a long session, about `size` bytes in all, shaped and sized as real ones are."""
    chance = random.Random(seed)
    words = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz_ABC0123456789(){}'/.:", k=chance.randint(2, 11)))
        for _ in range(4000)
    ]
    pool = " ".join(chance.choices(words, k=60_000)).replace(" x", '\n\t"x"') + " — ünïcode ✓ \u2028"
    session = "5d0c7c1e-0b1d-4c55-9a55-9b3f6c0d2f10"
    written = number = cached = 0

    def text(median: int) -> str:
        length = min(int(chance.lognormvariate(0, 1) * median), 120_000)
        start = chance.randrange(len(pool) - min(length, len(pool) - 1))
        return pool[start : start + length]

    def line(kind: str, **rest: object) -> bytes:
        nonlocal number
        number += 1
        value = {
            "parentUuid": f"{number - 1:08x}-1111-4222-8333-444455556666",
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/someone/projects/something",
            "sessionId": session,
            "version": "2.1.332",
            "gitBranch": "main",
            "type": kind,
            **rest,
            "uuid": f"{number:08x}-1111-4222-8333-444455556666",
            "timestamp": f"2026-11-{1 + number % 28:02d}T10:{number // 60 % 60:02d}:{number % 60:02d}.123Z",
        }
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    yield line("user", message={"role": "user", "content": text(500)})
    while written < size:
        made: list[bytes] = []
        first = number
        tool = f"toolu_01{first:020d}"
        usage = {
            "input_tokens": chance.randint(1, 9),
            "cache_creation_input_tokens": chance.randint(100, 6000),
            "cache_read_input_tokens": (cached := (cached + 900) % 160_000),
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens": chance.randint(20, 2000),
            "service_tier": "standard",
            "inference_geo": "not_available",
        }
        content = [
            {"type": "tool_use", "id": tool, "name": "Bash", "input": {"command": text(200), "description": text(40)}}
        ]
        if chance.random() < 0.5:
            content.insert(0, {"type": "text", "text": text(250)})
        if chance.random() < 0.4:
            content.insert(0, {"type": "thinking", "thinking": text(300), "signature": text(400)})
        for block in content:
            message = {
                "model": "claude-opus-5-5",
                "id": f"msg_01{first:022d}",
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": "tool_use",
                "stop_sequence": None,
                "usage": usage,
            }
            made.append(line("assistant", message=message, requestId=f"req_{number:024d}"))
        result = text(1500)
        if chance.random() < 0.3:
            progress = {
                "type": "hook_progress",
                "hookEvent": "PostToolUse",
                "hookName": "PostToolUse:Bash",
                "command": "callback",
            }
            made.append(line("progress", data=progress, toolUseID=tool, parentToolUseID=tool))
        answer = {
            "role": "user",
            "content": [{"tool_use_id": tool, "type": "tool_result", "content": result, "is_error": False}],
        }
        made.append(line("user", message=answer, toolUseResult={"stdout": result, "stderr": "", "interrupted": False}))
        if chance.random() < 0.05:
            made.append(
                line("file-history-snapshot", messageId=tool, snapshot={"trackedFileBackups": {}, "text": text(900)})
            )
        for each in made:
            written += len(each)
            yield each


def _timed(script: str, *arguments: str, where: Path | None = None) -> tuple[float, int]:
    """Run a script that prints seconds and bytes, in a process of its own. `where`: the client's folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)} | ({"CLAUDE_CONFIG_DIR": str(where)} if where else {})
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment)
    seconds, peak = done.stdout.split()
    return float(seconds), int(peak)


def _ccusage(folder: Path) -> list[str] | None:
    """Install ccusage and return its command, None where there is no npm or nothing to be had from it."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    install = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", f"ccusage@{CCUSAGE}"]
    if subprocess.run(install, capture_output=True, check=False).returncode:
        return None
    return [str(folder / "node_modules" / ".bin" / "ccusage"), "claude", "daily", "--offline", "--json"]


def rows() -> list[tuple[str, float | None, str, str]]:
    """Measure. Each row: what, the measured figure (None: not measured), what is required, the figures behind it.

    Speeds are ratios of throughput, of the same file in the same minute; memory is the peak of the whole process.
    """
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        path = home / "config" / "projects" / "p" / "5d0c7c1e-0b1d-4c55-9a55-9b3f6c0d2f10.jsonl"
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            file.writelines(lines(MEGABYTES * 1_000_000))
        size = path.stat().st_size / 1e6
        command = _ccusage(home / "ccusage")
        bare: list[float] = []
        ours: list[float] = []
        theirs: list[tuple[float, float]] = []
        peak = 0
        for _ in range(TURNS):
            bare.append(_timed(BARE, str(path))[0])
            seconds, used = _timed(OURS, str(path))
            ours.append(seconds)
            peak = max(peak, used)
            if command is not None:
                whole = _timed(COMMAND, sys.executable, "-m", "pytest_skillbench", "usage", str(path.parent), "--json")[
                    0
                ]
                them = _timed(COMMAND, *command, where=home / "config")[0]
                theirs.append((them, whole))
    mine = min(ours)
    detail = f"{size / mine:,.0f} MB/s against {size / min(bare):,.0f} MB/s, {size:,.0f} MB"
    found: list[tuple[str, float | None, str, str]] = [
        ("transcripts: bare typed decode", min(bare) / mine, ">= 0.8", detail)
    ]
    name = f"transcripts: throughput, of ccusage {CCUSAGE}"
    if theirs:
        them, us = min(t for t, _ in theirs), min(u for _, u in theirs)
        found.append((name, them / us, ">= 1.3", f"whole commands: {us:.2f} s against {them:.2f} s"))
    else:
        found.append((name, None, ">= 1.3", "not measured: npm absent, or it could not install ccusage"))
    found.append(("transcripts: peak memory in MB", peak / 1e6, "<= 80", f"the whole process, {size:,.0f} MB file"))
    return found


def main() -> None:
    """Print the rows."""
    for name, measured, required, detail in rows():
        figure = "-" if measured is None else f"{measured:.2f}"
        print(f"{name:58} {figure:>8} {required:>8}   {detail}")


if __name__ == "__main__":
    main()
