"""The run's state machine: whatever happens in whatever order, no job is lost or counted twice, and the run ends."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_skillbench import project, start, tree
from pytest_skillbench.advance import Patience, Step, step
from pytest_skillbench.cli import main
from pytest_skillbench.errors import SkillbenchError, UsageError
from pytest_skillbench.handout import HandedOut
from pytest_skillbench.model import Request, Settings
from pytest_skillbench.observed import Observed, ToolUse
from pytest_skillbench.record import load

from .records import write_skill

BEGIN = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)
CASE = "---\ndescription: Finds it\n---\n## Prompt\nReview it.\n## Soft criteria\n- Names the mistake.\n"
CRITERION = {"criterion": 1, "better": "TIE", "because": "both", "quote_a": None, "quote_b": None}
AGENTS = {"skillbench-arm": "skillbench-arm", "skillbench-judge": "skillbench-judge"}


class FakeClient:
    """Runs jobs by reading their briefs, as a subagent would, and remembers what it did for each label."""

    sees_running = True

    def __init__(self) -> None:
        self.seen: dict[str, list[Observed]] = {}
        self.started: list[str] = []

    def observe(self, labels: Iterable[str], since: str) -> Mapping[str, tuple[Observed, ...]]:
        """See `Observer`."""
        return {label: tuple(self.seen[label]) for label in labels if label in self.seen}

    def run(self, job: HandedOut, how: str = "ok") -> None:
        """Do a job: `ok`, `fails` (no answer), `hangs` (never settles), `limit`, `nonsense`, `skips` the skill."""
        self.started.append(job.label)
        brief = Path(job.prompt.split("`")[1])
        text = brief.read_text()
        uses = [ToolUse(name="Read", input={"file_path": str(brief)})]
        skill = next((word.strip("`.,") for word in text.split() if word.strip("`.,").endswith("/SKILL.md")), None)
        if skill is not None and how != "skips":
            uses.append(ToolUse(name="Read", input={"file_path": skill}))
        judge = job.agent == "skillbench-judge"
        number = int(hashlib.sha256(text.encode()).hexdigest(), 16)
        answer = f"Found {number % 7} mistakes with{'' if skill else 'out'} help."
        if judge:
            winner = ("A", "B", "TIE")[number % 3]
            answer = json.dumps(
                {
                    "winner": winner,
                    "strength": None if winner == "TIE" else "clear",
                    "rationale": "It is so.",
                    "criteria": [CRITERION],
                }
            )
        if how == "nonsense" and judge:
            answer = "Sure! Looks good."
        self.seen.setdefault(job.label, []).append(
            Observed(
                host="claude-code",
                version="2.1.332",
                model="claude-opus-4-5" if judge else "claude-sonnet-4-5",
                started_at="2026-11-30T22:00:00Z",
                duration_ms=1000,
                settled=how != "hangs",
                failed="no final message" if how == "fails" else None,
                limit="limit reached, resets 11pm" if how == "limit" else None,
                final_text="" if how in ("fails", "hangs") else answer,
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
                tools={"Read": len(uses)},
                uses=tuple(uses),
                session="s1",
            )
        )


class Bench:
    """A started run in a project of its own, a client, and a clock."""

    def __init__(self, root: Path, cases: int = 1, trials: int = 2, case: str = CASE) -> None:
        write_skill(root, "reviewing", {f"case-{number}": case for number in range(cases)})
        self.project = project.find(root)
        skill = tree.discover(self.project).skills[0]
        begun = start.begin(
            self.project, skill, host="claude-code", trials=trials, fresh=False, dry_run=False, now=BEGIN, seed=7
        )
        assert begun.folder is not None
        self.folder = begun.folder
        self.client = FakeClient()
        self.now = BEGIN

    def step(self, limit: int = 10, session: str | None = "s1") -> Step:
        """Take a turn a minute and a bit later, so that what was never started is handed out again."""
        self.now += timedelta(seconds=61)
        return step(
            self.project,
            self.folder,
            self.client,
            now=self.now,
            limit=limit,
            session=session,
            patience=Patience(),
            agents=AGENTS,
        )

    def finish(self) -> Step:
        """Let everybody behave until the run is done."""
        for _ in range(200):
            turn = self.step()
            if turn.state == "done":
                return turn
            for job in turn.jobs:
                self.client.run(job)
        raise AssertionError("the run does not end")

    def stems(self) -> list[str]:
        """Return the names of all record files."""
        return sorted(file.stem for kind in ("arms", "judgements") for file in (self.folder / kind).iterdir())


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Return a started two-arm run of one case and two trials."""
    made = Bench(tmp_path)
    yield made
    main(["-C", str(tmp_path), "clean", "--all"])


