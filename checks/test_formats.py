"""The closed formats: what a file of ours may hold, and what a reader says of anything else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillbench.errors import FormatError
from pytest_skillbench.formats import FORMATS, decode, encode, encode_line, schema
from pytest_skillbench.model import HistoryLine, Narrative, Settings

LINE = {
    "schema_version": 1, "run_id": "r1", "at": "2026-11-30T22:10:05Z", "shape": "two-arm", "base_commit": None,
    "skill_sha256": "a" * 64, "suite_sha256": "b" * 64, "cases": 1, "trials": 5,
    "efficacy": {"net": 3, "wins": 3, "ties": 2, "losses": 0, "invalid": 0, "cases_passed": 1, "verdict": "pass"},
    "regression": None,
    "cost_equivalent_tokens": {"new-skill": 1.5, "previous-version": None, "no-skill": 1.0},
}  # fmt: skip


def refused(data: bytes) -> str:
    """Return the message with which a history line is refused."""
    with pytest.raises(FormatError) as error:
        decode(data, HistoryLine, "x.json")
    return str(error.value)


def test_a_record_survives_the_way_to_disk_and_back() -> None:
    """Writing and reading are inverse, and writing again gives the same bytes."""
    line = decode(json.dumps(LINE).encode(), HistoryLine, "x.json")
    assert json.loads(encode(line)) == LINE
    assert decode(encode(line), HistoryLine, "x.json") == line
    assert encode_line(line).count(b"\n") == 1


def test_a_doubled_line_of_a_file_of_ours_is_found() -> None:
    """What is written exactly as we write is read fast, and a second key of a name is not written as we write."""
    whole = encode(decode(json.dumps(LINE).encode(), HistoryLine, "x.json"))
    lines = whole.splitlines(keepends=True)
    for at, line in enumerate(lines):
        if b'": ' in line and line.endswith(b",\n") and not line.startswith(b"    "):
            doubled = b"".join([*lines[:at], line, *lines[at:]])
            assert "duplicate key" in refused(doubled)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trails": 5}, '"trails"; did you mean "trials"?'),
        ({"trials": "5"}, '$.trials: Expected "int", got "str"'),
        ({"trials": 0}, "$.trials: "),
        ({"trials": True}, "$.trials: "),
        ({"at": "yesterday"}, "$.at: "),
        ({"at": "2026-11-30T22:10:05Z\n"}, "$.at: "),
        ({"at": "٢026-11-30T22:10:05Z"}, "$.at: "),
        ({"run_id": "r1\n"}, "$.run_id: "),
        ({"skill_sha256": "a" * 64 + "\n"}, "$.skill_sha256: "),
        ({"schema_version": 2}, "$.schema_version: "),
        ({"shape": "four-arm"}, "$.shape: "),
        ({"efficacy": {"net": 3}}, "$.efficacy: "),
    ],
)
def test_every_departure_is_named_with_its_place(change: dict[str, object], message: str) -> None:
    """An unknown key, a wrong type or a value out of range says where, what and what was expected."""
    text = refused(json.dumps({**LINE, **change}).encode())
    assert text.startswith("x.json: ")
    assert message in text


def test_a_missing_key_is_an_error() -> None:
    """Nothing missing is filled in."""
    assert '"run_id"' in refused(json.dumps({k: v for k, v in LINE.items() if k != "run_id"}).encode())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', 'x.json: $.b: duplicate key "c"'),
        (b'{"a": [1, NaN]}', "x.json: $.a[1]: the number NaN is not finite"),
        (b'{"a": -Infinity}', "$.a: the number -Infinity is not finite"),
        (b'{"a": 1e999}', "$.a: the number 1e999 is not finite"),
        (b'{"a":\n "\xff"}', "x.json:2: byte 8 is not UTF-8"),
        (b'{"a": "\\ud800"}', "$.a: an unpaired surrogate"),
        (b'{"\\uDC00": 1}', "an unpaired surrogate"),
        (b"[" * 100_000, "nested too deeply"),
        (b"1" * 10_000, "too many digits"),
        (b"", "x.json:1: not JSON"),
        (b'{"a": 1}\n{"b": 2}', "x.json:2: not JSON"),
        (b"\xef\xbb\xbf{}", "x.json:1: not JSON"),
        (b"null", 'Expected "object", got "null"'),
    ],
)
def test_what_json_readers_let_through_is_refused(data: bytes, message: str) -> None:
    """Duplicate keys, NaN, surrogates, bombs and trailing data are errors, never a silent choice."""
    assert message in refused(data)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_bytes_crash_a_reader(data: bytes) -> None:
    """Whatever stands in a file, the answer is a record or a FormatError on one line."""
    try:
        found: object = decode(data, Settings, "x.json")
    except FormatError as error:
        found = str(error)
    assert isinstance(found, Settings) or (isinstance(found, str) and "\n" not in found)


@pytest.mark.parametrize("evidence", [{}, {"value": "a"}, {"value": "a", "is": "b", "quote": "c", "from": "d"}])
def test_narrative_evidence_is_a_value_or_a_quote(evidence: dict[str, str]) -> None:
    """Evidence of neither or both kinds is refused with its place."""
    data = {
        "schema_version": 1,
        "run_id": "r",
        "sentences": [{"about": "headline", "text": "x", "evidence": [evidence]}],
    }
    with pytest.raises(FormatError, match=r"sentences\[0\]\.evidence\[0\]: neither a value nor a quote"):
        decode(json.dumps(data).encode(), Narrative, "x.json")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_schema(name: str) -> None:
    """`skillbench schema NAME` is closed as the reader is."""
    found = schema(name)
    assert found["$defs"][found["$ref"].rsplit("/")[-1]]["additionalProperties"] is False
