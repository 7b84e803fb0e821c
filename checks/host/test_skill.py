"""The runner skill in the real client, with a stand-in for the program: no question, and arms see what they should."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pytest_skillbench import install

from .canned import Canned
from .lab import Lab

RUN = ("--output-format", "stream-json", "--verbose")


class Bench:
    """A project with the skill installed, two arms' worlds outside it, and a program that hands them out."""

    def __init__(self, lab: Lab, *, program: bool = True) -> None:
        self.lab = lab
        install.install(lab.work, "claude")
        subprocess.run(["git", "init", "-q", "-b", "main", str(lab.work)], check=True)
        outside = lab.temp / "w"
        self.worlds = (outside / "a1", outside / "b2")
        skill = outside / "m9" / "SKILL.md"
        for folder in (*self.worlds, skill.parent):
            folder.mkdir(parents=True)
        skill.write_text("---\nname: demo\ndescription: d\n---\npoints: 3\n")
        briefs = [outside / "k1", outside / "k2", outside / "k3"]
        briefs[0].write_text(f"Work in {self.worlds[0]} only. First read {skill}. Review it.\n")
        briefs[1].write_text(f"Work in {self.worlds[1]} only. Review it.\n")
        briefs[2].write_text('Answer {"winner": ...}.\n\nI found 3 things\n\nI found 1 thing\n')
        agents = ("skillbench-arm", "skillbench-arm", "skillbench-judge")
        jobs = [
            {"label": f"7f.k{n}", "agent": agent, "prompt": f"[skillbench job 7f.k{n}] Read {brief} and follow it."}
            for n, (agent, brief) in enumerate(zip(agents, briefs, strict=True), 1)
        ]
        answers = [
            {"state": "jobs", "done": 0, "total": 3, "jobs": jobs[:2], "message": ""},
            {"state": "waiting", "done": 1, "total": 3, "jobs": [], "message": ""},
            {"state": "jobs", "done": 2, "total": 3, "jobs": jobs[2:], "message": ""},
            {"state": "done", "done": 3, "total": 3, "jobs": [], "message": ""},
        ]
        self.canned = Canned(lab.folder / "bin", answers)
        if not program:
            (self.canned.folder / "skillbench").rename(lab.work / ".skillbench")
        record = lab.work / "tests" / ".reports" / "demo.run"
        record.mkdir(parents=True)
        (record / "plan.json").write_text('{"run_id": "r1", "skill": {"name": "demo"}, "cases": [1]}')

    def run(self, prompt: str = "/benchmark-skill demo") -> dict[str, Any]:
        """Run the client to its end and return its result event."""
        done = self.lab.run("-p", prompt, *RUN, path=[self.canned.folder])
        assert done.returncode == 0, done.stderr
        return next(event for event in map(json.loads, done.stdout.split("\n")[:-1]) if event["type"] == "result")


@pytest.fixture
def bench(lab: Lab) -> Bench:
    """Return the project in a fresh lab."""
    return Bench(lab)


def test_it_runs_from_start_to_report_without_a_question(bench: Bench) -> None:
    """In the default permission mode nothing is refused: shell, agents, worlds outside the project, the narrative."""
    result = bench.run()
    assert (result["subtype"], result["permission_denials"]) == ("success", [])
    assert result["result"].startswith("Benchmark done.")
    assert [" ".join(call) for call in bench.canned.calls()] == [
        "skillbench start demo",
        "skillbench next demo --json",
        "skillbench next demo --json",
        "skillbench next demo --json",
        "skillbench next demo --json",
        "pytest -p no:cacheprovider --skillbench tests/",
        "pytest -p no:cacheprovider --skillbench tests/",
    ]
    assert [(world / "review.md").read_text().count("thing") for world in bench.worlds] == [3, 1]
    assert (bench.lab.work / "tests/.reports/demo.run/narrative.json").is_file()


def test_subagents_carry_their_label_where_it_is_looked_for(bench: Bench) -> None:
    """Each job is one subagent, whose description is the label and whose prompt is the job's, byte for byte."""
    bench.run()
    found = {}
    for file in bench.lab.transcripts():
        if file.parent.name == "subagents":
            about = json.loads(file.with_suffix(".meta.json").read_text())
            first = json.loads(file.read_text().split("\n")[0])
            found[about["description"]] = (about["agentType"], first["message"]["content"])
    assert {label: agent for label, (agent, _) in found.items()} == {
        "7f.k1": "skillbench-arm",
        "7f.k2": "skillbench-arm",
        "7f.k3": "skillbench-judge",
    }
    answers = json.loads((bench.canned.folder / "answers.json").read_text())
    prompts = {job["label"]: job["prompt"] for answer in answers for job in answer["jobs"]}
    assert {label: prompt for label, (_, prompt) in found.items()} == prompts


def test_what_a_subagent_is_told(bench: Bench) -> None:
    """No instruction file, no listing of skills, no tool to reach one, and no git status once the setting is made."""
    (bench.lab.work / "CLAUDE.md").write_text("SAID-BY-PROJECT\n")
    rules = bench.lab.work / ".claude" / "rules"
    rules.mkdir()
    (rules / "style.md").write_text("SAID-BY-RULE\n")
    (bench.lab.home / ".claude").mkdir(exist_ok=True)
    (bench.lab.home / ".claude" / "CLAUDE.md").write_text("SAID-BY-USER\n")
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    message = ("-q", "--allow-empty", "-m", "SAID-BY-GIT")
    subprocess.run(["git", "-C", str(bench.lab.work), *identity, "commit", *message], check=True)
    (bench.lab.work / ".claude/settings.local.json").write_text('{"includeGitInstructions": false}')
    bench.run()
    asked = bench.lab.requests()
    main = [json.dumps(one["body"]) for one in asked if "x-claude-code-agent-id" not in one["headers"]]
    subagents = [one["body"] for one in asked if "x-claude-code-agent-id" in one["headers"]]
    assert any("SAID-BY-PROJECT" in text for text in main), "the sentinel itself does not work"
    assert len(subagents) >= 6
    for body in subagents:
        assert "SAID-BY" not in json.dumps(body)
        assert "benchmark" not in json.dumps(body)
        assert {tool["name"] for tool in body["tools"]} <= {"Read", "Write", "Edit", "Bash", "Grep", "Glob"}


def test_without_the_program_on_the_path_the_launcher_finds_it(lab: Lab) -> None:
    """The installed launcher is where the skill's text says, may be executed, and finds the repository's .venv."""
    bench = Bench(lab, program=False)
    program = bench.lab.work / ".venv" / "bin" / "skillbench"
    program.parent.mkdir(parents=True)
    (bench.lab.work / ".skillbench").rename(program)
    Path(program.parent / "answers.json").write_bytes((bench.canned.folder / "answers.json").read_bytes())
    result = bench.run()
    assert result["permission_denials"] == []
    assert result["result"].startswith("Benchmark done.")
    calls = [json.loads(line) for line in (program.parent / "calls").read_text().split("\n") if line]
    assert calls[0] == ["skillbench", "start", "demo"]


def test_no_argument_means_every_skill(bench: Bench) -> None:
    """The bare command is started with --all, and next without a name."""
    bench.run("/benchmark-skill")
    calls = [" ".join(call) for call in bench.canned.calls()]
    assert calls[:2] == ["skillbench start --all", "skillbench next --json"]
