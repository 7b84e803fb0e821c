"""The values of evidence's JSON held to its format: each type by its rule, each failure by its exact message.

Core: `documents` asks for one value after the other. A program gets the exact message of the first thing that is
wrong; a person gets all of them, each with its file and its place (``$.cases[0].id``).

A number counts as an integer if its value is one, however it is spelled (``1``, ``1.0``, ``1e3``): that is what every
reader in JavaScript does, and a file must mean the same to both. Files are written with the plain spelling.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import NoReturn, TypeVar

from ..errors import EvidenceError, Problem
from .reading import PREFIX, SURROGATE, WHITE_SPACE, quoted

#: What a person is told at once; a hostile file could hold a problem in every byte.
MOST_PROBLEMS = 20

T = TypeVar("T", bound=str)

_ID = re.compile(r"[a-z][a-z0-9-]{0,63}")
_HASH = re.compile(r"[a-f0-9]{64}")
_RELATIVE = re.compile(r"(?!\.\.?(?:/|\Z))[A-Za-z0-9._ -]+(?:/(?!\.\.?(?:/|\Z))[A-Za-z0-9._ -]+){0,15}")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


class _Reported:
    """Stands for a value whose absence has been reported; everything that is asked of it is passed over."""


_REPORTED = _Reported()


class Check:
    """Holds one parsed document to its format, and collects what is wrong with it.

    Each method takes a value and its place, and returns the value with its type; where the value is not right it
    notes that and returns something of the right type, so that the rest is looked at as well. Nothing that came out
    may be used before `done` was called.
    """

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.problems: list[Problem] = []

    def done(self) -> None:
        """Raise EvidenceError if anything was noted; its message is that of the first."""
        if self.problems:
            raise EvidenceError(*self.problems)

    def fail(self, message: str, place: str, expected: str | None = None) -> None:
        """Note something. `message`: exact, without `PREFIX`; after `MOST_PROBLEMS` raises what there is."""
        what = PREFIX + message
        self.problems.append(Problem(path=self.shown, slug="evidence", what=what, place=place, expected=expected))
        if len(self.problems) >= MOST_PROBLEMS:
            self.done()

    def stop(self, message: str, place: str, expected: str | None = None) -> NoReturn:
        """Note something after which nothing else can be judged. Raises EvidenceError."""
        self.fail(message, place, expected)
        raise EvidenceError(*self.problems)

    def require(self, condition: bool, message: str, place: str, expected: str | None = None) -> None:
        """Note `message` unless `condition` holds."""
        if not condition:
            self.fail(message, place, expected)

    def mapping(self, value: object, keys: Sequence[str], place: str) -> dict[str, object]:
        """Return an object with exactly these keys."""
        if isinstance(value, _Reported):
            return dict.fromkeys(keys, _REPORTED)
        if not isinstance(value, dict):
            self.fail("Expected an object.", place, _given("an object", value))
            return dict.fromkeys(keys, _REPORTED)
        if value.keys() != set(keys):
            self.fail("Object has missing or unknown fields.", place, _keys(value, keys))
        return {key: value.get(key, _REPORTED) for key in keys}

    def array(self, value: object, place: str, *, least: int = 0, most: int) -> list[object]:
        """Return an array of `least` to `most` items."""
        if isinstance(value, _Reported):
            return []
        if isinstance(value, list) and least <= len(value) <= most:
            return value
        self.fail("Array length is outside bounds.", place, _given(f"{least} to {most:,} items", value))
        return []

    def version(self, value: object, place: str, version: int = 1) -> None:
        """Require the schema version that is read here."""
        if not isinstance(value, _Reported) and (isinstance(value, bool) or value != version):
            self.fail("Unsupported schema version.", place, _given(str(version), value))

    def identifier(self, value: object, place: str) -> str:
        """Return a simple lower-case identifier of at most 64 characters."""
        return self._matches(value, _ID, "Expected a simple lowercase ID.", place, "a letter, then a-z, 0-9 and -")

    def digest(self, value: object, place: str) -> str:
        """Return a SHA-256 digest in lower-case hexadecimal."""
        return self._matches(value, _HASH, "Expected a SHA-256 digest.", place, "64 digits of 0-9 and a-f")

    def text(self, value: object, place: str, most: int) -> str:
        """Return text: not blank, no control characters but tab and line ends, at most `most` UTF-8 bytes."""
        if isinstance(value, _Reported):
            return ""
        if is_text(value, most):
            return str(value)
        self.fail("Expected bounded nonblank text.", place, _given(f"text of at most {most:,} bytes", value))
        return ""

    def optional_text(self, value: object, place: str, most: int) -> str | None:
        """Return text as of `text`, or None for null."""
        return None if value is None else self.text(value, place, most)

    def relative(self, value: object, place: str) -> str:
        """Return a portable path below a folder: at most 512 bytes, 16 parts, each of letters, digits and ``._ -``."""
        if isinstance(value, str) and len(value) <= 512 and _RELATIVE.fullmatch(value) and not value.isspace():
            return value
        found = self.text(value, place, 512)
        if found and not is_relative(found):
            message = "Paths must be portable relative paths without traversal."
            self.fail(message, place, _given("parts of A-Z, a-z, 0-9, dots, _, - and blanks", value))
        return found

    def integer(self, value: object, place: str, least: int, most: int) -> int:
        """Return a number whose value is an integer between `least` and `most`."""
        if isinstance(value, _Reported):
            return least
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value // 1:
            found = int(value)
            if least <= found <= most:
                return found
        self.fail("Expected an integer within bounds.", place, _given(f"{least:,} to {most:,}", value))
        return least

    def optional_integer(self, value: object, place: str, least: int, most: int) -> int | None:
        """Return an integer as of `integer`, or None for null."""
        return None if value is None else self.integer(value, place, least, most)

    def boolean(self, value: object, place: str) -> bool:
        """Return true or false."""
        if not isinstance(value, (bool, _Reported)):
            self.fail("Expected a boolean.", place, _given("true or false", value))
        return value is True

    def choice(self, value: object, choices: Sequence[T], place: str) -> T:
        """Return one of some words."""
        for known in choices:
            if value == known:
                return known
        if not isinstance(value, _Reported):
            self.fail("Unknown enumerated value.", place, _given(" or ".join(choices), value))
        return choices[0]

    def unique(self, values: Iterable[str], what: str, place: str) -> None:
        """Require that no value is there twice. `what` names them: ``case IDs``. An empty one was noted already."""
        seen: set[str] = set()
        for value in values:
            if value and value in seen:
                self.fail(f"Duplicate {what}.", place, f"{quoted(value)} once")
                return
            seen.add(value)

    def _matches(self, value: object, pattern: re.Pattern[str], message: str, place: str, expected: str) -> str:
        if isinstance(value, _Reported):
            return ""
        if isinstance(value, str) and pattern.fullmatch(value):
            return value
        self.fail(message, place, _given(expected, value))
        return ""


def is_text(value: object, most: int) -> bool:
    """Tell whether `value` is text as of `Check.text`."""
    return (
        isinstance(value, str)
        and value.strip(WHITE_SPACE) != ""
        and (value.isascii() or not SURROGATE.search(value))
        and not _CONTROL.search(value)
        and (len(value) if value.isascii() else len(value.encode())) <= most
    )


def is_relative(path: str) -> bool:
    """Tell whether a text is a path as of `Check.relative`, its length aside."""
    return _RELATIVE.fullmatch(path) is not None


def _keys(value: dict[str, object], keys: Sequence[str]) -> str:
    """Return which keys are missing and which unknown, with the nearest right one."""
    from ..suggest import closest  # which not every reading needs

    said = [f"no {quoted(key)}" for key in keys if key not in value]
    missing = [key for key in keys if key not in value]
    for key in [key for key in value if key not in keys][:5]:
        near = closest(key, missing)
        said.append(f"{quoted(key)} is unknown" + (f', did you mean "{near}"?' if near else ""))
    return f"exactly {', '.join(keys)}; {'; '.join(said)}"


def _given(expected: str, value: object) -> str:
    """Return what was expected and what is there, briefly."""
    if isinstance(value, str):
        size = len(value.encode("utf-8", "surrogatepass"))
        return f"{expected}; there is {quoted(value)}" if size <= 100 else f"{expected}; there are {size:,} bytes"
    if isinstance(value, list):
        return f"{expected}; there are {len(value):,}"
    if isinstance(value, dict):
        return f"{expected}; there is an object"
    return f"{expected}; there is {json.dumps(value)}"
