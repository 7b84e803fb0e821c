"""Size and speed of a 50-case, 5-trial, three-arm report in which everything loses.

The bounds are the program's own: 1.5 MB and 0.3 s. Rendering has no sensible opponent to be measured against, so its
time is absolute; the ratio printed beside it is to encoding the same results model as JSON, which only reads it.
"""

from __future__ import annotations

import time

import msgspec

from checks import factory
from pytest_skillbench import report, view
from pytest_skillbench.model import ARMS, HistoryLine, SkillResult

CASES, TRIALS = 50, 5
OUTPUT = "".join(f'Line {n}: the cache reads "size" before it writes & loses an entry <{n}>.\n' for n in range(160))
RATIONALE = "B walks through an interleaving, names the line and prices its fix; A stays at a general warning. " * 12


def worst(letter: str = "L") -> SkillResult:
    """Return a run of 50 cases in which the new skill loses every trial of both comparisons."""
    strip = letter * TRIALS
    return factory.result(*(factory.case(f"case-{n}", strip, strip, rationale=RATIONALE) for n in range(CASES)))


def texts() -> factory.MemoryTexts:
    """Return the outputs and diffs of that run: twelve kilobytes each, with the passages that the judges quote."""
    outputs = {}
    diffs = {}
    for n in range(CASES):
        for trial in range(1, TRIALS + 1):
            for arm in ARMS:
                outputs[f"case-{n}", trial, arm] = OUTPUT + factory.PASSAGE[arm] + "\n" + OUTPUT[:2_000]
                diffs[f"case-{n}", trial, arm] = "+" + OUTPUT.replace("\n", "\n+")
    return factory.MemoryTexts(outputs, diffs)


def rows() -> list[tuple[str, float | None, str, str]]:
    """Return one row a measurement: name, measured, required, detail."""
    result, held = worst(), texts()
    history = (*factory.past(), factory.own_line(result))
    html = report.skill_html(view.skill_page(result, history, held, None, factory.META))  # compiles the templates
    runs = [_timed(result, history, held) for _ in range(7)]
    seconds, cpu = min(wall for wall, _ in runs), min(busy for _, busy in runs)
    started = time.perf_counter()
    for _ in range(5):
        msgspec.json.encode(result)
    encoding = (time.perf_counter() - started) / 5
    size = len(html.encode("utf-8"))
    what = f"{CASES} cases x {TRIALS} trials x 3 arms, every trial lost"
    return [
        ("report: size, MB", size / 1e6, "<= 1.5", what),
        (
            "report: time, s",
            seconds,
            "<= 0.3",
            f"{what}; {cpu:.3f} s of processor time, {seconds / encoding:.0f}x its JSON encoding",
        ),
    ]


def _timed(result: SkillResult, history: tuple[HistoryLine, ...], held: factory.MemoryTexts) -> tuple[float, float]:
    """Return seconds on the wall and of the processor: they differ where the machine is busy with something else."""
    started, busy = time.perf_counter(), time.process_time()
    report.skill_html(view.skill_page(result, history, held, None, factory.META))
    return time.perf_counter() - started, time.process_time() - busy


if __name__ == "__main__":
    for row in rows():
        print(*row, sep="\t")
