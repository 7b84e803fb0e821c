"""``skillbench quality record | inspect``: quality receipts of exact skill revisions, in and out of their store.

Face: reads the options, calls `evidence.quality`, prints. An error is one code on stderr and nothing else, so that
neither a receipt's content nor a path of this machine leaks into a log; what a code means stands in ``--help``.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..evidence.quality import Recorded
    from ..evidence.queries import Answer, Row

NOTE = (
    "Nothing was run, graded or certified: receipts are assertions and checked bytes, and a hash authenticates nobody."
)
CODES = """\
An error is one code, and nothing has been written:
  invalid_input         the event, an option, the package or the benchmark is not what is asked for: a field that is
                        missing, unknown or of another form, counts or a result that contradict each other, a package
                        digest that is not the package's, a benchmark that does not verify or does not hold it
  evidence_conflict     the event id is recorded already, with other content; a new observation takes a new id
  storage_unavailable   no receipt store at --db, or one that is damaged, foreign or can't be read or written
  query_limit_exceeded  more than 5,000 receipts match: ask for a shorter period or for less
  response_too_large    the answer is over 64 KiB: ask for fewer receipts with --limit
"""
_RECORD = f"""\
Record one event, skill.quality.recorded, at most 16,384 bytes of JSON, in an append-only store.
What it says of itself is recorded as caller_assertion. With --benchmark the whole frozen benchmark is verified first,
and method, result, coverage and artifacts are taken from it: verified_retained_benchmark. No option and no content
gives locally_observed_official_process, since no official validator is run here. The same event again changes nothing.
{NOTE}
"""
_INSPECT = f"""\
Show recorded receipts of a collection, sorted by when their events occurred. Times are UTC, as in
2026-09-01T00:00:00.000Z; --from is included, --until is not, and at most 366 days lie between them.
{NOTE}
"""
_HEADS = ("occurred at", "skill", "result", "coverage", "assurance", "package", "event")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the two commands' arguments."""
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    plain = argparse.RawDescriptionHelpFormatter
    record = commands.add_parser(
        "record", help="record one receipt", description=_RECORD, epilog=CODES, formatter_class=plain
    )
    record.add_argument("--file", required=True, metavar="F", help="the event as JSON, - for standard input")
    record.add_argument("--package-root", metavar="DIR", help="check that this package has the digest that is claimed")
    record.add_argument("--benchmark", metavar="DIR", help="verify this frozen benchmark and take the facts from it")
    inspect = commands.add_parser(
        "inspect", help="show recorded receipts", description=_INSPECT, epilog=CODES, formatter_class=plain
    )
    inspect.add_argument("--collection", required=True, metavar="S", help="whose receipts")
    inspect.add_argument("--from", required=True, metavar="T", dest="from_", help="events from this moment on")
    inspect.add_argument("--until", required=True, metavar="T", help="events before this moment")
    inspect.add_argument("--skill", metavar="S", help="of this skill only")
    inspect.add_argument("--kind", metavar="KIND", help="official_validation or behavioral_evaluation only")
    inspect.add_argument("--source-key", metavar="SHA256", help="of one source, in all its revisions")
    inspect.add_argument("--identity-key", metavar="SHA256", help="of one exact revision")
    inspect.add_argument("--limit", metavar="N", help="receipts in one answer, 1 to 100, default 20")
    inspect.add_argument("--after", metavar="CURSOR", help="go on where an answer to the same question ended")
    for command in (record, inspect):
        command.add_argument("--db", required=True, metavar="F", help="the receipt store, an SQLite file")
        command.add_argument("--json", action="store_true", help="print one line of JSON")


def run(args: argparse.Namespace) -> int:
    """Record or inspect; return 0, whatever a receipt's result is, or 2 with an error's code on stderr."""
    from ..errors import QualityError

    try:
        return _record(args) if args.action == "record" else _inspect(args)
    except QualityError as error:
        print(f"skillbench: error: {error.code}", file=sys.stderr)
        return 2


def _record(args: argparse.Namespace) -> int:
    import io

    import msgspec

    from ..evidence import quality

    recorded = quality.record(
        Path(args.db),
        args.file,
        io.BytesIO() if sys.stdin is None else sys.stdin.buffer,
        now=datetime.now(UTC),
        package_root=None if args.package_root is None else Path(args.package_root),
        benchmark=None if args.benchmark is None else Path(args.benchmark),
    )
    print(msgspec.json.encode(recorded).decode() if args.json else _said(recorded))
    return 0


def _inspect(args: argparse.Namespace) -> int:
    import msgspec

    from ..evidence import quality

    names = ("collection", "from_", "until", "skill", "kind", "source_key", "identity_key", "after")
    given: dict[str, object] = {name: getattr(args, name) for name in names}
    if args.limit is not None:
        short = args.limit.isascii() and args.limit.isdigit() and len(args.limit) < 10
        given["limit"] = int(args.limit) if short else args.limit
    answer = quality.inspect(Path(args.db), given)
    print(msgspec.json.encode(answer).decode() if args.json else "\n".join(_table(answer)))
    return 0


# -- for people --------------------------------------------------------------------------------------------------------


def _said(recorded: Recorded) -> str:
    done = "recorded" if recorded.recorded else "recorded before, unchanged"
    return (
        f"{done}: {recorded.event_id}\nassurance: {recorded.assurance}\nidentity key: {recorded.identity_key}\n{NOTE}"
    )


def _table(answer: Answer) -> list[str]:
    from ..text import one_line

    scope, kinds = answer.scope, answer.kinds
    lines = [
        one_line(f"{scope.collection}, {scope.from_} to {scope.until}"),
        f"{_counted(answer.matching_receipts, 'receipt')}: "
        f"{_counted(kinds.behavioral_evaluation, 'behavioral evaluation')}, "
        f"{_counted(kinds.official_validation, 'official validation')}",
    ]
    if answer.rows:
        cells = [_HEADS, *(_cells(row) for row in answer.rows)]
        widths = [max(len(row[column]) for row in cells) for column in range(len(_HEADS))]
        notes = ["", *(", ".join(row.receipt.payload.limitations) for row in answer.rows)]
        lines.append("")
        for row, note in zip(cells, notes, strict=True):
            lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
            if note:
                lines.append(f"    limits: {one_line(note)}")
    lines.append("")
    if answer.next_cursor is not None:
        lines.append(f"There are more. Go on with the same question and --after {answer.next_cursor}")
    return [*lines, NOTE]


def _cells(row: Row) -> tuple[str, ...]:
    from ..evidence.coverage import BehavioralCoverage
    from ..text import one_line

    receipt, payload = row.receipt, row.receipt.payload
    coverage = payload.coverage
    covered = "official validation"
    if isinstance(coverage, BehavioralCoverage):
        controlled = f"{coverage.declared_controlled_agent_pairs}/{coverage.expected_pairs} controlled pairs"
        covered = f"{controlled}, {coverage.comparison_status}"
    cells = (
        receipt.occurred_at,
        payload.skill,
        payload.result,
        covered,
        payload.assurance,
        payload.source.package_sha256[:12],
        receipt.event_id,
    )
    return tuple(one_line(cell) for cell in cells)


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
