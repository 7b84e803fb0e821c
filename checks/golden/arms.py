"""What an arm does, turn by turn: brief, skill, the fixture's files, edits, a look at the result, the answer."""

from __future__ import annotations

import shlex
from pathlib import Path

from checks.host.players import Move

from .figures import number, pick
from .roles import ArmPart, texts
from .sources import edits

_SKILL = ("", "Now the instructions I was given.", "Reading the skill before anything else.", "Next, the skill.")
_FILES = ("Now the log and the changelog.", "", "Let me see what there is.", "I'll look at both files.")
_WRITE = ("", "I have what I need; writing the entry.", "Adding the entry.", "Time to write it down.")
_CHECK = ("Let me check how it looks in the file.", "", "A quick look at the result.", "Checking the headings.")


def moves(part: ArmPart) -> list[Move]:
    """Return every move of an arm, in order; the last one is its answer, the authored reply."""
    return [_read([part.brief]), *_skill(part), *_work(part), Move(text=part.wrote.reply)]


def _read(files: list[Path], text: str = "") -> Move:
    return Move(text=text, calls=tuple(("Read", {"file_path": str(file)}) for file in files))


def _skill(part: ArmPart) -> list[Move]:
    """Read SKILL.md and then its references, at once or one after the other."""
    if part.skill_file is None:
        return []
    folder = part.skill_file.parent
    files = [part.skill_file, *(folder / path for path in sorted(texts(folder)) if path != "SKILL.md")]
    text = pick(_SKILL, f"{part.key} skill")
    if number(f"{part.key} together", 0, 2) == 0:
        return [_read(files, text)]
    return [_read([file], "" if at else text) for at, file in enumerate(files)]


def _work(part: ArmPart) -> list[Move]:
    """Read the fixture, edit CHANGELOG.md, and in most with-skill arms and some others look at it again."""
    fixture, key = part.scene.fixture, part.key
    if not fixture:
        return []
    enter = f"cd {shlex.quote(str(part.world))} &&"
    found = []
    if number(f"{key} list", 0, 1):
        found.append(Move(calls=(("Bash", {"command": f"{enter} ls", "description": "List the files"}),)))
    found.append(_read([part.world / path for path in sorted(fixture, reverse=True)], pick(_FILES, f"{key} files")))
    target = str(part.world / "CHANGELOG.md")
    steps = tuple(
        ("Edit", {"file_path": target, "old_string": old, "new_string": new})
        for old, new in edits(fixture["CHANGELOG.md"], part.wrote)
    )
    if number(f"{key} edits", 0, 1):
        found.append(Move(text=pick(_WRITE, f"{key} write"), calls=steps))
    else:
        found += [Move(calls=(step,)) for step in steps]
    if number(f"{key} check", 0, 3) < (1 if part.skill_file is None else 3):
        command = f"{enter} grep -nE '^(## |\\[)' CHANGELOG.md"
        call = ("Bash", {"command": command, "description": "List headings and links"})
        found.append(Move(text=pick(_CHECK, f"{key} look"), calls=(call,)))
    return found
