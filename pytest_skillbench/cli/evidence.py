"""``skillbench evidence prepare | import-run | compare | export``: frozen suites, imported runs, and what they show.

Face: parses arguments, calls `evidence`, prints. Exit code 0 when the work was done, whatever it shows; 2 with the
exact message for everything that is refused.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import evidence_export

if TYPE_CHECKING:
    from ..errors import EvidenceError
    from ..evidence.records import Comparison, Imported, Pair, Prepared

DISCLAIMER = "None of these commands runs a case, calls a model or a grader, or certifies anything."
_MOST_NOTES = 20
_SHOWN_NAMES = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their arguments."""
    parser.epilog = DISCLAIMER
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    prepare = _action(actions, "prepare", "freeze a suite and the packages that it selects, in a new folder")
    prepare.add_argument("--suite", metavar="FILE", required=True, help="the suite; its paths are beside it")
    prepare.add_argument("--output", metavar="DIR", required=True, help="the new folder; its parent must be there")
    where = prepare.add_mutually_exclusive_group()
    where.add_argument("--skills-root", metavar="DIR", help="the folder that holds the packages")
    where.add_argument("--project", metavar="DIR", help="the project whose skills are the packages; default: this one")
    prepare.add_argument(
        "--dereference",
        action="store_true",
        help="copy what symbolic links lead to, and hard-linked files, as in skills that Nix placed",
    )
    imports = _action(actions, "import-run", "retain a run that was executed and graded elsewhere, once and for all")
    imports.add_argument("--benchmark", metavar="DIR", required=True, help="the frozen benchmark")
    imports.add_argument(
        "--run", metavar="FILE", required=True, dest="run_file", help="the run's declaration, run.json"
    )
    imports.add_argument("--artifacts", metavar="DIR", required=True, help="the folder that holds its artifacts")
    compare = _action(actions, "compare", "verify every byte, then say what the runs show, pair by pair")
    compare.add_argument("--benchmark", metavar="DIR", required=True, help="the frozen benchmark")
    evidence_export.configure(_action(actions, "export", evidence_export.SUMMARY))


def _action(actions: Any, name: str, summary: str) -> argparse.ArgumentParser:
    described = f"{summary[0].upper()}{summary[1:]}."
    parser: argparse.ArgumentParser = actions.add_parser(name, help=summary, description=described, epilog=DISCLAIMER)
    parser.add_argument("--json", action="store_true", help="print one line of JSON for machines")
    return parser


def run(args: argparse.Namespace) -> int:
    """Do one action and print what it says. Returns 0, or 2 for evidence that is refused."""
    from ..errors import EvidenceError
    from ..evidence.reading import json_line

    actions = {"prepare": _prepare, "import-run": _import_run, "compare": _compare, "export": evidence_export.run}
    try:
        said, lines = actions[args.action](args)
    except EvidenceError as error:
        _complain(error)
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # what is printed is the same whatever the terminal's language is
    print(json_line(said) if args.json else "\n".join([*lines, "", DISCLAIMER]))
    return 0


def _complain(error: EvidenceError) -> None:
    """Print each exact message on a line of its own, and below it what a person wants to know."""
    from ..text import one_line

    found = dict.fromkeys((error.first, *error.problems))
    for problem in found:
        print(f"skillbench: error: {one_line(problem.what)}", file=sys.stderr)
        where = problem.path if problem.place is None else f"{problem.path}: {problem.place}"
        expected = f": expected {problem.expected}" if problem.expected else ""
        print(f"skillbench: note: {one_line(where + expected)}", file=sys.stderr)


# -- the actions -------------------------------------------------------------------------------------------------------


def _prepare(args: argparse.Namespace) -> tuple[Prepared, list[str]]:
    from ..evidence.freeze import prepare
    from ..text import one_line

    skills: Path | dict[str, Path]
    protected: list[Path] = []
    if args.skills_root is not None:
        skills = Path(args.skills_root)
    else:
        skills, protected = _project_skills(Path(args.project or "."))
    notes: list[str] = []
    said = prepare(
        Path(args.suite),
        skills,
        Path(args.output),
        protected=protected,
        dereference=args.dereference,
        followed=lambda link, target: notes.append(one_line(f"{link} is a copy of what {target} is")),
    )
    if len(notes) > _MOST_NOTES:
        notes[_MOST_NOTES:] = [f"{len(notes) - _MOST_NOTES:,} more links were followed"]
    for note in notes:
        print(f"skillbench: note: {note}", file=sys.stderr)
    rows = [["package", "tree digest"], *([package.name, package.tree_sha256] for package in said.packages)]
    cases = "1 case" if said.cases == 1 else f"{said.cases} cases"
    head = [f"Frozen: {one_line(said.directory)}", f"Suite {said.suite}, {cases}", f"Digest {said.benchmark_sha256}"]
    return said, [*head, "", *_table(rows)]


def _project_skills(start: Path) -> tuple[dict[str, Path], list[Path]]:
    """Return where each skill of a project is by its name, unless two have it, and the folder of all."""
    from ..project import find
    from ..tree import discover

    project = find(start)
    skills = discover(project).skills
    names = [skill.name for skill in skills]
    return {skill.name: skill.folder for skill in skills if names.count(skill.name) == 1}, [project.skills]


