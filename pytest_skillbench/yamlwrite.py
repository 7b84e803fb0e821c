"""Values -> YAML that any reader takes for just those values: keys in their order, numbers as they are spelled.

Core: the writer beside `yamlread`. Texts that YAML 1.1 or 1.2 might take for anything else are quoted; no anchors, no
tags, no line is ever folded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

Plain: TypeAlias = "bool | int | Decimal | str | Sequence[Plain] | Mapping[str, Plain] | None"

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
# What YAML does not allow as it stands, or what an editor takes for a line break, and JSON leaves alone.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WIDEST = 100


def dump(value: Mapping[str, Plain]) -> str:
    """Return a mapping as a YAML document: blocks for what is nested, one line for a list or a mapping of scalars."""
    return "".join(f"{line}\n" for line in _block(value)) or "{}\n"


def scalar(value: Plain) -> str:
    """Return one scalar, or a list or mapping of scalars, on one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"no number of ours is {value}")
        return f"{value:f}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(key)}: {scalar(item)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(scalar(item) for item in value) + "]"


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.casefold() not in _WORDS:
        return text
    quoted = json.dumps(_SURROGATE.sub("\ufffd", text), ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _is_flat(value: Plain) -> bool:
    """Tell whether a value goes on one line: a scalar, or a collection that holds nothing but scalars."""
    if isinstance(value, Mapping):
        return not value
    if isinstance(value, Sequence) and not isinstance(value, str):
        flat = not any(isinstance(item, (Mapping, Sequence)) and not isinstance(item, str) for item in value)
        return flat and len(scalar(value)) <= _WIDEST
    return True


def _block(value: Plain) -> list[str]:
    lines: list[str] = []
    if isinstance(value, Mapping):
        for key, item in value.items():
            if _is_flat(item):
                lines.append(f"{_text(key)}: {scalar(item)}")
            else:
                lines += [f"{_text(key)}:", *(f"  {line}" for line in _block(item))]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            inner = [scalar(item)] if _is_flat(item) or _is_row(item) else _block(item)
            lines += [f"- {inner[0]}", *(f"  {line}" for line in inner[1:])]
    return lines


def _is_row(value: Plain) -> bool:
    """Tell whether an item of a list is a mapping of scalars and lists of them: one line, as in a table."""
    return isinstance(value, Mapping) and all(
        not isinstance(item, Mapping)
        and (isinstance(item, str) or not isinstance(item, Sequence) or all(isinstance(i, str) for i in item))
        for item in value.values()
    )
