"""The freeze that a run was exported as -> what the report says of it.

Core, part of a skill's page. The figures are those of ``evidence.json``: what `compare` found at the export.
"""

from __future__ import annotations

from ..model import FrozenEvidence
from .page import Frozen
from .texts import brief
from .words import plural

_RESULTS = {
    "pass": "every critical criterion passes",
    "fail": "a critical criterion fails",
    "blocked": "some critical criteria are blocked",
    "not-run": "nothing was run",
}


def frozen(evidence: FrozenEvidence | None) -> Frozen | None:
    """Return the section on frozen evidence, None for a run that was not exported."""
    if evidence is None:
        return None
    runs = f"{evidence.runs} of {plural(evidence.expected_runs, 'run')}"
    return Frozen(
        name=brief(evidence.name, 200),
        digest=evidence.benchmark_sha256,
        runs=", ".join((runs, plural(evidence.cases, "case"), _trials(evidence))),
        result=_RESULTS[evidence.observed_treatment_result],
        comparison=evidence.comparison_status,
    )


def _trials(evidence: FrozenEvidence) -> str:
    if evidence.trials == evidence.of_trials:
        return plural(evidence.trials, "trial")
    return f"trials 1 to {evidence.trials} of {evidence.of_trials} only"
