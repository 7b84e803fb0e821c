"""The names by which files, records and nodes know a case: slugs that are unique and do not depend on any order.

Core: texts in, slugs and finished cases out.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping

import msgspec

from ..model import Value
from ..suggest import slug
from .cases import Draft, Lost
from .records import Category, Context, EvalCase

_LONGEST = 60


class LostCase(Value, frozen=True):
    """A document that can't be used: its id in rows, its place ``<file>:<line>``, its category or None."""

    id: str
    place: str
    category: Category | None


def slugs(texts: Mapping[str, str]) -> dict[str, str]:
    """Return a slug, ``[a-z0-9][a-z0-9-]*``, of each text, by its key: unique, and the same in any order of them.

    A text whose plain slug says nothing of it (no Latin letter or digit) or is another's as well gets some digits of
    its key's digest behind it; of those that share one, a text that is that slug itself keeps it.
    """
    plain = {key: slug(text)[:_LONGEST].rstrip("-") for key, text in texts.items()}
    counts = Counter(plain.values())
    taken = {short for short, count in counts.items() if count == 1}
    found: dict[str, str] = {}
    for key in sorted(plain, key=lambda key: (plain[key] != texts[key], key)):
        short, text = plain[key], texts[key]
        mute = short == "case" and text.casefold() != "case"
        if (counts[short] == 1 and not mute) or (text == short and short not in taken):
            found[key] = short
        else:
            digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
            length = next(n for n in range(4, 65) if f"{short}-{digest[:n]}" not in taken)
            found[key] = f"{short}-{digest[:length]}"
        taken.add(found[key])
    return found


def finish(draft: Draft, file: str, file_slug: str, name_slug: str, skill: str, context: Context) -> EvalCase:
    """Return a draft as a case of the skill of this name, in the file with this path.

    `context`: the draft's, with the digests of its files.
    """
    content = msgspec.json.encode((draft.category, draft.input, context, draft.expected), order="deterministic")
    return EvalCase(
        id=f"{file_slug}--{name_slug}",
        file=file,
        line=draft.line,
        name=draft.name,
        slug=name_slug,
        skill=skill,
        category=draft.category,
        input=draft.input,
        context=context,
        expected=draft.expected,
        tags=draft.tags,
        sha256=hashlib.sha256(content).hexdigest(),
    )


def lost_case(file: str, file_slug: str, lost: Lost) -> LostCase:
    """Return a document that can't be used, of the file with this path. No case's id has two hyphens twice."""
    return LostCase(id=f"{file_slug}--line-{lost.line}--unusable", place=f"{file}:{lost.line}", category=lost.category)