def test_a_run_ends_with_every_job_recorded_once(bench: Bench) -> None:
    """Arms first, interleaved, then judges; then done, with the temp root removed."""
    first = bench.step(limit=3)
    assert (first.state, len(first.jobs), first.done, first.total) == ("jobs", 3, 0, 6)
    root = Path(first.jobs[0].prompt.split("`")[1]).parent
    assert root.is_dir()
    for job in first.jobs:
        bench.client.run(job)
    last = bench.finish()
    assert (last.done, last.total) == (6, 6)
    assert bench.stems() == sorted(
        f"case-0.{trial}.{what}" for trial in (1, 2) for what in ("new-skill", "no-skill", "efficacy")
    )
    assert len(bench.client.started) == len(set(bench.client.started)) == 6
    assert not root.exists()
    assert bench.step().state == "done"


def test_labels_and_paths_tell_nothing(bench: Bench) -> None:
    """What a subagent is told names no arm, no trial and no version."""
    turn = bench.step()
    assert len(turn.jobs) == 4
    for job in turn.jobs:
        for word in ("new-skill", "no-skill", "previous", "baseline", "case-0", "trial"):
            assert word not in job.prompt
        brief = Path(job.prompt.split("`")[1]).read_text()
        assert "new-skill" not in brief
        assert str(bench.project.root) not in brief


def test_the_world_of_every_arm_is_fresh(bench: Bench) -> None:
    """No two jobs share a world, a brief or a materialization."""
    turn = bench.step()
    assert len({job.prompt for job in turn.jobs}) == len(turn.jobs)
    state = json.loads((bench.folder / "state.json").read_text())
    attempts = [attempt for many in state["attempts"].values() for attempt in many]
    for kind in ("world", "brief"):
        assert len({attempt[kind] for attempt in attempts}) == len(attempts)


def test_a_job_under_way_is_not_handed_out_twice(bench: Bench) -> None:
    """Two calls at once get different jobs, or the second waits."""
    first = bench.step()
    again = step(
        bench.project,
        bench.folder,
        bench.client,
        now=bench.now,
        limit=10,
        session="s2",
        patience=Patience(),
        agents=AGENTS,
    )
    assert (again.state, again.jobs) == ("waiting", ())
    assert bench.step().jobs == first.jobs  # a minute later nobody has started them: handed out again, the same


def test_a_limit_blocks_and_then_goes_on(bench: Bench) -> None:
    """A usage limit keeps everything, says when it resets, costs no retry, and the next call carries on."""
    turn = bench.step()
    for number, job in enumerate(turn.jobs):
        bench.client.run(job, "limit" if number == 0 else "ok")
    blocked = bench.step()
    assert blocked.state == "blocked"
    assert "resets 11pm" in blocked.message
    assert blocked.done == 3
    assert bench.finish().done == 6


@pytest.mark.parametrize("how", ["fails", "skips", "nonsense"])
def test_retries_are_bounded_and_recorded(bench: Bench, how: str) -> None:
    """What fails is tried `retries` times more in a fresh world, each attempt is kept, and then it is INVALID."""
    for _ in range(60):
        turn = bench.step()
        if turn.state == "done":
            break
        for job in turn.jobs:
            bench.client.run(job, how)
    assert turn.state == "done"
    record = load(bench.folder, "run")
    assert record is not None
    attempts = sorted(file.stem for file in (bench.folder / "attempts").iterdir())
    if how == "nonsense":
        assert {judgement.status for judgement in record.judgements.values()} == {"malformed"}
        assert attempts == sorted(f"case-0.{t}.efficacy.{n}" for t in (1, 2) for n in (1, 2))
    elif how == "fails":
        assert {(arm.status, arm.attempt) for arm in record.arms.values()} == {("failed", 3)}
    else:
        new = [arm for arm in record.arms.values() if arm.arm == "new-skill"]
        assert {arm.audit.findings[0].kind for arm in new} == {"skill-not-loaded"}
        assert {arm.attempt for arm in new} == {3}
        assert not record.judgements


def test_an_arm_that_was_started_twice_is_run_again(bench: Bench) -> None:
    """Two subagents in one world spoil it: the attempt is void and a fresh one decides."""
    turn = bench.step()
    bench.client.run(turn.jobs[0])
    for job in turn.jobs:
        bench.client.run(job)
    assert bench.finish().done == 6
    assert [file.stem for file in (bench.folder / "attempts").iterdir()]


