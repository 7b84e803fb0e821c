"""What can be wrong with a user's input, as data (`Problem`) and as exceptions.

The tree::

    SkillbenchError            carries one or more problems; what every face catches
    ├── UsageError             the command line asks for something that is not there
    ├── ProjectError           no repository root, no tests/ folder, a reports folder that can't be written
    ├── CaseError              a case.md that does not parse
    ├── SettingsError          a skillbench.yaml that does not parse
    ├── FormatError            a JSON file of ours that is not closed, typed, unique and finite
    ├── TranscriptError        a transcript that can't be read at all
    ├── QualityError           a quality receipt that can't be recorded or read; a code and nothing else
    ├── EvidenceError          frozen evidence that is not what its format, its digests or its limits say
    └── GitError               a git repository that can't be asked, or does not know its default branch

Core: imports nothing of ours but `text`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from .text import one_line

Severity = Literal["error", "warning"]


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is wrong, where it is, and what was expected instead.

    `path` is as the user would type it; `line` is 1-based; `place` is a JSON path (``$.trials[2].winner``) where
    there are no lines. `slug` is a stable machine name such as ``case-unknown-section``.
    """

    path: str
    slug: str
    what: str
    line: int | None = None
    place: str | None = None
    expected: str | None = None
    suggestion: str | None = None
    severity: Severity = "error"

    def __str__(self) -> str:
        """``path:line: what; expected; did you mean "x"?`` on one line, safe for a terminal."""
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        parts = [self.what if self.place is None else f"{self.place}: {self.what}"]
        if self.expected:
            parts.append(f"expected {self.expected}")
        if self.suggestion:
            parts.append(f'did you mean "{self.suggestion}"?')
        return one_line(f"{where}: {'; '.join(parts)}")


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Sort problems by path, then line, then place: the order in which every face shows them."""
    return tuple(sorted(problems, key=lambda p: (p.path, p.line or 0, p.place or "", p.what)))


class SkillbenchError(Exception):
    """Something a user can mend. `problems` is never empty and is in order."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = in_order(problems)
        super().__init__("\n".join(str(p) for p in self.problems))


class UsageError(SkillbenchError):
    """The command line asks for something that is not there."""


class ProjectError(SkillbenchError):
    """The repository as a whole is not usable: no root, no ``tests/``, reports that can't be written."""


class CaseError(SkillbenchError):
    """A ``case.md`` that does not parse."""


class SettingsError(SkillbenchError):
    """A ``skillbench.yaml`` that does not parse."""


class FormatError(SkillbenchError):
    """A JSON file of ours with an unknown, missing, duplicate, ill-typed or out-of-range value."""


class TranscriptError(SkillbenchError):
    """A transcript that can't be read at all."""


class QualityError(SkillbenchError):
    """A quality receipt that can't be recorded or read. `code` is all it says: nothing of the input, no path."""

    def __init__(self, code: str) -> None:
        super().__init__(Problem(path="quality", slug=code, what=code))
        self.code = code


class GitError(SkillbenchError):
    """A git repository that can't be asked: no program, a broken or partial repository, an unknown default branch."""


class EvidenceError(SkillbenchError):
    """Frozen evidence, or input to it, that is not what its format, its digests or its limits say.

    `first` is the problem that was found first and `message` its exact text, as the format of evidence names it; the
    file, the place and what was expected are in `problems`.
    """

    def __init__(self, *problems: Problem) -> None:
        super().__init__(*problems)
        self.first = problems[0]
        self.message = self.first.what
