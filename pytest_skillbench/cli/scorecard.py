"""``skillbench scorecard``: score five dimensions of skills from what was recorded, against a stored baseline.

Face: finds the project, calls `scorecard.evaluate`, keeps the evaluation, prints, and updates the baseline when it is
asked to. Runs no agent: ``/benchmark-skill --scorecard`` does that.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..errors import Problem
    from ..project import Project
    from ..scorecard.baseline import Baseline
    from ..scorecard.config import Config
    from ..scorecard.scores import Evaluation
    from ..scorecard.update import Proposal
    from ..tree import Tree

EPILOG = """\
Exit codes: 0 nothing is BLOCKED, 1 something is, 2 usage or broken input, 3 incomplete: something was not observed, or
the config asks for a baseline and there is none.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument(
        "--skill", action="append", default=[], metavar="NAME", help="only this skill; may be given more than once"
    )
    parser.add_argument(
        "--update-baseline", action="store_true", help="show what would change in the baseline, ask, and write it"
    )
    parser.add_argument("--report-only", action="store_true", help="evaluate nothing, show the last evaluation")
    parser.add_argument("--json", action="store_true", help="print the evaluation as JSON")
    parser.add_argument("--yes", action="store_true", help="do not ask before the baseline is written")
    parser.add_argument(
        "--force",
        action="store_true",
        help="write the baseline though something is BLOCKED or incomplete; the file records it",
    )


def run(args: argparse.Namespace) -> int:
    """Evaluate or look up, update the baseline where asked, print, and return the exit code."""
    from ..errors import Problem, UsageError
    from ..project import find
    from ..tree import discover

    for option in ("yes", "force"):
        if getattr(args, option) and not args.update_baseline:
            what = "means nothing without --update-baseline"
            raise UsageError(Problem(path=f"--{option}", slug="usage", what=what, expected="both"))
    if args.report_only and args.update_baseline:
        what = "can't be confirmed from an old evaluation, which was held to the baseline, limits and skill of its day"
        raise UsageError(Problem(path="--update-baseline", slug="usage", what=what, expected="no --report-only"))
    tree = discover(find(Path.cwd()))
    session = _Session(args, tree)
    return session.report_only() if args.report_only else session.evaluate()


