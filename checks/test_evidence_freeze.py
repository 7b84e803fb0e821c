"""``prepare``: a freeze byte for byte, every limit by one over, and nothing written where anything is refused."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checks.freezes import criterion, freeze, state, suite, suite_case, write_package, write_suite
from pytest_skillbench.errors import EvidenceError
from pytest_skillbench.evidence.documents import FILE_LIMIT, TREE_LIMIT
from pytest_skillbench.evidence.freeze import gather, package_digest, prepare, write
from pytest_skillbench.evidence.load import load

from .test_digest import VECTOR, VECTOR_DIGEST

P = "Invalid benchmark: "


def refusal(root: Path, **options: Any) -> list[str]:
    """Prepare ``suite`` and ``skills`` below `root`, which must be refused with nothing left; return the messages."""
    before = state(root)
    with pytest.raises(EvidenceError) as caught:
        prepare(root / "suite" / "suite.json", root / "skills", root / "freeze", **options)
    assert state(root) == before
    first = caught.value.first.what
    return [first, *sorted({problem.what for problem in caught.value.problems} - {first})]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Write a suite and its package; return the folder of ``suite`` and ``skills``."""
    write_suite(tmp_path / "suite", suite())
    write_package(tmp_path / "skills")
    return tmp_path


# -- what is written ---------------------------------------------------------------------------------------------------


def test_a_freeze_byte_for_byte(tmp_path: Path) -> None:
    """Keys, order, indentation, digests: another program must read this freeze, and write the same."""
    said = freeze(tmp_path)
    root = tmp_path / "freeze"
    files = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert json.loads(files["suite.json"]) == suite()
    assert files["suite.json"] == json.dumps(suite(), indent=2, ensure_ascii=False).encode() + b"\n"
    assert files["cases/null-check/executor.json"].decode() == (
        '{\n  "schema_version": 1,\n  "case_id": "null-check",\n  "prompt": "cases/null-check/prompt.md",\n'
        '  "fixtures": "cases/null-check/fixtures",\n  "baseline_packages": [],\n'
        '  "treatment_packages": [\n    "packages/code-review"\n  ],\n'
        '  "limits": {\n    "attempts": 2,\n    "seconds": 60\n  }\n}\n'
    )
    manifest = json.loads(files.pop("manifest.json"))
    assert list(manifest) == ["schema_version", "suite_sha256", "benchmark_sha256", "files", "packages"]
    assert [list(file) for file in manifest["files"]] == [["path", "sha256", "bytes"]] * len(files)
    order = sorted(files, key=str.encode)
    assert order == [
        "cases/null-check/executor.json",
        "cases/null-check/fixtures/copy.py",
        "cases/null-check/fixtures/src/file.py",
        "cases/null-check/prompt.md",
        "packages/code-review/LICENSE",
        "packages/code-review/SKILL.md",
        "packages/code-review/references/a note.md",
        "suite.json",
    ]
    sums = {path: hashlib.sha256(files[path]).hexdigest() for path in order}
    assert manifest["files"] == [{"path": p, "sha256": sums[p], "bytes": len(files[p])} for p in order]
    whole = "".join(f"{path}\0{sums[path]}\n" for path in order)
    package = "".join(f"{p[21:]}\0{sums[p]}\n" for p in order if p.startswith("packages/code-review/"))
    assert manifest["suite_sha256"] == sums["suite.json"]
    assert manifest["benchmark_sha256"] == said.benchmark_sha256 == hashlib.sha256(whole.encode()).hexdigest()
    tree = hashlib.sha256(package.encode()).hexdigest()
    assert manifest["packages"] == [{"name": "code-review", "tree_sha256": tree}]
    assert package_digest(tmp_path / "skills" / "code-review") == tree
    data = json.dumps(manifest, indent=2).encode() + b"\n"
    assert (root / "manifest.json").read_bytes() == data
    assert (said.directory, said.suite, said.cases) == (str(root), "reviews", 1)
    assert list((root / "runs").iterdir()) == []


def test_the_published_package(tmp_path: Path) -> None:
    """A package whose files are those of the published vector has its digest, by the way that evidence computes it."""
    from pytest_skillbench.digest import files_digest

    assert files_digest(reversed(VECTOR.items())) == VECTOR_DIGEST


