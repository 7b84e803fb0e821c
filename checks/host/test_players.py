"""The lab's model itself: it follows the skill's text, and what it answers depends on what reached it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from .players import Cue, Move, arm, is_judge, judge, label_of, orchestrator

SKILL = Path(__file__).resolve().parents[2] / "skills" / "benchmark-skill" / "SKILL.md"
JOB = {"label": "7f.k1", "agent": "skillbench-arm", "prompt": "[skillbench job 7f.k1] Read /tmp/brief and follow it."}


class Conversation:
    """A conversation as the server hands it over, grown by what a player answers and by results."""

    def __init__(self, prompt: str) -> None:
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
        self.number = 0

    def cue(self) -> Cue:
        """Return what a player sees now."""
        return Cue.of(SimpleNamespace(messages=self.messages, tools=["Bash", "Agent"], conv="c"))

    def answer(self, move: Move, *results: str, failed: bool = False) -> Cue:
        """Add a player's move and the results of its calls."""
        uses, answers = [], []
        for (name, arguments), result in zip(move.calls, results, strict=True):
            self.number += 1
            uses.append({"type": "tool_use", "id": f"t{self.number}", "name": name, "input": arguments})
            block = {"type": "tool_result", "tool_use_id": f"t{self.number}", "content": result, "is_error": failed}
            answers.append(block)
        self.messages += [{"role": "assistant", "content": uses}, {"role": "user", "content": answers}]
        return self.cue()


def started(arguments: str) -> Conversation:
    """Return the conversation that begins with the skill's own text."""
    text = SKILL.read_text().replace("$ARGUMENTS", arguments).replace("${CLAUDE_SKILL_DIR}", "/skills/it")
    return Conversation(text)


def commands(move: Move) -> list[str]:
    """Return the shell commands of a move."""
    return [arguments["command"] for name, arguments in move.calls if name == "Bash"]


def test_the_orchestrator_follows_the_text_from_start_to_report() -> None:
    """Start, next, one batch in one message, next, score, narrate, score, tell: the order of the skill's steps."""
    talk = started("demo")
    move = orchestrator(talk.cue(), "good")
    assert commands(move) == ["skillbench start demo"]
    move = orchestrator(talk.answer(move, "started"), "good")
    assert commands(move) == ["skillbench next demo --json"]
    jobs = [JOB, {**JOB, "label": "7f.k2", "model": "opus"}]
    move = orchestrator(talk.answer(move, json.dumps({"state": "jobs", "jobs": jobs})), "good")
    assert [name for name, _ in move.calls] == ["Agent", "Agent"]
    assert move.calls[0][1] == {
        "description": "7f.k1",
        "subagent_type": "skillbench-arm",
        "prompt": JOB["prompt"],
        "run_in_background": False,
    }
    assert move.calls[1][1]["model"] == "opus"
    move = orchestrator(talk.answer(move, "x", "y"), "good")
    assert commands(move) == ["skillbench next demo --json"]
    move = orchestrator(talk.answer(move, json.dumps({"state": "done", "jobs": [], "message": ""})), "good")
    assert commands(move) == ["pytest -p no:cacheprovider --skillbench tests/"]
    move = orchestrator(talk.answer(move, "green"), "good")
    assert commands(move) == ["cat tests/.reports/demo.run/plan.json"]


def test_without_arguments_every_skill_is_meant() -> None:
    """The empty argument means all, in both commands."""
    talk = started("")
    move = orchestrator(talk.cue(), "good")
    assert commands(move) == ["skillbench start --all"]
    assert commands(orchestrator(talk.answer(move, "ok"), "good")) == ["skillbench next --json"]


