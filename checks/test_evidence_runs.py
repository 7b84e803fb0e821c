"""``import-run``: what a run may say, retained once and for all, and verified byte for byte ever after."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checks.freezes import (
    ARTIFACTS,
    artifacts,
    execution,
    freeze,
    imported,
    result,
    run,
    state,
    suite,
    suite_case,
    write_artifacts,
    write_run,
)
from pytest_skillbench.errors import EvidenceError
from pytest_skillbench.evidence import documents, staging
from pytest_skillbench.evidence import runs as importing
from pytest_skillbench.evidence.load import load
from pytest_skillbench.evidence.runs import import_run, read_runs

P = "Invalid benchmark: "
TAKEN = P + "A run ID or case/variant/attempt already exists."
Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def digest(tmp_path: Path) -> str:
    """Freeze a suite of two cases below the test's folder; return its digest."""
    return freeze(tmp_path, suite(suite_case(), suite_case("off-by-one"))).benchmark_sha256


def refusal(root: Path, value: dict[str, Any]) -> list[str]:
    """Import a run, which must be refused with nothing changed; return the messages, the first one first."""
    before = state(root / "freeze")
    names = set(os.listdir(root)) | {f"{value['id']}.json", "artifacts"}
    with pytest.raises(EvidenceError) as caught:
        imported(root, value)
    assert state(root / "freeze") == before
    assert set(os.listdir(root)) <= names
    first = caught.value.first.what
    return [first, *sorted({problem.what for problem in caught.value.problems} - {first})]


def unreadable(root: Path) -> str:
    """Read the runs of a freeze, which must be refused; return the message."""
    before = state(root / "freeze")
    with pytest.raises(EvidenceError) as caught:
        read_runs(load(root / "freeze"))
    assert state(root / "freeze") == before
    return caught.value.message


# -- what is written ---------------------------------------------------------------------------------------------------


def test_a_run_byte_for_byte(tmp_path: Path, digest: str) -> None:
    """The record in its order, its receipt, its artifacts, hidden ones too; private whatever the umask."""
    value = run(digest)
    old = os.umask(0o777)
    try:
        os.umask(0o022)
        folder = write_artifacts(tmp_path / "artifacts")
        file = write_run(tmp_path, dict(reversed(value.items())))
        os.umask(0o777)
        said = import_run(tmp_path / "freeze", file, folder)
    finally:
        os.umask(old)
    home = tmp_path / "freeze/runs/run-baseline-1"
    record = json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"
    sha256 = hashlib.sha256(record).hexdigest()
    receipt = f'{{\n  "schema_version": 1,\n  "run_sha256": "{sha256}"\n}}\n'.encode()
    assert {path: data for path, (mode, data) in state(home).items() if stat.S_ISREG(mode)} == {
        "run.json": record,
        "receipt.json": receipt,
        **{f"artifacts/{path}": data for path, data in ARTIFACTS.items()},
    }
    assert {path.lstat().st_mode for path in (home, *home.rglob("*"))} == {stat.S_IFDIR | 0o700, stat.S_IFREG | 0o600}
    assert (said.id, said.run_sha256, said.retained_artifacts) == ("run-baseline-1", sha256, 2)
    assert (said.execution_kind, said.execution_status, said.benchmark_sha256) == ("agent", "executed", digest)
    (retained,) = read_runs(load(tmp_path / "freeze"))
    assert (retained.run_sha256, retained.run.id) == (sha256, said.id)


def test_what_is_not_declared_is_not_retained(tmp_path: Path, digest: str) -> None:
    """Other files among the artifacts stay where they are, unread."""
    folder = write_artifacts(tmp_path / "artifacts")
    os.mkfifo(folder / "fifo")
    (folder / "other").symlink_to("/etc/passwd")
    assert imported(tmp_path, run(digest)).retained_artifacts == 2


def test_an_import_changes_nothing_that_was_there(tmp_path: Path, digest: str) -> None:
    """Earlier runs and the freeze are the same bytes, and the digest stays."""
    imported(tmp_path, run(digest))
    before = state(tmp_path / "freeze")
    imported(tmp_path, run(digest, "treatment"))
    after = state(tmp_path / "freeze")
    assert {path: found for path, found in after.items() if path in before} == before
    assert {path.split("/")[1] for path in after.keys() - before} == {"run-treatment-1"}


