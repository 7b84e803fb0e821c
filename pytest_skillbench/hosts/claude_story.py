"""What a Claude Code conversation says, beside what it costs: its prompt, its last words, whether it is at its end.

Gather: fed with the same lines as `claude_ledger`, for `claude_code`. It looks only at the ends of each batch of lines.
"""

from __future__ import annotations

from .claude_ledger import SYNTHETIC, Key, Ledger, Tools, key_of
from .claude_lines import text_of
from .claude_shapes import Line, Message

_PROMPT_KEPT = 20_000  # characters: the label stands in it, and a brief is one line
_MOST = 50  # batches of one message; it has up to 13 lines, and a hostile file must not be kept in memory whole


class Story:
    """The file's own conversation. Old versions wrote subagents' lines into it as well: those are another's.

    `asked`: there is a user's message.
    """

    def __init__(self) -> None:
        self.prompt: str | None = None
        self.asked = False
        self.first_at: str | None = None
        self.last_at: str | None = None
        self._side: bool | None = None
        self._ending: Line | None = None  # the last line, whosever it is
        self._recent: list[list[Line]] = []  # the batches with the last message: enough to find all of its lines
        self._last_id: str | None = None

    def follow(self, lines: list[Line]) -> None:
        """Take the next lines of the file."""
        if self.first_at is None:
            self.first_at = next((line.timestamp for line in lines if line.timestamp is not None), None)
        if self._side is None:
            self._side = next((line.isSidechain is True for line in lines if line.type in ("user", "assistant")), None)
        if not self.asked:
            self._begin(lines)
        ending = None
        timed = False
        for line in reversed(lines):
            if not timed and line.timestamp is not None:
                self.last_at, timed = line.timestamp, True
            if ending is None and self._own(line):
                self._ending = ending = line
            if line.type == "assistant" and line.message is not None and self._own(line):
                self._keep(lines, line.message.id)
                return

    def _keep(self, lines: list[Line], last_id: str | None) -> None:
        if last_id is None or last_id != self._last_id:
            self._recent = []
        self._last_id = last_id
        self._recent.append(lines)
        if len(self._recent) > _MOST:
            del self._recent[0]

    def _own(self, line: Line) -> bool:
        if line.type == "user":
            return not line.isMeta and (line.isSidechain is True) is self._side
        return line.type == "assistant" and line.message is not None and (line.isSidechain is True) is self._side

    def _begin(self, lines: list[Line]) -> None:
        first = next((line for line in lines if line.type == "user" and self._own(line)), None)
        if first is not None:
            self.asked = True
            self.prompt = text(first.message)[:_PROMPT_KEPT] or None

    def last_message(self) -> list[Line]:
        """Return the lines of the last message, the client's own included.

        They follow each other, but for the results of its tools in between.
        """
        found: list[Line] = []
        last: Key | None = None
        for line in (line for lines in reversed(self._recent) for line in reversed(lines)):
            if line.type == "assistant" and line.message is not None and self._own(line):
                key = key_of(line.message, line.sessionId)
                if last is not None and key != last:
                    break
                last = key
                found.append(line)
        return found[::-1]

    def final_text(self) -> str | None:
        """Return the last message's text, None where it has none; a copied line has the uuid of its original."""
        lines = {line.uuid or str(at): line for at, line in enumerate(self.last_message())}
        return "\n".join(said for line in lines.values() if (said := text(line.message))) or None

    @property
    def failed(self) -> bool:
        """Return whether the last message is the client's own: the API's answer never came."""
        return any(line.message is not None and line.message.model == SYNTHETIC for line in self.last_message()[-1:])

    def settled(self, ledger: Ledger, tools: Tools) -> bool:
        """Return whether nothing is to come: an answer that calls no tool, or the receipt of a structured output."""
        if self._ending is None:
            return False
        message = self._ending.message
        if self._ending.type == "assistant" and message is not None:
            response = ledger.responses.get(key_of(message, self._ending.sessionId))
            return response is None or not response.tools
        content = message.content if message is not None else None
        return isinstance(content, list) and any(tools.structured(block.tool_use_id) for block in content)


def text(message: Message | None) -> str:
    """Return a message's text blocks, one below the other."""
    content = message.content if message is not None else None
    if isinstance(content, list):
        return "\n".join(text_of(block.text) for block in content if block.type == "text")
    return content or ""
