"""A stand-in for the program, for tests of the runner skill's text alone: ``skillbench`` says what it was told to say.

It plans nothing and counts nothing. What ``next`` answers, call by call, and what was called are files beside it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_PROGRAM = """#!{python}
import json, os, pathlib, sys
here = pathlib.Path(__file__).parent
with open(here / "calls", "a") as log:
    log.write(json.dumps([pathlib.Path(__file__).name, *sys.argv[1:]]) + "\\n")
if sys.argv[1:2] == ["next"]:
    said = here / "said"
    number = len(said.read_text()) if said.exists() else 0
    said.write_text("." * (number + 1))
    print(json.dumps(json.loads((here / "answers.json").read_text())[number]))
elif sys.argv[1:2] == ["start"]:
    print("demo: started, two-arm, 2 arm jobs, up to 1 judge job")
else:
    print("demo  Efficacy pass 1/1")
"""


class Canned:
    """``skillbench`` and ``pytest`` in a folder for the PATH."""

    def __init__(self, folder: Path, answers: Sequence[dict[str, Any]], *, names: Sequence[str] = ()) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        (folder / "answers.json").write_text(json.dumps(list(answers)))
        for name in names or ("skillbench", "pytest"):
            program = folder / name
            program.write_text(_PROGRAM.replace("{python}", sys.executable))
            program.chmod(0o755)

    def calls(self) -> list[list[str]]:
        """Return every call so far: the program's name and its arguments."""
        log = self.folder / "calls"
        return [json.loads(line) for line in log.read_text().split("\n") if line] if log.exists() else []
