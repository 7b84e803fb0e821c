"""`skillbench check`: every problem in one go, honest warnings, exit codes, and assertions really run."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest

from pytest_skillbench.check import check
from pytest_skillbench.cli import main
from pytest_skillbench.project import find
from pytest_skillbench.tree import discover


def write(root: Path, path: str, text: str = "x") -> None:
    """Write a file and the folders above it."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def case(prompt: str = "Do it.", hard: str = "", criteria: str = "- good", seed: str = "") -> str:
    """Return a small case, with parts in it."""
    fence = f"## Hard assertions\n```sh\n{hard}\n```\n" if hard else ""
    talk = f"## Seed\n{seed}\n" if seed else ""
    return f"---\ndescription: d\n---\n## Prompt\n{prompt}\n{talk}{fence}## Soft criteria\n{criteria}\n"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository with one skill, and go there."""
    root = tmp_path / "repo"
    write(root, "skills/plan-trip/SKILL.md")
    write(root, "tests/skillbench.yaml", "gate_timeout_seconds: 1\n")
    monkeypatch.chdir(root)
    return root


def warnings(repo: Path, *, run: bool = True) -> dict[str, int | None]:
    """Check everything; return the slugs and lines of what are all warnings."""
    found = check(discover(find(repo)), run=run)
    assert all(problem.severity == "warning" for problem in found), found
    return {problem.slug: problem.line for problem in found}


def test_a_clean_repository(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to say, exit code 0, and a summary that counts what was looked at."""
    write(repo, "tests/plan-trip/a/case.md", case(hard='grep -q x "$OUTPUT"'))
    assert main(["check"]) == 0
    assert capsys.readouterr().out == "0 errors, 0 warnings in 1 skill, 1 case\n"


