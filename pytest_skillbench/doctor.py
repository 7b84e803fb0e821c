"""What a benchmark needs, and what of it is there: program, repository, client, installation, isolation, transcripts.

Gather: looks, and asks programs for their version; the one thing that it writes is a temporary folder, removed at once.
Behind ``skillbench doctor``; `preflight` and `copies` serve `start` and the audit.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from . import __version__, git, install, tree, worlds
from . import project as projects
from .errors import Problem, SkillbenchError
from .exposure import Homes, copies
from .exposure import problems as exposed
from .model import Value
from .project import Project
from .text import one_line

__all__ = ["Check", "agent_names", "copies", "examine", "fresh_agent", "preflight"]

OLDEST_PYTHON = (3, 11)
CLIENTS = {"claude": "Claude Code", "codex": "Codex", "opencode": "OpenCode", "gemini": "Gemini CLI"}
#: The agents that jobs with a world, and judges, ask for; a probe without its own is asked and not observed.
_OF_RUNS = tuple(name for name in install.AGENTS if name != "skillbench-probe")
_VERSION_SECONDS = 20
_HEAD = 1 << 20

Status = Literal["ok", "warning", "blocker"]


class Check(Value, frozen=True):
    """One thing that was looked at. `hint`: what to do about it, None where there is nothing to do."""

    topic: str
    status: Status
    text: str
    hint: str | None = None


def preflight(project: Project, skill: str, environ: Mapping[str, str] | None = None) -> tuple[Problem, ...]:
    """Return what could spoil a run of the skill named `skill`, each as a warning: nothing here stops a run.

    Agent definitions that are not installed, or newer than the session; copies of the skill where a client reads them;
    instruction files that name it; the git status that Claude Code hands to subagents.
    """
    known = os.environ if environ is None else environ
    return (*_agents(project, known), *exposed(project, skill, known))


def agent_names(project: Project, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return by what name Claude Code knows each installed agent of ours: as it is called, or ``plugin:name``."""
    homes = Homes(os.environ if environ is None else environ)
    return {name: known for name in install.AGENTS if (known := _agent(project, homes, name)) is not None}


def _agent(project: Project, homes: Homes, name: str) -> str | None:
    if any((folder / f"{name}.md").is_file() for folder in (project.root / ".claude/agents", homes.claude / "agents")):
        return name
    for folder in homes.plugin_parts("agents"):
        if (folder / f"{name}.md").is_file() and (plugin := _plugin(folder.parent)) is not None:
            return f"{plugin}:{name}"
    return None


def _plugin(folder: Path) -> str | None:
    try:
        found = msgspec.json.decode((folder / ".claude-plugin/plugin.json").read_bytes(), type=dict[str, object])
    except (OSError, msgspec.DecodeError):
        return None
    name = found.get("name")
    return name if isinstance(name, str) else None


def _agents(project: Project, environ: Mapping[str, str]) -> tuple[Problem, ...]:
    """Return why the client may not know our agents: absent, or put there after it started."""
    there = agent_names(project, environ)
    missing = [name for name in _OF_RUNS if name not in there]
    if missing:
        problem = Problem(
            path=".claude/agents",
            slug="preflight-no-agents",
            what=f"no {' and no '.join(missing)}: a general-purpose agent stands in, which sees every skill",
            expected="skillbench install, then the client started anew",
            severity="warning",
        )
        return (problem,)
    return tuple(
        Problem(
            path=project.relative(file),
            slug="preflight-fresh-agent",
            what="newer than this session, which has read its agents already",
            expected="the client started anew",
            severity="warning",
        )
        for name in _OF_RUNS
        if (file := fresh_agent(project, name, environ)) is not None
    )


def fresh_agent(project: Project, name: str, environ: Mapping[str, str]) -> Path | None:
    """Return the project's definition of an agent where it is newer than the session that we run in, else None."""
    started = _session_start(environ)
    file = project.root / ".claude/agents" / f"{name}.md"
    return file if started is not None and file.is_file() and file.stat().st_mtime > started else None


