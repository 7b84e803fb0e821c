"""What a host saw of one subagent: the contract between `hosts/` (which read transcripts) and `collect`.

Core: pure data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from .model import Request, Value


class ToolUse(Value, frozen=True):
    """One tool call of a subagent: the tool's name, its arguments as sent, and whether the client answered an error.

    `refused`: the client's permissions did not let it run at all.
    """

    name: str
    input: Mapping[str, object]
    error: bool = False
    refused: bool = False


class Observed(Value, frozen=True):
    """One subagent's transcript, read.

    `settled`: it has ended and nothing more will be written. `failed`: why it has no usable answer, else None.
    `limit`: the client's own words where a usage limit stopped it, else None. `final_text` is the final message, byte
    for byte. `requests` None: the host gave no usage. `tools`: name to number of calls. `uses` None: the host can't
    tell. `listed`: the names of the skills that the client offered it, None: not known. `refused`: it ended because the
    model, or what guards it, declined to answer. `session`: the conversation that started it. `idle_seconds`: since it
    last wrote anything.
    """

    host: str
    version: str | None
    model: str | None
    started_at: str | None
    duration_ms: int | None
    settled: bool
    failed: str | None
    limit: str | None
    final_text: str
    requests: tuple[Request, ...] | None
    usage_complete: bool
    usage_notes: tuple[str, ...]
    turns: int | None
    tools: Mapping[str, int]
    uses: tuple[ToolUse, ...] | None
    listed: tuple[str, ...] | None = None
    refused: bool = False
    session: str | None = None
    idle_seconds: float = 0.0


class Observer(Protocol):
    """Finds the subagents of some jobs by their labels."""

    @property
    def sees_running(self) -> bool:
        """Return whether it sees a job that was started and has not ended."""

    def observe(self, labels: Iterable[str], since: str) -> Mapping[str, tuple[Observed, ...]]:
        """Return what is there of each label, earliest first; a label that nobody has started is absent.

        `since` (UTC text): nothing older than this can belong to the run.
        """
