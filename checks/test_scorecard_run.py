"""The harness of the scorecard: probes and tasks are frozen, handed out, observed and never lost, whatever happens."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_skillbench import install, project, tree, worlds
from pytest_skillbench.cli import main
from pytest_skillbench.handout import HandedOut
from pytest_skillbench.model import Request
from pytest_skillbench.observed import Observed, ToolUse
from pytest_skillbench.scorecard import begin, discover, turn
from pytest_skillbench.scorecard.evaluate import evaluate
from pytest_skillbench.scorecard.observations import ScorecardRun, load
from pytest_skillbench.scorecard.records import Observation
from pytest_skillbench.turns import Circumstances, Step

from .repos import Repo

BEGIN = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)
AGENTS = {name: name for name in install.AGENTS}
SKILL = "---\nname: tidy\ndescription: Tidies notes.\n---\nRead, then tidy.\n"
CASES = """\
name: asks for it
skill: tidy
category: trigger-positive
input: Please tidy my notes.
expected: {triggered: true}
---
name: asks for something else
skill: tidy
category: trigger-negative
input: What time is it?
expected: {triggered: false}
---
name: makes a list
skill: tidy
category: output-quality
input: Tidy notes.txt.
context:
  files:
    - notes.txt
    - {path: more/inline.txt, content: "inline\\n"}
  env: {MODE: "very strict"}
expected: {output_contains: [tidied]}
---
name: survives
skill: tidy
category: error-handling
input: Tidy nothing.txt.
expected: {output_contains: [nothing.txt]}
---
name: small
skill: tidy
category: token-efficiency
input: not run
expected: {triggered: true}
"""
PROBE, OTHER, TASK, ERROR = (
    f"tidy--{name}" for name in ("asks-for-it", "asks-for-something-else", "makes-a-list", "survives")
)


class FakeClient:
    """Does jobs as subagents would, from what they are told, and shows what it did as a transcript's reader would."""

    sees_running = True

    def __init__(self, repo: Path) -> None:
        self.repo = repo
        self.seen: dict[str, list[Observed]] = {}
        self.started: list[str] = []

    def observe(self, labels: Iterable[str], since: str) -> Mapping[str, tuple[Observed, ...]]:
        """See `Observer`."""
        return {label: tuple(self.seen[label]) for label in labels if label in self.seen}

    def run(self, job: HandedOut, how: str = "ok") -> None:
        """Do a job, well or as `how` says."""
        self.started.append(job.label)
        self.seen.setdefault(job.label, []).append(self._made(job, how))

    def _made(self, job: HandedOut, how: str) -> Observed:
        uses, answer, listed = self._did(job, how)
        ends = {
            "fails": "API Error: 500",
            "empty": "",
            "limit": "limit",
            "hangs": "",
            "refuses": "I can't help with that.",
        }
        text = ends.get(how, answer)
        return Observed(
            host="claude-code",
            version="2.1.332",
            model="claude-sonnet-4-5",
            started_at="2026-11-30T22:00:00Z",
            duration_ms=1000,
            settled=how != "hangs",
            failed="API Error: 500" if how == "fails" else "no final message" if how == "empty" else None,
            limit="limit reached, resets 11pm" if how == "limit" else None,
            final_text=text,
            requests=(
                Request(
                    id=f"msg_{job.label}",
                    model="claude-sonnet-4-5",
                    input=1,
                    cache_write_5m=2,
                    cache_write_1h=0,
                    cache_read=3,
                    output=4,
                ),
            ),
            usage_complete=True,
            usage_notes=(),
            turns=2,
            tools={},
            uses=tuple(uses),
            listed=listed,
            session="s1",
        )

    def _did(self, job: HandedOut, how: str) -> tuple[list[ToolUse], str, tuple[str, ...] | None]:
        if job.agent == "skillbench-probe":
            listed = ("other",) if how == "unlisted" else ("other", "tidy")
            fits = "tidy" in job.prompt and how not in ("unlisted", "ignores")
            return ([tool("Skill", skill="tidy")] if fits else []), "I would begin.", listed
        brief = Path(job.prompt.split("`")[1])
        text = brief.read_text()
        uses = [tool("Read", file_path=str(brief))]
        if '{"skill": null}' in text:
            asked = text.split("<<< ")[1]
            fits = "tidy" in asked and how != "ignores"
            answer = json.dumps({"skill": "tidy" if fits else None})
            return uses, "Sure! tidy." if how == "nonsense" else answer, None
        skill = next(word.strip("`.,") for word in text.split() if word.strip("`.,").endswith("/SKILL.md"))
        world = next(line.strip() for line in text.split("\n") if line.startswith("    /"))
        if how != "skips":
            uses.append(tool("Read", file_path=skill))
        uses.append(tool("Bash", command=f"cd {world} && cat notes.txt > tidy.txt"))
        if how == "peeks":
            uses.append(tool("Bash", command=f"grep -r tidied {self.repo}/evals"))
        if how == "destroys":
            uses.append(tool("Bash", command=f"rm -rf {self.repo}/docs"))
        return uses, "I tidied it: nothing.txt is not there.", None


