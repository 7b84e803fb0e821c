"""Reading receipts back: what matches, in which order, how much at once, and how to go on."""

from __future__ import annotations

import base64
import json
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillbench.errors import QualityError
from pytest_skillbench.evidence import quality, queries, store
from pytest_skillbench.evidence.receipts import asserted, identity_key, source_key

from .quality import behavioral, event

NOW = "2026-11-30T22:10:05.000Z"
SEPTEMBER = {"collection": "demo", "from_": "2026-09-01T00:00:00.000Z", "until": "2026-10-01T00:00:00.000Z"}


def fill(place: Path, events: Iterable[dict[str, Any]]) -> None:
    """Put many receipts into a store at once: as rows, which `store.record` writes one at a time."""
    rows = [store.row_of(asserted(value), NOW) for value in events]
    if not place.exists():
        store.record(place, asserted(event(collection="elsewhere")), NOW)
    columns, marks = ", ".join(store.COLUMNS), ", ".join("?" * len(store.COLUMNS))
    with closing(sqlite3.connect(place)) as connection:
        connection.executemany(f"INSERT INTO {store.TABLE} ({columns}) VALUES ({marks})", rows)
        connection.commit()


def ask(place: Path, **asked: object) -> queries.Answer:
    """Inspect a store, September of the demo collection unless asked otherwise."""
    return quality.inspect(place, {**SEPTEMBER, **asked})


def ids(answer: queries.Answer) -> list[str]:
    """Return the event ids of a page."""
    return [row.receipt.event_id for row in answer.rows]


