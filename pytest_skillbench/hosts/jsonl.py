r"""JSON-lines files of any size, line by line, in bounded memory, and what of them could not be read.

Gather: the lowest layer of the host readers. A line ends at the byte ``\n`` and nowhere else (a U+2028 or a U+0085
inside a string is text), so that one line is one line.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

LONGEST = 64 << 20  # twice what the API takes in one request; a longer line is passed over, so memory stays bounded
BROKEN = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)  # a ValidationError is a DecodeError
# Together they stay in the processor's nearer caches: larger ones of either kind take a fifth more time.
_BUFFER = 1 << 15  # bytes
_MANY = 16  # lines that are decoded at once
_USUAL = 1 << 20  # bytes: such a batch has no longer line, so that it is bounded as well
_BATCH = 1 << 17  # bytes of lines that are looked at one by one
_BOM = b"\xef\xbb\xbf"

T = TypeVar("T")


class Faults:
    """What could not be read, counted while `batches` runs; `first` is the 1-based number of the first such line."""

    def __init__(self) -> None:
        self.malformed = 0
        self.overlong = 0
        self.first: int | None = None

    def note(self, number: int, *, overlong: bool = False) -> None:
        """Count one line."""
        if overlong:
            self.overlong += 1
        else:
            self.malformed += 1
        if self.first is None:
            self.first = number


def batches(
    path: Path,
    decode: Callable[[bytes], T],
    rescue: Callable[[bytes], tuple[list[T], bool]],
    faults: Faults,
    longest: int = LONGEST,
) -> Iterator[list[T]]:
    """Yield the file's lines in order, decoded, some at a time; blank ones are none. Raises OSError.

    `decode` raises one of `BROKEN` for a line that is not as expected; then `rescue` returns what can be read of it,
    and whether that is all. What is not readable, or longer than `longest` bytes, is counted in `faults`.
    """
    number = 0
    usual = min(_USUAL, longest)
    with path.open("rb", buffering=_BUFFER) as file:
        lines = iter(partial(file.readline, usual + 1), b"")
        while True:
            start = file.tell()
            raw = list(islice(lines, _MANY))
            if not raw:
                return
            try:
                batch = list(map(decode, raw))
            except BROKEN:
                batch = []
            if batch and max(map(len, raw)) <= usual:
                number += len(batch)
                yield batch
            else:
                file.seek(start)
                number = yield from _one_by_one(file, number, decode, rescue, faults, longest)


def _one_by_one(
    file: BinaryIO,
    number: int,
    decode: Callable[[bytes], T],
    rescue: Callable[[bytes], tuple[list[T], bool]],
    faults: Faults,
    longest: int,
) -> Generator[list[T], None, int]:
    """Yield what the next lines say, as many as are decoded at once; return the number of the last one."""
    read = partial(file.readline, longest + 1)
    batch: list[T] = []
    size = 0
    for number, raw in enumerate(islice(iter(read, b""), _MANY), number + 1):  # noqa: B020 - it goes on from there
        if len(raw) > longest:
            while raw and raw[-1:] != b"\n":
                raw = read()  # the rest of the same line
            faults.note(number, overlong=True)
            continue
        try:
            batch.append(decode(raw))
        except BROKEN:
            if number == 1:
                raw = raw.removeprefix(_BOM)  # not part of the text
            if raw and not raw.isspace():
                found, whole = rescue(raw)
                batch += found
                if not whole:
                    faults.note(number)
        size += len(raw)
        if size > _BATCH:
            yield batch
            batch, size = [], 0
    yield batch
    return number


def first_lines(path: Path, most: int) -> list[bytes]:
    """Return the file's first lines, at most so many, without a byte-order mark. Raises OSError."""
    with path.open("rb") as file:
        found = list(islice(iter(partial(file.readline, LONGEST), b""), most))
    return [found[0].removeprefix(_BOM), *found[1:]] if found else []
