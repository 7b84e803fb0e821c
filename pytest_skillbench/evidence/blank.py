"""A transcript without what was said in it: its lines, kinds, names and figures, and blanks for all text.

Core: bytes in, bytes out. What is kept is what the accounting needs, so that the blanked copy counts to the same tokens
as the original (a test compares); prompts, answers, files and paths are gone.
"""

from __future__ import annotations

import json

#: Keys whose text is the client's or the API's own: kinds, ids, times, names of models and tools.
_KEPT = frozenset(
    {
        "type", "subtype", "role", "model", "id", "uuid", "parentUuid", "sessionId", "agentId", "requestId",
        "timestamp", "version", "stop_reason", "name", "tool_use_id", "speed", "service_tier",
    }
)  # fmt: skip
#: Keys below which even the keys and the numbers are somebody's content.
_EMPTIED = frozenset({"input", "toolUseResult", "snapshot", "attachment"})
_BLANK = "(blanked)"


def blanked(transcript: bytes) -> bytes:
    """Return the transcript with every text in it blanked; a line that is not JSON becomes one that says so."""
    lines = [_line(raw) for raw in transcript.split(b"\n") if raw.strip()]
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def _line(raw: bytes) -> object:
    try:
        return _without_text(json.loads(raw), "")
    except (ValueError, RecursionError):
        return {"type": "unreadable", "bytes": len(raw)}


def _without_text(value: object, key: str) -> object:
    if key in _EMPTIED:
        return {} if isinstance(value, dict) else _BLANK
    if isinstance(value, str):
        return value if key in _KEPT else _BLANK
    if isinstance(value, list):
        return [_without_text(item, "") for item in value]
    if isinstance(value, dict):
        return {name: _without_text(item, name) for name, item in value.items()}
    return value
