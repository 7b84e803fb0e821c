"""The lines of a Claude Code transcript as typed records: fast where they are as expected, tolerant where they are not.

Gather: between `jsonl` (bytes) and `claude_ledger` (counting). Every line is parsed whole, so that a torn one is
noticed wherever the tear is; only the parts that matter are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Raw

from .claude_shapes import Head, Line
from .claude_tolerant import loads, tolerant, valid
from .jsonl import first_lines, runs

_LINES = msgspec.json.Decoder(Line)
_HEAD = msgspec.json.Decoder(Head)
_HEADS = 100  # lines, of which each one of a conversation says session, agent, version and folder
_BROKEN = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)  # a ValidationError is a DecodeError


class Faults:
    """What could not be read, counted while `batches` runs; `first` is the 1-based number of the first such line."""

    def __init__(self) -> None:
        self.malformed = 0
        self.overlong = 0
        self.first: int | None = None

    def note(self, number: int, *, overlong: bool = False) -> None:
        """Count one line."""
        if overlong:
            self.overlong += 1
        else:
            self.malformed += 1
        if self.first is None:
            self.first = number


def batches(path: Path, faults: Faults) -> Iterator[list[Line]]:
    """Yield the file's lines in order, some at a time; what is not readable is counted in `faults`. Raises OSError."""
    number = 0
    for run in runs(path):
        if run is None:
            number += 1
            faults.note(number, overlong=True)
            continue
        if count := run.whole_lines():
            try:
                lines = _LINES.decode_lines(run.view)
            except _BROKEN:
                lines = []
            if len(lines) == count:
                number += count
                yield lines
                continue
        block = bytes(run)
        yield list(_one_by_one(block, number, faults))
        number += block.count(b"\n")


def _one_by_one(block: bytes, number: int, faults: Faults) -> Iterator[Line]:
    for raw in block.split(b"\n"):
        number += 1
        if not raw or raw.isspace():
            continue
        try:
            yield _LINES.decode(raw)
        except _BROKEN:
            lines, whole = tolerant(raw)
            if not whole:
                faults.note(number)
            yield from lines


def text_of(raw: Raw) -> str:
    """Return a block's text, "" where it is none; what is not valid Unicode becomes U+FFFD."""
    try:
        return msgspec.json.decode(raw, type=str)
    except _BROKEN:
        found = loads(bytes(raw))
        return valid(found) if isinstance(found, str) else ""


def heads(path: Path) -> Head:
    """Return session, agent, version and cwd from the first lines that say them. Raises OSError."""
    found = Head()
    for raw in first_lines(path, _HEADS):
        try:
            head = _HEAD.decode(raw)
        except _BROKEN:
            continue
        for name in Head.__struct_fields__:
            if getattr(found, name) is None:
                setattr(found, name, getattr(head, name))
        if found.version is not None and found.cwd is not None and found.sessionId is not None:
            break
    return found
