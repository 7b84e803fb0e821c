"""What reading a client's transcripts gives, the same for every host.

Gather: made by the host modules; read by the command line, the audit and the state machine. Frozen data, no I/O.
"""

from __future__ import annotations

from ..model import Request, Value


class ToolCall(Value, frozen=True, kw_only=True):
    """One tool call of a transcript: the tool's name, the call's id ("" where none), its input as JSON text."""

    name: str
    id: str
    input: bytes


class Transcript(Value, frozen=True, kw_only=True):
    """One transcript file: what it cost and what it says.

    `requests` are de-duplicated within the file, in order of first appearance; `dates` holds the day of each
    (``2026-11-30``; None: unknown). `turns`: responses that call a tool. `complete` False: every sum is a lower bound,
    and `notes` say why. `description` is the label that the parent gave the subagent, `prompt` the start of the first
    user text. `final_text`: text blocks of the last assistant message, None where it has none; `failed`: that message
    is the client's own (an API error), not a model's; `limit`: the sentence that says a usage limit was reached.
    `settled`: the file ends as a finished conversation does. `calls` is filled only when asked for. Times are as the
    client wrote them.
    """

    path: str
    host: str
    session: str | None = None
    agent: str | None = None
    version: str | None = None
    cwd: str | None = None
    description: str | None = None
    prompt: str | None = None
    model: str | None = None
    first_at: str | None = None
    last_at: str | None = None
    requests: tuple[Request, ...] = ()
    dates: tuple[str | None, ...] = ()
    turns: int = 0
    api_calls: int = 0
    tool_calls: dict[str, int]
    calls: tuple[ToolCall, ...] = ()
    final_text: str | None = None
    failed: bool = False
    limit: str | None = None
    settled: bool = False
    complete: bool
    notes: tuple[str, ...]


class Reading(Value, frozen=True, kw_only=True):
    """Several transcripts read together. The sums are de-duplicated across all of them, not the sum of the files'."""

    transcripts: tuple[Transcript, ...]
    requests: tuple[Request, ...]
    dates: tuple[str | None, ...]
    turns: int
    api_calls: int
    complete: bool
    notes: tuple[str, ...]
