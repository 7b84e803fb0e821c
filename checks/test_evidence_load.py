"""Verifying a freeze: every byte that is changed, missing or too much is found, and nothing is ever written."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checks.freezes import artifacts, freeze, imported, result, run, state, suite, suite_case
from pytest_skillbench import safewalk
from pytest_skillbench.errors import EvidenceError
from pytest_skillbench.evidence import load as loading
from pytest_skillbench.evidence.compare import inspect
from pytest_skillbench.evidence.load import load, verify

P = "Invalid benchmark: "


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    """Freeze a suite of two cases; return the freeze."""
    freeze(tmp_path, suite(suite_case(), suite_case("off-by-one", fixtures=[])))
    return tmp_path / "freeze"


def refusal(root: Path, call: Callable[[Path], object] = load) -> str:
    """Verify a freeze, which must be refused and stay as it is; return the message."""
    before = state(root)
    with pytest.raises(EvidenceError) as caught:
        call(root)
    assert state(root) == before
    return caught.value.message


def edit(root: Path, change: Callable[[dict[str, Any]], object], name: str = "manifest.json") -> None:
    """Change a document and write it as a program would."""
    document = json.loads((root / name).read_text())
    change(document)
    (root / name).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def reseal(root: Path) -> None:
    """Make the manifest fit the files again, as somebody would who wants to hide a change."""
    files: list[dict[str, Any]] = []
    for path in sorted((path for path in root.rglob("*") if path.is_file()), key=lambda path: str(path).encode()):
        name = str(path.relative_to(root))
        if name != "manifest.json" and not name.startswith("runs/"):
            data = path.read_bytes()
            files.append({"path": name, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)})

    def digest(prefix: str) -> str:
        rows = [f"{f['path'][len(prefix) :]}\0{f['sha256']}\n" for f in files if f["path"].startswith(prefix)]
        return hashlib.sha256("".join(rows).encode()).hexdigest()

    names = sorted(path.name for path in (root / "packages").iterdir())
    manifest = {
        "schema_version": 1,
        "suite_sha256": hashlib.sha256((root / "suite.json").read_bytes()).hexdigest(),
        "benchmark_sha256": digest(""),
        "files": files,
        "packages": [{"name": name, "tree_sha256": digest(f"packages/{name}/")} for name in names],
    }
    (root / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def test_a_freeze_of_another_program_verifies(frozen: Path) -> None:
    """Written by nothing of ours, from the format alone: our manifest is reproduced byte for byte, and read."""
    ours = (frozen / "manifest.json").read_bytes()
    reseal(frozen)
    assert (frozen / "manifest.json").read_bytes() == ours
    found = load(frozen)
    assert (found.suite.id, found.directory) == ("reviews", frozen)
    assert found.manifest_sha256 == hashlib.sha256(ours).hexdigest()
    for text in (json.dumps(json.loads(ours)), json.dumps(json.loads(ours), indent=4) + "\n"):
        (frozen / "manifest.json").write_text(text)
        assert load(frozen).manifest == found.manifest


@pytest.mark.parametrize("flip", [0x01, 0x2A, 0x80])
def test_every_flipped_byte_is_found(tmp_path: Path, flip: int) -> None:
    """In every file of a freeze with runs, at some twenty-five places each: no byte changes unseen, blank or not."""
    small = suite(
        suite_case(
            fixtures=[{"path": "f", "target": "f"}],
            criteria=[{"id": "c", "critical": True, "description": "d"}],
            limits={"attempts": 1, "seconds": 1},
        )
    )
    digest = freeze(tmp_path, small).benchmark_sha256
    files = {"a": b"an artifact"}
    imported(tmp_path, run(digest, artifacts=[], criteria=[result("c", "fail", ())]))
    treatment = run(digest, "treatment", artifacts=artifacts(files), criteria=[result("c", "pass", ["a"])])
    (tmp_path / "artifacts/a").write_bytes(files["a"])
    imported(tmp_path, treatment)
    root = tmp_path / "freeze"
    inspect(root)
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        data = path.read_bytes()
        for at in range(0, len(data), max(1, len(data) // 25)):
            path.write_bytes(data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :])
            with pytest.raises(EvidenceError):
                inspect(root)
        for changed in (data[:-1], data + b"\n", b""):
            if changed.rstrip(b"\n") == data.rstrip(b"\n") and path.name in ("manifest.json", "receipt.json"):
                continue  # the end of the line is the one thing that programs disagree about
            path.write_bytes(changed)
            if changed != data:
                with pytest.raises(EvidenceError):
                    inspect(root)
        path.unlink()
        with pytest.raises(EvidenceError):
            inspect(root)
        path.write_bytes(data)
    inspect(root)


def test_blanks_that_change_in_what_no_digest_covers(frozen: Path) -> None:
    """A manifest with a tab for its blanks, or a carriage return, is not the one that was written."""
    data = (frozen / "manifest.json").read_bytes()
    for old, new in ((b"  ", b"\t\t"), (b"\n", b"\r\n"), (b"suite_sha256", b"\\u0073uite_sha256")):
        (frozen / "manifest.json").write_bytes(data.replace(old, new, 1))
        assert refusal(frozen) == P + "Frozen inventory changed."


# -- each message ------------------------------------------------------------------------------------------------------


def test_a_changed_suite(frozen: Path) -> None:
    """The suite is looked at first, by its own digest."""
    edit(frozen, lambda suite: suite.update(id="other"), "suite.json")
    assert refusal(frozen) == P + "Frozen suite changed."
    (frozen / "suite.json").unlink()
    assert refusal(frozen) == P + "Frozen suite changed."


@pytest.mark.parametrize(
    "name", ["cases/null-check/prompt.md", "packages/code-review/LICENSE", "cases/null-check/fixtures/src/file.py"]
)
def test_changed_missing_and_extra_files(frozen: Path, name: str) -> None:
    """By their bytes alone, whatever their times say; a person is told which."""
    place = frozen / name
    data, times = place.read_bytes(), place.stat()
    place.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(EvidenceError) as caught:
        load(frozen)
    assert caught.value.message == P + "Frozen inventory changed."
    assert f"{name} as it was" in str(caught.value.first)
    place.unlink()
    assert refusal(frozen) == P + "Frozen inventory changed."
    place.write_bytes(data)
    place.with_name("extra").write_bytes(b"")
    assert refusal(frozen) == P + "Frozen inventory changed."


def test_a_manifest_that_disagrees_with_itself(frozen: Path) -> None:
    """Digests of the freeze and of packages, and the order of the files."""
    edit(frozen, lambda manifest: manifest.update(benchmark_sha256="0" * 64))
    assert refusal(frozen) == P + "Freeze digest does not match."
    reseal(frozen)
    edit(frozen, lambda manifest: manifest["packages"][0].update(tree_sha256="0" * 64))
    assert refusal(frozen) == P + "Frozen package identity changed."
    reseal(frozen)
    edit(frozen, lambda manifest: manifest["packages"].append({"name": "other", "tree_sha256": "0" * 64}))
    assert refusal(frozen) == P + "Frozen package identity changed."
    reseal(frozen)
    edit(frozen, lambda manifest: manifest["files"].reverse())
    assert refusal(frozen) == P + "Frozen inventory changed."


def test_a_manifest_that_hides_a_change(frozen: Path) -> None:
    """With every digest made to fit again, what the suite calls for must still be there, and nothing else."""
    (frozen / "packages/code-review/LICENSE").unlink()
    reseal(frozen)
    assert refusal(frozen) == P + "Frozen package is incomplete."
    (frozen / "packages/code-review/LICENSE").write_text("MIT\n")
    (frozen / "notes.md").write_text("x")
    reseal(frozen)
    assert refusal(frozen) == P + "Unexpected frozen file."
    (frozen / "notes.md").rename(frozen / "packages/notes.md")
    reseal_names = frozen / "packages/notes.md"
    reseal(frozen)
    edit(frozen, lambda manifest: manifest.update(packages=manifest["packages"][:1]))
    assert refusal(frozen) == P + "Unexpected frozen file."
    reseal_names.unlink()
    (frozen / "cases/null-check/executor.json").unlink()
    reseal(frozen)
    assert refusal(frozen) == P + "Missing frozen case resource."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(schema_version=2), "Unsupported schema version."),
        (lambda m: m.update(more=1), "Object has missing or unknown fields."),
        (lambda m: m.update(suite_sha256="x"), "Expected a SHA-256 digest."),
        (lambda m: m.update(files=[]), "Array length is outside bounds."),
        (lambda m: m.update(packages=[]), "Array length is outside bounds."),
        (lambda m: m["packages"].append(m["packages"][0]), "Duplicate package names."),
        (lambda m: m["packages"][0].update(name="A"), "Expected a simple lowercase ID."),
        (lambda m: m["files"].append(m["files"][0]), "Duplicate file paths."),
        (lambda m: m["files"][0].update(path="../x"), "Paths must be portable relative paths without traversal."),
        (lambda m: m["files"][0].update(bytes=4_194_305), "Expected an integer within bounds."),
        (
            lambda m: m.update(
                files=[m["files"][0] | {"path": f"f{n}", "bytes": 4_194_304} for n in range(8)] + m["files"][:1]
            ),
            "File inventory exceeds 33554432 bytes.",
        ),
        (
            lambda m: m.update(files=[m["files"][0] | {"path": f"{n}"} for n in range(2049)]),
            "Array length is outside bounds.",
        ),
    ],
)
def test_what_a_manifest_may_not_be(frozen: Path, change: Callable[[dict[str, Any]], object], message: str) -> None:
    """Each rule by its own message."""
    edit(frozen, change)
    assert refusal(frozen) == P + message


def test_a_manifest_that_is_no_document(frozen: Path) -> None:
    """Duplicate keys, too many bytes, none at all, no file."""
    place = frozen / "manifest.json"
    text = place.read_text()
    place.write_text(text.replace('"schema_version": 1,', '"schema_version": 1,\n  "schema_version": 1,', 1))
    assert "duplicate key" in refusal(frozen)
    place.write_text(text + " " * 524_288)
    assert refusal(frozen) == P + "JSON exceeds 524288 bytes."
    place.write_text("")
    assert refusal(frozen).startswith(P)
    place.unlink()
    assert refusal(frozen) == P + "Frozen inventory changed."


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind in ("link", "hard-link", "fifo")
        for name in (
            "manifest.json",
            "suite.json",
            "cases/null-check/prompt.md",
            "packages/code-review",
            "cases",
            "runs",
        )
        if kind != "hard-link" or "." in name
    ],
)
def test_no_part_of_a_freeze_is_a_link(frozen: Path, kind: str, name: str) -> None:
    """Nor a file with another name, nor one that would make a reader wait."""
    place, moved = frozen / name, frozen.parent / "moved"
    if kind == "hard-link":
        os.link(place, moved)
    else:
        place.rename(moved)
        if kind == "link":
            place.symlink_to(moved)
        else:
            os.mkfifo(place)
    with pytest.raises(EvidenceError) as caught:
        load(frozen)
    said = {problem.what for problem in caught.value.problems}
    start = {"link": "symlink", "hard-link": "hard-linked file", "fifo": "special filesystem entry"}[kind]
    assert f"{start} is forbidden: {name}" in said
    assert (caught.value.message == P + "Runs must be a real directory.") is (name == "runs")


def test_a_freeze_that_is_a_link_or_no_folder(frozen: Path) -> None:
    """The folder that is named is the freeze itself; the way to it may lead through links."""
    alias = frozen.parent / "alias"
    alias.symlink_to(frozen)
    assert refusal(alias) == f"symlink is forbidden: {alias}"
    (frozen.parent / "way").symlink_to(frozen.parent)
    assert load(frozen.parent / "way" / "freeze").directory == frozen
    assert refusal(frozen / "nothing") == P + "Benchmark must be a real directory."
    assert refusal(frozen / "suite.json") == P + "Benchmark must be a real directory."


def test_runs_are_a_folder(frozen: Path) -> None:
    """Empty, but there."""
    (frozen / "runs").rmdir()
    assert refusal(frozen) == P + "Runs must be a real directory."
    (frozen / "runs").write_text("")
    assert refusal(frozen) == P + "Runs must be a real directory."


def test_too_much_for_any_freeze(frozen: Path) -> None:
    """A reader stops at the limits, whatever the manifest says."""
    folder = frozen / "packages/code-review"
    for number in range(2049):
        (folder / f"f{number}").write_bytes(b"")
    assert refusal(frozen) == P + "Tree exceeds 2048 files."
    for number in range(2049):
        (folder / f"f{number}").unlink()
    for number in range(9):
        with (folder / f"big{number}").open("wb") as file:
            file.truncate(4_194_304)
    assert refusal(frozen) == P + "Tree exceeds 33554432 bytes."
    shutil.rmtree(folder)
    folder.mkdir()
    with (folder / "big").open("wb") as file:
        file.truncate(4_194_305)
    assert refusal(frozen) == "file exceeds 4194304 bytes: packages/code-review/big"


# -- while somebody writes ---------------------------------------------------------------------------------------------


def test_a_tree_that_changes_while_it_is_read(frozen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What appears after its folder was listed is seen by the second look."""
    real = safewalk.walk
    looks = []

    def walk(*arguments: Any, **options: Any) -> Any:
        found = real(*arguments, **options)
        looks.append(options.get("read", True))
        if len(looks) == 1:
            (frozen / "packages/code-review/new").write_text("x")
        return found

    monkeypatch.setattr("pytest_skillbench.evidence.trees.walk", walk)
    with pytest.raises(EvidenceError) as caught:
        load(frozen)
    assert caught.value.message == P + "Tree changed during inspection."
    assert looks == [True, False]


