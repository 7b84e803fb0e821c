"""``make demo``: the main job on the recorded example runs, as a user would run it, with a few words around it.

Calls pytest with the plugin on ``tests/``; the runs come from ``checks/golden/`` and the reports go to the folder that
is given, where an example history is laid first, so that the trend has something to show. One of the example skills
has a regression, so pytest's exit code 1 is what a demo is expected to give.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUNS = "checks/golden/runs"
HISTORY = ROOT / "checks" / "golden" / "history"


def lay_history(reports: Path) -> None:
    """Put the earlier example runs' history lines into a reports folder that has none yet."""
    reports.mkdir(parents=True, exist_ok=True)
    for file in HISTORY.glob("*.jsonl"):
        if not (reports / file.name).exists():
            shutil.copy(file, reports)


def main(reports: str) -> int:
    """Run the plugin on the example runs; return 0 where it found what is recorded."""
    command = ["pytest", "--skillbench", "tests/", f"--skillbench-runs={RUNS}", f"--skillbench-reports={reports}"]
    lay_history(ROOT / reports)
    print(f"$ {' '.join(command)}\n", flush=True)
    quiet = ["-q", "-r", "N", "--tb=no", "-p", "no:cacheprovider"]
    code = subprocess.run([sys.executable, "-m", *command, *quiet], cwd=ROOT, check=False).returncode
    if code != 1:
        print(f"\nThe example runs hold one regression, so exit code 1 was expected; it was {code}.", file=sys.stderr)
        return code or 3
    print(
        "\nThe red one is the point: on one case the released release-notes was better; the report shows why."
        f"\nOpen {ROOT / reports / 'index.html'}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
