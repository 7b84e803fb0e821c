"""Discovery: everything is found, nothing twice, nothing outside, and what is wrong never hides what is right."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillbench.errors import CaseError, UsageError
from pytest_skillbench.project import find
from pytest_skillbench.skillfile import is_plain
from pytest_skillbench.tree import Tree, discover, fixture_problems, read_case

CASE = "---\ndescription: d\n---\n## Prompt\nDo it.\n## Soft criteria\n- good\n"


class Repo:
    """A repository in a folder, made of one line a skill or case."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("skills", "tests"):
            (root / name).mkdir(parents=True)

    def skill(self, *paths: str, text: str = "---\nname: x\n---\n") -> None:
        """Make skills."""
        for path in paths:
            self.write(f"skills/{path}/SKILL.md", text)

    def case(self, *paths: str, text: str = CASE) -> None:
        """Make cases."""
        for path in paths:
            self.write(f"tests/{path}/case.md", text)

    def write(self, path: str, text: str = "") -> Path:
        """Write a file and the folders above it."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).symlink_to(target)

    def tree(self) -> Tree:
        """Discover everything."""
        return discover(find(self.root))

    def problems(self) -> list[str]:
        """Return every problem as the user sees it."""
        return [str(problem) for problem in self.tree().problems]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Make an empty repository."""
    return Repo(tmp_path / "repo")


def shape(tree: Tree) -> dict[str, list[str]]:
    """Return the names of the cases of each skill path."""
    return {skill.path: [case.name for case in skill.cases] for skill in tree.skills}


def test_skills_at_any_depth_with_their_cases(repo: Repo) -> None:
    """Dot folders, build folders, a skill inside a skill: pytest's and everybody's habits of skipping are not ours."""
    paths = [".curated/plan", "build/x", "dist/x2", "g1/g2/g3/deep", "node_modules/y", "outer", "outer/inner", "venv/z"]
    repo.skill(*paths)
    repo.case(*(f"{path}/one" for path in paths))
    tree = repo.tree()
    assert shape(tree) == {path: ["one"] for path in paths}
    assert tree.problems == ()
    assert tree.skills[0].name == "plan"
    assert tree.skills[0].tests == repo.root / "tests/.curated/plan"
    assert tree.skills[0].cases[0].path == "tests/.curated/plan/one"


def test_authored_order(repo: Repo) -> None:
    """Those that the settings name come first, the rest in natural order."""
    repo.skill("s")
    repo.case("s/case-10", "s/case-2", "s/zebra", "s/alpha")
    assert shape(repo.tree())["s"] == ["alpha", "case-2", "case-10", "zebra"]
    repo.write("tests/s/skillbench.yaml", "order:\n- zebra\n- case-3\n- case-10\n")
    tree = repo.tree()
    assert shape(tree)["s"] == ["zebra", "case-10", "alpha", "case-2"]
    assert [str(p) for p in tree.problems] == [
        'tests/s/skillbench.yaml:3: order names a case "case-3" that is not there; did you mean "case-2"?'
    ]


def test_settings_override_the_repository(repo: Repo) -> None:
    """A broken file is that skill's problem; it keeps the repository's settings."""
    repo.skill("good", "bad")
    repo.write("tests/skillbench.yaml", "trials: 3\nretries: 1\n")
    repo.write("tests/good/skillbench.yaml", "trials: 4\n")
    repo.write("tests/bad/skillbench.yaml", "trials: many\n")
    tree = repo.tree()
    settings = {skill.name: (skill.settings.trials, skill.settings.retries) for skill in tree.skills}
    assert settings == {"good": (4, 1), "bad": (3, 1)}
    assert [p.path for p in tree.skills[0].problems] == ["tests/bad/skillbench.yaml"]


