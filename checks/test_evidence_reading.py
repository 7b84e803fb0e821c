"""The JSON of evidence: what is refused and with which words, and bytes that are those of any other program."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillbench.errors import EvidenceError
from pytest_skillbench.evidence.checking import MOST_PROBLEMS, Check
from pytest_skillbench.evidence.reading import (
    JSON_LIMIT,
    is_laid_out,
    json_bytes,
    json_line,
    parse_json,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def message(call: Callable[[], object]) -> str:
    """Return the exact message with which something is refused."""
    with pytest.raises(EvidenceError) as caught:
        call()
    assert caught.value.message == caught.value.first.what
    assert caught.value.first in caught.value.problems
    return caught.value.message


def parsed(data: bytes | str, **options: Any) -> object:
    """Return what a document is."""
    return parse_json(data.encode() if isinstance(data, str) else data, "file.json", **options)


def checked(method: str, value: object, *arguments: object, **options: object) -> str | None:
    """Return the message for one value, None where it is right."""
    check = Check("file.json")
    getattr(check, method)(value, *arguments, **options)
    if not check.problems:
        check.done()
        return None
    return message(check.done).removeprefix("Invalid benchmark: ")


# -- bytes -------------------------------------------------------------------------------------------------------------


def test_the_limit_of_bytes_is_exact() -> None:
    """One byte over is refused by its message; the limit itself is read."""
    document = b'"' + b"x" * (JSON_LIMIT - 2) + b'"'
    assert len(str(parsed(document))) == JSON_LIMIT - 2
    assert message(lambda: parsed(document + b" ")) == "Invalid benchmark: JSON exceeds 524288 bytes."
    assert message(lambda: parsed(b"[1] ", limit=3)) == "Invalid benchmark: JSON exceeds 3 bytes."


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"{} {}",
        b"{'a': 1}",
        b"[1,]",
        b"\xff",
        b'"\xed\xa0\x80"',  # a surrogate, spelled in UTF-8
        b'"\xc0\x80"',  # an overlong NUL
        b'"\\ud800"',
        b'{"\\udfff": 1}',
        b'["\\ude00\\ud83d"]',
        b'{"a": 1, "a": 1}',
        b'[{"a": {"b": 1, "c": 2, "b": 3}}]',
        b"NaN",
        b"[Infinity]",
        b"-Infinity",
        b"1e999",
        b"1" * 400,
        b"01",
        b'"a\nb"',
        "\ufeff\ufeff{}".encode(),
        b"[" * 100_000,
        b'{"a":' * 50_000,
    ],
)
def test_what_is_no_strict_json(document: bytes) -> None:
    """Everything that two readers could understand differently is refused, and nothing ends in a traceback."""
    assert message(lambda: parsed(document)).startswith("Invalid benchmark: JSON ")


def test_what_is_read() -> None:
    """A byte-order mark, escaped pairs of surrogates and every spelling of a number mean what they mean elsewhere."""
    assert parsed("\ufeff[]") == []
    assert parsed('"\\ud83d\\ude00"') == "\U0001f600"
    assert parsed("[1, 1.0, 1e3, -0]") == [1, 1.0, 1000.0, 0]
    assert parsed('{"__proto__": 1, "constructor": 2}') == {"__proto__": 1, "constructor": 2}


def test_the_depth_is_exact() -> None:
    """A value 64 levels down is read, one below that is not, whatever surrounds it."""
    deepest = b"[" * 64 + b"1" + b"]" * 64
    assert parsed(deepest)
    assert parsed(b"[" + deepest[1:-1] + b"]")
    assert "nested more than 64" in message(lambda: parsed(b"[" + deepest + b"]"))
    assert "nested more than 64" in message(lambda: parsed(b'{"a": 1, "b": ' + deepest + b"}"))


@given(VALUE)
def test_what_is_written_is_read_again_as_the_same(value: object) -> None:
    """A law: writing then reading changes nothing, and the bytes are those of the standard's own rules."""
    data = json_bytes(value)
    assert data == json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"
    assert parsed(data) == value
    assert json.loads(json_line(value)) == value
    assert len(json_line(value).splitlines()) == 1


