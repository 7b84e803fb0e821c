"""What the user probably meant: the nearest known word, and a legal name made of an illegal one.

Core: pure functions over text, used by every reader of authored input and by the command line.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Collection, Iterable

SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,127}\Z")


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the member of `known` that `word` is most likely a slip for, None where nothing is near."""
    by_folded = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(word.casefold()[:200], by_folded, n=1, cutoff=0.6)
    return by_folded[near[0]] if near else None


def slug(name: str, taken: Collection[str] = ()) -> str:
    """Return a name of the form ``[a-z0-9][a-z0-9-]*`` that is like `name` and not among `taken`.

    A name without a single Latin letter or digit becomes ``case``. Numbered from 2 where the plain form is taken.
    """
    latin = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    base = re.sub(r"[^a-z0-9]+", "-", latin).strip("-")[:100].rstrip("-") or "case"
    candidate, number = base, 2
    while candidate in taken:
        candidate, number = f"{base}-{number}", number + 1
    return candidate


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that puts ``case-2`` before ``case-10``, total over all text."""
    parts = re.split(r"([0-9]+)", name)
    return (*((1, int(p), p) if i % 2 else (0, 0, p) for i, p in enumerate(parts)),)
