"""``skillbench evidence export``: a recorded run of ours as a freeze with its runs imported.

Face: finds the run and its transcripts, calls `evidence.export`, says what was written.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..evidence.export import Exported, Transcripts
    from ..record import RunRecord

SUMMARY = "turn a recorded run into a freeze with its runs imported"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("run", metavar="RUN", help="a skill with a recorded run, or the folder of one")
    parser.add_argument("--output", metavar="DIR", required=True, help="the new folder; its parent must be there")
    parser.add_argument(
        "--license", type=Path, metavar="FILE", help="the package's LICENSE where it has none; default: the nearest"
    )
    parser.add_argument(
        "--transcripts",
        choices=("blanked", "whole", "none"),
        default="blanked",
        help="what to retain of the client's transcripts: all but what was said (the default), all, or nothing",
    )
    parser.add_argument(
        "--dereference", action="store_true", help="copy what symbolic links in the skill or a fixture lead to"
    )


def run(args: argparse.Namespace) -> tuple[Exported, list[str]]:
    """Export the run; return what to say, as a record and as lines. Raises SkillbenchError and OSError."""
    from .. import project, record, tree
    from ..errors import Problem, UsageError
    from ..evidence.export import export
    from ..text import one_line

    named = Path(args.run)
    found = project.find(named if named.is_dir() else Path.cwd())
    skills = tree.discover(found)
    folder = named if (named / "plan.json").is_file() else None
    if folder is None:
        (skill,) = skills.select([args.run])
        folder = found.runs / f"{skill.name}.run"
    loaded = record.load(folder, found.relative(folder))
    if loaded is None:
        what = f'no run of "{args.run}" is recorded'
        raise UsageError(Problem(path=found.relative(folder), slug="no-run", what=what, expected="/benchmark-skill"))
    said = export(
        found,
        skills.skill(loaded.plan.skill.path),
        loaded,
        Path(args.output),
        license_file=args.license,
        dereference=args.dereference,
        transcript=_transcripts(loaded, args.transcripts),
    )
    notes = [*said.notes, *_keep(said, loaded, found.relative(folder))]
    runs = f"{said.runs} runs of {said.cases} {'case' if said.cases == 1 else 'cases'}"
    lines = [
        f"Frozen: {one_line(said.directory)}",
        f"Run {said.run_id}: {runs}, {said.transcripts} with their transcript ({args.transcripts})",
        f"Digest {said.benchmark_sha256}",
        *(f"Package {package.name} {package.tree_sha256}" for package in said.packages),
        *(f"Note: {one_line(note)}" for note in notes),
    ]
    return said, lines


def _keep(said: Exported, record: RunRecord, shown: str) -> list[str]:
    """Write ``evidence.json`` into the run's record, so that its report tells of the freeze; return what to say."""
    from ..evidence.compare import inspect
    from ..evidence.exported import MOST_ATTEMPTS
    from ..files import write_atomic
    from ..formats import encode
    from ..model import FrozenEvidence

    found = inspect(Path(said.directory)).comparison
    note = FrozenEvidence(
        schema_version=1,
        run_id=said.run_id,
        name=Path(said.directory).name,
        suite=said.suite,
        benchmark_sha256=said.benchmark_sha256,
        cases=said.cases,
        trials=min(record.plan.trials, MOST_ATTEMPTS),
        of_trials=record.plan.trials,
        runs=found.coverage.imported_runs,
        expected_runs=2 * found.coverage.expected_pairs,
        observed_treatment_result=found.observed_treatment_result,
        comparison_status=found.comparison_status,
    )
    try:
        write_atomic(record.folder / "evidence.json", encode(note))
    except OSError as error:
        return [f"the report will not tell of it: {shown}/evidence.json can't be written: {error.strerror}"]
    return []


def _transcripts(record: RunRecord, kept: str) -> Transcripts:
    """Return what finds the client's transcript of an arm, by the label that the arm's job had."""
    from ..evidence.blank import blanked
    from ..evidence.export import no_transcripts
    from ..hosts.claude_agents import ClaudeCode
    from ..hosts.manual import FOLDER as HANDED_IN
    from ..record import arm_stem
    from ..runstate import label_of, read_state

    plan = record.plan
    if kept == "none":
        return no_transcripts
    state = read_state(record.folder, plan.run_id)
    handed_out = state.attempts if state is not None else {}

    def label(stem: str, attempt: int) -> str:
        known = (one.label for one in handed_out.get(stem, ()) if one.number == attempt)
        return next(known, label_of(plan.run_id, plan.seed, stem, attempt))

    labels = [label(arm_stem(*key), arm.attempt) for key, arm in record.arms.items()]
    paths = {one: file for one in labels if (file := record.folder / HANDED_IN / f"{one}.jsonl").is_file()}
    if plan.host == "claude-code":
        paths |= {one: path for one, path, _ in ClaudeCode.here().transcripts(labels, plan.created_at)}

    def transcript(stem: str, attempt: int) -> bytes | None:
        path = paths.get(label(stem, attempt))
        if path is None:
            return None
        return blanked(path.read_bytes()) if kept == "blanked" else path.read_bytes()

    return transcript