def tool(name: str, **given: object) -> ToolUse:
    """Return a tool call."""
    return ToolUse(name=name, input=given)


class Bench:
    """A started scorecard run in a repository of its own, a client, and a clock."""

    def __init__(
        self, root: Path, *, trials: int = 1, host: str = "claude-code", skill: str = SKILL, listed: bool = True
    ) -> None:
        self.root = root
        write_project(root, skill)
        if listed:
            install.install(root, "claude")
            shutil.copytree(root / "skills/tidy", root / ".claude/skills/tidy")
        self.found = tree.discover(project.find(root))
        self.begun = self.begin(host=host, trials=trials)
        assert self.begun.folder is not None
        self.folder = self.begun.folder
        self.client = FakeClient(root)
        self.now = BEGIN

    def begin(self, *, host: str | None = None, trials: int | None = None, fresh: bool = False) -> begin.Begun:
        """Start the skill's run, or find the one that is not finished."""
        (skill,) = self.found.select(["tidy"])
        cases = discover.discover(self.found).cases["tidy"]
        return begin.begin(
            self.found,
            cases,
            skill,
            host=host,
            trials=trials,
            fresh=fresh,
            dry_run=False,
            now=BEGIN,
            chance=7,
        )

    def step(self, limit: int = 10, session: str | None = "s1", agents: Mapping[str, str] = AGENTS) -> Step:
        """Take a turn a minute and a bit later, so that what was never started is handed out again."""
        self.now += timedelta(seconds=61)
        circumstances = Circumstances(observer=self.client, now=self.now, limit=limit, session=session, agents=agents)
        return turn.take(self.found.project, self.folder, circumstances)

    def finish(self, how: str = "ok") -> Step:
        """Let everybody do their jobs in one manner until the run is done."""
        for _ in range(200):
            step = self.step()
            if step.state == "done":
                return step
            for job in step.jobs:
                self.client.run(job, how)
        raise AssertionError("the run does not end")

    def lose_state(self, left: str) -> None:
        """Leave nothing but `left` of the state file; its worlds, which nobody knows of any more, go with it."""
        state = self.folder / "state.json"
        root = json.loads(state.read_text())["root"] if state.stat().st_size else ""
        if root:  # a run that has ended, or has just begun, has none
            worlds.remove(Path(root))
        state.write_text(left)

    def record(self) -> ScorecardRun:
        """Return what is recorded, which must be without a problem."""
        run = load(self.folder, "tidy.scorecard")
        assert run is not None
        assert run.problems == ()
        return run

    def seen(self, case: str, trial: int = 1) -> Observation:
        """Return one observation."""
        return self.record().observations[case, trial]


