"""A conversation as Claude Code writes it down, line by line. Second stop of `make`.

Nothing here is recorded from a client. The shape is a client's (one line a content block, the same `message.id` and
growing usage over the lines of one response, `toolUseResult` with a usage that must not be counted); texts come from the
sources, token counts from the lengths of what is sent and received, ids and times from a hash of the job's label.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

VERSION = "2.1.332"
CWD = "/home/dev/courier"
ARM_MODEL = "claude-sonnet-4-5-20250929"
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def number(key: str, low: int, high: int) -> int:
    """Return a whole number in low..high that depends on `key` alone."""
    return low + int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % (high - low + 1)


def name(key: str, length: int = 22) -> str:
    """Return an identifier that depends on `key` alone."""
    value = int.from_bytes(hashlib.sha256(key.encode()).digest(), "big")
    letters = []
    for _ in range(length):
        value, digit = divmod(value, len(_ALPHABET))
        letters.append(_ALPHABET[digit])
    return "".join(letters)


def tokens(text: str) -> int:
    """Return about how many tokens a text is."""
    return max(1, round(len(text) / 3.6))


def uuid(key: str) -> str:
    """Return a version-4 UUID that depends on `key` alone."""
    h = hashlib.sha256(key.encode()).hexdigest()
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:32]}"


@dataclass(frozen=True)
class Tool:
    """A tool call and what came back."""

    name: str
    input: dict[str, object]
    result: str
    extra: dict[str, object] | None = None  # toolUseResult, where the client writes one


@dataclass(frozen=True)
class Said:
    """One response of the model: text, then tool calls, both optional."""

    text: str
    tools: tuple[Tool, ...] = ()


@dataclass
class Talk:
    """A conversation that is being written down, and the usage of its responses."""

    key: str
    session: str
    model: str
    at: datetime
    agent: str | None = None
    long_cache: bool = False
    base: int = 6180
    lines: list[str] = field(default_factory=list)
    requests: list[dict[str, object]] = field(default_factory=list)
    turns: int = 0
    tool_calls: dict[str, int] = field(default_factory=dict)
    _parent: str | None = None
    _cached: int = 0
    _new: int = 0

    def start(self, prompt: str) -> None:
        """Write the first line: what the conversation was asked."""
        self._line({"type": "user", "message": {"role": "user", "content": prompt}})
        warm = number(f"{self.key} warm", 1, 8) > 1
        self._cached = self.base if warm else 0
        self._new = tokens(prompt) + number(f"{self.key} context", 380, 460) + (0 if warm else self.base)

    def respond(self, said: Said) -> None:
        """Write one response, a line for each of its blocks, and a line for each tool result."""
        at = len(self.requests)
        blocks: list[dict[str, object]] = [{"type": "text", "text": said.text}] if said.text else []
        for index, tool in enumerate(said.tools):
            call = f"toolu_01{name(f'{self.key} {at} {index}')}"
            blocks.append({"type": "tool_use", "id": call, "name": tool.name, "input": tool.input})
        written = sum(tokens(json.dumps(block)) for block in blocks) + number(f"{self.key} {at} thought", 14, 190)
        usage = self._usage(at)
        message = f"msg_01{name(f'{self.key} {at} message')}"
        self.at += timedelta(milliseconds=700 + 13 * written + number(f"{self.key} {at} wait", 0, 1400))
        for index, block in enumerate(blocks):
            last = index == len(blocks) - 1
            self._assistant(message, block, usage, at, output=written if last else 1 + index * 3, last=last)
        self._results(said.tools, blocks)
        self.requests.append({"id": message, "model": self.model, **usage, "output": written, "speed": "standard"})
        if said.tools:
            self.turns += 1
        for tool in said.tools:
            self.tool_calls[tool.name] = self.tool_calls.get(tool.name, 0) + 1
        self._cached += self._new
        self._new = written + sum(tokens(tool.result) + 20 for tool in said.tools)

    def _usage(self, at: int) -> dict[str, int]:
        """Return the four input-side components of this response; the first one may go to the one-hour cache."""
        hour = self.long_cache and at == 0
        return {
            "input": number(f"{self.key} {at} input", 3, 9),
            "cache_write_5m": 0 if hour else self._new,
            "cache_write_1h": self._new if hour else 0,
            "cache_read": self._cached,
        }

    def _assistant(
        self, message: str, block: dict[str, object], usage: dict[str, int], at: int, *, output: int, last: bool
    ) -> None:
        stop = ("tool_use" if block["type"] == "tool_use" else "end_turn") if last else None
        written = usage["cache_write_5m"] + usage["cache_write_1h"]
        content = {
            "model": self.model,
            "id": message,
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {
                "input_tokens": usage["input"],
                "cache_creation_input_tokens": written,
                "cache_read_input_tokens": usage["cache_read"],
                "cache_creation": {
                    "ephemeral_5m_input_tokens": usage["cache_write_5m"],
                    "ephemeral_1h_input_tokens": usage["cache_write_1h"],
                },
                "output_tokens": output,
                "service_tier": "standard",
            },
        }
        self._line({"type": "assistant", "message": content, "requestId": f"req_01{name(f'{self.key} {at} request')}"})

    def _results(self, tools: Sequence[Tool], blocks: Sequence[dict[str, object]]) -> None:
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        for tool, call in zip(tools, calls, strict=True):
            self.at += timedelta(milliseconds=number(f"{self.key} {call}", 9, 140))
            content = [{"tool_use_id": call, "type": "tool_result", "content": tool.result}]
            line: dict[str, object] = {"type": "user", "message": {"role": "user", "content": content}}
            self._line(line if tool.extra is None else {**line, "toolUseResult": tool.extra})

    def _line(self, content: dict[str, object]) -> None:
        own = uuid(f"{self.key} line {len(self.lines)}")
        agent: dict[str, object] = {"isSidechain": self.agent is not None}
        if self.agent is not None:
            agent["agentId"] = self.agent
        frame = {
            "uuid": own,
            "timestamp": stamp(self.at),
            "userType": "external",
            "cwd": CWD,
            "sessionId": self.session,
            "version": VERSION,
            "gitBranch": "shorter-entries",
        }
        line = {"parentUuid": self._parent, **agent, **content, **frame}
        self.lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
        self._parent = own


def stamp(at: datetime) -> str:
    """Return a time as transcripts write it, to the millisecond."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def numbered(text: str) -> str:
    """Return a file as the Read tool shows it."""
    return "\n".join(f"{at:>6}\t{line}" for at, line in enumerate(text.rstrip("\n").split("\n"), 1))
