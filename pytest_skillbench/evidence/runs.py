"""Runs that somebody else executed and graded: imported into a freeze once, and read again byte for byte.

Gather: `import_run` adds a folder to ``runs/`` in one step and never touches one that is there; `read_runs` verifies
all of them. Two imports at once wait for each other, so that a slot is never taken twice.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

from ..errors import EvidenceError, Problem
from .documents import FILE_LIMIT, read_receipt, read_run
from .load import RUNS, Loaded, check_runs_folder, verify
from .reading import json_bytes, refuse
from .records import File, Freeze, Imported, Receipt, RetainedRun, Run
from .trees import entry_problem, files_of, read_bytes, read_document, read_tree, real_folder, strict

RUN = "run.json"
RECEIPT = "receipt.json"
ARTIFACTS = "artifacts"
MOST_RUNS = 160
ARTIFACT_SCAN_LIMIT = 67_108_864
VERIFICATION = "Retained artifact integrity; execution and grading remain caller assertions."
_TAKEN = "A run ID or case/variant/attempt already exists."


def import_run(directory: Path, run_file: Path, artifacts: Path) -> Imported:
    """Retain the run that `run_file` declares, with its artifacts from that folder; return what ``import-run`` says.

    Raises EvidenceError and OSError, after which nothing has changed.
    """
    shown = os.fspath(run_file)
    loaded = verify(directory)
    folder = real_folder(run_file.parent, "Run must be in a real directory.", follow=True)
    try:
        data = read_document(folder, run_file.name, shown, strict())
    except FileNotFoundError:
        raise refuse("Run is missing.", shown, expected="a file; there is none") from None

    def artifact(file: File) -> bytes:
        root = real_folder(artifacts, "Artifacts must be in a real directory.")
        return read_bytes(root, file.path, f"{artifacts}/{file.path}", strict(file=FILE_LIMIT))

    return retain(loaded, data, shown, artifact)


def retain(loaded: Loaded, data: bytes, shown: str, artifact: Callable[[File], bytes]) -> Imported:
    """Retain the run that the JSON `data` declares. `shown`: what messages call it.

    `artifact` returns the bytes of each declared artifact, or raises FileNotFoundError or EvidenceError. Raises
    EvidenceError and OSError, after which nothing has changed.
    """
    from .staging import locked  # what writes is not loaded by those who only read

    freeze = loaded.freeze
    run = read_run(data, shown, freeze.suite, freeze.manifest.benchmark_sha256)
    runs = freeze.directory / RUNS
    try:
        with locked(runs):
            _check_room(run, read_runs(freeze), shown)
            files = _files(run, artifact, shown)
            verify(freeze.directory, loaded)
            _place(freeze, run, files, shown)
    except OSError as error:
        raise _explained(error, runs) from error
    return Imported(
        schema_version=1,
        id=run.id,
        benchmark_sha256=run.benchmark_sha256,
        run_sha256=hashlib.sha256(files[RUN]).hexdigest(),
        retained_artifacts=len(run.artifacts),
        execution_kind=run.execution.kind,
        execution_status=run.execution.status,
        verification=VERIFICATION,
    )


def read_runs(freeze: Freeze) -> tuple[RetainedRun, ...]:
    """Return every run that was imported into a freeze, sorted by its id, after all its bytes were verified.

    Raises EvidenceError with the exact message of the first thing that is not as it was imported.
    """
    folder = freeze.directory / RUNS
    check_runs_folder(freeze.directory, os.fspath(freeze.directory))
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise refuse("Runs must be a real directory.", os.fspath(folder), expected=str(error.strerror)) from error
    if len(names) > MOST_RUNS:
        raise refuse(f"Run count exceeds {MOST_RUNS}.", os.fspath(folder), expected=f"there are {len(names):,}")
    found: dict[tuple[str, str, int], RetainedRun] = {}
    left = ARTIFACT_SCAN_LIMIT
    for name in names:
        retained = read_run_folder(folder / name, freeze, left)
        run = retained.run
        if run.id != name:
            expected = f'"{run.id}"'
            raise refuse("Run directory identity does not match.", os.fspath(folder / name), expected=expected)
        if run.slot in found:
            expected = f"another slot than that of {found[run.slot].run.id}"
            raise refuse("Duplicate case/variant/attempt.", os.fspath(folder / name), expected=expected)
        left -= run.artifact_bytes
        found[run.slot] = retained
    return tuple(found.values())


def read_run_folder(folder: Path, freeze: Freeze, left: int = ARTIFACT_SCAN_LIMIT) -> RetainedRun:
    """Return one imported run, verified. `left`: how many bytes its artifacts may have. Raises EvidenceError."""
    shown = os.fspath(folder)
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        wrong = refuse("Run entry must be a real directory.", shown, expected="a folder").problems
        raise EvidenceError(*wrong, *entry_problem(folder, f"{RUNS}/{folder.name}"))
    try:
        data = read_document(folder, RUN, f"{shown}/{RUN}", strict())
        receipt = read_document(folder, RECEIPT, f"{shown}/{RECEIPT}", strict())
    except FileNotFoundError as error:
        name = os.path.basename(error.filename or "")
        raise _incomplete(shown, f"a {name}; there is none") from None
    sha256 = hashlib.sha256(data).hexdigest()
    if read_receipt(receipt, f"{shown}/{RECEIPT}").run_sha256 != sha256:
        raise refuse("Imported run record changed.", f"{shown}/{RUN}", expected="the bytes that its receipt is of")
    run = read_run(data, f"{shown}/{RUN}", freeze.suite, freeze.manifest.benchmark_sha256)
    if run.artifact_bytes > left:
        raise _too_much(shown)
    walked = read_tree(folder, shown, strict(), skip_top=(RUN, RECEIPT))
    found = {file.path: file for file in files_of(walked)}
    declared = {f"{ARTIFACTS}/{file.path}": file for file in run.artifacts}
    if found.keys() != declared.keys():
        said = [f"no {path}" for path in found.keys() - declared] + [f"a {path}" for path in declared.keys() - found]
        raise _incomplete(shown, "; ".join(sorted(said)[:5]))
    for path, file in declared.items():
        if (found[path].sha256, found[path].bytes) != (file.sha256, file.bytes):
            raise _mismatch(file, f"{shown}/{path}", f"{file.bytes:,} bytes with the SHA-256 {file.sha256}")
    return RetainedRun(run=run, run_sha256=sha256)


# -- importing ---------------------------------------------------------------------------------------------------------


def _check_room(run: Run, there: tuple[RetainedRun, ...], shown: str) -> None:
    """Refuse a run for which there is no place among those that are there."""
    if len(there) >= MOST_RUNS:
        raise refuse(f"Run count exceeds {MOST_RUNS}.", shown, expected=f"there are {len(there)}")
    for retained in there:
        if retained.run.id == run.id or retained.run.slot == run.slot:
            case, variant, attempt = retained.run.slot
            raise refuse(_TAKEN, shown, expected=f"another than {retained.run.id} for {case}, {variant}, {attempt}")
    if sum(retained.run.artifact_bytes for retained in there) + run.artifact_bytes > ARTIFACT_SCAN_LIMIT:
        raise _too_much(shown)


def _files(run: Run, artifact: Callable[[File], bytes], shown: str) -> dict[str, bytes]:
    """Return what the run's folder will hold."""
    record = json_bytes(run)
    receipt = json_bytes(Receipt(schema_version=1, run_sha256=hashlib.sha256(record).hexdigest()))
    files = {}
    problems: list[Problem] = []
    for file in run.artifacts:
        try:
            data = artifact(file)
        except FileNotFoundError:
            problems += _mismatch(file, shown, "a file; there is none").problems
            continue
        except EvidenceError as error:
            problems += error.problems
            continue
        sha256 = hashlib.sha256(data).hexdigest()
        if (sha256, len(data)) != (file.sha256, file.bytes):
            expected = f"{file.bytes:,} bytes with the SHA-256 {file.sha256}; there are {len(data):,} with {sha256}"
            problems += _mismatch(file, shown, expected).problems
        files[f"{ARTIFACTS}/{file.path}"] = data
    if problems:
        raise EvidenceError(*problems)
    return files | {RUN: record, RECEIPT: receipt}


