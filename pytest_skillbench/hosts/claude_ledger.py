"""Counting a Claude Code conversation exactly: each API response once, whatever the number of its lines and files.

Gather: fed with messages by `claude_code`, one ledger a file, merged into one over all files. The rules are those of
HOSTS section 1, "Counting, exactly". No total depends on the order of lines or files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from ..model import Request
from .claude_figures import cleaned, context, inner, raise_to, request, untyped
from .claude_shapes import Block, Line, Message, Usage
from .jsonl import Faults
from .records import ToolCall

SYNTHETIC = "<synthetic>"  # the client's own messages: no model answered, nothing is billed

Key: TypeAlias = str | tuple[str, str, int, int, int]


class Tools:
    """The tool calls of a file, each once, whatever the number of its copies.

    `names`: the tool of each call by the call's id. `calls` None: the calls' inputs are not kept.
    """

    def __init__(self, calls: list[ToolCall] | None) -> None:
        self.names: dict[str | None, str | None] = {}
        self.calls = calls

    def add(self, block: Block, response: Message) -> None:
        """Take a call that has no id, or whose input is kept. Without an id, two equal ones of a response are one."""
        key = block.id or f"{response.id}\0{block.name}\0{bytes(block.input).decode('utf-8', 'replace')}"
        if key not in self.names:
            self.names[key] = block.name
            if self.calls is not None:
                self.calls.append(ToolCall(name=block.name or "", id=block.id or "", input=bytes(block.input)))

    def counts(self) -> dict[str, int]:
        """Return the number of calls of each tool, by name."""
        return dict(sorted(Counter(name or "" for name in self.names.values()).items()))

    def structured(self, call: str | None) -> bool:
        """Return whether a call gave a structured output, which ends a conversation."""
        return self.names.get(call) == "StructuredOutput"


class Ledger:
    """All responses of a file, or of several, and why their sum may be too low.

    `responses` holds, of each, its first message, raised to what the others say; its `stop_reason` is the last line's.
    `cut` and `compacted` hold one name (a uuid) for each event, so that a history which was copied on resuming counts
    once. `asked`: something in the file lets expect an answer; without one, the sum over all files has a gap as well.
    """

    def __init__(self) -> None:
        self.responses: dict[Key | None, Message] = {}  # None is never a key, but asked for as one
        self.cut: set[str] = set()
        self.compacted: set[str] = set()
        self.malformed = 0
        self.overlong = 0
        self.first_bad: str | None = None
        self.without_message = 0
        self.unreadable: list[str] = []
        self.asked = False
        self.unanswered = 0
        self._strings: dict[str, str] = {}

    def count(self, lines: Iterable[Line], tools: Tools) -> list[Line]:
        """Count the responses' lines; return the lines that are neither a response's nor a plain user's.

        The one loop that touches every line, so it is written for speed: most lines only add a block to a response that
        is known, with the figures that are known.
        """
        known = self.responses.get
        names, kept = tools.names, tools.calls is not None
        others: list[Line] = []
        for line in lines:
            message = line.message
            if line.type != "assistant" or message is None:
                if line.type != "user" or line.isMeta:
                    others.append(line)
                continue
            found = known(message.id)
            if found is None or found.usage != message.usage or found.model != message.model:
                if message.model == SYNTHETIC:
                    continue
                found = self._take(message, line)
            found.stop_reason = message.stop_reason
            content = message.content
            if isinstance(content, list):
                for block in content:
                    if block.type == "tool_use":
                        found.tools = True
                        if kept or not block.id:
                            tools.add(block, found)
                        else:
                            names[block.id] = block.name
        return others

    def _take(self, message: Message, line: Line) -> Message:
        """Return a line's response with the line's figures taken."""
        name = message.id
        key = name if name is not None and name[:4] == "msg_" else key_of(message, line.sessionId)
        found = self.responses.get(key)
        if found is None:
            found = Message(self._once(message.model), name, None, None, message.usage, self._day(line.timestamp))
            self.responses[key] = found
            return found
        day = self._day(line.timestamp)
        if day is not None and (found.day is None or day < found.day):
            found.day = day
        found.repeated = not name
        if message.model is not None and message.model > (found.model or ""):
            found.model = self._once(message.model)
        if found.usage is None:
            found.usage = message.usage
        elif message.usage is not None:
            raise_to(found.usage, message.usage)
        return found

    def _once(self, text: str | None) -> str | None:
        """Return one string for all equal ones, so that not every response holds one of its own."""
        return None if text is None else self._strings.setdefault(text, text)

    def _day(self, timestamp: str | None) -> str | None:
        if timestamp is None:
            return None
        day = timestamp[:10]
        known = self._strings.get(day)
        return known or (self._once(day) if len(day) == 10 and day[4] == day[7] == "-" else None)

    def take(self, faults: Faults, path: str) -> None:
        """Take over what was not readable in a file."""
        self.malformed += faults.malformed
        self.overlong += faults.overlong
        if faults.first is not None:
            self.first_bad = f"{path}:{faults.first}"

    def merge(self, other: Ledger) -> None:
        """Join with another ledger, which may not be used afterwards: the two share their records."""
        self.unanswered += other.unanswered + other.silent
        if self.responses:
            for key, response in other.responses.items():
                mine = self.responses.setdefault(key, response)
                if mine is not response:
                    _merge(mine, response)
        else:
            self.responses = other.responses
        self.cut |= other.cut
        self.compacted |= other.compacted
        self.malformed += other.malformed
        self.overlong += other.overlong
        self.first_bad = self.first_bad or other.first_bad
        self.without_message += other.without_message
        self.unreadable += other.unreadable

    @property
    def silent(self) -> bool:
        """Return whether an answer was to be expected and none is there."""
        return self.asked and not self.responses

    def account(self) -> Account:
        """Return what all responses come to."""
        calls: list[Request] = []
        days: list[str | None] = []
        turns = 0
        doubts = Doubts()
        for response in self.responses.values():
            name, model, usage, day = response.id or "", response.model, response.usage or _NOTHING, response.day
            call = request(name, model, usage)
            good = call is not None
            if call is None:
                call = cleaned(name, model, usage)
            calls.append(call)
            days.append(day)
            if response.tools:
                turns += 1
            if response.stop_reason is None:
                doubts.open += 1
            if response.repeated:
                doubts.nameless += 1
            if not (call.output or call.input or call.cache_read or call.cache_write_5m or call.cache_write_1h):
                doubts.empty += 1
            if usage.iterations:
                for inside, fine in inner(name, model, usage):
                    calls.append(inside)
                    days.append(day)
                    good = good and fine
                doubts.untyped += untyped(usage)
            if not good:
                doubts.strange += 1
        notes = self._reasons(doubts)
        return Account(tuple(calls), tuple(days), turns, len(self.responses), notes)

    def _reasons(self, doubts: Doubts) -> tuple[str, ...]:
        """Return why the sums are lower bounds, () where they are exact."""
        where = f" (the first is {self.first_bad})" if self.first_bad else ""
        told = (
            (
                doubts.open,
                f"{{n}} of {len(self.responses)} responses end with a null stop_reason: output may be missing",
            ),
            (len(self.cut), "{n} response{s} cut off mid-stream"),
            (len(self.compacted), "{n} compaction{s}, whose requests are billed and not in the file"),
            (self.malformed, f"{{n}} line{{s}} torn or not JSON{where}"),
            (self.overlong, f"{{n}} line{{s}} too long to read{where}"),
            (self.without_message, "{n} assistant line{s} without a message"),
            (doubts.strange, "{n} response{s} with a figure that is not a whole number of tokens"),
            (doubts.empty, "{n} response{s} with no tokens at all"),
            (doubts.nameless, "{n} response{s} without an id: equal ones are counted as one"),
            (doubts.untyped, "{n} response{s} with an iteration that has no type"),
            (self.unanswered, "{n} transcript{s} without an API response, though one is due"),
        )
        reasons = [text.format(n=count, s="s" * (count != 1)) for count, text in told if count] + self.unreadable
        if not self.responses and not self.unanswered and not self.unreadable:
            reasons.append("no API response is in the file: an empty sum is never exact")
        return tuple(reasons)


class Account(NamedTuple):
    """What responses come to. `notes`: why the sums are lower bounds, () where they are exact.

    `requests` holds each response and the model calls that were made inside of it, `dates` the day of each.
    """

    requests: tuple[Request, ...]
    dates: tuple[str | None, ...]
    turns: int
    api_calls: int
    notes: tuple[str, ...]


class Doubts:
    """How many responses give a reason to doubt their sum, by reason."""

    def __init__(self) -> None:
        self.open = self.strange = self.empty = self.nameless = self.untyped = 0


_NOTHING = Usage()


def _merge(mine: Message, other: Message) -> None:
    """Join a response with itself as another file, or a parent's progress lines, tell it; the fuller counts."""
    if mine.usage is None:
        mine.usage = other.usage
    elif other.usage is not None and mine.usage != other.usage:
        raise_to(mine.usage, other.usage)
    mine.model = max(mine.model or "", other.model or "") or None
    mine.day = min(filter(None, (mine.day, other.day)), default=None)
    mine.tools = mine.tools or other.tools
    mine.stop_reason = mine.stop_reason if mine.stop_reason is not None else other.stop_reason
    mine.repeated = mine.repeated or other.repeated or not mine.id


def key_of(message: Message, session: str | None) -> Key:
    """Return what tells a response from others: its id, but for gateways, which reuse ids, also session and input."""
    name = message.id or ""
    if name.startswith("msg_"):
        return name
    return session or "", name, *((0, 0, 0) if message.usage is None else context(message.usage))