def _import_run(args: argparse.Namespace) -> tuple[Imported, list[str]]:
    from ..evidence.runs import import_run

    said = import_run(Path(args.benchmark), Path(args.run_file), Path(args.artifacts))
    count = said.retained_artifacts
    artifacts = "1 artifact" if count == 1 else f"{count} artifacts"
    return said, [
        f"Imported: {said.id}, {artifacts}",
        f"Declared: {said.execution_kind}, {said.execution_status}",
        f"Freeze {said.benchmark_sha256}",
        f"Run {said.run_sha256}",
        "",
        said.verification,
    ]


def _compare(args: argparse.Namespace) -> tuple[Comparison, list[str]]:
    from ..evidence.compare import inspect

    said = inspect(Path(args.benchmark)).comparison
    return said, [*_overview(said), "", *_table(_pair_rows(said)), *_details(said), "", "Limits", *_list(said.limits)]


# -- what a comparison looks like --------------------------------------------------------------------------------------


def _overview(said: Comparison) -> list[str]:
    counts = said.coverage
    runs = f"{counts.imported_runs} of {2 * counts.expected_pairs} imported, {counts.missing_runs} missing"
    kinds = f"{counts.fixture_runs} fixture, {counts.manual_runs} manual, {counts.unexecuted_runs} not executed"
    pairs = f"{counts.paired_cases} of {counts.expected_pairs} with both runs"
    agents = f"{counts.declared_agent_pairs} of two agent runs, {counts.declared_controlled_agent_pairs} controlled"
    return [
        *_table(
            [
                ["suite", said.suite],
                ["freeze", said.benchmark_sha256],
                *(["package", f"{package.name} {package.tree_sha256}"] for package in said.packages),
                ["comparison", said.comparison_status],
                ["treatment", f"{said.observed_treatment_result} (critical criteria, as graded)"],
                ["runs", f"{runs}; {kinds}"],
                ["pairs", f"{pairs}; {agents}"],
            ],
            headed=False,
        )
    ]


def _pair_rows(said: Comparison) -> list[list[str]]:
    heads = ["case", "attempt", "baseline", "treatment", "comparison", "result", "better", "worse", "same", "in time"]
    return [heads, *(_pair_row(pair) for pair in said.cases)]


def _pair_row(pair: Pair) -> list[str]:
    changes: list[str] = [criterion.change for criterion in pair.criteria]
    in_time = {None: "—", True: "yes", False: "no"}
    budget = pair.reported_budget
    return [
        pair.case_id,
        str(pair.attempt),
        _graded([criterion.baseline for criterion in pair.criteria], pair.baseline_run),
        _graded([criterion.treatment for criterion in pair.criteria], pair.treatment_run),
        pair.comparison_status,
        pair.observed_treatment_result,
        *(str(changes.count(change)) for change in ("improved", "regressed", "unchanged")),
        f"{in_time[budget.baseline_within_limit]} / {in_time[budget.treatment_within_limit]}",
    ]


def _graded(results: Sequence[Any], run: str | None) -> str:
    """Return how many criteria an arm passed of all, and how many it was not graded by."""
    if run is None:
        return "no run"
    verdicts = [result.verdict for result in results]
    open_ = sum(verdict not in ("pass", "fail") for verdict in verdicts)
    return f"{verdicts.count('pass')}/{len(verdicts)} passed" + (f", {open_} ungraded" if open_ else "")


def _details(said: Comparison) -> list[str]:
    """Return why pairs are not compared, what critical criteria failed, and the limitations that runs declare."""
    from ..text import one_line

    against: dict[str, list[str]] = {}
    failed = []
    limited: dict[str, list[str]] = {}
    for pair in said.cases:
        name = f"{pair.case_id} {pair.attempt}"
        for reason in pair.comparability_reasons:
            against.setdefault(reason, []).append(name)
        failed += [[name, failure.variant, failure.criterion] for failure in pair.critical_failures]
        for variant, limitations in (
            ("baseline", pair.run_limitations.baseline),
            ("treatment", pair.run_limitations.treatment),
        ):
            for limitation in limitations:
                limited.setdefault(one_line(limitation), []).append(f"{name} {variant}")
    found = (
        ("Not compared", _grouped(against)),
        ("Critical failures", failed),
        ("Declared limitations", _grouped(limited)),
    )
    return [line for title, rows in found if rows for line in ("", title, *_table(rows, headed=False))]


def _grouped(names: dict[str, list[str]]) -> list[list[str]]:
    """Return a row a text: how often it holds, the text, and where, as far as that is short."""
    return [
        [str(len(where)), text, ", ".join(where[:_SHOWN_NAMES]) + (", …" if len(where) > _SHOWN_NAMES else "")]
        for text, where in names.items()
    ]


def _list(items: Sequence[str]) -> list[str]:
    return [f"  {item}" for item in items]


def _table(rows: Sequence[Sequence[str]], *, headed: bool = True) -> list[str]:
    """Return rows as lines of aligned columns, the first underlined where it is the heading."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    if headed:
        lines.insert(1, "-" * max(map(len, lines)))
    return lines
