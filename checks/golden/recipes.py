"""What each golden run is, beyond its sources: of which skill, against which version, when, and its narrative."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


@dataclass(frozen=True)
class Recipe:
    """One run. `previous` is the folder of the released version, None where the skill is as it was released.

    `created_at` is the time that the record and its transcripts are moved to, so that the demo does not grow old;
    `narrative` are the sentences that the agent writes, as in ``narrative.json``.
    """

    skill: str
    path: str
    created_at: datetime
    previous: Path | None
    narrative: tuple[dict[str, object], ...] = ()

    @property
    def working(self) -> Path:
        """Return the folder of the skill as it is now."""
        return ROOT / "skills" / self.path


RELEASE_NOTES = Recipe(
    skill="release-notes",
    path="writing/release-notes",
    created_at=datetime(2026, 11, 26, 9, 15, 2, tzinfo=UTC),
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
    created_at=datetime(2026, 11, 26, 14, 7, 30, tzinfo=UTC),
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
