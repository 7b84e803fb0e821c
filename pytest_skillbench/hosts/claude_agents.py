"""Claude Code: find the subagents of a run's jobs by their labels, and say what each of them did.

Gather: the `Observer` of this client. A label stands in the subagent's description (``agent-*.meta.json``) and in its
prompt; which session started it does not matter, so that a run goes on in a new one.
"""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from ..observed import Observed, ToolUse
from . import claude_code
from .records import ToolCall, Transcript

_LABEL = re.compile(r"\[skillbench job ([0-9a-z.]+)\]|^([0-9a-f]{6}\.[0-9a-f]{8})$")
#: What the client answers, in place of the tool, to a call that its permissions did not let run.
_REFUSED = re.compile(r"requested permissions? to|[Pp]ermission to use .* (?:has been )?denied|requires approval")


class ClaudeCode:
    """Looks through the client's ``projects`` folder."""

    def __init__(self, config: Path) -> None:
        self.projects = config / "projects"

    @classmethod
    def here(cls) -> ClaudeCode:
        """Return the observer of this user's client: ``$CLAUDE_CONFIG_DIR``, else ``~/.claude``."""
        return cls(Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude"))

    def observe(self, labels: Iterable[str], since: str) -> Mapping[str, tuple[Observed, ...]]:
        """Return what is there of each label, earliest first. See `Observer`."""
        wanted = set(labels)
        oldest = datetime.fromisoformat(since).timestamp() - 60  # clocks of file systems may lag a little
        found: dict[str, list[tuple[str, Observed]]] = defaultdict(list)
        for path in sorted(self.projects.glob("*/*/subagents/**/agent-*.jsonl")):
            try:
                modified = path.stat().st_mtime
            except FileNotFoundError:
                continue  # the client tidies up while we look
            if modified < oldest:
                continue
            label = _label_of(path)
            if label is None or label not in wanted:
                continue
            transcript = claude_code.read([path], calls=True).transcripts[0]
            found[label].append((transcript.first_at or "", observed(transcript, time.time() - modified)))
        return {label: tuple(seen for _, seen in sorted(many, key=lambda one: one[0])) for label, many in found.items()}


def _label_of(path: Path) -> str | None:
    """Return the job label of a subagent, from its description or the first line of its transcript."""
    beside = path.with_name(f"{path.stem}.meta.json")
    try:
        description = msgspec.json.decode(beside.read_bytes(), type=dict[str, object]).get("description")
    except (OSError, msgspec.DecodeError):
        description = None  # older clients write none
    if isinstance(description, str) and (match := _LABEL.search(description.strip())):
        return match[1] or match[2]
    try:
        with path.open("rb") as file:
            first = file.readline(1 << 20).decode("utf-8", "replace")
    except OSError:
        return None
    match = _LABEL.search(first)
    return match[1] if match else None


def observed(transcript: Transcript, idle: float) -> Observed:
    """Return what a transcript says as an observation; `idle`: seconds since it was last written."""
    errors = _errors(transcript.path)
    answered = transcript.final_text is not None and not transcript.failed
    failed = None if answered else (transcript.final_text or "no final message") if transcript.settled else None
    return Observed(
        host=transcript.host,
        version=transcript.version,
        model=transcript.model,
        started_at=_utc(transcript.first_at),
        duration_ms=_between(transcript.first_at, transcript.last_at),
        settled=transcript.settled,
        failed=failed,
        limit=transcript.limit,
        final_text=transcript.final_text or "",
        requests=transcript.requests,
        usage_complete=transcript.complete,
        usage_notes=transcript.notes,
        turns=transcript.turns,
        tools=transcript.tool_calls,
        uses=tuple(_use(call, errors) for call in transcript.calls),
        session=transcript.session,
        idle_seconds=idle,
    )


def _errors(path: str) -> dict[str, str]:
    """Return what the client answered to each tool call that ended in an error, by the call's id."""
    found: dict[str, str] = {}
    with open(path, "rb") as file:
        for raw in file:
            if b'"is_error"' not in raw:
                continue
            try:
                content = msgspec.json.decode(raw, type=_Line).message.content
            except msgspec.DecodeError:
                continue  # torn, or not a tool's answer: the call then counts as having run
            for block in content:
                if block.type == "tool_result" and block.is_error and block.tool_use_id is not None:
                    found[block.tool_use_id] = bytes(block.content).decode("utf-8", "replace")
    return found


class _Answer(msgspec.Struct):
    type: str | None = None
    tool_use_id: str | None = None
    is_error: bool = False
    content: msgspec.Raw = msgspec.Raw(b"")


class _Message(msgspec.Struct):
    content: list[_Answer] = []


class _Line(msgspec.Struct):
    message: _Message


def _use(call: ToolCall, errors: Mapping[str, str]) -> ToolUse:
    try:
        given = msgspec.json.decode(call.input, type=dict[str, object])
    except msgspec.DecodeError:
        given = {"input": call.input.decode("utf-8", "replace")}  # the audit still searches it for paths
    error = errors.get(call.id)
    refused = error is not None and _REFUSED.search(error) is not None
    return ToolUse(name=call.name, input=given, error=error is not None, refused=refused)


def _time(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC) if text else None
    except ValueError:
        return None


def _utc(text: str | None) -> str | None:
    found = _time(text)
    return f"{found:%Y-%m-%dT%H:%M:%SZ}" if found else None


def _between(first: str | None, last: str | None) -> int | None:
    start, end = _time(first), _time(last)
    return max(0, round((end - start).total_seconds() * 1000)) if start and end else None