def _place(freeze: Freeze, run: Run, files: dict[str, bytes], shown: str) -> None:
    """Write the run's folder beside the freeze, verify it as it lies there, and put it into ``runs/``."""
    from .staging import publish, staged, write_files

    root = freeze.directory
    with staged(root.parent, root.name, "import") as staging:
        folder = staging / run.id
        os.mkdir(folder, 0o700)
        os.chmod(folder, 0o700)
        write_files(folder, files.items())
        read_run_folder(folder, freeze)
        try:
            publish(folder, root / RUNS / run.id)
        except FileExistsError:
            raise refuse(_TAKEN, shown, expected=f"another id than {run.id}") from None


def _explained(error: OSError, runs: Path) -> OSError | EvidenceError:
    """Return what to say of a system's refusal: how imports work, where that is why."""
    from .staging import NO_LOCKS

    shown = os.fspath(runs)
    if error.errno == errno.EXDEV or (error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)):
        expected = f"to write in {runs} and, for what is not yet whole, in the folder that holds the benchmark"
        return refuse(f"Run can't be written: {error.strerror}.", shown, expected=f"{expected}, on one file system")
    if error.errno in NO_LOCKS and error.filename is None:
        return refuse("Runs can't be locked.", shown, expected="a file system with locks, so that imports can't race")
    return error


def _incomplete(shown: str, expected: str) -> EvidenceError:
    return refuse("Imported run contains unexpected or missing files.", shown, expected=expected)


def _mismatch(file: File, shown: str, expected: str) -> EvidenceError:
    return refuse(f"Artifact identity mismatch: {file.path}", shown, expected=expected)


def _too_much(shown: str) -> EvidenceError:
    message = f"Comparison artifact scan exceeds {ARTIFACT_SCAN_LIMIT} bytes."
    return refuse(message, shown, expected=f"at most {ARTIFACT_SCAN_LIMIT:,} bytes of artifacts in all runs together")
