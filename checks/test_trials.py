"""One trial: what makes it INVALID, what makes it GATE, and how several judgements become one outcome."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_skillbench.model import (
    EFFICACY,
    REGRESSION,
    ArmRecord,
    Comparison,
    Finding,
    JudgementRecord,
    Seat,
    TrialResult,
)
from pytest_skillbench.record import ArmKey, JudgementKey, RunRecord, load
from pytest_skillbench.trials import score

from .records import CASE, write_run, write_skill

NEW: ArmKey = ("one", 1, "new-skill")
NONE: ArmKey = ("one", 1, "no-skill")
FIRST: JudgementKey = ("one", 1, "efficacy", 1)


@pytest.fixture
def record(tmp_path: Path) -> RunRecord:
    """Return a complete three-arm record of one case: efficacy WTLWW, regression TTTTW."""
    write_skill(tmp_path, "reviewing", {"one": CASE})
    write_run(tmp_path, "reviewing", {"one": ("WTLWW", "TTTTW")})
    found = load(tmp_path / "tests/.reports/reviewing.run", "reviewing.run")
    assert found is not None
    return found


def with_arm(record: RunRecord, key: Any, **changes: Any) -> RunRecord:
    """Return the record with one arm changed."""
    arm: ArmRecord = msgspec.structs.replace(record.arms[key], **changes)
    return msgspec.structs.replace(record, arms={**record.arms, key: arm})


def with_judgement(record: RunRecord, key: Any, **changes: Any) -> RunRecord:
    """Return the record with one judgement changed, or added as a copy of the first seat's."""
    base: JudgementRecord = record.judgements["one", 1, key[2], 1]
    made = msgspec.structs.replace(base, seat=key[3], **changes)
    return msgspec.structs.replace(record, judgements={**record.judgements, key: made})


def outcome(record: RunRecord, comparison: Comparison = EFFICACY, trial: int = 1) -> TrialResult:
    """Score one trial of the only case."""
    return score(record, record.plan.cases[0], trial, comparison)


def test_the_judges_are_unblinded(record: RunRecord) -> None:
    """A and B become WIN and LOSS for the new arm by the recorded order, in every trial."""
    assert [outcome(record, EFFICACY, trial).outcome for trial in range(1, 6)] == ["WIN", "TIE", "LOSS", "WIN", "WIN"]
    assert [outcome(record, REGRESSION, trial).outcome for trial in range(1, 6)] == ["TIE"] * 4 + ["WIN"]


@pytest.mark.parametrize("status", ["failed", "timed-out", "limit-hit", "missing"])
@pytest.mark.parametrize("arm", [NEW, NONE])
def test_an_arm_that_did_not_finish_is_invalid(record: RunRecord, status: str, arm: Any) -> None:
    """Infrastructure failures are neither a loss nor a win, whoever they hit."""
    found = outcome(with_arm(record, arm, status=status, output=None))
    assert found.outcome == "INVALID"
    assert found.reason is not None
    assert found.reason.startswith(f"{arm[2]} arm:")


@pytest.mark.parametrize("kind", ["contaminated", "skill-not-loaded", "model-differs"])
def test_audit_findings_make_both_comparisons_invalid(record: RunRecord, kind: str) -> None:
    """A finding on the new arm voids every pair it stands in; on the baseline only the efficacy pair."""
    audit = msgspec.structs.replace(
        record.arms[NEW].audit, findings=(Finding(kind=kind, detail="read it", evidence="Read"),)
    )
    spoilt = with_arm(record, NEW, audit=audit)
    assert outcome(spoilt, EFFICACY).outcome == outcome(spoilt, REGRESSION).outcome == "INVALID"
    assert [flag.kind for flag in outcome(spoilt).flags] == [kind]
    audit = msgspec.structs.replace(record.arms[NONE].audit, findings=audit.findings)
    spoilt = with_arm(record, NONE, audit=audit)
    assert outcome(spoilt, EFFICACY).outcome == "INVALID"
    assert outcome(spoilt, REGRESSION).outcome == "TIE"


def test_leaving_the_world_is_a_note(record: RunRecord) -> None:
    """`left-world` is shown and changes nothing."""
    audit = msgspec.structs.replace(
        record.arms[NEW].audit, findings=(Finding(kind="left-world", detail="/tmp/x", evidence="Bash"),)
    )
    found = outcome(with_arm(record, NEW, audit=audit))
    assert found.outcome == "WIN"
    assert [flag.kind for flag in found.flags] == ["left-world"]


def test_what_the_audit_says_without_a_finding_counts(record: RunRecord) -> None:
    """A with-skill arm that never opened the skill, and a baseline that did, are INVALID also without a finding."""
    unread = msgspec.structs.replace(record.arms[NEW].audit, skill_loaded=False)
    assert outcome(with_arm(record, NEW, audit=unread)).outcome == "INVALID"
    read = msgspec.structs.replace(record.arms[NONE].audit, skill_loaded=True)
    assert outcome(with_arm(record, NONE, audit=read)).outcome == "INVALID"
    unknown = msgspec.structs.replace(record.arms[NEW].audit, skill_loaded=None)
    assert outcome(with_arm(record, NEW, audit=unknown)).outcome == "WIN"


