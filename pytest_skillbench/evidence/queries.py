"""Questions to the store: which receipts, how many at once, and where to go on.

Core but for the connection it is handed. A page is sorted by when its events occurred, then by their ids, and a cursor
names the last event of a page. As no row ever changes or goes, no event that was there at the first page is skipped or
repeated on a later one; one recorded in between shows where it sorts behind the cursor, and counts in any case.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import sqlite3
from datetime import timedelta
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from ..errors import QualityError
from ..model import Record
from .envelope import Hash, Moment, QualityKind, QualityReceipt, QualitySlug, Uuid, closed, moment
from .receipts import stored
from .store import COLUMNS, TABLE, row_of

PERIOD_DAYS = 366
PERIOD_ROWS = 5_000
DEFAULT_ROWS, MOST_ROWS = 20, 100
ANSWER_LIMIT = 65_536
CURSOR_LIMIT = 256

Limit: TypeAlias = Annotated[int, Meta(ge=1, le=MOST_ROWS)]


class Query(Record, frozen=True, kw_only=True):
    """Receipts of a collection that occurred from `from_` on and before `until`; None: any. `after`: a cursor."""

    collection: QualitySlug
    from_: Moment
    until: Moment
    skill: QualitySlug | None = None
    kind: QualityKind | None = None
    source_key: Hash | None = None
    identity_key: Hash | None = None
    limit: Limit = DEFAULT_ROWS
    after: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]+\Z", max_length=CURSOR_LIMIT)] | None = None


class QueryScope(Record, frozen=True, rename={"from_": "from"}):
    """What a query asks for, without how much of it."""

    collection: str
    from_: str
    until: str
    skill: str | None
    kind: QualityKind | None
    source_key: str | None
    identity_key: str | None


class Kinds(Record, frozen=True):
    """How many of the matching receipts are of which kind."""

    official_validation: int
    behavioral_evaluation: int


class Row(Record, frozen=True):
    """A stored receipt, and when it was recorded by this machine's clock."""

    receipt: QualityReceipt
    recorded_at: str


class AnswerLimits(Record, frozen=True):
    """What bounds an answer, and what it does not say."""

    period_rows: int
    entries: int
    artifact_locators: Literal["inert_not_dereferenced"] = "inert_not_dereferenced"
    hashes_authenticate_process: Literal[False] = False
    readiness_assessed: Literal[False] = False


class Answer(Record, frozen=True):
    """One page of a query's receipts; the counts are of all that match, whatever the page."""

    schema_version: Literal[1]
    operation: Literal["quality_inspect"]
    basis: Literal["recorded_exact_revision_receipts"]
    scope: QueryScope
    matching_receipts: int
    kinds: Kinds
    truncated: bool
    next_cursor: str | None
    rows: tuple[Row, ...]
    limits: AnswerLimits


def query(given: dict[str, object]) -> Query:
    """Return a query from its fields by name. Raises QualityError ``invalid_input``."""
    asked = closed(given, Query)
    if not timedelta(0) < moment(asked.until) - moment(asked.from_) <= timedelta(days=PERIOD_DAYS):
        raise QualityError("invalid_input")
    _position(asked)
    return asked


