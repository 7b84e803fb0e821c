"""The parts of a Claude Code transcript's line that matter, as typed records.

Gather: decoded by `claude_lines`, made from plain objects by `claude_tolerant`, counted by `claude_ledger`. Everything
is optional: what a line lacks, or says in another way, is for the reader to notice. Fields stand in the order in which
the client writes them, which is how the decoder looks for them first.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

# A figure that is not a whole number. Like any negative one, `claude_ledger` counts it as 0 and says so.
UNREADABLE = -1


class CacheParts(msgspec.Struct, gc=False):
    """``usage.cache_creation``: the cache writes by how long they live."""

    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class Figures(msgspec.Struct, gc=False):
    """The token figures that ``usage`` and an entry of its ``iterations`` have in common."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: CacheParts | None = None
    output_tokens: int | None = None
    speed: str | None = None


class Iteration(Figures, gc=False):
    """One entry of ``usage.iterations``: ``message`` (part of the usage itself) or another model call."""

    type: str | None = None
    model: str | None = None


class Usage(Figures, gc=False):
    """``message.usage``."""

    iterations: list[Iteration] | None = None


class Block(msgspec.Struct, gc=False):
    """One content block; its text and input stay unparsed until somebody asks."""

    type: str | None = None
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None
    text: Raw = Raw()
    input: Raw = Raw()


class Message(msgspec.Struct, gc=False):
    """The API's message, as far as it counts; in a ledger, the response that all its lines tell of.

    The last three are not the client's: the ledger notes in them the day of the response, whether it calls a tool, and
    whether it is a nameless one that was met before.
    """

    model: str | None = None
    id: str | None = None
    content: list[Block] | str | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    day: str | None = msgspec.field(default=None, name="skillbench:day")
    tools: bool = msgspec.field(default=False, name="skillbench:tools")
    repeated: bool = msgspec.field(default=False, name="skillbench:repeated")


class Progress(msgspec.Struct, gc=False):
    """``data`` of a ``progress`` line: it may carry a line of a subagent, embedded in its parent's file."""

    type: str | None = None
    message: Line | None = None


class Line(msgspec.Struct, gc=False):
    """One line of the file."""

    isSidechain: bool | None = None  # noqa: N815 - the client's spelling, here and below
    message: Message | None = None
    type: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    sessionId: str | None = None  # noqa: N815
    isMeta: bool | None = None  # noqa: N815
    subtype: str | None = None
    data: Progress | None = None


class Head(msgspec.Struct, gc=False):
    """What is the same on every line of a file and need be read only once."""

    sessionId: str | None = None  # noqa: N815
    agentId: str | None = None  # noqa: N815
    version: str | None = None
    cwd: str | None = None
