"""Prices: the right one for a model, a day, a context and a speed, or none; names exact once normalised."""

from __future__ import annotations

import importlib.metadata
import json
import re
from pathlib import Path
from typing import Any

import pytest

import pytest_skillbench
from pytest_skillbench.errors import FormatError
from pytest_skillbench.prices import bundled, load, normalise

FILE = Path(pytest_skillbench.__file__).with_name("prices.json")
RATES = {"input": 1, "cache_write_5m": 1.25, "cache_write_1h": 2, "cache_read": 0.1, "output": 5}
TIER = {"above": 9, "rates": RATES}
PERIOD = {"standard": {"rates": RATES}}


def file(**models: Any) -> bytes:
    """Return a price file of these models."""
    return json.dumps({"schema_version": 1, "date": "2027-01-02", "models": models}).encode()


def rates(model: str, at: str | None = None, context: int = 0) -> tuple[float, ...] | None:
    """Return a model's five rates in the built-in table, None if unpriced."""
    price = bundled().price(model, at)
    found = None if price is None else price.rates(context)
    if found is None:
        return None
    return found.input, found.cache_write_5m, found.cache_write_1h, found.cache_read, found.output


def test_the_table_is_generated_from_its_source() -> None:
    """Where the very version is installed that the file names, generating gives the file, byte for byte."""
    head = json.loads(FILE.read_bytes())
    try:
        installed = f"genai-prices {importlib.metadata.version('genai-prices')}"
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("genai-prices is not installed: it is a development dependency of the group `prices`")
    if installed != head["source"]:
        pytest.skip(f"{installed} is installed; the table is of {head['source']}")
    from . import generate_prices

    assert generate_prices.generate(head["date"]) == FILE.read_bytes()


def test_known_prices_are_in_the_table() -> None:
    """A few that anybody can check: plain, dated, tiered, fast, without a price of their own for an hour."""
    assert rates("claude-opus-4-5") == (5, 6.25, 10, 0.5, 25)
    assert rates("claude-opus-5-5") == (4, 5, 8, 0.2, 20), "its cache reads are at 0.05 of the input, not at 0.1"
    assert rates("claude-opus-4-6", "2026-03-12", 200_001) == (10, 12.5, 20, 1, 37.5)
    assert rates("claude-opus-4-6", "2026-03-12", 200_000) == (5, 6.25, 10, 0.5, 25)
    assert rates("claude-opus-4-6", "2026-03-13", 200_001) == (5, 6.25, 10, 0.5, 25)
    assert rates("claude-sonnet-4-5", None, 200_001) == (6, 7.5, 12, 0.6, 22.5)
    assert rates("gemini-2.5-flash") == (0.3, 0.3, 0.6, 0.03, 2.5)
    assert rates("o3", "2025-06-09") == (10, 10, 20, 0.5, 40)
    assert rates("o3", "2025-06-10") == (2, 2, 4, 0.5, 8)
    fast = bundled().price("claude-opus-5-5", None)
    assert fast is not None
    assert [getattr(fast.rates(0, "fast"), name) for name in ("input", "output")] == [8, 40]
    slow = bundled().price("claude-haiku-4-5", None)
    assert slow is not None
    assert slow.rates(0, "fast") is None, "a model without a fast price has none, not its standard one"


def test_the_table_is_dated_and_whole() -> None:
    """Every model of the three providers that is paid by token, each with a price today; the file stays small."""
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", bundled().date)
    names = set(bundled().models)
    assert {name.split("-")[0] for name in names} >= {"claude", "gpt", "gemini", "o3"}
    assert all(normalise(name) == name for name in names)
    assert all(bundled().price(name, "2026-11-30") for name in names)
    assert FILE.stat().st_size < 60_000


