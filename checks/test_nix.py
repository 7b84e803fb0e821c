"""What can be said of the flake without Nix: it agrees with the project, and its checker of skills finds faults.

`checks/nix/run` puts the flake itself to work.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import pytest_skillbench
from checks.nix import check_skills

ROOT = Path(__file__).parent.parent
NIX = ROOT / "checks" / "nix"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FLAKE = (ROOT / "flake.nix").read_text()
PACKAGE = (NIX / "package.nix").read_text()
LAUNCHER = ROOT / "skills/benchmark-skill/scripts/skillbench"
#: What the tests do without where it is missing, since nixpkgs does not have it.
NOT_IN_NIXPKGS = {"axe-playwright-python"}

SKILL = "---\nname: {name}\ndescription: Does x.\n---\nDo x.\n"


def names(requirements: Iterable[str]) -> dict[str, Requirement]:
    """Return requirements by the canonical name of what they ask for."""
    return {canonicalize_name(requirement.name): requirement for requirement in map(Requirement, requirements)}


def words(text: str, start: str) -> set[str]:
    """Return the words of the first Nix list that follows `start`."""
    return set(text.split(start, 1)[1].split("[", 1)[1].split("]", 1)[0].split())


def pins() -> dict[str, str]:
    """Return the releases that the stand-in pins, by name."""
    lines = (NIX / "offline/requirements.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


# -- the flake and the project -----------------------------------------------------------------------------------------


def test_the_package_declares_what_the_project_does() -> None:
    """The program's dependencies, build backend and version are the same for pip and for Nix."""
    declared = names(PYPROJECT["project"]["dependencies"])
    assert words(PACKAGE, "  dependencies =") == set(declared) - {"pytest"}
    assert words(PACKAGE, "  buildInputs =") == {"pytest"}
    assert words(PACKAGE, "  build-system =") == set(names(PYPROJECT["build-system"]["requires"]))
    assert set(re.split(r"\W*\n\W*", PACKAGE.split("{", 1)[1].split("}:", 1)[0])) >= set(declared)
    pattern = PACKAGE.split("builtins.match ", 1)[1].split(" (", 1)[0]
    found = re.match(json.loads(pattern), (ROOT / "pytest_skillbench/__init__.py").read_text(), re.DOTALL)
    assert found is not None
    assert found[1] == pytest_skillbench.__version__


def test_nixpkgs_can_meet_every_bound() -> None:
    """A lower bound above what nixpkgs has would leave Nix users without the program; no pin is there in vain."""
    groups = PYPROJECT["dependency-groups"]["test"]
    asked = [*PYPROJECT["project"]["dependencies"], *PYPROJECT["build-system"]["requires"], *groups]
    pinned = pins()
    for name, requirement in names(asked).items():
        if name not in NOT_IN_NIXPKGS:
            assert requirement.specifier.contains(pinned[name]), requirement
    assert set(pinned) == set(names(asked)) - NOT_IN_NIXPKGS


def test_the_shell_has_what_the_tests_need() -> None:
    """Whatever the test group installs is in the development shell too."""
    shell = (NIX / "dev-shell.nix").read_text()
    provided = {word.removeprefix("ps.") for word in words(shell, "withPackages") if word.startswith("ps.")}
    assert provided >= set(names(PYPROJECT["dependency-groups"]["test"])) - NOT_IN_NIXPKGS


def test_the_lock_is_of_the_flakes_only_input() -> None:
    """The lock, which nobody here can compute, is well formed and of the input that the flake names."""
    (url,) = re.findall(r'inputs\.(?:\w+)\.url = "([^"]+)"', FLAKE)
    lock = json.loads((ROOT / "flake.lock").read_text())
    node = lock["nodes"]["nixpkgs"]
    original = node["original"]
    assert f"{original['type']}:{original['owner']}/{original['repo']}/{original['ref']}" == url
    assert {key: node["locked"][key] for key in ("type", "owner", "repo")} == {
        key: original[key] for key in ("type", "owner", "repo")
    }
    assert re.fullmatch("[0-9a-f]{40}", node["locked"]["rev"])
    assert re.fullmatch("sha256-[A-Za-z0-9+/]{43}=", node["locked"]["narHash"])
    assert lock["version"] == 7
    assert lock["nodes"]["root"]["inputs"] == {"nixpkgs": "nixpkgs"}
    assert set(lock["nodes"]) == {"root", "nixpkgs"}


def test_the_flake_names_only_files_that_are_there() -> None:
    """Every path in the flake and its parts leads to a file that git would track."""
    for file in (ROOT / "flake.nix", *NIX.rglob("*.nix")):
        for path in re.findall(r"(?<![\w.\"])\./[\w./-]+", file.read_text()):
            if path != "./packages.json":  # made with the stand-in
                assert (file.parent / path).exists(), f"{file.name}: {path}"


