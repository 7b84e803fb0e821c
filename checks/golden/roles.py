"""Which part a subagent has: found out from its brief, as a model would, by the prompt, the skill and the two outputs.

An arm's brief says its case (the prompt) and its arm (no SKILL.md, or which version lies there). A judge's packet says
its pair: the authored outputs of exactly one trial and comparison stand in it. Which of several briefs of the same kind
this one is, hence the trial of an arm and the seat of a judge, follows from the order in which the program wrote them.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

from pytest_skillbench import casefile, prompts
from pytest_skillbench.model import COMPARISONS, ArmName, Case

from .recipes import RECIPES, ROOT, Recipe
from .sources import Said, Wrote, load

T = TypeVar("T")

_FRAMED = re.compile(r"<<< (\w{16,})\n(.*?)\n\1 >>>", re.DOTALL)
_SKILL_FILE = re.compile(r"A skill for this kind of task is at `([^`]+)`")
_WORLD = re.compile(r"^ {4}(/\S+)$", re.MULTILINE)
_TASK = "# The task\n"


@dataclass(frozen=True)
class Scene:
    """One case with all that was authored for it: outputs by trial and arm, judgements."""

    recipe: Recipe
    name: str
    case: Case
    wrote: dict[tuple[int, ArmName], Wrote]
    said: tuple[Said, ...]

    @property
    def fixture(self) -> dict[str, str]:
        """Return the texts of the case's fixture by path; empty where it has none."""
        return texts(ROOT / "tests" / self.recipe.path / self.name / "fixture")


@dataclass(frozen=True)
class ArmPart:
    """An arm to be played. `skill_file` is where its SKILL.md lies, None for the baseline."""

    scene: Scene
    trial: int
    arm: ArmName
    brief: Path
    world: Path
    skill_file: Path | None

    @property
    def key(self) -> str:
        """Return ``<case>.<trial>.<arm>``."""
        return f"{self.scene.name}.{self.trial}.{self.arm}"

    @property
    def wrote(self) -> Wrote:
        """Return what this arm is to leave behind."""
        return self.scene.wrote[self.trial, self.arm]


@dataclass(frozen=True)
class JudgePart:
    """A judge to be played. `new_is` is the letter under which the new arm's output is shown."""

    scene: Scene
    said: Said
    brief: Path
    new_is: str

    @property
    def key(self) -> str:
        """Return ``<case>.<trial>.<comparison>.<seat>``."""
        return f"{self.scene.name}.{self.said.trial}.{self.said.comparison}.{self.said.seat}"


@functools.cache
def scenes() -> tuple[Scene, ...]:
    """Return every case of the golden runs with its sources."""
    found = []
    for recipe in RECIPES:
        for file in sorted((ROOT / "tests" / recipe.path).glob("*/case.md")):
            case = casefile.parse(file.read_bytes(), file.relative_to(ROOT).as_posix())
            wrote, said = load(recipe.skill, file.parent.name)
            found.append(Scene(recipe, file.parent.name, case, wrote, tuple(said)))
    return tuple(found)


def texts(folder: Path) -> dict[str, str]:
    """Return a folder's files by their path in it; empty where there is no such folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}


@functools.cache
def part_of(brief: Path) -> ArmPart | JudgePart:
    """Return the part of the subagent that was sent to this brief. Raises ValueError where nothing authored fits."""
    text = brief.read_text("utf-8")
    mine = _identity(brief)
    briefs = sorted(brief.parent.glob("*.md"), key=lambda path: path.stat().st_mtime_ns)
    alike = [path for path in briefs if _identity(path) == mine]
    number = alike.index(brief) + 1
    scene = next(scene for scene in scenes() if scene.name == mine[1])
    if mine[0] == "arm":
        arm = cast(ArmName, mine[2])
        skill_file = _SKILL_FILE.search(text)
        world = _WORLD.search(text)
        if world is None or (number, arm) not in scene.wrote:
            raise ValueError(f"{brief}: no world in it, or nothing authored for {mine} number {number}")
        return ArmPart(scene, number, arm, brief, Path(world[1]), Path(skill_file[1]) if skill_file else None)
    for said in scene.said:
        if (f"{said.trial}.{said.comparison}", said.seat, said.identical) == (mine[2], number, False):
            shown_first = _answers(text)[0] == _shown(scene, said.trial, "new-skill")
            return JudgePart(scene, said, brief, "A" if shown_first else "B")
    raise ValueError(f"{brief}: no authored judgement for {mine} seat {number}")


@functools.cache
def _identity(brief: Path) -> tuple[str, str, str]:
    """Return ``("arm", case, arm)`` or ``("judge", case, "<trial>.<comparison>")`` of the brief's file."""
    text = brief.read_text("utf-8")
    if "# Answer A" in text:
        return _pair(text)
    prompt = text.rpartition(_TASK)[2].strip()
    scene = _only([scene for scene in scenes() if scene.case.prompt == prompt], f"case of {prompt[:80]!r}")
    return "arm", scene.name, _arm(text, scene)


def _arm(text: str, scene: Scene) -> ArmName:
    """Return which arm a brief is for, by the skill that lies where it points."""
    named = _SKILL_FILE.search(text)
    if named is None:
        return "no-skill"
    given = texts(Path(named[1]).parent)
    if given == texts(scene.recipe.working):
        return "new-skill"
    if scene.recipe.previous is not None and given == texts(scene.recipe.previous):
        return "previous-version"
    raise ValueError(f"{named[1]} is no version of {scene.recipe.skill} that anything was authored for")


def _pair(text: str) -> tuple[str, str, str]:
    """Return the pair of a packet: the only trial and comparison whose authored outputs are the two shown."""
    answers = _answers(text)
    frames = [body for _, body in _FRAMED.findall(text)]
    found = [
        ("judge", scene.name, f"{trial}.{comparison.name}")
        for scene in scenes()
        if scene.case.prompt == frames[-6]
        for trial in range(1, 6)
        for comparison in COMPARISONS
        if (trial, comparison.opponent) in scene.wrote
        and sorted(answers) == sorted(_shown(scene, trial, arm) for arm in ("new-skill", comparison.opponent))
    ]
    return _only(found, f"pair of {frames[-6][:80]!r}")


def _answers(text: str) -> tuple[str, str]:
    """Return the two messages of a packet: its last frames are message A, changes A, message B, changes B."""
    frames = [body for _, body in _FRAMED.findall(text)]
    return frames[-4], frames[-2]


def _shown(scene: Scene, trial: int, arm: ArmName) -> str:
    return prompts.scrub(scene.wrote[trial, arm].reply, [scene.recipe.skill], [])


def _only(found: list[T], what: str) -> T:
    if len(found) != 1:
        raise ValueError(f"{len(found)} authored for the {what}, expected 1")
    return found[0]