class _Session:
    """One call of the command."""

    def __init__(self, args: argparse.Namespace, tree: Tree) -> None:
        self.args = args
        self.tree = tree
        self.project: Project = tree.project
        self.baseline_state = "not asked for"
        self.unasked = False

    def evaluate(self) -> int:
        """Evaluate now and keep the evaluation."""
        import msgspec

        from ..scorecard import resultsfile
        from ..scorecard.evaluate import evaluate

        made = evaluate(self.tree, self.args.skill, date=f"{datetime.now(UTC):%Y-%m-%d}")
        evaluation = made.evaluation
        self.problems(made.problems)
        self.show(evaluation, left_out=made.left_out)
        updated = False
        if made.usable and evaluation.results:
            results = made.found.config.results_path
            folder = resultsfile.folder_of(self.project, results)
            updated = self.update(evaluation, made.found.config, made.baseline)
            evaluation = msgspec.structs.replace(evaluation, is_baseline=updated)
            name = resultsfile.write(folder, evaluation, results)
            self.end(evaluation, made.problems, f"{results}/{name}")
        else:
            self.end(evaluation, made.problems, None)
        return self.code(evaluation, made.problems, updated=updated)

    def report_only(self) -> int:
        """Show the last evaluation, of the skills that were asked for."""
        from ..scorecard import evaluate, lookup
        from ..scorecard.discover import read_config

        config, problems = read_config(self.project)
        names = tuple(skill.name for skill in self.tree.select(self.args.skill)) if self.args.skill else ()
        path, evaluation = lookup.last(self.project, config, names)
        _, wrong = evaluate.baseline_of(self.project, config)
        problems = (*problems, *wrong)
        self.problems(problems)
        self.show(evaluation, left_out=())
        self.end(evaluation, problems, path)
        return self.code(evaluation, problems, updated=False)

    # -- baseline ------------------------------------------------------------------------------------------------------

    def update(self, evaluation: Evaluation, config: Config, baseline: Baseline | None) -> bool:
        """Update the baseline where that is asked for and allowed; tell whether it now is this evaluation."""
        from ..scorecard import update
        from .numbers import counted

        automatic = config.auto_update and not self.args.update_baseline
        if not (self.args.update_baseline or automatic):
            return False
        proposal = update.propose(self.project, config.baseline_path, evaluation, baseline)
        if proposal.refused and not self.args.force:
            self.baseline_state = "refused"
            self.tell(f"The baseline was not updated; {counted(len(proposal.refused), 'reason')} (--force overrides):")
            for reason in proposal.refused:
                self.tell(f"  {reason}")
            return False
        fallen = update.fallen(evaluation, baseline) if automatic else ()
        if fallen:
            self.baseline_state = "refused"
            self.tell("The baseline was not updated by itself, which would lower it; --update-baseline confirms it:")
            for reason in fallen:
                self.tell(f"  {reason}")
            return False
        if not proposal.diff:
            self.baseline_state = "unchanged"
            self.tell(f"{proposal.shown} says just this already.")
            return True
        self.tell("")
        for line in proposal.diff.split("\n"):
            self.tell(line, exact=True)
        if proposal.rewritten:
            self.tell(
                f"{proposal.shown} can't be edited in place: its comments and the order of its keys will be lost."
            )
        if not (automatic or self.args.yes or self.confirmed(proposal)):
            self.baseline_state = "declined"
            self.tell("The baseline was not updated.")
            return False
        update.write(self.project, proposal)
        self.baseline_state = "updated"
        self.tell(f"Updated {proposal.shown}.")
        return True

    def confirmed(self, proposal: Proposal) -> bool:
        """Ask on the terminal. Where nobody can answer: say so, and the exit code will be 2."""
        from ..errors import Problem

        if sys.stdin is None or not sys.stdin.isatty():
            what = "nobody to ask whether the baseline may be written"
            self.problems([Problem(path="--update-baseline", slug="usage", what=what, expected="--yes in scripts")])
            self.unasked = True
            return False
        print(f"Write this to {one_line(proposal.shown)}? [y/N] ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().casefold() in ("y", "yes")

    # -- words ---------------------------------------------------------------------------------------------------------

    def tell(self, text: str, *, exact: bool = False) -> None:
        """Print a line, on stderr where stdout is for a machine. `exact`: blanks in it are kept."""
        from ..text import visible

        stream = sys.stderr if self.args.json else sys.stdout
        print(_encodable(visible(text).replace("\n", " ") if exact else _indented(text), stream.encoding), file=stream)

    def problems(self, problems: Sequence[Problem]) -> None:
        """Print what is wrong with files on stderr."""
        for problem in problems:
            print(_encodable(f"skillbench: {problem.severity}: {problem}", sys.stderr.encoding), file=sys.stderr)

    def show(self, evaluation: Evaluation, *, left_out: Sequence[str]) -> None:
        """Print the tables, unless JSON is asked for."""
        from ..scorecard.table import render

        if self.args.json:
            return
        print(render(evaluation, sys.stdout.encoding))
        if left_out:
            self.tell(f"Not evaluated, without eval cases or not in target_skills: {', '.join(left_out)}")

    def end(self, evaluation: Evaluation, problems: Sequence[Problem], path: str | None) -> None:
        """Say where the evaluation is kept, or print everything as JSON."""
        if not self.args.json:
            if path is not None:
                self.tell(f"Evaluation: {path}")
            return
        import msgspec

        document = {
            "schema_version": 1,
            "problems": [{"severity": problem.severity, "message": str(problem)} for problem in problems],
            "path": path,
            "baseline": self.baseline_state,
            "evaluation": evaluation,
        }
        data = msgspec.json.Encoder(decimal_format="number").encode(document)
        print(data.decode() if sys.stdout.encoding.casefold() in ("utf-8", "utf8") else _escaped(data))

    def code(self, evaluation: Evaluation, problems: Sequence[Problem], *, updated: bool) -> int:
        """Return 2 for broken input, else 1 for BLOCKED, else 3 for incomplete, else 0.

        With --update-baseline: 0 where the baseline now is this evaluation, whatever stood against it before.
        """
        from ..scorecard.results import exit_code

        if self.unasked or any(problem.severity == "error" for problem in problems):
            return 2
        if updated:
            return 0
        return exit_code(evaluation.summary.status)


def _indented(text: str) -> str:
    return text[: len(text) - len(text.lstrip())] + one_line(text)


def _encodable(text: str, encoding: str | None) -> str:
    return text.encode(encoding or "ascii", "backslashreplace").decode(encoding or "ascii")


def _escaped(data: bytes) -> str:
    """Return JSON in plain ASCII, numbers as they are spelled."""
    return "".join(char if ord(char) < 128 else _surrogates(char) for char in data.decode())


def _surrogates(char: str) -> str:
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