def refused(place: Path, **asked: object) -> str:
    """Return the code with which a question is refused."""
    with pytest.raises(QualityError) as caught:
        ask(place, **asked)
    return caught.value.code


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return where a store may be."""
    return tmp_path / "evidence.db"


def test_the_answer_has_exactly_the_documented_shape(place: Path) -> None:
    """Other programs read it: keys, their order, and that it says what it does not say."""
    value = event()
    store.record(place, asserted(value), NOW)
    document = json.loads(msgspec.json.encode(ask(place)))
    assert list(document) == [
        *("schema_version", "operation", "basis", "scope", "matching_receipts", "kinds", "truncated", "next_cursor"),
        *("rows", "limits"),
    ]
    assert document["scope"] == {
        "collection": "demo",
        "from": "2026-09-01T00:00:00.000Z",
        "until": "2026-10-01T00:00:00.000Z",
        "skill": None,
        "kind": None,
        "source_key": None,
        "identity_key": None,
    }
    assert (document["schema_version"], document["operation"]) == (1, "quality_inspect")
    assert document["kinds"] == {"official_validation": 1, "behavioral_evaluation": 0}
    assert (document["matching_receipts"], document["truncated"], document["next_cursor"]) == (1, False, None)
    (row,) = document["rows"]
    assert list(row) == ["receipt", "recorded_at"]
    assert row["recorded_at"] == NOW
    assert row["receipt"] == json.loads(msgspec.json.encode(asserted(value)))
    assert document["limits"] == {
        "period_rows": 5000,
        "entries": 20,
        "artifact_locators": "inert_not_dereferenced",
        "hashes_authenticate_process": False,
        "readiness_assessed": False,
    }


def test_each_filter_selects_and_nothing_else_does(place: Path) -> None:
    """Collection, period (its start in, its end out), skill, kind, source in all revisions, one exact revision."""
    source = event()["payload"]["source"]
    first = event("2026-09-01T00:00:00.000Z")
    last = event("2026-09-30T23:59:59.999Z", skill="other-skill")
    evaluated = behavioral()
    newer = event(source={**source, "package_sha256": "d" * 64})
    elsewhere = event(source={**source, "package_path": "skills/moved"})
    out = [event("2026-08-31T23:59:59.999Z"), event("2026-10-01T00:00:00.000Z"), event(collection="another")]
    fill(place, [first, last, evaluated, newer, elsewhere, *out])

    def found(**asked: object) -> set[str]:
        answer = ask(place, **asked)
        assert answer.matching_receipts == len(answer.rows)
        return set(ids(answer))

    def named(*values: dict[str, Any]) -> set[str]:
        return {value["event_id"] for value in values}

    receipt = asserted(first).payload.source
    assert found() == named(first, last, evaluated, newer, elsewhere)
    assert found(skill="other-skill") == named(last)
    assert found(kind="behavioral_evaluation") == named(evaluated)
    assert found(kind="official_validation") == named(first, last, newer, elsewhere)
    assert found(source_key=source_key(receipt)) == named(first, last, evaluated, newer)
    assert found(identity_key=identity_key(receipt)) == named(first, last, evaluated)
    assert found(identity_key=identity_key(receipt), skill="example-skill", kind="official_validation") == named(first)
    assert found(from_="2026-09-01T00:00:00.001Z", until="2026-09-30T23:59:59.999Z") == named(
        evaluated, newer, elsewhere
    )
    assert found(skill="nobody") == set()
    assert found(collection="another") == named(out[2])


@pytest.mark.parametrize(
    "asked",
    [
        {"collection": "Demo"},
        {"collection": None},
        {"from_": "2026-09-01"},
        {"from_": "yesterday"},
        {"until": "2026-09-31T00:00:00.000Z"},
        {"from_": "2026-10-01T00:00:00.000Z"},
        {"from_": "2026-11-01T00:00:00.000Z"},
        {"from_": "2025-09-29T23:59:59.999Z"},
        {"skill": ""},
        {"kind": "all"},
        {"source_key": "a" * 63},
        {"identity_key": "A" * 64},
        {"limit": 0},
        {"limit": 101},
        {"limit": -1},
        {"limit": "20"},
        {"limit": True},
        {"after": ""},
        {"after": "x" * 257},
        {"after": "not base64!"},
        {"after": "AAAA"},
        {"after": base64.urlsafe_b64encode(b'["2026-09-19T12:00:00.000Z"]').decode().rstrip("=")},
        {"after": base64.urlsafe_b64encode(b"[" * 180).decode().rstrip("=")},
        {"skill; DROP TABLE": "x"},
    ],
)
def test_a_question_of_another_form_is_refused_before_the_store_is_looked_at(
    place: Path, asked: dict[str, object]
) -> None:
    """Also where there is no store: what is wrong is the question."""
    assert refused(place, **asked) == "invalid_input"
    assert not place.exists()


def test_a_period_is_at_most_366_days(place: Path) -> None:
    """A leap year from its first to its last moment can be asked for, and not a millisecond more."""
    store.record(place, asserted(event("2028-02-29T12:00:00.000Z")), NOW)
    assert ask(place, from_="2028-01-01T00:00:00.000Z", until="2029-01-01T00:00:00.000Z").matching_receipts == 1
    assert refused(place, from_="2027-12-31T23:59:59.999Z", until="2029-01-01T00:00:00.000Z") == "invalid_input"


def test_a_page_has_twenty_receipts_unless_asked_otherwise(place: Path) -> None:
    """Sorted by when they occurred and then by id, which are counted in full on every page."""
    events = [event(f"2026-09-{1 + number % 7:02}T00:00:00.000Z") for number in range(45)]
    fill(place, events)
    in_order = [v["event_id"] for v in sorted(events, key=lambda v: (v["occurred_at"], v["event_id"]))]
    first = ask(place)
    assert ids(first) == in_order[:20]
    assert (first.truncated, first.matching_receipts) == (True, 45)
    second = ask(place, after=first.next_cursor)
    third = ask(place, after=second.next_cursor, limit=40)
    assert ids(second) + ids(third) == in_order[20:]
    assert (second.matching_receipts, third.truncated, third.next_cursor) == (45, False, None)
    assert ids(ask(place, limit=45)) == in_order
    assert not ask(place, limit=45).truncated


def test_a_cursor_belongs_to_its_question(place: Path) -> None:
    """With other filters it would silently begin somewhere else; the number of rows alone may change."""
    fill(place, [event() for _ in range(3)])
    cursor = ask(place, limit=1).next_cursor
    assert cursor is not None
    assert len(cursor) <= queries.CURSOR_LIMIT
    assert len(ask(place, limit=2, after=cursor).rows) == 2
    others: list[dict[str, object]] = [
        {"collection": "another"},
        {"from_": "2026-09-02T00:00:00.000Z"},
        {"until": "2026-10-02T00:00:00.000Z"},
        {"skill": "example-skill"},
        {"kind": "official_validation"},
        {"source_key": "a" * 64},
        {"identity_key": "a" * 64},
    ]
    for other in others:
        assert refused(place, after=cursor, **other) == "invalid_input"
    for at in range(len(cursor)):
        bent = f"{cursor[:at]}{'A' if cursor[at] != 'A' else 'B'}{cursor[at + 1 :]}"
        try:
            answer = ask(place, after=bent)
        except QualityError as error:
            code = error.code
            assert code == "invalid_input"  # either is fine: refused, or another place in the same order
        else:
            assert set(ids(answer)) <= set(ids(ask(place)))


MOMENTS = st.integers(0, 5).map(lambda number: f"2026-09-0{number + 1}T00:00:00.000Z")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(MOMENTS, max_size=12),
    st.lists(st.tuples(st.integers(1, 4), st.lists(MOMENTS, max_size=3)), min_size=1, max_size=6),
)
def test_paging_never_skips_or_repeats_though_others_record(
    at_first: list[str], pages: list[tuple[int, list[str]]]
) -> None:
    """Pages of changing size while others record before, at and behind the cursor.

    What was there at the first page is shown exactly once, what came later at most once and, where it sorts behind
    the cursor of its time, exactly once; the order holds over all pages.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "evidence.db"
        there = [event(at) for at in at_first]
        fill(place, there)
        shown: list[tuple[str, str]] = []
        due = {(value["occurred_at"], value["event_id"]) for value in there}
        cursor: str | None = None
        turn = 0
        while True:
            limit, newcomers = pages[turn] if turn < len(pages) else (3, [])
            turn += 1
            answer = ask(place, limit=limit, **({} if cursor is None else {"after": cursor}))
            shown += [(row.receipt.occurred_at, row.receipt.event_id) for row in answer.rows]
            cursor = answer.next_cursor
            if cursor is None:
                break
            late = [event(at) for at in newcomers]
            fill(place, late)
            due |= {key for value in late if (key := (value["occurred_at"], value["event_id"])) > shown[-1]}
        assert shown == sorted(due)


