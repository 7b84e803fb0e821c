"""``skillbench doctor`` and the preflight: what is missing for a run, and where an arm could come upon the skill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_skillbench import doctor, install, project
from pytest_skillbench.doctor import Check, agent_names, copies, examine, preflight
from pytest_skillbench.errors import UsageError
from pytest_skillbench.project import Project

from .repos import Repo

CASE = "---\ndescription: one\n---\n## Prompt\nDo it.\n## Soft criteria\n- done\n"
TEXT = "---\nname: code-review\ndescription: reviews\n---\nReview.\n"
AGENTS = {name: name for name in install.AGENTS}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Make a repository with the skill ``code-review`` and one case."""
    made = Repo(tmp_path / "repo")
    made.write("skills/dev/code-review/SKILL.md", TEXT)
    made.write("tests/dev/code-review/one/case.md", CASE)
    made.git("init", "-q", "-b", "main")
    return made


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Return an environment with an empty home and the system's programs."""
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}


def at(repo: Repo) -> Project:
    """Return the project of a repository."""
    return project.find(repo.root)


def slugs(repo: Repo, environ: dict[str, str], name: str = "code-review") -> list[tuple[str, str]]:
    """Return slug and path of every problem that the preflight finds."""
    return [(problem.slug, problem.path) for problem in preflight(at(repo), name, environ)]


def ready(repo: Repo) -> None:
    """Bring a repository into the state in which the preflight has nothing to say."""
    install.install(repo.root, "claude")
    repo.write(".claude/settings.local.json", '{"includeGitInstructions": false}')


def topics(checks: tuple[Check, ...], status: str) -> list[str]:
    """Return the topics of the checks with this status."""
    return [check.topic for check in checks if check.status == status]


# -- preflight --------------------------------------------------------------------------------------------------------


def test_a_prepared_repository_has_nothing_to_warn_of(repo: Repo, environ: dict[str, str]) -> None:
    """With agents installed, no copy, no mention and the git status kept out, the preflight is silent."""
    ready(repo)
    assert preflight(at(repo), "code-review", environ) == ()


@pytest.mark.parametrize(
    "place",
    [
        "repo/.claude/skills/code-review",
        "repo/.agents/skills/code-review",
        "home/.claude/skills/code-review",
        "home/.agents/skills/code-review",
        "home/.codex/skills/code-review",
        "home/.claude/plugins/cache/market/tools/1.2.0/skills/code-review",
    ],
)
def test_an_installed_copy_is_found(repo: Repo, environ: dict[str, str], tmp_path: Path, place: str) -> None:
    """Wherever a client reads skills from, a copy of the skill under test is told with its place, and not another's."""
    ready(repo)
    for name in ("code-review", "other"):
        copy = tmp_path / Path(place).with_name(name)
        copy.mkdir(parents=True)
        (copy / "SKILL.md").write_text(TEXT)
    assert copies(at(repo), "code-review", environ) == (tmp_path / place,)
    (problem,) = preflight(at(repo), "code-review", environ)
    assert (problem.slug, problem.severity) == ("exposure-copy", "warning")
    assert problem.path == at(repo).relative(tmp_path / place)


def test_the_environment_says_where_the_client_is(repo: Repo, environ: dict[str, str], tmp_path: Path) -> None:
    """CLAUDE_CONFIG_DIR and CODEX_HOME move the folders that are looked at."""
    for folder in ("claude-home/skills/code-review", "codex-home/skills/code-review"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "SKILL.md").write_text(TEXT)
    moved = {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude-home"), "CODEX_HOME": str(tmp_path / "codex-home")}
    assert copies(at(repo), "code-review", environ) == ()
    assert len(copies(at(repo), "code-review", {**environ, **moved})) == 2


def test_a_link_to_the_skill_is_a_copy_and_the_skills_root_is_not(repo: Repo, environ: dict[str, str]) -> None:
    """A skill that is linked into .claude/skills is one that the client offers; one that lives there is at home."""
    (repo.root / ".claude/skills").mkdir(parents=True)
    (repo.root / ".claude/skills/code-review").symlink_to("../../skills/dev/code-review")
    assert copies(at(repo), "code-review", environ) == (repo.root / ".claude/skills/code-review",)
    repo.write("tests/skillbench.yaml", "skills_root: .claude/skills\n")
    assert copies(at(repo), "code-review", environ) == ()


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("CLAUDE.md", "Be kind.\r\nUse the code-review skill.\r\n", 2),
        ("AGENTS.md", "See skills/dev/code-review.", 1),
        (".claude/rules/deep/style.md", "\n\n/code-review first", 3),
        ("../CLAUDE.md", "CODE-REVIEW", 1),
        ("../home/.claude/CLAUDE.md", "`code-review`", 1),
    ],
)
def test_instructions_that_name_the_skill_are_found(
    repo: Repo, environ: dict[str, str], file: str, text: str, line: int
) -> None:
    """Every file whose text reaches conversations is searched, above the repository and in the home as well."""
    ready(repo)
    repo.write(file, text)
    (problem,) = preflight(at(repo), "code-review", environ)
    assert (problem.slug, problem.line) == ("exposure-mention", line)
    assert Path(problem.path).name == Path(file).name


