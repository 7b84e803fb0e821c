"""The receipt store: nothing is ever lost, changed or half-written, and a file that is not one is left as it is."""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from pytest_skillbench.errors import QualityError
from pytest_skillbench.evidence import queries, store
from pytest_skillbench.evidence.envelope import QualityReceipt
from pytest_skillbench.evidence.receipts import RECEIPT_LIMIT, asserted, encode

from .quality import event

NOW = "2026-11-30T22:10:05.000Z"


def receipt(**given: object) -> QualityReceipt:
    """Return a new receipt."""
    return asserted(event(**given))  # type: ignore[arg-type] # passed on as given


def recorded(place: Path) -> list[str]:
    """Return the canonical bytes of every receipt of a store, through the front door."""
    asked = {
        "collection": "demo",
        "from_": "2026-01-01T00:00:00.000Z",
        "until": "2027-01-01T00:00:00.000Z",
        "limit": 40,
    }
    with store.opened(place) as connection:
        return [encode(row.receipt).decode() for row in queries.answer(connection, queries.query(dict(asked))).rows]


def snapshot(folder: Path) -> dict[str, bytes | str]:
    """Return everything in a folder: names, and the bytes of regular files."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.iterdir()):
        found[path.name] = path.read_bytes() if path.is_file() and not path.is_symlink() else oct(path.lstat().st_mode)
    return found


def refused(place: Path, code: str = "storage_unavailable") -> None:
    """Neither recording nor reading works, for the stated reason."""
    with pytest.raises(QualityError) as caught:
        store.record(place, receipt(), NOW)
    assert caught.value.code == code
    with pytest.raises(QualityError) as caught:
        recorded(place)
    assert caught.value.code == "storage_unavailable"


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Make a store of three receipts, alone in its folder."""
    place = tmp_path / "store" / "evidence.db"
    for hour in (1, 2, 3):
        assert store.record(place, receipt(at=f"2026-09-19T0{hour}:00:00.000Z"), NOW)
    return place


