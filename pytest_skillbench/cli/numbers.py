"""Numbers on the command line: read in their range or refused with what was expected, and written with their nouns."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return an argparse type: a whole number in this range."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdecimal() or not least <= int(text[:20]) <= most:
            raise argparse.ArgumentTypeError(f'"{text}" is not a whole number from {least:,} to {most:,}')
        return int(text)

    return read


def seconds(least: float, most: float = 86_400) -> Callable[[str], float]:
    """Return an argparse type: a number of seconds in this range."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f'"{text}" is not a number of seconds from {least:g} to {most:,.0f}')
        return value

    return read


def counted(number: int, what: str) -> str:
    """Return ``1 case`` or ``3 cases``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
