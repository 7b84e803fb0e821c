"""What each golden run is, beyond its sources: when, of which skill, against which version, and its narrative."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Recipe:
    """What one run is, beyond its sources. `previous` is the folder of the frozen earlier version, None for two arms."""

    skill: str
    path: str
    run_id: str
    created_at: datetime
    seed: int
    commit: str
    base_reason: str | None
    previous: Path | None
    narrative: tuple[dict[str, object], ...] = ()


RELEASE_NOTES = Recipe(
    skill="release-notes",
    path="writing/release-notes",
    run_id="20261126T091502Z-5c81d2",
    created_at=datetime(2026, 11, 26, 9, 15, 2, tzinfo=UTC),
    seed=1480327915,
    commit="7d1f0c94e2ab5836f90d4b7713ca65e80f29b14d",
    base_reason=None,
    previous=HERE / "previous" / "release-notes",
    narrative=(
        {
            "about": "headline",
            "text": "Still worth having, but one line per change leaves upgraders without the instructions they had.",
            "evidence": [
                {"value": "efficacy.net", "is": "+11"},
                {"value": "regression.net", "is": "−2"},
                {
                    "quote": "whoever moves 1500 over will wait 25 minutes between retries",
                    "from": "buried-breaking-change.1.regression",
                },
            ],
        },
        {
            "about": "buried-breaking-change",
            "text": "Lost three times for the same reason: it says where the settings went, not what to write there.",
            "evidence": [
                {"value": "cases.buried-breaking-change.regression.losses", "is": "3"},
                {
                    "quote": "neither the names of the keys nor the unit",
                    "from": "buried-breaking-change.3.regression",
                },
            ],
        },
        {
            "about": "unreleased-and-security",
            "text": "The judges are split here: it has the cleaner list, and the weaker warning.",
            "evidence": [
                {"quote": "no advice, and the notice is at the bottom", "from": "unreleased-and-security.4.efficacy"}
            ],
        },
    ),
)
DECISION_RECORD = Recipe(
    skill="decision-record",
    path="collaboration/decision-record",
    run_id="20261126T140730Z-b2e94f",
    created_at=datetime(2026, 11, 26, 14, 7, 30, tzinfo=UTC),
    seed=733091846,
    commit="7d1f0c94e2ab5836f90d4b7713ca65e80f29b14d",
    base_reason="unchanged",
    previous=None,
    narrative=(
        {
            "about": "headline",
            "text": "Earns its keep: ahead in thirteen of fifteen trials, behind in none.",
            "evidence": [{"value": "efficacy.wins", "is": "13"}, {"value": "efficacy.losses", "is": "0"}],
        },
    ),
)
RECIPES = (RELEASE_NOTES, DECISION_RECORD)
