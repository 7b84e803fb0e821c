"""How a subagent ended, in a scorecard's words, and what it answered when it was asked which skill it would use.

Core: pure. A refusal is known by the client's own mark, or by a short final message that begins with one of the usual
sentences; whatever else a model says is an answer, also that something could not be found or done.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence

from ..model import Value
from ..observed import Observed
from ..text import one_line
from .records import Status

_LONGEST = 600  # characters: a refusal is short; a longer text that begins like one goes on to help
_WORDS = 300
_REFUSAL = re.compile(
    r"""(?: (?:i['’]?m\s|i\sam\s)? (?:so\s|very\s|really\s)? sorry [\s,.!:;—–-]* (?:but\s)? )?
    i(?:\s|['’]m\s) (?:
        (?: can['’]t | cannot | can\snot | won['’]t | will\snot | (?:am\s)?(?:unable|not\sable|not\sgoing)\sto
          | (?:must|have\sto|need\sto)\sdecline\sto | decline\sto )
        \s (?:help|assist|comply) (?:\syou)? (?:\swith\s(?:that|this|it|your|the|such))? (?:\s(?:request|task)s?)?
      | (?:must|have\sto|need\sto) \s decline (?:\s(?:this|that|your|the)(?:\srequest|\stask)?)?
    ) \s* (?:[.!;:,—–]|\Z)""",
    re.IGNORECASE | re.VERBOSE,
)
_OTHER = re.compile(
    r"(?:(?:很|非常)?抱歉|对不起)?[\s,.!,。!]*我(?:无法|不能|不会)(?:为[您你])?(?:提供)?(?:帮助|协助)(?:[您你])?"
    r"(?:处理|完成)?(?:[这该]个?请求)?[。!.!,,]",
)
_FENCED = re.compile(r"\s*(?:```(?:json)?[ \t]*\n)?\s*(\{.*\})\s*(?:\n```)?\s*", re.DOTALL)


class Choice(Value, frozen=True):
    """What a subagent said that it would use: the name of a skill, None for none of those on offer."""

    skill: str | None


def ending(seen: Observed) -> tuple[Status, str | None]:
    """Return how a subagent that has settled ended, and why in words; None for an answer.

    ``failed`` is the client's own failure: what the subagent would have answered is not known.
    """
    text = seen.final_text.strip()
    if seen.refused:
        return "refused", one_line(seen.failed or text or "declined", _WORDS)
    if seen.failed is not None and text:
        return "failed", one_line(seen.failed, _WORDS)
    if not text:
        return "error", one_line(seen.failed or "no final message", _WORDS)
    if is_refusal(text):
        return "refused", one_line(text, _WORDS)
    return "answered", None


def is_refusal(text: str) -> bool:
    """Return whether a final message declines its task in one of the usual ways."""
    text = " ".join(text.split())
    return len(text) <= _LONGEST and bool(_REFUSAL.match(text) or _OTHER.match(unicodedata.normalize("NFKC", text)))


def choice(text: str, names: Sequence[str]) -> Choice | str:
    """Read the answer to the question which of the skills with these names would be used; else why it is none.

    The whole text is one JSON object, perhaps in one fence, with the one key ``skill``: one of the names, letter by
    letter, or null.
    """
    match = _FENCED.fullmatch(text.removeprefix("\ufeff"))
    if match is None:
        return "not one JSON object and nothing else"
    try:
        found = json.loads(match[1], object_pairs_hook=list)
    except (ValueError, RecursionError) as error:
        return one_line(f"not one JSON object: {error}", _WORDS)
    if not isinstance(found, list) or [pair[0] for pair in found] != ["skill"]:
        return 'not an object with the one key "skill"'
    value = found[0][1]
    if value is None:
        return Choice(skill=None)
    if not isinstance(value, str) or value not in names:
        return one_line(f"{json.dumps(value)[:100]} is none of the skills on offer", _WORDS)
    return Choice(skill=value)
