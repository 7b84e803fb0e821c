"""What subagents are told: an arm's brief, a judge's packet, the one line that sends either to its file.

Core, but for reading the templates that lie beside this file. Templates are `string.Template` texts, not Jinja's: what
is filled in is never looked at again, so a placeholder, brace or tag in a case, an output or a diff is text, and there
is no logic in them that could tell arms apart. `digest` is their identity, which goes into a run's plan.
"""

from __future__ import annotations

import functools
import hashlib
import re
import shlex
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Literal

from ..model import PlannedCase, SeedTurn, Value
from ..text import visible

#: The most characters of an output, and of a diff, that a judge is shown; the same for A and B.
SHOWN_CHARACTERS = 60_000
LINE_CHARACTERS = 1_500
NAME_STANDS_FOR = "[name]"
FOLDER_STANDS_FOR = "[folder]"

_TEMPLATES = ("arm.md", "arm_conversation.md", "arm_skill.md", "job_arm.md", "job_judge.md", "judge.md")
_ROLES = {"user": "User", "assistant": "Assistant", "system": "System"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029`]")


class Shown(Value, frozen=True):
    """What a judge is shown of one arm: its final message and its world's changes, scrubbed, in full length."""

    output: str
    changes: str


def arm_brief(case: PlannedCase, world: Path, skill_md: Path | None) -> str:
    """Return the whole task of an arm.

    The same in every arm of a trial but for the world's path and, with `skill_md`, one fixed paragraph that points
    there; the case's prompt stands at the end, byte for byte.
    """
    skill = fill("arm_skill.md", skill_file=str(skill_md)) if skill_md is not None else ""
    turns = "\n\n".join(map(_turn, case.seed_turns))
    return fill(
        "arm.md",
        world=str(world),
        quoted_world=shlex.quote(str(world)),
        skill=skill,
        conversation=fill("arm_conversation.md", turns=turns) if turns else "",
        prompt=case.prompt,
    )


def judge_packet(case: PlannedCase, a: Shown, b: Shown, marker: str) -> str:
    """Return all that a blind judge is shown of a pair.

    `marker` is a word that nobody could have guessed, drawn anew for each packet; it stands around every text that is
    not ours. Control characters in the texts are made visible, lines over `LINE_CHARACTERS` are broken (clients cut
    them when they read a file), and what is longer than `SHOWN_CHARACTERS` is cut, with a mark at the cut. Raises
    ValueError for a marker that is too short to be a secret, or that stands in one of the texts.
    """
    if not re.fullmatch(r"[0-9A-Za-z]{16,}", marker):
        raise ValueError("a marker is at least 16 letters and digits")
    turns = "\n\n".join(map(_turn, case.seed_turns))
    criteria = "\n".join(f"{number}. {_indented(text)}" for number, text in enumerate(case.criteria, 1))
    texts = {"request": case.prompt, "criteria": criteria}
    for label, shown in (("a", a), ("b", b)):
        texts[f"output_{label}"] = _cut(visible(shown.output)) or "(no message)"
        texts[f"changes_{label}"] = _cut(visible(shown.changes)) or "(no changes)"
    framed = {name: _framed(text, marker) for name, text in texts.items()}
    before = "The conversation before it:\n\n" + _framed(turns, marker) + "\n\nThe request itself:\n\n"
    return fill("judge.md", **framed, marker=marker, context=before if turns else "", count=str(len(case.criteria)))


def scrub(text: str, words: Sequence[str], paths: Sequence[Path]) -> str:
    """Return a text without what would give its arm away, to be used on A and B alike.

    Each of `paths`, and what lies below it up to its own name, becomes ``[folder]``. Each of `words` (a skill's name)
    becomes ``[name]``, whatever its case: anywhere where it is written as a name is (``code-review``, ``code_review``);
    a plain word such as ``commit`` only where it is plainly the skill's name, beside the word skill or behind a slash.
    ``SKILL.md`` becomes ``[name]`` where `words` is not empty.
    """
    for path in sorted({str(path).rstrip("/") for path in paths} - {""}, key=len, reverse=True):
        text = re.sub(rf"(?:file://)?{re.escape(path)}(?![\w-])(?!\.\w)", lambda _: FOLDER_STANDS_FOR, text)
    for word in sorted({word for word in words if word}, key=len, reverse=True):
        text = _name_pattern(word).sub(lambda _: NAME_STANDS_FOR, text)
    return re.sub(r"\bSKILL\.md\b", lambda _: NAME_STANDS_FOR, text) if any(words) else text


def job_prompt(label: str, brief: Path, kind: Literal["arm", "judge"]) -> str:
    """Return the one line that sends a subagent to its brief. The job's tag is in it, and not at its start.

    Raises ValueError for a label or path that would break the line.
    """
    if not re.fullmatch(r"[0-9A-Za-z.-]+", label) or _CONTROL.search(str(brief)):
        raise ValueError(f"not fit for one line: {label!r}, {str(brief)!r}")
    return fill(f"job_{kind}.md", label=label, brief=str(brief)).strip()


def digest() -> str:
    """Return the SHA-256 of all templates of arms and judges, names and contents, as 64 hex digits."""
    return identity(_TEMPLATES)


def identity(names: Sequence[str]) -> str:
    """Return the SHA-256 of these templates, names and contents, as 64 hex digits."""
    whole = hashlib.sha256()
    for name in names:
        data = _template(name).template.encode()
        whole.update(f"{name}\0{len(data)}\0".encode() + data)
    return whole.hexdigest()


# -- templates ---------------------------------------------------------------------------------------------------------


@functools.cache
def _template(name: str) -> Template:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return Template(text.replace("\r\n", "\n"))


def fill(name: str, **values: str) -> str:
    """Return a template, by its path below this folder, with every placeholder filled.

    A missing or unused value is an error of ours and raises KeyError.
    """
    template = _template(name)
    if set(template.get_identifiers()) != set(values):
        raise KeyError(f"{name} wants {template.get_identifiers()}, given {sorted(values)}")
    return template.substitute(values)


def _turn(turn: SeedTurn) -> str:
    return f"**{_ROLES[turn.role]}:** {turn.text}"


def _indented(text: str) -> str:
    return text.replace("\n", "\n   ")


def _framed(text: str, marker: str) -> str:
    text = "\n".join(_broken(line) for line in visible(text).split("\n"))
    if marker in text:
        raise ValueError("the marker stands in a text")
    return f"<<< {marker}\n{text}\n{marker} >>>"


def _broken(line: str) -> str:
    """Break a very long line, at blanks where it has some, so that a quote from it still stands in the original."""
    parts = []
    while len(line) > LINE_CHARACTERS:
        blank = line.rfind(" ", 1, LINE_CHARACTERS)
        end = blank if blank > 0 else LINE_CHARACTERS
        parts.append(line[:end])
        line = line[end + (blank > 0) :]
    return "\n".join([*parts, line])


def _cut(text: str) -> str:
    """Return a text, or its first three quarters and its last quarter of what may be shown, with a mark between."""
    if len(text) <= SHOWN_CHARACTERS:
        return text
    tail = SHOWN_CHARACTERS // 4
    head = SHOWN_CHARACTERS - tail
    return f"{text[:head]}\n[cut: {len(text) - SHOWN_CHARACTERS:,} characters are not shown here]\n{text[-tail:]}"


def _name_pattern(word: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in re.split(r"[-_]", word) if part]
    if len(parts) > 1:
        return re.compile(rf"(?<![\w-])/?{'[-_]'.join(parts)}(?![\w-])", re.IGNORECASE)
    name = re.escape(word)
    quoted = rf"[`\"'“‘*/]*{name}[`\"'”’*]*"
    return re.compile(
        rf"(?<=skill )(?:(?:called|named) )?{quoted}(?!\w)|(?<=skill: ){quoted}(?!\w)"
        rf"|(?<![\w-]){quoted}(?=[ -]skill)|(?<![\w/.\]-])/{name}(?![\w/.-])",
        re.IGNORECASE,
    )