def test_a_program_that_is_not_on_the_path_is_called_through_the_launcher() -> None:
    """From the first failure on, the launcher stands in the program's place."""
    talk = started("demo")
    move = orchestrator(talk.cue(), "good")
    move = orchestrator(talk.answer(move, "bash: skillbench: command not found", failed=True), "good")
    assert commands(move) == ['"/skills/it/scripts/skillbench" start demo']
    assert commands(orchestrator(talk.answer(move, "ok"), "good")) == [
        '"/skills/it/scripts/skillbench" next demo --json'
    ]


def test_a_stop_is_a_stop() -> None:
    """A start that fails, and a blocked run, end the conversation with what the program said."""
    talk = started("demo")
    move = orchestrator(talk.cue(), "good")
    stopped = orchestrator(talk.answer(move, "skillbench: error: no cases", failed=True), "good")
    assert (stopped.calls, "no cases" in stopped.text) == ((), True)
    talk = started("demo")
    move = orchestrator(talk.answer(orchestrator(talk.cue(), "good"), "ok"), "good")
    blocked = {"state": "blocked", "jobs": [], "message": "resets at 5"}
    stopped = orchestrator(talk.answer(move, json.dumps(blocked)), "good")
    assert (stopped.calls, "resets at 5" in stopped.text) == ((), True)


def test_what_is_no_json_is_loud() -> None:
    """A program that prints nonsense stops the lab with the text, instead of a model that makes something up."""
    talk = started("demo")
    move = orchestrator(talk.answer(orchestrator(talk.cue(), "good"), "ok"), "good")
    with pytest.raises(ValueError, match="no JSON"):
        orchestrator(talk.answer(move, "oops"), "good")


def test_an_arm_is_as_good_as_the_skill_that_it_read(tmp_path: Path) -> None:
    """With the skill's line read, it finds as many things; without a skill, or unread, one."""
    world, skill, brief = tmp_path / "world", tmp_path / "m" / "SKILL.md", tmp_path / "brief"
    world.mkdir()
    skill.parent.mkdir()
    skill.write_text("points: 3\n")
    for text, ignores, expected in (
        (f"Work in {world}. First read {skill}.", False, "I found 3 things"),
        (f"Work in {world}. First read {skill}.", True, "I found 1 thing"),
        (f"Work in {world}.", False, "I found 1 thing"),
    ):
        brief.write_text(text)
        talk = Conversation(f"[skillbench job 7f.k1] Read {brief} and follow it.")
        cue = talk.cue()
        move = arm(cue, ignores=lambda ignores=ignores: ignores, strays=lambda: None)  # type: ignore[misc]
        for _ in range(4):
            if not move.calls:
                break
            results = [_run(name, arguments) for name, arguments in move.calls]
            cue = talk.answer(move, *results)
            move = arm(cue, ignores=lambda ignores=ignores: ignores, strays=lambda: None)  # type: ignore[misc]
        assert move.text.startswith(expected)
        assert not is_judge(cue)


def _run(name: str, arguments: dict[str, Any]) -> str:
    if name == "Read":
        return Path(arguments["file_path"]).read_text()
    return "ok"


def test_a_judge_sees_two_outputs_and_nothing_else() -> None:
    """It prefers the output that found more, whichever place that has, and calls equals a tie."""
    for a, b, winner in ((3, 1, "A"), (1, 3, "B"), (2, 2, "TIE")):
        cue = Conversation(
            f'Answer {{"winner": …}} for each of the 2 criteria. I found {a} things. I found {b} things.'
        ).cue()
        assert is_judge(cue)
        answer = json.loads(judge(cue, "more", None).text)
        assert answer["winner"] == winner
        assert [one["criterion"] for one in answer["criteria"]] == [1, 2]
    with pytest.raises(ValueError, match="expected 2"):
        judge(Conversation('{"winner"} I found 3 things').cue(), "more", None)


def test_only_a_job_has_a_label() -> None:
    """A listing of jobs is read by the orchestrator and is nobody's job."""
    assert label_of(JOB["prompt"]) == "7f.k1"
    assert label_of("[skillbench job a.1] [skillbench job a.2]") is None
    assert label_of("nothing") is None
