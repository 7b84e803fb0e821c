"""Where an arm could come upon the skill under test by itself: installed copies, instruction files, the git status.

Gather: looks at the places that agent clients read, in the project and in the home folder; changes nothing. `doctor`
shows it, `start` warns of it, the audit takes `copies` for what no baseline may touch.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from . import git
from .errors import Problem, SkillbenchError
from .files import read_bounded
from .project import Project

#: Where clients look for skills, below a project and below a home folder.
SKILL_FOLDERS = (".claude/skills", ".agents/skills", ".codex/skills", ".opencode/skills", ".gemini/skills")
#: Files whose text clients put into every conversation, in the project and in each folder above it.
INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md", "GEMINI.md")
GIT_SETTING = "includeGitInstructions"

_LIMIT = 1 << 20
_PLUGIN_DEPTH = 8
_PLUGIN_FOLDERS = 20_000


class Homes:
    """The folders in which clients keep what is the user's own, by the environment."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.home = Path(environ.get("HOME") or Path.home())
        self.claude = Path(environ.get("CLAUDE_CONFIG_DIR") or self.home / ".claude")
        self.codex = Path(environ.get("CODEX_HOME") or self.home / ".codex")

    def skill_folders(self) -> tuple[Path, ...]:
        """Return the folders of the user's own skills, each once."""
        usual = (self.home / folder for folder in SKILL_FOLDERS)
        named = (self.claude / "skills", self.codex / "skills", self.home / ".config/opencode/skills")
        return tuple(dict.fromkeys((*named, *usual)))

    def plugin_parts(self, part: str) -> Iterator[Path]:
        """Yield the folders named `part` (``skills``, ``agents``) of Claude Code's plugins, to a bounded depth."""
        top = str(self.claude / "plugins")
        for seen, (folder, folders, _) in enumerate(os.walk(top), 1):
            depth = folder.count(os.sep) - top.count(os.sep)
            folders[:] = sorted(name for name in folders if name not in (".git", "node_modules"))
            if os.path.basename(folder) == part:
                yield Path(folder)
                folders.clear()
            if depth >= _PLUGIN_DEPTH or seen >= _PLUGIN_FOLDERS:
                folders.clear()


def copies(project: Project, name: str, environ: Mapping[str, str] | None = None) -> tuple[Path, ...]:
    """Return the installed copies of a skill, as folders that a client reads, in the project, the home, and plugins.

    Links to the skill count; the skills root itself does not. `environ` defaults to this process's environment.
    """
    homes = Homes(os.environ if environ is None else environ)
    root = os.path.realpath(project.skills)
    places = [*(project.root / folder for folder in SKILL_FOLDERS), *homes.skill_folders()]
    places += homes.plugin_parts("skills")
    found = (place / name for place in dict.fromkeys(places) if os.path.realpath(place) != root)
    return tuple(folder for folder in found if (folder / "SKILL.md").is_file())


def problems(project: Project, name: str, environ: Mapping[str, str] | None = None) -> tuple[Problem, ...]:
    """Return a warning for each place where an arm could learn of the skill without being pointed at it."""
    known = os.environ if environ is None else environ
    found = [_copy(project, folder, name) for folder in copies(project, name, known)]
    found += _mentions(project, name, known)
    status = git_status(project, known)
    return (*found, status) if status is not None else tuple(found)


def _copy(project: Project, folder: Path, name: str) -> Problem:
    return Problem(
        path=project.relative(folder),
        slug="exposure-copy",
        what=f'an installed copy of "{name}": an arm without a skill may come upon it, and is invalid then',
        expected="none while the skill is benchmarked",
        severity="warning",
    )


def _mentions(project: Project, name: str, environ: Mapping[str, str]) -> Iterator[Problem]:
    pattern = _named(name)
    for file in _instruction_files(project, environ):
        shown = project.relative(file)
        try:
            text = read_bounded(file, _LIMIT, shown).decode("utf-8", "replace")
        except FileNotFoundError:
            continue
        except SkillbenchError as error:
            yield Problem(
                path=shown,
                slug="exposure-unreadable",
                what=f"can't be searched: {error.problems[0].what}",
                severity="warning",
            )
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if pattern.search(line):
                yield Problem(
                    path=shown,
                    slug="exposure-mention",
                    line=number,
                    what=f'names the skill "{name}" to every arm whose client reads this file out to subagents',
                    expected="no mention while the skill is benchmarked",
                    severity="warning",
                )
                break


def _named(name: str) -> re.Pattern[str]:
    """Return what finds a skill's name in prose; a plain word counts only where it is marked as a name."""
    word = re.escape(name)
    if re.search(r"[^A-Za-z]", name):
        return re.compile(rf"(?<![\w-]){word}(?![\w-])", re.IGNORECASE)
    marked = rf"[/$`\"'*]{word}(?![\w-])|(?<![\w-]){word}(?=['\"`*]*[ -]skill\b)|\bskill:? [\"'`*]*{word}(?![\w-])"
    return re.compile(marked, re.IGNORECASE)


def _instruction_files(project: Project, environ: Mapping[str, str]) -> Iterator[Path]:
    homes = Homes(environ)
    seen: set[str] = set()
    places = [folder / name for folder in (project.root, *project.root.parents) for name in INSTRUCTIONS]
    places += [homes.claude / "CLAUDE.md", homes.codex / "AGENTS.md", homes.home / ".gemini/GEMINI.md"]
    for rules in (project.root / ".claude/rules", homes.claude / "rules"):
        places += sorted(rules.rglob("*.md"))
    for place in places:
        real = os.path.realpath(place)
        if real not in seen and place.is_file():
            seen.add(real)
            yield place


def git_status(project: Project, environ: Mapping[str, str]) -> Problem | None:
    """Return the warning that Claude Code shows every subagent the git status of the session, None where it does not.

    Branch, changed paths and the last commits are in it, and with them, more often than not, the skill that is being
    edited. The setting is the client's own (seen in 2.1.332).
    """
    try:
        if git.find(project.root) is None or environ.get("CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS", "") not in ("", "0"):
            return None
    except SkillbenchError:
        return None  # a broken repository is told by whoever needs it
    local = project.root / ".claude/settings.local.json"
    for file in (local, project.root / ".claude/settings.json", Homes(environ).claude / "settings.json"):
        value = _setting(file)
        if value is not None:
            if not value:
                return None
            break
    return Problem(
        path=project.relative(local),
        slug="exposure-git-status",
        what="Claude Code tells every subagent the branch, the changed files and the last commits of this repository",
        expected=f'{{"{GIT_SETTING}": false}} in it while a skill is benchmarked',
        severity="warning",
    )


def _setting(file: Path) -> bool | None:
    try:
        settings = json.loads(read_bounded(file, _LIMIT, str(file)))
    except (FileNotFoundError, NotADirectoryError, SkillbenchError, ValueError, RecursionError):
        return None  # the client's file; what is broken in it the client says
    value = settings.get(GIT_SETTING) if isinstance(settings, dict) else None
    return value if isinstance(value, bool) else None
