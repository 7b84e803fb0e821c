"""``skillbench usage PATH…``: the tokens and the cost of any transcripts, each file's and all together.

Face: finds the files, asks their hosts, sums with `usage`, prints. No rule and no arithmetic of its own.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..errors import Problem, TranscriptError, UsageError
from ..hosts import HOSTS, Host, Reading, host_of, named, search
from ..model import Usage, Value
from ..prices import PriceTable, bundled, load
from ..suggest import closest
from ..text import one_line
from ..usage import summarize_dated

NO_HOST = "no host reads this file"
_SUMS = ("input", "cache_write_5m", "cache_write_1h", "cache_read", "output")
_HEADS = (
    "input",
    "write 5m",
    "write 1h",
    "cache read",
    "output",
    "turns",
    "calls",
    "cost-equivalent",
    "cost",
    "model",
    "file",
)
_LEFT = len(_HEADS) - 2  # model and file are words


class Counted(Value, frozen=True, kw_only=True):
    """A row: a file's sums, or those over all files. `host` None: no host reads the file, so nothing was counted."""

    path: str
    host: str | None
    usage: Usage
    turns: int
    api_calls: int


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    names = ", ".join(host.name for host in HOSTS)
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a transcript, or a folder that is searched for them")
    parser.add_argument("--host", metavar="NAME", help=f"read every file as this host's: {names}")
    parser.add_argument("--prices", metavar="FILE", help="a price file; its models replace those of the built-in table")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Count and print. Raises UsageError, TranscriptError (nothing can be read) and FormatError (the price file)."""
    host = _host(args.host)
    table = bundled()
    if args.prices is not None:
        table = table.merged(load(Path(args.prices).read_bytes(), args.prices))
    files = _files([Path(path) for path in args.paths])
    rows, total = count(files, table, host)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a file's name may hold what this terminal can't show
    if args.json:
        print(json.dumps(_document(rows, total, table), indent=2))
    else:
        print("\n".join(_table(rows, total, table)))
        _hint(files)
    return 0


def count(files: Sequence[Path], table: PriceTable, host: Host | None = None) -> tuple[list[Counted], Counted]:
    """Return each file's row and the one over all files, de-duplicated. `host`: read every file as this host's.

    Raises TranscriptError where no file is a transcript that can be read.
    """
    by_host: dict[str, tuple[Host, list[Path]]] = {}
    rows: dict[Path, Counted] = {}
    for path in files:
        note = NO_HOST
        try:
            found = host or host_of(path)
            path.open("rb").close()
        except OSError as error:
            found, note = None, f"can't be read: {error.strerror or error}"
        if found is None:
            nothing = summarize_dated((), table, complete=False, notes=[note])
            rows[path] = Counted(path=str(path), host=None, usage=nothing, turns=0, api_calls=0)
        else:
            by_host.setdefault(found.name, (found, []))[1].append(path)
    if not by_host:
        raise TranscriptError(
            *(Problem(path=str(path), slug="transcript", what=row.usage.notes[0]) for path, row in rows.items())
        )
    unread = [f"{one_line(path.name)}: {row.usage.notes[0]}" for path, row in rows.items()]
    readings: list[Reading] = []
    for each, paths in by_host.values():
        reading = each.read(paths)
        readings.append(reading)
        for path, transcript in zip(paths, reading.transcripts, strict=True):
            usage = summarize_dated(
                zip(transcript.requests, transcript.dates, strict=True),
                table,
                complete=transcript.complete,
                notes=transcript.notes,
            )
            rows[path] = Counted(
                path=str(path), host=each.name, usage=usage, turns=transcript.turns, api_calls=transcript.api_calls
            )
    ordered = [rows[path] for path in files]
    # Of a single file, the total is what the file says; it need not be summed again.
    total = msgspec.structs.replace(ordered[0], path="total") if len(files) == 1 else _total(readings, unread, table)
    return ordered, total


def _total(readings: Sequence[Reading], unread: Sequence[str], table: PriceTable) -> Counted:
    usage = summarize_dated(
        (dated for reading in readings for dated in zip(reading.requests, reading.dates, strict=True)),
        table,
        complete=not unread and all(reading.complete for reading in readings),
        notes=[note for reading in readings for note in reading.notes] + list(unread),
    )
    return Counted(
        path="total",
        host=None,
        usage=usage,
        turns=sum(reading.turns for reading in readings),
        api_calls=sum(reading.api_calls for reading in readings),
    )


# -- what was asked for ------------------------------------------------------------------------------------------------


def _host(name: str | None) -> Host | None:
    if name is None:
        return None
    host = named(name)
    if host is None:
        known = [host.name for host in HOSTS]
        raise UsageError(
            Problem(
                path="--host",
                slug="unknown-host",
                what=f'"{name}" is no host',
                expected=" or ".join(known),
                suggestion=closest(name, known),
            )
        )
    return host


def _files(paths: Sequence[Path]) -> list[Path]:
    """Return the files to read: given ones as they are, folders searched; each once, however it is reached."""
    found: dict[object, Path] = {}
    problems: list[Problem] = []
    for path in paths:
        if path.is_dir():
            inside = list(search(path))
            if not inside:
                problems.append(Problem(path=str(path), slug="no-transcript", what="no transcript in this folder"))
        elif path.is_file():
            inside = [path]
        else:
            what = "neither a file nor a folder" if path.exists() else "no such file or folder"
            problems.append(Problem(path=str(path), slug="missing-path", what=what))
            continue
        for file in inside:
            try:
                status = file.stat()
                found.setdefault((status.st_dev, status.st_ino), file)
            except OSError:
                found.setdefault(file, file)  # `count` says why it can't be read
    if problems:
        raise UsageError(*problems)
    return list(found.values())


def _hint(files: Sequence[Path]) -> None:
    """Say on stderr where a session's subagents have files of their own that were not given."""
    given = {Path(os.path.realpath(file)) for file in files}
    for file in files:
        beside = file.with_suffix("")
        left = [p for p in search(beside) if Path(os.path.realpath(p)) not in given] if beside.is_dir() else []
        if left:
            which = f"{len(left)} transcript{'s' * (len(left) != 1)} of its subagents"
            print(
                f"skillbench: note: {one_line(str(file))}: {which} in {one_line(str(beside))} not counted",
                file=sys.stderr,
            )


