"""Lines of Claude Code transcripts, for tests: made here, byte by byte, so that each test shows what is in its file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SHARED = Path(__file__).parents[2] / "shared" / "transcripts"


def usage(read: int = 100, write: int = 10, plain: int = 3, output: int = 50, **more: Any) -> dict[str, Any]:
    """Return a ``usage`` object."""
    return {
        "input_tokens": plain,
        "cache_creation_input_tokens": write,
        "cache_read_input_tokens": read,
        "output_tokens": output,
        **more,
    }


def answer(id_: str | None = "msg_a", *, stop: str | None = "end_turn", **more: Any) -> dict[str, Any]:
    """Return an assistant line; `more` goes into the message, but for keys that a line has of its own."""
    line = {key: more.pop(key) for key in list(more) if key in LINE_KEYS}
    message = {
        "id": id_,
        "model": "claude-opus-5",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "done"}],
        "stop_reason": stop,
        "usage": usage(),
        **more,
    }
    return {"type": "assistant", "sessionId": "s1", "timestamp": "2026-11-01T10:00:00.000Z", **line, "message": message}


LINE_KEYS = ("sessionId", "timestamp", "uuid", "isSidechain", "requestId", "version", "cwd", "agentId")


def prompt(text: Any = "go", **more: Any) -> dict[str, Any]:
    """Return a user line."""
    return {"type": "user", "sessionId": "s1", "message": {"role": "user", "content": text}, **more}


def inside(line: dict[str, Any], kind: str = "agent_progress") -> dict[str, Any]:
    """Return a progress line that carries a subagent's line."""
    return {"type": "progress", "sessionId": "s1", "data": {"type": kind, "agentId": "a1", "message": line}}


def tool(id_: str = "toolu_1", name: str = "Bash", **given: Any) -> dict[str, Any]:
    """Return a tool_use block."""
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def write(path: Path, *lines: dict[str, Any] | bytes, end: bytes = b"\n") -> Path:
    """Write a file of JSON lines; bytes are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + end for line in lines))
    return path


def sums(requests: Iterable[Any]) -> tuple[int, int, int, int]:
    """Return input, cache creation, cache read and output."""
    found = list(requests)
    return (
        sum(r.input for r in found),
        sum(r.cache_write_5m + r.cache_write_1h for r in found),
        sum(r.cache_read for r in found),
        sum(r.output for r in found),
    )