def test_fixtures_and_reports_are_never_entered(repo: Repo) -> None:
    """A fixture may hold a whole repository of cases; none of them is ours."""
    repo.skill("s", "deep/fixture")
    repo.case("s/a", "s/a/fixture/x", "s/a/fixture/tests/s/b", ".reports/s.run/c", "deep/fixture/ok")
    repo.write("tests/s/forgotten/fixture/tests/s/c/case.md", CASE)
    tree = repo.tree()
    assert shape(tree) == {"s": ["a"], "deep/fixture": ["ok"]}
    assert tree.orphans == ()
    assert [str(p) for p in tree.problems] == ["tests/s/forgotten: no case.md in it; expected a case"]


def test_a_case_cannot_be_called_fixture(repo: Repo) -> None:
    """It would never be entered; that is said."""
    repo.skill("s")
    repo.case("s/fixture")
    assert shape(repo.tree()) == {"s": []}
    assert "a case can't be called fixture" in repo.problems()[0]


def test_orphans_suggest_the_nearest_skill(repo: Repo) -> None:
    """One problem for a folder however many cases are in it; each case carries it."""
    repo.skill("engineering/code-review", "moved/plan")
    repo.case("engneering/code-review/a", "engneering/code-review/b", "plan/c", "loose", "engineering/code-review/x/y")
    repo.case("engineering/code-review/x")
    tree = repo.tree()
    assert sorted(entry.path for entry in tree.orphans) == [
        "tests/engineering/code-review/x/y",
        "tests/engneering/code-review/a",
        "tests/engneering/code-review/b",
        "tests/loose",
        "tests/plan/c",
    ]
    assert all(entry.problems for entry in tree.orphans)
    got = {p.path: p.suggestion for p in tree.problems}
    assert got["tests/engneering"] == "engineering/code-review"
    assert got["tests/plan"] == "moved/plan"
    assert "tests/engineering/code-review/x/y/case.md" in got
    assert len([p for p in tree.problems if p.path.startswith("tests/engneering")]) == 1


def test_case_files_in_the_wrong_place_or_spelling(repo: Repo) -> None:
    """Next to the cases, right below tests/, Case.md: errors that say where it belongs."""
    repo.skill("s")
    repo.case("s", "s/a")
    repo.write("tests/case.md", CASE)
    repo.write("tests/s/b/Case.md", CASE)
    got = repo.problems()
    assert any(
        line.startswith("tests/s/case.md: a case needs a folder of its own; expected tests/s/<case>/") for line in got
    )
    assert any(line.startswith("tests/case.md: a case needs a folder") for line in got)
    assert 'tests/s/b/Case.md: "Case.md" makes no case; expected case.md; did you mean "case.md"?' in got
    assert shape(repo.tree()) == {"s": ["a"]}


def test_other_test_folders_are_a_warning(repo: Repo) -> None:
    """A repository may have Python tests there already; without a case in them that is no error."""
    repo.skill("s")
    repo.write("tests/unit/deep/test_a.py")
    repo.write("tests/__pycache__/x.pyc")
    (found,) = repo.tree().problems
    assert (found.path, found.severity) == ("tests/unit", "warning")


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("a b", "a-b-2"),
        ("Case", "case"),
        ("x[1]", "x-1"),
        ("a::b", "a-b-2"),
        ("-x", "x"),
        ("\u4ee3\u7801", "case"),
        ("n\u00e4h", "nah"),
        ("a" * 129, "a" * 100),
        ("new\nline", "new-line"),
    ],
)
def test_names_of_cases(repo: Repo, name: str, suggestion: str) -> None:
    """A name that could not be pasted back as a node id is refused with one that can, and that nobody has."""
    repo.skill("s")
    repo.case("s/a-b", f"s/{name}")
    tree = repo.tree()
    by_name = {case.name: case for case in tree.skills[0].cases}
    (found,) = by_name[name].problems
    assert (found.slug, found.suggestion) == ("case-name", suggestion)
    assert by_name["a-b"].problems == ()


