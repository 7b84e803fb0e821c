"""Reading and writing the JSON of evidence: bounded, strict, and byte for byte that of other programs.

Core: bytes in, values out. `parse_json` reads one document; a `checking.Check` then holds its values to the format.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter

import msgspec

from ..errors import EvidenceError, Problem

JSON_LIMIT = 524_288
JSON_DEPTH = 64
PREFIX = "Invalid benchmark: "

#: What JavaScript's ``trim`` takes away, which is neither more nor less than this.
WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f"
    "\u3000\ufeff"
)
SURROGATE = re.compile("[\ud800-\udfff]")
_UNSAFE_LINE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
_LAYOUTS: tuple[tuple[int | None, tuple[str, str]], ...] = (
    (2, (",", ": ")),
    (4, (",", ": ")),
    (None, (",", ":")),
    (None, (", ", ": ")),
)


def refuse(message: str, shown: str, place: str | None = None, expected: str | None = None) -> EvidenceError:
    """Return the error for one thing that is wrong. `message`: exact, without `PREFIX`; `shown`: the file's name."""
    return EvidenceError(
        Problem(path=shown, slug="evidence", what=PREFIX + message, place=place, expected=expected),
    )


def parse_json(data: bytes, shown: str, *, limit: int = JSON_LIMIT) -> object:
    """Return the one JSON document that `data` is, as dicts, lists, strings, numbers, booleans and None.

    Strict: at most `limit` bytes, UTF-8 (one byte-order mark is passed over), no key twice, no value more than
    `JSON_DEPTH` levels below the document, finite numbers, no unpaired surrogate. `shown` is what messages call the
    file. Raises EvidenceError.
    """
    if len(data) > limit:
        raise refuse(
            f"JSON exceeds {limit} bytes.", shown, expected=f"at most {limit:,} bytes; there are {len(data):,}"
        )
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise refuse("JSON is not UTF-8.", shown, expected=f"UTF-8 at byte {error.start:,}") from None

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(items)
        if len(found) != len(items):
            counts = Counter(key for key, _ in items)
            twice = next(key for key, count in counts.items() if count > 1)
            raise refuse("JSON has a duplicate key.", shown, expected=f"{quoted(twice)} once in its object")
        return found

    def number(spelled: str) -> float:
        value = float(spelled)
        if not math.isfinite(value):
            raise refuse("JSON has a number that is not finite.", shown, expected="finite numbers only")
        return value

    def integer(spelled: str) -> int | float:
        return int(spelled) if len(spelled) < 300 else number(spelled)

    try:
        tree: object = json.loads(
            text, object_pairs_hook=pairs, parse_int=integer, parse_float=number, parse_constant=number
        )
    except json.JSONDecodeError as error:
        expected = f"one JSON document; line {error.lineno}, column {error.colno}: {error.msg}"
        raise refuse("JSON can't be parsed.", shown, expected=expected) from None
    except RecursionError:
        raise _too_deep(shown) from None
    _check_depth(tree, shown)
    if b"\\u" in data and SURROGATE.search(json.dumps(tree, ensure_ascii=False)):
        raise refuse("JSON has an unpaired surrogate.", shown, expected="text that is valid Unicode")
    return tree


def _check_depth(tree: object, shown: str) -> None:
    """Refuse a value more than `JSON_DEPTH` levels down; each turn of the loop is a level."""
    level = [tree] if isinstance(tree, (dict, list)) else []
    for depth in range(JSON_DEPTH + 1):
        if depth == JSON_DEPTH and any(level):
            raise _too_deep(shown)
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, (dict, list))
        ]


def _too_deep(shown: str) -> EvidenceError:
    return refuse(f"JSON is nested more than {JSON_DEPTH} levels deep.", shown, expected=f"at most {JSON_DEPTH} levels")


def json_bytes(value: object) -> bytes:
    """Return a file's bytes: two-space indented JSON, non-ASCII as it is, a newline at the end.

    `value` is a record or made of dicts, lists, strings, integers, booleans and None; keys keep their order. The bytes
    are those of ``JSON.stringify(value, null, 2)`` and a newline. Raises EvidenceError beyond `JSON_LIMIT` bytes.
    """
    data = msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
    if len(data) > JSON_LIMIT:
        raise refuse(f"JSON output exceeds {JSON_LIMIT} bytes.", "output", expected=f"at most {JSON_LIMIT:,} bytes")
    return data


def json_line(value: object) -> str:
    """Return the compact JSON of `value` on one line, without a line end.

    As ``JSON.stringify(value)`` writes it, but that characters which end lines or steer terminals are escaped, so that
    one line is one line to every reader.
    """
    text = msgspec.json.encode(value).decode()
    return _UNSAFE_LINE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def is_laid_out(data: bytes, value: object) -> bool:
    """Tell whether `data`, which was parsed as `value`, is laid out as a program lays JSON out, throughout.

    A file that no digest covers is held to this, so that no byte of it can change unseen: not a blank for a tab, not a
    letter for its escape. Two or four spaces or one line, with or without a newline at the end, are all good.
    """
    if data.rstrip(b"\n") == msgspec.json.format(msgspec.json.encode(value), indent=2):
        return len(data) - len(data.rstrip(b"\n")) <= 1
    for indent, separators in _LAYOUTS:
        for ascii_only in (False, True):
            text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=ascii_only)
            if data in (text.encode(), text.encode() + b"\n"):
                return True
    return False


def quoted(text: str) -> str:
    """Return a text in quotes, cut after a hundred characters."""
    return json.dumps(text[:100], ensure_ascii=False)
