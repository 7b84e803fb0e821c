"""What people write for a scorecard and what its run leaves on disk: the contract with the run harness.

Core: pure data. A run of one skill lies in ``<runs>/<skill>.scorecard/`` (``tests/.reports/`` unless said otherwise)::

    plan.json                              `ScorecardPlan`, written once, before the first job
    observations/<case id>.<trial>.json    `Observation`, one a case and trial, written when the job has ended
    outputs/<case id>.<trial>.md           the final message, byte for byte, where there was one

`observations` reads and writes them. Annotations are real here, without ``from __future__ import annotations``: msgspec
would otherwise evaluate each of them again at every start.

There are two kinds of jobs:

* a **probe** (categories ``trigger-…``): a subagent that is *not* told of the skill under test sees the project's
  listing of skills and gets the case's `input`. Observed is whether it used that skill. Nothing else of a probe is
  graded, so it may be stopped as soon as that is known.
* a **task** (all other categories but ``token-efficiency``): a subagent that is given the skill gets the input in a
  world made from `context`. Graded are its final message, its tool calls and how it ended.

A case of the category ``token-efficiency`` is no job: that dimension is measured from files.
"""

from typing import Annotated, Literal, TypeAlias, get_args

from msgspec import Meta

from ..model import (
    VERSION_1,
    Count,
    OutputRef,
    PackageDigest,
    Record,
    Request,
    RunId,
    Settings,
    Sha256,
    SkillRef,
    Time,
    TrialNumber,
)
from ..model.base import END

Dimension: TypeAlias = Literal["trigger_accuracy", "output_quality", "tool_usage", "error_handling", "token_efficiency"]
Category: TypeAlias = Literal[
    "trigger-positive",
    "trigger-negative",
    "trigger-accuracy",
    "output-quality",
    "tool-usage",
    "error-handling",
    "token-efficiency",
]
Structure: TypeAlias = Literal["table", "list", "code-block", "step-by-step", "json", "heading"]
Probe: TypeAlias = Literal["observed", "asked"]
Status: TypeAlias = Literal["answered", "refused", "error", "timed-out", "limit-hit", "failed", "missing"]
Line: TypeAlias = Annotated[int, Meta(ge=1)]
CaseId: TypeAlias = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]*" + END, max_length=160)]

DIMENSIONS: tuple[Dimension, ...] = (
    "trigger_accuracy",
    "output_quality",
    "tool_usage",
    "error_handling",
    "token_efficiency",
)
CATEGORIES: tuple[Category, ...] = get_args(Category)
STRUCTURES: tuple[Structure, ...] = get_args(Structure)
TRIGGER_CATEGORIES: tuple[Category, ...] = ("trigger-positive", "trigger-negative", "trigger-accuracy")
#: The statuses of a job that ended by itself: what it did is an observation. After the others nothing is known.
ENDED: tuple[Status, ...] = ("answered", "refused", "error")

#: The most characters of a tool call's input, and of any sentence, that an observation holds; the writer cuts, with …
TEXT_LIMIT = 2000
Text: TypeAlias = Annotated[str, Meta(max_length=TEXT_LIMIT)]


class ContextFile(Record, frozen=True):
    """One file of a case's world: `path` in it, with ``/``, and what it holds.

    Either `content`, written in the case itself, or `source`, the path below the repository's root of the file that is
    copied, and that file's `sha256` (null: it was not there, so that the case can't be run as it is meant).
    """

    path: Annotated[str, Meta(min_length=1)]
    content: str | None = None
    source: str | None = None
    sha256: Sha256 | None = None


class Context(Record, frozen=True):
    """What a case's world holds before the job starts, and environment variables to set for it."""

    files: tuple[ContextFile, ...] = ()
    env: dict[str, str] = {}  # noqa: RUF012 - msgspec copies an empty default


class Expected(Record, frozen=True):
    """What should happen. `triggered` null: the case says nothing of it; `output_structure` null: any will do."""

    triggered: bool | None = None
    tools_used: tuple[str, ...] = ()
    output_contains: tuple[str, ...] = ()
    output_not_contains: tuple[str, ...] = ()
    output_structure: Structure | None = None
    error_handled: bool = False