def test_a_second_verification_reads_what_could_have_changed(frozen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are long settled are known by their identity; a change of bytes, even with forged times, is found."""
    fresh = verify(frozen)
    assert fresh.known == {}
    monkeypatch.setattr(loading, "_SETTLED_NS", -(10**18))
    settled = verify(frozen)
    assert set(settled.known) == {file.path for file in settled.freeze.manifest.files}
    assert verify(frozen, settled) is settled
    place = frozen / "packages/code-review/SKILL.md"
    times = place.stat()
    place.write_bytes(place.read_bytes().replace(b"Read", b"Rdea"))
    os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))
    for before in (fresh, settled):
        with pytest.raises(EvidenceError) as caught:
            verify(frozen, before)
        assert caught.value.message == P + "Frozen inventory changed."


def test_a_freeze_that_is_swapped_during_a_comparison(frozen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another freeze in its place, right in itself, is not the one whose runs were compared."""
    from pytest_skillbench.evidence import compare

    freeze(frozen.parent, suite(suite_case(), description="Another."), "other")

    def swap(_: object) -> tuple[()]:
        frozen.rename(frozen.parent / "moved")
        (frozen.parent / "other").rename(frozen)
        return ()

    monkeypatch.setattr(compare, "read_runs", swap)
    with pytest.raises(EvidenceError) as caught:
        inspect(frozen)
    assert caught.value.message == P + "Freeze changed during comparison."
