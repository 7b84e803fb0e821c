"""What a judge does: open its packet, and give the authored answer, turned to the order in which the two are shown."""

from __future__ import annotations

import json

from checks.host.players import Move

from .roles import JudgePart


def moves(part: JudgePart) -> list[Move]:
    """Return a judge's two moves."""
    return [
        Move(calls=(("Read", {"file_path": str(part.brief)}),)),
        Move(text=json.dumps(answer(part), ensure_ascii=False)),
    ]


def answer(part: JudgePart) -> dict[str, object]:
    """Return the answer in the form that the packet asks for. A quote stays with the text that it is taken from."""
    said, new = part.said, part.new_is
    other = "B" if new == "A" else "A"
    letters = {"new": new, "other": other, "tie": "TIE"}
    criteria = []
    for at, (better, because, quote_new, quote_other) in enumerate(said.criteria, 1):
        quotes = {new: quote_new, other: quote_other}
        criteria.append(
            {
                "criterion": at,
                "better": letters[better],
                "because": _shown(because, new, other),
                "quote_a": quotes["A"],
                "quote_b": quotes["B"],
            }
        )
    return {
        "winner": letters[said.win],
        "strength": said.strength,
        "criteria": criteria,
        "rationale": _shown(said.why, new, other),
    }


def _shown(text: str, new: str, other: str) -> str:
    return text.replace("{N}", new).replace("{O}", other)