# -- what is shown -----------------------------------------------------------------------------------------------------


def _sums(row: Counted) -> dict[str, Any]:
    return {
        **{name: getattr(row.usage, name) for name in _SUMS},
        "turns": row.turns,
        "api_calls": row.api_calls,
        "complete": row.usage.complete,
        "notes": list(row.usage.notes),
        "cost_equivalent_tokens": row.usage.cost_equivalent_tokens,
        "cost_usd": row.usage.cost_usd,
    }


def _document(rows: Sequence[Counted], total: Counted, table: PriceTable) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "files": [{"path": row.path, "host": row.host, "model": row.usage.model, **_sums(row)} for row in rows],
        "total": _sums(total),
        "price_table": table.date,
    }


def _table(rows: Sequence[Counted], total: Counted, table: PriceTable) -> list[str]:
    cells = [_HEADS, *(_cells(row) for row in rows), _cells(total)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADS) - 1)]
    lines = [
        "  ".join(
            [
                cell.ljust(width) if at >= _LEFT else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(line, widths, strict=False))
            ]
            + [line[-1]]
        ).rstrip()
        for line in cells
    ]
    lines.insert(1, "-" * max(map(len, lines)))
    lines.insert(-1, lines[1])
    for row in [*rows, total]:
        if row.usage.notes:
            lines += ["", f"{one_line(row.path)}: {'a lower bound (≥)' if not row.usage.complete else 'note'}:"]
            lines += [f"  {one_line(note)}" for note in row.usage.notes]
    lines.append("")
    if total.usage.classic_weights:
        lines.append(
            "~ a model is unpriced: its row's tokens are weighted 1 / 1.25 / 2 / 0.1 / 5 (input, writes, read, output)"
        )
    lines.append(
        f"Cost-equivalent: in uncached input tokens of the row's main model. Prices of {one_line(table.date)}."
    )
    return lines


def _cells(row: Counted) -> tuple[str, ...]:
    usage = row.usage
    bound = "" if usage.complete else "≥"
    known = usage.api_calls > 0
    figures = [*(getattr(usage, name) for name in _SUMS), row.turns, row.api_calls]
    equivalent = f"{bound}{'~' * usage.classic_weights}{usage.cost_equivalent_tokens:,.0f}"
    return (
        *(f"{bound}{figure:,}" for figure in figures),
        equivalent if known or usage.complete else "—",
        ("unpriced" if known else "—") if usage.cost_usd is None else f"{bound}${usage.cost_usd:,.4f}",
        one_line(usage.model or "—", 60),
        one_line(row.path),
    )