# -- what a run may say ------------------------------------------------------------------------------------------------

MANY = {f"f{n}": b"" for n in range(257)}
RUNS: list[tuple[dict[str, Any], str]] = [
    ({"schema_version": 0}, "Unsupported schema version."),
    ({"more": 1}, "Object has missing or unknown fields."),
    ({"id": "Run"}, "Expected a simple lowercase ID."),
    ({"case_id": "other"}, "Run refers to an unknown case."),
    ({"case_id": "other", "benchmark_sha256": "0" * 64}, "Run refers to an unknown case."),
    ({"benchmark_sha256": "0" * 64}, "Run freeze identity does not match."),
    ({"benchmark_sha256": "0"}, "Expected a SHA-256 digest."),
    ({"variant": "control"}, "Unknown enumerated value."),
    ({"attempt": 3}, "Expected an integer within bounds."),
    ({"attempt": 0}, "Expected an integer within bounds."),
    ({"execution": execution(kind="human")}, "Unknown enumerated value."),
    ({"execution": execution(status="failed")}, "Unknown enumerated value."),
    ({"execution": execution(executor="x" * 501)}, "Expected bounded nonblank text."),
    ({"execution": execution(model="")}, "Expected bounded nonblank text."),
    ({"execution": execution(settings="x" * 2001)}, "Expected bounded nonblank text."),
    ({"execution": execution(fresh_context=None)}, "Expected a boolean."),
    ({"metrics": {"wall_time_ms": 1, "input_tokens": 1}}, "Object has missing or unknown fields."),
    (
        {"metrics": {"wall_time_ms": 1_000_000_001, "input_tokens": 0, "output_tokens": 0}},
        "Expected an integer within bounds.",
    ),
    ({"metrics": {"wall_time_ms": 0, "input_tokens": -1, "output_tokens": 0}}, "Expected an integer within bounds."),
    ({"artifacts": artifacts(MANY)}, "Array length is outside bounds."),
    ({"artifacts": artifacts(ARTIFACTS) * 2}, "Duplicate file paths."),
    (
        {"artifacts": [{"path": "a/../b", "sha256": "0" * 64, "bytes": 0}]},
        "Paths must be portable relative paths without traversal.",
    ),
    ({"artifacts": [{"path": "a", "sha256": "0" * 64, "bytes": 4_194_305}]}, "Expected an integer within bounds."),
    (
        {"artifacts": [{"path": f"a{n}", "sha256": "0" * 64, "bytes": 4_194_304} for n in range(9)]},
        "File inventory exceeds 33554432 bytes.",
    ),
    ({"criteria": []}, "Array length is outside bounds."),
    ({"criteria": [result(evidence=["nothing.md"])]}, "Criterion evidence is not a retained artifact."),
    ({"criteria": [result(evidence=["answer.md"] * 2)]}, "Duplicate evidence paths."),
    ({"criteria": [result(evidence=[f"{n}" for n in range(17)])]}, "Array length is outside bounds."),
    ({"criteria": [result(evidence=[])]}, "Passing criteria require artifact evidence."),
    ({"criteria": [result(verdict="tie")]}, "Unknown enumerated value."),
    ({"criteria": [result() | {"reason": "x" * 2001}]}, "Expected bounded nonblank text."),
    ({"criteria": [result(), result()]}, "Duplicate criterion result IDs."),
    ({"criteria": [result()]}, "Run must grade every frozen criterion exactly once."),
    (
        {"criteria": [result(), result("stays-brief"), result("third")]},
        "Run must grade every frozen criterion exactly once.",
    ),
    ({"limitations": ["x"] * 33}, "Array length is outside bounds."),
    ({"limitations": ["x" * 2001]}, "Expected bounded nonblank text."),
]


