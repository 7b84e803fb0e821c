"""Generate ``pytest_skillbench/prices.json`` from the development dependency ``genai-prices``.

Run as ``python checks/generate_prices.py [--date YYYY-MM-DD]``; the date is the day of the generation (today, UTC).
Taken are the token prices of Anthropic, OpenAI and Google, with their dates, their context tiers and their fast mode.
The same version of ``genai-prices`` and the same date give the same bytes.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from genai_prices.data import providers

from pytest_skillbench.prices import PriceTable, load, normalise

TARGET = Path(__file__).parents[1] / "pytest_skillbench" / "prices.json"
PROVIDERS = ("anthropic", "openai", "google")  # of one model at two of them, the first
FAST = ({"speed": "fast"}, {"service_tier": "fast"})  # how the providers call it
BEGINNING = datetime.date.min


def source() -> str:
    """Return the name and version of what the prices are taken from."""
    return f"genai-prices {importlib.metadata.version('genai-prices')}"


def generate(date: str) -> bytes:
    """Return the file, dated. Raises ValueError where a price can't be expressed, so that none is lost unseen."""
    models: dict[str, list[dict[str, Any]]] = {}
    for provider_id in PROVIDERS:
        provider = next(p for p in providers if p.id == provider_id)
        for model in provider.models:
            name = normalise(model.id)
            if name not in models and (periods := list(_periods(model))):
                models[name] = periods
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(models[name])}" for name in sorted(models))
    head = json.dumps({"schema_version": 1, "date": date, "source": source()})[1:-1]
    data = f'{{{head}, "models": {{\n{lines}\n}}}}\n'.encode()
    _check_names(load(data))
    return data


def _periods(model: Any) -> Iterator[dict[str, Any]]:
    """Yield a model's prices from each day on which one of them changes; none for a model that is not paid by token."""
    variants = [v for v in model.price_variants or () if v.when in FAST]
    days = {BEGINNING} | {_start(v) for v in variants}
    if isinstance(model.prices, list):
        days |= {_start(price) for price in model.prices}
    before: dict[str, Any] | None = None
    for day in sorted(days):
        moment = datetime.datetime.combine(max(day, datetime.date(2000, 1, 1)), datetime.time(12), datetime.UTC)
        standard = _ladder(model.get_prices(moment))
        if standard is None:
            continue
        period: dict[str, Any] = {"standard": standard}
        for when in FAST:
            if any(v.when == when and _start(v) <= day for v in variants):
                period["fast"] = _ladder(model.get_prices(moment, when))
                break
        if period != before:
            yield ({} if before is None else {"since": day.isoformat()}) | period
        before = period


def _start(dated: Any) -> datetime.date:
    """Return the day from which a price holds."""
    if dated.constraint is None:
        return BEGINNING
    start = dated.constraint.start_date  # AttributeError for a price by the hour: none of these providers has one
    if not isinstance(start, datetime.date):
        raise ValueError(f"a price with an unknown condition: {dated}")
    return start


def _ladder(price: Any) -> dict[str, Any] | None:
    """Return a price as rates by context size. What has no price of its own is billed as its kind is upstream."""
    if price.input_mtok is None or price.output_mtok is None:
        return None
    steps = {0}
    for field in (price.input_mtok, price.output_mtok, price.cache_read_mtok, price.cache_write_mtok):
        steps |= {tier.start for tier in getattr(field, "tiers", ())}

    def at(name: str, step: int) -> Decimal | None:
        value: Any = getattr(price, name)
        if value is None or isinstance(value, Decimal):
            return value
        return next((Decimal(tier.price) for tier in reversed(value.tiers) if tier.start <= step), Decimal(value.base))

    def rates(step: int) -> dict[str, Any]:
        plain, output = at("input_mtok", step), at("output_mtok", step)
        assert plain is not None
        assert output is not None
        own_write, own_hour, own_read = (
            at(n, step) for n in ("cache_write_mtok", "cache_write_1h_mtok", "cache_read_mtok")
        )
        # An hour's cache write is twice the input price where upstream says nothing else (HOSTS section 6); tokens of a
        # cache that has no price of its own are input tokens.
        return {
            "input": _number(plain),
            "cache_write_5m": _number(plain if own_write is None else own_write),
            "cache_write_1h": _number(2 * plain if own_hour is None else own_hour),
            "cache_read": _number(plain if own_read is None else own_read),
            "output": _number(output),
        }

    tiers = [{"above": step, "rates": rates(step)} for step in sorted(steps) if step]
    return {"rates": rates(0)} | ({"tiers": tiers} if tiers else {})


def _number(price: Decimal) -> int | float:
    whole = int(price)
    number = whole if whole == price else float(price)
    if Decimal(repr(number)) != price:
        raise ValueError(f"{price} is not a float")
    return number


def _literals(clause: Any) -> Iterator[str]:
    """Yield the names that a model's matching rule spells out."""
    for nested in getattr(clause, "or_", None) or getattr(clause, "and_", None) or ():
        yield from _literals(nested)
    for attribute in ("equals", "starts_with"):
        if isinstance(value := getattr(clause, attribute, None), str):
            yield value


def _check_names(table: PriceTable) -> None:
    """Raise ValueError where a name that upstream knows has another price with us: normalising went too far."""
    for provider_id in PROVIDERS:
        provider = next(p for p in providers if p.id == provider_id)
        for model in provider.models:
            for name in _literals(model.match):
                found = provider.find_model(name)
                ours = table.price(name, None)
                if found is None or ours is None or provider_id != _first_with(name):
                    continue
                theirs = _ladder(found.get_prices(datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC)))
                mine = {
                    "rates": {
                        field: getattr(ours.standard.rates, field) for field in ours.standard.rates.__struct_fields__
                    }
                }
                if theirs is not None and theirs["rates"] != mine["rates"]:
                    raise ValueError(f"{name} is {theirs['rates']} upstream and {mine['rates']} here")


def _first_with(name: str) -> str | None:
    found: Iterable[str] = (p for p in PROVIDERS if next(q for q in providers if q.id == p).find_model(name))
    return next(iter(found), None)


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", default=datetime.datetime.now(datetime.UTC).date().isoformat())
    TARGET.write_bytes(generate(parser.parse_args().date))
    print(f"{TARGET.name}: {len(load(TARGET.read_bytes()).models)} models, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
