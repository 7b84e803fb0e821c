"""Lay out the stand-in for nixpkgs: ``make.py FOLDER PYTHON``, to build for the interpreter PYTHON.

Copies the Nix files of this folder to FOLDER, downloads the wheels of requirements.txt, and of all that they need, from
the package index that pip is configured for, and writes packages.json: what each wheel is and what it requires.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import PathDistribution
from pathlib import Path

HERE = Path(__file__).parent


def download(wheels: Path, python: str) -> None:
    """Fill a folder with wheels for an interpreter, with the pip of the one that runs this."""
    what = ["--requirement", str(HERE / "requirements.txt"), "pip"]
    how = ["--quiet", "--only-binary=:all:", "--dest", str(wheels)]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "download", *how, *what], check=True)


def described(wheel: Path) -> tuple[str, dict[str, object]]:
    """Return a wheel's canonical name and what the stand-in has to know of it."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    (folder,) = (entry for entry in zipfile.Path(wheel).iterdir() if entry.name.endswith(".dist-info"))
    found = PathDistribution(folder)
    asked = map(Requirement, found.requires or [])
    requires = {
        canonicalize_name(need.name) for need in asked if not need.marker or need.marker.evaluate({"extra": ""})
    }
    name = canonicalize_name(found.metadata["Name"])
    return name, {"version": found.version, "wheel": wheel.name, "requires": sorted(requires)}


def main(folder: str, python: str) -> None:
    """Make FOLDER, which must not be there yet."""
    made = Path(folder)
    shutil.copytree(HERE, made, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    download(made / "wheels", python)
    wheels = sorted(made.glob("wheels/*.whl"))
    # What reads requirements is itself in the wheel house, as hatchling needs it.
    sys.path[:0] = [str(wheel) for wheel in wheels if wheel.name.startswith("packaging-")]
    document = {"python": python, "packages": dict(map(described, wheels))}
    (made / "packages.json").write_text(json.dumps(document, indent=1, sort_keys=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
