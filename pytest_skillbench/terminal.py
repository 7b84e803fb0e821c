"""What ``pytest --skillbench`` adds to the terminal: a header line, a calm summary, and errors that must be seen.

Face (pytest): words for values that were computed elsewhere. Everything that an author or a model wrote goes through
`text` before it is printed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import pytest

from .errors import Problem
from .model import SkillResult, SkillVerdict, Value
from .text import one_line
from .tree import Tree

if TYPE_CHECKING:
    from .scoring import Scored, Written

Mood: TypeAlias = Literal["red", "yellow", "green", "plain"]

_VERDICTS = {"pass": "pass", "fail": "FAIL", "incomplete": "INCOMPLETE", "not-applicable": "n/a"}
_HEADLINE = 120


class Summary(Value, frozen=True):
    """What there is to say at the end: the skills whose nodes ran, what was written, why it could not be.

    `problems`: what is wrong with the tree and is on no node.
    """

    scored: tuple[Scored, ...] = ()
    written: Written | None = None
    error: str | None = None
    problems: tuple[Problem, ...] = ()


def header(tree: Tree, cases: int) -> str:
    """Return the line above the session: how much was found, and where the run records are read."""
    skills = len(tree.skills)
    return one_line(
        f"skillbench: {skills} {'skill' if skills == 1 else 'skills'}, {cases} {'case' if cases == 1 else 'cases'}; "
        f"runs: {tree.project.relative(tree.project.runs)}"
    )


def complain(config: pytest.Config, message: str) -> None:
    """Print an error where it is seen, whatever ``-q``, ``--no-summary`` or ``-p no:terminal`` say."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if isinstance(reporter, pytest.TerminalReporter):
        reporter.ensure_newline()
        reporter.write_line(message, red=True)
    else:
        print(message, file=sys.stderr)  # noqa: T201 - there is no terminal reporter to ask


def write_summary(reporter: pytest.TerminalReporter, tree: Tree, summary: Summary) -> None:
    """Write one line a skill, the tree's problems that no node carries, and the paths.

    ``-q``: only the lines of skills that are not green, and the problems; ``-qq`` and ``--no-summary``: nothing.
    """
    verbosity = reporter.config.get_verbosity()
    lines: list[tuple[str, Mood]] = [skill_line(item, len(_widest(summary))) for item in summary.scored]
    if verbosity < 0:
        lines = [line for line in lines if line[1] != "green"]
    lines += [(f"{p.severity}: {p}", "yellow") for p in summary.problems]
    if summary.written is not None:
        lines += [(f"warning: {one_line(warning)}", "yellow") for warning in summary.written.warnings]
        if verbosity >= 0:
            lines += _paths(tree, summary.written)
    if not lines or verbosity < -1 or reporter.config.getoption("no_summary"):
        return
    if verbosity >= 0:
        reporter.write_sep("=", "skillbench")
    for text, mood in lines:
        reporter.write_line(text, **({} if mood == "plain" else {mood: True}))


def _widest(summary: Summary) -> str:
    return max((one_line(item.skill.name) for item in summary.scored), key=len, default="")


def _paths(tree: Tree, written: Written) -> list[tuple[str, Mood]]:
    def shown(path: Path) -> str:
        return one_line(tree.project.relative(path))

    only = written.reports[0] if len(written.reports) == 1 else None
    lines: list[tuple[str, Mood]] = [(f"report: {shown(only)}", "plain")] if only is not None else []
    return [*lines, (f"leaderboard: {shown(written.index)}", "plain")]


def skill_line(item: Scored, width: int = 0) -> tuple[str, Mood]:
    """Return a skill's line, and its color: its verdicts with their counts, its headline, what to be wary of."""
    name = one_line(item.skill.name).ljust(width)
    if item.result is None:
        if item.state == "broken":
            return f"{name}  BROKEN: {item.problems[0] if item.problems else 'the run record is not usable'}", "red"
        if item.state == "no-cases":
            return f"{name}  no cases", "yellow"
        return f"{name}  no run recorded: run /benchmark-skill {one_line(item.skill.name)}", "yellow"
    from .view.headline import headline  # the view is big, and is needed only where there is something to say

    result = item.result
    marks = [text for text, on in (("STALE", result.stale), ("example data", result.plan.example)) if on]
    parts = [
        name,
        *(_verdict(verdict) for verdict in result.verdicts),
        one_line(headline(result), _HEADLINE),
        *(f"[{mark}]" for mark in marks),
    ]
    return "  ".join(parts), _mood(result)


def _verdict(verdict: SkillVerdict) -> str:
    title = verdict.comparison.capitalize()
    if verdict.verdict == "not-applicable":
        return f"{title} n/a"
    counts = f"{verdict.wins}W {verdict.ties}T {verdict.losses}L"
    if verdict.gates:
        counts += f" {verdict.gates}G"
    if verdict.invalid:
        counts += f" {verdict.invalid} invalid"
    return f"{title} {_VERDICTS[verdict.verdict]} ({counts}, {verdict.cases_passed}/{verdict.cases} cases)"


def _mood(result: SkillResult) -> Mood:
    found = {verdict.verdict for verdict in result.verdicts}
    if "fail" in found:
        return "red"
    return "yellow" if "incomplete" in found or result.stale else "green"
