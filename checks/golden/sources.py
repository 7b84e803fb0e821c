"""What was written by hand (``source/<skill>/<case>.toml``) -> outputs, final files and judgements.

A source file has a table per arm and trial (``[t1.new-skill]``: `lead`, `entry`, `tail`, and where an arm was careless
`links = false` or `unreleased = "left"`), and a list of ``[[judge]]``: `for` is ``t<trial>.<comparison>[.<seat>]``;
`win` is ``new``, ``other`` or ``tie``; each criterion is [better, because, quote of the new arm, quote of the other].
``{N}`` and ``{O}`` stand for the letters under which the two were shown.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pytest_skillbench.model import ArmName

SOURCE = Path(__file__).parent / "source"


@dataclass(frozen=True)
class Wrote:
    """What one arm left behind: its final message, and the entry that it put into CHANGELOG.md (None: no file)."""

    reply: str
    entry: str | None
    links: bool
    unreleased: str


@dataclass(frozen=True)
class Said:
    """One judge's answer before it is blinded: `better` of each criterion is ``new``, ``other`` or ``tie``."""

    trial: int
    comparison: str
    seat: int
    identical: bool
    win: str
    strength: str | None
    why: str
    criteria: tuple[tuple[str, str, str | None, str | None], ...]


def load(skill: str, case: str) -> tuple[dict[tuple[int, ArmName], Wrote], list[Said]]:
    """Return what the arms wrote, by trial and arm, and what the judges said, in the order of the file."""
    found = tomllib.loads((SOURCE / skill / f"{case}.toml").read_text("utf-8"))
    wrote = {
        (int(trial[1:]), cast(ArmName, arm)): _wrote(given)
        for trial, arms in found.items()
        if trial != "judge"
        for arm, given in arms.items()
    }
    return wrote, [_said(given) for given in found.get("judge", [])]


def _wrote(given: dict[str, object]) -> Wrote:
    entry = given.get("entry")
    parts = [given.get("lead"), entry, given.get("tail")]
    return Wrote(
        reply="\n\n".join(str(part).strip() for part in parts if part),
        entry=None if entry is None else str(entry),
        links=bool(given.get("links", True)),
        unreleased=str(given.get("unreleased", "merged")),
    )


def _said(given: dict[str, object]) -> Said:
    trial, comparison, *seat = str(given["for"]).split(".")
    criteria = given.get("criteria", [])
    assert isinstance(criteria, list)
    return Said(
        trial=int(trial[1:]),
        comparison=comparison,
        seat=int(seat[0]) if seat else 1,
        identical=bool(given.get("identical", False)),
        win=str(given.get("win", "tie")),
        strength=str(given["strength"]) if "strength" in given else None,
        why=str(given.get("why", "")),
        criteria=tuple((better, because, new or None, other or None) for better, because, new, other in criteria),
    )


def edits(changelog: str, wrote: Wrote) -> Iterator[tuple[str, str]]:
    """Yield the replacements (old text, new text) by which an arm turned the fixture's CHANGELOG.md into its own."""
    if wrote.entry is None:
        return
    new = _first(r"^## \[(.+?)\]", wrote.entry)
    old = _first(r"^## \[(\d.+?)\]", changelog)
    start = changelog.index("## [Unreleased]\n")
    end = changelog.index(f"## [{old}]")
    if wrote.unreleased == "left":
        heading = changelog[end : changelog.index("\n", end)]
        yield heading, f"{wrote.entry}\n{heading}"
    else:
        yield changelog[start:end], f"## [Unreleased]\n\n{wrote.entry}\n"
    if wrote.links:
        link = changelog[changelog.index("[Unreleased]: ") : changelog.index(f"[{old}]: ")]
        moved = link.replace(f"v{old}", f"v{new}")
        yield link, moved + link.replace("[Unreleased]", f"[{new}]").replace("...HEAD", f"...v{new}")


def _first(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    assert match is not None, pattern
    return match[1]


def final_files(fixture: dict[str, str], wrote: Wrote) -> dict[str, str]:
    """Return the world's files as the arm left them, by path."""
    files = dict(fixture)
    if "CHANGELOG.md" in files:
        for old, new in edits(files["CHANGELOG.md"], wrote):
            assert files["CHANGELOG.md"].count(old) == 1, old
            files["CHANGELOG.md"] = files["CHANGELOG.md"].replace(old, new)
    return files