def _session_file(environ: Mapping[str, str]) -> Path | None:
    """Return the transcript of the Claude Code session that we run in, None outside of one or where there is none."""
    session = environ.get("CLAUDE_CODE_SESSION_ID", "")
    if not session or not session.replace("-", "").isalnum():
        return None
    return next(iter(sorted((Homes(environ).claude / "projects").glob(f"*/{session}.jsonl"))), None)


def _session_start(environ: Mapping[str, str]) -> float | None:
    """Return when the session began, in seconds of the epoch, by the first time in its transcript."""
    file = _session_file(environ)
    if file is None:
        return None
    try:
        with file.open("rb") as lines:
            for line in lines.read(_HEAD).split(b"\n"):
                try:
                    stamp = msgspec.json.decode(line, type=dict[str, object]).get("timestamp")
                    return datetime.fromisoformat(str(stamp)).timestamp()
                except (msgspec.DecodeError, ValueError):
                    continue  # a line of another kind, or the one that is cut off
    except OSError:
        return None
    return None


# -- the examination --------------------------------------------------------------------------------------------------


def examine(start: Path, names: Sequence[str] = (), environ: Mapping[str, str] | None = None) -> tuple[Check, ...]:
    """Look at everything and return what was found, in the order in which a run needs it.

    `names`: the skills to look for copies of; none means all. Raises UsageError for a skill that is not there.
    """
    known = os.environ if environ is None else environ
    checks = [_python(), *_programs(known)]
    try:
        project = projects.find(start)
    except SkillbenchError as error:
        return (*checks, *(_from(problem, "repository") for problem in error.problems))
    found = tree.discover(project)
    skills = found.select(names)
    checks.append(_repository(found, skills))
    checks += [_temporary(project), _reports(project), *_installation(project, known), _transcripts(known)]
    spoiled = dict.fromkeys(problem for skill in skills for problem in preflight(project, skill.name, known))
    checks += [_from(problem, "isolation") for problem in spoiled]
    return (*checks, *([] if spoiled else [Check(topic="isolation", status="ok", text="nothing gives a skill away")]))


def _from(problem: Problem, topic: str) -> Check:
    where = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
    status: Status = "blocker" if problem.severity == "error" else "warning"
    return Check(topic=topic, status=status, text=f"{where}: {problem.what}", hint=problem.expected)


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    fine = sys.version_info >= OLDEST_PYTHON
    text = f"pytest-skillbench {__version__} on Python {version}"
    hint = None if fine else "Python 3.11 or newer"
    return Check(topic="program", status="ok" if fine else "blocker", text=text, hint=hint)


def _programs(environ: Mapping[str, str]) -> list[Check]:
    """Ask git, pytest and the clients for their versions, side by side: a client may take a second to answer."""
    path = environ.get("PATH", os.defpath)
    names = ("git", "pytest", *CLIENTS)
    with ThreadPoolExecutor(len(names)) as pool:
        found = dict(zip(names, pool.map(lambda name: _version(name, path), names), strict=True))
    checks = [_git(found["git"])]
    clients = [f"{CLIENTS[name]} {found[name]}" for name in CLIENTS if found[name] is not None]
    if clients:
        checks.append(Check(topic="client", status="ok", text=", ".join(clients)))
    else:
        hint = "one of them, or `skillbench start --host manual`"
        text = f"no agent client on PATH ({', '.join(CLIENTS)})"
        checks.append(Check(topic="client", status="warning", text=text, hint=hint))
    if found["pytest"] is None:
        hint = "pytest, or `skillbench score` in its place"
        checks.append(Check(topic="pytest", status="warning", text="not on PATH", hint=hint))
    else:
        checks.append(Check(topic="pytest", status="ok", text=found["pytest"]))
    return checks


def _git(version: str | None) -> Check:
    if version is None:
        return Check(topic="git", status="blocker", text="not on PATH", hint="git to be installed")
    numbers = tuple(int(part) for part in version.removeprefix("git version ").split(".")[:2] if part.isdecimal())
    old = numbers < git.OLDEST
    hint = f"git {'.'.join(map(str, git.OLDEST))} or newer" if old else None
    return Check(topic="git", status="blocker" if old else "ok", text=version, hint=hint)


