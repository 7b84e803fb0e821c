"""Lines of a Claude Code transcript that are not as expected: read all the same, as far as they can be.

Gather: the slow path of `claude_lines`, for a line that its typed decoder refuses: other types in some field, lone
surrogates, bytes that are not UTF-8, the NUL bytes of a crash, several objects on one line, half a line.
"""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Raw

from .claude_shapes import UNREADABLE, Block, CacheParts, Iteration, Line, Message, Progress, Usage

NOT_JSON = object()  # what `loads` returns where there is nothing to return
_PYTHON = json.JSONDecoder(strict=False)
_START = re.compile(  # how a line of this client begins: where a line that was glued to a torn one may be found
    r'\{"(?:parentUuid|logicalParentUuid|type|isSidechain|sessionId|agentId|message|uuid|userType|cwd|timestamp|leafUuid)"'
)
_ATTEMPTS = 200  # of finding a glued line, so that a hostile one costs a bounded time


def loads(raw: bytes) -> object:
    """Parse with Python's parser, which takes lone surrogates and raw control characters; `NOT_JSON` where it can't."""
    try:
        return _PYTHON.decode(raw.decode("utf-8", "replace").strip("\0"))
    except (ValueError, RecursionError):
        return NOT_JSON


def tolerant(raw: bytes) -> tuple[list[Line], bool]:
    """Return the lines that can be read from one line of the file, and whether all of it could be read."""
    try:
        found = loads(raw)
        if isinstance(found, dict):
            return [line_of(found)], True
        return (_glued(raw.decode("utf-8", "replace")) if found is NOT_JSON else []), False
    except RecursionError:  # nested so deeply that it can be parsed but not written again
        return [], False


def _glued(text: str) -> list[Line]:
    """Return what follows a tear: a crash leaves half a line without a line break, and the next line is glued to it."""
    text = text.strip(" \t\r\0")
    for attempt, start in enumerate(_START.finditer(text)):
        if attempt == _ATTEMPTS:
            break
        at, found = start.start(), []
        try:
            while at < len(text):
                value, at = _PYTHON.raw_decode(text, at)
                if not isinstance(value, dict) or "type" not in value:
                    raise ValueError
                found.append(line_of(value))
                while at < len(text) and text[at].isspace():
                    at += 1
        except ValueError:
            continue  # a part of the torn line: the glued one begins further on
        return found
    return []


def text_or_none(value: object) -> str | None:
    """Return a string, made valid; None for anything else."""
    return valid(value) if isinstance(value, str) else None


def _true(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _figure(value: object) -> int | None:
    """Return a token figure; whole numbers spelled as floats or digits count (gateways write them)."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return UNREADABLE


def _figures(value: dict[str, Any]) -> dict[str, Any]:
    parts = value.get("cache_creation")
    found: dict[str, Any] = {
        name: _figure(value.get(name))
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    }
    if isinstance(parts, dict):
        found["cache_creation"] = CacheParts(
            _figure(parts.get("ephemeral_5m_input_tokens")), _figure(parts.get("ephemeral_1h_input_tokens"))
        )
    elif parts is not None:
        found["cache_creation"] = CacheParts(UNREADABLE)
    return found | {"speed": text_or_none(value.get("speed"))}


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    entries = value.get("iterations")
    iterations = [
        Iteration(**_figures(e), type=text_or_none(e.get("type")), model=text_or_none(e.get("model")))
        for e in (entries if isinstance(entries, list) else [])
        if isinstance(e, dict)
    ]
    return Usage(**_figures(value), iterations=iterations)


def _block(value: dict[str, Any]) -> Block:
    return Block(
        type=text_or_none(value.get("type")),
        id=text_or_none(value.get("id")),
        name=text_or_none(value.get("name")),
        tool_use_id=text_or_none(value.get("tool_use_id")),
        text=Raw(json.dumps(value.get("text")).encode()),
        input=Raw(json.dumps(value.get("input")).encode()),
    )


def _message(value: object) -> Message | None:
    if not isinstance(value, dict):
        return None
    content = value.get("content")
    if isinstance(content, list):
        content = [_block(b) for b in content if isinstance(b, dict)]
    return Message(
        id=text_or_none(value.get("id")),
        model=text_or_none(value.get("model")),
        usage=_usage(value.get("usage")),
        stop_reason=text_or_none(value.get("stop_reason")),
        content=valid(content) if isinstance(content, str) else content if isinstance(content, list) else None,
    )


def _progress(value: object) -> Progress | None:
    if not isinstance(value, dict):
        return None
    inner = value.get("message")
    return Progress(text_or_none(value.get("type")), line_of(inner) if isinstance(inner, dict) else None)


def line_of(value: dict[str, Any]) -> Line:
    """Return a line's record from its object, whatever is in it; what is of another type is left out."""
    return Line(
        type=text_or_none(value.get("type")),
        message=_message(value.get("message")),
        isMeta=_true(value.get("isMeta")),
        isSidechain=_true(value.get("isSidechain")),
        subtype=text_or_none(value.get("subtype")),
        sessionId=text_or_none(value.get("sessionId")),
        timestamp=text_or_none(value.get("timestamp")),
        uuid=text_or_none(value.get("uuid")),
        data=_progress(value.get("data")),
    )


def valid(text: str) -> str:
    """Return the text with every lone surrogate replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