def write_project(root: Path, skill: str = SKILL, cases: str = CASES) -> None:
    """Write a repository with the skill ``tidy``, another one, and eval cases."""
    for name, text in (("tidy", skill), ("other", "---\nname: other\ndescription: Does something else.\n---\n")):
        (root / "skills" / name).mkdir(parents=True, exist_ok=True)
        (root / "skills" / name / "SKILL.md").write_text(text)
    (root / "tests").mkdir()
    folder = root / "evals/cases/tidy"
    folder.mkdir(parents=True)
    (folder / "tidy.yaml").write_text(cases)
    (folder / "notes.txt").write_text("a note\n")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the user's own skills and agents out."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder / ".claude"))
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)
    return folder


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Return a started run whose probes are observed."""
    made = Bench(tmp_path)
    yield made
    main(["-C", str(tmp_path), "clean", "--all"])


def test_every_job_is_observed_once(bench: Bench) -> None:
    """Probes and tasks of one run: what was triggered, how each ended, its message, usage; then worlds are gone."""
    assert (bench.begun.probes, bench.begun.tasks) == (2, 2)
    first = bench.step()
    assert (first.state, first.done, first.total, len(first.jobs)) == ("jobs", 0, 4, 4)
    assert sorted(job.agent for job in first.jobs) == ["skillbench-arm"] * 2 + ["skillbench-probe"] * 2
    root = next(Path(job.prompt.split("`")[1]).parent for job in first.jobs if "`" in job.prompt)
    for job in first.jobs:
        bench.client.run(job)
    last = bench.step()
    assert (last.state, last.done, last.total) == ("done", 4, 4)
    assert "skillbench scorecard --skill tidy" in last.message
    assert not root.exists()
    run = bench.record()
    assert {key: (o.status, o.probe, o.triggered, o.seen) for key, o in run.observations.items()} == {
        (PROBE, 1): ("answered", "observed", True, "Skill call"),
        (OTHER, 1): ("answered", "observed", False, None),
        (TASK, 1): ("answered", None, None, None),
        (ERROR, 1): ("answered", None, None, None),
    }
    assert run.output(TASK, 1) == "I tidied it: nothing.txt is not there."
    assert all(one.requests and one.usage_complete and one.detail is None for one in run.observations.values())


def test_a_probe_is_told_the_input_and_nothing_of_the_skill(bench: Bench) -> None:
    """As a user would write it, with the job's tag behind; no word of a skill, no case, no expectation."""
    prompts = [job.prompt for job in bench.step().jobs if job.agent == "skillbench-probe"]
    assert [prompt.split("\n")[0] for prompt in prompts] == ["Please tidy my notes.", "What time is it?"]
    for prompt in prompts:
        assert "skill" not in prompt.replace("skillbench job", "")
        assert "trigger" not in prompt


def test_a_task_gets_its_world_its_skill_and_its_variables(bench: Bench) -> None:
    """Files beside the case file and files written in it are there, variables are told in words, and it is said."""
    briefs = [Path(job.prompt.split("`")[1]).read_text() for job in bench.step().jobs if "`" in job.prompt]
    (brief,) = [text for text in briefs if text.endswith("Tidy notes.txt.\n")]
    world = Path(next(line.strip() for line in brief.split("\n") if line.startswith("    /")))
    assert (world / "notes.txt").read_text() == "a note\n"
    assert (world / "more/inline.txt").read_text() == "inline\n"
    assert "export MODE='very strict'" in brief
    assert str(bench.root) not in brief
    assert any("MODE" in note for note in bench.begun.notes)
    (bare,) = [text for text in briefs if text != brief]
    assert "export" not in bare


def test_what_is_frozen_does_not_change(bench: Bench) -> None:
    """Edits of the skill, a case or a file after the start leave the run as it was planned."""
    (bench.root / "skills/tidy/SKILL.md").write_text("---\nname: tidy\n---\nedited\n")
    (bench.root / "evals/cases/tidy/notes.txt").write_text("edited\n")
    for job in bench.step().jobs:
        if "`" in job.prompt:
            brief = Path(job.prompt.split("`")[1]).read_text()
            skill = next(word.strip("`.,") for word in brief.split() if word.strip("`.,").endswith("/SKILL.md"))
            assert Path(skill).read_text() == SKILL
            assert "edited" not in brief


