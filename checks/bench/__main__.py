"""``make bench``: every benchmark's ratios, measured side by side in this run, as one table.

Absolute times prove nothing on a shared machine; ratios of things measured in turns do. Each ``bench_*`` module
has ``rows()``: name, measured, required (``"<= 1.5"``), and a detail. A row that could not be measured has None.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path


def main(chosen: list[str]) -> int:
    """Run the benchmarks whose names hold one of `chosen` (all for none) and print the table; 1 where one is missed."""
    missed = 0
    print(f"{'what':<58} {'measured':>10} {'required':>10}   detail")
    for module in sorted(found.name for found in pkgutil.iter_modules([str(Path(__file__).parent)])):
        if not module.startswith("bench_") or (chosen and not any(word in module for word in chosen)):
            continue
        for name, measured, required, detail in importlib.import_module(f"checks.bench.{module}").rows():
            relation, bound = required.split()
            good = measured is None or (measured <= float(bound) if relation == "<=" else measured >= float(bound))
            missed += not good
            shown = "-" if measured is None else f"{measured:.2f}"
            print(f"{name:<58} {shown:>10} {required:>10}   {'' if good else 'MISSED  '}{detail}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