def test_a_store_is_one_private_file(filled: Path) -> None:
    """Made with its folders, for its owner alone, nothing beside it, log mode, and marked as ours."""
    assert [path.name for path in filled.parent.iterdir()] == ["evidence.db"]
    assert stat.S_IMODE(filled.stat().st_mode) == 0o600
    assert stat.S_IMODE(filled.parent.stat().st_mode) == 0o700
    with closing(sqlite3.connect(filled)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA application_id").fetchone() == (store.APPLICATION_ID,)
        (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (store.TABLE,)).fetchone()
    assert f"<= {RECEIPT_LIMIT})" in sql
    assert len(recorded(filled)) == 3


def test_the_same_event_again_changes_nothing(filled: Path) -> None:
    """A retry is no second observation, and not one byte of the file moves."""
    first = receipt()
    assert store.record(filled, first, NOW)
    before = snapshot(filled.parent)
    assert not store.record(filled, first, "2026-12-24T00:00:00.000Z")
    assert snapshot(filled.parent) == before


def test_one_event_id_has_one_content(filled: Path) -> None:
    """Other content under a recorded id is a conflict, whatever differs, and what was first stays."""
    value = event()
    assert store.record(filled, asserted(value), NOW)
    before = snapshot(filled.parent)
    for change in (
        {"occurred_at": "2026-09-20T12:00:00.000Z"},
        {"source_host": "other"},
        {"correlation_id": value["event_id"]},
    ):
        with pytest.raises(QualityError, match="evidence_conflict"):
            store.record(filled, asserted({**value, **change}), NOW)
    assert snapshot(filled.parent) == before


_ALL_BUT_ID = (
    "collection, skill, kind, assurance, source_key, identity_key, occurred_at, recorded_at, envelope, row_sha256"
    " FROM quality_receipts WHERE sequence = 2"
)
STATEMENTS = [
    "UPDATE quality_receipts SET envelope = '{}'",
    "UPDATE quality_receipts SET recorded_at = recorded_at WHERE sequence = 1",
    "UPDATE OR IGNORE quality_receipts SET skill = 'x'",
    "UPDATE OR REPLACE quality_receipts SET sequence = 1 WHERE sequence = 2",
    "DELETE FROM quality_receipts",
    "DELETE FROM quality_receipts WHERE sequence = 2",
    "INSERT OR REPLACE INTO quality_receipts SELECT * FROM quality_receipts",
    "REPLACE INTO quality_receipts SELECT * FROM quality_receipts WHERE sequence = 3",
    "INSERT OR IGNORE INTO quality_receipts SELECT * FROM quality_receipts",
    "INSERT INTO quality_receipts SELECT * FROM quality_receipts WHERE true ON CONFLICT DO NOTHING",
    "INSERT INTO quality_receipts SELECT * FROM quality_receipts WHERE true"
    " ON CONFLICT (event_id) DO UPDATE SET envelope = '{}'",
    f"INSERT OR REPLACE INTO quality_receipts SELECT 1, 'other-id', {_ALL_BUT_ID}",
    f"INSERT OR REPLACE INTO quality_receipts SELECT 99, event_id, {_ALL_BUT_ID}",
    "INSERT INTO quality_receipts SELECT 99, 'other-id', "
    + _ALL_BUT_ID.replace("assurance", "'locally_observed_official_process'", 1),
]


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("recursive", ["ON", "OFF"])
def test_a_bare_connection_can_only_add(filled: Path, statement: str, recursive: str) -> None:
    """Triggers hold what the code holds, also for statements that replace without a word of deleting."""
    before = recorded(filled)
    with closing(sqlite3.connect(filled, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA recursive_triggers = {recursive}")
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
        assert connection.execute("SELECT COUNT(*) FROM quality_receipts").fetchone() == (3,)
    assert recorded(filled) == before


@pytest.mark.parametrize(
    "tampering",
    [
        "DROP TRIGGER quality_no_update",
        "DROP TRIGGER quality_no_delete; DELETE FROM quality_receipts",
        "DROP TRIGGER quality_no_replace",
        "DROP INDEX quality_by_skill",
        "CREATE TABLE other (x)",
        "CREATE TRIGGER mine AFTER INSERT ON quality_receipts BEGIN SELECT 1; END",
        "ALTER TABLE quality_receipts ADD COLUMN note TEXT",
        "PRAGMA user_version = 2",
        "PRAGMA application_id = 1",
        "DROP TABLE quality_receipts",
    ],
)
def test_a_store_with_another_schema_is_not_used(filled: Path, tampering: str) -> None:
    """Where the triggers are gone nothing shows that rows are still all there, so nothing is read or added."""
    with closing(sqlite3.connect(filled, isolation_level=None)) as connection:
        connection.executescript(tampering)
    before = snapshot(filled.parent)
    refused(filled)
    assert snapshot(filled.parent) == before


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE quality_receipts SET envelope = replace(envelope, '\"pass\"', '\"fail\"') WHERE sequence = 2",
        "UPDATE quality_receipts SET envelope = replace(envelope, 'cccccccc', 'cccccccd') WHERE sequence = 2",
        "UPDATE quality_receipts SET envelope = envelope || ' ' WHERE sequence = 2",
        "UPDATE quality_receipts SET envelope = '[' WHERE sequence = 2",
        "UPDATE quality_receipts SET envelope = CAST(x'ff' AS TEXT) WHERE sequence = 2",
        "UPDATE quality_receipts SET recorded_at = '2026-11-30T22:10:06.000Z' WHERE sequence = 2",
        "UPDATE quality_receipts SET skill = 'other' WHERE sequence = 2",
        "UPDATE quality_receipts SET assurance = 'verified_retained_benchmark' WHERE sequence = 2",
        "UPDATE quality_receipts SET occurred_at = '2026-09-19T01:30:00.000Z' WHERE sequence = 2",
    ],
)
def test_a_row_that_was_changed_behind_the_triggers_is_found(filled: Path, tampering: str) -> None:
    """Each row is read back whole and held to its digest and to the receipt in it."""
    with closing(sqlite3.connect(filled, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER quality_no_update")
        connection.execute(tampering)
        trigger = store.SCHEMA[store.SCHEMA.index("CREATE TRIGGER quality_no_update") :]
        connection.executescript(trigger[: trigger.index("END;") + 4])
    with pytest.raises(QualityError, match="storage_unavailable"):
        recorded(filled)
    if "envelope" in tampering or "recorded_at" in tampering:
        before = filled.read_bytes()
        with pytest.raises(QualityError, match="storage_unavailable"):
            store.record(filled, receipt(), NOW)
        assert filled.read_bytes() == before, "nothing is added to a store that is damaged"


def _no_stores(folder: Path) -> Iterator[Path]:
    """Make everything that is no store of ours, each as ``evidence.db`` in a folder of its own."""

    def place(name: str) -> Path:
        (folder / name).mkdir()
        return folder / name / "evidence.db"

    place("empty").write_bytes(b"")
    place("text").write_text(json.dumps(event()))
    place("header").write_bytes(b"SQLite format 3\x00" + bytes(4080))
    place("garbage").write_bytes(bytes(range(256)) * 64)
    place("folder").mkdir()
    os.mkfifo(place("pipe"))
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(place("socket").relative_to(Path.cwd())))
    with closing(sqlite3.connect(place("foreign"))) as connection:
        connection.executescript("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')")
    with closing(sqlite3.connect(place("schema alone"))) as connection:
        connection.executescript(store.SCHEMA)
    store.record(place("real"), receipt(), NOW)
    place("link").symlink_to(folder / "real" / "evidence.db")
    place("nowhere").symlink_to(folder / "nothing.db")
    # Another program's database, whose last writer was killed: opening it would complete its log into the file.
    child = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('PRAGMA journal_mode = WAL'); c.execute('CREATE TABLE t (x)'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", child, str(place("running"))], check=True)
    assert (folder / "running" / "evidence.db-wal").stat().st_size > 0
    for suffix in store.SIDECARS:
        sidecar = place(f"only{suffix}")
        sidecar.with_name(f"evidence.db{suffix}").write_bytes(b"something")
        store.record(place(f"linked{suffix}"), receipt(), NOW)
        (folder / f"linked{suffix}" / f"evidence.db{suffix}").symlink_to(folder / "real" / "evidence.db")
    for name in sorted(path.name for path in folder.iterdir()):
        if name != "real":
            yield folder / name / "evidence.db"


def test_what_is_no_store_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of another program is opened, completed or overwritten, no link followed, no pipe waited for."""
    monkeypatch.chdir(tmp_path)
    places = list(_no_stores(tmp_path))
    assert len(places) == 18
    real = snapshot(tmp_path / "real")
    for place in places:
        before = snapshot(place.parent)
        refused(place)
        assert snapshot(place.parent) == before, place.parent.name
    assert snapshot(tmp_path / "real") == real


def test_a_store_under_a_linked_folder_is_found_where_it_is(filled: Path, tmp_path: Path) -> None:
    """Folders may be links, as they are on many systems; there is still one store, with one log."""
    (tmp_path / "alias").symlink_to(filled.parent)
    assert store.record(tmp_path / "alias" / "evidence.db", receipt(), NOW)
    assert len(recorded(filled)) == 4


@pytest.mark.parametrize("name", ["/proc/evidence.db", "/proc/new/evidence.db", "/dev/null/evidence.db", "/", "."])
def test_a_place_that_cannot_be_written_is_a_code(name: str) -> None:
    """A read-only file system, a file for a folder, and no name at all: no traceback, no path in a message."""
    refused(Path(name))


def test_a_damaged_store_is_refused_untouched_or_still_right(filled: Path, tmp_path: Path) -> None:
    """Flip each byte of the header and a sample of the rest: never a wrong receipt, and never a damaged file mended."""
    data = filled.read_bytes()
    right = recorded(filled)
    (tmp_path / "flipped").mkdir()
    place = tmp_path / "flipped" / "evidence.db"
    found = 0
    for at in [*range(100), *range(100, len(data), 307)]:
        damaged = bytearray(data)
        damaged[at] ^= 0x41
        place.write_bytes(damaged)
        try:
            assert recorded(place) == right, at
        except QualityError:
            found += 1
            with suppress(QualityError):
                store.record(place, receipt(), NOW)
                continue  # a row is damaged that recording has no need to read; it will not be shown as right
        assert snapshot(place.parent) == {"evidence.db": bytes(damaged)}, at
    assert found > 30


def test_a_store_cut_anywhere_is_refused_untouched(filled: Path, tmp_path: Path) -> None:
    """What a full disk or a broken copy leaves is no shorter history."""
    data = filled.read_bytes()
    (tmp_path / "cut").mkdir()
    place = tmp_path / "cut" / "evidence.db"
    for length in [*range(0, len(data), 1500), 99, 100, 4095, 4096, 8192, len(data) - 1]:
        place.write_bytes(data[:length])
        refused(place)
        assert snapshot(place.parent) == {"evidence.db": data[:length]}, length


def test_reading_creates_and_changes_nothing(filled: Path, tmp_path: Path) -> None:
    """No store, no folder, no log beside it; also where a recorder was killed and its log is still there."""
    with pytest.raises(QualityError, match="storage_unavailable"):
        recorded(tmp_path / "no" / "evidence.db")
    assert not (tmp_path / "no").exists()
    before, times = snapshot(filled.parent), filled.stat()
    assert len(recorded(filled)) == 3
    assert snapshot(filled.parent) == before
    assert (filled.stat().st_mtime_ns, filled.stat().st_ino) == (times.st_mtime_ns, times.st_ino)
    row = store.row_of(receipt(), NOW)
    child = (
        "import json, os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "row = json.loads(sys.argv[3]);"
        'c.execute(f\'INSERT INTO quality_receipts ({sys.argv[2]}) VALUES ({", ".join("?" * len(row))})\', row);'
        "os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", child, str(filled), ", ".join(store.COLUMNS), json.dumps(row)], check=True)
    logged = snapshot(filled.parent)
    assert logged["evidence.db-wal"]
    assert len(recorded(filled)) == 4
    assert {**snapshot(filled.parent), "evidence.db-shm": b""} == {**logged, "evidence.db-shm": b""}
    assert store.record(filled, receipt(), NOW)
    assert len(recorded(filled)) == 5


def test_a_store_that_may_only_be_read_is_read() -> None:
    """Somebody else's store, in a folder where nothing can be made, can be inspected, and not added to."""
    folder = Path(tempfile.mkdtemp(prefix="skillbench-check-"))
    try:
        place = folder / "evidence.db"
        store.record(place, receipt(), NOW)
        place.chmod(0o444)
        folder.chmod(0o555)
        before = snapshot(folder)
        child = (
            "import os, sys\nfrom pathlib import Path\nfrom checks import test_quality_store as t\n"
            "if os.getuid() == 0:\n    os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
            "place = Path(sys.argv[1])\nassert len(t.recorded(place)) == 1\n"
            "try:\n    t.store.record(place, t.receipt(), t.NOW)\n"
            "except t.QualityError as error:\n    print(error.code)\n"
        )
        done = subprocess.run([sys.executable, "-c", child, str(place)], capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("storage_unavailable\n", "")
        assert snapshot(folder) == before
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


# -- many at once, and interrupted -------------------------------------------------------------------------------------

RECORDER = """
import sys
from pathlib import Path
from checks import test_quality_store as t
mine = [t.receipt() for _ in range(6)]
print("ready", flush=True)
sys.stdin.readline()
for number, each in enumerate(mine):
    place = Path(sys.argv[1], str(number % 3), "evidence.db")
    assert t.store.record(place, each, t.NOW)
    with t.store.opened(place) as connection:
        found = connection.execute("SELECT COUNT(*) FROM quality_receipts WHERE event_id = ?", (each.event_id,))
        assert found.fetchone() == (1,)
    print(place, each.event_id)
"""


def test_recorders_at_once_lose_nothing(tmp_path: Path) -> None:
    """Eight processes, let go together, make three stores, record and read: every event is there, nothing beside it."""
    command = [sys.executable, "-c", RECORDER, str(tmp_path)]
    running = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
        )
        for _ in range(8)
    ]
    assert [process.stdout.readline() for process in running if process.stdout] == ["ready\n"] * 8
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
    done = [process.communicate() for process in running]
    assert [error for _, error in done] == [""] * 8
    said = sorted(line for output, _ in done for line in output.splitlines())
    places = [tmp_path / str(number) / "evidence.db" for number in range(3)]
    assert said == sorted(f"{place} {json.loads(row)['event_id']}" for place in places for row in recorded(place))
    assert len(set(said)) == 48
    for place in places:
        assert store.record(place, receipt(), NOW)
        assert [path.name for path in place.parent.iterdir()] == ["evidence.db"], "the last one out leaves no log"


KILLED = """
import os, signal, sys
from pathlib import Path
from checks import test_quality_store as t

place, started = Path(sys.argv[1]), sys.argv[2] == "before"
mine, other = t.receipt(), t.receipt()
t.store.record(place, other, t.NOW)
filled = place.read_bytes()
before = [t.encode(other).decode()] if started else []
after = sorted([*before, t.encode(mine).decode()])

def killed(at):
    child = os.fork()
    if child == 0:
        count = 0
        def hook(frame, what, argument):
            nonlocal count
            if what == "c_return" and frame.f_code.co_filename == t.store.__file__:
                count += 1
                if count == at:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.setprofile(hook)
        t.store.record(place, mine, t.NOW)
        sys.setprofile(None)
        os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL

seen = {"before": 0, "after": 0}
for at in range(1, 1000):
    t.shutil.rmtree(place.parent)
    if started:
        place.parent.mkdir()
        place.write_bytes(filled)
    if not killed(at):
        break
    found = sorted(t.recorded(place)) if started or place.exists() else []
    assert found in (before, after), (at, found)
    seen["after" if found == after else "before"] += 1
    assert t.store.record(place, mine, t.NOW) == (found == before), at
    assert sorted(t.recorded(place)) == after, at
    assert [path.name for path in place.parent.iterdir()] == ["evidence.db"], at
print(seen["before"], seen["after"])
"""


@pytest.mark.parametrize("start", ["before", "new"])
def test_a_kill_anywhere_leaves_the_state_before_or_after(tmp_path: Path, start: str) -> None:
    """Killed at each call of the store into the system and SQLite: whole in each state, and the next record goes on."""
    command = [sys.executable, "-c", KILLED, str(tmp_path / "store" / "evidence.db"), start]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    before, after = map(int, done.stdout.split())
    assert before > 20
    assert after > 0


def test_a_full_disk_is_a_code_and_loses_nothing(filled: Path, tmp_path: Path) -> None:
    """The file can't grow: nothing is recorded, nothing is lost, and recording goes on when there is room again."""
    child = (
        "import resource, sys\nfrom pathlib import Path\nfrom checks import test_quality_store as t\n"
        "mine = t.receipt()\nresource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), -1))\n"
        "try:\n    t.store.record(Path(sys.argv[1]), mine, t.NOW)\n"
        "except t.QualityError as error:\n    print(error.code)\n"
    )
    right = recorded(filled)
    for place, room in ((filled, 5000), (filled, 0), (tmp_path / "none" / "evidence.db", 5000)):
        command = [sys.executable, "-c", child, str(place), str(room)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("storage_unavailable\n", ""), room
    assert list((tmp_path / "none").iterdir()) == []
    assert recorded(filled) == right
    assert store.record(filled, receipt(), NOW)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
