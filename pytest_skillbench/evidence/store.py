"""The receipts' database: an SQLite file to which rows are added, and from which none is ever changed or removed.

Gather: `quality` records through `record` and reads through `opened`. Append-only three times over: this code has no
other statement, triggers refuse UPDATE, DELETE and REPLACE from any connection, and a store whose schema is not
exactly `SCHEMA`, triggers included, is not touched. A new store is made complete under another name and renamed; a
receipt is one transaction, flushed to disk. So whatever is interrupted leaves the state before or the state after.
Every opening checks the whole file first, and every row its digest (some 30 µs a receipt).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from ..errors import QualityError
from .envelope import QualityReceipt
from .receipts import encode, identity_key, source_key
from .staging import locked, publish

TABLE = "quality_receipts"
SCHEMA = """\
CREATE TABLE quality_receipts (
  sequence INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL UNIQUE CHECK (typeof(event_id) = 'text'),
  collection TEXT NOT NULL CHECK (typeof(collection) = 'text'),
  skill TEXT NOT NULL CHECK (typeof(skill) = 'text'),
  kind TEXT NOT NULL CHECK (kind IN ('official_validation', 'behavioral_evaluation')),
  assurance TEXT NOT NULL CHECK (assurance IN ('caller_assertion', 'verified_retained_benchmark')),
  source_key TEXT NOT NULL CHECK (length(source_key) = 64),
  identity_key TEXT NOT NULL CHECK (length(identity_key) = 64),
  occurred_at TEXT NOT NULL CHECK (length(occurred_at) = 24),
  recorded_at TEXT NOT NULL CHECK (length(recorded_at) = 24),
  envelope TEXT NOT NULL CHECK (typeof(envelope) = 'text' AND length(CAST(envelope AS BLOB)) <= 16384),
  row_sha256 TEXT NOT NULL CHECK (length(row_sha256) = 64)
);
CREATE INDEX quality_by_collection ON quality_receipts (collection, occurred_at, event_id, kind);
CREATE INDEX quality_by_skill ON quality_receipts (collection, skill, occurred_at, event_id, kind);
CREATE INDEX quality_by_source ON quality_receipts (collection, source_key, occurred_at, event_id, kind);
CREATE INDEX quality_by_identity ON quality_receipts (collection, identity_key, occurred_at, event_id, kind);
CREATE TRIGGER quality_no_update BEFORE UPDATE ON quality_receipts
BEGIN SELECT RAISE(ABORT, 'quality receipts are append-only'); END;
CREATE TRIGGER quality_no_delete BEFORE DELETE ON quality_receipts
BEGIN SELECT RAISE(ABORT, 'quality receipts are append-only'); END;
CREATE TRIGGER quality_no_replace BEFORE INSERT ON quality_receipts
WHEN EXISTS (SELECT 1 FROM quality_receipts WHERE event_id = NEW.event_id OR sequence = NEW.sequence)
BEGIN SELECT RAISE(ABORT, 'quality receipts are append-only'); END;
"""
APPLICATION_ID = 0x53_4B_51_52  # "SKQR", in the header, where it can be read without SQLite
STORE_VERSION = 1
BUSY_SECONDS = 60.0
SIDECARS = ("-journal", "-wal", "-shm")

#: The columns of a stored receipt, in the order in which `row_of` gives them.
COLUMNS = (
    "event_id",
    "collection",
    "skill",
    "kind",
    "assurance",
    "source_key",
    "identity_key",
    "occurred_at",
    "recorded_at",
    "envelope",
    "row_sha256",
)
_MAGIC = b"SQLite format 3\x00"
_HEADER = 100


def record(path: Path, receipt: QualityReceipt, recorded_at: str) -> bool:
    """Add a receipt, making the store and its folders where there are none; False where the very same is there already.

    Raises QualityError: ``evidence_conflict`` where its event id has other bytes; ``storage_unavailable`` for a place
    that can't be written and for a file that is not such a store or is damaged, which is left as it is.
    """
    place = _place(path, create=True)
    with unavailable():
        if not os.path.lexists(place):
            _create(place)
        _check_file(place)
        with contextlib.closing(_connect(place, "rw")) as connection:
            _check_store(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            try:
                added = _add(connection, receipt, recorded_at)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
    return added


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store for reading, as it is at one moment; creates nothing and changes no byte of it.

    Raises QualityError ``storage_unavailable`` where there is none, or one that can't be read.
    """
    place = _place(path, create=False)
    with unavailable():
        _check_file(place)
        connection = _connect_reading(place)
        try:
            connection.execute("BEGIN")
            _check_store(connection)
            yield connection
        finally:
            connection.close()


def row_of(receipt: QualityReceipt, recorded_at: str) -> tuple[str, ...]:
    """Return a receipt's row: its bytes, what it is searched by, and a digest by which a damaged row is known."""
    payload, envelope = receipt.payload, encode(receipt)
    return (
        receipt.event_id,
        payload.collection,
        payload.skill,
        payload.kind,
        payload.assurance,
        source_key(payload.source),
        identity_key(payload.source),
        receipt.occurred_at,
        recorded_at,
        envelope.decode(),
        _row_digest(recorded_at, envelope),
    )