def test_modes_are_private_whatever_the_umask(sources: Path) -> None:
    """Folders 0700, files 0600; a umask can neither widen nor break them, and no bit of a source's mode counts."""
    (sources / "skills/code-review/SKILL.md").chmod(0o755)
    for umask in (0o000, 0o777):
        old = os.umask(umask)
        try:
            prepare(sources / "suite/suite.json", sources / "skills", sources / f"freeze-{umask}")
        finally:
            os.umask(old)
        root = sources / f"freeze-{umask}"
        modes = {path.lstat().st_mode for path in (root, *root.rglob("*"))}
        assert modes == {stat.S_IFDIR | 0o700, stat.S_IFREG | 0o600}
        load(root)


def test_a_case_without_fixtures_has_a_folder_for_them(tmp_path: Path) -> None:
    """The executor's file names the folder, so there is one."""
    freeze(tmp_path, suite(suite_case(fixtures=[])))
    assert list((tmp_path / "freeze/cases/null-check/fixtures").iterdir()) == []


def test_the_same_sources_give_the_same_freeze(sources: Path) -> None:
    """No time, no place and no order of a folder is in it."""
    prepare(sources / "suite/suite.json", sources / "skills", sources / "one")
    prepare(sources / "suite/suite.json", sources / "skills", sources / "two")
    assert state(sources / "one") == state(sources / "two")


def test_a_freeze_that_is_finished_by_more_appears_with_it_or_not_at_all(sources: Path) -> None:
    """An export writes the freeze and its runs; where that ends in an error there is neither."""
    found = gather(sources / "suite/suite.json", sources / "skills")
    before = state(sources)

    def fail(_: Path) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        write(found, sources / "freeze", then=fail)
    assert state(sources) == before
    seen: list[str] = []
    write(found, sources / "freeze", then=lambda folder: seen.append(load(folder).suite.id))
    assert seen == ["reviews"]


# -- the suite ---------------------------------------------------------------------------------------------------------


