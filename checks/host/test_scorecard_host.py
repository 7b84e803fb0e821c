"""The scorecard in the real client: ``/benchmark-skill --scorecard``, probes that are seen to use a skill, the ledger.

The model is scripted (`players`): a probe uses the skill whose description, in the client's own listing, is for what
the request speaks of. The rest is real: client, listing, Skill tool, subagents, program, worlds, transcripts.
"""

from __future__ import annotations

import json

import pytest

from checks.repos import Repo
from pytest_skillbench import install
from pytest_skillbench.model import Request
from pytest_skillbench.scorecard.observations import ScorecardRun, load

from .lab import Lab, Outcome
from .scenario import Scenario
from .test_host import BIN, HASTY

DESCRIPTION = "Reviews what was written. Use it for notes."
SKILL = f"---\nname: tidy\ndescription: {DESCRIPTION}\nallowed-tools: Read, Bash\n---\nLook closely.\npoints: 3\n"
OTHER = "---\nname: bake\ndescription: Bakes cakes. Use it for cakes.\n---\nBake.\n"
PROBES = {
    "reviews": ("positive", "Please review my notes before I send them."),
    "checks": ("positive", "Are these notes all right?"),
    "in Chinese": ("positive", "请检查一下 notes ，谢谢。"),
    "bakes": ("negative", "How do I bake two cakes at once?"),
    "tells the time": ("negative", "What time is it in Lima?"),
    "counts": ("negative", "How many files are here?"),
}
TASKS = """\
---
name: finds things
skill: tidy
category: output-quality
input: Please look at notes.txt, put what you find into review.md, and tell me how much it is.
context: {files: [notes.txt]}
expected: {output_contains: [I found 3 things], tools_used: [Write]}
---
name: has nothing to look at
skill: tidy
category: error-handling
input: Please look at gone.txt and tell me how much you find.
expected: {output_contains: [found]}
"""


class Bench:
    """A user's repository in the lab: two skills, eval cases of one, the runner skill installed and committed."""

    def __init__(self, lab: Lab, *, skill: str = SKILL, listed: bool = True) -> None:
        self.lab = lab
        self.repo = Repo(lab.work)
        self.repo.git("init", "-q", "-b", "main")
        install.install(lab.work, "claude")
        for name, text in (("tidy", skill), ("bake", OTHER)):
            self.repo.write(f"skills/{name}/SKILL.md", text)
            if listed:
                self.repo.write(f".claude/skills/{name}/SKILL.md", text)
        probes = [
            f"---\nname: {name}\nskill: tidy\ncategory: trigger-{kind}\ninput: {text}\nexpected: {{}}\n".replace(
                "{}", f"{{triggered: {str(kind == 'positive').lower()}}}"
            )
            for name, (kind, text) in PROBES.items()
        ]
        self.repo.write("evals/cases/tidy/probes.yaml", "".join(probes))
        self.repo.write("evals/cases/tidy/tasks.yaml", TASKS)
        self.repo.write("evals/cases/tidy/notes.txt", "a note\n")
        self.repo.write("tests/skillbench.yaml", "retries: 1\n")
        self.repo.write(".gitignore", "tests/.reports/\nevals/results/\n")
        self.repo.write(".claude/settings.json", '{"includeGitInstructions": false}\n')
        self.repo.commit("all of it")

    def run(self, scenario: Scenario | None = None) -> Outcome:
        """Type ``/benchmark-skill --scorecard tidy`` in the default permission mode and wait for the end."""
        command = ("-p", "/benchmark-skill --scorecard tidy", "--output-format", "json")
        return self.lab.run(*command, scenario=scenario, path=[BIN])

    @property
    def record(self) -> ScorecardRun:
        """Return the run's record, which is without a problem."""
        found = load(self.lab.work / "tests/.reports/tidy.scorecard", "tidy.scorecard")
        assert found is not None
        assert found.problems == ()
        return found

    def triggered(self) -> dict[str, tuple[str | None, bool | None, str | None]]:
        """Return how each probe was seen, by the case's name."""
        names = {case.id: case.name for case in self.record.plan.cases if case.is_probe}
        found = self.record.observations.values()
        return {names[one.case]: (one.probe, one.triggered, one.seen) for one in found if one.case in names}

    def tasks(self) -> dict[str, str]:
        """Return how each task ended, by the case's name."""
        names = {case.id: case.name for case in self.record.plan.cases if not case.is_probe}
        return {names[one.case]: one.status for one in self.record.observations.values() if one.case in names}


