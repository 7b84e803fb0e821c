"""The main conversation of a session: start the run, ask what is next, start the agents, batch after batch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pytest_skillbench.model import Plan

from .sessions import ARM_MODEL, Said, Talk, Tool

BATCH = 10


@dataclass(frozen=True)
class Job:
    """One subagent: its label, its id, what it answered, its conversation."""

    label: str
    agent: str
    reply: str
    talk: Talk


def main_session(plan: Plan, session: str, jobs: Sequence[Job]) -> bytes:
    """Return the main conversation's file. It ends when the arms are done; judging happens in another session."""
    started = datetime.strptime(plan.created_at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    talk = Talk(key=session, session=session, model=ARM_MODEL, at=started - timedelta(seconds=9), base=15210)
    talk.start(f"/benchmark-skill {plan.skill.name}")
    told = f"{plan.skill.name}: {plan.shape}, {len(plan.cases)} cases x {plan.trials} trials, {len(jobs)} arm jobs."
    _bash(talk, "I'll plan the run.", f"skillbench start {plan.skill.name}", told)
    for first in range(0, len(jobs), BATCH):
        batch = jobs[first : first + BATCH]
        named = {"state": "jobs", "done": first, "total": len(jobs), "jobs": [{"label": job.label} for job in batch]}
        _bash(talk, "", f"skillbench next {plan.skill.name} --json", json.dumps(named))
        talk.respond(Said(text=f"Starting {len(batch)} agents.", tools=tuple(_agent(job) for job in batch)))
        talk.at = max(talk.at, max(job.talk.at for job in batch))
    done = {"state": "waiting", "done": len(jobs), "total": len(jobs), "message": "arms done; judging can begin"}
    _bash(talk, "", f"skillbench next {plan.skill.name} --json", json.dumps(done))
    talk.respond(
        Said(text=f"All {len(jobs)} arm jobs of {plan.skill.name} have run. The judges come next, in a new session.")
    )
    return ("\n".join(talk.lines) + "\n").encode()


def _bash(talk: Talk, text: str, command: str, result: str) -> None:
    talk.respond(Said(text=text, tools=(Tool("Bash", {"command": command}, result),)))


def _agent(job: Job) -> Tool:
    """Return the call that starts a subagent. Its result's usage is of the last response only, as in real files."""
    prompt = json.loads(job.talk.lines[0])["message"]["content"]
    last = job.talk.requests[-1]
    written = int(str(last["cache_write_5m"])) + int(str(last["cache_write_1h"]))
    usage = {
        "input_tokens": last["input"],
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": last["cache_read"],
        "output_tokens": last["output"],
    }
    total = sum(int(str(count)) for count in usage.values())
    extra: dict[str, object] = {"status": "completed", "agentId": job.agent, "totalTokens": total, "usage": usage}
    given: dict[str, object] = {
        "description": job.label,
        "prompt": prompt,
        "subagent_type": "skillbench-arm",
        "run_in_background": False,
    }
    return Tool("Agent", given, job.reply, extra)
