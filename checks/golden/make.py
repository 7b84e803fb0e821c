"""Record the golden runs anew: ``python -m checks.golden.make`` in the repository's root. Takes some minutes.

A real Claude Code client, cut off from every network, runs ``/benchmark-skill`` in a throwaway repository; a scripted
model answers what `source/` says. What the harness recorded, and the transcripts that the client wrote, come here with
this machine's paths and times replaced, then `variants` are made from them. Nothing here is changed before all of it is
there. What the client comes from and runs in is `checks/host/lab.py`'s; where that is not to be had, this says so.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from checks.host.lab import Lab, UnavailableError
from pytest_skillbench import formats
from pytest_skillbench.model import ARMS, ArmRecord, JudgementRecord, Plan
from pytest_skillbench.record import load

from . import stage, variants
from .neutral import WORK, Neutral, encoded
from .recipes import HERE, RECIPES, Recipe
from .transcripts import conversation

PARTS = ("runs", "transcripts", "variants")
_RECORDED = ("arms", "judgements", "narrative.json")
_VERBATIM = ("outputs", "changes")


def main() -> int:
    """Make everything anew. Return 0, or 2 where something that it takes is not to be had here."""
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        try:
            lab = Lab(Path(folder) / "lab")
        except UnavailableError as reason:
            needs = "npm, unshare with the right to use it, and ../shared/lab beside the repository"
            print(f"checks.golden.make: error: {reason} (it takes {needs})", file=sys.stderr)
            return 2
        stage.build(lab)
        made = Path(folder) / "made"
        for recipe in RECIPES:
            print(f"recording {recipe.skill} …", flush=True)
            keep(lab, recipe, stage.record(lab, recipe), made)
        variants.main(made, made)
        for part in PARTS:
            shutil.rmtree(HERE / part, ignore_errors=True)
            shutil.copytree(made / part, HERE / part)
        for recipe in RECIPES:
            rebase(HERE / "history" / f"{recipe.skill}.history.jsonl", made / "runs" / f"{recipe.skill}.run")
    print("made; now add up the tokens for expected.py as README.md says, and run checks/test_golden_sources.py")
    return 0


def keep(lab: Lab, recipe: Recipe, run: Path, target: Path) -> None:
    """Copy one run's record and transcripts to `target`, neutral. Raises ValueError where that can't be done."""
    plan = formats.decode((run / "plan.json").read_bytes(), Plan, "plan.json")
    began = datetime.fromisoformat(plan.created_at).astimezone(UTC)
    neutral = Neutral(lab, stage.PROGRAMS, began, recipe.created_at)
    state = json.loads((run / "state.json").read_bytes())
    labels = {tried["label"]: stem for stem, attempts in state["attempts"].items() for tried in attempts}
    if any(len(attempts) != 1 for attempts in state["attempts"].values()):
        raise ValueError(f"{recipe.skill}: a job was tried more than once, so the record is not the authored story")
    _keep_record(plan, run, target / "runs" / run.name, neutral)
    _check_ledger(lab, run)
    arms = {label: stem for label, stem in labels.items() if stem.split(".")[2] in ARMS}
    _keep_transcripts(lab, arms, target / "transcripts" / recipe.skill, neutral)


def _check_ledger(lab: Lab, run: Path) -> None:
    """Hold every request of the record to what the server says that it delivered, arms' and judges' alike."""
    delivered = {entry["id"]: entry["usage"] for entry in lab.ledger() if entry["delivered"]}
    record = load(run, run.name)
    if record is None or record.problems:
        raise ValueError(f"{run} is no run record that can be used")
    found: list[ArmRecord | JudgementRecord] = [*record.arms.values(), *record.judgements.values()]
    for one in found:
        for request in one.requests or ():
            said = delivered[request.id]
            if any(getattr(request, name) != count for name, count in said.items() if name != "thinking"):
                raise ValueError(f"{request} is recorded, and {said} was delivered")


def rebase(history: Path, run: Path) -> None:
    """Give the earlier runs of the demo's trend the base of the recorded one: in the story, main has not moved."""
    base = formats.decode((run / "plan.json").read_bytes(), Plan, "plan.json").base
    if history.is_file() and base is not None:
        text = re.sub(r'(?<="base_commit":")[0-9a-f]{40}(?=")', base.commit, history.read_text("utf-8"))
        history.write_text(text, "utf-8")


def _keep_record(plan: Plan, run: Path, target: Path, neutral: Neutral) -> None:
    said = msgspec.structs.replace(plan, example=True)
    _put(target / "plan.json", neutral.text(formats.encode(said).decode()))
    for part in _RECORDED:
        for file in sorted((run / part).glob("*.json")) if (run / part).is_dir() else [run / part]:
            _put(target / file.relative_to(run), neutral.text(file.read_text("utf-8")))
    for part in _VERBATIM:
        for file in sorted((run / part).iterdir()):
            text = file.read_text("utf-8")
            if neutral.text(text) != text:
                raise ValueError(f"{file}: its digest is recorded, and something of this machine is in it")
            _put(target / file.relative_to(run), text)


def _keep_transcripts(lab: Lab, labels: dict[str, str], target: Path, neutral: Neutral) -> None:
    """Copy the session of the run: the main conversation, the arms that `labels` name, and which arm each was."""
    mine = [file for file in lab.transcripts() if file.parent.name == "subagents" and _description(file) in labels]
    if len(mine) != len(labels):
        raise ValueError(f"{len(mine)} arms have left a transcript, expected {len(labels)}")
    (session,) = {file.parent.parent for file in mine}
    project = target / "projects" / encoded(WORK)
    main_file = session.with_suffix(".jsonl")
    _put(project / main_file.name, neutral.text(conversation(main_file.read_text("utf-8"))))
    for file in mine:
        about = file.with_suffix(".meta.json")
        folder = project / session.name / "subagents"
        _put(folder / file.name, neutral.text(conversation(file.read_text("utf-8"))))
        _put(folder / about.name, neutral.text(about.read_text("utf-8")))
    _put(target / "jobs.json", json.dumps(dict(sorted(labels.items(), key=lambda one: one[1])), indent=1) + "\n")


def _description(transcript: Path) -> str:
    return str(json.loads(transcript.with_suffix(".meta.json").read_bytes()).get("description"))


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main())