def test_a_frozen_copy_that_was_tampered_with_is_refused(bench: Bench) -> None:
    """What is no longer what the plan names is given to nobody."""
    (bench.folder / "frozen/package/SKILL.md").write_text("another")
    with pytest.raises(Exception, match="is not what was frozen"):
        bench.step()


def test_the_calls_are_listed_without_the_harness_own(bench: Bench) -> None:
    """What the brief asks for is no use of a tool; a deletion outside the world is named as what it is."""
    bench.finish("destroys")
    calls = bench.seen(TASK).tool_calls
    assert calls is not None
    assert [call.name for call in calls] == ["Bash", "Bash"]
    assert [call.dangerous for call in calls] == [None, f"deletes outside its world: {bench.root}/docs"]
    assert bench.seen(TASK).status == "answered"


@pytest.mark.parametrize(
    ("how", "status", "attempt"),
    [
        ("fails", "failed", 3),
        ("empty", "error", 1),
        ("refuses", "refused", 1),
        ("skips", "failed", 3),
        ("peeks", "failed", 3),
    ],
)
def test_how_a_task_ends(bench: Bench, how: str, status: str, attempt: int) -> None:
    """Behaviour is recorded as it is; what says nothing of the skill is tried again, boundedly, and then unknown."""
    bench.finish(how)
    seen = bench.seen(TASK)
    assert (seen.status, seen.attempt) == (status, attempt)
    assert seen.detail
    assert len(list(bench.folder.glob(f"attempts/{TASK}.1.*"))) == attempt - 1
    assert (seen.output is not None) is (how in ("refuses", "skips", "peeks"))


@pytest.mark.parametrize(
    ("how", "triggered"), [("fails", True), ("empty", True), ("refuses", True), ("ignores", False)]
)
def test_a_probe_that_used_the_skill_has_triggered_it(bench: Bench, how: str, triggered: bool) -> None:
    """However it went on; where it did not, only one that ended by itself says so."""
    bench.finish(how)
    assert bench.seen(PROBE).triggered is triggered
    expected = {"fails": None, "empty": None, "refuses": False, "ignores": False}[how]
    assert bench.seen(OTHER).triggered is expected


def test_opening_the_file_counts_as_using_it(bench: Bench) -> None:
    """The installed copy's SKILL.md and the repository's own; another skill's does not count, nor a failed call."""
    step = bench.step()
    jobs = [job for job in step.jobs if job.agent == "skillbench-probe"]
    for job, file in zip(jobs, (".claude/skills/tidy/SKILL.md", "skills/other/SKILL.md"), strict=True):
        bench.client.run(job, "ignores")
        opened = (tool("Read", file_path=str(bench.root / file)), tool("Skill", skill="other"))
        bench.client.seen[job.label][0] = msgspec.structs.replace(bench.client.seen[job.label][0], uses=opened)
    circumstances = Circumstances(
        observer=bench.client,
        now=bench.now,
        limit=0,
        agents=AGENTS,
        copies=(bench.root / ".claude/skills/tidy",),
    )
    turn.take(bench.found.project, bench.folder, circumstances)
    assert (bench.seen(PROBE).triggered, bench.seen(PROBE).seen) == (True, "opened SKILL.md")
    assert bench.seen(OTHER).triggered is False


def test_a_probe_that_was_not_offered_the_skill_is_asked(bench: Bench) -> None:
    """The client's own listing is looked at: without the skill in it silence is no answer; the next is asked."""
    for job in bench.step().jobs:
        bench.client.run(job, "unlisted")
    again = bench.step()
    assert [job.agent for job in again.jobs] == ["skillbench-arm"] * 2
    bench.finish()
    assert (bench.seen(PROBE).probe, bench.seen(PROBE).triggered) == ("asked", True)
    assert bench.seen(PROBE).seen == 'answered "tidy"'
    assert (bench.seen(OTHER).probe, bench.seen(OTHER).triggered) == ("asked", False)