def _version(name: str, path: str) -> str | None:
    """Return what a program says of its version, None where it is not on `path`."""
    program = shutil.which(name, path=path)
    if program is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603  # a program of the user's PATH, asked for its version
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "(does not say its version)"
    said = done.stdout.decode("utf-8", "replace").strip() or done.stderr.decode("utf-8", "replace").strip()
    return one_line(said.split("\n")[0], 80) or "(does not say its version)"


def _repository(found: tree.Tree, skills: Sequence[tree.SkillEntry]) -> Check:
    project = found.project
    errors = [problem for problem in found.problems if problem.severity == "error"]
    cases = sum(len(skill.cases) for skill in skills)
    text = f"{project.root}: {len(skills)} skills below {project.relative(project.skills)}, {cases} cases"
    if errors:
        hint = "skillbench check"
        return Check(topic="repository", status="warning", text=f"{text}, {len(errors)} problems", hint=hint)
    if not cases:
        hint = f"<case>/case.md below {project.relative(project.tests)}"
        return Check(topic="repository", status="warning", text=text, hint=hint)
    return Check(topic="repository", status="ok", text=text)


def _temporary(project: Project) -> Check:
    """Make the folder that a run would make its worlds in, and remove it."""
    try:
        root = worlds.make_root(project.root)
    except SkillbenchError as error:
        return _from(error.problems[0], "temp folder")
    worlds.remove(root)
    return Check(topic="temp folder", status="ok", text=f"worlds are made in {root.parent}")


def _reports(project: Project) -> Check:
    """Tell whether a run record can be written; looked up, not tried, so that nothing appears."""
    place = project.reports
    there = next(folder for folder in (place, *place.parents) if folder.exists())
    shown = project.relative(place)
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return Check(topic="reports", status="ok", text=f"run records go to {shown}")
    hint = f"{project.relative(there)} to be a folder that can be written"
    return Check(topic="reports", status="blocker", text=f"{shown} can't be written", hint=hint)


def _installation(project: Project, environ: Mapping[str, str]) -> list[Check]:
    """Tell how the runner skill stands in this repository; else where a client finds it besides."""
    checks = []
    for client, folder in install.FOLDERS.items():
        try:
            items = install.inspect(project.root, client)
        except SkillbenchError as error:
            checks.append(Check(topic="installation", status="warning", text=str(error.problems[0])))
            continue
        if all(item.state == "missing" for item in items):
            continue
        off = [f"{item.path} is {item.state}" for item in items if item.state != "current"]
        text = f"/{install.SKILL} in {folder}: {'current' if not off else '; '.join(off[:3])}"
        hint = f"skillbench install --agents {client}" if off else None
        checks.append(Check(topic="installation", status="warning" if off else "ok", text=text, hint=hint))
    elsewhere = copies(project, install.SKILL, environ)
    if not checks and elsewhere:
        checks.append(Check(topic="installation", status="ok", text=f"/{install.SKILL} in {elsewhere[0].parent}"))
    if not checks:
        text = f"/{install.SKILL} is not installed in this repository"
        checks.append(Check(topic="installation", status="warning", text=text, hint="skillbench install"))
    return checks


def _transcripts(environ: Mapping[str, str]) -> Check:
    projects_folder = Homes(environ).claude / "projects"
    if environ.get("CLAUDE_CODE_SESSION_ID"):
        file = _session_file(environ)
        if file is not None:
            return Check(topic="transcripts", status="ok", text=f"this session's is {file}")
        hint = "CLAUDE_CONFIG_DIR as the client has it, and transcripts not turned off"
        text = f"this session has none below {projects_folder}"
        return Check(topic="transcripts", status="warning", text=text, hint=hint)
    if projects_folder.is_dir():
        return Check(topic="transcripts", status="ok", text=f"{projects_folder} (not in a session now)")
    hint = "a client that was started once, or `skillbench record`"
    return Check(topic="transcripts", status="warning", text=f"no {projects_folder}", hint=hint)
