"""Which skills a client would offer its model, and whether the skill under test is among them as it is here.

Gather: reads front matter of the repository's skills, of installed copies, and a client's settings; changes nothing.
A probe can be observed only where the client lists the skill by itself; elsewhere the listing that is made here stands
in the prompt, and the subagent is asked.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from ..doctor import agent_names, fresh_agent
from ..errors import SkillbenchError
from ..exposure import Homes
from ..files import read_bounded
from ..model import Value
from ..project import Project
from ..text import one_line
from ..tree import SkillEntry, Tree
from ..yamlread import Source, compose
from .size import is_invocable

PROBE_AGENT = "skillbench-probe"
NO_PROBES = "the skill sets disable-model-invocation, so no model may use it unasked"
_LIMIT = 1 << 20
_INJECTED = re.compile(r"!`[^`\n]|^```!", re.MULTILINE)
_LONGEST = 1_536  # characters of a description; clients cut it at about as many


class Offer(Value, frozen=True):
    """A skill as a client offers it: its name, what it says it is for, whether a model may use it unasked.

    `head`: its front matter as it stands, without line ends that differ. `acts`: what using it does by itself, "" for
    nothing: Claude Code runs a skill that forks in an agent of its own, and commands in a skill's text as it loads it.
    """

    name: str
    description: str
    invocable: bool
    head: str
    acts: str


def offer(file: Path, name: str) -> Offer | None:
    """Return what a SKILL.md offers, None where it can't be read. `name`: its folder's, where it names no other."""
    try:
        data = read_bounded(file, _LIMIT, str(file))
    except (FileNotFoundError, SkillbenchError):
        return None
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    head = _head(text)
    root = compose(Source(text=head, path=str(file), slug="skill", first_line=2)) if head else None
    found: dict[str, str] = {}
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        if isinstance(key, yaml.ScalarNode):
            found.setdefault(key.value, value.value if isinstance(value, yaml.ScalarNode) else "")
    words = " ".join(found[key] for key in ("description", "when_to_use") if found.get(key))
    return Offer(
        name=one_line(found.get("name") or name, 100),
        description=one_line(words, _LONGEST),
        invocable=is_invocable(text),
        head=head,
        acts=_acts(found, text),
    )


def _acts(fields: Mapping[str, str], text: str) -> str:
    if fields.get("context") == "fork":
        return "starts an agent of its own"
    if "hooks" in fields:
        return "sets hooks"
    return "runs commands as it is loaded" if _INJECTED.search(text) else ""


def _head(text: str) -> str:
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return ""
    end = next((i for i in range(1, len(lines)) if lines[i].rstrip() == "---"), None)
    return "\n".join(line.rstrip() for line in lines[1:end]) + "\n" if end is not None else ""


def listing(tree: Tree) -> str:
    """Return the repository's skills that a model may use unasked, one a line, as clients list them; "" for none."""
    found = [offer(skill.folder / "SKILL.md", skill.name) for skill in tree.skills]
    rows = {one.name: one.description or "(no description)" for one in found if one is not None and one.invocable}
    return "\n".join(f"- {name}: {rows[name]}" for name in sorted(rows))


def names_in(text: str) -> list[str]:
    """Return the names in what `listing` made, in order."""
    return [line[2:].partition(": ")[0] for line in text.split("\n") if line.startswith("- ")]


def not_observable(project: Project, skill: SkillEntry, host: str, environ: Mapping[str, str] | None = None) -> str:
    """Return why it can't be observed whether this skill is triggered, "" where it can.

    It can in Claude Code where our probe agent is installed, and the skill as well, with the front matter that it has
    here: that is all that a model sees of it before it uses it. A skill that does something by being used is not put
    to the test in the user's repository.
    """
    known = os.environ if environ is None else environ
    if host != "claude-code":
        return f"the host {host} can't show what a subagent is offered"
    if PROBE_AGENT not in agent_names(project, known):
        return f"the agent {PROBE_AGENT} is not installed: skillbench install"
    if fresh_agent(project, PROBE_AGENT, known) is not None:
        return f"the agent {PROBE_AGENT} is newer than this session, which has read its agents already"
    mine = offer(skill.folder / "SKILL.md", skill.name)
    if mine is not None and mine.acts:
        return f"using the skill {mine.acts}, which a probe must not bring about in this repository"
    installed = list(_installed(project, skill.name, known))
    if not installed:
        return "the skill is not installed where Claude Code lists it, such as in .claude/skills"
    for folder in installed:
        theirs = offer(folder / "SKILL.md", skill.name)
        if mine is None or theirs is None or theirs.head != mine.head:
            return f"the copy in {project.relative(folder)} has another front matter than the skill has here"
    setting = _override(project, skill.name, known)
    return f'the setting skillOverrides of {setting} takes "{skill.name}" out of the listing' if setting else ""


def _installed(project: Project, name: str, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield each folder from which Claude Code may list a skill of this name, once, links followed."""
    homes = Homes(environ)
    places = [project.root / ".claude/skills", homes.claude / "skills", *homes.plugin_parts("skills")]
    seen: set[str] = set()
    for place in places:
        folder = place / name
        real = os.path.realpath(folder)
        if real not in seen and (folder / "SKILL.md").is_file():
            seen.add(real)
            yield folder


def _override(project: Project, name: str, environ: Mapping[str, str]) -> str | None:
    """Return the settings file that keeps a skill from being listed as it is, None where none does."""
    own = project.root / ".claude"
    for file in (own / "settings.local.json", own / "settings.json", Homes(environ).claude / "settings.json"):
        try:
            settings = json.loads(read_bounded(file, _LIMIT, str(file)))
        except (FileNotFoundError, SkillbenchError, ValueError, RecursionError):
            continue  # the client's file; what is broken in it the client says
        overrides = settings.get("skillOverrides") if isinstance(settings, dict) else None
        if isinstance(overrides, dict) and name in overrides:
            return None if overrides[name] == "on" else project.relative(file)
    return None
