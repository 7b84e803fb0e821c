"""Stop a real process at every call by which it changes a disk, or let that call fail, and say what is left.

A program of its own, so that it can fork: ``python -m checks.stopping prepare|import kill|full FOLDER``. Each round
starts from the same sources, forks, stops the child at its next call, and prints one line of JSON: which call it was,
how the child ended, whether the freeze reads as before or as after, and what else lies beside it. The last round is the
one in which nothing was stopped.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from checks.freezes import freeze, run, state, suite, write_artifacts, write_package, write_run, write_suite
from pytest_skillbench.errors import SkillbenchError
from pytest_skillbench.evidence import staging
from pytest_skillbench.evidence.compare import inspect
from pytest_skillbench.evidence.freeze import prepare
from pytest_skillbench.evidence.runs import import_run

CALLS = ("open", "write", "fsync", "mkdir", "chmod", "fchmod", "rename", "unlink", "rmdir")
KILLED, REFUSED = 77, 2


class Stopper:
    """Counts the calls that change a disk, and at the one chosen ends the process or lets the call fail."""

    def __init__(self, at: int, way: str) -> None:
        self.at = at
        self.way = way
        self.count = 0

    def install(self) -> None:
        """Put a counting call in the place of each of `CALLS`, and of the rename that Python does not have."""
        for name in CALLS:
            setattr(os, name, self.counted(name, getattr(os, name)))
        rename = staging._exclusive_rename()
        assert rename is not None
        staging._exclusive_rename = lambda: self.counted("renameat2", rename)

    def counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return `call` as it is made from now on."""

        def made(*arguments: Any, **options: Any) -> Any:
            if name == "open" and not arguments[1] & os.O_CREAT:
                return call(*arguments, **options)
            self.count += 1
            if self.count == self.at:
                if self.way == "kill":
                    if name == "write":
                        call(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                    self.end(name)
                if name not in ("unlink", "rmdir"):
                    os.environ["STOPPED"] = name
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return call(*arguments, **options)

        return made

    def end(self, name: str) -> NoReturn:
        """End the process as a killed one ends: nothing is cleaned up."""
        sys.stdout.write(name)
        sys.stdout.flush()
        os._exit(KILLED)


def child(work: Callable[[], object], at: int, way: str) -> tuple[int, str]:
    """Do `work` in a process of its own that is stopped at its call number `at`; return how it ended, and at what."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(writing, 1)
        Stopper(at, way).install()
        try:
            work()
        except (SkillbenchError, OSError):
            os.write(1, os.environ.get("STOPPED", "").encode())
            os._exit(REFUSED)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        name = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), name


def main(action: str, way: str, root: Path) -> None:
    """Run every round."""
    pristine, place = root / "pristine", root / "place"
    write_suite(pristine / "suite", suite())
    write_package(pristine / "skills")
    write_artifacts(pristine / "artifacts")
    if action == "import":
        digest = freeze(pristine).benchmark_sha256
        imported = write_run(pristine, run(digest))
        import_run(pristine / "freeze", imported, pristine / "artifacts")
        write_run(pristine, run(digest, "treatment"))

    def work() -> object:
        if action == "prepare":
            return prepare(place / "suite/suite.json", place / "skills", place / "freeze")
        return import_run(place / "freeze", place / "run-treatment-1.json", place / "artifacts")

    shutil.copytree(pristine, place)
    work()
    after = state(place)
    before = state(pristine)
    at = 0
    while True:
        at += 1
        shutil.rmtree(place)
        shutil.copytree(pristine, place)
        code, name = child(work, at, way)
        left = state(place)
        beside = sorted(path for path in left if path.startswith("."))
        rest = {path: found for path, found in left.items() if not path.startswith(".")}
        said = {"call": name, "code": code, "beside": [path for path in beside if "/" not in path]}
        said["state"] = "before" if rest == before else "after" if rest == after else "neither"
        if (place / "freeze").exists():
            said["runs"] = len(inspect(place / "freeze").retained)
        if said["state"] == "before":
            work()
            said["again"] = "after" if state(place) == after else "neither"
        print(json.dumps(said), flush=True)
        if code == 0:
            return


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
