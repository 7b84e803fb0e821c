"""The whole product in the real client: ``/benchmark-skill`` from start to report, and what goes wrong on the way.

The model is scripted (`players`), the rest is real: client, subagents, program, worlds, git, gate, transcripts, report.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checks.repos import Repo
from pytest_skillbench import install, project, scoring, tree
from pytest_skillbench.model import ArmRecord, JudgementRecord, Request, SkillResult
from pytest_skillbench.record import RunRecord, load

from .lab import Lab, Outcome
from .scenario import Scenario

SKILL = "skills/review/tidy/SKILL.md"
BIN = Path(sys.executable).parent
CASE = """\
---
description: Finds what is wrong
---
## Prompt
Please look at notes.txt, put what you find into review.md, and tell me how much it is.

## Hard assertions
```sh
# the review was written
test -s "$WORLD/review.md"
grep -q 'I found' "$OUTPUT"
```

## Soft criteria
- Finds everything that is wrong.
- Says how much it is.
"""


def skill(points: int) -> str:
    """Return a skill that makes an arm find so many things."""
    return f"---\nname: tidy\ndescription: Reviews notes.\n---\nLook closely.\npoints: {points}\n"


class Bench:
    """A user's repository in the lab: the skill ``tidy``, one case, the runner skill installed and committed."""

    def __init__(self, lab: Lab, *, trials: int = 2, released: str | None = None, working: str | None = None) -> None:
        self.lab = lab
        self.repo = Repo(lab.work)
        self.repo.git("init", "-q", "-b", "main")
        install.install(lab.work, "claude")
        self.repo.write("tests/review/tidy/one/case.md", CASE)
        self.repo.write("tests/review/tidy/one/fixture/notes.txt", "a note\n")
        self.repo.write("tests/skillbench.yaml", f"trials: {trials}\n")
        self.repo.write(".gitignore", "tests/.reports/\n")
        self.repo.write(".claude/settings.json", '{"includeGitInstructions": false}\n')
        if released is not None:
            self.repo.write(SKILL, released)
        self.repo.commit("released")
        if working is not None:
            self.repo.write(SKILL, working)

    def run(self, scenario: Scenario | None = None, **options: Any) -> Outcome:
        """Type ``/benchmark-skill tidy`` in the default permission mode and wait for the end."""
        return self.lab.run(
            "-p", "/benchmark-skill tidy", "--output-format", "json", scenario=scenario, path=[BIN], **options
        )

    @property
    def record(self) -> RunRecord:
        """Return the run's record."""
        found = load(self.lab.work / "tests/.reports/tidy.run", "tidy.run")
        assert found is not None
        return found

    def result(self) -> SkillResult:
        """Return what scoring makes of the record."""
        found = tree.discover(project.find(self.lab.work))
        (entry,) = found.select(["tidy"])
        scored = scoring.score(found.project, entry)
        assert scored.result is not None, scored.problems
        return scored.result

    def verdicts(self) -> dict[str, str]:
        """Return the two badges."""
        return {verdict.comparison: verdict.verdict for verdict in self.result().verdicts}

    def invalid(self) -> int:
        """Return how many trials could not be scored."""
        return sum(verdict.invalid for verdict in self.result().verdicts)


def answered(outcome: Outcome) -> str:
    """Return the orchestrator's last words; the client must have ended well and nothing have been refused."""
    assert outcome.returncode == 0, (outcome.stdout[-2000:], outcome.stderr[-2000:])
    said = json.loads(outcome.stdout)
    assert said["permission_denials"] == []
    return str(said["result"])


def assert_whole(bench: Bench, trials: int, arms: tuple[str, ...]) -> None:
    """Every arm has each trial exactly once and ended well; nothing of the run is left open."""
    found = Counter(record.arm for record in bench.record.arms.values() if record.status == "ok")
    assert found == dict.fromkeys(arms, trials)
    assert {record.case for record in bench.record.arms.values()} == {"one"}
    assert all(record.status in ("ok", "identical") for record in bench.record.judgements.values())
    assert (bench.lab.work / "tests/.reports/tidy.html").is_file()


def assert_ledger(bench: Bench, *, retried: bool = False) -> None:
    """Each recorded request is what the server delivered, to the token; without retries, none is missing."""
    delivered = {
        entry["id"]: entry for entry in bench.lab.ledger() if entry["delivered"] and entry["label"] and not entry["cut"]
    }
    records: list[ArmRecord | JudgementRecord] = [*bench.record.arms.values(), *bench.record.judgements.values()]
    requests = [request for record in records for request in record.requests or ()]
    assert len({request.id for request in requests}) == len(requests), "a request is counted twice"
    for request in requests:
        assert _figures(request) == delivered[request.id]["usage"] | {"thinking": 0}, request.id
    if not retried:
        assert {request.id for request in requests} == set(delivered)
        assert all(record.usage_complete for record in records if record.status == "ok")