@pytest.mark.parametrize(
    "why", ["not installed", "another front matter", "turned off", "no agent", "manual", "forks", "injects"]
)
def test_where_it_cannot_be_observed_it_is_asked(tmp_path: Path, why: str) -> None:
    """Looked up beforehand and said; the repository's skills are on offer in the prompt, hidden ones are not."""
    forks, injects = SKILL.replace("---\nRead", "context: fork\n---\nRead"), f"{SKILL}State: !`git status`\n"
    write_project(tmp_path, {"forks": forks, "injects": injects}.get(why, SKILL))
    (tmp_path / "skills/secret").mkdir()
    (tmp_path / "skills/secret/SKILL.md").write_text("---\nname: secret\ndisable-model-invocation: true\n---\n")
    if why != "no agent":
        install.install(tmp_path, "claude")
    if why != "not installed":
        shutil.copytree(tmp_path / "skills/tidy", tmp_path / ".claude/skills/tidy")
    if why == "another front matter":
        (tmp_path / ".claude/skills/tidy/SKILL.md").write_text(SKILL.replace("Tidies", "Sorts"))
    if why == "turned off":
        (tmp_path / ".claude/settings.local.json").write_text('{"skillOverrides": {"tidy": "off"}}')
    found = tree.discover(project.find(tmp_path))
    (skill,) = found.select(["tidy"])
    begun = begin.begin(
        found,
        discover.discover(found).cases["tidy"],
        skill,
        host="manual" if why == "manual" else None,
        trials=None,
        fresh=False,
        dry_run=False,
        now=BEGIN,
        chance=7,
    )
    assert {case.probe for case in begun.plan.cases if case.is_probe} == {"asked"}
    assert any("asked and not observed" in note for note in begun.notes)
    assert begun.folder is not None
    listing = (begun.folder / "frozen/listing.md").read_text()
    assert listing == "- other: Does something else.\n- tidy: Tidies notes.\n"


def test_a_skill_that_no_model_may_use_has_no_probe(tmp_path: Path) -> None:
    """disable-model-invocation: not applicable, with the reason in the plan; nothing of it is run or recorded."""
    hidden = SKILL.replace("---\nRead", "disable-model-invocation: true\n---\nRead")
    bench = Bench(tmp_path, skill=hidden)
    assert (bench.begun.probes, bench.begun.tasks) == (0, 2)
    assert "disable-model-invocation" in str(bench.begun.plan.no_probes)
    assert any("not applicable" in note for note in bench.begun.notes)
    assert bench.finish().total == 2
    assert {case for case, _ in bench.record().observations} == {TASK, ERROR}


def test_a_case_without_its_file_is_not_run(tmp_path: Path) -> None:
    """It is recorded as missing, with the reason; the others run."""
    write_project(tmp_path)
    (tmp_path / "evals/cases/tidy/notes.txt").unlink()
    found = tree.discover(project.find(tmp_path))
    (skill,) = found.select(["tidy"])
    cases = discover.discover(found).cases["tidy"]
    begun = begin.begin(found, cases, skill, host=None, trials=None, fresh=False, dry_run=False, now=BEGIN, chance=7)
    assert begun.folder is not None
    assert any("notes.txt" in note for note in begun.notes)
    circumstances = Circumstances(observer=FakeClient(tmp_path), now=BEGIN, limit=10, agents=AGENTS)
    step = turn.take(found.project, begun.folder, circumstances)
    assert (step.done, len(step.jobs)) == (1, 3)
    run = load(begun.folder, "run")
    assert run is not None
    seen = run.observations[TASK, 1]
    assert (seen.status, seen.tool_calls, seen.output) == ("missing", None, None)
    assert "notes.txt" in str(seen.detail)
    main(["-C", str(tmp_path), "clean", "--all"])


def test_a_malformed_answer_is_asked_for_again(tmp_path: Path) -> None:
    """Words around the JSON are no answer; after the retries it is unknown, never a no."""
    bench = Bench(tmp_path, listed=False)
    bench.finish("nonsense")
    seen = bench.seen(OTHER)
    assert (seen.status, seen.triggered, seen.attempt) == ("failed", None, 3)
    assert "malformed" in str(seen.detail)