def test_no_registry_is_named() -> None:
    """The machine's own configuration decides where packages come from."""
    for file in (ROOT / "flake.nix", *NIX.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            assert not re.search(r"https?://", file.read_text()), file


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_the_scripts_parse() -> None:
    """Each shell script is one; what is called by its name is executable."""
    for file in (NIX / "run", ROOT / ".ci/run", *NIX.rglob("*.sh")):
        subprocess.run(["bash", "-n", str(file)], check=True)
    assert os.access(NIX / "run", os.X_OK)
    assert "checks/nix/run" in (ROOT / ".ci/run").read_text()


def test_the_launcher_has_one_place_to_bind() -> None:
    """What the Nix package fills in stands in the launcher once, alone on its line."""
    lines = LAUNCHER.read_text().splitlines()
    assert lines.count("bundled='@skillbench@'") == 1
    assert sum("@skillbench@" in line for line in lines) == 1


# -- the checker of skills ---------------------------------------------------------------------------------------------


def test_our_skills_are_valid() -> None:
    """Every skill of this repository, taken as its own package, passes."""
    folders = {file.parent.name: file.parent for file in (ROOT / "skills").rglob("SKILL.md")}
    assert len(folders) >= 3
    assert check_skills.main(ROOT / "skills", folders) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Do x.\n", "no front matter between two lines ---"),
        ("---\nname: x\n", "no front matter between two lines ---"),
        ("---\n- x\n---\nDo x.\n", "the front matter is no mapping"),
        ("---\ndescription: use when: a, b\n---\nDo x.\n", "the front matter is no YAML"),
        ("---\nname: x\n---\nDo x.\n", "no description"),
        ("---\ndescription: Does x.\n---\nDo x.\n", "no name"),
        ("---\nname: y\ndescription: Does x.\n---\nDo x.\n", 'name "y"; expected the folder\'s, "x"'),
        ("---\nname: yes\ndescription: Does x.\n---\nDo x.\n", "name is True; expected a text"),
        ("---\nname: X--\ndescription: Does x.\n---\nDo x.\n", 'name "X--"; expected a-z'),
        (
            f"---\nname: x\ndescription: {'y' * 1025}\n---\nDo x.\n",
            "description has 1025 characters; expected at most 1024",
        ),
        (f"---\nname: x\ndescription: x\ncompatibility: {'y' * 501}\n---\nDo x.\n", "compatibility has 501 characters"),
        ("---\nname: x\ndescription: x\nmetadata: {a: 1}\n---\nDo x.\n", "metadata is no mapping of texts"),
        (
            "---\nname: x\ndescription: x\nallowed-tools: [Bash]\n---\nDo x.\n",
            "allowed-tools is ['Bash']; expected a text",
        ),
        ("---\nname: x\ndescription: x\nlicence: MIT\n---\nDo x.\n", 'unknown key "licence"'),
        ("---\nname: x\ndescription: x\n---\n\n", "nothing after the front matter"),
    ],
)
def test_an_invalid_skill_is_told(tmp_path: Path, text: str, problem: str) -> None:
    """Each rule of the specification is held to, and its breach is told by name."""
    (tmp_path / "skills/x").mkdir(parents=True)
    (tmp_path / "skills/x/SKILL.md").write_text(text)
    assert any(problem in told for told in check_skills.main(tmp_path / "skills", {"x": tmp_path / "skills/x"}))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda package: (package / "tests").mkdir(), "tests: tests and their data are never packaged"),
        (lambda package: (package / "references/fixture").mkdir(), "references/fixture: tests and their data"),
        (lambda package: (package / "case.md").write_text("x"), "case.md: tests and their data"),
        (lambda package: (package / "notes.md").write_text("x"), "notes.md: not a file of the skill"),
        (lambda package: (package / "references/a.md").unlink(), "references/a.md: missing in the package"),
        (lambda package: (package / "references/a.md").write_text("other"), "references/a.md: not as in the skill"),
        (lambda package: (package / "scripts/go").chmod(0o644), "scripts/go: not as in the skill"),
        (lambda package: (package / "scripts/go").write_text("#!/store/bin/bash\n"), "scripts/go: not as in the skill"),
    ],
)
def test_a_package_that_is_not_the_skill_is_told(tmp_path: Path, change: object, problem: str) -> None:
    """A file more, less, changed, of another mode or with another first line is found, and so are tests."""
    source = tmp_path / "skills/group/x"
    (source / "references").mkdir(parents=True)
    (source / "scripts").mkdir()
    (source / "SKILL.md").write_text(SKILL.format(name="x"))
    (source / "references/a.md").write_text("a")
    (source / "scripts/go").write_text("#!/usr/bin/env bash\n")
    (source / "scripts/go").chmod(0o755)
    package = tmp_path / "package"
    shutil.copytree(source, package)
    assert check_skills.main(tmp_path / "skills", {"x": package}) == []
    assert callable(change)
    change(package)
    assert any(f"x: {problem}" in told for told in check_skills.main(tmp_path / "skills", {"x": package}))


def test_a_skill_and_its_package_need_each_other(tmp_path: Path) -> None:
    """A skill that was not packaged, and a package of no skill, are told."""
    (tmp_path / "skills/x").mkdir(parents=True)
    (tmp_path / "skills/x/SKILL.md").write_text(SKILL.format(name="x"))
    told = check_skills.main(tmp_path / "skills", {"y": tmp_path / "skills/x"})
    assert told == ["x: a skill without a package", "y: a package without a skill"]


@pytest.mark.parametrize(("program", "ok"), [("/store/x/bin/skillbench", True), ("bin/skillbench", False), ("", False)])
def test_the_launcher_must_be_bound(tmp_path: Path, program: str, ok: bool) -> None:
    """A packaged launcher that names no program by its whole path is told; a bound one is as in the skill otherwise."""
    package = tmp_path / "benchmark-skill"
    shutil.copytree(LAUNCHER.parent.parent, package)
    launcher = package / "scripts/skillbench"
    launcher.write_text(LAUNCHER.read_text().replace("@skillbench@", program))
    told = check_skills.main(ROOT / "skills/benchmark-skill/..", {"benchmark-skill": package})
    told = [line for line in told if line.startswith("benchmark-skill: ")]
    assert (told == []) == ok, told