def test_warnings_leave_it_green(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A skill without cases is reported and no error."""
    assert main(["check"]) == 0
    assert capsys.readouterr().out == (
        "skills/plan-trip: no cases; expected tests/plan-trip/<case>/case.md (warning)\n"
        "0 errors, 1 warning in 1 skill, 0 cases\n"
    )


def test_everything_wrong_at_once(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Places, parse errors, fixtures and orphans in one list, sorted, with exit code 2."""
    write(repo, "tests/plan-trip/a/case.md", "---\ndescription: yes\n---\n")
    write(repo, "tests/plan-trip/b c/case.md", case())
    write(repo, "tests/plan-trp/d/case.md", case(criteria=""))
    (repo / "tests/plan-trip/a/fixture").mkdir()
    os.mkfifo(repo / "tests/plan-trip/a/fixture/pipe")
    assert main(["check"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        'tests/plan-trip/a/case.md:1: no section "Prompt"; expected a line ## Prompt',
        'tests/plan-trip/a/case.md:1: no section "Soft criteria"; expected a line ## Soft criteria',
        'tests/plan-trip/a/case.md:2: description "yes" is a boolean to YAML; expected text: quote it, "yes"',
        "tests/plan-trip/a/fixture/pipe: not a regular file; expected files, folders and inner links only",
        'tests/plan-trip/b c: "b c" is no name of a case; expected [a-z0-9][a-z0-9-]*; did you mean "b-c"?',
        'tests/plan-trp: no skill "plan-trp"; expected tests/ to mirror the skills root; did you mean "plan-trip"?',
        "tests/plan-trp/d/case.md:6: no soft criteria; expected at least one list item: - …",
        "7 errors, 0 warnings in 1 skill, 3 cases",
    ]


def test_assertions_that_already_pass(repo: Path) -> None:
    """Run on the untouched fixture with an empty output; one that only a good answer passes is no warning."""
    hard = 'test -f given.txt\ntest -f "$WORLD/out/x"\ntest -s "$OUTPUT"\ntest -d out && touch out/x && false'
    write(repo, "tests/plan-trip/a/case.md", case(hard=hard))
    write(repo, "tests/plan-trip/a/fixture/given.txt")
    write(repo, "tests/plan-trip/a/fixture/.skillbench-dirs", "out\n")
    assert warnings(repo) == {"assertion-passes": 8}
    assert warnings(repo, run=False) == {}
    assert sorted(os.listdir(repo / "tests/plan-trip/a/fixture")) == [".skillbench-dirs", "given.txt"]


def test_assertions_that_cannot_work(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What hangs and what calls a missing command are warnings; what the shell can't read is an error."""
    write(repo, "tests/plan-trip/a/case.md", case(hard="sleep 300\nno-such-command-here\nif true; then; fi"))
    assert main(["check"]) == 2
    out = capsys.readouterr().out
    assert (
        "case.md:8: this hard assertion did not end within 1 s on the untouched fixture; expected an end (warning)"
        in out
    )
    assert "case.md:9: this hard assertion ends with 127, a command that is not there" in out
    assert "case.md:10: this hard assertion is not sh:" in out
    assert "1 error, 2 warnings in 1 skill, 1 case" in out
    assert main(["check", "--no-run"]) == 0


def test_nothing_is_left_of_the_worlds(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporary worlds go, even where an assertion took away their rights; one inside the repository is refused."""
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    write(repo, "tests/plan-trip/a/case.md", case(hard="mkdir -p a/b && touch a/b/c && chmod 000 a/b a && false"))
    assert warnings(repo) == {}
    assert list(place.iterdir()) == []
    (repo / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(repo / "tmp"))
    assert warnings(repo) == {"check-tmpdir": None}


@pytest.mark.parametrize(
    ("prompt", "slug"),
    [
        ("Use plan-trip for this.", "prompt-names-skill"),
        ("run /plan-trip now", "prompt-names-skill"),
        ("See https://example.org/x.", "prompt-url"),
        ("Read /etc/passwd please", "prompt-absolute-path"),
        ("Read ~/notes.txt", "prompt-absolute-path"),
        ("Read C:\\Users\\me", "prompt-absolute-path"),
        ("Be sure it NAMES  the missing\nnull check.", "prompt-quotes-criterion"),
        ("x\n### Hard assertions\ny", "section-level"),
    ],
)
def test_prompts_that_make_it_unfair(repo: Path, prompt: str, slug: str) -> None:
    """Each is legal, and a warning at the prompt."""
    write(repo, "tests/plan-trip/a/case.md", case(prompt=prompt, criteria="- Names the missing null check\n- ok"))
    assert warnings(repo) == {slug: 4}


def test_prompts_that_are_fine(repo: Path) -> None:
    """No false alarm for ordinary text."""
    prompt = (
        "Plan a trip, and/or fix a/b.py (1/2) at 10:30. My planning-trip is re-plan-trip-like: see ./x/y and src/z."
    )
    write(repo, "tests/plan-trip/a/case.md", case(prompt=prompt, criteria="- trip\n- Names the missing null check"))
    assert warnings(repo) == {}


def test_seed_turns_are_looked_at(repo: Path) -> None:
    """A conversation can give the skill away as well."""
    write(repo, "tests/plan-trip/a/case.md", case(seed="**User:** use plan-trip"))
    assert warnings(repo) == {"prompt-names-skill": 6}


def test_only_the_skills_asked_for(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another skill's problems are not this one's; a name that is not there is a usage error with a suggestion."""
    write(repo, "skills/other/SKILL.md")
    write(repo, "tests/other/a/case.md", "")
    write(repo, "tests/plan-trip/a/case.md", case())
    assert main(["check", "plan-trip"]) == 0
    assert capsys.readouterr().out == "0 errors, 0 warnings in 1 skill, 1 case\n"
    assert main(["check", "other"]) == 2
    capsys.readouterr()
    assert main(["check", "plan-tripp"]) == 2
    assert capsys.readouterr().err == 'skillbench: error: skills: no skill "plan-tripp"; did you mean "plan-trip"?\n'


def test_json(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Machines get the same problems, whole, in one object; names that are no text can't break it."""
    write(repo, "tests/plan-trip/a/case.md", case())
    write(repo, "tests/plan-trip/\udcff/case.md", case())
    assert main(["check", "--json"]) == 2
    got = json.loads(capsys.readouterr().out)
    assert got["schema_version"] == 1
    assert got["skills"] == [{"name": "plan-trip", "path": "plan-trip", "cases": ["a", "\udcff"]}]
    assert [(p["slug"], p["severity"], p["suggestion"]) for p in got["problems"]] == [("case-name", "error", "case")]


def test_hostile_text_moves_no_cursor(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names and headings come from files that anybody may have written."""
    write(repo, "tests/plan-trip/a\x1b[2J\nb/case.md", "---\ndescription: d\n---\n## \u202eevil\x1b\n")
    assert main(["check"]) == 2
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert all(line.startswith("tests/plan-trip/a\u241b[2J b") for line in out.splitlines()[:-1])


def test_the_scorecards_files_are_looked_at_too(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Config, baseline, and eval cases in both places; not where only a skill's own cases are asked for."""
    write(repo, "tests/plan-trip/a/case.md", case())
    write(repo, "tests/plan-trip/evals/e.yaml", "name: e\nskill: plan-trip\ncategory: trigger-positve\n")
    write(repo, "evals/cases/plan-trip/f.yaml", "name: f\n---\n- 1\n")
    write(repo, "evals/config.yaml", "dimensions: 3\n")
    write(repo, "evals/baseline.yaml", "skills: 4\n")
    assert main(["check", "--no-run"]) == 2
    out = capsys.readouterr().out
    for file in ("evals/baseline.yaml:1", "evals/config.yaml:1", "evals/cases/plan-trip/f.yaml:3"):
        assert f"{file}: " in out
    assert "tests/plan-trip/evals/e.yaml:3: " in out
    assert main(["check", "--no-run", "plan-trip"]) == 0