def _figures(request: Request) -> dict[str, int]:
    names = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read")
    return {name: getattr(request, name) for name in names} | {"thinking": 0}


def ids(bench: Bench) -> list[str]:
    """Return the labels that subagents were started with, one a subagent."""
    started = {(entry["session"], entry["agent"]): entry["label"] for entry in bench.lab.ledger() if entry["label"]}
    return sorted(started.values())


#: What a user would wait for a minute is given up after seconds.
HASTY = "--patience 3 --wait 5"
THREE = ("new-skill", "previous-version", "no-skill")
TWO = ("new-skill", "no-skill")


def test_three_arms_from_start_to_report(lab: Lab) -> None:
    """An edited skill: five trials of three arms, gate, judges, both verdicts, exact tokens, a report; no question."""
    bench = Bench(lab, trials=5, released=skill(3), working=skill(4))
    said = answered(bench.run())
    assert "Benchmark done" in said
    assert bench.record.plan.shape == "three-arm"
    assert_whole(bench, 5, THREE)
    assert_ledger(bench)
    assert bench.verdicts() == {"efficacy": "pass", "regression": "pass"}
    assert bench.invalid() == 0
    assert len(ids(bench)) == len(set(ids(bench))) == 15 + 10
    gates = [record.gate for record in bench.record.arms.values() if record.arm == "new-skill"]
    assert all([result.exit_code for result in gate] == [0, 0] for gate in gates)
    assert "<html" in (bench.lab.work / "tests/.reports/tidy.html").read_text()
    assert not list(bench.lab.temp.glob("sb-*")), "worlds are left behind"


def test_an_edit_that_made_it_worse_is_red(lab: Lab) -> None:
    """The previous version found more: efficacy passes, regression fails, and the run itself is whole."""
    bench = Bench(lab, released=skill(4), working=skill(2))
    answered(bench.run())
    assert_whole(bench, 2, THREE)
    assert bench.verdicts() == {"efficacy": "pass", "regression": "fail"}


@pytest.mark.parametrize(("released", "working"), [(None, skill(3)), (skill(3), None)], ids=["new", "unchanged"])
def test_without_a_previous_version_two_arms(lab: Lab, released: str | None, working: str | None) -> None:
    """A skill that is new, or just as it was released, is compared with no skill alone, and the plan says why."""
    bench = Bench(lab, released=released, working=working)
    answered(bench.run())
    assert bench.record.plan.shape == "two-arm"
    assert bench.record.plan.base_reason
    assert_whole(bench, 2, TWO)
    assert_ledger(bench)
    assert bench.verdicts() == {"efficacy": "pass", "regression": "not-applicable"}


@pytest.mark.parametrize("at", [2, 6])
def test_a_client_that_is_killed_goes_on_where_it_was(lab: Lab, at: int) -> None:
    """Killed while arms, or judges, are answering: the second start finishes the same run and loses nothing settled."""
    bench = Bench(lab, working=skill(3))
    killed = bench.run(Scenario(kill_at=at))
    assert killed.returncode == -9
    first = bench.record.plan.run_id
    answered(bench.run(Scenario(options=HASTY)))
    assert bench.record.plan.run_id == first
    assert_whole(bench, 2, TWO)
    assert_ledger(bench, retried=True)
    assert bench.verdicts()["efficacy"] == "pass"


def test_a_cut_stream_is_nobodys_answer(lab: Lab) -> None:
    """An answer that is cut in mid-stream is asked for again by the client, and the record holds the whole one."""
    bench = Bench(lab, working=skill(3))
    answered(bench.run(Scenario(cut_arms=1)))
    assert_whole(bench, 2, TWO)
    outputs = [bench.record.output(*key) for key in bench.record.arms]
    assert all(text and text.startswith("I found") and text.endswith("review.md.") for text in outputs)
    assert_ledger(bench, retried=True)


def test_a_usage_limit_pauses_the_run(lab: Lab) -> None:
    """A limit in the middle stops with when it resets and keeps what is done; the same command then finishes."""
    bench = Bench(lab, working=skill(3))
    said = answered(bench.run(Scenario(limit_at=2)))
    assert "11pm" in said
    kept = dict(bench.record.arms)
    assert len(kept) < 4
    answered(bench.run())
    assert_whole(bench, 2, TWO)
    assert all(bench.record.arms[key] == record for key, record in kept.items())
    assert not any("limit" in (bench.record.output(*key) or "") for key in bench.record.arms)


def test_a_judge_that_answers_nonsense_is_asked_again(lab: Lab) -> None:
    """Two replies that are no judgement are no result; the third is, by another judge."""
    bench = Bench(lab, working=skill(3))
    answered(bench.run(Scenario(judge_nonsense=2)))
    assert_whole(bench, 2, TWO)
    assert_ledger(bench, retried=True)
    assert bench.verdicts()["efficacy"] == "pass"


