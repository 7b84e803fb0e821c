"""An open job -> what a subagent needs for it: a fresh world, a materialization, a brief, and the one-line prompt.

Gather. Every name that a subagent sees is random; the label says nothing of the arm.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal

from . import prompts, worlds
from .audit import Places
from .jobs import Job, order_of
from .model import COMPARISONS, NEW_ARM, ArmName, Plan, PlannedCase, Value
from .plan import check_frozen, frozen_fixture, frozen_package
from .project import Project
from .record import RunRecord, arm_stem
from .runstate import Attempt, RunState, at, label_of, under_way

#: The agent definition that each kind of job wants, and what is asked for where that is not installed.
AGENTS = {"arm": "skillbench-arm", "judge": "skillbench-judge"}
FALLBACK = "general-purpose"


class HandedOut(Value, frozen=True, omit_defaults=True):
    """A job as ``skillbench next`` prints it: `agent` names the agent definition, `prompt` is passed on verbatim.

    `model`: what to ask the client for, absent where the settings leave it to the client.
    """

    label: str
    agent: str
    prompt: str
    model: str | None = None


def prepare(
    record: RunRecord, state: RunState, job: Job, now: datetime, session: str | None, agents: Mapping[str, str]
) -> Attempt:
    """Make world, materialization and brief of a new attempt below the run's temp root.

    `agents` maps our agent definitions to the names under which this client knows them; absent ones are not installed.
    """
    root, plan = Path(state.root), record.plan
    number = len(state.attempts.get(job.stem, ())) + 1
    world: Path | None = None
    skill: Path | None = None
    if job.arm is not None:
        case = _case(plan, job.case)
        check_frozen(plan, record.folder, record.shown, case, job.arm)
        world = worlds.make_world(root, frozen_fixture(record.folder, job.case))
        if job.arm != "no-skill":
            skill = worlds.materialize(root, frozen_package(record.folder, job.arm), plan.skill.name)
        text = prompts.arm_brief(case, world, skill / "SKILL.md" if skill else None)
    else:
        text = _packet(record, state, job)
    return Attempt(
        label=label_of(plan.run_id, plan.seed, job.stem, number),
        number=number,
        handed_out_at=at(now),
        brief=str(worlds.write_brief(root, text)),
        world=str(world) if world else None,
        skill=str(skill) if skill else None,
        agent=agents.get(AGENTS[job.kind], FALLBACK),
        session=session,
    )


def announce(plan: Plan, job: Job, attempt: Attempt) -> HandedOut:
    """Return how an attempt is handed to the orchestrator; the same for the same attempt."""
    prompt = prompt_of(attempt, job.kind, plan.settings.delivery)
    model = plan.settings.model if job.kind == "arm" else plan.settings.judge_model
    return HandedOut(label=attempt.label, agent=attempt.agent, prompt=prompt, model=model)


def prompt_of(attempt: Attempt, kind: Literal["arm", "judge"], delivery: Literal["brief", "inline"]) -> str:
    """Return what a subagent is told: the brief itself, or the one line that sends it there. The tag is in both."""
    brief = Path(attempt.brief)
    if delivery == "inline":
        return f"{brief.read_text(encoding='utf-8')}\n\n(This is [skillbench job {attempt.label}].)"
    return prompts.job_prompt(attempt.label, brief, kind)


def places_of(project: Project, state: RunState, skill: str, attempt: Attempt, copies: tuple[Path, ...]) -> Places:
    """Return what the audit needs to know of where things are; `skill` is the name of the one under test."""
    return Places(
        world=Path(attempt.world or attempt.brief),
        skill=Path(attempt.skill) if attempt.skill else None,
        brief=Path(attempt.brief),
        repo=project.root,
        tests=project.tests,
        root=Path(state.root),
        cwd=project.root,
        copies=copies,
        home=Path.home(),
        names=frozenset(os.listdir(project.root)),
        aliases=worlds.spellings(Path(state.root), project.root, Path.home(), *copies),
        skill_name=skill,
    )


def _packet(record: RunRecord, state: RunState, job: Job) -> str:
    """Return a judge's packet: the prompt, the criteria and the two sides in this job's order, scrubbed alike."""
    plan = record.plan
    opponent = next(c.opponent for c in COMPARISONS if c.name == job.comparison)
    arms: tuple[ArmName, ArmName] = (NEW_ARM, opponent)
    if order_of(plan, job) == "new-second":
        arms = (opponent, NEW_ARM)
    given = [Path(path) for arm in arms for path in _paths(state, job, arm)]
    paths = list(dict.fromkeys([*given, *(path.resolve() for path in given)]))
    words = [plan.skill.name]
    shown = [
        prompts.Shown(
            output=prompts.scrub(record.output(job.case, job.trial, arm) or "", words, paths),
            changes=prompts.scrub(record.changes(job.case, job.trial, arm) or "", words, paths),
        )
        for arm in arms
    ]
    return prompts.judge_packet(_case(plan, job.case), shown[0], shown[1], secrets.token_hex(16))


def _paths(state: RunState, job: Job, arm: ArmName) -> list[str]:
    attempt = under_way(state, arm_stem(job.case, job.trial, arm))
    return [path for path in (attempt.world, attempt.skill, attempt.brief) if path] if attempt else []


def _case(plan: Plan, name: str) -> PlannedCase:
    return next(case for case in plan.cases if case.name == name)
