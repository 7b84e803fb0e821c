"""Untrusted text made safe to show: control characters visible, bounded length, one line where one line is meant.

Everything that an agent, a judge or a case author wrote passes through here before it reaches a terminal, JUnit XML
or a page (where the template escapes it as well). Core: imports nothing of ours.
"""

from __future__ import annotations

import re

# C0 but tab and newline, DEL, C1, the bidirectional controls, zero-width marks, the line and paragraph separators
# (one line is one line), the byte-order mark, interlinear marks, noncharacters, lone surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb"
    "\ufffe\uffff\ud800-\udfff]"
)
_NEWLINE = re.compile(r"\r\n?")


def _mark(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)  # the Control Pictures block: ␛ for ESC
    if code == 0x7F:
        return "\u2421"
    return f"\u27e8U+{code:04X}\u27e9"


def visible(text: str) -> str:
    """Return `text` with every control or invisible character replaced by a visible stand-in.

    Newlines and tabs stay; CR LF and CR become LF. The result is valid in XML 1.0, moves no cursor and has no
    right-to-left override in it.
    """
    return _UNSAFE.sub(_mark, _NEWLINE.sub("\n", text))


def one_line(text: str, limit: int = 2000) -> str:
    """Return `visible(text)` on one line, white space folded, at most `limit` characters with ``…`` where cut."""
    folded = " ".join(visible(text).split())
    return folded if len(folded) <= limit else folded[: limit - 1] + "…"
