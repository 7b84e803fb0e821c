"""Closed readers and deterministic writers of every JSON file we own.

Closed: an unknown, missing, duplicate or ill-typed key, a number that is not finite, an unpaired surrogate or invalid
UTF-8 is a `FormatError` that names the file and the place. Core: bytes in, records out.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from typing import Any, TypeVar

import msgspec

from .errors import FormatError, Problem
from .model import (
    ArmRecord,
    FrozenEvidence,
    HistoryLine,
    JudgementRecord,
    Narrative,
    NarrativeEvidence,
    Plan,
    Record,
    Settings,
)

T = TypeVar("T", bound=Record)

FORMATS: dict[str, type[Record]] = {
    "plan": Plan,
    "arm": ArmRecord,
    "judgement": JudgementRecord,
    "narrative": Narrative,
    "history": HistoryLine,
    "evidence": FrozenEvidence,
    "settings": Settings,
}

_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `(?:key in )?(?P<place>.*)`)?$", re.DOTALL)
_UNKNOWN = re.compile(r"unknown field `(?P<name>.*)`", re.DOTALL)


class _Bad:
    """Stands in the parsed tree where something was wrong, so that its place can be told."""

    def __init__(self, what: str, expected: str) -> None:
        self.what = what
        self.expected = expected


def decode(data: bytes, record: type[T], path: str) -> T:
    """Read one JSON document as `record`. `path` is what messages call the file. Raises FormatError.

    Bytes that are exactly what we would write hide nothing, such as a second key of the same name, and are read fast.
    """
    value = _as_written(data, record)
    if value is None:
        try:
            value = msgspec.convert(_parse(data, path), record)
        except msgspec.ValidationError as error:
            raise FormatError(_explain(str(error), record, path)) from None
    if isinstance(value, Narrative):
        _check_narrative(value, path)
    return value


def _as_written(data: bytes, record: type[T]) -> T | None:
    """Return the record whose file `encode` would write as these very bytes, None for any other bytes."""
    try:
        value = msgspec.json.decode(data, type=record)
        return value if encode(value) == data else None
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None  # the strict reading says what is wrong, and where


def encode(value: Record) -> bytes:
    """Return the record's file: two-space indented JSON, fields in their order, maps sorted, newline at the end."""
    return msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=2) + b"\n"


def encode_line(value: Record) -> bytes:
    """Return the record as one line, newline included, as a JSON-lines file holds it."""
    return msgspec.json.encode(value, order="deterministic") + b"\n"


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of one of `FORMATS`. Raises KeyError for another name."""
    return msgspec.json.schema(FORMATS[name])


def _parse(data: bytes, path: str) -> object:
    """Parse strictly; everything that JSON allows and we do not is found here, with its place."""
    seen_bad = False

    def pairs(items: list[tuple[str, object]]) -> object:
        nonlocal seen_bad
        found = dict(items)
        if len(found) == len(items):
            return found
        seen_bad = True
        keys = [key for key, _ in items]
        twice = next(key for key in keys if keys.count(key) > 1)
        return _Bad(f"duplicate key {json.dumps(twice)}", "each key once")

    def number(text: str) -> object:
        nonlocal seen_bad
        value = float(text)
        if math.isfinite(value):
            return value
        seen_bad = True
        return _Bad(f"the number {text} is not finite", "a finite number")

    def refuse(message: str, expected: str, line: int | None = None) -> FormatError:
        return FormatError(Problem(path=path, slug="json", what=message, expected=expected, line=line))

    try:
        text = data.decode("utf-8")
        tree: object = json.loads(text, object_pairs_hook=pairs, parse_float=number, parse_constant=number)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise refuse(f"byte {error.start} is not UTF-8", "UTF-8", line) from None
    except json.JSONDecodeError as error:
        raise refuse(f"not JSON: {error.msg} at column {error.colno}", "one JSON object", error.lineno) from None
    except RecursionError:
        raise refuse("nested too deeply", "JSON of a reasonable depth") from None
    except ValueError:
        raise refuse("a number with too many digits", "a number of a reasonable size") from None
    if seen_bad or b"\\ud" in data or b"\\uD" in data:
        bad = _find_bad(tree, "$")
        if bad is not None:
            place, what = bad
            raise FormatError(Problem(path=path, slug="json", place=place, what=what.what, expected=what.expected))
    return tree


def _find_bad(tree: object, place: str) -> tuple[str, _Bad] | None:
    """Return the first refused value in document order."""
    if isinstance(tree, _Bad):
        return place, tree
    if isinstance(tree, str):
        try:
            tree.encode("utf-8")
        except UnicodeEncodeError:
            return place, _Bad("an unpaired surrogate", "text that is valid Unicode")
        return None
    children: list[tuple[str, object]] = []
    if isinstance(tree, dict):
        for key, value in tree.items():
            children += [(place, key), (f"{place}.{key}", value)]
    elif isinstance(tree, list):
        children = [(f"{place}[{index}]", value) for index, value in enumerate(tree)]
    return next((found for where, child in children if (found := _find_bad(child, where))), None)


def _explain(message: str, record: type[Record], path: str) -> Problem:
    """Turn msgspec's message into ours: what is wrong, where, and the nearest key for a misspelt one."""
    match = _PLACE.match(message)
    what, place = (match["what"], match["place"]) if match else (message, None)
    unknown = _UNKNOWN.search(what)
    near = difflib.get_close_matches(unknown["name"], _field_names(record), n=1) if unknown else []
    return Problem(
        path=path,
        slug="format",
        place=place or "$",
        what=what.replace("`", '"').replace("Object ", "the object ")[:500],
        suggestion=near[0] if near else None,
    )


def _field_names(record: type[Record]) -> list[str]:
    """Return every key that may occur anywhere in a record's file."""
    definitions = msgspec.json.schema(record).get("$defs", {}).values()
    return sorted({name for definition in definitions for name in definition.get("properties", {})})


def _check_narrative(narrative: Narrative, path: str) -> None:
    """Refuse evidence that is neither a value nor a quote, which the type alone can't say."""
    for at, sentence in enumerate(narrative.sentences):
        for index, evidence in enumerate(sentence.evidence):
            if not _is_one_kind(evidence):
                raise FormatError(
                    Problem(
                        path=path,
                        slug="format",
                        place=f"$.sentences[{at}].evidence[{index}]",
                        what="neither a value nor a quote",
                        expected='{"value", "is"} or {"quote", "from"}',
                    )
                )


def _is_one_kind(evidence: NarrativeEvidence) -> bool:
    given = (evidence.value, evidence.is_, evidence.quote, evidence.from_)
    kinds = tuple(item is not None for item in given)
    return kinds in {(True, True, False, False), (False, False, True, True)}