def answered(outcome: Outcome) -> str:
    """Return the orchestrator's last words; the client must have ended well and nothing have been refused."""
    assert outcome.returncode == 0, (outcome.stdout[-2000:], outcome.stderr[-2000:])
    said = json.loads(outcome.stdout)
    assert said["permission_denials"] == []
    return str(said["result"])


def assert_ledger(bench: Bench, *, retried: bool = False) -> None:
    """Each recorded request is what the server delivered, to the token; without retries, none is missing."""
    delivered = {entry["id"]: entry for entry in bench.lab.ledger() if entry["delivered"] and entry["label"]}
    found = bench.record.observations.values()
    requests = [request for one in found for request in one.requests or ()]
    assert len({request.id for request in requests}) == len(requests) > 0
    for request in requests:
        assert _figures(request) == delivered[request.id]["usage"] | {"thinking": 0}, request.id
    if not retried:
        assert {request.id for request in requests} == set(delivered)
        assert all(one.usage_complete for one in found)


def _figures(request: Request) -> dict[str, int]:
    names = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read")
    return {name: getattr(request, name) for name in names} | {"thinking": 0}


def _repository(bench: Bench) -> dict[str, str]:
    """Return everything but reports and evaluations, and git's answers instead of its index file."""
    kept = {
        path: content
        for path, content in bench.repo.state().items()
        if not path.removeprefix("./").startswith(("tests/.reports", "evals/results", ".git/index"))
        and path.removeprefix("./") not in ("tests", "evals", ".git")
    }
    asked = ("ls-files -s", "for-each-ref", "status --porcelain")
    return kept | {command: bench.repo.git(*command.split()) for command in asked}


def test_probes_are_seen_to_use_the_skill_and_tasks_are_done(lab: Lab) -> None:
    """Positives call the Skill tool in the real transcript, negatives do not; tokens are the ledger's; no question.

    The repository is as it was outside of the reports and the evaluations.
    """
    bench = Bench(lab)
    before = _repository(bench)
    said = answered(bench.run())
    assert "Scorecard done" in said
    seen = bench.triggered()
    assert {name: one[1] for name, one in seen.items()} == {
        name: kind == "positive" for name, (kind, _) in PROBES.items()
    }
    assert {one for one in seen.values() if one[1]} == {("observed", True, "Skill call")}
    assert {one for one in seen.values() if not one[1]} == {("observed", False, None)}
    assert bench.tasks() == {"finds things": "answered", "has nothing to look at": "answered"}
    (task,) = [one for one in bench.record.observations.values() if one.case == "tasks--finds-things"]
    assert bench.record.output(task.case, 1) == "I found 3 things. They are in review.md."
    assert [call.name for call in task.tool_calls or ()] == ["Bash", "Write"]
    assert [call.dangerous for call in task.tool_calls or ()] == [None, None]
    assert_ledger(bench)
    assert not list(lab.temp.glob("sb-*")), "worlds are left behind"
    assert _repository(bench) == before


def test_a_probe_has_no_tool_that_changes_anything(lab: Lab) -> None:
    """It is offered skills and may read; what it is told names no skill, and the client's listing does."""
    bench = Bench(lab)
    answered(bench.run())
    subagents = [one["body"] for one in lab.requests() if "x-claude-code-agent-id" in one["headers"]]
    probes = [body for body in subagents if "Skill" in {tool["name"] for tool in body["tools"]}]
    assert len(probes) == 6 + 4, "six probes, four of which used one of the two skills and went on"
    for body in probes:
        assert {tool["name"] for tool in body["tools"]} == {"Skill", "Read"}
        text = json.dumps(body)
        assert f"- tidy: {DESCRIPTION}" in text
        assert "evals" not in text
        assert "benchmark-skill" not in text


def test_a_probe_that_never_uses_it_is_an_alarm(lab: Lab) -> None:
    """Every positive at zero is recorded as what was seen, and the scorecard calls it an alarm and no score."""
    bench = Bench(lab)
    said = answered(bench.run(Scenario(probe="never")))
    assert {one[1] for one in bench.triggered().values()} == {False}
    assert "probably the probe, not the skill" in said
    assert_ledger(bench)


