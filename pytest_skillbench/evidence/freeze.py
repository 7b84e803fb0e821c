"""A suite and the packages it selects -> a freeze: a new folder in which every byte is under a digest.

Gather: reads the sources whole, by the rules of `trees`, then writes the freeze beside its place, verifies what was
written, and puts it there in one step. Whoever is stopped at any point leaves no freeze rather than half of one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from ..errors import EvidenceError, Problem
from ..model import Value
from .documents import FILE_LIMIT, MOST_FILES, MOST_PACKAGES, TREE_LIMIT, read_suite
from .load import MANIFEST, RUNS, SUITE, load
from .reading import PREFIX, WHITE_SPACE, json_bytes, refuse
from .records import Case, Executor, File, Manifest, Package, Prepared, Suite
from .staging import publish, staged, write_files
from .trees import DEREFERENCE, digest_of, read_bytes, read_document, read_tree, real_folder, strict

PROMPT_LIMIT = 65_536


class Sources(Value, frozen=True):
    """What goes into a freeze: the suite, its cases' files by their path in the freeze, each package's by path in it.

    `followed` are the links whose target was taken, each with that.
    """

    suite: Suite
    files: dict[str, bytes]
    packages: dict[str, dict[str, bytes]]
    followed: tuple[tuple[str, str], ...] = ()


def prepare(
    suite_file: Path,
    skills: Path | Mapping[str, Path],
    output: Path,
    *,
    protected: Iterable[Path] = (),
    dereference: bool = False,
    followed: Callable[[str, str], object] | None = None,
) -> Prepared:
    """Freeze a suite and its packages at `output`, which must not exist; return what ``evidence prepare`` says.

    `skills`: the folder that holds the packages, or where each is by name. `protected`: more folders in which `output`
    must not lie, besides the suite's and the packages'. `dereference`: see `gather`; `followed` is told each link whose
    target was taken, and that. Raises EvidenceError and OSError.
    """
    sources = gather(suite_file, skills, dereference=dereference)
    if followed is not None:
        for link, target in sources.followed:
            followed(link, target)
    folders = [skills] if isinstance(skills, Path) else list(skills.values())
    return write(sources, output, protected=[Path(os.path.abspath(suite_file)).parent, *folders, *protected])


def gather(suite_file: Path, skills: Path | Mapping[str, Path], *, dereference: bool = False) -> Sources:
    """Return everything that a freeze of this suite holds, in memory.

    `dereference`: take what symbolic links lead to in their place, and files that have other names as well, as skills
    have that Nix or another store placed. Raises EvidenceError with everything that is wrong with the sources.
    """
    folder = real_folder(suite_file.parent, "Suite must be in a real directory.", follow=True)
    hint = None if dereference else DEREFERENCE
    try:
        data = read_document(folder, suite_file.name, os.fspath(suite_file), strict(dereference=dereference), hint=hint)
    except FileNotFoundError:
        raise refuse("Suite is missing.", os.fspath(suite_file), expected="a file; there is none") from None
    suite = read_suite(data, os.fspath(suite_file))
    gathering = _Gathering(folder, suite_file.parent, dereference)
    gathering.add(SUITE, json_bytes(suite))
    for case in suite.cases:
        gathering.case(case)
    names = suite.packages()
    if len(names) > MOST_PACKAGES:
        expected = f"at most {MOST_PACKAGES}; there are {len(names)}"
        raise refuse("Suite selects too many packages.", os.fspath(suite_file), "$.cases", expected)
    if isinstance(skills, Path):
        root = real_folder(skills, "Skills root must be a directory.", follow=dereference, hint=hint)
        skills = {name: root / name for name in names}
    for name in names:
        gathering.package(name, skills.get(name))
    if gathering.problems:
        raise EvidenceError(*gathering.problems)
    return Sources(
        suite=suite,
        files=gathering.files,
        packages=gathering.packages,
        followed=tuple(gathering.followed),
    )


def write(
    sources: Sources, output: Path, *, protected: Iterable[Path] = (), then: Callable[[Path], object] | None = None
) -> Prepared:
    """Write a freeze at `output`, which must not exist, nor lie in one of the folders `protected`.

    `then` is called with the freeze while it still lies beside its place, such as to import runs into it: it appears
    with all of that or not at all. Raises EvidenceError and OSError.
    """
    suite = sources.suite
    files = {SUITE: json_bytes(suite), **sources.files}
    for case in suite.cases:
        files[f"cases/{case.id}/executor.json"] = json_bytes(_executor(case))
    packages = []
    for name in suite.packages():
        inner = sources.packages[name]
        packages.append(Package(name=name, tree_sha256=digest_of(_inventory(inner))))
        files |= {f"packages/{name}/{path}": data for path, data in inner.items()}
    inventory = _inventory(files)
    _check_combined(len(inventory), sum(file.bytes for file in inventory))
    manifest = Manifest(
        schema_version=1,
        suite_sha256=hashlib.sha256(files[SUITE]).hexdigest(),
        benchmark_sha256=digest_of(inventory),
        files=inventory,
        packages=tuple(packages),
    )
    files[MANIFEST] = json_bytes(manifest)
    place = _place(output, protected)
    folders = [RUNS, *(f"cases/{case.id}/fixtures" for case in suite.cases)]
    with staged(place.parent, place.name, "prepare") as folder:
        write_files(folder, files.items(), folders)
        load(folder)
        if then is not None:
            then(folder)
        try:
            publish(folder, place)
        except FileExistsError:
            raise _exists(output) from None
    return Prepared(
        schema_version=1,
        directory=os.fsencode(place).decode("utf-8", "replace"),
        suite=suite.id,
        benchmark_sha256=manifest.benchmark_sha256,
        cases=len(suite.cases),
        packages=manifest.packages,
    )


def package_digest(folder: Path, *, dereference: bool = False) -> str:
    """Return the tree digest that a package in `folder` has in a freeze.

    Raises EvidenceError where it could not be in one.
    """
    gathering = _Gathering(folder, folder, dereference)
    gathering.package(folder.name, folder)
    if gathering.problems:
        raise EvidenceError(*gathering.problems)
    return digest_of(_inventory(gathering.packages[folder.name]))


class _Gathering:
    """Reads one source after the other, as long as all of them fit into one freeze."""

    def __init__(self, folder: Path, shown: Path, dereference: bool) -> None:
        self.folder = folder
        self.shown = shown
        self.rules = strict(dereference=dereference)
        self.hint = None if dereference else DEREFERENCE
        self.files: dict[str, bytes] = {}
        self.packages: dict[str, dict[str, bytes]] = {}
        self.followed: list[tuple[str, str]] = []
        self.problems: list[Problem] = []
        self.count = 0
        self.bytes = 0

    def add(self, path: str, data: bytes) -> None:
        self.count += 1
        self.bytes += len(data)
        _check_combined(self.count, self.bytes)
        self.files[path] = data

    def case(self, case: Case) -> None:
        place = f"cases/{case.id}"
        prompt = self.source(case.prompt, PROMPT_LIMIT)
        if prompt is not None:
            self.add(f"{place}/prompt.md", prompt)
            if not _is_prompt(prompt):
                self.refuse_prompt(case.prompt, "text that is not blank, in UTF-8")
        for fixture in case.fixtures:
            data = self.source(fixture.path, FILE_LIMIT)
            if data is not None:
                self.add(f"{place}/fixtures/{fixture.target}", data)
        self.add(f"{place}/executor.json", json_bytes(_executor(case)))

    def source(self, path: str, limit: int) -> bytes | None:
        """Return a file beside the suite, None where it is refused."""
        shown = os.fspath(self.shown / path)
        rules = strict(dereference=self.rules.links == "follow", file=limit)
        try:
            return read_bytes(self.folder, path, shown, rules, hint=self.hint)
        except FileNotFoundError:
            error = refuse("Suite resource is missing.", shown, expected="a file; there is none")
        except EvidenceError as refused:
            error = refused
        if limit == PROMPT_LIMIT and error.message.startswith("file exceeds "):
            self.refuse_prompt(path, f"at most {limit:,} bytes")
        self.problems += error.problems
        return None

    def refuse_prompt(self, path: str, expected: str) -> None:
        message = "Executor prompt must be nonblank UTF-8 text."
        self.problems += refuse(message, os.fspath(self.shown / path), expected=expected).problems

    def package(self, name: str, folder: Path | None) -> None:
        message = "Selected package must be a directory."
        if folder is None:
            self.problems += refuse(message, name, expected="one skill of this name").problems
            return
        shown = os.fspath(folder)
        follow = self.rules.links == "follow"
        try:
            root = real_folder(folder, message, follow=follow, hint=self.hint)
            walked = read_tree(root, shown, self.rules, keep=True, hint=self.hint)
        except EvidenceError as error:
            if error.message.startswith(f"{PREFIX}Tree exceeds "):
                raise EvidenceError(*_combined(MOST_FILES + 1, 0).problems, *error.problems) from None
            self.problems += error.problems
            return
        found = {seen.path: seen.data or b"" for seen in walked.seen}
        if not {"SKILL.md", "LICENSE"} <= found.keys():
            message = "Selected package lacks SKILL.md or LICENSE."
            self.problems += refuse(message, shown, expected="both, in the folder itself").problems
        self.count += len(found)
        self.bytes += sum(map(len, found.values()))
        _check_combined(self.count, self.bytes)
        self.packages[name] = found
        self.followed += [(f"{shown}/{path}", target) for path, target in walked.followed]
        if os.path.islink(folder):
            self.followed.append((shown, os.readlink(folder)))


def _is_prompt(data: bytes) -> bool:
    try:
        return bool(data.decode("utf-8").strip(WHITE_SPACE))
    except UnicodeDecodeError:
        return False


def _executor(case: Case) -> Executor:
    return Executor(
        schema_version=1,
        case_id=case.id,
        prompt=f"cases/{case.id}/prompt.md",
        fixtures=f"cases/{case.id}/fixtures",
        baseline_packages=(),
        treatment_packages=tuple(f"packages/{name}" for name in case.skills),
        limits=case.limits,
    )


def _inventory(files: Mapping[str, bytes]) -> tuple[File, ...]:
    ordered = sorted(files.items(), key=lambda item: item[0].encode())
    return tuple(File(path=path, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data)) for path, data in ordered)


def _check_combined(files: int, size: int) -> None:
    if files > MOST_FILES or size > TREE_LIMIT:
        raise _combined(files, size)


def _combined(files: int, size: int) -> EvidenceError:
    what = f"there are more than {MOST_FILES:,} files" if files > MOST_FILES else f"there are {size:,} bytes so far"
    expected = f"at most {MOST_FILES:,} files and {TREE_LIMIT:,} bytes together; {what}"
    return refuse("Combined file inventory exceeds bounds.", "freeze", expected=expected)


def _place(output: Path, protected: Iterable[Path]) -> Path:
    """Return where a freeze shall be, once nothing speaks against it."""
    chosen = Path(os.path.abspath(output))
    if os.path.lexists(chosen):
        raise _exists(output)
    place = real_folder(chosen.parent, "Output parent must be an existing directory.", follow=True) / chosen.name
    for folder in protected:
        if place.is_relative_to(os.path.realpath(folder)):
            expected = f"a place outside {folder}"
            raise refuse("Output must be outside the selected source trees.", os.fspath(output), expected=expected)
    return place


def _exists(output: Path) -> EvidenceError:
    return refuse("Output directory already exists.", os.fspath(output), expected="a folder that is not there yet")
