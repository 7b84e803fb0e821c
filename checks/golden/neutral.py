"""What was recorded on one machine, on one day -> the same of no machine, on the day of the recipe.

Paths and ids of the machine are replaced by neutral ones, every time of the session is moved by the same span. The
replacements are the same in all files of a run, so that what belonged together still does.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from checks.host.lab import Lab

from .recipes import ROOT

HOME = "/home/dev"
WORK = f"{HOME}/courier"
_TIME = re.compile(r"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,6})?Z")
_RUN_TIME = re.compile(r"\b(20\d{6}T\d{6})Z-([0-9a-f]{6})\b")
_CLOCK = re.compile(r"(?<=AtMs\":)(\d{13})\b")
#: A time that lies further from the run than this is a text's, not the run's.
_NEAR = timedelta(hours=12)


class Neutral:
    """Replaces machine and day in texts of a run that began at `began` in `lab` and is to have begun at `wanted`."""

    def __init__(self, lab: Lab, programs: Path, began: datetime, wanted: datetime) -> None:
        self.began = began
        self.span = wanted - began
        self.folder = str(lab.folder)
        pairs = {str(lab.work): WORK, str(lab.temp): "/tmp", str(lab.home): HOME, str(programs): f"{WORK}/.venv/bin"}
        self.paths = {**pairs, **{encoded(path): encoded(to) for path, to in pairs.items()}}

    def text(self, text: str) -> str:
        """Return a text without the machine and on the other day. Raises ValueError where something of it is left."""
        for path in sorted(self.paths, key=len, reverse=True):
            text = text.replace(path, self.paths[path])
        text = re.sub(r"/tmp/claude-\d+", "/tmp/claude-1000", text)
        text = _RUN_TIME.sub(lambda found: f"{self._moved(found[1], '%Y%m%dT%H%M%S')}Z-{found[2]}", text)
        text = _TIME.sub(lambda found: f"{self._moved(found[1], '%Y-%m-%dT%H:%M:%S')}{found[2] or ''}Z", text)
        text = _CLOCK.sub(lambda found: str(int(found[1]) + round(self.span.total_seconds() * 1000)), text)
        for left in (self.folder, encoded(self.folder), str(ROOT), encoded(str(ROOT))):
            if left in text:
                at = text.index(left)
                raise ValueError(f"still of this machine: {text[max(0, at - 80) : at + 160]!r}")
        return text

    def _moved(self, text: str, form: str) -> str:
        time = datetime.strptime(text, form).replace(tzinfo=UTC)
        return (time + self.span).strftime(form) if abs(time - self.began) < _NEAR else text


def encoded(path: str) -> str:
    """Return a path as the client names a project's folder after it."""
    return re.sub(r"[^0-9A-Za-z]", "-", path)