def test_names_of_skills(repo: Repo) -> None:
    """Names that are one file on some file system, or no file name, are refused; every other skill is untouched."""
    repo.skill(
        "a/dup",
        "b/dup",
        "x/Plan",
        "y/plan",
        "u/na\u0308h",
        "v/n\u00e4h",
        "index",
        "t\tab",
        "r\u202etl",
        "l" * 220,
        "fine",
    )
    repo.skill("\u4ee3\u7801\u5ba1\u67e5", "\u4ee3\u7801\u68c0\u67e5")
    tree = repo.tree()
    bad = {skill.path: skill.problems[0].what for skill in tree.skills if skill.problems}
    assert set(bad) == {
        "a/dup",
        "b/dup",
        "x/Plan",
        "y/plan",
        "u/na\u0308h",
        "v/n\u00e4h",
        "index",
        "t\tab",
        "r\u202etl",
        "l" * 220,
    }
    assert "skills/b/dup" in bad["a/dup"]
    assert 'and "plan" would be one file' in bad["x/Plan"]
    assert {skill.name for skill in tree.skills if not skill.problems} >= {"fine", "\u4ee3\u7801\u5ba1\u67e5"}


def test_names_that_are_no_text(repo: Repo) -> None:
    """A folder whose name is not UTF-8 is a named problem everywhere."""
    repo.skill("s")
    os.mkdir(os.fsencode(repo.root / "skills") + b"/\xff")
    (repo.root / "skills" / "\udcff" / "SKILL.md").write_text("x")
    repo.case("s/\udcfe")
    assert all(line.encode() for line in repo.problems())
    assert len(repo.problems()) == 2


def test_broken_skill_files_never_drop_a_skill(repo: Repo) -> None:
    """All forty listed: a SKILL.md that no client can read is a warning with its line."""
    repo.skill(*(f"s{number}" for number in range(40)))
    repo.skill("s1", text="---\nname: s1\ndescription: use when: a, b\n---\n")
    repo.skill("s2", text="---\nname: x\n")
    repo.skill("s3", text="---\n- a\n---\n")
    repo.skill("s4", text="---\r\nname: 1.10\r\ndescription: yes\r\n---\r\n")
    repo.skill("s5", text="no front matter")
    (repo.root / "skills/s6/SKILL.md").write_bytes(b"---\nname: \xff\n---\n")
    (repo.root / "skills/s7/SKILL.md").unlink()
    (repo.root / "skills/s7/SKILL.md").mkdir()
    (repo.root / "skills/s8/SKILL.md").unlink()
    os.mkfifo(repo.root / "skills/s8/SKILL.md")
    tree = repo.tree()
    assert len(tree.skills) == 40
    assert [str(p) for p in tree.problems] == [
        "skills/s1/SKILL.md:3: broken: not YAML: mapping values are not allowed here",
        "skills/s2/SKILL.md:1: broken: the front matter is never closed",
        "skills/s3/SKILL.md:2: broken: the front matter is a list",
        "skills/s6/SKILL.md:2: broken: not UTF-8",
        "skills/s7/SKILL.md: a folder; expected a file",
        "skills/s8/SKILL.md: broken: not a regular file",
    ]
    assert [p.severity for p in tree.problems] == ["warning"] * 4 + ["error", "warning"]


def test_spelling_and_place_of_a_skill_file(repo: Repo) -> None:
    """skill.md is no skill, and neither is one at the root; both are said."""
    repo.write("skills/low/skill.md")
    repo.write("skills/SKILL.md")
    got = repo.problems()
    assert repo.tree().skills == ()
    assert any('did you mean "SKILL.md"' in line for line in got)
    assert any("a skill needs a folder of its own" in line for line in got)


def test_links(repo: Repo) -> None:
    """Followed once, inside the repository, cycles ended: one rule for skills and tests, and no skill twice."""
    repo.skill("real/s")
    repo.write("vendor/pack/SKILL.md", "x")
    repo.write("vendor/pack/sub/t/SKILL.md", "x")
    (repo.root.parent / "outside").mkdir()
    (repo.root.parent / "outside/SKILL.md").write_text("x")
    repo.link("skills/alias", "real/s")
    repo.link("skills/loop", ".")
    repo.link("skills/root", "..")
    repo.link("skills/out", "../../outside")
    repo.link("skills/gone", "nowhere")
    repo.link("skills/pack", "../vendor/pack")
    repo.link("skills/pack-again", "../vendor/pack")
    repo.link("vendor/pack/back", "..")
    repo.case("real/s/a")
    repo.link("tests/alias", "real/s")
    tree = repo.tree()
    assert shape(tree) == {"pack": [], "pack/sub/t": [], "real/s": ["a"]}
    assert tree.orphans == ()
    kinds = {p.path: p.slug for p in tree.problems}
    assert kinds == {
        "skills/alias": "link-alias",
        "skills/gone": "link-dangling",
        "skills/loop": "link-cycle",
        "skills/out": "link-leaves",
        "skills/pack-again": "link-alias",
        "skills/root": "link-cycle",
        "tests/alias": "link-alias",
    }
    assert all(p.severity == "warning" for p in tree.problems)