def _set(place: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
        node: Any = document
        for part in way:
            node = node[part]
        node[last] = value

    return change


FIXTURES = [{"path": "data/file.py", "target": f"f{n}"} for n in range(65)]
CRITERIA = [criterion(f"c{n}") for n in range(65)]
SUITES: list[tuple[str, object, str]] = [
    ("schema_version", 2, "Unsupported schema version."),
    ("id", "Reviews", "Expected a simple lowercase ID."),
    ("description", "é" * 1000 + "x", "Expected bounded nonblank text."),
    ("more", 1, "Object has missing or unknown fields."),
    ("cases", [], "Array length is outside bounds."),
    ("cases", [suite_case(f"c{n}") for n in range(17)], "Array length is outside bounds."),
    ("cases", [suite_case(), suite_case()], "Duplicate case IDs."),
    ("cases", {"0": suite_case()}, "Array length is outside bounds."),
    ("cases.0", "case", "Expected an object."),
    ("cases.0.id", "a" * 65, "Expected a simple lowercase ID."),
    ("cases.0.phase", "final", "Unknown enumerated value."),
    ("cases.0.class", "happy", "Unknown enumerated value."),
    ("cases.0.prompt", "../null-check.md", "Paths must be portable relative paths without traversal."),
    ("cases.0.fixtures", FIXTURES, "Array length is outside bounds."),
    ("cases.0.fixtures.0", {"path": "data/file.py"}, "Object has missing or unknown fields."),
    ("cases.0.fixtures.0.path", "/etc/passwd", "Paths must be portable relative paths without traversal."),
    ("cases.0.fixtures.0.target", "a/../../b", "Paths must be portable relative paths without traversal."),
    ("cases.0.fixtures.0.target", "copy.py", "Duplicate fixture targets."),
    ("cases.0.fixtures.0.target", "copy.py/inner", "Fixture file/directory targets overlap."),
    ("cases.0.skills", [], "Array length is outside bounds."),
    ("cases.0.skills", ["code-review"] * 2, "Duplicate case skills."),
    ("cases.0.skills", [f"s{n}" for n in range(17)], "Array length is outside bounds."),
    ("cases.0.skills.0", "code_review", "Expected a simple lowercase ID."),
    ("cases.0.criteria", [], "Array length is outside bounds."),
    ("cases.0.criteria", CRITERIA, "Array length is outside bounds."),
    ("cases.0.criteria", [criterion(), criterion()], "Duplicate criterion IDs."),
    ("cases.0.criteria", [criterion(critical=False)], "Each case needs a critical criterion."),
    ("cases.0.criteria.0.critical", 1, "Expected a boolean."),
    ("cases.0.criteria.0.description", " \u3000", "Expected bounded nonblank text."),
    ("cases.0.limits", {"attempts": 1}, "Object has missing or unknown fields."),
    ("cases.0.limits.attempts", 6, "Expected an integer within bounds."),
    ("cases.0.limits.attempts", 0, "Expected an integer within bounds."),
    ("cases.0.limits.attempts", True, "Expected an integer within bounds."),
    ("cases.0.limits.seconds", 3601, "Expected an integer within bounds."),
    ("cases.0.limits.seconds", 0.5, "Expected an integer within bounds."),
]


@pytest.mark.parametrize(("place", "value", "message"), SUITES)
def test_what_a_suite_may_not_be(sources: Path, place: str, value: object, message: str) -> None:
    """Each rule by its own message, and nothing else is said of it."""
    document = suite()
    _set(place, value)(document)
    (sources / "suite/suite.json").write_text(json.dumps(document))
    assert refusal(sources) == [P + message]


def test_the_most_that_a_suite_may_be(tmp_path: Path) -> None:
    """Every limit itself is inside: sixteen cases and packages, 64 fixtures and criteria, five attempts, an hour."""
    names = [f"s{n}" for n in range(16)]
    cases = [
        suite_case(
            f"c{n}",
            fixtures=FIXTURES[: 64 if n == 15 else 1],
            criteria=CRITERIA[:64],
            skills=names,
            limits={"attempts": 5, "seconds": 3600},
        )
        for n in range(16)
    ]
    said = freeze(tmp_path, suite(*cases, description="x" * 2000))
    assert (said.cases, len(said.packages)) == (16, 16)


def test_numbers_are_written_as_integers(tmp_path: Path) -> None:
    """A limit spelled 2.0 is the integer 2, in the freeze as in every reader."""
    text = json.dumps(suite()).replace('"attempts": 2', '"attempts": 2.0').replace('"seconds": 60', '"seconds": 6e1')
    write_suite(tmp_path / "suite", suite()).write_text(text)
    write_package(tmp_path / "skills")
    prepare(tmp_path / "suite/suite.json", tmp_path / "skills", tmp_path / "freeze")
    assert json.loads((tmp_path / "freeze/suite.json").read_text()) == suite()


def test_a_suite_that_is_too_long_or_not_there(sources: Path) -> None:
    """The limit is of the file's bytes; a missing file is a message and no traceback."""
    text = json.dumps(suite())
    place = sources / "suite/suite.json"
    place.write_text(text + " " * (524_288 - len(text.encode())))
    prepare(place, sources / "skills", sources / "fits")
    place.write_text(text + " " * (524_289 - len(text.encode())))
    assert refusal(sources) == [P + "JSON exceeds 524288 bytes."]
    place.unlink()
    assert refusal(sources) == [P + "Suite is missing."]


# -- prompts, fixtures, packages ---------------------------------------------------------------------------------------


def test_prompts_are_text(sources: Path) -> None:
    """Blank, no UTF-8 or one byte too long: one message; all prompts of a suite at once."""
    prompt = sources / "suite/null-check.md"
    for data in (b"", b" \n\xe3\x80\x80", b"\xff", b"\xef\xbb\xbf \n"):
        prompt.write_bytes(data)
        assert refusal(sources) == [P + "Executor prompt must be nonblank UTF-8 text."]
    prompt.write_bytes(b"x" * 65_537)
    assert refusal(sources)[0] == P + "Executor prompt must be nonblank UTF-8 text."
    prompt.write_bytes(b"x" * 65_536)
    prepare(sources / "suite/suite.json", sources / "skills", sources / "freeze")
    assert (sources / "freeze/cases/null-check/prompt.md").stat().st_size == 65_536


def test_all_that_is_wrong_with_the_sources_is_said_at_once(sources: Path) -> None:
    """Nobody wants to hear of the second missing file after mending the first."""
    (sources / "suite/null-check.md").write_text("")
    (sources / "suite/data/file.py").unlink()
    (sources / "skills/code-review/LICENSE").unlink()
    assert refusal(sources) == [
        P + "Executor prompt must be nonblank UTF-8 text.",
        P + "Selected package lacks SKILL.md or LICENSE.",
        P + "Suite resource is missing.",
    ]


@pytest.mark.parametrize("name", ["SKILL.md", "LICENSE"])
def test_packages_are_complete(sources: Path, name: str) -> None:
    """Without its SKILL.md it is no skill; without a LICENSE nobody may pass it on. Deeper ones do not count."""
    place = sources / "skills/code-review" / name
    place.rename(place.parent / "references" / name)
    assert refusal(sources) == [P + "Selected package lacks SKILL.md or LICENSE."]


def test_packages_are_folders(sources: Path) -> None:
    """A missing skill and a file in its place."""
    place = sources / "skills/code-review"
    place.rename(sources / "skills/other")
    assert refusal(sources) == [P + "Selected package must be a directory."]
    place.write_text("x")
    assert refusal(sources) == [P + "Selected package must be a directory."]


def test_a_suite_selects_sixteen_packages(tmp_path: Path) -> None:
    """Each case may select sixteen, and so may all together."""
    names = [f"s{n:02}" for n in range(17)]
    write_suite(tmp_path / "suite", suite(suite_case(skills=names[:16]), suite_case("other", skills=names[16:])))
    for name in names:
        write_package(tmp_path / "skills", name)
    assert refusal(tmp_path) == [P + "Suite selects too many packages."]


def test_names_that_are_not_the_same_everywhere(sources: Path) -> None:
    """A package may not hold a file that another system could not."""
    for name in ("naïve.md", "a:b", "new\nline", os.fsdecode(b"\xff")):
        (sources / "skills/code-review" / name).write_text("x")
        assert refusal(sources) == [P + "Paths must be portable relative paths without traversal."]
        (sources / "skills/code-review" / name).unlink()


def _special(kind: str, place: Path, outside: Path) -> None:
    """Put something that is no plain file at `place`."""
    place.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "socket":
        here = os.getcwd()
        os.chdir(place.parent)
        try:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(place.name)
        finally:
            os.chdir(here)
    elif kind == "device":
        try:
            os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("only root can make a device")
    elif kind == "hard-link":
        os.link(outside / "file", place)
    else:
        targets: dict[str, Path | str] = {
            "link": outside / "file",
            "link-inside": place.with_name("SKILL.md"),
            "link-dangling": "nothing",
            "link-self": place.name,
            "link-folder": outside,
        }
        place.symlink_to(targets[kind])


SPECIAL = {
    "fifo": "special filesystem entry is forbidden: ",
    "socket": "special filesystem entry is forbidden: ",
    "device": "special filesystem entry is forbidden: ",
    "hard-link": "hard-linked file is forbidden: ",
    "link": "symlink is forbidden: ",
    "link-inside": "symlink is forbidden: ",
    "link-dangling": "symlink is forbidden: ",
    "link-self": "symlink is forbidden: ",
    "link-folder": "symlink is forbidden: ",
}


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder elsewhere, with a file that must not be read."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "file").write_text("secret")
    return folder


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("skills/code-review/references/x", "references/x"),
        ("skills/code-review/LICENSE", "LICENSE"),
        ("suite/data/file.py", "data/file.py"),
        ("suite/null-check.md", "null-check.md"),
        ("suite/suite.json", "suite.json"),
    ],
)
def test_no_kind_of_file_but_plain_ones(sources: Path, outside: Path, kind: str, place: str, path: str) -> None:
    """In a package, a fixture, a prompt and the suite itself; nothing is followed and nothing hangs."""
    _special(kind, sources / place, outside)
    assert SPECIAL[kind] + path in refusal(sources)


