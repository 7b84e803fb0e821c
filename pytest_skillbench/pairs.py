"""Two arm records of one trial -> may this pair be compared at all, and why not.

Core. The scoring of a recorded run and the planning of the next jobs both ask here, so that no judge is ever asked
about a pair that would not count, and no pair counts that a judge was not to be asked about.
"""

from __future__ import annotations

from .model import NEW_ARM, ArmName, ArmRecord, Comparison, PlannedCase, Value
from .record import RunRecord, arm_stem

#: Audit findings that make every pair of the arm INVALID; all other kinds are notes (FORMATS section 2).
INVALIDATING = {
    "contaminated": "contaminated",
    "skill-not-loaded": "skill not loaded",
    "model-differs": "model differs",
}


class Pair(Value, frozen=True):
    """The two arms of one trial in one comparison.

    `problem`: why the trial is INVALID before a judge is asked, else None. `gate_failed`: a hard assertion failed on a
    usable new-skill arm, in a gated comparison; no judge is asked then either. `new` and `other` are records as they
    are, usable or not.
    """

    new: ArmRecord | None
    other: ArmRecord | None
    problem: str | None
    gate_failed: bool

    @property
    def same(self) -> bool:
        """Return whether both final messages and both worlds' changes are byte-equal, so that no judge is needed.

        A change whose content is not known (too large, not readable) is equal to nothing.
        """
        return (
            self.new is not None
            and self.other is not None
            and self.new.output == self.other.output
            and self.new.changes == self.other.changes
            and all(change.sha256 is not None or change.change == "deleted" for change in self.new.changes)
        )


def pair(record: RunRecord, case: PlannedCase, trial: int, comparison: Comparison) -> Pair:
    """Look at one pair, in FORMATS section 3's order: the new arm, its gate, the other arm, the models."""
    new = record.arms.get((case.name, trial, NEW_ARM))
    other = record.arms.get((case.name, trial, comparison.opponent))
    problem = arm_problem(record, case.name, trial, NEW_ARM)
    if new is None or problem is not None:
        return Pair(new=new, other=other, problem=f"{NEW_ARM} arm: {problem}", gate_failed=False)
    failed = comparison.gated and gate_failed(new, case)
    open_gate = gate_problem(new, case) if comparison.gated and not failed else None
    if open_gate is not None:
        problem = f"{NEW_ARM} arm: {open_gate}"
    elif (found := arm_problem(record, case.name, trial, comparison.opponent)) is not None:
        problem = f"{comparison.opponent} arm: {found}"
    elif other is not None and None not in (new.model, other.model) and new.model != other.model:
        problem = f"model differs: {new.model} for {NEW_ARM}, {other.model} for {comparison.opponent}"
    return Pair(new=new, other=other, problem=problem, gate_failed=failed)


def arm_problem(record: RunRecord, case: str, trial: int, arm: ArmName) -> str | None:
    """Return why an arm's trial is not usable, None where it is. A sentence without the arm's name and a full stop."""
    unusable = record.unusable.get(arm_stem(case, trial, arm))
    found = record.arms.get((case, trial, arm))
    if found is None:
        return unusable or "has not run"
    if found.status != "ok":
        words = {
            "timed-out": "timed out",
            "limit-hit": "hit a usage limit",
            "missing": "is missing",
            "failed": "failed",
        }
        return words[found.status] + (f": {found.detail}" if found.detail else "")
    if unusable is not None:
        return unusable
    if found.output is None:
        return "finished without a final message"
    for finding in found.audit.findings:
        if finding.kind in INVALIDATING:
            return f"{INVALIDATING[finding.kind]}: {finding.detail}"
    if arm != "no-skill" and found.audit.skill_loaded is False:
        return "skill not loaded: SKILL.md was never opened"
    if arm == "no-skill" and found.audit.skill_loaded:
        return "contaminated: the baseline opened the skill"
    return None


def gate_failed(arm: ArmRecord, case: PlannedCase) -> bool:
    """Return whether a hard assertion failed on this arm."""
    return any(
        result.timed_out or result.exit_code not in (0, None)
        for result in arm.gate
        if result.assertion < len(case.assertions)
    )


def gate_problem(arm: ArmRecord, case: PlannedCase) -> str | None:
    """Return why the hard assertions can't be called passed or failed as a whole, None where they can."""
    ended = {r.assertion for r in arm.gate if r.timed_out or r.exit_code is not None}
    open_ = [index for index in range(len(case.assertions)) if index not in ended]
    if not open_:
        return None
    if not arm.gate:
        return "the hard assertions were not run"
    return f"hard assertion {open_[0] + 1} of {len(case.assertions)} was not run to an end"