def test_different_models_void_the_pair(record: RunRecord) -> None:
    """A newer model in one arm would be measured as the skill."""
    found = outcome(with_arm(record, NONE, model="claude-other"))
    assert found.outcome == "INVALID"
    assert found.reason is not None
    assert "model differs" in found.reason


def test_a_failed_assertion_is_gate_where_no_judge_was_asked(record: RunRecord) -> None:
    """GATE needs no judge, survives a useless baseline, and never touches regression."""
    gate = tuple(msgspec.structs.replace(result, exit_code=1) for result in record.arms[NEW].gate)
    failed = with_arm(record, NEW, gate=gate)
    judged = outcome(failed)
    assert (judged.outcome, judged.gate_failed) == ("WIN", True)
    unasked = msgspec.structs.replace(
        failed, judgements={key: value for key, value in failed.judgements.items() if key != FIRST}
    )
    assert outcome(unasked).outcome == "GATE"
    assert outcome(with_arm(unasked, NONE, status="failed")).outcome == "GATE"
    assert outcome(unasked, REGRESSION).outcome == "TIE"


@pytest.mark.parametrize("change", [{"gate": ()}, {"exit_code": None}])
def test_a_gate_that_did_not_run_is_not_a_pass(record: RunRecord, change: dict[str, Any]) -> None:
    """Assertions without a result leave efficacy INVALID: nothing missing ever counts as good."""
    gate = () if "gate" in change else tuple(msgspec.structs.replace(r, **change) for r in record.arms[NEW].gate)
    spoilt = with_arm(record, NEW, gate=gate)
    assert outcome(spoilt).outcome == "INVALID"
    assert outcome(spoilt, REGRESSION).outcome == "TIE"


@pytest.mark.parametrize(
    "changes", [{"status": "malformed"}, {"status": "failed"}, {"status": "missing"}, {"winner": None}]
)
def test_a_judge_that_gave_no_answer_is_invalid(record: RunRecord, changes: dict[str, Any]) -> None:
    """A malformed or missing judgement is never a tie."""
    found = outcome(with_judgement(record, FIRST, **changes))
    assert found.outcome == "INVALID"
    assert found.reason is not None
    assert "judgement" in found.reason


def test_an_order_against_the_plan_is_invalid(record: RunRecord) -> None:
    """When the record contradicts the plan nobody knows who was A."""
    turned = "new-second" if record.judgements[FIRST].order == "new-first" else "new-first"
    assert outcome(with_judgement(record, FIRST, order=turned)).outcome == "INVALID"


def test_identical_is_a_tie_only_if_it_is_true(record: RunRecord) -> None:
    """A record that claims byte-equality for different outputs is not believed."""
    claimed = with_judgement(record, FIRST, status="identical", winner=None)
    assert outcome(claimed).outcome == "INVALID"
    same = with_arm(claimed, NONE, output=claimed.arms[NEW].output, changes=claimed.arms[NEW].changes)
    found = outcome(same)
    assert (found.outcome, found.identical) == ("TIE", True)


@pytest.mark.parametrize(
    ("panel", "expected"),
    [
        ({2: "A", 3: "A"}, "WIN"),
        ({2: "B", 3: "B"}, "LOSS"),
        ({2: "A", 3: "TIE"}, "WIN"),
        ({2: "B", 3: "TIE"}, "TIE"),
        ({2: "A"}, "WIN"),  # the third seat could not change it
        ({2: "B"}, "INVALID"),  # the third seat decides and has not answered
        ({2: "B", 3: None}, "INVALID"),
    ],
)
def test_a_panel_votes(record: RunRecord, panel: dict[Seat, str | None], expected: str) -> None:
    """Majority of three, none is a tie, an open seat that could decide leaves the trial INVALID. Seat 1 says WIN."""
    order = record.judgements[FIRST].order
    for seat, winner in panel.items():
        label = winner if order == "new-first" or winner in (None, "TIE") else "B" if winner == "A" else "A"
        record = with_judgement(record, ("one", 1, "efficacy", seat), winner=label)
    assert outcome(record).outcome == expected


def test_both_orders_must_agree(record: RunRecord) -> None:
    """Two orders that disagree are a tie marked inconsistent; a missing second order is INVALID."""
    settings = msgspec.structs.replace(record.plan.settings, judging="both-orders")
    both = msgspec.structs.replace(record, plan=msgspec.structs.replace(record.plan, settings=settings))
    assert outcome(both).outcome == "INVALID"
    first = both.judgements[FIRST]
    turned = "new-second" if first.order == "new-first" else "new-first"
    other = {"A": "B", "B": "A"}[str(first.winner)]
    agreed = with_judgement(both, ("one", 1, "efficacy", "swap"), order=turned, winner=other)
    assert (outcome(agreed).outcome, outcome(agreed).inconsistent) == ("WIN", False)
    biased = with_judgement(both, ("one", 1, "efficacy", "swap"), order=turned, winner=first.winner)
    assert (outcome(biased).outcome, outcome(biased).inconsistent) == ("TIE", True)
