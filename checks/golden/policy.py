"""The model of the golden runs: orchestrator, arms and judges with what was authored for them.

Loaded by the scripted server under the name ``policy``, which calls `decide` once a request, from several threads. What
is said next follows from the conversation alone. Whatever is not as it was authored for raises, and stops the making.
"""

from __future__ import annotations

import importlib
import json
import os
import re
from pathlib import Path
from typing import Any

from checks.golden import arms, figures, judges
from checks.golden.recipes import RECIPES
from checks.golden.roles import ArmPart, JudgePart, part_of
from checks.host.players import Cue, Move, label_of, orchestrator

_server: Any = importlib.import_module("server")  # the scripted server, whose module has no types
_BRIEF = re.compile(r"Read the file `([^`]+)`")
_REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_LINE_NUMBER = re.compile(r"(?m)^ *\d+(?:→|\t|$)")
#: Tokens a second: what makes the times in the records those of a conversation, and not of a file that is read aloud.
_SPEED = 90


def decide(req: Any) -> Any:
    """Return the model's answer to one request. Raises ValueError where nothing was authored for it."""
    req.messages = _without_reminders(req.messages)
    cue = Cue.of(req)
    label = label_of(cue.prompt)
    if not cue.tools:
        return _server.Reply([_server.text("ok")])  # a title, a summary: nobody's turn
    if label is None:
        return _reply(req, _orchestrate(cue), figures.ORCHESTRATOR, "orchestrator", None)
    brief = _BRIEF.search(cue.prompt)
    if brief is None:
        raise ValueError(f"no brief in {cue.prompt!r}")
    part = part_of(Path(brief[1]))
    _check(cue, part)
    if isinstance(part, ArmPart):
        key = part.key if part.scene.fixture else f"{part.key}#"
        return _reply(req, arms.moves(part)[req.turn], figures.ARM, key, label)
    return _reply(req, judges.moves(part)[req.turn], figures.JUDGE, part.key, label)


def _check(cue: Cue, part: ArmPart | JudgePart) -> None:
    """Hold what the client showed to what is played: the whole brief, the skill's own text, and no failed call."""
    for call in cue.calls:
        if call.failed or call.result is None:
            raise ValueError(f"{part.key}: {call.name} {call.arguments} failed: {call.result!r}")
        if call.name == "Read":
            there = Path(call.arguments["file_path"]).read_text("utf-8")
            shown = _LINE_NUMBER.sub("", call.result)
            edited = call.arguments["file_path"].endswith("/CHANGELOG.md")  # it was, since it was read
            if not edited and there.strip() != shown.strip():
                raise ValueError(f"{part.key}: {call.arguments['file_path']} was not shown as it is: {shown[:400]!r}")


def _orchestrate(cue: Cue) -> Move:
    """Follow the skill's text; only the narrative is an authored one."""
    move = orchestrator(cue, "good")
    if [name for name, _ in move.calls] != ["Write"]:
        return move
    given = move.calls[0][1]
    written = json.loads(given["content"])
    recipe = next(recipe for recipe in RECIPES if f"/{recipe.skill}.run/" in given["file_path"])
    text = json.dumps({**written, "sentences": recipe.narrative}, ensure_ascii=False, indent=2) + "\n"
    return Move(calls=(("Write", {**given, "content": text}),))


def _reply(req: Any, move: Move, kind: figures.Kind, key: str, label: str | None) -> Any:
    blocks = [_server.text(move.text)] if move.text else []
    blocks += [_server.tool(name, **arguments) for name, arguments in move.calls]
    used = figures.usage(kind, key, req.messages, blocks, _clean)
    reply = _server.Reply(blocks, usage=_server.Usage(**used), delay=0.2 + used["output"] / _SPEED)
    reply.label = label
    return reply


def _clean(text: str) -> str:
    """Return a text without the folder that the lab happens to be in."""
    return text.replace(str(Path(os.environ["LAB_WORK"]).parent), "")


def _without_reminders(value: Any) -> Any:
    """Return messages without what the client adds of its own, such as how many tokens are left."""
    if isinstance(value, str):
        return _REMINDER.sub("", value)
    if isinstance(value, list):
        return [_without_reminders(item) for item in value]
    return {key: _without_reminders(item) for key, item in value.items()} if isinstance(value, dict) else value
