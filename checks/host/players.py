"""The parts that the lab's model plays, each a function from a conversation so far to the next move.

They are honest in one way that matters: what an arm answers depends on the SKILL.md that it really read, and a judge
sees nothing but its packet. An arm finds as many things as the skill's line ``points: N`` says, one without a skill; a
judge prefers the output that found more. So verdicts follow from what reached whom.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

LABEL = re.compile(r"\[skillbench job ([^\]\s]+)\]")
_PATH = re.compile(r"/[^\s\"'`<>|]*[^\s\"'`<>|.,:;)\]}]")
_NAMES = re.compile(r"Skills to benchmark: `([^`]*)`")
_OFFER = re.compile(r"^- ([\w:-]+): .*\bfor (\w+)\.", re.MULTILINE)
_FOUND = re.compile(r"I found (\d+) things?\b")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_LINE_NUMBER = re.compile(r"(?m)^\s*\d+(?:→|\t)")


class Call(msgspec.Struct, frozen=True):
    """One tool call so far, with the text of its result; None where there is none yet."""

    name: str
    arguments: dict[str, Any]
    result: str | None
    failed: bool


class Cue(msgspec.Struct, frozen=True):
    """What a player sees: its first prompt, the tools on offer, its calls so far, those of the last turn."""

    prompt: str
    tools: tuple[str, ...]
    calls: tuple[Call, ...]
    last: tuple[Call, ...]
    conversation: str
    everything: str = ""

    @classmethod
    def of(cls, req: Any) -> Cue:
        """Read a cue off the server's request."""
        results: dict[str, tuple[str, bool]] = {}
        for message in req.messages:
            for block in _blocks(message["content"]):
                if block.get("type") == "tool_result":
                    results[block["tool_use_id"]] = (_text(block.get("content")), bool(block.get("is_error")))
        turns = []
        for message in req.messages:
            if message["role"] == "assistant":
                uses = [block for block in _blocks(message["content"]) if block.get("type") == "tool_use"]
                turns.append(tuple(_call(use, results) for use in uses))
        first = next((_text(m["content"]) for m in req.messages if m["role"] == "user"), "")
        first = _REMINDER.sub("", first)  # what the client adds of its own names files too
        calls = tuple(call for turn in turns for call in turn)
        everything = "\n".join(_text(message["content"]) for message in req.messages)
        return cls(first, tuple(req.tools), calls, turns[-1] if turns else (), req.conv, everything)


class Move(msgspec.Struct, frozen=True):
    """What a player answers: a text, and tool calls as (name, arguments)."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()


def label_of(prompt: str) -> str | None:
    """Return the label in a job's prompt, None where it is no job's. A listing of several jobs is no job's prompt."""
    found = set(LABEL.findall(prompt))
    return found.pop() if len(found) == 1 else None


def is_judge(cue: Cue) -> bool:
    """Tell a judge from an arm by what only a judge gets: a packet that asks for a winner."""
    return any('"winner"' in text for text in (cue.prompt, *(call.result or "" for call in cue.calls[:1])))


# -- the orchestrator -------------------------------------------------------------------------------------------------


def orchestrator(cue: Cue, manner: str, options: str = "") -> Move:
    """Follow SKILL.md: start, next and spawn until done, score, narrate, tell; `options` go to ``skillbench next``."""
    names = _NAMES.search(cue.prompt)
    if names is None:
        return Move(text="Hello.")
    skills = names[1].strip()
    if not cue.last:
        return _bash(f"skillbench start {skills or '--all'}")
    scorecard = "--scorecard" in skills.split()
    previous = cue.last[-1]
    command = _command(previous)
    if command.startswith("skillbench ") and previous.failed and "not found" in (previous.result or ""):
        launcher = re.search(r'write `("[^"`]+")` in its place', cue.prompt)
        return _bash(command.replace("skillbench", launcher[1], 1)) if launcher else Move(text="No program.")
    if command.startswith("skillbench start"):
        return Move(text=f"It does not start: {previous.result}") if previous.failed else _next(cue, skills, options)
    if command.startswith("skillbench scorecard"):
        return Move(text=f"Scorecard done. {(previous.result or '').strip()[-1500:]}")
    if scorecard and command.startswith("skillbench next") and _json(previous)["state"] == "done":
        named = "".join(f" --skill {name}" for name in skills.split() if name != "--scorecard")
        return _program(cue, f"scorecard{named}")
    if command.startswith("skillbench next"):
        return _after_next(cue, skills, manner, options)
    if command.startswith("cat "):
        return _narrate(previous.result or "")
    if command.startswith(("pytest", "skillbench score")):
        return _after_scoring(cue, previous, skills)
    if previous.name == "Write":
        return _score(cue)
    return _next(cue, skills, options)  # the subagents have ended