def test_the_bytes_are_those_of_javascript() -> None:
    """The formats' first writer is ``JSON.stringify``; ours agrees on every kind of character and on empty values."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node to ask")
    characters = [chr(code) for code in [*range(0x300), 0x2028, 0x2029, 0xFEFF, 0xFFFD, 0xFFFF, 0x1F600]]
    value = {"each": characters, "none": [], "nothing": {}, "in": [[], {"a": None}, True, -5, 2**53 - 1], '"': "\\/"}
    script = "let s='';process.stdin.on('data',d=>s+=d).on('end',()=>console.log(JSON.stringify(JSON.parse(s),null,2)))"
    done = subprocess.run([node, "-e", script], input=json.dumps(value).encode(), capture_output=True, check=True)
    assert json_bytes(value) == done.stdout


def test_one_line_steers_no_terminal() -> None:
    """What a run's author wrote reaches a terminal in ``--json`` as well."""
    line = json_line(["\u2028\u0085\u009b31m\u202e\x1b[2J", "naïve ✂"])
    assert line == '["\\u2028\\u0085\\u009b31m\\u202e\\u001b[2J","naïve ✂"]'


def test_an_output_over_the_limit() -> None:
    """A manifest that no reader would take is not written."""
    assert message(lambda: json_bytes("x" * JSON_LIMIT)) == "Invalid benchmark: JSON output exceeds 524288 bytes."


def test_layouts_of_programs_are_told_from_all_others() -> None:
    """A file that no digest covers can't change by a blank, and may come from any program that writes JSON."""
    value = {"schema_version": 1, "names": ["a", "é"], "none": []}
    good = [
        json_bytes(value),
        json_bytes(value).rstrip(),
        json.dumps(value).encode(),
        json.dumps(value, indent=4, ensure_ascii=False).encode() + b"\n",
        json.dumps(value, separators=(",", ":")).encode(),
    ]
    for data in good:
        assert is_laid_out(data, parsed(data))
        for at in range(len(data)):
            for byte in b' \t\n\r"a0':
                changed = data[:at] + bytes([byte]) + data[at + 1 :]
                try:
                    same = parsed(changed) == value
                except EvidenceError:
                    continue
                assert changed == data or not same or not is_laid_out(changed, parsed(changed)), (at, changed)


# -- values ------------------------------------------------------------------------------------------------------------


def test_objects_are_closed() -> None:
    """A missing key, one too many and anything else than an object: each by its message."""
    assert checked("mapping", {"b": 1, "a": 2}, ("a", "b"), "$") is None
    for keys in ({"a": 1}, {"a": 1, "b": 2, "c": 3}, {}):
        assert checked("mapping", keys, ("a", "b"), "$") == "Object has missing or unknown fields."
    others: list[object] = [[], None, "a", 1]
    for other in others:
        assert checked("mapping", other, ("a", "b"), "$") == "Expected an object."


def test_a_misspelt_key_is_named() -> None:
    """A person is told which key, and which was meant; a program the same message as ever."""
    check = Check("suite.json")
    check.mapping({"schema_verson": 1, "id": "x"}, ("schema_version", "id"), "$.cases[1]")
    with pytest.raises(EvidenceError) as caught:
        check.done()
    (problem,) = caught.value.problems
    assert (problem.path, problem.place) == ("suite.json", "$.cases[1]")
    assert 'no "schema_version"; "schema_verson" is unknown, did you mean "schema_version"?' in str(problem.expected)


def test_arrays_have_bounds() -> None:
    """Too few, too many, no array."""
    for right in ([1], [1, 2]):
        assert checked("array", right, "$", least=1, most=2) is None
    others: list[object] = [[], [1, 2, 3], {}, "ab", None]
    for wrong in others:
        assert checked("array", wrong, "$", least=1, most=2) == "Array length is outside bounds."


def test_identifiers_and_digests() -> None:
    """Lower case, bounded, whole: a line end at the end is no part of either."""
    for right in ("a", "a-", "a1-b", "a" * 64):
        assert checked("identifier", right, "$") is None
    for wrong in ("", "A", "1a", "-a", "a_b", "a" * 65, "a\n", "ä", None, 1, ["a"]):
        assert checked("identifier", wrong, "$") == "Expected a simple lowercase ID."
    assert checked("digest", "0af" + "1" * 61, "$") is None
    for wrong in ("0" * 63, "0" * 65, "A" * 64, "g" * 64, "0" * 63 + "\n", "٠" * 64, 0, None):
        assert checked("digest", wrong, "$") == "Expected a SHA-256 digest."