@pytest.mark.parametrize(("changes", "message"), RUNS)
def test_what_a_run_may_not_say(tmp_path: Path, digest: str, changes: dict[str, Any], message: str) -> None:
    """Each rule by its own message, and nothing is written."""
    assert refusal(tmp_path, run(digest) | changes)[0] == P + message


@pytest.mark.parametrize("status", ["blocked", "not-run"])
@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_what_was_not_executed_claims_nothing(tmp_path: Path, digest: str, status: str, verdict: str) -> None:
    """A run that did not happen neither passed nor failed."""
    value = run(digest, execution=execution(status=status))
    value["criteria"] = [result(verdict=verdict), result("stays-brief", "not-run", ())]
    assert refusal(tmp_path, value) == [P + "Unexecuted runs cannot claim passing or failing behavior."]
    value["criteria"][0]["verdict"] = "blocked"
    assert imported(tmp_path, value).execution_status == status


def test_the_order_in_which_a_run_is_judged(tmp_path: Path, digest: str) -> None:
    """With everything wrong at once, a program is told the first of the format's order; a person all of them."""
    value = run(digest, benchmark_sha256="0" * 64, execution=execution(status="not-run"))
    value["criteria"] = [result(evidence=["nothing.md"]), result("other", "pass", ()), result("third", "fail", ())]
    messages = [
        "Run freeze identity does not match.",
        "Criterion evidence is not a retained artifact.",
        "Passing criteria require artifact evidence.",
        "Unexecuted runs cannot claim passing or failing behavior.",
    ]
    said = refusal(tmp_path, value)
    assert (said[0], set(said)) == (P + messages[0], {P + message for message in messages})
    value["benchmark_sha256"] = digest
    assert refusal(tmp_path, value)[0] == P + messages[1]
    value["criteria"][0]["evidence"] = ["answer.md"]
    value["criteria"][0]["verdict"] = "not-run"
    assert refusal(tmp_path, value)[0] == P + messages[2]
    value["criteria"][1]["verdict"] = "blocked"
    assert refusal(tmp_path, value)[0] == P + messages[3]
    value["criteria"][2]["verdict"] = "not-run"
    assert refusal(tmp_path, value) == [P + "Run must grade every frozen criterion exactly once."]


def test_a_run_that_is_no_document(tmp_path: Path, digest: str) -> None:
    """Missing, a link, a FIFO, too long, a duplicate key: a message each, and no hang."""
    folder = write_artifacts(tmp_path / "artifacts")
    file = write_run(tmp_path, run(digest))
    text = file.read_text()

    def said() -> str:
        with pytest.raises(EvidenceError) as caught:
            import_run(tmp_path / "freeze", file, folder)
        return caught.value.message

    file.write_text(text + " " * 524_288)
    assert said() == P + "JSON exceeds 524288 bytes."
    file.write_text(text.replace('"attempt": 1', '"attempt": 1, "attempt": 1'))
    assert "duplicate key" in said()
    file.rename(tmp_path / "moved.json")
    assert said() == P + "Run is missing."
    file.symlink_to("moved.json")
    assert said() == f"symlink is forbidden: {file.name}"
    file.unlink()
    os.mkfifo(file)
    assert said() == f"special filesystem entry is forbidden: {file.name}"
    assert list((tmp_path / "freeze/runs").iterdir()) == []


# -- artifacts ---------------------------------------------------------------------------------------------------------


