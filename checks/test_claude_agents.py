"""Finding a run's subagents in Claude Code's own files: by label, in any session, with what each of them did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_skillbench.hosts.claude_agents import ClaudeCode

SINCE = "2026-11-30T22:00:00Z"
LABEL = "7f3a9c.0123abcd"


def assistant(number: int, *blocks: dict[str, Any], stop: str = "end_turn") -> dict[str, Any]:
    """Return a response of the model as the client writes it."""
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 5}
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": list(blocks),
        "stop_reason": stop,
        "usage": usage,
    }
    return {"type": "assistant", "message": message}


def user(content: Any) -> dict[str, Any]:
    """Return a user line."""
    return {"type": "user", "message": {"role": "user", "content": content}}


def answer(call: str, text: str, *, error: bool = False) -> dict[str, Any]:
    """Return a tool's answer."""
    block = {"type": "tool_result", "tool_use_id": call, "content": text}
    return user([{**block, "is_error": True} if error else block])


def call(number: int, name: str, **given: Any) -> dict[str, Any]:
    """Return a response that calls a tool."""
    return assistant(number, {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}, stop="tool_use")


def write(config: Path, name: str, *lines: dict[str, Any], label: str | None = LABEL, prompt: str = "Do it.") -> Path:
    """Write a subagent's transcript into a session's folder."""
    folder = config / "projects/-home-dev/s1/subagents"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"agent-{name}.jsonl"
    head = {"sessionId": "s1", "agentId": name, "version": "2.1.332", "isSidechain": True, "cwd": "/home/dev"}
    stamped = [
        {**head, **line, "uuid": f"{name}-{n}", "timestamp": f"2026-11-30T22:01:{n:02}.000Z"}
        for n, line in enumerate((user(prompt), *lines))
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in stamped))
    if label is not None:
        (folder / f"agent-{name}.meta.json").write_text(json.dumps({"description": label}))
    return file


def test_a_settled_subagent_is_read_whole(tmp_path: Path) -> None:
    """Its answer, usage, tools and times are what the transcript says."""
    read = call(1, "Read", file_path="/tmp/sb-x/brief.md")
    write(tmp_path, "a", read, answer("t1", "ok"), assistant(2, {"type": "text", "text": "Done.\n"}))
    (seen,) = ClaudeCode(tmp_path).observe([LABEL], SINCE)[LABEL]
    assert (seen.settled, seen.failed, seen.limit, seen.final_text) == (True, None, None, "Done.\n")
    assert seen.requests is not None
    assert [request.output for request in seen.requests] == [5, 5]
    assert (seen.turns, dict(seen.tools), seen.usage_complete) == (1, {"Read": 1}, True)
    assert (seen.started_at, seen.duration_ms, seen.session) == ("2026-11-30T22:01:00Z", 3000, "s1")
    assert seen.uses is not None
    assert [(use.name, use.error) for use in seen.uses] == [("Read", False)]


def test_the_label_is_found_in_the_prompt_as_well(tmp_path: Path) -> None:
    """Versions that write no description still have the tag in the prompt."""
    prompt = f"Read the file. (This is [skillbench job {LABEL}].)"
    write(tmp_path, "a", assistant(1, {"type": "text", "text": "x"}), label=None, prompt=prompt)
    write(tmp_path, "b", assistant(2, {"type": "text", "text": "y"}), label=None, prompt="Something else.")
    found = ClaudeCode(tmp_path).observe([LABEL, "7f3a9c.ffffffff"], SINCE)
    assert {label: [seen.final_text for seen in many] for label, many in found.items()} == {LABEL: ["x"]}


def test_a_subagent_in_the_middle_of_its_work_is_not_settled(tmp_path: Path) -> None:
    """Without a last word it is still running, whatever else is there."""
    write(tmp_path, "a", call(1, "Bash", command="sleep 1"))
    (seen,) = ClaudeCode(tmp_path).observe([LABEL], SINCE)[LABEL]
    assert not seen.settled
    assert seen.failed is None


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("Claude requested permissions to use Bash, but you haven't granted it yet.", True),
        ("Permission to use Read with /x has been denied.", True),
        ("<tool_use_error>File does not exist.</tool_use_error>", False),
    ],
)
def test_refused_calls_are_told_from_failed_ones(tmp_path: Path, said: str, refused: bool) -> None:
    """A call that permissions did not let run touched nothing; one that failed may have."""
    read = call(1, "Read", file_path="/repo")
    write(tmp_path, "a", read, answer("t1", said, error=True), assistant(2, {"type": "text", "text": "x"}))
    (seen,) = ClaudeCode(tmp_path).observe([LABEL], SINCE)[LABEL]
    assert seen.uses is not None
    assert [(use.error, use.refused) for use in seen.uses] == [(True, refused)]


