"""Untrusted texts cut to size: a share of the page for each, whole where it fits, the quoted passages where it doesn't.

Core. Sizes are counted in bytes of the finished page (visible, HTML-escaped, UTF-8), so a text of nothing but quotation
marks or control characters cannot make the page larger than planned. The budget depends on the run alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape

from ..model import Value
from ..text import visible
from .words import whole

#: `fit` stops looking when fewer bytes than this are left.
_CLOSE = 12
#: Characters that take more than one byte on the page.
_HEAVY = re.compile("[^\\t\\n\\x20-\\x7e]|[&<>\"']")
#: The page's share of all outputs, and the least of one that is worth showing.
_OUTPUTS = 230_000
_USEFUL = 800


class Cut(Value, frozen=True):
    """A text as shown, and how many characters of it are not. `more` is "" where it is whole."""

    shown: str
    more: str


class Budget(Value, frozen=True):
    """Bytes of the page for one text of each kind; `full`: how many trials a comparison of a case shows whole.

    The others show the rationale, and link to their outputs: a stub of an output would tell nothing.
    """

    full: int
    output: int
    diff: int
    rationale: int
    because: int
    prompt: int
    authored: int
    command: int
    stderr: int
    finding: int
    files: int


def budget(*, pairs: int, parts: int, votes: int, criteria: int, cases: int, commands: int, findings: int) -> Budget:
    """Share the page out.

    `pairs` of outputs that need a look, in `parts` comparisons of cases; judges' `votes`; `criteria` judged in those
    pairs; `cases`; hard `commands`; audit `findings` and reasons.
    """
    useful = _OUTPUTS // (2 * _USEFUL)
    full = pairs if pairs <= useful else max(1, useful // parts)
    shown = min(pairs, parts * full)
    criteria = -(-criteria * shown // max(pairs, 1))
    return Budget(
        full=full,
        output=_share(_OUTPUTS, 2 * shown, 160, 12_000),
        diff=_share(40_000, 2 * shown, 60, 8_000),
        rationale=_share(110_000, votes, 100, 4_000),
        because=_share(60_000, 3 * criteria, 50, 1_200),
        prompt=_share(80_000, cases, 200, 8_000),
        authored=_share(40_000, cases, 120, 3_000),
        command=_share(30_000, commands, 80, 1_000),
        stderr=_share(20_000, 2 * commands, 60, 1_000),
        finding=_share(50_000, findings, 60, 600),
        files=_share(20_000, 2 * shown, 40, 800),
    )


def _share(total: int, parts: int, least: int, most: int) -> int:
    return max(least, min(most, total // max(parts, 1)))


def weight(text: str) -> int:
    """Return how many bytes `text` takes on the page once it is visible and escaped (an upper bound).

    The weight of a text is the sum of its characters', which is what makes `fit` quick.
    """
    return len(text) + sum(map(_extra, _HEAVY.findall(text)))


@lru_cache(maxsize=8192)
def _extra(character: str) -> int:
    """Return how many bytes more than one a character takes on the page."""
    return max(0, len(escape(visible(character)).encode("utf-8")) - 1)


def fit(text: str, allowed: int, start: int = 0, end: int | None = None) -> int:
    """Return a `stop` so that ``text[start:stop]`` weighs at most `allowed` bytes, the largest but for a few bytes."""
    end = len(text) if end is None else end
    stop = min(end, start + max(allowed, 0))  # every character weighs a byte at least
    spare, over = allowed, weight(text[start:stop])
    if over <= spare:
        return stop
    # `over` is the weight of text[start:stop], more than the `spare` bytes: step to where the average says it fits,
    # weigh that stretch alone, and go on with what is left of either side.
    while stop > start and spare > _CLOSE:
        middle = start + max(1, (stop - start) * spare // over)
        part = weight(text[start:middle])
        if part <= spare:
            start, spare, over = middle, spare - part, over - part
        elif middle - start == 1:
            break
        else:
            stop, over = middle, part
    return start


def cut(text: str, allowed: int) -> Cut:
    """Return `text`, or as much of its beginning as weighs at most `allowed` bytes, at the end of a line or a word."""
    stop = fit(text, allowed)
    if stop == len(text):
        return Cut(shown=visible(text), more="")
    stop = tidy(text, 0, stop)
    return Cut(shown=visible(text[:stop]).rstrip(), more=f"… {whole(len(text) - stop)} more characters")


def brief(text: str, allowed: int) -> str:
    """Return `text` on one line, white space folded, at most `allowed` bytes with ``…`` where cut."""
    head = text[: 8 * allowed + 256]
    folded = " ".join(visible(head).split())
    stop = fit(folded, allowed)
    if stop == len(folded) and len(head) == len(text):
        return folded
    stop = fit(folded, allowed - 3)  # the ellipsis takes three bytes itself
    return folded[: tidy(folded, 0, stop)].rstrip() + "…"


def few(items: Sequence[str], allowed: int) -> tuple[str, ...]:
    """Return the first of `items`, each on one line, that together weigh at most `allowed` bytes; count the rest."""
    shown: list[str] = []
    for item in items:
        text = brief(item, allowed)
        allowed -= weight(text)
        if shown and allowed < 0:
            break
        shown.append(text)
    left = len(items) - len(shown)
    return (*shown, f"and {whole(left)} more") if left else tuple(shown)


def tail(text: str, allowed: int) -> str:
    """Return the end of `text` that weighs at most `allowed` bytes, with ``…`` in front where cut."""
    text = text[-4 * allowed - 64 :].strip() if len(text) > 4 * allowed + 64 else text.strip()
    backwards = text[::-1]
    stop = fit(backwards, allowed)
    return visible(text if stop == len(text) else "…" + text[len(text) - stop :])


def tidy(text: str, start: int, stop: int) -> int:
    """Move a cut back to the end of a line, else of a word, where that costs at most a fifth of what is shown."""
    for mark in ("\n", " "):
        found = text.rfind(mark, stop - (stop - start) // 5, stop)
        if found > start:
            return found
    return stop
