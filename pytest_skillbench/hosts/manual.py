"""Any client whose transcripts can't be found, or a person: what came back is what `record` was given.

Gather: the `Observer` of a run on a manual host. Answers wait in ``<skill>.run/handed-in/`` until the next turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from ..files import read_bounded, write_atomic
from ..observed import Observed
from . import claude_code
from .claude_agents import observed

NAME = "manual"
FOLDER = "handed-in"
LIMIT = 64 * 1024 * 1024


class Manual:
    """Answers that a person handed in for one run."""

    sees_running = False

    def __init__(self, run: Path) -> None:
        self.folder = run / FOLDER

    def hand_in(self, label: str, output: bytes, transcript: Path | None) -> None:
        """Keep the final message of a job, and its usage where the transcript of a known client is given."""
        self.folder.mkdir(exist_ok=True)
        if transcript is not None:
            write_atomic(self.folder / f"{label}.jsonl", read_bounded(transcript, 1 << 30, str(transcript)))
        write_atomic(self.folder / f"{label}.md", output)

    def observe(self, labels: Iterable[str], since: str) -> Mapping[str, tuple[Observed, ...]]:  # noqa: ARG002 - Observer's
        """Return what was handed in for each label. See `Observer`."""
        found = {}
        for label in labels:
            try:
                text = read_bounded(self.folder / f"{label}.md", LIMIT, f"{FOLDER}/{label}.md").decode(
                    "utf-8", "replace"
                )
            except FileNotFoundError:
                continue
            found[label] = (self._observed(label, text),)
        return found

    def _observed(self, label: str, text: str) -> Observed:
        transcript = self.folder / f"{label}.jsonl"
        if transcript.is_file():
            seen = observed(claude_code.read([transcript], calls=True).transcripts[0], 0.0)
            return msgspec.structs.replace(seen, host=NAME, settled=True, final_text=text, failed=None, limit=None)
        return Observed(
            host=NAME,
            version=None,
            model=None,
            started_at=None,
            duration_ms=None,
            settled=True,
            failed=None if text.strip() else "an empty answer was handed in",
            limit=None,
            final_text=text,
            requests=None,
            usage_complete=False,
            usage_notes=("no transcript was handed in",),
            turns=None,
            tools={},
            uses=None,
        )
