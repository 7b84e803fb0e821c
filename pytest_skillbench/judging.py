"""What a blind judge answered -> a reply, or why it is malformed.

Core. How a reply is read: the whole text is one JSON object; or exactly one fenced block of it is, and nothing else in
the text looks like a second answer. Words around the one fence are let pass. Everything else is malformed and the judge
is asked again: no JSON, two answers, a key that is missing or doubled, a winner or strength that is none, a criterion
that is left out, doubled or not one of the case's. Keys that were not asked for are ignored. Nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Literal, get_args

from .model import CriterionJudgement, Value, Winner
from .text import one_line

#: A longer reply is no judgement but an output that was copied; it is malformed, and never cut to fit.
MAX_CHARACTERS = 100_000

_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ANSWER = re.compile(r"[\"']winner[\"']\s*:")
_WINNERS: tuple[str, ...] = get_args(Winner)

Strength = Literal["slight", "clear"]


class Reply(Value, frozen=True):
    """A usable judgement, still blind. `strength` None: a TIE. `criteria`: one for each of the case's, in order."""

    winner: Winner
    strength: Strength | None
    criteria: tuple[CriterionJudgement, ...]
    rationale: str


class _MalformedError(Exception):
    """Raised inside this module with the reason; never leaves it."""


def read_reply(text: str, criteria: int) -> Reply | str:
    """Read a judge's final message for a case with that many criteria; where it is malformed return the reason.

    The reason is one line that is safe to show. Unpaired surrogates in the text become U+FFFD. Never raises.
    """
    try:
        return _reply(_answer(_SURROGATE.sub("\ufffd", text)), criteria)
    except _MalformedError as why:
        return one_line(str(why), 300)
    except RecursionError:
        return "nested too deeply"


def _answer(text: str) -> dict[str, object]:
    if len(text) > MAX_CHARACTERS:
        raise _MalformedError(f"{len(text):,} characters, expected at most {MAX_CHARACTERS:,}")
    text = text.removeprefix("\ufeff").strip()
    if not text:
        raise _MalformedError("empty")
    if text[0] == "{":
        return _object(text)
    blocks, rest = _fenced(text)
    answers = [(info, body) for info, body in blocks if _ANSWER.search(body) or info.casefold().startswith("json")]
    if not answers:
        raise _MalformedError("no JSON object, neither alone nor in a fenced block")
    if len(answers) > 1 or _ANSWER.search(rest):
        raise _MalformedError("more than one answer")
    return _object(answers[0][1].strip())


def _fenced(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the fenced blocks of a text as info string and content, and what stands outside of them."""
    blocks: list[tuple[str, str]] = []
    outside: list[str] = []
    lines = iter(text.replace("\r\n", "\n").split("\n"))
    for line in lines:
        opening = _FENCE.match(line)
        if opening is None:
            outside.append(line)
        else:
            body = list(_until_closed(lines, opening["mark"]))
            blocks.append((opening["info"].strip(), "\n".join(body)))
    return blocks, "\n".join(outside)


def _until_closed(lines: Iterator[str], mark: str) -> Iterator[str]:
    closing = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*")
    for line in lines:
        if closing.fullmatch(line):
            return
        yield line
    raise _MalformedError("a fenced block that does not end")


def _object(text: str) -> dict[str, object]:
    try:
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
    except ValueError as error:
        second = re.search(r"Extra data", str(error)) and _ANSWER.search(text, getattr(error, "pos", 0))
        raise _MalformedError("more than one answer" if second else f"not one JSON object: {error}") from None
    if not isinstance(found, dict):
        raise _MalformedError("no JSON object")
    cleaned: dict[str, object] = _clean(found)  # type: ignore[assignment]  # a dict stays one
    return cleaned


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _MalformedError(f'the key "{next(key for key in keys if keys.count(key) > 1)}" twice')
    return found


def _no_number(name: str) -> object:
    raise _MalformedError(f"{name} is no JSON")


def _clean(value: object) -> object:
    """Replace the unpaired surrogates that JSON's escapes can make."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value


# -- the object --------------------------------------------------------------------------------------------------------


def _reply(found: dict[str, object], criteria: int) -> Reply:
    winner = _one_of(found, "winner", _WINNERS, "")
    strength = None if winner == "TIE" else _one_of(found, "strength", ("slight", "clear"), "")
    judged = _get(found, "criteria", "")
    if not isinstance(judged, list):
        raise _MalformedError("criteria: expected a list")
    if len(judged) > criteria:
        raise _MalformedError(f"criteria: {len(judged)} entries, the case has {criteria}")
    entries = [_criterion(entry, f"criteria[{number}].", criteria) for number, entry in enumerate(judged)]
    by_number = {entry.criterion: entry for entry in entries}
    if len(by_number) < len(entries):
        raise _MalformedError("criteria: a criterion twice")
    missing = [str(number) for number in range(1, criteria + 1) if number not in by_number]
    if missing:
        raise _MalformedError(f"criteria: nothing about {', '.join(missing[:10])}")
    return Reply(
        winner=winner,  # type: ignore[arg-type]  # `_one_of` has checked it
        strength=strength,  # type: ignore[arg-type]  # likewise
        criteria=tuple(by_number[number] for number in sorted(by_number)),
        rationale=_text(found, "rationale", ""),
    )


def _criterion(entry: object, place: str, criteria: int) -> CriterionJudgement:
    if not isinstance(entry, dict):
        raise _MalformedError(f"{place.rstrip('.')}: expected an object")
    number = _get(entry, "criterion", place)
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= criteria:
        raise _MalformedError(f"{place}criterion: {_shown(number)}, expected a number from 1 to {criteria}")
    return CriterionJudgement(
        criterion=number,
        better=_one_of(entry, "better", _WINNERS, place),  # type: ignore[arg-type]  # `_one_of` has checked it
        because=_text(entry, "because", place),
        quote_a=_quote(entry, "quote_a", place),
        quote_b=_quote(entry, "quote_b", place),
    )


def _get(found: dict[str, object], key: str, place: str) -> object:
    if key not in found:
        raise _MalformedError(f'no "{place}{key}"')
    return found[key]


def _one_of(found: dict[str, object], key: str, known: tuple[str, ...], place: str) -> str:
    value = _get(found, key, place)
    if not isinstance(value, str) or value not in known:
        raise _MalformedError(f"{place}{key}: {_shown(value)}, expected {', '.join(known)}")
    return value


def _text(found: dict[str, object], key: str, place: str) -> str:
    value = _get(found, key, place)
    if not isinstance(value, str):
        raise _MalformedError(f"{place}{key}: {_shown(value)}, expected text")
    return value


def _quote(found: dict[str, object], key: str, place: str) -> str | None:
    """Return a quote; absent, null and empty are no quote."""
    value = found.get(key)
    if value is not None and not isinstance(value, str):
        raise _MalformedError(f"{place}{key}: {_shown(value)}, expected text or null")
    return value if value and value.strip() else None


def _shown(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else "null" if value is None else repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
