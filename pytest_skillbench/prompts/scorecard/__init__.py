"""What the subagents of a scorecard are told: a task with the skill, a probe without a word of it, or a question.

Core, but for reading the templates that lie beside this file and those of an arm, whose brief a task shares. `digest`
is their identity, which goes into the plan.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from ...text import visible
from .. import fill, identity

_OWN = ("environment.md", "probe.md", "probe_files.md", "asked.md")
_TEMPLATES = (*(f"scorecard/{name}" for name in _OWN), "arm.md", "arm_skill.md", "job_arm.md", "job_judge.md")


def task_brief(prompt: str, environment: Mapping[str, str], world: Path, skill_md: Path) -> str:
    """Return the whole task of a subagent that is given the skill: an arm's brief, with the case's input at its end.

    `environment`: variables that no client can set for a subagent, so that they are told in words.
    """
    exports = "\n".join(f"    export {name}={shlex.quote(visible(value))}" for name, value in environment.items())
    return fill(
        "arm.md",
        world=str(world),
        quoted_world=shlex.quote(str(world)),
        skill=fill("arm_skill.md", skill_file=str(skill_md)),
        conversation=fill("scorecard/environment.md", exports=exports) if environment else "",
        prompt=prompt,
    )


def probe_prompt(prompt: str, label: str, world: Path | None) -> str:
    """Return what a probe is told: the case's input as a user writes it, where its files are, the job's tag."""
    return fill("scorecard/probe.md", prompt=prompt, files=_files(world), label=label)


def asked_brief(prompt: str, listing: str, world: Path | None, marker: str) -> str:
    """Return the question which skill a subagent would use, with the skills in `listing` on offer.

    `marker` is a word that nobody could have guessed, drawn anew for each. Raises ValueError for one that is too short
    to be a secret, or that stands in the prompt.
    """
    if not re.fullmatch(r"[0-9A-Za-z]{16,}", marker) or marker in prompt:
        raise ValueError("a marker is at least 16 letters and digits that stand nowhere else")
    files = f"{_files(world).strip()}\n" if world is not None else ""
    return fill("scorecard/asked.md", prompt=visible(prompt), listing=listing, files=files, marker=marker)


def _files(world: Path | None) -> str:
    return fill("scorecard/probe_files.md", world=str(world)) if world is not None else ""


def digest() -> str:
    """Return the SHA-256 of all templates, names and contents, as 64 hex digits."""
    return identity(_TEMPLATES)
