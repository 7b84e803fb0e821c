"""The lab as a fixture, skipped with its reason where it is not to be had."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .lab import Lab, UnavailableError


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Return a fresh machine with the real client in it."""
    try:
        found = Lab(tmp_path / "lab")
    except UnavailableError as reason:
        pytest.skip(str(reason))
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    return found
