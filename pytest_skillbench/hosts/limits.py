"""Telling that an agent stopped because a usage limit was reached: the client says so in ordinary text.

Gather: used by the host readers on a conversation's last message.
"""

from __future__ import annotations

import re

from ..text import one_line

_LONGEST = 400  # characters: the client's sentence is short; a text about limits is longer
_SAID = re.compile(
    r"""
      \b you['’]?ve \s+ (?:hit|reached) \s+ your \s [^.\n]{0,60}? \b limit \b
    | \b limit \s+ (?:has \s+ been \s+ | was \s+)? reached \b .* (?: \b resets? \b | \| \s* \d{10} )
    | \b usage \s+ limit \s+ reached \b
    | \b out \s+ of \s+ (?:extra \s+ )? usage \b
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def usage_limit(text: str) -> str | None:
    """Return the sentence that says a usage limit was reached, on one line; None where the text is something else."""
    short = text.strip()
    return one_line(short) if len(short) <= _LONGEST and _SAID.search(short) else None