def answer(connection: sqlite3.Connection, asked: Query) -> Answer:
    """Return the page of a query, read in the connection's one transaction.

    Raises QualityError: ``query_limit_exceeded`` where more than `PERIOD_ROWS` receipts match, on whatever page;
    ``response_too_large`` where the page's JSON is over `ANSWER_LIMIT` bytes: ask for fewer; ``storage_unavailable``
    where a row is not what this program stores.
    """
    where, values = _conditions(asked)
    counted = connection.execute(
        f"SELECT kind, COUNT(*) FROM (SELECT kind FROM {TABLE} WHERE {where} LIMIT :most) GROUP BY kind",  # noqa: S608
        {**values, "most": PERIOD_ROWS + 1},
    ).fetchall()
    counts = dict(counted)
    if sum(counts.values()) > PERIOD_ROWS:
        raise QualityError("query_limit_exceeded")
    position = _position(asked)
    if position is not None:
        where += " AND (occurred_at, event_id) > (:at, :id)"
        values |= {"at": position[0], "id": position[1]}
    found = connection.execute(
        f"SELECT {', '.join(COLUMNS)} FROM {TABLE} WHERE {where} ORDER BY occurred_at, event_id LIMIT :rows",  # noqa: S608
        {**values, "rows": asked.limit + 1},
    ).fetchall()
    rows = tuple(_row(values) for values in found[: asked.limit])
    truncated = len(found) > asked.limit
    page = Answer(
        schema_version=1,
        operation="quality_inspect",
        basis="recorded_exact_revision_receipts",
        scope=_scope(asked),
        matching_receipts=sum(counts.values()),
        kinds=Kinds(
            official_validation=counts.get("official_validation", 0),
            behavioral_evaluation=counts.get("behavioral_evaluation", 0),
        ),
        truncated=truncated,
        next_cursor=_cursor(asked, rows[-1].receipt) if truncated else None,
        rows=rows,
        limits=AnswerLimits(period_rows=PERIOD_ROWS, entries=asked.limit),
    )
    if len(msgspec.json.encode(page)) > ANSWER_LIMIT:
        raise QualityError("response_too_large")
    return page


def _scope(asked: Query) -> QueryScope:
    return QueryScope(
        collection=asked.collection,
        from_=asked.from_,
        until=asked.until,
        skill=asked.skill,
        kind=asked.kind,
        source_key=asked.source_key,
        identity_key=asked.identity_key,
    )


def _conditions(asked: Query) -> tuple[str, dict[str, object]]:
    parts = ["collection = :collection", "occurred_at >= :from", "occurred_at < :until"]
    values: dict[str, object] = {"collection": asked.collection, "from": asked.from_, "until": asked.until}
    for name in ("skill", "kind", "source_key", "identity_key"):
        if (value := getattr(asked, name)) is not None:
            parts.append(f"{name} = :{name}")
            values[name] = value
    return " AND ".join(parts), values


def _row(found: tuple[str, ...]) -> Row:
    """Read a row back and hold it to what was stored: all of it follows from the receipt and the time of recording."""
    columns = dict(zip(COLUMNS, found, strict=True))
    try:
        moment(columns["recorded_at"])
        receipt = stored(msgspec.json.decode(columns["envelope"]))
    except (QualityError, msgspec.DecodeError, TypeError, RecursionError):
        raise QualityError("storage_unavailable") from None
    if row_of(receipt, columns["recorded_at"]) != found:
        raise QualityError("storage_unavailable")
    return Row(receipt=receipt, recorded_at=columns["recorded_at"])


# -- cursors -----------------------------------------------------------------------------------------------------------


def _scope_key(asked: Query) -> str:
    scope = msgspec.structs.astuple(_scope(asked))
    return hashlib.sha256(msgspec.json.encode(scope)).hexdigest()


def _cursor(asked: Query, last: QualityReceipt) -> str:
    position = msgspec.json.encode([last.occurred_at, last.event_id, _scope_key(asked)])
    return base64.urlsafe_b64encode(position).rstrip(b"=").decode()


def _position(asked: Query) -> tuple[str, str] | None:
    """Return where a query goes on. Raises QualityError for a cursor of another query, or of none."""
    if asked.after is None:
        return None
    try:
        data = base64.urlsafe_b64decode(asked.after + "=" * (-len(asked.after) % 4))
        at, event_id, key = closed(msgspec.json.decode(data), tuple[Moment, Uuid, Hash])
    except (binascii.Error, msgspec.DecodeError, RecursionError):
        raise QualityError("invalid_input") from None
    moment(at)
    canonical = base64.urlsafe_b64encode(msgspec.json.encode([at, event_id, key])).rstrip(b"=").decode()
    if key != _scope_key(asked) or canonical != asked.after or not asked.from_ <= at < asked.until:
        raise QualityError("invalid_input")
    return at, event_id