def test_text_is_trimmed_and_counted_as_elsewhere() -> None:
    """Blank is what JavaScript trims away, no more and no less; the limit is of UTF-8 bytes."""
    for right in ("x", "a\tb\r\nc", "\x85", "\x7f", "é" * 5, "\u200b", " x "):
        assert checked("text", right, "$", 10) is None
    blank = "\t\n\r \u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff"
    for wrong in ("", blank, "é" * 5 + "x", "a\0", "a\x0b", "\x0ca", "a\x1f", "\ud800", None, 1, ["x"]):
        assert checked("text", wrong, "$", 10 if wrong != blank else 100) == "Expected bounded nonblank text."
    assert checked("optional_text", None, "$", 1) is None
    assert checked("optional_text", "", "$", 1) == "Expected bounded nonblank text."


def test_paths_are_portable_and_stay_inside() -> None:
    """Every way out and every name that is not the same everywhere."""
    for right in ("a", "a/b", ".git/HEAD", "a b/c.d", "...", "a/..b", "-", "/".join("a" * 16), "a" * 512, " a"):
        assert checked("relative", right, "$") is None
    wrong = "Paths must be portable relative paths without traversal."
    for path in ("/a", "a/", "a//b", ".", "..", "a/../b", "a/.", "a\\b", "C:/a", "ä", "a\n", "a:b", "/".join("a" * 17)):
        assert checked("relative", path, "$") == wrong, path
    others: list[object] = ["", " ", "a" * 513, None, 1]
    for other in others:
        assert checked("relative", other, "$") == "Expected bounded nonblank text."


def test_integers_booleans_words() -> None:
    """A number is what its value is; true is no 1 and 1 is no true."""
    for right in (0, 5, 5.0, -0.0):
        assert checked("integer", right, "$", 0, 5) is None
    for number in (-1, 6, 5.5, True, "5", None, 1e300, [5]):
        assert checked("integer", number, "$", 0, 5) == "Expected an integer within bounds."
    assert Check("x").integer(5.0, "$", 0, 5) == 5
    assert isinstance(Check("x").integer(5.0, "$", 0, 5), int)
    assert checked("optional_integer", None, "$", 0, 5) is None
    assert checked("boolean", False, "$") is None
    for value in (0, 1, None, "true"):
        assert checked("boolean", value, "$") == "Expected a boolean."
    assert checked("choice", "b", ("a", "b"), "$") is None
    for word in ("c", "", None, 0, "B"):
        assert checked("choice", word, ("a", "b"), "$") == "Unknown enumerated value."
    for version in (1, 1.0):
        assert checked("version", version, "$") is None
    others: list[object] = [2, 0, True, "1", None]
    for other in others:
        assert checked("version", other, "$") == "Unsupported schema version."
    assert checked("unique", ["a", "b"], "case IDs", "$") is None
    assert checked("unique", ["a", "b", "a"], "case IDs", "$") == "Duplicate case IDs."


def test_all_that_is_wrong_is_told_and_nothing_twice() -> None:
    """A program gets the first message; a person gets every place, and no echo of a value that is already reported."""
    check = Check("file.json")
    inner = check.mapping({"id": "A", "n": 9}, ("id", "n", "list"), "$")
    check.identifier(inner["id"], "$.id")
    check.integer(inner["n"], "$.n", 0, 5)
    for item in check.array(inner["list"], "$.list", least=1, most=2):
        check.text(item, "$.list[0]", 5)
    with pytest.raises(EvidenceError) as caught:
        check.done()
    assert caught.value.message == "Invalid benchmark: Object has missing or unknown fields."
    assert [problem.place for problem in caught.value.problems] == ["$", "$.id", "$.n"]


def test_a_document_of_nothing_but_mistakes_ends_soon() -> None:
    """Ten thousand mistakes are not ten thousand lines."""
    check = Check("file.json")

    def mistakes() -> None:
        for at in range(10_000):
            check.identifier("A", f"$[{at}]")

    with pytest.raises(EvidenceError) as caught:
        mistakes()
    assert len(caught.value.problems) == MOST_PROBLEMS
