"""The token figures of one model call in a Claude Code transcript: their maxima over its lines, and their record.

Gather: pure arithmetic below `claude_ledger`. Nulls are 0. A figure that is negative, too large for a token count or no
whole number counts as 0 and makes the call `bad`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..model import Request
from .claude_shapes import UNREADABLE, CacheParts, Figures, Iteration, Usage

UNKNOWN_MODEL = "unknown"
_LARGEST = 2**63 - 1  # what most readers of JSON can carry, and far more than any context


def request(name: str, model: str | None, figures: Figures) -> Request | None:
    """Return a model call as a record, None where some figure is no number of tokens. Runs once a response."""
    plain, cached = figures.input_tokens or 0, figures.cache_read_input_tokens or 0
    aggregate, output = figures.cache_creation_input_tokens or 0, figures.output_tokens or 0
    parts = figures.cache_creation
    five = hour = 0
    if parts is not None:
        five, hour = parts.ephemeral_5m_input_tokens or 0, parts.ephemeral_1h_input_tokens or 0
    # Of all bits at once: the sign, or one too high, is set exactly if some figure has it set.
    if not 0 <= (plain | cached | aggregate | output | five | hour) <= _LARGEST:
        return None
    return Request(
        id=name,
        model=model or UNKNOWN_MODEL,
        input=plain,
        # In all, the aggregate or its parts, whichever says more; what no part accounts for is at the 5-minute rate.
        cache_write_5m=aggregate - hour if aggregate - hour > five else five,
        cache_write_1h=hour,
        cache_read=cached,
        output=output,
        speed="fast" if figures.speed == "fast" else "standard",
    )


def cleaned(name: str, model: str | None, figures: Figures) -> Request:
    """Return a model call as a record, with every figure that is no number of tokens as 0."""
    parts = figures.cache_creation or CacheParts()
    five, hour = _tokens(parts.ephemeral_5m_input_tokens), _tokens(parts.ephemeral_1h_input_tokens)
    return Request(
        id=name,
        model=model or UNKNOWN_MODEL,
        input=_tokens(figures.input_tokens),
        cache_write_5m=max(five, _tokens(figures.cache_creation_input_tokens) - hour),
        cache_write_1h=hour,
        cache_read=_tokens(figures.cache_read_input_tokens),
        output=_tokens(figures.output_tokens),
        speed="fast" if figures.speed == "fast" else "standard",
    )


def context(figures: Figures) -> tuple[int, int, int]:
    """Return the input triple: uncached input, cache writes, cache reads."""
    call = cleaned("", None, figures)
    return call.input, call.cache_write_5m + call.cache_write_1h, call.cache_read


def inner(name: str, model: str | None, usage: Usage) -> Iterator[tuple[Request, bool]]:
    """Yield the model calls that a response made on its way, each with whether its figures were all numbers of tokens.

    They are an advisor's, with its own model, or a compaction's.
    """
    for kind, number, iteration in _numbered(usage):
        own = iteration.model or (UNKNOWN_MODEL if kind.startswith("advisor") else model)
        call = f"{name}#{kind}-{number}"
        found = request(call, own, iteration)
        yield found or cleaned(call, own, iteration), found is not None


def raise_to(mine: Usage, other: Usage) -> None:
    """Raise each figure of `mine` to the other's where that is larger; calls inside are matched by kind and order."""
    _raise(mine, other)
    if other.iterations:
        have = {(kind, number): iteration for kind, number, iteration in _numbered(mine)}
        for kind, number, iteration in _numbered(other):
            found = have.setdefault((kind, number), iteration)
            if found is not iteration:
                _raise(found, iteration)
                found.model = max(found.model or "", iteration.model or "") or None
        untyped = [i for usage in (mine, other) for i in usage.iterations or () if i.type is None][:1]
        mine.iterations = [*have.values(), *untyped]


def untyped(usage: Usage) -> bool:
    """Return whether an iteration does not say what it is, so that it can't be told whether it is counted already."""
    return any(iteration.type is None for iteration in usage.iterations or ())


def _numbered(usage: Usage) -> Iterator[tuple[str, int, Iteration]]:
    counts: Counter[str] = Counter()
    for iteration in usage.iterations or ():
        kind = iteration.type
        if kind is not None and kind != "message":  # the messages are what the usage itself counts
            counts[kind] += 1
            yield kind, counts[kind], iteration


def _raise(mine: Figures, other: Figures) -> None:
    mine.input_tokens = _larger(mine.input_tokens, other.input_tokens)
    mine.cache_creation_input_tokens = _larger(mine.cache_creation_input_tokens, other.cache_creation_input_tokens)
    mine.cache_read_input_tokens = _larger(mine.cache_read_input_tokens, other.cache_read_input_tokens)
    mine.output_tokens = _larger(mine.output_tokens, other.output_tokens)
    if other.speed == "fast":
        mine.speed = "fast"
    theirs = other.cache_creation
    if theirs is not None:
        parts = mine.cache_creation or CacheParts()
        mine.cache_creation = CacheParts(
            _larger(parts.ephemeral_5m_input_tokens, theirs.ephemeral_5m_input_tokens),
            _larger(parts.ephemeral_1h_input_tokens, theirs.ephemeral_1h_input_tokens),
        )


def _larger(mine: int | None, other: int | None) -> int | None:
    """Return the larger figure; one that can't be meant stays only where there is no other."""
    if mine is None or other is None:
        return other if mine is None else mine
    return max(value if value <= _LARGEST else UNREADABLE for value in (mine, other))


def _tokens(value: int | None) -> int:
    return value if value is not None and 0 <= value <= _LARGEST else 0
