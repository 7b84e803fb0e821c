r"""JSON-lines files of any size as runs of whole lines, in bounded memory.

Gather: the lowest layer of the host readers. A line ends at the byte ``\n`` and nowhere else (a U+2028 or a U+0085
inside a string is text), so that one line is one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

CHUNK = 1 << 17  # small enough to stay in a processor's cache between reading and decoding
LONGEST = 64 << 20  # twice what the API takes in one request; a longer line is passed over, so memory stays bounded
_BOM = b"\xef\xbb\xbf"
_OPEN, _CLOSE, _BREAK = b"{}\n"


class Run(NamedTuple):
    """Some whole lines: a part of what was read at once, not copied."""

    data: bytes
    begin: int
    end: int

    def __bytes__(self) -> bytes:
        return self.data[self.begin : self.end]

    @property
    def view(self) -> memoryview:
        """Return the lines for a parser."""
        return memoryview(self.data)[self.begin : self.end]

    def whole_lines(self) -> int:
        """Return the number of lines where each starts with ``{`` and ends with ``}`` and a line break, else 0.

        In such a run a line break can only stand between two values: within a value, ``}`` is never followed by ``{``,
        and a raw line break inside a string is not JSON. So where a parser finds as many values as there are lines,
        each line is exactly one value, and the whole run may be decoded at once.
        """
        data, begin, end = self
        last = end - 1
        if data[begin] != _OPEN or data[last] != _BREAK:
            return 0
        find = data.find
        count = 1
        stop = find(b"\n", begin)
        while stop != last:
            if data[stop + 1] != _OPEN or (data[stop - 1] != _CLOSE and data[stop - 2 : stop] != b"}\r"):
                return 0
            count += 1
            stop = find(b"\n", stop + 1)
        return count if data.endswith((b"}\n", b"}\r\n"), begin, end) else 0


def runs(path: Path, chunk: int = CHUNK, longest: int = LONGEST) -> Iterator[Run | None]:
    r"""Yield the file's lines, without a byte-order mark, some at a time; None for each line that is passed over.

    Every run but the last ends with ``\n``; a line longer than `longest` bytes is passed over. Raises OSError.
    """
    pending: list[bytes] = []  # the beginning of a line whose end is not read yet
    size = 0
    skipping = False
    first = True
    with path.open("rb", buffering=0) as file:
        while data := file.read(chunk):
            if first:
                data, first = data.removeprefix(_BOM), False
            begin = 0
            if pending or skipping:
                begin = data.find(b"\n") + 1
                if begin and skipping:
                    yield None
                elif begin:
                    line = b"".join((*pending, data[:begin]))
                    yield Run(line, 0, len(line))
                if begin:
                    pending, size, skipping = [], 0, False
            end = data.rfind(b"\n", begin) + 1
            if end:
                yield Run(data, begin, end)
            rest = data[max(begin, end) :]
            if rest and not skipping:
                pending.append(rest)
                size += len(rest)
                if size > longest:
                    pending, size, skipping = [], 0, True
    if skipping:
        yield None
    elif pending:
        line = b"".join(pending)
        yield Run(line, 0, len(line))


def first_lines(path: Path, most: int) -> Iterator[bytes]:
    """Yield the file's first lines, at most so many. Raises OSError."""
    return islice((raw for run in runs(path) if run for raw in bytes(run).split(b"\n")), most)
