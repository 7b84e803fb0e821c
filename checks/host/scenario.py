"""What goes wrong in a run of the lab: the switches that a test sets and `policy` reads."""

from __future__ import annotations

from typing import Literal

import msgspec

#: Names the scenario's file to the policy, which the server loads by its path.
VARIABLE = "SKILLBENCH_SCENARIO"


class Scenario(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run's faults; without any, everybody behaves.

    Counts are in order of arrival: the first `ignore_skill` with-skill arms never open their SKILL.md, the first
    `baseline_reads_skill` arms without a skill read `skill_file`, the first `judge_nonsense` judges answer `nonsense`,
    and the first `cut_arms` final answers of arms are cut in mid-stream, once each. The final answer of subagent number
    `limit_at` is `limit_text`; while number `kill_at` is about to give its own, the client is killed.

    `orchestrator`: `good`; `greedy` asks three times, with a limit of its own, before it starts what it got; `reversed`
    starts each batch back to front; `twice` starts the first batch's first job twice; `forgetful` leaves out its last.
    `options` are added to each ``skillbench next``, so that a test need not wait as long as a user would.
    `probe`: uses the skill that fits, or none, or opens its file.
    `judge`: prefers the output that found more, or whatever is shown as A.
    """

    options: str = ""
    orchestrator: Literal["good", "greedy", "reversed", "twice", "forgetful"] = "good"
    judge: Literal["more", "always-a"] = "more"
    probe: Literal["honest", "never", "opens"] = "honest"
    ignore_skill: int = 0
    baseline_reads_skill: int = 0
    skill_file: str | None = None
    judge_nonsense: int = 0
    nonsense: str = "Sure! Both look good to me."
    cut_arms: int = 0
    limit_at: int | None = None
    limit_text: str = "Claude usage limit reached. Your limit resets at 11pm (UTC)."
    kill_at: int | None = None
