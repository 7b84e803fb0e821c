"""How many tokens the scripted model says a response took: made up, plausible, and the same at every remake.

They follow from the lengths of the texts that a conversation really holds, as the client sent them, and from a hash of
what is played. Random names have fixed lengths and the lab's own folder is left out, so nothing of a machine counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple


class Kind(NamedTuple):
    """What a kind of conversation begins with (its instructions and tools), and how much it thinks, in tokens."""

    base: int
    thought: tuple[int, int]


ARM = Kind(6180, (14, 190))
JUDGE = Kind(3118, (180, 720))
ORCHESTRATOR = Kind(15210, (10, 60))


def number(key: str, low: int, high: int) -> int:
    """Return a whole number in low..high that depends on `key` alone."""
    return low + int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % (high - low + 1)


def pick(options: Sequence[str], key: str) -> str:
    """Return one of the texts, always the same one for a key."""
    return options[number(key, 0, len(options) - 1)]


def tokens(text: str) -> int:
    """Return about how many tokens a text is."""
    return max(1, round(len(text) / 3.6))


def usage(
    kind: Kind,
    key: str,
    messages: Sequence[dict[str, Any]],
    answer: Iterable[dict[str, Any]],
    clean: Callable[[str], str],
) -> dict[str, int]:
    """Return the usage of the response `answer` to `messages`: what is new is written to the cache, the rest read.

    `key` is what is played, ``<case>.<trial>.<arm>``; `clean` removes what differs between machines from a text. Where
    a conversation has no files to work on (`key` ends in ``#``), its first write goes to the one-hour cache.
    """
    turns: list[int] = []  # tokens that were new at each turn
    new = 0
    for message in messages:
        if message["role"] == "assistant":
            turns.append(new)
            new = _written(kind, key, len(turns) - 1, message["content"], clean)
        else:
            new += _read(message["content"], clean)
    at = len(turns)
    warm = number(f"{key} warm", 1, 8) > 1  # one in eight finds nothing of the instructions in the cache
    extra = number(f"{key} context", 380, 460)
    fresh = sum(turns) + (extra if at else 0)
    written = new + (0 if at else extra + (0 if warm else kind.base))
    hour = at == 0 and key.endswith("#")
    return {
        "input": number(f"{key} {at} input", 3, 9),
        "cache_write_5m": 0 if hour else written,
        "cache_write_1h": written if hour else 0,
        "cache_read": fresh + (kind.base if warm or at else 0),
        "output": _written(kind, key, at, answer, clean),
    }


def _written(kind: Kind, key: str, at: int, content: Any, clean: Callable[[str], str]) -> int:
    """Return the output tokens of a response: its texts and calls, and what the model thought before them."""
    thought = number(f"{key} {at} thought", *kind.thought)
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return thought + sum(
        tokens(block["text"]) if block["type"] == "text" else tokens(clean(json.dumps([block["name"], block["input"]])))
        for block in blocks
        if block["type"] in ("text", "tool_use")
    )


def _read(content: Any, clean: Callable[[str], str]) -> int:
    """Return the tokens of a user's message: what was said, and the results of tools."""
    if isinstance(content, str):
        # Blanks at its end go with the reminder that the client puts behind whichever result happens to be the last.
        return tokens(clean(content).strip())
    return sum(_read_block(block, clean) for block in content)


def _read_block(block: dict[str, Any], clean: Callable[[str], str]) -> int:
    if block["type"] == "tool_result":
        return 20 + _read(block.get("content") or "", clean)
    text = clean(block.get("text", "")).strip()
    return tokens(text) if text else 0