@pytest.mark.parametrize("place", ["skills/code-review", "skills/code-review/references", "suite/data", "skills"])
def test_no_folder_is_reached_through_a_link(sources: Path, place: str) -> None:
    """A link in the middle of a path is a link as well."""
    (sources / place).rename(sources / "moved")
    (sources / place).symlink_to(sources / "moved")
    assert refusal(sources)[0].startswith("symlink is forbidden: ")


def test_the_depth_of_a_tree(sources: Path) -> None:
    """A tree deeper than any skill ends in a message, not in the interpreter's."""
    deep = sources / "skills/code-review" / "/".join("d" * 25)
    deep.mkdir(parents=True)
    assert refusal(sources) == ["directory nesting exceeds 24: " + "/".join("d" * 25)]
    deep.rmdir()
    prepare(sources / "suite/suite.json", sources / "skills", sources / "freeze")


# -- sizes -------------------------------------------------------------------------------------------------------------


def test_a_file_may_have_four_mebibytes(sources: Path) -> None:
    """In a package and as a fixture; one byte more is refused by name."""
    for place, path in (("skills/code-review/big", "big"), ("suite/data/file.py", "data/file.py")):
        (sources / place).write_bytes(b"x" * (FILE_LIMIT + 1))
        assert refusal(sources) == [f"file exceeds 4194304 bytes: {path}"]
        (sources / place).write_bytes(b"x" * FILE_LIMIT)
    prepare(sources / "suite/suite.json", sources / "skills", sources / "freeze")


