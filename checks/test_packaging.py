"""What people get who install with pip or uv: the wheel has all it needs and nothing else, and the sdist builds."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import pytest_skillbench

pytest.importorskip("hatchling", reason="the build backend is not installed")

ROOT = Path(__file__).parent.parent
SKILL = ROOT / "skills" / "benchmark-skill"
#: Nothing of the environment that could lead a program elsewhere than to the wheel.
CLEAN = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV", "GIT_"))}


def build(source: Path, kind: str, to: Path) -> Path:
    """Build a distribution of the project in `source` with the build backend that pyproject.toml names."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(to)]
    done = subprocess.run(command, cwd=source, env=CLEAN, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = to.iterdir()
    return built


def content(wheel: Path) -> dict[str, bytes]:
    """Return the files of a wheel, but the list of their digests."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of this tree."""
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a virtual environment of the wheel and, of all that is installed here, only what the wheel declares."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(folder / "bin/python"),
        "install",
        "--no-index",
        "--no-deps",
    ]
    if subprocess.run([sys.executable, "-c", "import pip"], env=CLEAN, capture_output=True, check=False).returncode:
        uv = shutil.which("uv") or pytest.skip("neither pip nor uv is installed")
        install = [uv, "pip", "install", "--offline", "--no-deps", "--python", str(folder / "bin/python")]
    done = subprocess.run([*install, "-q", str(wheel)], env=CLEAN, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (site,) = folder.glob("lib/python*/site-packages")
    for name in declared(wheel):
        for file in importlib.metadata.files(name) or ():
            top = file.parts[0]
            if top not in ("..", "__pycache__") and not (site / top).exists():
                (site / top).symlink_to(Path(str(file.locate())).parents[len(file.parts) - 1] / top)
    return folder


def declared(wheel: Path) -> set[str]:
    """Return what a wheel requires, and what that requires."""
    (metadata,) = (data for name, data in content(wheel).items() if name.endswith(".dist-info/METADATA"))
    found: set[str] = set()
    wanted = Parser().parsestr(metadata.decode()).get_all("Requires-Dist") or []
    while wanted:
        requirement = Requirement(wanted.pop())
        name = canonicalize_name(requirement.name)
        if name not in found and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            found.add(name)
            wanted += importlib.metadata.requires(name) or []
    return found


def run(environment: Path, *command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment as a user does."""
    program = str(environment / "bin" / command[0])
    return subprocess.run([program, *command[1:]], cwd=cwd, env=CLEAN, capture_output=True, text=True, check=False)


def test_the_wheel_holds_the_program_and_the_skill(wheel: Path) -> None:
    """Every file of the package and of the runner skill is in it byte for byte; no test, no other skill."""
    want = {}
    for folder, place in (
        (ROOT / "pytest_skillbench", "pytest_skillbench"),
        (SKILL, "pytest_skillbench/skills/benchmark-skill"),
    ):
        for path in folder.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                want[f"{place}/{path.relative_to(folder).as_posix()}"] = path.read_bytes()
    got = {name: data for name, data in content(wheel).items() if ".dist-info/" not in name}
    assert got.keys() == want.keys()
    assert got == want


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    """Version, entry points and licence are in the metadata."""
    files = {name.split("/", 1)[1]: data.decode() for name, data in content(wheel).items() if ".dist-info/" in name}
    assert f"\nVersion: {pytest_skillbench.__version__}\n" in files["METADATA"]
    assert "\nLicense-Expression: MIT\n" in files["METADATA"]
    assert "skillbench = pytest_skillbench.cli:main" in files["entry_points.txt"]
    assert "[pytest11]\nskillbench = pytest_skillbench.plugin" in files["entry_points.txt"]
    assert files["licenses/LICENSE"] == (ROOT / "LICENSE").read_text()


def test_the_program_works_from_the_wheel_alone(environment: Path, tmp_path: Path) -> None:
    """`skillbench install` puts the skill into a project, from an environment without this tree."""
    done = run(environment, "python", "-c", "import pytest_skillbench as p; print(p.__file__)", cwd=tmp_path)
    assert done.stdout.startswith(str(environment)), done.stderr
    done = run(environment, "skillbench", "install", "--dir", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for path in SKILL.rglob("*"):
        if path.is_file() and path.parent.name != "agents":
            installed = tmp_path / ".claude/skills/benchmark-skill" / path.relative_to(SKILL)
            assert installed.read_bytes() == path.read_bytes()
    assert os.access(tmp_path / ".claude/skills/benchmark-skill/scripts/skillbench", os.X_OK)
    assert (tmp_path / ".claude/agents/skillbench-arm.md").read_bytes() == (
        SKILL / "agents/skillbench-arm.md"
    ).read_bytes()
    done = run(environment, "skillbench", "install", "--dir", str(tmp_path), "--check", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "current\n"), done.stderr


def test_pytest_finds_the_plugin_of_the_wheel(environment: Path, tmp_path: Path) -> None:
    """The recorded runs are scored with nothing installed but the wheel and what it declares."""
    for folder in ("skills", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns(".reports"))
    options = [f"--skillbench-runs={ROOT / 'checks/golden/runs'}", f"--skillbench-reports={tmp_path / 'reports'}"]
    command = [
        "python",
        "-m",
        "pytest",
        "--skillbench",
        "tests",
        *options,
        "-q",
        "-p",
        "no:cacheprovider",
        "--skillbench-skill",
    ]
    done = run(environment, *command, "decision-record", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "reports/decision-record.html").is_file()
    assert run(environment, *command, "release-notes", cwd=tmp_path).returncode == 1


def test_the_sdist_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """Distributions that build from the sdist get what the index has, and the tests and the flake are in it."""
    archive = build(ROOT, "sdist", tmp_path / "sdist")
    (tmp_path / "source").mkdir()
    subprocess.run(["tar", "-xzf", str(archive), "-C", str(tmp_path / "source")], check=True)
    (source,) = (tmp_path / "source").iterdir()
    assert content(build(source, "wheel", tmp_path / "dist")) == content(wheel)
    for path in (
        "flake.nix",
        "flake.lock",
        "checks/nix/run",
        "checks/test_packaging.py",
        "checks/golden/runs",
        "tests",
        "skills",
    ):
        assert (source / path).exists(), path
    assert not {".venv", "build", ".git", ".ci"} & set(os.listdir(source))
    assert not list(source.rglob("__pycache__"))
    assert not (source / "tests/.reports").exists()