def test_a_session_that_died_is_given_up(bench: Bench) -> None:
    """Arms that hang in a session that is gone are started anew from another one, without costing a retry."""
    for job in bench.step().jobs:
        bench.client.run(job, "hangs")
    for seen in bench.client.seen.values():
        seen[0] = type(seen[0])(
            **{**{f: getattr(seen[0], f) for f in seen[0].__struct_fields__}, "idle_seconds": 100.0}
        )
    assert bench.step(session="s1").state == "waiting"
    assert len(bench.step(session="s2").jobs) == 4
    assert not (bench.folder / "attempts").exists()


def test_a_lost_state_loses_no_record(bench: Bench) -> None:
    """Without its state file a run still knows what is recorded and goes on with the rest."""
    for job in bench.step(limit=2).jobs:
        bench.client.run(job)
    bench.step(limit=1)
    (bench.folder / "state.json").write_text("{torn")
    assert bench.finish().done == 6


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["ok", "fails", "limit", "nonsense", "forget", "twice", "hangs", "late"]), st.integers(1, 5)
    ),
    max_size=12,
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(EVENTS)
def test_any_interleaving_ends_in_a_whole_record(events: list[tuple[str, int]]) -> None:
    """Finish, fail, forget, double, hang and repeat in any order: every job is recorded once, and the run ends."""
    folder = Path(tempfile.mkdtemp())
    try:
        bench = Bench(folder, cases=1, trials=2)
        bench.now = BEGIN
        for how, limit in events:
            turn = bench.step(limit=limit)
            for job in turn.jobs:
                if how == "forget":
                    continue
                bench.client.run(job, how if how not in ("twice", "late") else "ok")
                if how == "twice":
                    bench.client.run(job)
            if how == "hangs":
                bench.now += timedelta(minutes=31)
        assert bench.finish().state == "done"
        record = load(bench.folder, "run")
        assert record is not None
        assert not record.problems
        assert len(record.arms) == 4
        assert all(
            judgement.status in ("ok", "malformed", "failed", "identical") for judgement in record.judgements.values()
        )
        main(["-C", str(folder), "clean", "--all"])
    finally:
        shutil.rmtree(folder)