def test_opening_the_installed_file_is_seen(lab: Lab) -> None:
    """A probe that reads SKILL.md where the client has it has used the skill."""
    bench = Bench(lab)
    answered(bench.run(Scenario(probe="opens")))
    assert {one for one in bench.triggered().values() if one[1]} == {("observed", True, "opened SKILL.md")}
    assert bench.triggered()["bakes"] == ("observed", False, None)


def test_where_the_skill_is_not_listed_it_is_asked(lab: Lab) -> None:
    """Not installed: the listing stands in the prompt, and what is answered is marked as asked."""
    bench = Bench(lab, listed=False)
    answered(bench.run())
    assert {name: one[:2] for name, one in bench.triggered().items()} == {
        name: ("asked", kind == "positive") for name, (kind, _) in PROBES.items()
    }
    assert bench.triggered()["bakes"][2] == 'answered "bake"'
    assert bench.triggered()["counts"][2] == "answered that it would use none"
    assert_ledger(bench)


def test_a_skill_that_the_client_hides_is_found_out(lab: Lab) -> None:
    """Installed as it should be and yet not listed, by a setting of the client's that nobody foresaw: it is asked.

    Here the administrator's settings deny it, which `start` does not look at.
    """
    bench = Bench(lab)
    other = lab.home / "extra.json"
    other.write_text('{"skillOverrides": {"tidy": "off"}}')
    command = ("-p", "/benchmark-skill --scorecard tidy", "--output-format", "json", "--settings", str(other))
    answered(lab.run(*command, path=[BIN]))
    assert {case.probe for case in bench.record.plan.cases if case.is_probe} == {"observed"}
    assert {name: one[:2] for name, one in bench.triggered().items()} == {
        name: ("asked", kind == "positive") for name, (kind, _) in PROBES.items()
    }
    assert_ledger(bench, retried=True)


def test_a_skill_that_no_model_may_use_has_no_probe(lab: Lab) -> None:
    """disable-model-invocation: no probe is run, and the scorecard says not-applicable, with the reason."""
    bench = Bench(lab, skill=SKILL.replace("allowed-tools", "disable-model-invocation: true\nallowed-tools"))
    said = answered(bench.run())
    assert bench.triggered() == {}
    assert bench.tasks() == {"finds things": "answered", "has nothing to look at": "answered"}
    assert "not-applicable" in said or "not applicable" in said
    assert "disable-model-invocation" in said


@pytest.mark.parametrize("at", [3, 7])
def test_a_client_that_is_killed_goes_on_where_it_was(lab: Lab, at: int) -> None:
    """The second start finishes the same run, and what was recorded stays as it was."""
    bench = Bench(lab)
    killed = bench.run(Scenario(kill_at=at))
    assert killed.returncode == -9
    first = bench.record.plan.run_id
    kept = dict(bench.record.observations)
    answered(bench.run(Scenario(options=HASTY)))
    assert bench.record.plan.run_id == first
    assert len(bench.record.observations) == 8
    assert all(bench.record.observations[key] == one for key, one in kept.items())
    assert {name: one[1] for name, one in bench.triggered().items()} == {
        name: kind == "positive" for name, (kind, _) in PROBES.items()
    }
    assert_ledger(bench, retried=True)


def test_a_usage_limit_pauses_the_run(lab: Lab) -> None:
    """A limit in the middle stops with when it resets and keeps what is done; the same command then finishes."""
    bench = Bench(lab)
    said = answered(bench.run(Scenario(limit_at=4)))
    assert "11pm" in said
    assert len(bench.record.observations) < 8
    answered(bench.run())
    assert len(bench.record.observations) == 8
    assert not any("limit" in (bench.record.output(*key) or "") for key in bench.record.observations)


def test_an_orchestrator_that_starts_a_job_twice_does_no_harm(lab: Lab) -> None:
    """Every job has one observation, and no request is counted twice."""
    bench = Bench(lab)
    answered(bench.run(Scenario(orchestrator="twice")))
    assert len(bench.record.observations) == 8
    assert {name: one[1] for name, one in bench.triggered().items()} == {
        name: kind == "positive" for name, (kind, _) in PROBES.items()
    }
    assert_ledger(bench, retried=True)