def _after_scoring(cue: Cue, previous: Call, skills: str) -> Move:
    scored = [call for call in cue.calls if _command(call).startswith(("pytest", "skillbench score"))]
    said = previous.result or ""
    lacking = previous.failed and ("not found" in said or "unrecognized arguments" in said)
    if lacking and _command(previous).startswith("pytest") and len(scored) == 1:
        return _program(cue, f"score {skills or '--all'}")
    told = not any(call.name == "Write" for call in cue.calls)
    if told and skills:
        return _bash(f"cat tests/.reports/{skills.split()[0].split('/')[-1]}.run/plan.json")
    return Move(text=f"Benchmark done. {(previous.result or '').strip()[-1500:]}")


def _after_next(cue: Cue, skills: str, manner: str, options: str) -> Move:
    answers = [_json(call) for call in _tail(cue, "skillbench next")]
    state = answers[-1]["state"]
    if manner == "greedy" and len(answers) < 3 and any(answer["state"] == "jobs" for answer in answers):
        return _next(cue, skills, f"{options} --limit 15")
    jobs = [job for answer in answers for job in answer.get("jobs", ())]
    if jobs:
        return Move(text="Starting a batch.", calls=tuple(_spawn(job) for job in _mangled(jobs, manner, cue)))
    if state == "waiting":
        return _next(cue, skills, options)
    if state == "done":
        return _score(cue)
    return Move(
        text=f"Stopped ({state}): {answers[-1]['message']}. Nothing is lost; the same command goes on from here."
    )


def _mangled(jobs: list[dict[str, Any]], manner: str, cue: Cue) -> list[dict[str, Any]]:
    if manner == "reversed":
        return jobs[::-1]
    if any(call.name == "Agent" for call in cue.calls):
        return jobs  # the other faults are of the first batch only
    if manner == "twice":
        return [jobs[0], *jobs]
    return jobs[:-1] if manner == "forgetful" and len(jobs) > 1 else jobs