def test_artifacts_are_what_they_are_declared_to_be(tmp_path: Path, digest: str) -> None:
    """Other bytes, other sizes and missing files, all at once and each by its path."""
    value = run(digest)
    value["artifacts"][1]["bytes"] += 1
    value["artifacts"].append({"path": "nothing.md", "sha256": "0" * 64, "bytes": 0})
    value["artifacts"].append({"path": "answer.md/inner", "sha256": "0" * 64, "bytes": 0})
    mismatch = P + "Artifact identity mismatch: "
    assert refusal(tmp_path, value) == [
        mismatch + "workspace/.git/HEAD",
        mismatch + "nothing.md",
        "can't be read: answer.md/inner",
    ]
    value = run(digest)
    value["artifacts"][0]["sha256"] = "0" * 64
    assert refusal(tmp_path, value) == [mismatch + "answer.md"]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((kind, name) for kind in ("link", "fifo") for name in ("answer.md", "workspace/.git/HEAD", "workspace")),
        *(("hard-link", name) for name in ("answer.md", "workspace/.git/HEAD")),
    ],
)
def test_artifacts_are_plain_files(tmp_path: Path, digest: str, kind: str, name: str) -> None:
    """No link, nowhere on the way, and nothing that would make the import wait."""
    place = write_artifacts(tmp_path / "artifacts") / name
    if kind == "hard-link":
        os.link(place, tmp_path / "same")
    else:
        place.rename(tmp_path / "moved")
        place.symlink_to(tmp_path / "moved") if kind == "link" else os.mkfifo(place)
    before = state(tmp_path / "freeze")
    with pytest.raises(EvidenceError) as caught:
        import_run(tmp_path / "freeze", write_run(tmp_path, run(digest)), tmp_path / "artifacts")
    assert state(tmp_path / "freeze") == before
    if name == "workspace" and kind == "fifo":
        assert caught.value.message.startswith("can't be read: ")
    else:
        start = {"link": "symlink", "hard-link": "hard-linked file", "fifo": "special filesystem entry"}[kind]
        declared = "workspace/.git/HEAD" if name == "workspace" else name
        assert caught.value.message == f"{start} is forbidden: {declared}"


def test_the_artifacts_folder_is_a_folder(tmp_path: Path, digest: str) -> None:
    """A link and a missing one; a run without artifacts needs none."""
    file = write_run(tmp_path, run(digest))
    (tmp_path / "alias").symlink_to(write_artifacts(tmp_path / "artifacts"))
    for name, message in (
        ("alias", "symlink is forbidden: "),
        ("nothing", P + "Artifacts must be in a real directory."),
    ):
        with pytest.raises(EvidenceError) as caught:
            import_run(tmp_path / "freeze", file, tmp_path / name)
        assert caught.value.message.startswith(message)
    bare = run(digest, artifacts=[], criteria=[result(verdict="fail", evidence=[]), result("stays-brief", "fail", ())])
    assert import_run(tmp_path / "freeze", write_run(tmp_path, bare), tmp_path / "nothing").retained_artifacts == 0


# -- once and for all --------------------------------------------------------------------------------------------------


def test_a_slot_and_an_id_are_taken_once(tmp_path: Path, digest: str) -> None:
    """The same id for another slot, the same slot under another id, and the very same run again."""
    imported(tmp_path, run(digest))
    assert refusal(tmp_path, run(digest)) == [TAKEN]
    assert refusal(tmp_path, run(digest, id="other")) == [TAKEN]
    assert refusal(tmp_path, run(digest, attempt=2, id="run-baseline-1")) == [TAKEN]
    assert refusal(tmp_path, run(digest, case_id="off-by-one", id="run-baseline-1")) == [TAKEN]
    imported(tmp_path, run(digest, case_id="off-by-one", id="another"))