def test_a_limit_blocks_and_then_goes_on(bench: Bench) -> None:
    """A usage limit keeps what is recorded, says when it resets, and costs no retry."""
    for number, job in enumerate(bench.step().jobs):
        bench.client.run(job, "limit" if number == 0 else "ok")
    blocked = bench.step()
    assert (blocked.state, blocked.done) == ("blocked", 3)
    assert "resets 11pm" in blocked.message
    assert bench.finish().done == 4


def test_a_task_that_was_started_twice_is_run_again(bench: Bench) -> None:
    """Two in one world spoil it; a probe has no world, and the first one's answer stands."""
    for job in bench.step().jobs:
        bench.client.run(job)
        bench.client.run(job)
    again = bench.step()
    assert len(again.jobs) == 2
    assert again.done == 2
    bench.finish()
    assert bench.seen(TASK).attempt == 2
    assert bench.seen(PROBE).attempt == 1


def test_a_lost_state_loses_no_observation(bench: Bench) -> None:
    """Without its state file the run still knows what is recorded and goes on with the rest."""
    for job in bench.step(limit=2).jobs:
        bench.client.run(job)
    bench.step(limit=1)
    bench.lose_state("{torn")
    assert bench.finish().done == 4


def test_start_resumes_what_is_not_finished(bench: Bench) -> None:
    """The same run while jobs are open, another one is refused; fresh or done, a new one takes its place whole."""
    again = bench.begin()
    assert (again.resumed, again.notes) == (True, ())
    with pytest.raises(Exception, match="is another run"):
        bench.begin(trials=3)
    bench.finish()
    assert not bench.begin().resumed
    assert sorted(path.name for path in bench.folder.parent.iterdir()) == ["tidy.scorecard"]
    assert bench.record().observations == {}


def test_a_plan_that_changed_while_it_was_frozen_is_refused(tmp_path: Path) -> None:
    """A file that is edited between being read and being copied leaves no run behind."""
    write_project(tmp_path)
    found = tree.discover(project.find(tmp_path))
    (skill,) = found.select(["tidy"])
    cases = discover.discover(found).cases["tidy"]
    (tmp_path / "evals/cases/tidy/notes.txt").write_text("edited meanwhile\n")
    with pytest.raises(Exception, match="changed while it was being frozen"):
        begin.begin(found, cases, skill, host=None, trials=None, fresh=False, dry_run=False, now=BEGIN, chance=7)
    assert list((tmp_path / "tests/.reports").iterdir()) == []


def test_what_git_ignores_is_no_other_version(tmp_path: Path) -> None:
    """A run of a skill with an ignored file in its folder is scored as this skill's; nobody is given the file."""
    repo = Repo(tmp_path)
    repo.git("init", "-q", "-b", "main")
    repo.write(".gitignore", "*.log\n")
    repo.write("skills/tidy/debug.log", "x")
    bench = Bench(tmp_path)
    assert not (bench.folder / "frozen/package/debug.log").exists()
    bench.finish()
    found = evaluate(tree.discover(project.find(tmp_path)), ["tidy"], date="2026-11-30")
    score = found.evaluation.results["tidy"]
    assert score.run_id == bench.begun.plan.run_id
    assert [row.ungraded for row in score.rows] == [None] * len(score.rows)
    assert score.trigger_accuracy == 100


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["ok", "fails", "limit", "forget", "twice", "hangs", "unlisted", "empty", "peeks", "lost state"]
        ),
        st.integers(1, 5),
    ),
    max_size=12,
)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(EVENTS)
def test_any_interleaving_ends_in_a_whole_record(events: list[tuple[str, int]]) -> None:
    """Finish, fail, forget, double, hang, lose the state: every job is observed once, and nothing unknown is a no."""
    folder = Path(tempfile.mkdtemp())
    try:
        bench = Bench(folder, trials=2)
        for how, limit in events:
            step = bench.step(limit=limit)
            for job in step.jobs:
                if how in ("forget", "lost state"):
                    continue
                bench.client.run(job, how if how != "twice" else "ok")
                if how == "twice":
                    bench.client.run(job)
            if how == "hangs":
                bench.now += timedelta(minutes=31)
            if how == "lost state":
                bench.lose_state("")
        assert bench.finish().state == "done"
        run = bench.record()
        assert len(run.observations) == 8
        for one in run.observations.values():
            assert one.triggered is not False or one.status in ("answered", "refused")
            assert (one.detail is None) is (one.status == "answered")
        main(["-C", str(folder), "clean", "--all"])
    finally:
        shutil.rmtree(folder)