def _spawn(job: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    arguments = {
        "description": job["label"],
        "subagent_type": job["agent"],
        "prompt": job["prompt"],
        "run_in_background": False,
    }
    if job.get("model"):
        arguments["model"] = job["model"]
    return "Agent", arguments


def _narrate(plan: str) -> Move:
    run = json.loads(plan)
    sentence = {
        "about": "headline",
        "text": "The figures say it.",
        "evidence": [{"value": "efficacy.cases", "is": str(len(run["cases"]))}],
    }
    text = json.dumps({"schema_version": 1, "run_id": run["run_id"], "sentences": [sentence]})
    path = f"{os.environ['LAB_WORK']}/tests/.reports/{run['skill']['name']}.run/narrative.json"
    return Move(calls=(("Write", {"file_path": path, "content": text}),))


def _next(cue: Cue, skills: str, options: str) -> Move:
    return _program(cue, " ".join(["next", *skills.split(), "--json", *options.split()]))


def _score(cue: Cue) -> Move:
    """Run the first command of the step that scores, as the skill's text has it."""
    command = re.search(r"\*\*Score\.\*\* `([^`]+)`", cue.prompt)
    return _bash(command[1]) if command else Move(text="I was not told how to score.")


def _program(cue: Cue, arguments: str) -> Move:
    """Call the program as it was found to be called."""
    first = next((str(call.arguments["command"]) for call in cue.calls if _command(call) and not call.failed), "")
    launcher = re.match(r'"[^"]+/scripts/skillbench"', first)
    return _bash(f"{launcher[0] if launcher else 'skillbench'} {arguments}")


def _command(call: Call) -> str:
    """Return a shell command with the launcher's path written as the program's name; "" for other tools."""
    return re.sub(r'^"[^"]+/scripts/skillbench"', "skillbench", str(call.arguments.get("command", "")))


def _bash(command: str) -> Move:
    return Move(calls=(("Bash", {"command": command, "timeout": 600000, "description": "benchmark"}),))


def _tail(cue: Cue, prefix: str) -> list[Call]:
    """Return the calls at the end of the conversation that all start with `prefix`, in order."""
    found: list[Call] = []
    for call in reversed(cue.calls):
        if not _command(call).startswith(prefix):
            break
        found.insert(0, call)
    return found


# -- arms -------------------------------------------------------------------------------------------------------------


def arm(cue: Cue, *, ignores: Callable[[], bool], strays: Callable[[], str | None]) -> Move:
    """Read the brief, open the skill where one is pointed at, do the work in the world, answer.

    `ignores`: whether this arm leaves its skill unread; `strays`: the file that an arm without a skill reads all the
    same.
    """
    brief, opened = _brief(cue)
    if opened is not None:
        return opened
    skill = next((path for path in _paths(brief) if path.endswith("/SKILL.md")), None)
    reading = strays() if skill is None else (None if ignores() else skill)
    read = [call for call in cue.calls if call.name == "Read" and call.arguments["file_path"] == reading]
    if reading is not None and not read:
        return Move(text="Looking at how to go about it.", calls=(("Read", {"file_path": reading}),))
    points = re.search(r"points: (\d+)", read[0].result or "") if read else None
    number = int(points[1]) if points else 1
    wrote = [call for call in cue.calls if call.name == "Write"]
    if not wrote:
        path = f"{world_of(brief)}/review.md"
        content = "".join(f"- thing {n}\n" for n in range(1, number + 1))
        look = ("Bash", {"command": f"ls {world_of(brief)}", "description": "look around"})
        return Move(calls=(look, ("Write", {"file_path": path, "content": content})))
    return Move(text=f"I found {number} {'thing' if number == 1 else 'things'}. They are in review.md.")


def world_of(brief: str) -> str:
    """Return the world that a brief names: the one folder among its paths that holds no skill."""
    skills = {os.path.dirname(path) for path in _paths(brief) if path.endswith("/SKILL.md")}
    found = [path for path in _paths(brief) if os.path.isdir(path) and path not in skills]
    if not found:
        raise ValueError(f"no world in the brief: {brief[:400]!r}")
    return found[0].rstrip("/")


def _brief(cue: Cue) -> tuple[str, Move | None]:
    """Return the whole prompt: the file that the job names, or the job itself; or the move that opens the file."""
    named = next((path for path in _paths(cue.prompt) if os.path.isfile(path) and not path.endswith("SKILL.md")), None)
    if named is None:
        return cue.prompt, None
    read = next((call for call in cue.calls if call.name == "Read" and call.arguments["file_path"] == named), None)
    if read is None:
        return "", Move(calls=(("Read", {"file_path": named}),))
    if read.result is None or read.failed:
        raise ValueError(f"the brief can't be read: {read.result!r}")
    return _LINE_NUMBER.sub("", read.result), None


# -- probes -----------------------------------------------------------------------------------------------------------


def probe(cue: Cue, manner: str) -> Move:
    """Use the skill that is on offer for what the request speaks of, where there is one, as the listing has it.

    `manner`: ``honest``; ``never`` uses none; ``opens`` opens its file where another would call it.
    """
    wanted = _fitting(cue.everything, cue.prompt)
    if wanted is None or manner == "never" or cue.calls:
        return Move(text="I would begin by looking at what is there.")
    if manner == "opens":
        path = f"{os.environ['LAB_WORK']}/.claude/skills/{wanted}/SKILL.md"
        return Move(calls=(("Read", {"file_path": path}),))
    return Move(text="I have something for that.", calls=(("Skill", {"skill": wanted}),))


def is_question(cue: Cue) -> bool:
    """Tell the question which skill would be used from any other job."""
    return any('{"skill": null}' in text for text in (cue.prompt, *(call.result or "" for call in cue.calls[:1])))


def question(cue: Cue, manner: str) -> Move:
    """Open the brief, and answer with the skill on offer that fits what the user writes, in the JSON asked for."""
    brief, opened = _brief(cue)
    if opened is not None:
        return opened
    asked = brief.split("<<< ")[1]
    return Move(text=json.dumps({"skill": None if manner == "never" else _fitting(brief, asked)}))


def _fitting(listing: str, request: str) -> str | None:
    offers = _OFFER.findall(listing)
    return next((name for name, word in offers if re.search(rf"\b{word}\b", request)), None)


# -- judges -----------------------------------------------------------------------------------------------------------


def judge(cue: Cue, taste: str, nonsense: str | None) -> Move:
    """Open the packet, compare the two outputs, answer with the JSON that is asked for, or with `nonsense`."""
    packet, opened = _brief(cue)
    if opened is not None:
        return opened
    if nonsense is not None:
        return Move(text=nonsense)
    found = [int(number) for number in _FOUND.findall(packet)]
    if len(found) != 2:
        raise ValueError(f"{len(found)} outputs in the packet, expected 2: {packet[:400]!r}")
    a, b = found
    count = re.search(r"each of the (\d+) criteria", packet)
    criteria = int(count[1]) if count else 1
    winner = "A" if a > b or taste == "always-a" else "B" if b > a else "TIE"
    quotes = {"quote_a": f"I found {a}", "quote_b": f"I found {b}"}
    each = [{"criterion": n, "better": winner, "because": f"{a} against {b}", **quotes} for n in range(1, criteria + 1)]
    strength = None if winner == "TIE" else "clear"
    answer = {"winner": winner, "strength": strength, "criteria": each, "rationale": f"A found {a}, B found {b}."}
    return Move(text=json.dumps(answer))


# -- conversations ----------------------------------------------------------------------------------------------------


def _paths(text: str) -> list[str]:
    return _PATH.findall(text)


def _json(call: Call) -> dict[str, Any]:
    text = call.result or ""
    try:
        answer = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except ValueError as error:
        raise ValueError(f"skillbench next printed no JSON: {text[-600:]!r}") from error
    if not isinstance(answer, dict):
        raise ValueError(f"skillbench next printed no object: {text[-600:]!r}")
    return answer


def _blocks(content: Any) -> Iterable[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or ()


def _text(content: Any) -> str:
    return "\n".join(block.get("text", "") for block in _blocks(content) if block.get("type") == "text")


def _call(use: dict[str, Any], results: dict[str, tuple[str, bool]]) -> Call:
    result, failed = results.get(use["id"], (None, False))
    return Call(use["name"], use["input"], result, failed)
