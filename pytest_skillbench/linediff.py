"""Two texts -> the hunks of a unified diff, in bounded time whatever the texts are.

Core: pure. What both texts begin and end with is set aside first; what lies between is compared line by line as long
as that is cheap, and else shown as removed and added as a whole.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

CONTEXT = 3
#: The most pairs of lines that are compared: the work grows with it.
_MOST_PAIRS = 4_000_000

_Opcode = tuple[str, int, int, int, int]


def hunks(old: str, new: str) -> list[str]:
    r"""Return the hunks of a unified diff with three lines of context, each line with its ``\n``; none where equal.

    Lines end at ``\n`` alone. A last line without one is followed by git's ``\ No newline at end of file``.
    """
    left, right = _lines(old), _lines(new)
    head = _common(left, right)
    tail = _common(left[head:][::-1], right[head:][::-1])
    out: list[str] = []
    for group in _groups([*_opcodes(left, right, head, tail)]):
        first, last = group[0], group[-1]
        out.append(f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n")
        for kind, a, b, c, d in group:
            if kind == "equal":
                out += _marked(" ", left[a:b])
            else:
                out += [*_marked("-", left[a:b]), *_marked("+", right[c:d])]
    return out


def _lines(text: str) -> list[str]:
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    for number, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return number
    return min(len(left), len(right))


def _opcodes(left: list[str], right: list[str], head: int, tail: int) -> Iterator[_Opcode]:
    """Yield what to do with every part of the two texts, as `difflib` does."""
    a_end, b_end = len(left) - tail, len(right) - tail
    if head:
        yield ("equal", 0, head, 0, head)
    old, new = left[head:a_end], right[head:b_end]
    if old and new and len(old) * len(new) <= _MOST_PAIRS:
        for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new).get_opcodes():
            yield (kind, a + head, b + head, c + head, d + head)
    elif old or new:
        yield ("replace", head, a_end, head, b_end)
    if tail:
        yield ("equal", a_end, len(left), b_end, len(right))


def _groups(opcodes: Sequence[_Opcode]) -> Iterator[list[_Opcode]]:
    """Yield the hunks: changes with at most `CONTEXT` equal lines around them, apart where more lie between."""
    group: list[_Opcode] = []
    for number, (kind, a, b, c, d) in enumerate(opcodes, 1):
        if kind != "equal":
            group.append((kind, a, b, c, d))
            continue
        if group:
            if b - a <= 2 * CONTEXT and number < len(opcodes):
                group.append((kind, a, b, c, d))
                continue
            group.append((kind, a, min(b, a + CONTEXT), c, min(d, c + CONTEXT)))
            yield group
        group = [(kind, max(a, b - CONTEXT), b, max(c, d - CONTEXT), d)]
    if group and any(kind != "equal" for kind, *_ in group):
        yield group


def _range(start: int, stop: int) -> str:
    """Return a hunk's range as `diff -u` writes it: 1-based, an empty one by the line before it."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line
        if not line.endswith("\n"):
            yield "\n\\ No newline at end of file\n"
