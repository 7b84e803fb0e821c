"""Claude Code: find the subagents of a run's jobs by their labels, and say what each of them did.

Gather: the `Observer` of this client. A label stands in the subagent's description (``agent-*.meta.json``) and in its
prompt; which session started it does not matter, so that a run goes on in a new one.
"""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
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

    sees_running = True

    def __init__(self, config: Path) -> None:
        self.projects = config / "projects"

    @classmethod
    def here(cls) -> ClaudeCode:
        """Return the observer of this user's client: ``$CLAUDE_CONFIG_DIR``, else ``~/.claude``."""
        return cls(Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude"))

    def observe(self, labels: Iterable[str], since: str) -> Mapping[str, tuple[Observed, ...]]:
        """Return what is there of each label, earliest first. See `Observer`."""
        found: dict[str, list[tuple[str, Observed]]] = defaultdict(list)
        for label, path, modified in self.transcripts(labels, since):
            transcript = claude_code.read([path], calls=True).transcripts[0]
            found[label].append((transcript.first_at or "", observed(transcript, time.time() - modified)))
        return {label: tuple(seen for _, seen in sorted(many, key=lambda one: one[0])) for label, many in found.items()}

    def transcripts(self, labels: Iterable[str], since: str) -> Iterator[tuple[str, Path, float]]:
        """Yield each transcript of these labels that was written after `since` (UTC text), with when it was."""
        wanted = set(labels)
        oldest = datetime.fromisoformat(since).timestamp() - 60  # clocks of file systems may lag a little
        for path in sorted(self.projects.glob("*/*/subagents/**/agent-*.jsonl")):
            try:
                modified = path.stat().st_mtime
            except FileNotFoundError:
                continue  # the client tidies up while we look
            if modified < oldest:
                continue
            label = _label_of(path)
            if label is not None and label in wanted:
                yield label, path, modified


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
    aside = _aside(transcript.path)
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
        uses=tuple(_use(call, aside.errors) for call in transcript.calls),
        listed=tuple(aside.listed) if aside.listed is not None else None,
        refused=aside.refused,
        session=transcript.session,
        idle_seconds=idle,
    )


class _Aside(msgspec.Struct):
    """What a transcript says beside what `claude_code` reads.

    `errors`: what the client answered to each tool call that ended in an error, by the call's id. `listed`: the skills
    that it offered, None where it said nothing of any. `refused`: the last message is one that was declined.
    """

    errors: dict[str, str] = {}
    listed: dict[str, None] | None = None
    refused: bool = False


def _aside(path: str) -> _Aside:
    found = _Aside()
    with open(path, "rb") as file:
        for raw in file:
            if not (
                b'"is_error"' in raw
                or b'"skill_listing"' in raw
                or b'"refusal"' in raw
                or (found.refused and b'"assistant"' in raw)
            ):
                continue
            try:
                line = msgspec.json.decode(raw, type=_Line)
            except msgspec.DecodeError:
                continue  # torn, or of another kind: a call then counts as having run, and nothing as listed
            _take(line, found)
    return found


def _take(line: _Line, found: _Aside) -> None:
    content = line.message.content if line.message is not None else ()
    for block in content if isinstance(content, list) else ():
        if block.type == "tool_result" and block.is_error and block.tool_use_id is not None:
            found.errors[block.tool_use_id] = bytes(block.content).decode("utf-8", "replace")
    if line.type == "assistant" and line.message is not None:
        found.refused = line.message.stop_reason == "refusal"
    if line.type == "attachment" and line.attachment is not None and line.attachment.type == "skill_listing":
        found.listed = (found.listed or {}) | dict.fromkeys(_names(line.attachment))


def _names(listing: _Attachment) -> list[str]:
    """Return the names in a listing; older clients write them only into its text, as ``- name: description``."""
    if listing.names is not None:
        return listing.names
    return re.findall(r"^- ([^\s:]+(?::[^\s:]+)*)(?=: |:?$)", listing.content or "", re.MULTILINE)


class _Answer(msgspec.Struct):
    type: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None
    content: msgspec.Raw = msgspec.Raw(b"")


class _Message(msgspec.Struct):
    content: list[_Answer] | str | None = None
    stop_reason: str | None = None


class _Attachment(msgspec.Struct):
    type: str | None = None
    names: list[str] | None = None
    content: str | None = None


class _Line(msgspec.Struct):
    type: str | None = None
    message: _Message | None = None
    attachment: _Attachment | None = None


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
