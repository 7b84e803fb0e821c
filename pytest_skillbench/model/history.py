"""What is kept of a run: one history line (FORMATS section 4).

Core: pure data, no behaviour but what can be read off a record itself.
"""

from .base import Count, Record, RunId, Sha256, Shape, Time, TrialNumber, Verdict
from .recorded import VERSION_1


class HistoryVerdict(Record, frozen=True):
    """One comparison's part of a history line."""

    net: int
    wins: Count
    ties: Count
    losses: Count
    invalid: Count
    cases_passed: Count
    verdict: Verdict


class HistoryCost(
    Record,
    frozen=True,
    rename={"new_skill": "new-skill", "previous_version": "previous-version", "no_skill": "no-skill"},
):
    """Cost-equivalent tokens of each arm, summed over its trials; None: unknown, or no such arm."""

    new_skill: float | None
    previous_version: float | None
    no_skill: float | None


class HistoryLine(Record, frozen=True):
    """One line of ``<skill>.history.jsonl``: one run."""

    schema_version: VERSION_1
    run_id: RunId
    at: Time
    shape: Shape
    base_commit: str | None
    skill_sha256: Sha256
    suite_sha256: Sha256
    cases: Count
    trials: TrialNumber
    efficacy: HistoryVerdict
    regression: HistoryVerdict | None
    cost_equivalent_tokens: HistoryCost