def test_two_processes_at_once(tmp_path: Path, digest: str) -> None:
    """Eight at one slot, under two ids: one wins, the others are told, and the freeze verifies."""
    folder = write_artifacts(tmp_path / "artifacts")
    files = [write_run(tmp_path, run(digest, id=f"racer-{number % 2}")) for number in range(8)]
    script = (
        "import sys; from pathlib import Path; from pytest_skillbench.cli import main\n"
        "sys.stdin.read()\n"
        "sys.exit(main(['evidence', 'import-run', '--benchmark', sys.argv[1], '--run', sys.argv[2], "
        "'--artifacts', sys.argv[3], '--json']))\n"
    )
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "freeze"), str(file), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for file in files
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.close()
    ends = []
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stderr is not None
        with racer.stdout, racer.stderr:
            ends.append((racer.wait(), racer.stdout.read(), racer.stderr.read()))
    assert sorted(code for code, _, _ in ends) == [0] + [2] * 7
    assert all(f"skillbench: error: {TAKEN}\n" in err for code, _, err in ends if code)
    (winner,) = [json.loads(out)["id"] for code, out, _ in ends if code == 0]
    assert [retained.run.id for retained in read_runs(load(tmp_path / "freeze"))] == [winner]
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_the_number_of_runs_is_bounded(tmp_path: Path) -> None:
    """A hundred and sixty, which is all the slots there can be; whatever else lies there is refused with one more."""
    cases = [suite_case(f"c{n}", limits={"attempts": 5, "seconds": 1}, fixtures=[]) for n in range(16)]
    digest = freeze(tmp_path, suite(*cases)).benchmark_sha256
    root = tmp_path / "freeze"
    bare = {"artifacts": [], "criteria": [result(verdict="fail", evidence=[]), result("stays-brief", "fail", ())]}
    for number in range(160):
        case, arm, attempt = f"c{number % 16}", ("baseline", "treatment")[number // 16 % 2], number // 32 + 1
        value = run(digest, arm, attempt, case_id=case, id=f"r{number}", **bare)
        data = json.dumps(value, indent=2).encode() + b"\n"
        home = root / "runs" / f"r{number}"
        home.mkdir()
        (home / "run.json").write_bytes(data)
        receipt = {"schema_version": 1, "run_sha256": hashlib.sha256(data).hexdigest()}
        (home / "receipt.json").write_text(json.dumps(receipt, indent=2) + "\n")
    assert len(read_runs(load(root))) == 160
    assert refusal(tmp_path, run(digest, case_id="c0", id="one-more")) == [P + "Run count exceeds 160."]
    shutil.copytree(root / "runs/r0", root / "runs/r160")
    assert unreadable(tmp_path) == P + "Run count exceeds 160."


def test_the_bytes_of_all_artifacts_are_bounded(tmp_path: Path, digest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """64 MiB over all runs; the import that would be one over is refused before anything of it is read."""
    size = sum(map(len, ARTIFACTS.values()))
    monkeypatch.setattr(importing, "ARTIFACT_SCAN_LIMIT", 2 * size)
    imported(tmp_path, run(digest))
    value = run(digest, "treatment")
    value["artifacts"].append({"path": "one-byte", "sha256": "0" * 64, "bytes": 1})
    assert refusal(tmp_path, value) == [P + f"Comparison artifact scan exceeds {2 * size} bytes."]
    imported(tmp_path, run(digest, "treatment"))
    monkeypatch.setattr(importing, "ARTIFACT_SCAN_LIMIT", 2 * size - 1)
    assert unreadable(tmp_path) == P + f"Comparison artifact scan exceeds {2 * size - 1} bytes."


def test_the_limits_are_those_of_the_format() -> None:
    """The figures themselves, which the tests above lower so as to write less."""
    assert (importing.ARTIFACT_SCAN_LIMIT, importing.MOST_RUNS) == (67_108_864, 160)
    assert (documents.TREE_LIMIT, documents.FILE_LIMIT, documents.MOST_FILES) == (33_554_432, 4_194_304, 2_048)


def test_the_largest_run(tmp_path: Path, digest: str) -> None:
    """256 artifacts of 32 MiB together are retained and verified."""
    files = {f"big/{n}": bytes([n]) * 4_194_304 for n in range(8)} | {f"small/{n}": b"" for n in range(248)}
    value = run(
        digest, artifacts=artifacts(files), criteria=[result(evidence=["big/0"]), result("stays-brief", "fail", ())]
    )
    write_artifacts(tmp_path / "artifacts", files)
    assert import_run(tmp_path / "freeze", write_run(tmp_path, value), tmp_path / "artifacts").retained_artifacts == 256


# -- reading again -----------------------------------------------------------------------------------------------------


def test_what_was_imported_and_is_not_the_same(tmp_path: Path, digest: str) -> None:
    """Each way in which a run can differ from what was imported, by its message."""
    imported(tmp_path, run(digest))
    runs = tmp_path / "freeze/runs"
    home = runs / "run-baseline-1"
    whole = state(home)
    kept = tmp_path / "kept"
    shutil.copytree(home, kept)

    def broken(change: Callable[[], object]) -> str:
        change()
        message = unreadable(tmp_path)
        shutil.rmtree(runs)
        shutil.copytree(kept, home)
        assert state(home) == whole
        return message

    incomplete = P + "Imported run contains unexpected or missing files."
    changed = P + "Imported run record changed."
    record = (home / "run.json").read_text()
    receipt = (home / "receipt.json").read_text()
    assert broken(lambda: (home / "run.json").write_text(record.replace("It does.", "It does!"))) == changed
    assert broken(lambda: (home / "receipt.json").write_text(receipt.replace("  ", "\t\t", 1))) == changed
    assert broken(lambda: (home / "receipt.json").write_text("{}")) == P + "Object has missing or unknown fields."
    for name in ("run.json", "receipt.json", "artifacts/answer.md"):
        assert broken((home / name).unlink) == incomplete
    assert broken(lambda: (home / "artifacts/extra").write_text("")) == incomplete
    assert broken(lambda: (home / "notes.md").write_text("")) == incomplete
    mismatch = P + "Artifact identity mismatch: answer.md"
    assert broken(lambda: (home / "artifacts/answer.md").write_text("An answer?\n")) == mismatch
    assert broken(lambda: home.rename(runs / "another")) == P + "Run directory identity does not match."
    assert broken(lambda: (runs / ".DS_Store").write_text("")) == P + "Run entry must be a real directory."
    assert broken(lambda: (runs / "z").symlink_to(home)) == P + "Run entry must be a real directory."
    assert broken(lambda: os.mkfifo(runs / "z")) == P + "Run entry must be a real directory."
    assert broken((runs / "z").mkdir) == incomplete


def test_a_slot_that_was_taken_twice_by_hand(tmp_path: Path, digest: str) -> None:
    """Two runs of one slot, each right in itself."""
    imported(tmp_path, run(digest))
    other = freeze(tmp_path, suite(suite_case(), suite_case("off-by-one")), "other").benchmark_sha256
    assert other == digest
    imported(tmp_path, run(digest, id="second"), "other")
    shutil.copytree(tmp_path / "other/runs/second", tmp_path / "freeze/runs/second")
    assert unreadable(tmp_path) == P + "Duplicate case/variant/attempt."


def test_a_run_of_another_freeze(tmp_path: Path, digest: str) -> None:
    """A receipt makes no run of this freeze of it."""
    other = freeze(tmp_path, suite(suite_case(), description="Another."), "other").benchmark_sha256
    imported(tmp_path, run(other), "other")
    shutil.copytree(tmp_path / "other/runs/run-baseline-1", tmp_path / "freeze/runs/run-baseline-1")
    assert unreadable(tmp_path) == P + "Run freeze identity does not match."


def test_a_changed_freeze_takes_no_run(tmp_path: Path, digest: str) -> None:
    """Before anything of the run is looked at."""
    place = tmp_path / "freeze/packages/code-review/SKILL.md"
    place.write_text(place.read_text() + "More.\n")
    assert refusal(tmp_path, run(digest, case_id="other")) == [P + "Frozen inventory changed."]


def test_a_benchmark_on_a_file_system_of_its_own(tmp_path: Path, digest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies beside it can't be put into it in one step; nothing is imported, and it is said why."""

    def across(*_: object) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(staging, "publish", across)
    assert refusal(tmp_path, run(digest)) == [P + "Run can't be written: Invalid cross-device link."]


def test_a_place_that_can_not_be_written(tmp_path: Path, digest: str) -> None:
    """Where what is not yet whole can't lie beside the benchmark, nothing is imported, and it is said why."""
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    (tmp_path / "in").mkdir()
    (tmp_path / "freeze").rename(tmp_path / "in/freeze")
    folder = write_artifacts(tmp_path / "artifacts")
    file = write_run(tmp_path, run(digest))
    (tmp_path / "in").chmod(0o500)
    try:
        with pytest.raises(EvidenceError, match="in the folder that holds the benchmark"):
            import_run(tmp_path / "in/freeze", file, folder)
    finally:
        (tmp_path / "in").chmod(0o700)