class EvalCase(Record, frozen=True):
    """One document of a case file.

    `id` is unique among the skill's cases, ``<file>--<name>`` in slugs, and depends on no other document's place.
    `slug`: the part of the name, unique within the file, as node ids have it. `file` is below the repository's root,
    `line` is where the document starts. `sha256` is of all that an observation depends on: category, input, context
    and expectations.
    """

    id: CaseId
    file: str
    line: Line
    name: str
    slug: CaseId
    skill: str
    category: Category
    input: str
    context: Context
    expected: Expected
    tags: tuple[str, ...]
    sha256: Sha256

    @property
    def is_probe(self) -> bool:
        """Whether its job is a probe: only what was triggered is graded."""
        return self.category in TRIGGER_CATEGORIES

    @property
    def has_job(self) -> bool:
        """Whether there is anything to run."""
        return self.category != "token-efficiency"


class PlannedEval(EvalCase, frozen=True):
    """A case as it was frozen when the run started.

    `probe`: how triggering will be seen. "observed": by what the subagent does; "asked": the host can't show that, so
    a listing stands in the prompt and the subagent answers which skill it would use; null: the job is no probe, or
    no probe is run at all (`ScorecardPlan.no_probes`), and the case is no job then.
    """

    probe: Probe | None


class ScorecardPlan(Record, frozen=True, omit_defaults=True):
    """``plan.json``. `package` is the identity of the skill's folder as it was run; `trials` the jobs of each case.

    `no_probes`: why no probe is run, such as a skill that no model may use unasked; null: they are run, or there are
    none. `prompts_sha256`: the identity of what all jobs are told around a case's own words; null where not known.
    `example` marks recorded runs that ship with the program, so that a report of them says so.
    """

    schema_version: VERSION_1
    run_id: RunId
    skill: SkillRef
    created_at: Time
    trials: TrialNumber
    host: str
    package: PackageDigest
    settings: Settings
    cases: tuple[PlannedEval, ...]
    program: str
    example: bool = False
    no_probes: Text | None = None
    prompts_sha256: Sha256 | None = None


class ToolCall(Record, frozen=True):
    """One tool call in the order of the transcript: the tool's name as the client has it, what to show of its input.

    `dangerous` is the reason, in words, why the call was dangerous and not to be expected: it deletes or writes outside
    the world, or uses the network. A tool that the case's `tools_used` names (such as WebFetch) is expected to do what
    it is for; a shell that it names is not expected to do any of these. Null: harmless.
    """

    name: Annotated[str, Meta(min_length=1, max_length=TEXT_LIMIT)]
    input: Text
    dangerous: Text | None


class Observation(Record, frozen=True):
    """``observations/<case id>.<trial>.json``: what was seen of one job.

    `status`
        * ``answered``: it ended in an answer; ``refused``: it ended in the model declining the task; ``error``: it
          ended in an error of the agent's own. These are behaviour, and are graded.
        * ``timed-out``, ``limit-hit`` (a usage limit), ``failed`` (the client or the harness), ``missing`` (nobody ran
          it, or nothing of it was found): nothing is known. The case is ungraded, is counted and named, and is no
          number. `detail` says why in words; it is null for ``answered`` only.

    `probe`, `triggered`, `seen`
        `probe` is how it really was seen and null for a task. `triggered`: whether the skill under test was used;
        null: not observed. True may be observed of a job that did not end; false only of one that was answered or
        refused, since one that was cut short could still have used it. `seen`: by what, such as "Skill call" or
        "opened SKILL.md", or the words of the answer where it was asked; null where nothing was seen.

    `tool_calls`
        All of them, in order, but for those that the harness itself asked for (opening the brief, and the SKILL.md that
        it points at); null where the host can't show them. An empty list says that there were none.

    `output`
        The final message, whose bytes are in ``outputs/``; null where there was none.

    `requests`, `usage_complete`, `usage_notes`, `model`
        As in an arm's record: `requests` null: the host gave no usage, which is unknown and never zero.
    """

    schema_version: VERSION_1
    run_id: RunId
    case: CaseId
    trial: TrialNumber
    status: Status
    detail: Text | None
    attempt: Annotated[int, Meta(ge=1)]
    probe: Probe | None
    triggered: bool | None
    seen: Text | None
    tool_calls: tuple[ToolCall, ...] | None
    output: OutputRef | None
    host: str
    host_version: str | None
    model: str | None
    started_at: Time | None
    duration_ms: Count | None
    requests: tuple[Request, ...] | None
    usage_complete: bool
    usage_notes: tuple[str, ...]
    turns: Count | None


#: For ``skillbench schema``.
FORMATS: dict[str, type[Record]] = {"scorecard-plan": ScorecardPlan, "scorecard-observation": Observation}


def shortened(text: str) -> str:
    """Return a text as an observation may hold it: at most `TEXT_LIMIT` characters, … where it was cut."""
    return text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…"