def test_all_files_together_are_bounded(sources: Path) -> None:
    """32 MiB to the byte, over prompts, fixtures, packages and what prepare itself writes."""
    package = sources / "skills/code-review"
    found = gather(sources / "suite/suite.json", sources / "skills")
    size = sum(map(len, found.files.values())) + sum(map(len, found.packages["code-review"].values()))
    for number in range(8):
        (package / f"big-{number}").write_bytes(b"x" * min(FILE_LIMIT, TREE_LIMIT - size))
        size += (package / f"big-{number}").stat().st_size
    said = prepare(sources / "suite/suite.json", sources / "skills", sources / "fits")
    manifest = json.loads((Path(said.directory) / "manifest.json").read_text())
    assert sum(file["bytes"] for file in manifest["files"]) == TREE_LIMIT
    (package / "one-more").write_bytes(b"x")
    assert refusal(sources) == [P + "Combined file inventory exceeds bounds."]
    (package / "four-more").write_bytes(b"x" * FILE_LIMIT)
    assert refusal(sources)[:2] == [P + "Combined file inventory exceeds bounds.", P + "Tree exceeds 33554432 bytes."]


def test_the_number_of_files_is_bounded(sources: Path) -> None:
    """2,048 in all; one more is refused."""
    package = sources / "skills/code-review"
    for number in range(2048 - 8):
        (package / f"f{number}").write_bytes(b"")
    said = prepare(sources / "suite/suite.json", sources / "skills", sources / "fits")
    assert len(json.loads((Path(said.directory) / "manifest.json").read_text())["files"]) == 2048
    (package / "one-more").write_bytes(b"x")
    assert refusal(sources) == [P + "Combined file inventory exceeds bounds."]
    for number in range(8):
        (package / f"g{number}").write_bytes(b"")
    assert refusal(sources) == [P + "Combined file inventory exceeds bounds.", P + "Tree exceeds 2048 files."]


# -- where it goes -----------------------------------------------------------------------------------------------------


def test_an_output_is_never_replaced(sources: Path) -> None:
    """A folder, an empty one, a file, a link, a dangling one: whatever is there stays."""
    place = sources / "freeze"
    place.mkdir()
    message = [P + "Output directory already exists."]
    assert refusal(sources) == message
    (place / "x").write_text("x")
    assert refusal(sources) == message
    place.rename(sources / "other")
    place.write_text("x")
    assert refusal(sources) == message
    for target in ("other", "nothing"):
        place.unlink()
        place.symlink_to(target)
        assert refusal(sources) == message


def test_an_output_that_appears_meanwhile_is_not_replaced(sources: Path) -> None:
    """Even an empty folder, which a plain rename would silently replace."""
    found = gather(sources / "suite/suite.json", sources / "skills")
    with pytest.raises(EvidenceError, match="Output directory already exists"):
        write(found, sources / "freeze", then=lambda _: (sources / "freeze").mkdir())
    assert list((sources / "freeze").iterdir()) == []
    assert sorted(path.name for path in sources.iterdir()) == ["freeze", "skills", "suite"]


