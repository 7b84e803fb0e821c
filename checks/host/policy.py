"""The model of the lab: plays orchestrator, arms and judges, told apart by what stands in the conversation.

Loaded by the scripted server under the name ``policy``, which calls `decide` once a request, from several threads. The
players are stateless: what they do next follows from the tool calls and results so far. Only the faults of the
`Scenario` are counted here.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from checks.host.players import Cue, Move, arm, is_judge, is_question, judge, label_of, orchestrator, probe, question
from checks.host.scenario import VARIABLE, Scenario

_server: Any = importlib.import_module("server")  # the scripted server, whose module has no types
_lock = threading.Lock()
_counts: Counter[str] = Counter()
_decided: dict[tuple[str, str], bool] = {}


def _no_client() -> None:
    raise RuntimeError("a scenario kills the client, and nobody said how")


#: Kills the client; `lab` puts the real one here.
kill_client: Callable[[], None] = _no_client


def scenario() -> Scenario:
    """Return the run's scenario; everybody behaves where none is named."""
    path = os.environ.get(VARIABLE)
    return msgspec.json.decode(Path(path).read_bytes(), type=Scenario) if path else Scenario()


def decide(req: Any) -> Any:
    """Return the model's answer to one request. Raises where a player does not know what to do: that must be loud."""
    cue = Cue.of(req)
    faults = scenario()
    if not cue.tools:
        return _reply(Move(text="ok"))  # a title, a summary: nobody's turn
    label = label_of(cue.prompt)
    if label is None:
        return _reply(orchestrator(cue, faults.orchestrator, faults.options))
    if is_judge(cue):
        nonsense = _first("nonsense", cue.conversation, faults.judge_nonsense)
        move = judge(cue, faults.judge, faults.nonsense if nonsense else None)
    elif "Skill" in cue.tools:
        move = probe(cue, faults.probe)
    elif is_question(cue):
        move = question(cue, faults.probe)
    else:
        move = arm(
            cue,
            ignores=lambda: _first("ignore", cue.conversation, faults.ignore_skill),
            strays=lambda: (
                faults.skill_file if _first("stray", cue.conversation, faults.baseline_reads_skill) else None
            ),
        )
    return _last_words(cue, move, faults, label)


def _last_words(cue: Cue, move: Move, faults: Scenario, label: str) -> Any:
    """Answer for a subagent; a final answer may be cut, replaced by a limit, or the last thing before a crash."""
    if move.calls:
        return _reply(move, label)
    number = _number("final", cue.conversation)
    if number is not None and number == faults.kill_at:
        kill_client()
    if number is not None and number == faults.limit_at:
        return _reply(Move(text=faults.limit_text), label)
    cut = not is_judge(cue) and _first("cut", cue.conversation, faults.cut_arms) and _once("cut", cue.conversation)
    return _reply(move, label, cut=cut)


def _reply(move: Move, label: str | None = None, *, cut: bool = False) -> Any:
    blocks = [_server.text(move.text)] if move.text else []
    blocks += [_server.tool(name, **arguments) for name, arguments in move.calls]
    reply = _server.Reply(blocks, cut=cut)
    reply.label = label
    return reply


def _first(what: str, conversation: str, limit: int) -> bool:
    """Return whether this conversation is among the first `limit` to ask; the answer stays the same for it."""
    with _lock:
        key = (what, conversation)
        if key not in _decided:
            _counts[what] += 1
            _decided[key] = _counts[what] <= limit
        return _decided[key]


def _number(what: str, conversation: str) -> int | None:
    """Return how many conversations have got as far as this one, 1-based; None where it asks again."""
    with _lock:
        if (what, conversation) in _decided:
            return None
        _decided[what, conversation] = True
        _counts[what] += 1
        return _counts[what]


def _once(what: str, conversation: str) -> bool:
    return _number(f"{what} once", conversation) is not None
