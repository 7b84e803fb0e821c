"""The history of a skill's runs: ``<skill>.history.jsonl``, one line a run, the last fifty (FORMATS section 4).

Core: text in, text out. Who writes the file holds the lock (`scoring`). A line that can't be read is skipped with a
warning and stays in the file: it may be a newer version's.
"""

from __future__ import annotations

from .errors import FormatError, Problem
from .formats import decode, encode_line
from .model import (
    ComparisonName,
    HistoryCost,
    HistoryLine,
    HistoryVerdict,
    SkillResult,
    Value,
)

CAP = 50


class History(Value, frozen=True):
    """The runs of a skill, oldest first, and what was wrong with the lines that are not among them."""

    lines: tuple[HistoryLine, ...]
    problems: tuple[Problem, ...]

    def until(self, run_id: str) -> tuple[HistoryLine, ...]:
        """Return the lines up to and including this run's, all of them where it has none."""
        at = next((i for i, line in enumerate(self.lines) if line.run_id == run_id), len(self.lines) - 1)
        return self.lines[: at + 1]


def read(data: bytes, path: str) -> History:
    """Read a history file. Never raises: a bad line is a warning; of two lines of one run the later one counts."""
    lines: dict[str, HistoryLine] = {}
    problems = []
    for _, value in _parse(data, path):
        if isinstance(value, Problem):
            problems.append(value)
        elif value is not None:
            lines[value.run_id] = value
    return History(lines=tuple(lines.values()), problems=tuple(problems))


def record(data: bytes, line: HistoryLine, path: str) -> bytes:
    """Return the file with this run's line in it: in the place of an earlier line of the same run, else at the end.

    At most `CAP` runs are kept, the oldest dropped first. Lines that can't be read are kept as they are.
    """
    new = encode_line(line)
    out: list[bytes] = []
    runs: list[int] = []  # where in `out` the readable lines stand
    replaced = False
    for raw, value in _parse(data, path):
        if isinstance(value, HistoryLine) and value.run_id == line.run_id:
            if replaced:
                continue
            replaced, raw = True, new
        if isinstance(value, HistoryLine):
            runs.append(len(out))
        out.append(raw if raw.endswith(b"\n") else raw + b"\n")
    if not replaced:
        runs.append(len(out))
        out.append(new)
    dropped = set(runs[:-CAP])
    return b"".join(raw for index, raw in enumerate(out) if index not in dropped)


def _parse(data: bytes, path: str) -> list[tuple[bytes, HistoryLine | Problem | None]]:
    """Return each line with what it says: a run, why it can't be read, or None for a blank line."""
    found: list[tuple[bytes, HistoryLine | Problem | None]] = []
    if not data:
        return found
    for number, raw in enumerate(data.removesuffix(b"\n").split(b"\n"), 1):
        if not raw.strip():
            found.append((raw, None))
            continue
        try:
            found.append((raw, decode(raw, HistoryLine, path)))
        except FormatError as error:
            first = error.problems[0]
            where = f"{first.place}: {first.what}" if first.place else first.what
            what = f"not a history line, skipped and kept ({where})"
            problem = Problem(path=path, line=number, slug="history-line", what=what, severity="warning")
            found.append((raw, problem))
    return found


def line_of(result: SkillResult) -> HistoryLine:
    """Return a run's history line. It depends on the run alone: scoring again gives the same bytes."""
    plan = result.plan
    tokens = {
        cost.arm: cost.usage.cost_equivalent_tokens
        for cost in result.costs
        if cost.usage is not None and cost.usage.complete  # a lower bound can't be marked here, so it is unknown
    }
    efficacy = _verdict(result, "efficacy")
    return HistoryLine(
        schema_version=1,
        run_id=plan.run_id,
        at=plan.created_at,
        shape=plan.shape,
        base_commit=plan.base.commit if plan.base else None,
        skill_sha256=plan.packages.new_skill.tree_sha256,
        suite_sha256=plan.suite_sha256,
        cases=len(plan.cases),
        trials=plan.trials,
        efficacy=efficacy,
        regression=_verdict(result, "regression") if plan.shape == "three-arm" else None,
        cost_equivalent_tokens=HistoryCost(
            new_skill=tokens.get("new-skill"),
            previous_version=tokens.get("previous-version"),
            no_skill=tokens.get("no-skill"),
        ),
    )


def _verdict(result: SkillResult, name: ComparisonName) -> HistoryVerdict:
    found = result.verdict(name)
    return HistoryVerdict(
        net=found.net,
        wins=found.wins,
        ties=found.ties,
        losses=found.losses,
        invalid=found.invalid,
        cases_passed=found.cases_passed,
        verdict=found.verdict,
    )
