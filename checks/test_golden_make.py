"""The parts of the golden runs are found and played from briefs alone, so that recording them anew keeps working.

The recording itself takes a real client and minutes; here the same players read briefs and packets that the program's
own templates make, and nothing of a machine is started.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from checks.golden import arms, figures, judges, roles, transcripts
from checks.golden.neutral import Neutral, encoded
from checks.golden.sources import final_files
from checks.host.lab import Lab
from pytest_skillbench import prompts
from pytest_skillbench.judging import Reply, read_reply
from pytest_skillbench.model import COMPARISONS, ArmName, PlannedCase
from pytest_skillbench.record import load

ROOT = Path(__file__).parent.parent
SCENES = roles.scenes()


def planned(scene: roles.Scene) -> PlannedCase:
    """Return a case as it stands in the plan of the recorded run."""
    record = load(ROOT / "checks" / "golden" / "runs" / f"{scene.recipe.skill}.run", "run")
    assert record is not None
    return next(case for case in record.plan.cases if case.name == scene.name)


class Root:
    """The temp root of a run, in which briefs are written one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = 0

    def brief(self, text: str) -> Path:
        """Write a brief, a second later than the one before."""
        self.number += 1
        path = self.folder / f"{99 - self.number:016x}.md"
        path.write_text(text, "utf-8")
        os.utime(path, (1_000_000 + self.number, 1_000_000 + self.number))
        return path

    def skill(self, version: Path) -> Path:
        """Copy a skill version and return its SKILL.md."""
        target = self.folder / f"m{self.number}" / "skill"
        shutil.copytree(version, target)
        return target / "SKILL.md"


def versions(scene: roles.Scene) -> Iterator[tuple[ArmName, Path | None]]:
    """Yield the arms of a case's run, each with the folder of its skill."""
    yield "new-skill", scene.recipe.working
    if scene.recipe.previous is not None:
        yield "previous-version", scene.recipe.previous
    yield "no-skill", None


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_an_arm_knows_itself_by_its_brief(scene: roles.Scene, tmp_path: Path) -> None:
    """Case by the prompt, arm by the skill that lies there, trial by the order of briefs; its edits give its files."""
    root = Root(tmp_path)
    for trial in range(1, 6):
        for arm, version in versions(scene):
            skill_file = root.skill(version) if version else None
            part = roles.part_of(root.brief(prompts.arm_brief(planned(scene), tmp_path / "world", skill_file)))
            assert isinstance(part, roles.ArmPart)
            assert (part.key, part.world) == (f"{scene.name}.{trial}.{arm}", tmp_path / "world")
            moves = arms.moves(part)
            assert (moves[-1].text, moves[-1].calls) == (scene.wrote[trial, arm].reply, ())
            read = [given["file_path"] for move in moves for name, given in move.calls if name == "Read"]
            assert (str(skill_file) in read) == (version is not None)
            files = dict(scene.fixture)
            for name, given in [call for move in moves for call in move.calls]:
                if name == "Edit":
                    path = Path(given["file_path"]).name
                    assert files[path].count(given["old_string"]) == 1, "the client would refuse it"
                    files[path] = files[path].replace(given["old_string"], given["new_string"])
            assert files == final_files(scene.fixture, scene.wrote[trial, arm])


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_judge_knows_its_pair_by_the_outputs(scene: roles.Scene, tmp_path: Path) -> None:
    """In both orders it gives the authored judgement, in the form that is asked for, with the letters as shown."""
    root = Root(tmp_path)
    for said in sorted(scene.said, key=lambda one: (one.trial, one.comparison, one.seat)):
        if said.identical:
            continue
        opponent = next(one.opponent for one in COMPARISONS if one.name == said.comparison)
        sides: list[ArmName] = ["new-skill", opponent]
        shown = [
            prompts.Shown(
                output=prompts.scrub(scene.wrote[said.trial, arm].reply, [scene.recipe.skill], []), changes="x"
            )
            for arm in sides
        ]
        new_is = "A" if said.trial % 2 else "B"
        a, b = shown if new_is == "A" else reversed(shown)
        part = roles.part_of(root.brief(prompts.judge_packet(planned(scene), a, b, f"{root.number:032x}")))
        assert isinstance(part, roles.JudgePart)
        assert (part.said, part.new_is) == (said, new_is)
        reply = read_reply(judges.moves(part)[-1].text, len(scene.case.criteria))
        assert isinstance(reply, Reply), reply
        winner = {"new": new_is, "other": "AB".replace(new_is, ""), "tie": "TIE"}[said.win]
        assert (reply.winner, reply.strength) == (winner, said.strength)


