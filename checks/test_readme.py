"""The README is true: every command in it that can run here runs as printed, and every file it links is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PLAIN = re.sub(r"^````.*?^````$", "", README, flags=re.MULTILINE | re.DOTALL)  # without the example case
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PLAIN, re.MULTILINE | re.DOTALL)
COMMANDS = [line.split("  #")[0].strip() for block in BLOCKS for line in block.splitlines() if line.strip()]


def run(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command line in the repository, with this environment's programs first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = command.replace(".venv/bin/", "")
    return subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_works_as_printed(command: str, tmp_path: Path) -> None:
    """A command of the README ends well when a newcomer pastes it."""
    if command == "make demo":
        command = f"python checks/demo.py {tmp_path}"  # make itself would set up an environment: CI does that once
    if "TRANSCRIPT…" in command:
        command = command.replace("TRANSCRIPT…", "checks/golden/transcripts/decision-record")
    if command == "skillbench score":
        command = f"skillbench score --reports {tmp_path} || test $? -eq 3"  # nothing is recorded in a fresh clone
    if command == "skillbench status":
        command += " || test $? -eq 3"  # a run of this repository may be under way
    command = command.replace("build/demo", str(tmp_path))
    done = run(command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_every_link_leads_somewhere() -> None:
    """Relative links and pictures of README, CONTRIBUTING and docs exist."""
    for file in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", file.read_text(encoding="utf-8")):
            if not target.startswith("https://"):
                assert (file.parent / target).exists(), f"{file.name}: {target}"


def test_every_option_of_the_plugin_is_in_the_readme() -> None:
    """No option is a secret, and none is promised that is not there."""
    shown = run("pytest --help").stdout
    options = set(re.findall(r"--skillbench[a-z-]*", shown))
    assert options
    assert set(re.findall(r"--skillbench[a-z-]*", README)) == options


def test_the_picture_of_the_case_is_the_case() -> None:
    """The case on the first screen is an excerpt of a real one."""
    case = (ROOT / "tests/writing/release-notes/buried-breaking-change/case.md").read_text(encoding="utf-8")
    shown = README.split("````markdown\n")[1].split("````")[0]
    for line in shown.splitlines():
        assert line.rstrip(" …") in case, line