@pytest.mark.parametrize(
    "name",
    [
        "claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "claude-sonnet-4.5", "claude-4-5-sonnet",
        "Claude-Sonnet-4-5",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "apac.anthropic.claude-sonnet-4-5-20250929-v1:0", "global.anthropic.claude-sonnet-4-5-20250929-v1:0:200k",
        "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5@20250929", "claude-sonnet-4-5@default",
        "anthropic/claude-sonnet-4.5", "openrouter/anthropic/claude-sonnet-4.5", "claude-sonnet-4-5[1m]",
        "publishers/anthropic/models/claude-sonnet-4-5", "claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5-latest",
        "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ],
)  # fmt: skip
def test_what_providers_put_around_a_name_is_taken_away(name: str) -> None:
    """One model under the names of the API, Bedrock, Vertex, OpenRouter and the client."""
    assert rates(name) == (3, 3.75, 6, 0.3, 15)


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("claude-3-5-haiku-20241022", "claude-3-5-haiku-latest"),
        ("claude-opus-4-20250514", "claude-opus-4-0"),
        ("claude-3-5-sonnet-v2@20241022", "claude-3-5-sonnet"),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("openai/gpt-5", "gpt-5"),
        ("google/gemini-2.5-pro", "gemini-2.5-pro"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
    ],
)
def test_dates_and_old_spellings_name_the_same_model(name: str, like: str) -> None:
    """The date a model was published on is no part of its price."""
    assert rates(name) is not None
    assert rates(name) == rates(like)


def test_a_date_that_has_a_price_of_its_own_keeps_it() -> None:
    """``gpt-4o-2024-05-13`` costs twice what ``gpt-4o`` does."""
    assert (rates("gpt-4o-2024-05-13") or [0])[0] == 5
    assert (rates("gpt-4o-2024-11-20") or [0])[0] == 2.5


@pytest.mark.parametrize(
    "name",
    [
        "", "claude", "claude-opus", "claude-opus-9", "claude-opus-5-5-turbo", "my-claude-opus-5", "gpt-5-nanoo",
        "claude-opus-5:free", "<synthetic>", "unknown", "sonnet", "gemini-pro-latest", "claude-sonnet-4-5-2025",
        "\ud800",
    ],
)  # fmt: skip
def test_an_unknown_name_is_unpriced(name: str) -> None:
    """Exact or nothing: a name that only looks like a known one may be ten times as dear."""
    assert bundled().price(name, None) is None


def test_a_users_file_replaces_models_and_says_so() -> None:
    """A model's prices are replaced as a whole, others stay, new ones come, and the date names both tables."""
    mine = load(file(**{"Claude-Opus-5": [PERIOD], "house": [{**PERIOD, "since": "2026-01-01"}]}))
    merged = bundled().merged(mine)
    assert merged.date == f"{bundled().date}, amended 2027-01-02"
    opus, house = merged.price("claude-opus-5-20260401", None), merged.price("house", "2026-01-01T00:00:00Z")
    assert opus is not None
    assert house is not None
    assert opus.rates(0) == house.rates(10**6)
    assert opus.fast is None
    assert merged.price("house", "2025-12-31") is None, "before its first day a price is unknown"
    assert merged.price("claude-haiku-4-5", None) == bundled().price("claude-haiku-4-5", None)
    assert "house" not in bundled().models


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not JSON"),
        (b"[]", "Expected"),
        (b"{}", "schema_version"),
        (file(x=[]), "models"),
        (file(x=[{"standard": {"rates": {**RATES, "output": -1}}}]), "output"),
        (file(x=[{"standard": {"rates": {**RATES, "ouput": 1}}}]), "ouput"),
        (file(x=[{"standard": {"rates": {"input": 1, "output": 5}}}]), "cache_"),
        (file(x=[{**PERIOD, "since": "soon"}]), "since"),
        (file(x=[{**PERIOD, "since": "2026-02-01"}, {**PERIOD, "since": "2026-01-01"}]), "in the order of their days"),
        (file(x=[PERIOD, PERIOD]), "in the order of their days"),
        (file(x=[{"standard": {"rates": RATES, "tiers": [TIER, TIER]}}]), "in the order of their sizes"),
        (file(**{"claude-opus-5": [PERIOD], "CLAUDE-OPUS-5[1m]": [PERIOD]}), "the same model"),
        (file(**{"[1m]": [PERIOD]}), "no name of a model"),
        (file().replace(b'"models"', b'"date": "2027-01-02", "models"'), "duplicate"),
        (b"\xff", "UTF-8"),
    ],
)  # fmt: skip
def test_a_price_file_is_closed(data: bytes, says: str) -> None:
    """What is wrong is named with its file and its place; nothing wrong is a price."""
    with pytest.raises(FormatError, match=re.escape(says)) as caught:
        load(data, "my.json")
    assert all(problem.path == "my.json" for problem in caught.value.problems)