def test_what_nothing_was_authored_for_is_loud(tmp_path: Path) -> None:
    """A sixth arm, and a skill that is no known version, stop the recording instead of being made up."""
    scene = SCENES[0]
    root = Root(tmp_path)
    text = prompts.arm_brief(planned(scene), tmp_path / "world", None)
    briefs = [root.brief(text) for _ in range(6)]
    assert roles.part_of(briefs[4]).key.endswith(".5.no-skill")
    with pytest.raises(ValueError, match="number 6"):
        roles.part_of(briefs[5])
    other = root.skill(scene.recipe.working)
    other.write_text("changed")
    with pytest.raises(ValueError, match="no version"):
        roles.part_of(root.brief(prompts.arm_brief(planned(scene), tmp_path / "world", other)))


def test_figures_depend_on_texts_and_not_on_folders() -> None:
    """The same conversation in another folder counts the same tokens, and each turn reads what the one before wrote."""

    def used(folder: str, turns: int) -> dict[str, int]:
        messages: list[dict[str, object]] = [{"role": "user", "content": f"Read {folder}/brief"}]
        call = {"type": "tool_use", "name": "Read", "input": {"file_path": f"{folder}/brief"}, "id": "t"}
        for _ in range(turns):
            messages.append({"role": "assistant", "content": [call]})
            result = {"type": "tool_result", "tool_use_id": "t", "content": f"in {folder} it says " + "word " * 90}
            messages.append({"role": "user", "content": [result]})
        return figures.usage(figures.ARM, "c.1.no-skill", messages, [call], lambda text: text.replace(folder, ""))

    assert used("/a", 2) == used("/some/where/else", 2)
    first, second, third = (used("/a", turns) for turns in range(3))
    for earlier, later in ((first, second), (second, third)):
        whole = earlier["cache_read"] + earlier["cache_write_5m"] + earlier["cache_write_1h"]
        assert later["cache_read"] == whole
        assert later["cache_write_5m"] > earlier["output"]


def test_only_the_conversation_is_kept_of_a_transcript() -> None:
    """Other lines go, no line hangs in the air, a result's usage stays as a trap, the rest is untouched."""
    lines = [
        '{"uuid":"1","parentUuid":null,"type":"user","message":{"content":"a"}}',
        '{"uuid":"2","parentUuid":"1","type":"attachment","attachment":{}}',
        '{"type":"api-request","id":"x"}',
        '{"uuid":"3","parentUuid":"2","type":"assistant","message":{"content":[ ]}}',
        '{"uuid":"4","parentUuid":"3","type":"user","toolUseResult":{"agentId":"q","prompt":"p","usage":{"n":1}}}',
        '{"uuid":"5","parentUuid":"4","type":"system","subtype":"compact_boundary", "x":"ü"}',
    ]
    kept = transcripts.conversation("\n".join(lines) + "\n").split("\n")
    assert [json.loads(line).get("parentUuid") for line in kept[:-1]] == [None, "1", "3", "4"]
    assert (kept[0], kept[3], kept[4]) == (lines[0], lines[5], "")
    assert json.loads(kept[2])["toolUseResult"] == {"agentId": "q", "usage": {"n": 1}}


def test_machine_and_day_are_replaced_alike_everywhere(tmp_path: Path) -> None:
    """Paths, their encoded form, run ids and times move together; other times stay; what is left over is an error."""
    lab = cast(
        Lab,
        SimpleNamespace(
            folder=tmp_path,
            work=tmp_path / "work",
            temp=tmp_path / "tmp",
            home=tmp_path / "home",
            server=tmp_path / "s",
        ),
    )
    began, wanted = datetime(2027, 3, 1, 10, 0, 0, tzinfo=UTC), datetime(2026, 11, 26, 9, 15, 2, tzinfo=UTC)
    neutral = Neutral(lab, tmp_path / "venv" / "bin", began, wanted)
    text = (
        f"{tmp_path}/tmp/sb-1/x {tmp_path}/work/a 20270301T100000Z-0a1b2c 2027-03-01T10:00:05.250Z 2026-01-01T00:00:00Z"
    )
    assert neutral.text(text) == (
        "/tmp/sb-1/x /home/dev/courier/a 20261126T091502Z-0a1b2c 2026-11-26T09:15:07.250Z 2026-01-01T00:00:00Z"
    )
    assert neutral.text(f"projects/{encoded(str(tmp_path / 'work'))}/") == "projects/-home-dev-courier/"
    assert neutral.text('"sentAtMs":1803895200000') == f'"sentAtMs":{round(wanted.timestamp() * 1000)}'
    with pytest.raises(ValueError, match="of this machine"):
        neutral.text(f"see {tmp_path}/server/log")


def test_where_something_is_missing_it_says_what_and_changes_nothing(tmp_path: Path) -> None:
    """Without npm and without a client at hand: one message, exit code 2, the records as they were."""
    before = {path: path.stat().st_mtime_ns for path in (ROOT / "checks" / "golden").rglob("*.json")}
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path), "SKILLBENCH_CLIENT_CACHE": str(tmp_path)}
    command = [sys.executable, "-m", "checks.golden.make"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert done.stderr.startswith("checks.golden.make: error: ")
    assert "../shared/lab" in done.stderr
    assert {path: path.stat().st_mtime_ns for path in (ROOT / "checks" / "golden").rglob("*.json")} == before