def test_a_person_can_be_the_client(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """start, next, status, record and clean on a manual host: probes are asked, and what nobody saw stays unknown."""
    write_project(tmp_path)
    at = ["-C", str(tmp_path)]
    assert main([*at, "start", "--scorecard", "tidy", "--host", "manual"]) == 0
    assert "2 probes, 2 tasks" in capsys.readouterr().out
    assert main([*at, "status"]) == 3
    assert "probes 0/2, tasks 0/2" in capsys.readouterr().out
    answer = tmp_path / "answer.txt"
    assert main([*at, "next", "--scorecard", "--json", "--wait", "0"]) == 0
    jobs = json.loads(capsys.readouterr().out)["jobs"]
    assert len(jobs) == 4
    for job in jobs:
        brief = Path(job["prompt"].split("`")[1]).read_text()
        answer.write_text('{"skill": "tidy"}' if '{"skill": null}' in brief else "I tidied it.")
        assert main([*at, "record", "tidy", job["label"], "--output", str(answer)]) == 0
    assert main([*at, "record", "tidy", "000000.00000000", "--output", str(answer)]) == 2
    assert main([*at, "next", "tidy", "--json", "--wait", "0"]) == 0
    assert json.loads(capsys.readouterr().out.split("\n")[-2])["state"] == "done"
    assert main([*at, "status", "--scorecard"]) == 0
    run = load(tmp_path / "tests/.reports/tidy.scorecard", "run")
    assert run is not None
    assert {(one.probe, one.triggered) for one in run.observations.values()} == {("asked", True), (None, None)}
    assert all(one.tool_calls is None and one.requests is None for one in run.observations.values())
    assert main([*at, "clean"]) == 0


def test_both_kinds_of_runs_are_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A head-to-head and a scorecard of one skill stand side by side; --scorecard leaves the other alone."""
    write_project(tmp_path)
    case = tmp_path / "tests/tidy/one/case.md"
    case.parent.mkdir(parents=True)
    case.write_text("---\ndescription: x\n---\n## Prompt\nTidy.\n## Soft criteria\n- Tidy.\n")
    at = ["-C", str(tmp_path)]
    assert main([*at, "start", "tidy", "--host", "manual", "--trials", "1"]) == 0
    assert main([*at, "start", "--scorecard", "tidy", "--host", "manual"]) == 0
    capsys.readouterr()
    for options, expected in (([], 2), (["--scorecard"], 4)):
        assert main([*at, "next", "tidy", "--json", "--wait", "0", *options]) == 0
        assert len(json.loads(capsys.readouterr().out)["jobs"]) == expected
    assert main([*at, "status"]) == 3
    assert len(capsys.readouterr().out.strip().split("\n")) == 2
    assert main([*at, "clean", "--all"]) == 0
    assert capsys.readouterr().out.count("removed") == 2


def test_what_is_wrong_in_one_case_stops_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bad document is named with its line, the others are planned; a skill without any is refused."""
    write_project(tmp_path, cases=CASES + "---\nname: bad\nskill: tidy\ncategory: nonsense\ninput: x\nexpected: {}\n")
    at = ["-C", str(tmp_path)]
    assert main([*at, "start", "--scorecard", "--json"]) == 0
    said = capsys.readouterr()
    assert [run["cases"] for run in json.loads(said.out)["runs"]] == [5]
    assert f"evals/cases/tidy/tidy.yaml:{CASES.count(chr(10)) + 4}: " in said.err
    assert main([*at, "start", "--scorecard", "other"]) == 2
    assert "no eval cases" in capsys.readouterr().err
