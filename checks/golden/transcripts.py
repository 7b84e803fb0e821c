"""The client's transcripts of a recorded run -> what of them is kept: the conversations themselves.

Of every file the lines of users, assistants and the system stay. Left out is what the client notes down besides: every
request as it was sent, its own instructions, reminders, the machine. A line whose parent is left out gets that one's
nearest kept parent. ``toolUseResult``, which only the main conversation has and which repeats the results, is left out
but for a subagent's usage there: that must not be counted, so it is worth having.
"""

from __future__ import annotations

import json
from typing import Any

_KEPT = ("user", "assistant", "system")
_OF_AGENTS = ("agentId", "status", "totalTokens", "usage")


def conversation(text: str) -> str:
    """Return a transcript's text with the lines that are kept, in their order, byte for byte where nothing changes."""
    lines = [(line, json.loads(line)) for line in text.split("\n") if line]
    parents = {found["uuid"]: found.get("parentUuid") for _, found in lines if "uuid" in found}
    kept = {found["uuid"] for _, found in lines if found.get("type") in _KEPT}
    made = []
    for line, found in lines:
        if found.get("type") in _KEPT:
            parent = found["parentUuid"]
            while parent is not None and parent not in kept:
                parent = parents[parent]
            made.append(_changed(line, found, parent))
    return "".join(f"{line}\n" for line in made)


def _changed(line: str, found: dict[str, Any], parent: str | None) -> str:
    if parent == found["parentUuid"] and "toolUseResult" not in found:
        return line
    made = {**found, "parentUuid": parent}
    result = made.pop("toolUseResult", None)
    if isinstance(result, dict) and "agentId" in result:
        made["toolUseResult"] = {key: result[key] for key in _OF_AGENTS if key in result}
    return json.dumps(made, ensure_ascii=False, separators=(",", ":"))
