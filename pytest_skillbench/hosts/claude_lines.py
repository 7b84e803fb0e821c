"""The lines of a Claude Code transcript as typed records: fast where they are as expected, tolerant where they are not.

Gather: between `jsonl` (bytes) and `claude_ledger` (counting). Every line is parsed whole, so that a torn one is
noticed wherever the tear is; only the parts that matter are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Raw

from . import jsonl
from .claude_shapes import Head, Line
from .claude_tolerant import loads, tolerant, valid
from .jsonl import BROKEN, Faults, first_lines

_LINE = msgspec.json.Decoder(Line)
_HEAD = msgspec.json.Decoder(Head)
_HEADS = 100  # lines, of which each one of a conversation says session, agent, version and folder


def batches(path: Path, faults: Faults) -> Iterator[list[Line]]:
    """Yield the file's lines in order, some at a time; what is not readable is counted in `faults`. Raises OSError."""
    return jsonl.batches(path, _LINE.decode, tolerant, faults)


def text_of(raw: Raw) -> str:
    """Return a block's text, "" where it is none; what is not valid Unicode becomes U+FFFD."""
    try:
        return msgspec.json.decode(raw, type=str)
    except BROKEN:
        found = loads(bytes(raw))
        return valid(found) if isinstance(found, str) else ""


def heads(path: Path) -> Head:
    """Return session, agent, version and cwd from the first lines that say them. Raises OSError."""
    found = Head()
    for raw in first_lines(path, _HEADS):
        try:
            head = _HEAD.decode(raw)
        except BROKEN:
            continue
        for name in Head.__struct_fields__:
            if getattr(found, name) is None:
                setattr(found, name, getattr(head, name))
        if found.version is not None and found.cwd is not None and found.sessionId is not None:
            break
    return found