def test_a_judge_that_never_answers_is_never_a_pass(lab: Lab) -> None:
    """Nonsense to the end makes the trials invalid and the verdict incomplete, whatever the arms did."""
    bench = Bench(lab, working=skill(3))
    answered(bench.run(Scenario(judge_nonsense=1000)))
    assert bench.verdicts()["efficacy"] == "incomplete"
    assert bench.invalid() == 2


def test_a_baseline_that_reads_the_skill_is_run_again(lab: Lab) -> None:
    """One stray is caught by the audit and replaced; strays to the end are invalid and never scored."""
    bench = Bench(lab, working=skill(3))
    stray = Scenario(baseline_reads_skill=1, skill_file=str(lab.work / SKILL))
    answered(bench.run(stray))
    assert_whole(bench, 2, TWO)
    assert bench.invalid() == 0
    assert bench.verdicts()["efficacy"] == "pass"


def test_baselines_that_always_read_the_skill_decide_nothing(lab: Lab) -> None:
    """Retries end; what is left is contaminated, so nothing can be said."""
    bench = Bench(lab, working=skill(3))
    answered(bench.run(Scenario(baseline_reads_skill=1000, skill_file=str(lab.work / SKILL))))
    assert bench.verdicts()["efficacy"] == "incomplete"
    kinds = {f.kind for record in bench.record.arms.values() for f in record.audit.findings if record.arm == "no-skill"}
    assert "contaminated" in kinds


def test_an_arm_that_ignores_its_skill_is_run_again(lab: Lab) -> None:
    """A with-skill arm that never opened SKILL.md says nothing about the skill: it is replaced."""
    bench = Bench(lab, working=skill(3))
    answered(bench.run(Scenario(ignore_skill=1)))
    assert_whole(bench, 2, TWO)
    assert all(record.audit.skill_loaded for record in bench.record.arms.values() if record.arm == "new-skill")
    assert bench.verdicts()["efficacy"] == "pass"


@pytest.mark.parametrize("manner", ["greedy", "reversed", "twice", "forgetful"])
def test_an_orchestrator_that_does_as_it_likes_does_no_harm(lab: Lab, manner: str) -> None:
    """Whatever order, number or repetition jobs are started in, the record is whole and the verdict the same."""
    bench = Bench(lab, released=skill(3), working=skill(4))
    options = HASTY if manner == "forgetful" else "--wait 1"
    answered(bench.run(msgspec.convert({"orchestrator": manner, "options": options}, Scenario)))
    assert_whole(bench, 2, THREE)
    assert_ledger(bench, retried=manner == "twice")
    assert bench.verdicts() == {"efficacy": "pass", "regression": "pass"}


def test_a_biased_judge_shows_in_the_report_and_not_in_the_verdict(lab: Lab) -> None:
    """A judge that always says A: the balanced order makes that about even, and no skill passes by it."""
    bench = Bench(lab, trials=4, working=skill(3))
    answered(bench.run(Scenario(judge="always-a")))
    efficacy = bench.result().verdict("efficacy")
    assert (efficacy.wins, efficacy.losses, efficacy.verdict) == (2, 2, "fail")


@pytest.mark.parametrize("hook", [False, True], ids=["plain", "in-a-git-hook"])
def test_the_repository_is_as_it_was(lab: Lab, hook: bool) -> None:
    """Tree, index, refs and configuration are untouched by a run, also one that inherits a git hook's variables."""
    bench = Bench(lab, released=skill(3), working=skill(4))
    before = _repository(bench)
    git_dir = str(lab.work / ".git")
    answered(bench.run(env={"GIT_DIR": git_dir, "GIT_INDEX_FILE": f"{git_dir}/index"} if hook else {}))
    assert_whole(bench, 2, THREE)
    assert _repository(bench) == before


def _repository(bench: Bench) -> dict[str, str]:
    """Return everything but the reports, and git's answers instead of its index file, which any status refreshes."""
    files = {
        path: content
        for path, content in bench.repo.state().items()
        if not path.startswith(("tests/.reports", "./tests/.reports", ".git/index", "./.git/index"))
        and path not in ("tests", "./tests", ".git", "./.git")
    }
    asked = {
        command: bench.repo.git(*command.split()) for command in ("ls-files -s", "for-each-ref", "status --porcelain")
    }
    return files | asked


def test_the_report_is_scored_again_from_the_record_alone(lab: Lab) -> None:
    """After the run pytest gives the same verdicts from the files, without client, worlds or transcripts."""
    bench = Bench(lab, working=skill(3))
    answered(bench.run())
    page = (lab.work / "tests/.reports/tidy.html").read_bytes()
    command = [str(BIN / "pytest"), "-q", "-p", "no:cacheprovider", "--skillbench", "tests/"]
    done = subprocess.run(command, cwd=lab.work, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert (lab.work / "tests/.reports/tidy.html").read_bytes() == page
