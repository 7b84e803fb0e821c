"""Claude Code: which files are its transcripts, and what one says.

Gather: the host that `hosts` registers as ``claude-code``. Lines come from `claude_lines`, sums from `claude_ledger`.
Where the client keeps its files, and what its lines mean, is HOSTS section 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from ..text import one_line
from ..usage import main_model
from .claude_ledger import Account, Ledger, Tools
from .claude_lines import batches, heads
from .claude_shapes import Head, Line
from .claude_story import Story, text
from .claude_tolerant import valid
from .jsonl import BROKEN, Faults, first_lines
from .limits import usage_limit
from .records import Reading, Transcript

NAME = "claude-code"
_CUT_OFF = re.compile(r"cut off mid-?\s?stream", re.IGNORECASE)
_EMBEDDING = ("agent_progress", "skill_progress")  # the second: a skill that runs in a subagent of its own
_NOT_TRANSCRIPTS = ("journal.jsonl", "history.jsonl")
_OWN_KEYS = ("sessionId", "uuid", "parentUuid", "isSidechain", "leafUuid", "messageId")
_TORN = re.compile(rb'\{".*"(?:parentUuid|isSidechain)":', re.DOTALL)
_SNIFFED = 500  # lines
_OWN_NAME = re.compile(r"agent-[\w.-]+\.jsonl|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl")


class _Sniffed(msgspec.Struct):
    """The keys by which a line of this client is told from another's."""

    type: str | None = None
    sessionId: object = None  # noqa: N815 - the client's spelling, here and below
    uuid: object = None
    parentUuid: object = None  # noqa: N815
    isSidechain: object = None  # noqa: N815
    leafUuid: object = None  # noqa: N815
    messageId: object = None  # noqa: N815
    message: object = None
    payload: object = None


def finds(path: Path) -> bool:
    """Return whether a file, found in a folder, may be a transcript by its name."""
    return path.suffix == ".jsonl" and path.name not in _NOT_TRANSCRIPTS


def reads(path: Path) -> bool:
    """Return whether the file's first lines are this client's. Raises OSError.

    A file without any readable line is taken by its name, or by the keys in what is left of a torn line.
    """
    readable = torn = 0
    for raw in first_lines(path, _SNIFFED):
        try:
            line = msgspec.json.decode(raw, type=_Sniffed)
        except BROKEN:
            torn += _TORN.match(raw) is not None
            continue
        readable += 1
        if line.payload is None and line.type is not None:
            answered = line.type in ("user", "assistant") and isinstance(line.message, dict)
            if answered or any(getattr(line, key) is not None for key in _OWN_KEYS):
                return True
    if readable or torn:
        return not readable
    return _OWN_NAME.fullmatch(path.name) is not None


def read(paths: Iterable[Path], *, calls: bool = False) -> Reading:
    """Read transcripts, each by itself and all together.

    `paths` are files, each once. `calls`: keep every tool call with its input, for the audit; memory grows with them.
    A file that can't be read is a transcript with nothing in it, incomplete, with the reason as its note.
    """
    transcripts: list[Transcript] = []
    total = Ledger()
    for path in paths:
        reader = _Reader(path, calls=calls)
        account = reader.ledger.account()
        transcripts.append(reader.transcript(account))
        total.merge(reader.ledger)
    if len(transcripts) != 1:  # the account of a single file is the total's
        account = total.account()
    return Reading(
        transcripts=tuple(transcripts),
        requests=account.requests,
        dates=account.dates,
        turns=account.turns,
        api_calls=account.api_calls,
        complete=not account.notes,
        notes=account.notes,
    )


class _Reader:
    """Reads one file: what it costs goes to its ledger, what it says to its story."""

    def __init__(self, path: Path, *, calls: bool) -> None:
        self.path = path
        self.name = one_line(path.name)  # in notes, which are written into run records: no folder of the machine's
        self.ledger = Ledger()
        self._embedded = Ledger()  # what progress lines carry: a copy of what is elsewhere, or all there is
        self._tools = Tools([] if calls else None)
        self._story = Story()
        self._head = Head()
        faults = Faults()
        empty = True
        try:
            for lines in batches(path, faults):
                empty = empty and not lines
                for line in self.ledger.count(lines, self._tools):
                    self._other(line)
                self._story.follow(lines)
            self._head = heads(path)
        except OSError as error:
            self.ledger.unreadable.append(f"{self.name} can't be read: {error.strerror or error}")
        # What should be in an empty file is not known.
        self.ledger.asked = self._story.asked or (empty and faults.first is None and not self.ledger.unreadable)
        self.ledger.merge(self._embedded)
        self.ledger.take(faults, self.name)

    def _other(self, line: Line) -> None:
        """Take a line that is neither a response's nor a plain user's. Types that are not known are none of ours."""
        if line.type == "progress":
            if line.data is not None and line.data.type in _EMBEDDING and line.data.message is not None:
                self._inside(line.data.message, line)
        elif line.type == "user":
            if _CUT_OFF.search(text(line.message)):
                self.ledger.cut.add(self._event(line))
        elif line.type == "system":
            if line.subtype == "compact_boundary":
                self.ledger.compacted.add(self._event(line))
        elif line.type == "assistant":
            self.ledger.without_message += 1
        elif line.type is None and line.message is not None and line.message.usage is not None:
            line.type = "assistant"  # a gateway's
            self.ledger.count([line], self._tools)

    def _inside(self, inner: Line, outer: Line) -> None:
        """Count a subagent's line that stands in a progress line of its parent."""
        inner.sessionId = inner.sessionId or outer.sessionId
        inner.timestamp = inner.timestamp or outer.timestamp
        for line in self._embedded.count([inner], self._tools):
            if line.type in ("user", "assistant"):
                self._other(line)

    def _event(self, line: Line) -> str:
        """Return a name for what a line says happened: its uuid, which is the same in every copy of the line."""
        return line.uuid or f"{self.name} {len(self.ledger.cut) + len(self.ledger.compacted)}"

    def transcript(self, account: Account) -> Transcript:
        """Return the file's record. `account`: what its ledger comes to."""
        story = self._story
        final = story.final_text()
        return Transcript(
            path=str(self.path),
            host=NAME,
            session=self._head.sessionId,
            agent=self._head.agentId,
            version=self._head.version,
            cwd=self._head.cwd,
            description=_description(self.path),
            prompt=story.prompt,
            model=main_model(account.requests),
            first_at=story.first_at,
            last_at=story.last_at,
            requests=account.requests,
            dates=account.dates,
            turns=account.turns,
            api_calls=account.api_calls,
            tool_calls=self._tools.counts(),
            calls=tuple(self._tools.calls or ()),
            final_text=final,
            failed=story.failed,
            limit=usage_limit(final) if final is not None else None,
            settled=story.settled(self.ledger, self._tools),
            complete=not account.notes,
            notes=account.notes,
        )


def _description(path: Path) -> str | None:
    """Return the subagent's label, which the client writes beside its transcript; None where it does not."""
    beside = path.with_name(f"{path.stem}.meta.json")
    try:
        found = json.loads(beside.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None  # most transcripts have none, and the label stands in the prompt as well
    label = found.get("description") if isinstance(found, dict) else None
    return valid(label) if isinstance(label, str) else None
