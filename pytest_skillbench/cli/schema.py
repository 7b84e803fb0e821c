"""``skillbench schema NAME``: the JSON Schema of a file format, for editors and for programs that write our files."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..model import Record


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    known = _formats()
    parser.add_argument("name", choices=known, metavar="NAME", help=f"one of {', '.join(known)}")


def run(args: argparse.Namespace) -> int:
    """Print the schema and return 0."""
    import msgspec

    print(json.dumps(msgspec.json.schema(_formats()[args.name]), indent=2))
    return 0


def _formats() -> dict[str, type[Record]]:
    from ..formats import FORMATS
    from ..scorecard import records

    return {**FORMATS, **records.FORMATS}
