"""A freeze on disk -> its suite and manifest, after every byte of it was held to its digests.

Gather: only reads. Everything that looks at evidence starts here.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

from ..digest import files_digest
from ..errors import EvidenceError
from ..model import Value
from ..safefile import Seen
from ..safewalk import Walked
from .documents import read_manifest, read_suite
from .reading import refuse
from .records import File, Freeze, Manifest, Package, Suite
from .trees import digest_of, entry_problem, files_of, read_document, read_tree, real_folder, strict

MANIFEST = "manifest.json"
SUITE = "suite.json"
RUNS = "runs"
#: How long after a file's last change its times are taken to be too coarse to tell a second change from the first.
_SETTLED_NS = 2_000_000_000


class Loaded(Value, frozen=True):
    """A verified freeze, and what tells that it is still the same without reading it again.

    `known` are the files whose identity alone tells that their bytes are the same.
    """

    freeze: Freeze
    walked: Walked
    known: dict[str, Seen]


def load(directory: Path) -> Freeze:
    """Return the freeze at `directory` if all of it is what its manifest says; imported runs are not looked at.

    Raises EvidenceError with the exact message of the first thing that is not.
    """
    return verify(directory).freeze


def verify(directory: Path, before: Loaded | None = None) -> Loaded:
    """Return what `load` does, and what the next `verify` of the same directory may be given as `before`.

    A file that was verified before, and whose device, inode, size and times are as they were, is not read again:
    nobody can change its bytes without changing one of those. That does not hold for a file that had changed within
    two seconds of the reading, since a second change could have left the same times; it is read again.
    """
    shown = os.fspath(directory)
    root = real_folder(directory, "Benchmark must be a real directory.")
    begun = time.time_ns()
    data = _document(root, MANIFEST, shown)
    sha256 = hashlib.sha256(data).hexdigest()
    if before is not None and before.freeze.manifest_sha256 == sha256:
        manifest = before.freeze.manifest
    else:
        manifest = read_manifest(data, f"{shown}/{MANIFEST}")
    suite_data = _document(root, SUITE, shown)
    if hashlib.sha256(suite_data).hexdigest() != manifest.suite_sha256:
        raise refuse("Frozen suite changed.", f"{shown}/{SUITE}", expected=f"SHA-256 {manifest.suite_sha256}")
    suite = read_suite(suite_data, f"{shown}/{SUITE}")
    check_runs_folder(root, shown)
    known = None if before is None else before.known
    walked = read_tree(root, shown, strict(), skip_top=(MANIFEST, RUNS), known=known)
    if before is not None and before.freeze.manifest is manifest and before.walked.seen == walked.seen:
        return before
    _check_inventory(files_of(walked), manifest, shown)
    _check_packages(suite, manifest, shown)
    _check_places(suite, manifest, shown)
    settled = {seen.path: seen for seen in walked.seen if max(seen.identity[-2:]) < begun - _SETTLED_NS}
    freeze = Freeze(directory=root, suite=suite, manifest=manifest, manifest_sha256=sha256)
    return Loaded(freeze=freeze, walked=walked, known=settled)


def check_runs_folder(root: Path, shown: str) -> None:
    """Refuse a ``runs`` that is missing, a link, or no folder."""
    place = root / RUNS
    if os.path.isdir(place) and not os.path.islink(place):
        return
    there = os.path.lexists(place)
    wrong = refuse("Runs must be a real directory.", f"{shown}/{RUNS}", expected="a folder, empty where no run is")
    raise EvidenceError(*wrong.problems, *(entry_problem(place, RUNS) if there else ()))


def _document(root: Path, name: str, shown: str) -> bytes:
    try:
        return read_document(root, name, f"{shown}/{name}", strict())
    except FileNotFoundError:
        message = "Frozen suite changed." if name == SUITE else "Frozen inventory changed."
        raise refuse(message, f"{shown}/{name}", expected="a file; there is none") from None


def _check_inventory(files: tuple[File, ...], manifest: Manifest, shown: str) -> None:
    if files != manifest.files:
        expected = _difference(files, manifest.files)
        raise refuse("Frozen inventory changed.", shown, expected=expected)
    digest = digest_of(files)
    if digest != manifest.benchmark_sha256:
        raise refuse("Freeze digest does not match.", f"{shown}/{MANIFEST}", "$.benchmark_sha256", digest)


def _difference(files: tuple[File, ...], frozen: tuple[File, ...]) -> str:
    """Return which files are changed, missing or extra, in words."""
    now, then = ({file.path: file for file in some} for some in (files, frozen))
    said = [f"{path} as it was" for path in then if path in now and now[path] != then[path]]
    said += [f"{path}, which is missing" for path in then if path not in now]
    said += [f"no {path}" for path in now if path not in then]
    if not said:
        return "files in the order of their paths"
    return ", ".join(said[:5]) + (f" and {len(said) - 5:,} more" if len(said) > 5 else "")


def _check_packages(suite: Suite, manifest: Manifest, shown: str) -> None:
    by_name: dict[str, dict[str, str]] = {}
    for file in manifest.files:
        if file.path.startswith("packages/"):
            _, name, *rest = file.path.split("/", 2)
            by_name.setdefault(name, {})["".join(rest)] = file.sha256
    packages = []
    for name in suite.packages():
        files = by_name.get(name, {})
        if not {"SKILL.md", "LICENSE"} <= files.keys():
            raise refuse("Frozen package is incomplete.", f"{shown}/packages/{name}", expected="SKILL.md and LICENSE")
        packages.append(Package(name=name, tree_sha256=files_digest(files.items())))
    if tuple(packages) != manifest.packages:
        said = ", ".join(f"{package.name} {package.tree_sha256}" for package in packages)
        raise refuse("Frozen package identity changed.", f"{shown}/{MANIFEST}", "$.packages", said)


def _check_places(suite: Suite, manifest: Manifest, shown: str) -> None:
    """Require every file that the suite calls for, and none but those and the packages'."""
    called_for = {SUITE}
    for case in suite.cases:
        called_for |= {f"cases/{case.id}/prompt.md", f"cases/{case.id}/executor.json"}
        called_for |= {f"cases/{case.id}/fixtures/{fixture.target}" for fixture in case.fixtures}
    packages = tuple(f"packages/{name}/" for name in suite.packages())
    found = {file.path for file in manifest.files}
    extra = next((path for path in sorted(found - called_for) if not path.startswith(packages)), None)
    if extra is not None:
        raise refuse("Unexpected frozen file.", f"{shown}/{extra}", expected="nothing that the suite does not name")
    missing = min(called_for - found, default=None)
    if missing is not None:
        raise refuse("Missing frozen case resource.", f"{shown}/{missing}", expected="a file; there is none")
