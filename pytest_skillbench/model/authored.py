"""What people write: settings and cases.

Core: pure data, no behaviour but what can be read off a record itself.
"""

from typing import Annotated, Literal

from msgspec import Meta

from .base import Record, Slug, TrialNumber, Value


class Settings(Record, frozen=True):
    """``skillbench.yaml`` with every default filled in. Unknown keys are errors, missing ones take these values."""

    skills_root: Annotated[str, Meta(min_length=1)] = "skills"
    evals_root: Annotated[str, Meta(min_length=1)] = "evals"
    trials: TrialNumber = 5
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    effort: str | None = None
    model: str | None = None
    judge_model: str | None = None
    judging: Literal["one-order", "both-orders"] = "one-order"
    arm_timeout_minutes: Annotated[float, Meta(gt=0, le=1440)] = 30
    gate_timeout_seconds: Annotated[float, Meta(gt=0, le=3600)] = 60
    retries: Annotated[int, Meta(ge=0, le=10)] = 2
    delivery: Literal["brief", "inline"] = "brief"
    order: tuple[Slug, ...] | None = None


class SeedTurn(Record, frozen=True):
    """One turn of the conversation that precedes the prompt."""

    role: Literal["user", "assistant", "system"]
    text: str


class Assertion(Record, frozen=True):
    """One hard assertion: a complete shell command, the 1-based line of case.md where it starts, its title comment."""

    shell: Literal["sh", "bash"]
    line: Annotated[int, Meta(ge=1)]
    title: str | None
    command: str


class SectionLines(Value, frozen=True):
    """The 1-based line of each section's heading in case.md; None where the section is absent."""

    prompt: int
    seed: int | None
    assertions: int | None
    criteria: int


class Case(Value, frozen=True):
    """A parsed ``case.md``. `sha256` is of its text with CRLF and BOM normalised away, so both spell the same case."""

    description: str
    tags: tuple[str, ...]
    prompt: str
    seed_turns: tuple[SeedTurn, ...]
    assertions: tuple[Assertion, ...]
    criteria: tuple[str, ...]
    lines: SectionLines
    sha256: str