def test_a_skills_root_that_is_a_link(repo: Repo) -> None:
    """``skills`` may be a link within the repository; one that leaves it is refused and nothing is read."""
    repo.write(".agents/skills/s/SKILL.md")
    (repo.root / "skills").rmdir()
    repo.link("skills", ".agents/skills")
    assert shape(repo.tree()) == {"s": []}
    (repo.root / "skills").unlink()
    (repo.root.parent / "outside/s").mkdir(parents=True)
    (repo.root.parent / "outside/s/SKILL.md").touch()
    repo.link("skills", "../outside")
    tree = repo.tree()
    assert tree.skills == ()
    assert tree.problems[0].slug == "link-leaves"
    assert tree.problems[0].severity == "error"


def test_nothing_there(tmp_path: Path) -> None:
    """No skills root and no tests/: what to do, with the root that is there under another name."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".claude/skills").mkdir(parents=True)
    got = [str(p) for p in discover(find(tmp_path)).problems]
    assert got == [
        "skills: no such folder; expected a folder with skills in it, "
        "or skills_root: .claude/skills in tests/skillbench.yaml",
        "tests: no such folder; expected tests/<skill path>/<case>/case.md",
    ]


def test_finding_a_case_by_its_file(repo: Repo) -> None:
    """By any path to it, relative, through a link, mapped or not; anything else is nothing."""
    repo.skill("s")
    repo.case("s/a", "lost/b")
    repo.link("tests/alias", "s")
    tree = repo.tree()
    skill, case = tree.entry_for(repo.root / "tests/alias/../alias/a/case.md") or (None, None)
    assert skill is not None
    assert case is not None
    assert (skill.name, case.name) == ("s", "a")
    assert (tree.entry_for(repo.root / "tests/lost/b/case.md") or [1])[0] is None
    assert tree.entry_for(repo.root / "tests/s/a/other.md") is None
    assert tree.entry_for(repo.root / "tests/s/none/case.md") is None


def test_choosing_skills(repo: Repo) -> None:
    """By name or path, each once; what is not there is named with what was probably meant."""
    repo.skill("e/code-review", "plan")
    tree = repo.tree()
    assert [s.name for s in tree.select(["plan", "e/code-review/", "code-review"])] == ["plan", "code-review"]
    assert tree.select([]) == tree.skills
    with pytest.raises(UsageError, match='no skill "code-revew"; did you mean "code-review"'):
        tree.select(["plan", "code-revew"])
    assert tree.skill("nothing") is None


def test_a_name_of_two_skills_names_neither(repo: Repo) -> None:
    """Which of the two would be a guess: the paths tell them apart, and one that is itself a path is meant."""
    repo.skill("e/plan", "f/plan", "plan", "a/note", "b/note")
    tree = repo.tree()
    assert [s.path for s in tree.select(["f/plan", "plan"])] == ["f/plan", "plan"]
    with pytest.raises(UsageError, match='skills: 2 skills are named "note"; expected a/note or b/note'):
        tree.select(["note"])


def test_reading_a_case(repo: Repo) -> None:
    """Whatever lies at case.md, the answer is a case or a CaseError with the path that the user knows."""
    repo.skill("s")
    repo.case("s/good", "s/gone", "s/big")
    (repo.root / "tests/s/folder/case.md").mkdir(parents=True)
    (repo.root / "tests/s/fifo").mkdir()
    os.mkfifo(repo.root / "tests/s/fifo/case.md")
    (repo.root.parent / "secret.md").write_text(CASE)
    repo.link("tests/s/out/case.md", "../../../../secret.md")
    repo.link("tests/s/inner/case.md", "../good/case.md")
    repo.link("tests/s/dangling/case.md", "nowhere")
    cases = {case.name: case for case in repo.tree().skills[0].cases}
    (repo.root / "tests/s/gone/case.md").unlink()
    repo.write("tests/s/big/case.md", "x" * (1 << 20) + "x")
    assert read_case(cases["good"]) == read_case(cases["inner"])
    says = {
        "folder": "not a regular file",
        "fifo": "not a regular file",
        "gone": "no such file",
        "dangling": "no such file",
        "out": "leaves the repository",
        "big": "1,048,577 bytes; expected at most 1,048,576",
    }
    for name, what in says.items():
        with pytest.raises(CaseError, match=f"^tests/s/{name}/case.md: .*{what}"):
            read_case(cases[name])


def test_fixture_problems(repo: Repo) -> None:
    """Refused by name before any job and at once: special files, links that leave, a repository, bad empty folders."""
    repo.skill("s")
    repo.case("s/good", "s/bad", "s/none", "s/link", "s/file")
    repo.write("tests/s/good/fixture/a/b")
    repo.link("tests/s/good/fixture/l", "a/b")
    repo.write("tests/s/good/fixture/.skillbench-dirs", "# empty ones\r\nout/deep\r\na\n")
    fixture = "tests/s/bad/fixture"
    repo.write(f"{fixture}/sub/.git/HEAD")
    repo.write(f"{fixture}/file")
    os.mkfifo(repo.root / fixture / "fifo")
    repo.link(f"{fixture}/out", "/etc/passwd")
    repo.write(f"{fixture}/.skillbench-dirs", "ok\n../up\n/abs\nfile/x\n")
    repo.link("tests/s/link/fixture", "../good/fixture")
    repo.write("tests/s/file/fixture")
    cases = {case.name: case for case in repo.tree().skills[0].cases}
    assert fixture_problems(cases["good"]) == fixture_problems(cases["none"]) == ()
    assert [(p.path.removeprefix(fixture + "/"), p.line) for p in fixture_problems(cases["bad"])] == [
        (".skillbench-dirs", 2),
        (".skillbench-dirs", 3),
        (".skillbench-dirs", 4),
        ("fifo", None),
        ("out", None),
        ("sub/.git", None),
    ]
    assert fixture_problems(cases["link"])[0].what == "a link"
    assert fixture_problems(cases["file"])[0].what == "not a folder"


def test_many_cases_are_found_in_linear_time(repo: Repo) -> None:
    """Two thousand cases: each found by its file without a walk of its own."""
    repo.skill(*(f"g/s{number}" for number in range(40)))
    repo.case(*(f"g/s{number}/c{case}" for number in range(40) for case in range(50)))
    tree = repo.tree()
    assert sum(len(skill.cases) for skill in tree.skills) == 2000
    assert tree.problems == ()
    assert all(tree.entry_for(case.file) == (skill, case) for skill in tree.skills for case in skill.cases)


WORDS = st.text(st.sampled_from("ab é你…\u200b\u2028\x85\t:#-'\"[{,&*!|>%@`?~") | st.characters(), max_size=12)


@given(key=st.from_regex(r"[a-z][a-z-]{0,30}", fullmatch=True) | WORDS, value=st.builds("A{}".format, WORDS) | WORDS)
@settings(max_examples=300, deadline=None)
def test_front_matter_that_is_passed_unparsed_is_a_mapping(key: str, value: str) -> None:
    """Plain lines of `key: words` are not given to YAML: it would take each for a mapping of one text."""
    line = f"{key}: {value}"
    if is_plain(line):
        parsed = yaml.safe_load(f"{line}\n{line.replace(key, key + 'x', 1)}\n")
        assert isinstance(parsed, dict)
        assert key in parsed
