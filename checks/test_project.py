"""Finding the repository: the nearest one that follows the convention, and never a fixture's imitation."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_skillbench.errors import ProjectError, SettingsError
from pytest_skillbench.project import find


def folders(root: Path, *names: str) -> None:
    """Make folders below a root."""
    for name in names:
        (root / name).mkdir(parents=True, exist_ok=True)


def test_from_the_root_a_folder_and_a_file(tmp_path: Path) -> None:
    """Wherever the user stands in the repository, and whether or not a file is named."""
    folders(tmp_path, "repo/tests/a/b", "repo/skills/a", "repo/.git")
    (tmp_path / "repo/tests/a/b/case.md").touch()
    for start in ("repo", "repo/tests", "repo/skills/a", "repo/tests/a/b/case.md", "repo/.git"):
        got = find(tmp_path / start)
        assert got.root == tmp_path / "repo"
        assert (got.tests, got.skills) == (got.root / "tests", got.root / "skills")
        assert got.reports == got.runs == got.root / "tests" / ".reports"


def test_the_nearest_with_both_wins_over_git(tmp_path: Path) -> None:
    """A package in a monorepo with its own tests/ and skills/ is the project."""
    folders(
        tmp_path, "mono/.git", "mono/tests", "mono/skills", "mono/pack/tests", "mono/pack/skills", "mono/other/tests"
    )
    assert find(tmp_path / "mono/pack/tests").root == tmp_path / "mono/pack"
    assert find(tmp_path / "mono/other/tests").root == tmp_path / "mono"


def test_git_then_tests(tmp_path: Path) -> None:
    """Without a skills root, the repository; a worktree's .git is a file; without any, the nearest tests/."""
    folders(tmp_path, "repo/sub/tests")
    (tmp_path / "repo/.git").write_text("gitdir: elsewhere\n")
    assert find(tmp_path / "repo/sub").root == tmp_path / "repo"
    folders(tmp_path, "bare/sub/tests/x")
    assert find(tmp_path / "bare/sub/tests/x").root == tmp_path / "bare/sub"


def test_nothing_there(tmp_path: Path) -> None:
    """The user is told what to do."""
    folders(tmp_path, "empty")
    with pytest.raises(ProjectError, match=r"no repository here or above; expected .* -C DIR"):
        find(tmp_path / "empty")


def test_a_repository_inside_a_fixture_is_test_data(tmp_path: Path) -> None:
    """A case about repositories has one in its fixture; standing in it still means the repository around it."""
    folders(
        tmp_path,
        "repo/skills",
        "repo/tests/s/c/fixture/inner/tests/x/y/fixture/tests",
        "repo/tests/s/c/fixture/inner/skills",
    )
    (tmp_path / "repo/tests/s/c/case.md").touch()
    inner = tmp_path / "repo/tests/s/c/fixture/inner"
    (inner / "tests/x/y/case.md").touch()
    folders(inner, "tests/x/y/fixture/skills")
    for start in (inner, inner / "tests/x/y", inner / "tests/x/y/fixture/tests"):
        assert find(start).root == tmp_path / "repo"


def test_skills_root_of_the_settings(tmp_path: Path) -> None:
    """``.claude/skills`` counts as the skills root where the settings say so."""
    folders(tmp_path, "repo/tests", "repo/.claude/skills", "repo/.git", "skills", "tests")
    (tmp_path / "repo/tests/skillbench.yaml").write_text("skills_root: .claude/skills\ntrials: 3\n")
    got = find(tmp_path / "repo")
    assert (got.root, got.skills) == (tmp_path / "repo", tmp_path / "repo/.claude/skills")
    assert got.settings.trials == 3
    (tmp_path / "repo/tests/skillbench.yaml").write_text("skils_root: x\n")
    with pytest.raises(SettingsError, match=r'tests/skillbench.yaml:1: unknown key "skils_root".*"skills_root"'):
        find(tmp_path / "repo")


def test_runs_and_reports_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative ones are as the user typed them, from here; where reports go never changes where runs are read."""
    folders(tmp_path, "repo/tests", "repo/skills", "cwd")
    monkeypatch.chdir(tmp_path / "cwd")
    got = find(tmp_path / "repo", reports=Path("out"))
    assert (got.runs, got.reports) == (tmp_path / "repo/tests/.reports", tmp_path / "cwd/out")
    got = find(tmp_path / "repo", runs=Path("../golden"))
    assert (got.runs, got.reports) == (tmp_path / "golden", tmp_path / "repo/tests/.reports")


def test_through_a_link_and_from_a_start_that_is_not_there(tmp_path: Path) -> None:
    """Paths are real, so that they compare; a path that was deleted still has a repository above it."""
    folders(tmp_path, "repo/tests", "repo/skills")
    (tmp_path / "alias").symlink_to("repo")
    assert find(tmp_path / "alias" / "tests").root == tmp_path / "repo"
    assert find(tmp_path / "repo" / "gone" / "deep").root == tmp_path / "repo"


def test_relative_paths_of_messages(tmp_path: Path) -> None:
    """As a user at the root would type them."""
    folders(tmp_path, "repo/tests", "repo/skills")
    project = find(tmp_path / "repo")
    assert project.relative(project.tests / "a" / "case.md") == "tests/a/case.md"
    assert project.relative(Path("/elsewhere/x")) == "/elsewhere/x"