def test_a_usage_limit_is_not_an_answer(tmp_path: Path) -> None:
    """The client writes it as ordinary text with a normal end; it is told from a model's words."""
    text = "Claude usage limit reached. Your limit resets at 11pm (UTC)."
    write(tmp_path, "a", assistant(1, {"type": "text", "text": text}))
    (seen,) = ClaudeCode(tmp_path).observe([LABEL], SINCE)[LABEL]
    assert seen.limit is not None
    assert "11pm" in seen.limit


def test_starts_of_one_label_are_all_seen(tmp_path: Path) -> None:
    """A job that was started twice shows twice, the earlier first."""
    write(tmp_path, "b", assistant(1, {"type": "text", "text": "x"}))
    write(tmp_path, "a", assistant(2, {"type": "text", "text": "y"}))
    assert len(ClaudeCode(tmp_path).observe([LABEL], SINCE)[LABEL]) == 2


def test_nothing_there_is_nothing_seen(tmp_path: Path) -> None:
    """No client, no projects folder: no error."""
    assert ClaudeCode(tmp_path / "none").observe([LABEL], SINCE) == {}


def listing(**more: Any) -> dict[str, Any]:
    """Return the client's line that offers skills to a subagent."""
    return {"type": "attachment", "attachment": {"type": "skill_listing", **more}}


def test_the_skills_on_offer_are_seen(tmp_path: Path) -> None:
    """By the client's own list of names, else by its text; later listings add to it; none at all is not known."""
    text = "- tidy: Tidies: all of it.\n- p:bake: Bakes.\nTRIGGER - when: asked\n- mute\n"
    for name, lines in {
        "named": (listing(names=["tidy", "p:bake"], content="- other: x"), listing(names=["late"])),
        "told": (listing(content=text),),
        "none": (listing(names=[]),),
        "silent": (),
        "broken": (listing(names=[1, {}]), {"type": "attachment", "attachment": "skill_listing"}),
    }.items():
        write(tmp_path, name, *lines, assistant(1, {"type": "text", "text": "- fake: x"}), label=f"7f3a9c.{name:0<8}")
    labels = [f"7f3a9c.{name:0<8}" for name in ("named", "told", "none", "silent", "broken")]
    found = {}
    for number, label in enumerate(labels):
        file = tmp_path / f"projects/-home-dev/s1/subagents/agent-{label[7:].rstrip('0')}.meta.json"
        file.write_text(json.dumps({"description": f"[skillbench job 7f3a9c.0000000{number}]"}))
        (seen,) = ClaudeCode(tmp_path).observe([f"7f3a9c.0000000{number}"], SINCE).values()
        found[label[7:].rstrip("0")] = seen[0].listed
    assert found == {
        "named": ("tidy", "p:bake", "late"),
        "told": ("tidy", "p:bake", "mute"),
        "none": (),
        "silent": None,
        "broken": None,
    }


def test_a_refusal_is_told_from_an_answer(tmp_path: Path) -> None:
    """By how the last message stopped; one that the client asked for again and got is an answer."""
    said = {"type": "text", "text": "I can"}
    write(tmp_path, "a1", assistant(1, said, stop="refusal"))
    (seen,) = ClaudeCode(tmp_path).observe([LABEL], SINCE)[LABEL]
    assert (seen.settled, seen.refused) == (True, True)
    write(tmp_path, "a1", assistant(1, said, stop="refusal"), assistant(2, {"type": "text", "text": "a refusal: no"}))
    (seen,) = ClaudeCode(tmp_path).observe([LABEL], SINCE)[LABEL]
    assert (seen.refused, seen.final_text) == (False, "a refusal: no")