def test_more_than_five_thousand_matches_are_refused(place: Path) -> None:
    """Counting them all is work without bound; a narrower question is answered."""
    value, other = event(), event(skill="other-skill")
    made = [
        store.row_of(msgspec.structs.replace(asserted(value), event_id=f"10000000-0000-4000-8000-{n:012}"), NOW)
        for n in range(queries.PERIOD_ROWS)
    ]
    fill(place, [])
    columns, marks = ", ".join(store.COLUMNS), ", ".join("?" * len(store.COLUMNS))
    with closing(sqlite3.connect(place)) as connection:
        connection.executemany(f"INSERT INTO {store.TABLE} ({columns}) VALUES ({marks})", made)
        connection.commit()
    full = ask(place, limit=1)
    assert full.matching_receipts == queries.PERIOD_ROWS
    fill(place, [other])
    assert refused(place, limit=1) == "query_limit_exceeded"
    assert refused(place, limit=1, after=full.next_cursor) == "query_limit_exceeded"
    assert ids(ask(place, skill="other-skill")) == [other["event_id"]]


def test_an_answer_over_64_kib_is_refused(place: Path) -> None:
    """And the same question for fewer receipts is answered, page by page, without a loss."""
    artifacts = [{"locator": f"{n:02}/{'a' * 500}", "sha256": "c" * 64, "scope": "official_result"} for n in range(16)]
    events = [event(artifacts=artifacts) for _ in range(12)]
    fill(place, events)
    assert refused(place) == "response_too_large"
    cursor: object = None
    seen: list[str] = []
    while True:
        answer = ask(place, limit=5, **({"after": cursor} if cursor else {}))
        assert len(msgspec.json.encode(answer)) <= queries.ANSWER_LIMIT
        seen += ids(answer)
        cursor = answer.next_cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted(value["event_id"] for value in events)
