"""Numbers and names as every face writes them: one way to spell a net margin, a price, a date, a share.

Core, first stop of the view: everything a reader sees as a figure is made here, so that the narrative can be checked
against exactly what the page shows.
"""

from __future__ import annotations

from urllib.parse import quote

from ..model import ArmName, ComparisonName, Outcome, Usage, Verdict
from ..text import one_line

#: U+2212, as wide as a plus in tabular figures.
MINUS = "\u2212"
UNKNOWN = "\u2014"
UNPRICED = "unpriced"
LOWER_BOUND = "\u2265 "

_NUMERALS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_HOSTS = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "opencode": "OpenCode",
    "gemini": "Gemini CLI",
    "manual": "by hand",
}

ARM_SHORT: dict[ArmName, str] = {"new-skill": "new", "previous-version": "previous", "no-skill": "no-skill"}
ARM_SPOKEN: dict[ArmName, str] = {
    "new-skill": "the new skill",
    "previous-version": "the previous version",
    "no-skill": "no skill",
}
OUTCOME_LETTER: dict[Outcome, str] = {"WIN": "W", "TIE": "T", "LOSS": "L", "GATE": "✕", "INVALID": "?"}
OUTCOME_WORD: dict[Outcome, str] = {
    "WIN": "win",
    "TIE": "tie",
    "LOSS": "loss",
    "GATE": "not judged, a hard assertion failed",
    "INVALID": "invalid, not scored",
}
VERDICT_WORD: dict[Verdict, str] = {
    "pass": "Pass",
    "fail": "Fail",
    "incomplete": "Incomplete",
    "not-applicable": "n/a",
}
COMPARISON_TITLE: dict[ComparisonName, str] = {"efficacy": "Efficacy", "regression": "Regression"}


def numeral(number: int) -> str:
    """Return a small count in words, ``no`` to ``ten``, larger ones in figures."""
    return _NUMERALS[number] if 0 <= number < len(_NUMERALS) else whole(number)


def plural(number: int, noun: str, many: str | None = None) -> str:
    """Return ``1 loss`` or ``3 losses``."""
    return f"{whole(number)} {noun if number == 1 else many or noun + 's'}"


def capital(text: str) -> str:
    """Return `text` with its first letter in upper case and the rest as it was."""
    return text[:1].upper() + text[1:]


def whole(number: float) -> str:
    """Return a count with thousands separators."""
    return f"{number:,.0f}".replace("-", MINUS)


def signed(net: int) -> str:
    """Return a net margin: ``+12``, ``0`` or ``−3``."""
    return f"+{net:,}" if net > 0 else f"{net:,}".replace("-", MINUS)


def dollars(amount: float) -> str:
    """Return dollars with as many places as say something: ``$4.22``, ``$0.0031``, and ``<$0.0001`` for the rest."""
    if amount >= 0.1 or amount == 0:
        return f"${amount:,.2f}"
    return f"${amount:.4f}" if amount >= 0.0001 else "<$0.0001"


def times(ratio: float | None) -> str:
    """Return a ratio as ``1.48×``; unknown is a dash."""
    if ratio is None:
        return UNKNOWN
    return f"{ratio:,.2f}×" if ratio >= 0.01 or ratio == 0 else "<0.01×"


def percent(share: float) -> str:
    """Return a share of 1 as a percentage; never 0% or 100% for what is neither."""
    points = share * 100
    if 0 < points < 0.01:
        return "<0.01%"
    if 0 < points < 1:
        return f"{points:.2f}%"
    if 99.5 <= points < 100:
        return f"{points:.2f}%" if points < 99.995 else ">99.99%"
    return f"{points:.0f}%"


def counts(wins: int, ties: int, losses: int, gates: int = 0, invalid: int = 0) -> str:
    """Return ``3W 1T 1L``, with ``2✕`` and ``1?`` behind where there are any."""
    text = f"{wins}W {ties}T {losses}L"
    if gates:
        text += f" {gates}✕"
    return f"{text} {invalid}?" if invalid else text


def byte_count(number: int) -> str:
    """Return a file size for reading: ``812 B``, ``3.4 kB``, ``5.2 MB``."""
    if number < 1000:
        return f"{number} B"
    return f"{number / 1000:.1f} kB" if number < 1_000_000 else f"{number / 1_000_000:.1f} MB"


def seconds(milliseconds: int) -> str:
    """Return a duration for reading: ``0.8 s``, ``42 s``, ``3 min 5 s``."""
    if milliseconds < 10_000:
        return f"{milliseconds / 1000:.1f} s"
    total = round(milliseconds / 1000)
    return f"{total} s" if total < 120 else f"{total // 60} min {total % 60} s"


def day(time: str) -> str:
    """Return ``14 Oct`` of ``2026-10-14T09:42:00Z``; what is no such time is returned as one line of text."""
    try:
        return f"{int(time[8:10])} {_MONTHS[int(time[5:7]) - 1]}"
    except (ValueError, IndexError):
        return one_line(time, 20)


def moment(time: str) -> str:
    """Return ``14 Oct 2026, 09:42 UTC`` of ``2026-10-14T09:42:00Z``."""
    return f"{day(time)} {one_line(time[:4])}, {one_line(time[11:16])} UTC"


def short_moment(time: str) -> str:
    """Return ``14 Oct 09:42`` of ``2026-10-14T09:42:00Z``."""
    return f"{day(time)} {one_line(time[11:16])}"


def host(name: str) -> str:
    """Return an agent client's own spelling of its name."""
    return _HOSTS.get(name, one_line(name, 60))


def readable(kind: str) -> str:
    """Return a finding's kind in words: ``skill-not-loaded`` becomes ``skill not loaded``."""
    return one_line(kind, 60).replace("-", " ")


def encoded(path: str) -> str:
    """Return a relative path as a link: percent-encoded by segment, so that no name can become a scheme or a query."""
    try:
        return quote(path, safe="/", errors="surrogateescape")
    except UnicodeEncodeError:
        return quote(path, safe="/", errors="surrogatepass")


def tokens(usage: Usage | None, *, partial: bool = False) -> str:
    """Return cost-equivalent tokens: a dash where unknown, ``≥`` where `partial` or incomplete."""
    if usage is None:
        return UNKNOWN
    return bound(usage, partial) + whole(usage.cost_equivalent_tokens)


def price(usage: Usage | None, *, partial: bool = False) -> str:
    """Return imputed dollars: a dash where usage is unknown, ``unpriced`` where a model has no price, never $0."""
    if usage is None:
        return UNKNOWN
    return UNPRICED if usage.cost_usd is None else bound(usage, partial) + dollars(usage.cost_usd)


def bound(usage: Usage, partial: bool) -> str:
    """Return the mark of a lower bound, or nothing."""
    return LOWER_BOUND if partial or not usage.complete else ""