@pytest.mark.parametrize("place", ["suite/freeze", "suite/data/freeze", "skills/freeze", "skills/code-review/freeze"])
def test_an_output_lies_outside_its_sources(sources: Path, place: str) -> None:
    """Else the next freeze would freeze this one, also where a link hides it."""
    (sources / "alias").symlink_to(place.split("/")[0])
    for output in (place, "alias/" + place.split("/", 1)[1]):
        before = state(sources)
        with pytest.raises(EvidenceError) as caught:
            prepare(sources / "suite/suite.json", sources / "skills", sources / output)
        assert caught.value.message == P + "Output must be outside the selected source trees."
        assert state(sources) == before


def test_an_output_has_a_parent(sources: Path) -> None:
    """Folders on the way are not made."""
    with pytest.raises(EvidenceError) as caught:
        prepare(sources / "suite/suite.json", sources / "skills", sources / "new/freeze")
    assert caught.value.message == P + "Output parent must be an existing directory."


def test_leftovers_of_the_dead_are_taken_away_and_those_of_the_living_are_not(sources: Path) -> None:
    """A killed process leaves a hidden folder; the next one for the same place removes it, and no other's."""
    dead = sources / ".freeze.prepare-0123456789abcdef"
    others = [sources / ".freeze.prepare-notes", sources / ".other.prepare-0123456789abcdef"]
    for folder in (dead, *others):
        (folder / "packages").mkdir(parents=True)
    script = (
        "import sys; from pathlib import Path; from pytest_skillbench.evidence.staging import staged\n"
        "with staged(Path(sys.argv[1]), 'freeze', 'prepare') as folder:\n"
        "    print(folder.name, flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script, str(sources)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as alive:
        assert alive.stdout is not None
        name = alive.stdout.readline().strip()
        assert not dead.exists()
        prepare(sources / "suite/suite.json", sources / "skills", sources / "freeze")
        assert (sources / name).is_dir()
        alive.kill()
    shutil.rmtree(sources / "freeze")
    prepare(sources / "suite/suite.json", sources / "skills", sources / "freeze")
    assert not (sources / name).exists()
    assert all(folder.is_dir() for folder in others)


# -- dereference -------------------------------------------------------------------------------------------------------


def test_skills_placed_by_a_store_are_copied_when_asked(sources: Path, outside: Path) -> None:
    """Links to a store, and hard-linked files in it, give the freeze that plain files give; unasked they don't."""
    plain = prepare(sources / "suite/suite.json", sources / "skills", sources / "plain")
    store = outside / "store"
    (sources / "skills/code-review").rename(store)
    os.link(store / "LICENSE", outside / "same-bytes")
    (store / "references/a note.md").rename(outside / "note")
    (store / "references/a note.md").symlink_to(outside / "note")
    (sources / "skills/code-review").symlink_to(store)
    with pytest.raises(EvidenceError) as caught:
        prepare(sources / "suite/suite.json", sources / "skills", sources / "freeze")
    assert "--dereference" in str(caught.value.first)
    followed: dict[str, str] = {}
    said = prepare(
        sources / "suite/suite.json",
        sources / "skills",
        sources / "freeze",
        dereference=True,
        followed=followed.__setitem__,
    )
    assert said.benchmark_sha256 == plain.benchmark_sha256
    assert state(sources / "freeze") == state(sources / "plain")
    assert set(followed.values()) == {str(store), str(outside / "note")}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nothing", "symlink leads nowhere: references/x"),
        (".", "symlink leads back to where it is: references/x"),
        ("..", "symlink leads back to where it is: references/x"),
        ("/dev/null", "special filesystem entry is forbidden: references/x"),
    ],
)
def test_what_can_not_be_copied_even_so(sources: Path, target: str, message: str) -> None:
    """A circle, a link that leads nowhere and a device end in their message."""
    (sources / "skills/code-review/references/x").symlink_to(target)
    assert refusal(sources, dereference=True) == [message]
