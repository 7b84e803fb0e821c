"""What an arm did in its world, step by step: brief, skill, fixture files, edits, a look at the result, the answer.

Third stop of `make`: takes an authored output and gives it the conversation that leads there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from pytest_skillbench.model import Case

from .sessions import ARM_MODEL, Said, Talk, Tool, name, number, numbered
from .sources import Wrote, edits

_START = ("", "I'll read the brief first.", "Let me start with the brief.", "")
_SKILL = ("", "Now the instructions I was given.", "Reading the skill before anything else.", "Next, the skill.")
_FILES = ("Now the log and the changelog.", "", "Let me see what there is.", "I'll look at both files.")
_WRITE = ("", "I have what I need; writing the entry.", "Adding the entry.", "Time to write it down.")
_CHECK = ("Let me check how it looks in the file.", "", "A quick look at the result.", "Checking the headings.")


def pick(texts: Sequence[str], key: str) -> str:
    """Return one of the texts, always the same one for a key."""
    return texts[number(key, 0, len(texts) - 1)]


def brief(label: str, case: Case, world: str, skill: str | None) -> str:
    """Return the brief that an arm is sent to read: its world, its skill if it has one, the conversation, the prompt."""
    parts = [f"[skillbench job {label}]", f"Your working folder is {world}. Nothing outside it belongs to the task."]
    if skill is not None:
        parts.append(f"Read {skill}/SKILL.md first and work by it; the files it names lie beside it.")
    if case.seed_turns:
        parts.append("What was said so far:")
        parts += [f"{turn.role.capitalize()}: {turn.text}" for turn in case.seed_turns]
    return "\n\n".join([*parts, "---", case.prompt]) + "\n"


def arm_talk(
    label: str,
    session: str,
    at: datetime,
    case: Case,
    wrote: Wrote,
    fixture: Mapping[str, str],
    skill: Mapping[str, str] | None,
) -> Talk:
    """Return the finished conversation of one arm. `skill` maps the skill's files to their texts, None for the baseline."""
    folder = f"/tmp/sb-{name(f'{label} world', 12)}"
    kit = None if skill is None else f"/tmp/sb-{name(f'{label} kit', 12)}"
    talk = Talk(
        key=f"{session} {label}",
        session=session,
        model=ARM_MODEL,
        at=at,
        agent=agent_id(label),
        long_cache=not fixture,
        base=6180 if fixture else 6042,
    )
    path = f"/tmp/sb-{name(f'{label} brief', 12)}/brief.md"
    talk.start(f"Carry out [skillbench job {label}]: read {path} and do what it says. Reply with the result only.")
    _read(talk, pick(_START, f"{label} start"), {path: brief(label, case, folder, kit)})
    if skill is not None:
        _read_skill(talk, label, kit or "", skill)
    if fixture:
        _work(talk, label, folder, wrote, fixture, careful=skill is not None)
    talk.respond(Said(text=wrote.reply))
    return talk


def agent_id(label: str) -> str:
    """Return the agent's id, as in its file's name."""
    return "a" + name(f"{label} agent", 16).lower()


def _read(talk: Talk, text: str, files: Mapping[str, str]) -> None:
    tools = tuple(Tool("Read", {"file_path": path}, numbered(content)) for path, content in files.items())
    talk.respond(Said(text=text, tools=tools))


def _read_skill(talk: Talk, label: str, kit: str, skill: Mapping[str, str]) -> None:
    """Read SKILL.md and then its references, at once or one after the other."""
    files = {f"{kit}/{path}": text for path, text in sorted(skill.items())}
    text = pick(_SKILL, f"{label} skill")
    if number(f"{label} together", 0, 2) == 0:
        _read(talk, text, files)
        return
    for path, content in files.items():
        _read(talk, text, {path: content})
        text = ""


def _work(talk: Talk, label: str, folder: str, wrote: Wrote, fixture: Mapping[str, str], *, careful: bool) -> None:
    """Read the fixture, edit CHANGELOG.md, and in most with-skill arms and some others look at it again."""
    files = {f"{folder}/{path}": text for path, text in sorted(fixture.items(), reverse=True)}
    if number(f"{label} glob", 0, 1):
        talk.respond(Said(text="", tools=(Tool("Bash", {"command": f"ls {folder}"}, "\n".join(sorted(fixture))),)))
    _read(talk, pick(_FILES, f"{label} files"), files)
    target = f"{folder}/CHANGELOG.md"
    after = fixture["CHANGELOG.md"]
    steps = []
    for old, new in edits(after, wrote):
        after = after.replace(old, new)
        given: dict[str, object] = {"file_path": target, "old_string": old, "new_string": new}
        steps.append(Tool("Edit", given, f"The file {target} has been updated successfully."))
    if number(f"{label} edits", 0, 1):
        talk.respond(Said(text=pick(_WRITE, f"{label} write"), tools=tuple(steps)))
    else:
        for step in steps:
            talk.respond(Said(text="", tools=(step,)))
    if number(f"{label} check", 0, 3) < (3 if careful else 1):
        headings = [f"{at}:{line}" for at, line in enumerate(after.split("\n"), 1) if line.startswith(("## ", "["))]
        command = f"grep -nE '^(## |\\[)' {target}"
        tool = Tool("Bash", {"command": command, "description": "List headings and links"}, "\n".join(headings))
        talk.respond(Said(text=pick(_CHECK, f"{label} look"), tools=(tool,)))