@pytest.mark.parametrize("text", ["my-code-review", "code-reviewer", "review the code", "code-review-2"])
def test_other_words_are_not_the_skill(repo: Repo, environ: dict[str, str], text: str) -> None:
    """A longer name that has the skill's in it is another."""
    ready(repo)
    repo.write("CLAUDE.md", f"Always {text} things.\n")
    assert slugs(repo, environ) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Write a test first, and test again.", False),
        ("Run the test skill.", True),
        ("Use `test`.", True),
        ("Say /test.", True),
        ("skill: test", True),
        ("the testing skill", False),
    ],
)
def test_an_everyday_word_counts_only_as_a_name(repo: Repo, environ: dict[str, str], text: str, found: bool) -> None:
    """A skill called ``test`` does not make every sentence with that word a warning."""
    ready(repo)
    repo.write("CLAUDE.md", text)
    assert bool(slugs(repo, environ, "test")) is found


def test_instructions_that_cannot_be_read_are_told(repo: Repo, environ: dict[str, str]) -> None:
    """A file that is too large to search is said, and a FIFO does not hang."""
    ready(repo)
    (repo.root / "CLAUDE.md").write_bytes(b"x" * (1 << 21))
    os.mkfifo(repo.root / "AGENTS.md")
    assert slugs(repo, environ) == [("exposure-unreadable", "CLAUDE.md")]


def test_agents_that_are_not_there_or_too_new(repo: Repo, environ: dict[str, str], tmp_path: Path) -> None:
    """Absent agents, and agents that were put there after the session began, are told with what to do."""
    repo.write(".claude/settings.local.json", '{"includeGitInstructions": false}')
    (problem,) = preflight(at(repo), "code-review", environ)
    assert problem.slug == "preflight-no-agents"
    assert "skillbench install" in str(problem)
    install.install(repo.root, "claude")
    session = tmp_path / "home/.claude/projects/-repo/5e55-10.jsonl"
    session.parent.mkdir(parents=True)
    inside = {**environ, "CLAUDE_CODE_SESSION_ID": "5e55-10"}
    session.write_text('{"type":"mode"}\nnot json\n{"timestamp":"2020-01-01T00:00:00.000Z"}\n')
    assert [slug for slug, _ in slugs(repo, inside)] == ["preflight-fresh-agent"] * 2
    session.write_text('{"timestamp":"2099-01-01T00:00:00Z"}\n')
    assert slugs(repo, inside) == []
    assert slugs(repo, {**environ, "CLAUDE_CODE_SESSION_ID": "../../etc"}) == []


def test_agents_are_known_by_the_name_that_the_client_gives_them(
    repo: Repo, environ: dict[str, str], tmp_path: Path
) -> None:
    """In the project or the home by their own name, in a plugin as ``plugin:name``; a broken plugin counts as none."""
    assert agent_names(at(repo), environ) == {}
    plugin = tmp_path / "home/.claude/plugins/cache/m/p/1"
    for name in install.AGENTS:
        (plugin / "agents").mkdir(parents=True, exist_ok=True)
        (plugin / f"agents/{name}.md").write_text("x")
    assert agent_names(at(repo), environ) == {}
    (plugin / ".claude-plugin").mkdir()
    (plugin / ".claude-plugin/plugin.json").write_text('{"name": "bench"}')
    assert agent_names(at(repo), environ) == {name: f"bench:{name}" for name in install.AGENTS}
    install.install(Path(environ["HOME"]), "claude")
    assert agent_names(at(repo), environ) == AGENTS


