"""The repository in which the golden runs are recorded, and the recording: a user's, with a real client in it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from checks.host.lab import Lab
from checks.repos import Repo
from pytest_skillbench import install

from .recipes import RECIPES, ROOT, Recipe

ARM_MODEL = "claude-sonnet-4-5-20250929"
JUDGE_MODEL = "claude-opus-4-5-20251101"
_ENVIRONMENT = {"ANTHROPIC_DEFAULT_OPUS_MODEL": JUDGE_MODEL}
_FILES = {
    "README.md": "# courier\n",
    ".gitignore": "tests/.reports/\n",
    ".claude/settings.json": '{"includeGitInstructions": false}\n',
    "tests/skillbench.yaml": "judge_model: opus\n",
}
PROGRAMS = Path(sys.executable).parent
_MINUTES = 20


def build(lab: Lab) -> None:
    """Make the lab's work folder that repository: released skills committed on main, today's on a branch, edited."""
    repo = Repo(lab.work)
    repo.git("init", "-q", "-b", "main")
    install.install(lab.work, "claude")
    for path, text in _FILES.items():
        repo.write(path, text)
    for recipe in RECIPES:
        _copy(recipe.previous or recipe.working, lab.work / "skills" / recipe.path)
        _copy(ROOT / "tests" / recipe.path, lab.work / "tests" / recipe.path)
    repo.commit("Release")
    repo.git("switch", "-q", "-c", "shorter-entries")
    for recipe in RECIPES:
        if recipe.previous is not None:
            _copy(recipe.working, lab.work / "skills" / recipe.path)


def _copy(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)


def record(lab: Lab, recipe: Recipe) -> Path:
    """Type ``/benchmark-skill`` into the client, wait for its end, and return the run's folder.

    Raises RuntimeError where the client failed or was refused something.
    """
    prompt = f"/benchmark-skill {recipe.skill}"
    options = ("--output-format", "json", "--model", ARM_MODEL)
    policy = Path(__file__).with_name("policy.py")
    done = lab.run("-p", prompt, *options, path=[PROGRAMS], env=_ENVIRONMENT, policy=policy, timeout=_MINUTES * 60)
    if done.returncode or done.timed_out:
        said = f"{done.stdout[-800:]}{done.stderr[-800:]}"
        raise RuntimeError(f"{prompt}: the client ended with {done.returncode}: {said}")
    end = json.loads(done.stdout)
    if end["permission_denials"] or not end["result"].startswith("Benchmark done."):
        raise RuntimeError(f"{prompt}: {end['permission_denials']} {end['result']}")
    return lab.work / "tests" / ".reports" / f"{recipe.skill}.run"
