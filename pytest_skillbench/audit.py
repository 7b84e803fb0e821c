"""What an arm touched, read off its tool calls: the check that a trial is an honest one.

Core: pure; `touches` says which paths a shell command touches, this module says what touching them means. The rules:

* ``contaminated`` makes a trial INVALID: any arm that touched the repository, ``tests/``, an installed copy of the
  skill under test, or anything in the run's temp root that is not its own world, materialization or brief; a search
  that goes down into one of these from above; the Skill tool called with the skill's name. A with-skill arm that
  used an installed copy counts as well: nobody knows any more which version it worked with.
* ``skill-not-loaded``: a with-skill arm that opened its SKILL.md neither with a reading tool nor with a shell command
  that shows what is in it. Listing, copying or searching it is not opening it.
* Everything else is a note. ``left-world``: any other place outside its world, ``/tmp`` included; reading what
  belongs to the system (``/usr``, ``/etc``, ``/dev`` …) or running it is not even that. ``attempted``: a call that
  would have contaminated and that failed without showing anything. ``refused``: the client did not let it run.
  ``other-skill`` and ``subagent``: it called another skill, or another agent whose calls are not seen here.

Every command of a subagent starts in the session's folder (`Places.cwd`), which is the repository: a listing or a
search there reads the repository and counts. A relative name counts where something of its first part's name is there
(`Places.names`), and when it is written to. Where `names` is not known, it counts if the call succeeded and the name
looks like a file's. A name that is not there was a slip, and showed nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from .commandline import UNKNOWN
from .model import ArmName, Audit, Finding, Value
from .observed import ToolUse
from .text import one_line
from .tools import Used, used
from .touch import Touch, covers, fits, inside, inside_pattern, parts_of, real

MAX_FINDINGS = 40
_EVIDENCE = 300

Zone: TypeAlias = Literal["the repository", "tests/", "an installed copy of the skill", "another world, skill or brief"]

_SYSTEM = re.compile(
    r"/(?:usr|bin|sbin|lib|lib32|lib64|libx32|etc|dev|proc|sys|opt|nix|run|snap|boot|var/lib|var/cache|System|Library"
    r"|Applications)(?:/|\Z)|/\Z"
)
#: Where writing leaves nothing behind.
DEVICE = re.compile(r"/dev/(?:null|zero|full|u?random|tty|std(?:in|out|err)|fd/\d+)\Z")


class Places(Value, frozen=True):
    """Where things are, all absolute.

    `world`, `skill` (the materialization's folder, None for the baseline) and `brief` are the arm's own. `root`: the
    run's temp root, which holds them and those of all others. `copies`: where copies of the skill under test, called
    `skill_name`, are installed. `cwd`: where the client starts commands; `names`: what is in it, None: not known.
    `home`: what ``~`` means. `aliases`: pairs of another spelling of a folder and the one used here.
    """

    world: Path
    skill: Path | None
    brief: Path
    repo: Path
    tests: Path
    root: Path
    cwd: Path
    copies: tuple[Path, ...]
    skill_name: str
    home: Path | None = None
    names: frozenset[str] | None = None
    aliases: tuple[tuple[str, str], ...] = ()


def audit(arm: ArmName, uses: Sequence[ToolUse], places: Places) -> Audit:
    """Return what an arm's tool calls mean for its trial. Never raises, whatever the calls hold.

    Raises ValueError for a with-skill arm without a materialization, which no run makes.
    """
    if arm != "no-skill" and places.skill is None:
        raise ValueError(f"the {arm} arm has no materialization")
    auditor = _Auditor(arm, places)
    for use in uses:
        auditor.look_at(use)
    return auditor.result(Counter(use.name for use in uses))


class _Auditor:
    def __init__(self, arm: ArmName, places: Places) -> None:
        self.arm = arm
        self.places = places
        self.home = str(places.home) if places.home else None
        self.own = [self._parts(path) for path in (places.world, places.brief, places.skill) if path]
        if places.skill is not None and places.skill.parent != places.root:
            self.own.append(self._parts(places.skill.parent))
        self.skill_file = self._parts(places.skill / "SKILL.md") if places.skill and arm != "no-skill" else None
        copies: list[tuple[Zone, Path]] = [("an installed copy of the skill", path) for path in places.copies]
        zones: list[tuple[Zone, Path]] = [*copies, ("tests/", places.tests), ("the repository", places.repo)]
        self.zones = [(zone, self._parts(path)) for zone, path in zones]
        self.root = self._parts(places.root)
        self.cwd = "/" + "/".join(self._parts(places.cwd))
        self.loaded = False
        self.touched_skill = False
        self.findings: dict[tuple[str, str], Finding] = {}
        self.left_out = 0

    # -- one tool call -------------------------------------------------------------------------------------------------

    def look_at(self, use: ToolUse) -> None:
        """Take note of what one tool call touched."""
        name = one_line(str(use.name), 60)
        known = [str(path) for path in (self.places.repo, self.places.root, *self.places.copies)]
        call = used(use, str(self.places.cwd), self.home, known)
        evidence = one_line(f"{name}: {call.told}", _EVIDENCE)
        if use.refused:
            self._find("refused", f"the client refused {name}", evidence)
            return
        if call.agent:
            self._find("subagent", "started another agent, whose tool calls are not seen here", evidence)
        if call.skill is not None:
            self._used_skill(call.skill, use.error, evidence)
        for touch in call.touches:
            self._touched(touch, call, use.error, evidence)

    def _used_skill(self, skill: str, error: bool, evidence: str) -> None:
        asked = re.split(r"[:/]", skill.strip().strip("/"))[-1].casefold()
        if asked != self.places.skill_name.casefold():
            self._find("other-skill", f'called the skill "{one_line(skill, 80)}"', evidence)
        elif error:
            self._find("attempted", "called the skill under test by its name, which failed", evidence)
        else:
            self.touched_skill = True
            self._find("contaminated", "called the skill under test by its name", evidence)

    def _touched(self, touch: Touch, call: Used, error: bool, evidence: str) -> None:
        parts = self._parts(real(touch.path, self.places.aliases))
        if self.skill_file is not None and touch.reads and not (error and call.atomic):
            self.loaded = self.loaded or covers(parts, self.skill_file, touch)
        if any(inside(parts, own) for own in self.own) or self._is_slip(touch, parts, error):
            return
        zone = self._zone(parts, touch)
        shown = one_line("/" + "/".join(parts).replace(UNKNOWN, "…"), 200)
        verb = "wrote" if touch.writes else "searched" if touch.deep else "opened" if touch.reads else "touched"
        if zone is None:
            system = DEVICE.match(touch.path) if touch.writes else _SYSTEM.match("/" + "/".join(parts))
            if touch.sure and not system:
                self._find("left-world", f"{verb} {shown}", evidence)
        elif error and call.atomic:
            self._find("attempted", f"tried {shown}, in {zone}, and failed", evidence)
        else:
            name = self.places.skill_name
            of_skill = zone == "an installed copy of the skill" or name in parts or parts[-1:] == ("SKILL.md",)
            self.touched_skill = self.touched_skill or of_skill or (touch.deep and touch.reads)
            places = [self.root, *(place for _, place in self.zones)]
            where = "in" if any(inside_pattern(parts, place) for place in places) else "down into"
            self._find("contaminated", f"{verb} {shown}, {where} {zone}", evidence)

    def _zone(self, parts: tuple[str, ...], touch: Touch) -> Zone | None:
        """Return what the path lies in, or leads down into, that no arm may touch; None for any other place."""
        for zone, place in self.zones:
            if covers(parts, place, touch) or inside_pattern(parts, place):
                return zone
        in_root = len(parts) > len(self.root) and inside_pattern(parts, self.root)
        # One level below the root are the others' folders.
        if in_root or covers(parts, (*self.root, UNKNOWN), touch):
            return "another world, skill or brief"
        return None

    def _is_slip(self, touch: Touch, parts: tuple[str, ...], error: bool) -> bool:
        """Return whether a relative name meant nothing that is there (see the module's rules)."""
        cwd = self._parts(Path(self.cwd))
        if not touch.bare or touch.writes or not inside(parts, cwd) or len(parts) == len(cwd):
            return False
        first = parts[len(cwd)]
        if self.places.names is not None:
            return not any(fits(name, first) for name in self.places.names)
        return error or not (len(parts) > len(cwd) + 1 or re.search(r"[.*?\[]", first))

    # -- findings ------------------------------------------------------------------------------------------------------

    def _find(self, kind: str, detail: str, evidence: str) -> None:
        if (kind, detail) in self.findings:
            return
        if len(self.findings) >= MAX_FINDINGS and (
            kind != "contaminated" or any(key[0] == kind for key in self.findings)
        ):
            self.left_out += 1
            return
        self.findings[kind, detail] = Finding(kind=kind, detail=detail, evidence=evidence)

    def result(self, calls: Counter[str]) -> Audit:
        """Return the audit: findings in the order in which they were made, what makes the trial INVALID first."""
        found = list(self.findings.values())
        if self.skill_file is not None and not self.loaded:
            said = ", ".join(f"{one_line(str(name), 40)} {number}" for name, number in sorted(calls.items())[:10])
            detail = "SKILL.md was never opened"
            found.append(Finding(kind="skill-not-loaded", detail=detail, evidence=said or "no tool call"))
        found.sort(key=lambda finding: finding.kind not in ("contaminated", "skill-not-loaded"))
        if self.left_out:
            found.append(Finding(kind="more", detail=f"{self.left_out:,} more findings are not listed", evidence=""))
        loaded = self.touched_skill if self.arm == "no-skill" else self.loaded
        return Audit(skill_loaded=loaded, findings=tuple(found))

    def _parts(self, path: Path | str) -> tuple[str, ...]:
        return parts_of(path, self.places.aliases)