@pytest.mark.parametrize(
    ("files", "variables", "warned"),
    [
        ({}, {}, True),
        ({".claude/settings.json": "false"}, {}, False),
        ({".claude/settings.json": "false", ".claude/settings.local.json": "true"}, {}, True),
        ({"../home/.claude/settings.json": "false"}, {}, False),
        ({".claude/settings.json": '"no"'}, {}, True),
        ({}, {"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "1"}, False),
        ({}, {"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "0"}, True),
    ],
)
def test_the_git_status_that_subagents_see(
    repo: Repo, environ: dict[str, str], files: dict[str, str], variables: dict[str, str], warned: bool
) -> None:
    """The client's own setting decides, the nearest file first; without it the warning says which one it is."""
    install.install(repo.root, "claude")
    for file, value in files.items():
        repo.write(file, f'{{"includeGitInstructions": {value}}}')
    found = slugs(repo, {**environ, **variables})
    assert found == ([("exposure-git-status", ".claude/settings.local.json")] if warned else [])


# -- doctor -----------------------------------------------------------------------------------------------------------


def test_a_ready_machine_has_no_blocker(repo: Repo, environ: dict[str, str]) -> None:
    """Where everything is there the doctor says so topic by topic, each once."""
    ready(repo)
    client = repo.write("../bin/claude", "#!/bin/sh\necho '2.1.332 (Claude Code)'\n", mode=0o755)
    (Path(environ["HOME"]) / ".claude/projects").mkdir(parents=True)
    checks = examine(repo.root, (), {**environ, "PATH": f"{client.parent}:{environ['PATH']}"})
    assert topics(checks, "ok") == [check.topic for check in checks], checks
    by_topic = {check.topic: check.text for check in checks}
    assert by_topic["client"] == "Claude Code 2.1.332 (Claude Code)"
    assert by_topic["installation"] == "/benchmark-skill in .claude: current"
    assert by_topic["isolation"] == "nothing gives a skill away"


def test_what_is_missing_is_told_with_its_remedy(repo: Repo, environ: dict[str, str], tmp_path: Path) -> None:
    """A bare machine gives warnings, each with something to do; no git is a blocker."""
    checks = examine(repo.root, (), {**environ, "PATH": str(tmp_path / "nothing")})
    assert topics(checks, "blocker") == ["git"]
    assert {"client", "pytest", "installation", "transcripts", "isolation"} <= set(topics(checks, "warning"))
    assert all(check.hint for check in checks if check.status != "ok"), checks


def test_outside_a_repository_it_still_says_what_it_can(tmp_path: Path, environ: dict[str, str]) -> None:
    """Without a project the machine is looked at all the same, and the project is the blocker."""
    empty = tmp_path / "empty"
    empty.mkdir()
    checks = examine(empty, (), environ)
    assert topics(checks, "blocker") == ["repository"]
    assert [check.topic for check in checks][:2] == ["program", "git"]


def test_a_client_that_hangs_up_is_still_there(repo: Repo, environ: dict[str, str]) -> None:
    """A client whose version can't be had is named; escape sequences in what it says do not reach the terminal."""
    folder = repo.write("../bin/codex", "#!/bin/sh\nexit 3\n", mode=0o755).parent
    repo.write("../bin/gemini", "#!/bin/sh\nprintf '\\033[31m0.61\\033[0m'\n", mode=0o755)
    repo.write("../bin/opencode", "not a program", mode=0o755)
    checks = examine(repo.root, (), {**environ, "PATH": f"{folder}:{environ['PATH']}"})
    text = next(check.text for check in checks if check.topic == "client")
    assert text.startswith("Codex (does not say its version), OpenCode (does not say its version), Gemini CLI ")
    assert "\033" not in text


def test_the_session_it_runs_in(repo: Repo, environ: dict[str, str]) -> None:
    """In a session its transcript is looked for, since a run without one can't be collected."""
    inside = {**environ, "CLAUDE_CODE_SESSION_ID": "0f-1"}
    found = next(check for check in examine(repo.root, (), inside) if check.topic == "transcripts")
    assert (found.status, "CLAUDE_CONFIG_DIR" in str(found.hint)) == ("warning", True)
    file = Path(environ["HOME"]) / ".claude/projects/x/0f-1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("{}\n")
    found = next(check for check in examine(repo.root, (), inside) if check.topic == "transcripts")
    assert (found.status, str(file) in found.text) == ("ok", True)


def test_looking_changes_nothing(repo: Repo, environ: dict[str, str]) -> None:
    """The doctor leaves repository and home as they were, git's own files included, and no temp folder behind."""
    repo.commit()
    before = repo.state()
    text = next(check.text for check in examine(repo.root, (), environ) if check.topic == "temp folder")
    temporary = Path(text.removeprefix("worlds are made in "))
    assert not [path for path in temporary.glob("sb-*") if (path / ".owner").exists() and not any(path.iterdir())]
    assert repo.state() == before
    assert list(Path(environ["HOME"]).iterdir()) == []


def test_an_unknown_skill_is_an_error(repo: Repo, environ: dict[str, str]) -> None:
    """Asking for a skill that is not there is a mistake on the command line, with a suggestion."""
    with pytest.raises(UsageError, match="code-review"):
        examine(repo.root, ("code-reviw",), environ)


def test_reports_that_cannot_be_written_stop_a_run(repo: Repo, environ: dict[str, str]) -> None:
    """A file where the run records go is found before a run spends anything."""
    repo.write("tests/.reports", "a file")
    checks = examine(repo.root, (), environ)
    assert topics(checks, "blocker") == ["reports"]


def test_the_command_tells_and_exits(repo: Repo, environ: dict[str, str], tmp_path: Path) -> None:
    """0 with warnings, 2 with a blocker; the JSON has the same checks as the text has lines."""
    code = "import sys; from pytest_skillbench import cli; cli.COMMANDS.setdefault('doctor', 'x'); sys.exit(cli.main())"

    def run(*arguments: str, path: str = environ["PATH"]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code, "doctor", *arguments],
            cwd=repo.root,
            env={**environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    said = run()
    assert said.returncode == 0, said.stderr
    assert "warning  installation" in said.stdout
    told = json.loads(run("--json").stdout)
    lines = [line for line in said.stdout.split("\n") if line and not line.startswith(" ")]
    assert len(told["checks"]) == len(lines)
    assert run(path=str(tmp_path)).returncode == 2


def test_it_offers_what_others_ask_it_for() -> None:
    """The names that `start` and `next` import are there."""
    assert set(doctor.__all__) == {"Check", "agent_names", "copies", "examine", "fresh_agent", "preflight"}