def test_a_person_can_be_the_client(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a manual host `next` and `record` reach a scored report, with unknown usage shown as unknown."""
    write_skill(tmp_path, "reviewing", {"one": CASE})
    at = ["-C", str(tmp_path)]
    assert main([*at, "start", "reviewing", "--host", "manual", "--trials", "1"]) == 0
    answer = tmp_path / "answer.txt"
    for _ in range(10):
        capsys.readouterr()
        assert main([*at, "next", "--json", "--wait", "0"]) == 0
        turn = json.loads(capsys.readouterr().out)
        if turn["state"] == "done":
            break
        for number, job in enumerate(turn["jobs"]):
            judge = "judge" in Path(job["prompt"].split("`")[1]).read_text().casefold()[:400]
            text = json.dumps({"winner": "A", "strength": "clear", "criteria": [CRITERION], "rationale": "So."})
            answer.write_text(text if judge else f"Answer {number}")
            assert main([*at, "record", "reviewing", job["label"], "--output", str(answer)]) == 0
    assert turn["state"] == "done"
    assert main([*at, "score"]) in (0, 1)
    assert "—" in (tmp_path / "tests/.reports/reviewing.html").read_text()


# -- what is judged is what was recorded -------------------------------------------------------------------------------


def test_a_hard_assertion_can_not_change_the_evidence(tmp_path: Path) -> None:
    """It runs on copies: what it writes to the output or the world is gone with them."""
    commands = ('echo more >> "$OUTPUT"', 'echo x > "$WORLD/y"; ls "$(dirname "$OUTPUT")"')
    gate = "## Hard assertions\n" + "".join(f"```sh\n{command}\n```\n\n" for command in commands)
    bench = Bench(tmp_path, trials=1, case=CASE.replace("## Soft criteria", f"{gate}## Soft criteria"))
    bench.finish()
    record = load(bench.folder, "run")
    assert record is not None
    arm = record.arms["case-0", 1, "new-skill"]
    assert [result.exit_code for result in arm.gate] == [0, 0]
    assert "new-skill" not in arm.gate[1].stdout, "the run record is not beside the output"
    assert record.problems == ()
    assert arm.changes == ()
    assert "more" not in (record.output("case-0", 1, "new-skill") or "")


def test_an_arm_that_runs_again_is_judged_again(bench: Bench) -> None:
    """A judgement speaks of the outputs that were there; of another output it says nothing."""
    bench.finish()
    before = sorted((bench.folder / "judgements").iterdir())
    (bench.folder / "arms/case-0.1.no-skill.json").unlink()
    judged = list(bench.client.started)
    bench.finish()
    again = [label for label in bench.client.started if label not in judged]
    assert len(again) == 2, "the arm, and its judge"
    assert sorted((bench.folder / "judgements").iterdir()) == before
    assert list((bench.folder / "attempts").glob("case-0.1.efficacy.*.json"))


@pytest.mark.parametrize("part", ["packages/new-skill/SKILL.md", "cases/case-0/fixture/in.txt"])
def test_frozen_copies_that_were_changed_are_refused(tmp_path: Path, part: str) -> None:
    """What an arm is given is what the plan names, or nothing: the message says what to do."""
    write_skill(tmp_path, "reviewing", {"case-0": CASE})
    (tmp_path / "tests/reviewing/case-0/fixture").mkdir()
    (tmp_path / "tests/reviewing/case-0/fixture/in.txt").write_text("in\n")
    bench = Bench(tmp_path)
    (bench.folder / "frozen" / part).write_text("edited\n")
    with pytest.raises(SkillbenchError, match=r"is not what was frozen .*; expected skillbench start --fresh"):
        bench.step()
    main(["-C", str(tmp_path), "clean", "--all"])


def test_a_world_that_is_gone_is_not_an_arm_that_deleted_everything(bench: Bench) -> None:
    """The arm runs again in a new world; what a temp cleaner took is nobody's change."""
    turn = bench.step(limit=1)
    (job,) = turn.jobs
    bench.client.run(job)
    state = json.loads((bench.folder / "state.json").read_text())
    (attempt,) = [one for many in state["attempts"].values() for one in many]
    shutil.rmtree(attempt["world"])
    (again,) = bench.step(limit=1).jobs
    assert again.label != job.label
    bench.finish()
    record = load(bench.folder, "run")
    assert record is not None
    assert all(arm.status == "ok" and arm.changes == () for arm in record.arms.values())


def test_a_killed_write_leaves_nothing_behind(bench: Bench) -> None:
    """Temporary files of a process that was killed are gone when the run is done."""
    left = bench.folder / "changes/.case-0.1.new-skill.diff.abc.tmp"
    left.write_text("half")
    bench.finish()
    assert not left.exists()


# -- a host that nobody can look into ----------------------------------------------------------------------------------


class Blind(FakeClient):
    """Sees a job only when its answer is there."""

    sees_running = False


def test_where_nobody_can_look_a_job_is_left_alone_until_its_time_is_up(bench: Bench) -> None:
    """Somebody may be working on it: it is not handed out twice, and after the time limit it runs in a new world."""
    bench.client = Blind()
    first = bench.step()
    assert bench.step().state == "waiting"
    bench.now += timedelta(minutes=Settings().arm_timeout_minutes)
    second = bench.step()
    assert len(second.jobs) == len(first.jobs)
    assert not {job.label for job in first.jobs} & {job.label for job in second.jobs}
    state = json.loads((bench.folder / "state.json").read_text())
    worlds = [one["world"] for many in state["attempts"].values() for one in many]
    assert len(set(worlds)) == len(worlds)


# -- another start -----------------------------------------------------------------------------------------------------


def begin(bench: Bench, **options: Any) -> start.Begun:
    """Start the bench's skill again."""
    skill = tree.discover(bench.project).skills[0]
    given: dict[str, Any] = {
        "host": None,
        "trials": None,
        "fresh": False,
        "dry_run": False,
        "now": bench.now,
        "seed": 8,
    }
    return start.begin(bench.project, skill, **(given | options))


def test_another_start_resumes_the_same_run_or_says_that_it_is_another(bench: Bench) -> None:
    """Options that the run under way does not have are never dropped without a word."""
    assert begin(bench).resumed
    assert begin(bench, host="claude-code", trials=2).resumed
    with pytest.raises(UsageError, match=r"a run of 2 trials on claude-code is not finished; --host manual --trials 5"):
        begin(bench, host="manual", trials=5)


def test_a_fresh_start_takes_the_old_worlds_away(bench: Bench) -> None:
    """Nothing of a run that is given up stays in the temp folder."""
    root = Path(bench.step().jobs[0].prompt.split("`")[1]).parent
    assert root.is_dir()
    assert not begin(bench, fresh=True, dry_run=True).resumed
    assert root.is_dir()
    assert not begin(bench, fresh=True).resumed
    assert not root.exists()