def real_place(path: Path) -> Path:
    """Return where a store at `path` really lies: folders resolved, its own name as it is."""
    return Path(os.path.realpath(os.path.dirname(os.path.abspath(path))), path.name)


def _add(connection: sqlite3.Connection, receipt: QualityReceipt, recorded_at: str) -> bool:
    row = row_of(receipt, recorded_at)
    columns, marks = ", ".join(COLUMNS), ", ".join("?" * len(COLUMNS))
    same_id = f"SELECT {columns} FROM {TABLE} WHERE event_id = ?"  # noqa: S608  # names of ours, here and below
    found = connection.execute(same_id, (receipt.event_id,)).fetchone()
    if found is None:
        connection.execute(f"INSERT INTO {TABLE} ({columns}) VALUES ({marks})", row)  # noqa: S608
    elif found != row_of(receipt, found[COLUMNS.index("recorded_at")]):
        raise QualityError("evidence_conflict")
    return found is None


# -- the file ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def unavailable() -> Iterator[None]:
    """Raise QualityError ``storage_unavailable`` for what a file system or SQLite says, which may name the place."""
    try:
        yield
    except (OSError, sqlite3.Error):
        raise QualityError("storage_unavailable") from None


def _place(path: Path, *, create: bool) -> Path:
    with unavailable():
        if path.name in ("", "..") or "\0" in str(path):
            raise QualityError("storage_unavailable")
        place = real_place(path)
        if create:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place


def _create(place: Path) -> None:
    """Make an empty store, whole or not at all. The folder is locked meanwhile: two at once make one store."""
    with locked(place.parent):
        if os.path.lexists(place):
            return
        if any(os.path.lexists(f"{place}{suffix}") for suffix in SIDECARS):
            raise QualityError("storage_unavailable")  # SQLite would play what it finds there into the new file
        temporary = place.with_name(f".{place.name}.skillbench-new")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)  # of one that was killed: whoever makes one holds the lock
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with open(fd, "wb") as file:
                os.fchmod(fd, 0o600)
                file.write(_empty_store())
                file.flush()
                os.fsync(fd)
            publish(temporary, place)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise


def _empty_store() -> bytes:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(
            f"{SCHEMA}PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {STORE_VERSION};"
        )
        image = bytearray(connection.serialize())
    image[18:20] = b"\x02\x02"  # the file format's write and read version: write-ahead log
    return bytes(image)


def _check_file(place: Path) -> None:
    """Refuse what is not a regular file with our header, before SQLite opens it and might complete what it finds."""
    fd = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        header = os.read(fd, _HEADER) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    finally:
        os.close(fd)
    ours = (
        len(header) == _HEADER
        and header.startswith(_MAGIC)
        and int.from_bytes(header[68:72], "big") == APPLICATION_ID
        and int.from_bytes(header[60:64], "big") == STORE_VERSION
    )
    if not ours or os.path.lexists(f"{place}-journal") or any(os.path.islink(f"{place}{s}") for s in SIDECARS):
        raise QualityError("storage_unavailable")


# -- the connection ----------------------------------------------------------------------------------------------------


def _connect(place: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(os.fsencode(place))}?mode={mode}", uri=True, timeout=BUSY_SECONDS, isolation_level=None
    )
    try:
        for pragma in ("trusted_schema = OFF", "recursive_triggers = ON", "cell_size_check = ON"):
            connection.execute(f"PRAGMA {pragma}")
        if mode == "rw":
            connection.execute("PRAGMA query_only = OFF")
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_reading(place: Path) -> sqlite3.Connection:
    """Connect so that nothing is left behind.

    A read-only connection leaves the log's two files behind where there were none; one that may write removes them,
    and has nothing to write where the log is empty. Where neither can be, nobody writes, and the file is read alone.
    """
    log = f"{place}-wal"
    logged = os.path.exists(log) and os.path.getsize(log) > 0
    writable = os.access(place, os.W_OK) and os.access(place.parent, os.W_OK)
    connection = _connect(place, "rw" if writable and not logged else "ro")
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except sqlite3.OperationalError:
        connection.close()
        if writable or logged:
            raise
        connection = _connect(place, "ro&immutable=1")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_store(connection: sqlite3.Connection) -> None:
    """Refuse a damaged store, and one with another schema than ours: without its triggers it was not append-only."""
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        model.executescript(SCHEMA)
        expected = set(model.execute(query).fetchall())
    if set(connection.execute(query).fetchall()) != expected:
        raise QualityError("storage_unavailable")
    if connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
        raise QualityError("storage_unavailable")
    rows = f"SELECT recorded_at, envelope, row_sha256 FROM {TABLE}"  # noqa: S608  # a name of ours
    for recorded_at, envelope, known in connection.execute(rows):
        if _row_digest(recorded_at, envelope.encode()) != known:
            raise QualityError("storage_unavailable")


def _row_digest(recorded_at: str, envelope: bytes) -> str:
    return hashlib.sha256(recorded_at.encode() + b"\n" + envelope).hexdigest()
