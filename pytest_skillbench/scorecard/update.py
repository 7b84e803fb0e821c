"""A new baseline of an evaluation: what it would say, why it may not be written, and writing it.

Gather around a pure core (`rebase`, `splice`): reads and writes the baseline's file, under a lock.
"""

from __future__ import annotations

import difflib
import os
from decimal import Decimal
from pathlib import Path

from ..errors import Problem, ProjectError
from ..files import read_bounded, write_atomic
from ..model import Value
from ..project import Project
from .baseline import LONGEST, Baseline, BaselineSkill
from .dimensions import mean, weighted_mean
from .records import Dimension
from .scores import Evaluation, SkillScore
from .splice import splice

_LOCK_SECONDS = 60


class Proposal(Value, frozen=True):
    """The next baseline. `old` and `new` are the file's bytes, `diff` what changes in words that a person reads.

    `refused`: why it may not be written without force; empty where nothing speaks against it. `rewritten`: comments and
    order of the old file can't be kept.
    """

    path: Path
    shown: str
    old: bytes | None
    new: bytes
    diff: str
    refused: tuple[str, ...]
    rewritten: bool


def read(project: Project, path: str) -> bytes | None:
    """Return the bytes of the baseline's file, None where there is none. Raises SkillbenchError."""
    if not project.holds(project.root / path):
        what = "a link that leaves the repository"
        raise ProjectError(Problem(path=path, slug="evals-baseline", what=what, expected="a file in it"))
    try:
        return read_bounded(project.root / path, LONGEST, path)
    except FileNotFoundError:
        return None


def refusals(evaluation: Evaluation) -> tuple[str, ...]:
    """Return why an evaluation is no good as a baseline: what is BLOCKED, and what is missing."""
    found = []
    for name, skill in evaluation.results.items():
        found += [
            f"{name}: {dimension} is BLOCKED ({part.detail})"
            for dimension, part in skill.dimensions.items()
            if part.status == "BLOCKED"
        ]
        found += [f"{name}: incomplete: {missing}" for missing in skill.missing]
    return tuple(found) if evaluation.results else ("nothing was evaluated",)


def fallen(evaluation: Evaluation, before: Baseline | None) -> tuple[str, ...]:
    """Return what an update that nobody is asked about would lower: scores that fell, and skills that grew.

    Without this, a score could fall by less than its threshold again and again, and never be BLOCKED.
    """
    found = [
        f"{change.skill}: {change.dimension} from {change.baseline} to {change.score}"
        for change in evaluation.comparison.regressions
    ]
    for name, skill in evaluation.results.items():
        old = before.skills.get(name) if before is not None else None
        if old is None or old.skill_words is None or skill.size is None:
            continue
        if skill.size.words > old.skill_words:
            found.append(f"{name}: from {old.skill_words:,} to {skill.size.words:,} words")
    return tuple(found)


def rebase(evaluation: Evaluation, before: Baseline | None) -> Baseline:
    """Return the baseline with the skills of an evaluation renewed; all totals are of the rows that are then in it.

    A dimension that was not run keeps the score that was confirmed before; one that is not applicable loses it. A skill
    whose dimensions are not all there has no overall score.
    """
    skills: dict[str, BaselineSkill] = dict(before.skills) if before is not None else {}
    reasons = refusals(evaluation)
    for name, found in evaluation.results.items():
        own = [reason.removeprefix(f"{name}: ") for reason in reasons if reason.startswith(f"{name}: ")]
        skills[name] = _renewed(found, skills.get(name), evaluation, own)
    return Baseline(
        version=evaluation.date,
        overall_score=mean(skill.overall for skill in skills.values()),
        skills=skills,
        generated_by=evaluation.generated_by,
    )


def _renewed(
    found: SkillScore, before: BaselineSkill | None, evaluation: Evaluation, reasons: list[str]
) -> BaselineSkill:
    scores: dict[Dimension, Decimal] = {}
    for dimension, part in found.dimensions.items():
        kept = before.scores.get(dimension) if before is not None and part.state == "not-run" else None
        value = part.score if part.score is not None else kept
        if value is not None:
            scores[dimension] = value
    counted = [name for name, weight in evaluation.weights.items() if weight > 0]
    needed = {name for name in counted if found.dimensions[name].state != "not-applicable"}
    return BaselineSkill(
        scores=scores,
        overall=weighted_mean(scores, evaluation.weights) if needed <= scores.keys() else None,
        eval_count=found.eval_count,
        last_evaluated=evaluation.date,
        skill_lines=found.size.lines if found.size is not None else None,
        skill_words=found.size.words if found.size is not None else None,
        forced="; ".join(reasons) or None,
    )


def propose(project: Project, path: str, evaluation: Evaluation, before: Baseline | None) -> Proposal:
    """Return what updating the baseline's file at this path with an evaluation would do. Raises SkillbenchError."""
    old = read(project, path)
    spliced = splice(old, rebase(evaluation, before))
    return Proposal(
        path=Path(os.path.realpath(project.root / path)),
        shown=path,
        old=old,
        new=spliced.data,
        diff=_diff(old, spliced.data, path),
        refused=refusals(evaluation),
        rewritten=spliced.rewritten,
    )


def _diff(old: bytes | None, new: bytes, shown: str) -> str:
    before = old.decode("utf-8", "replace").splitlines() if old is not None else []
    lines = difflib.unified_diff(before, new.decode().splitlines(), shown, shown, lineterm="")
    return "\n".join(lines)


def write(project: Project, proposal: Proposal) -> None:
    """Write the proposal, whole or not at all. Raises ProjectError where that can't be done.

    Also where the file is not what it was when the change was shown: somebody else wrote it meanwhile.
    """
    from filelock import FileLock, Timeout

    try:
        project.reports.mkdir(parents=True, exist_ok=True)
        ignore = project.reports / ".gitignore"
        if not ignore.exists():
            write_atomic(ignore, b"*\n")
        with FileLock(project.reports / ".lock", timeout=_LOCK_SECONDS):
            if read(project, proposal.shown) != proposal.old:
                raise ProjectError(_unwritable(proposal, "it was changed meanwhile: look at the change again"))
            proposal.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(proposal.path, proposal.new)
    except Timeout:
        raise ProjectError(_unwritable(proposal, f"still locked after {_LOCK_SECONDS} s")) from None
    except OSError as error:
        raise ProjectError(_unwritable(proposal, error.strerror or str(error))) from error


def _unwritable(proposal: Proposal, why: str) -> Problem:
    return Problem(path=proposal.shown, slug="evals-baseline", what=f"can't write the baseline: {why}")
