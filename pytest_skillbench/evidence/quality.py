"""Quality receipts: record one observation of one exact skill revision, and read back what was recorded.

Gather: the two operations of ``skillbench quality``. Everything is read and verified before the store is looked at, so
that an event that is refused leaves no trace. Neither operation runs a skill, a case, a model, a grader or a validator.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from ..errors import QualityError, SkillbenchError
from ..files import read_bounded
from ..model import Record
from . import queries, receipts, store
from .envelope import Assurance, QualityReceipt
from .reading import parse_json


class Recorded(Record, frozen=True):
    """What `record` did; `recorded` is False where the very same receipt was there already."""

    recorded: bool
    event_id: str
    event_type: str
    assurance: Assurance
    identity_key: str


def record(
    db: Path,
    file: str,
    stdin: BinaryIO,
    *,
    now: datetime,
    package_root: Path | None = None,
    benchmark: Path | None = None,
) -> Recorded:
    """Record the event in `file` (``-``: read `stdin`) in the store at `db`, which is made where there is none.

    `now`: this machine's time. `package_root`: a package whose tree digest must be the claimed one. `benchmark`: a
    frozen benchmark that is verified whole and from which method, result, coverage and artifacts are then taken.
    Raises QualityError: ``invalid_input``, ``evidence_conflict``, ``storage_unavailable``.
    """
    with _as_invalid():
        receipt = read_event(_read(file, stdin))
        if package_root is not None:
            _check_package(package_root, receipt)
        if benchmark is not None:
            from . import compare, retained  # what walks trees is not loaded for an event alone

            receipt = retained.from_evidence(receipt, compare.inspect(benchmark))
    _check_place(db, file, [root for root in (package_root, benchmark) if root is not None])
    added = store.record(db, receipt, _moment(now))
    return Recorded(
        recorded=added,
        event_id=receipt.event_id,
        event_type=receipt.event_type,
        assurance=receipt.payload.assurance,
        identity_key=receipts.identity_key(receipt.payload.source),
    )


def inspect(db: Path, given: dict[str, object]) -> queries.Answer:
    """Return one page of receipts; `given` are the fields of `queries.Query` by name.

    Raises QualityError: ``invalid_input`` before the store is looked at, ``storage_unavailable``,
    ``query_limit_exceeded``, ``response_too_large``.
    """
    asked = queries.query(given)
    with store.opened(db) as connection:
        return queries.answer(connection, asked)


def read_event(data: bytes) -> QualityReceipt:
    """Return the receipt of a caller's event, as an assertion. Raises QualityError ``invalid_input``."""
    with _as_invalid():
        return receipts.asserted(_whole(parse_json(data, "event", limit=receipts.RECEIPT_LIMIT)))


def _read(file: str, stdin: BinaryIO) -> bytes:
    """Return at most one byte more than is allowed, which `parse_json` then refuses."""
    if file == "-":
        return stdin.read(receipts.RECEIPT_LIMIT + 1)
    return read_bounded(file, receipts.RECEIPT_LIMIT, file)


def _whole(tree: object) -> object:
    """Return a parsed document with ``2.0`` as 2: one number, however it is spelled. No field is a fraction."""
    if isinstance(tree, dict):
        return {key: _whole(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_whole(value) for value in tree]
    return int(tree) if isinstance(tree, float) and tree.is_integer() else tree


@contextlib.contextmanager
def _as_invalid() -> Iterator[None]:
    """Say the code alone of whatever is wrong with the input; what it is may be nobody else's business."""
    try:
        yield
    except QualityError:
        raise
    except (SkillbenchError, OSError, ValueError):  # ValueError: a NUL in a path
        raise QualityError("invalid_input") from None


def _check_package(root: Path, receipt: QualityReceipt) -> None:
    """Hold the claimed digest to the package's bytes, which are read as `evidence prepare` reads a package."""
    from .trees import digest_of, files_of, read_tree, real_folder, strict

    folder = real_folder(root, "Selected package must be a directory.")
    if digest_of(files_of(read_tree(folder, os.fspath(root), strict()))) != receipt.payload.source.package_sha256:
        raise QualityError("invalid_input")


def _check_place(db: Path, file: str, roots: Sequence[Path]) -> None:
    """Refuse a store in the place of the event, or within what was just verified, which it would change."""
    with store.unavailable():
        place = str(store.real_place(db))
        if file != "-" and os.path.realpath(file) in {place, *(f"{place}{suffix}" for suffix in store.SIDECARS)}:
            raise QualityError("invalid_input")
        if any(os.path.commonpath([place, real]) == real for real in map(os.path.realpath, roots)):
            raise QualityError("storage_unavailable")


def _moment(now: datetime) -> str:
    """Return a time as receipts have it; what is less than a millisecond is cut."""
    return now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
