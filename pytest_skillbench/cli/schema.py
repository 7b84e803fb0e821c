"""``skillbench schema NAME``: the JSON Schema of a file format, for editors and for programs that write our files."""

from __future__ import annotations

import argparse
import json


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    from ..formats import FORMATS

    parser.add_argument("name", choices=FORMATS, metavar="NAME", help=f"one of {', '.join(FORMATS)}")


def run(args: argparse.Namespace) -> int:
    """Print the schema and return 0."""
    from ..formats import schema

    print(json.dumps(schema(args.name), indent=2))
    return 0
