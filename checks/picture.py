"""``make picture``: the README's picture of the report, taken from the recorded example run in a real browser."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from pytest_skillbench import project, scoring, tree

from .demo import ROOT, RUNS, lay_history

PICTURE = ROOT / "docs" / "report.png"
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")


def main() -> int:
    """Write ``docs/report.png`` and return 0."""
    with tempfile.TemporaryDirectory() as folder:
        reports = Path(folder)
        lay_history(reports)
        found = tree.discover(project.find(ROOT, runs=ROOT / RUNS, reports=reports))
        scoring.write(found, [scoring.score(found.project, skill) for skill in found.skills])
        with sync_playwright() as play:
            browser = play.chromium.launch(
                executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=list(ARGUMENTS)
            )
            page = browser.new_page(viewport={"width": 1280, "height": 1000}, color_scheme="light")
            page.goto((reports / "release-notes.html").as_uri())
            page.screenshot(path=PICTURE)
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
