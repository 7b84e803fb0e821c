"""What is shown of an arm's output: all of it where it fits, else its beginning and the passages that a judge quoted.

Core. A gap says how many characters it leaves out; positions are found in linear time, whatever the text is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..model import Value
from ..text import visible
from .texts import fit, tidy, weight
from .words import whole

#: Texts longer than this are searched for a passage only up to here where white space has to be folded.
FOLD_WINDOW = 200_000
GAP = "… {} characters left out …"


class Piece(Value, frozen=True):
    """A stretch of an excerpt. `anchor` and `numbers` are a marked passage's; a gap's text says what it leaves out."""

    kind: Literal["text", "mark", "gap"]
    text: str
    numbers: str = ""
    anchor: str = ""


class Passage(Value, frozen=True):
    """A quote that a judge gave, with its number on the page and the anchor of its mark."""

    number: int
    quote: str
    anchor: str


class Excerpt(Value, frozen=True):
    """What is shown of a text. `anchors`: passage number -> its mark; `more`: what is missing at the text's end."""

    pieces: tuple[Piece, ...]
    anchors: dict[int, str]
    more: str


def excerpt(text: str, passages: Sequence[Passage], allowed: int) -> Excerpt:
    """Return what to show of `text` within `allowed` bytes, with the `passages` that stand in it marked.

    The whole text where it fits; else its beginning and each passage with some of what is around it.
    """
    spans = _spans(text, passages)
    whole_text = len(text) <= allowed and weight(text) <= allowed
    windows = [(0, len(text))] if whole_text else _windows(text, spans, allowed)
    pieces: list[Piece] = []
    at = 0
    for start, stop in windows:
        if start > at:
            pieces.append(Piece(kind="gap", text=GAP.format(whole(start - at))))
        pieces += _pieces(text, start, stop, spans)
        at = stop
    anchors = {int(n): p.anchor for p in pieces if p.kind == "mark" for n in p.numbers.split(", ")}
    left = len(text) - at
    return Excerpt(pieces=tuple(pieces), anchors=anchors, more=f"… {whole(left)} more characters" if left else "")


class _Span(Value, frozen=True):
    start: int
    stop: int
    passages: tuple[Passage, ...]


def _spans(text: str, passages: Sequence[Passage]) -> list[_Span]:
    """Locate the passages; those that overlap share one mark."""
    found = sorted((place[0], place[1], p.number, p) for p in passages if (place := locate(text, p.quote)) is not None)
    spans: list[_Span] = []
    for start, stop, _, passage in found:
        if spans and start < spans[-1].stop:
            last = spans.pop()
            spans.append(_Span(start=last.start, stop=max(stop, last.stop), passages=(*last.passages, passage)))
        else:
            spans.append(_Span(start=start, stop=stop, passages=(passage,)))
    return spans


def locate(text: str, quote: str) -> tuple[int, int] | None:
    """Return where `quote` stands in `text`, white space folded on both sides; None where it doesn't, or is empty."""
    quote = quote.strip()
    if not quote:
        return None
    at = text.find(quote)
    if at >= 0:
        return at, at + len(quote)
    text = text[:FOLD_WINDOW]
    needle = " ".join(quote.split())
    folded = " ".join(text.split())
    at = folded.find(needle)
    if at < 0:
        return None
    return _unfolded(text, folded, at, at + len(needle))


def _unfolded(text: str, folded: str, start: int, stop: int) -> tuple[int, int]:
    """Map two positions of ``" ".join(text.split())`` back to `text`, in one walk over its words."""
    place = 0  # where the next word starts in `folded`
    source = 0
    first = None
    for word in folded.split(" "):
        source = text.index(word, source)
        if first is None and start < place + len(word):
            first = source + start - place
        if stop <= place + len(word):
            return first or 0, source + stop - place
        place += len(word) + 1
        source += len(word)
    raise AssertionError("a position inside the folded text is inside one of its words")


def _windows(text: str, spans: Sequence[_Span], allowed: int) -> list[tuple[int, int]]:
    """Choose what to show: the head, and each passage with its surroundings; at most `allowed` bytes in all."""
    if not spans:
        return [(0, tidy(text, 0, fit(text, allowed)))]
    each = (allowed * 2 // 3) // len(spans)
    windows: list[tuple[int, int]] = [(0, fit(text, allowed - each * len(spans)))]
    for span in spans:
        stop = fit(text, each, span.start, span.stop)
        spare = max(0, each - weight(text[span.start : stop]))
        if stop < span.stop or not spare:
            windows.append((span.start, stop))
            continue
        after = fit(text, spare // 2, span.stop)
        before = fit(text[: span.start][::-1][: spare // 2], spare // 2)
        windows.append((span.start - before, after))
    return _merged(windows)


def _merged(windows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(windows):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        elif stop > start:
            merged.append((start, stop))
    return merged


def _pieces(text: str, start: int, stop: int, spans: Sequence[_Span]) -> list[Piece]:
    """Return ``text[start:stop]`` as pieces, plain and marked by turns."""
    pieces: list[Piece] = []
    at = start
    for span in spans:
        first, last = max(span.start, at), min(span.stop, stop)
        if first >= last:
            continue
        if first > at:
            pieces.append(Piece(kind="text", text=visible(text[at:first])))
        pieces.append(
            Piece(
                kind="mark",
                text=visible(text[first:last]),
                numbers=", ".join(str(p.number) for p in span.passages),
                anchor=span.passages[0].anchor,
            )
        )
        at = last
    if at < stop:
        pieces.append(Piece(kind="text", text=visible(text[at:stop])))
    return pieces
