"""An authored answer -> a blinded judgement record, with its quotes held to the outputs they are taken from."""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec

from pytest_skillbench.model import (
    ArmName,
    ArmRecord,
    CriterionJudgement,
    JudgementRecord,
    Order,
    Plan,
    Request,
    Winner,
    comparisons_of,
)

from .sessions import name, number, tokens
from .sources import Said

JUDGE_MODEL = "claude-opus-4-5-20251101"


def judgement(
    plan: Plan,
    case: str,
    said: Said,
    outputs: Mapping[tuple[str, int, ArmName], str],
    arms: Mapping[tuple[str, int, ArmName], ArmRecord],
) -> JudgementRecord:
    """Return the record of one judge's answer. Raises ValueError for a quote that is in no output."""
    comparison = next(c for c in comparisons_of(plan.shape) if c.name == said.comparison)
    stem = f"{case}.{said.trial}.{comparison.name}"
    order = order_of_seat(plan, stem, said.seat)
    common = {
        "schema_version": 1,
        "run_id": plan.run_id,
        "case": case,
        "trial": said.trial,
        "comparison": comparison.name,
        "seat": said.seat,
        "order": order,
        "detail": None,
        "attempt": 1,
    }
    new: tuple[str, int, ArmName] = (case, said.trial, "new-skill")
    other: tuple[str, int, ArmName] = (case, said.trial, comparison.opponent)
    if said.identical:
        if arms[new].output != arms[other].output or arms[new].changes != arms[other].changes:
            raise ValueError(f"{stem}: said to be identical, and is not")
        nothing: dict[str, object] = {
            "winner": None,
            "strength": None,
            "criteria": [],
            "rationale": "",
            "model": None,
            "requests": None,
        }
        return _record({**common, "status": "identical", **nothing, "usage_complete": True, "usage_notes": []})
    answer = {
        "winner": _label(said.win, order),
        "strength": said.strength,
        "criteria": [
            msgspec.to_builtins(_criterion(at, item, order, outputs[new], outputs[other], stem))
            for at, item in enumerate(said.criteria, 1)
        ],
        "rationale": _shown(said.why, order),
    }
    usage = _requests(plan, case, f"{stem}.{said.seat}", answer, outputs[new] + outputs[other])
    rest = {"model": JUDGE_MODEL, "requests": usage, "usage_complete": True, "usage_notes": []}
    return _record({**common, "status": "ok", **answer, **rest})


def _record(found: Mapping[str, object]) -> JudgementRecord:
    return msgspec.convert(found, JudgementRecord)


def order_of_seat(plan: Plan, stem: str, seat: int) -> Order:
    """Return how a seat was shown the pair: the plan's order, the other one for the second seat, either for the third."""
    first = plan.orders[stem]
    swapped: Order = "new-second" if first == "new-first" else "new-first"
    if seat == 1:
        return first
    return swapped if seat == 2 or number(f"{plan.seed} {stem} third", 0, 1) else first


def _label(who: str, order: Order) -> Winner:
    if who == "tie":
        return "TIE"
    return "A" if (who == "new") == (order == "new-first") else "B"


def _shown(text: str, order: Order) -> str:
    new, other = ("A", "B") if order == "new-first" else ("B", "A")
    return text.replace("{N}", new).replace("{O}", other)


def _criterion(
    at: int, item: tuple[str, str, str | None, str | None], order: Order, new: str, other: str, stem: str
) -> CriterionJudgement:
    better, because, quote_new, quote_other = item
    for quote, text in ((quote_new, new), (quote_other, other)):
        if quote is not None and " ".join(quote.split()) not in " ".join(text.split()):
            raise ValueError(f"{stem}: {quote!r} is not in the output")
    first, second = (quote_new, quote_other) if order == "new-first" else (quote_other, quote_new)
    return CriterionJudgement(
        criterion=at, better=_label(better, order), because=_shown(because, order), quote_a=first, quote_b=second
    )


def _requests(plan: Plan, case: str, key: str, answer: Mapping[str, object], shown: str) -> list[dict[str, object]]:
    """Return what a judge used: one response that fetches the packet, one that answers."""
    planned = next(c for c in plan.cases if c.name == case)
    packet = tokens(planned.prompt + "".join(planned.criteria) + shown) + 610
    key = f"{plan.run_id} {key} judge"
    asks = 70 + number(f"{key} asks", 0, 40)
    first = {"input": 3, "cache_write_5m": 402 + number(f"{key} w", 0, 30), "cache_read": 3118, "output": asks}
    said = tokens(json.dumps(answer)) + number(f"{key} thought", 180, 720)
    second = {"input": 5, "cache_write_5m": packet + asks, "cache_read": 3118 + first["cache_write_5m"], "output": said}
    return [
        msgspec.to_builtins(
            Request(id=f"msg_01{name(f'{key} {at}')}", model=JUDGE_MODEL, cache_write_1h=0, speed="standard", **usage)
        )
        for at, usage in enumerate((first, second))
    ]
