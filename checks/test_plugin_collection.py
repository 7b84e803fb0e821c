"""What `pytest --skillbench` collects and what it must never touch, and that node ids can be pasted back."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from checks.conftest import Run
from checks.records import CASE, UNGATED, write_case, write_skill
from pytest_skillbench.arguments import Target, split_argument, understand
from pytest_skillbench.collecting import Layout

NULL = "tests/review/code-review/null-check/case.md"
BOOBY_TRAP = "import os\nos._exit(77)\n"
Recorded = Callable[..., Path]


def node_ids(result: pytest.RunResult) -> list[str]:
    """Return the node ids that --collect-only -q printed."""
    return [line for line in result.outlines if "::" in line and not line.startswith(("ERROR", " "))]


def test_nothing_hides_a_case(pytester: pytest.Pytester, run: Run) -> None:
    """Skills live in dot folders, build/, dist/, venv/ and node_modules/; what pytest would skip is found."""
    names = (".curated/hidden", "build/built", "dist/packed", "venv/inner", "node_modules/left-pad", "g1/g2/g3/deep")
    for path in names:
        write_skill(pytester.path, path, {"only": UNGATED})
    (pytester.path / "tests/venv/pyvenv.cfg").write_text("")
    (pytester.path / "tests/conftest.py").write_text(
        "collect_ignore_glob = ['*']\ncollect_ignore = ['build']\n"
        "def pytest_ignore_collect(collection_path):\n    return True\n"
    )
    pytester.makeini("[pytest]\nnorecursedirs = * .*\npython_files = nothing.py\n")
    found = node_ids(run("--collect-only", "-q", "tests"))
    assert [node for node in found if node.endswith("::case")] == [
        f"tests/{p}/only/case.md::case" for p in sorted(names)
    ]


def test_ignore_on_the_command_line_is_meant(bench: Path, run: Run) -> None:
    """What somebody types for this session is honoured, unlike what a configuration says for all of them."""
    left = node_ids(run("--collect-only", "-q", "--ignore", f"{Path(NULL).parent}", "tests"))
    assert {node.split("::")[0] for node in left} == {"tests/review/code-review/off-by-one/case.md"}
    assert not node_ids(run("--collect-only", "-q", "--ignore-glob", "*/case.md", "tests"))


@pytest.mark.parametrize(
    "extra",
    [
        [],
        ["--doctest-modules"],
        ["--doctest-glob=*.md"],
        ["-o", "python_files=*.py"],
        ["-o", "norecursedirs="],
        ["-n", "2"],
    ],
    ids=["plain", "doctest-modules", "doctest-glob", "all-python-files", "no-norecursedirs", "xdist"],
)
def test_no_fixture_is_ever_imported(
    bench: Path, pytester: pytest.Pytester, recorded: Recorded, extra: list[str]
) -> None:
    """A fixture holds whatever an agent was given: its conftest, tests and doctests are data and never run."""
    for case in ("null-check", "off-by-one"):
        folder = f"review/code-review/{case}"
        write_case(
            bench,
            folder,
            fixture={
                "conftest.py": BOOBY_TRAP,
                "test_app.py": BOOBY_TRAP,
                "README.md": ">>> import os; os._exit(77)\n",
                "nested/conftest.py": BOOBY_TRAP,
                "nested/test_app.py": BOOBY_TRAP,
                "nested/fixture/test_more.py": BOOBY_TRAP,
            },
        )
    recorded()
    reports = bench / "tests/.reports/evil"
    reports.mkdir()
    (reports / "test_evil.py").write_text(BOOBY_TRAP)
    result = pytester.runpytest_subprocess("--skillbench", *extra, "tests")
    assert result.ret == 0
    result.assert_outcomes(passed=34, xfailed=2)


def test_a_case_file_is_ours_alone(bench: Path, run: Run) -> None:
    """``--doctest-glob='*.md'`` finds prompts with ``>>>`` in them; a prompt is not a program."""
    write_case(bench, "review/code-review/null-check", CASE.replace("Please", ">>> 1/0\nPlease"))
    result = run("--doctest-glob=*.md", "tests")
    result.assert_outcomes(passed=2, skipped=29)


@pytest.mark.parametrize("where", ["fixture", "fixture/test_app.py", "fixture/test_app.py::test_it", "fixture/nested"])
def test_an_argument_inside_a_fixture_is_refused(bench: Path, pytester: pytest.Pytester, where: str) -> None:
    """Not even asked for by name: pytest would import its conftest before any plugin could stop it."""
    write_case(
        bench,
        "review/code-review/null-check",
        fixture={"conftest.py": BOOBY_TRAP, "test_app.py": BOOBY_TRAP, "nested/conftest.py": BOOBY_TRAP},
    )
    argument = f"{Path(NULL).parent}/{where}"
    result = pytester.runpytest_subprocess("--skillbench", argument)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{argument}: inside the fixture of a case, which is never entered; expected {NULL}"])
    link = bench / "link"
    link.symlink_to(bench / argument.split("::")[0])
    assert pytester.runpytest_subprocess("--skillbench", "link").ret == pytest.ExitCode.USAGE_ERROR


def test_started_inside_a_fixture(bench: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """No argument means the current folder, and that may be a fixture too."""
    write_case(bench, "review/code-review/null-check", fixture={"conftest.py": BOOBY_TRAP})
    monkeypatch.chdir(bench / Path(NULL).parent / "fixture")
    result = pytester.runpytest_subprocess("--skillbench")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*inside the fixture of a case*expected ../case.md"])


def test_other_arguments_are_pytests(bench: Path, pytester: pytest.Pytester, run: Run) -> None:
    """Ordinary tests run beside the cases, inside ``tests/`` and outside."""
    pytester.makepyfile(
        test_unit="import pytest\n@pytest.mark.parametrize('x', ['a::b', 'c[d]'])\ndef test_it(x): pass\n"
    )
    (bench / "tests/unit").mkdir()
    (bench / "tests/unit/test_inner.py").write_text("def test_inner(): pass\n")
    run("test_unit.py", "tests").assert_outcomes(passed=5, skipped=29)
    run("test_unit.py::test_it[a::b]", f"{NULL}::case").assert_outcomes(passed=2)
    run("tests/unit/test_inner.py::test_inner").assert_outcomes(passed=1)
    assert run("tests/nowhere").ret == pytest.ExitCode.USAGE_ERROR
    assert run(f"{NULL}::nothing").ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(
    "path",
    [
        "odd [group]/code-review",
        "a::b/code-review",
        "group with  spaces/code-review",
        "naïve ✂/代码审查",
        "x[1::2]/y[/z",
    ],
)
def test_every_node_id_can_be_pasted_back(pytester: pytest.Pytester, run: Run, path: str) -> None:
    """A name with ``[``, ``::`` or spaces in it is a name: each id alone runs that node and no other."""
    write_skill(pytester.path, path, {"one": UNGATED, "two": UNGATED})
    write_skill(pytester.path, "plain", {"one": UNGATED})
    (pytester.path / "tests" / path / "test_beside.py").write_text("def test_beside(): pass\n")
    ids = node_ids(run("--collect-only", "-q", "tests"))
    mine = [node for node in ids if node.startswith(f"tests/{path}/") and "case.md" in node]
    assert len(mine) == 26
    assert mine[0] == f"tests/{path}/one/case.md::case"
    for node in (mine[0], mine[3], mine[-1]):
        assert node_ids(run("--collect-only", "-q", node)) == [node]
        run("-v", node).stdout.fnmatch_lines(["collect* 1 item*"])
    both = node_ids(run("--collect-only", "-q", mine[-1], "tests/plain/one/case.md::case", mine[0]))
    assert sorted(both) == sorted([mine[-1], mine[0], "tests/plain/one/case.md::case"])
    folder = node_ids(run("--collect-only", "-q", f"tests/{path}/two"))
    assert folder == [node for node in mine if "/two/" in node]
    typo = run("--collect-only", "-q", f"tests/{path}/one/case.md::nothing")
    assert typo.ret != 0


def test_pasting_back_under_xdist(pytester: pytest.Pytester) -> None:
    """The workers read the arguments as the controller does."""
    write_skill(pytester.path, "odd [group]/code-review", {"one": UNGATED, "two": UNGATED})
    node = "tests/odd [group]/code-review/two/case.md::case"
    pytester.runpytest_subprocess("--skillbench", "-n", "2", node).assert_outcomes(passed=1)


def test_from_a_subfolder(bench: Path, pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids are printed as one can type them from where one is."""
    pytester.makeini("[pytest]\n")
    monkeypatch.chdir(bench / "tests/review")
    result = run("-v", "code-review/null-check/case.md::case")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["code-review/null-check/case.md::case PASSED*"])
    run().assert_outcomes(passed=2, skipped=29)
    run("../..").assert_outcomes(passed=2, skipped=29)


def test_from_another_place_with_another_rootdir(
    bench: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Where pytest's rootdir is not above the project, ids are absolute, distinct, and can still be pasted back."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    ids = node_ids(run("--collect-only", "-q", "--rootdir", elsewhere, bench / "tests"))
    assert len(set(ids)) == 31
    assert f"{bench}/{NULL}::case" in ids
    again = run("--collect-only", "-q", "--rootdir", elsewhere, ids[0])
    assert node_ids(again) == [ids[0]]
    run("--rootdir", elsewhere, f"{bench / NULL}::case").assert_outcomes(passed=1)


def test_a_path_given_twice_or_by_a_link(bench: Path, run: Run, recorded: Recorded) -> None:
    """One node once, by its one id, however it was asked for; one history line."""
    recorded()
    (bench / "alias").symlink_to("tests")
    (bench / "tests/again").symlink_to("review")
    for arguments in (
        ("tests", "tests"),
        ("tests", NULL, f"{NULL}::case"),
        ("tests", "alias"),
        ("alias/review", "tests/review"),
        ("tests/again/code-review", "tests"),
        ("--keep-duplicates", "tests", "tests"),
        (".",),
    ):
        ids = node_ids(run("--collect-only", "-q", *arguments))
        assert len(ids) == 31, arguments
        assert f"{NULL}::case" in ids
    assert node_ids(run("--collect-only", "-q", f"alias/{NULL[6:]}::efficacy")) == [f"{NULL}::efficacy"]
    run("tests", "alias", NULL)
    assert len((bench / "tests/.reports/code-review.history.jsonl").read_text().splitlines()) == 1


def test_through_a_link_to_the_whole_project(bench: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project reached through a link (macOS's /tmp, a home on another disk) is the same project."""
    link = bench.parent / f"{bench.name}-link"
    link.symlink_to(bench)
    monkeypatch.chdir(bench.parent)
    result = run("--collect-only", "-q", f"{link}/tests")
    assert len(node_ids(result)) == 31
    assert all(not node.startswith("/") for node in node_ids(result)), "relative to the rootdir, as elsewhere"


def test_only_some_skills(bench: Path, run: Run, recorded: Recorded) -> None:
    """``--skillbench-skill`` narrows to skills by name; a name that is not there is refused with the nearest one."""
    write_skill(bench, "other", {"one": UNGATED})
    recorded()
    ids = node_ids(run("--collect-only", "-q", "--skillbench-skill", "other", "tests"))
    assert {node.split("/")[1] for node in ids} == {"other"}
    both = run("--skillbench-skill", "other", "--skillbench-skill=code-review", "tests")
    both.assert_outcomes(passed=30, xfailed=2, skipped=12)
    wrong = run("--skillbench-skill", "code-reveiw", "tests")
    assert wrong.ret == pytest.ExitCode.USAGE_ERROR
    wrong.stderr.fnmatch_lines(['*no skill "code-reveiw"*did you mean "*code-review"?*'])


def test_selecting(bench: Path, run: Run, recorded: Recorded) -> None:
    """-k, tags, --deselect, -x and --lf work as with any test."""
    recorded({"null-check": ("WWWLL", "TTTTT"), "off-by-one": ("WWWWW", "TTTTT")})
    run("-k", "smoke and efficacy-trial-1", "tests").assert_outcomes(passed=2, deselected=29)
    run("--deselect", NULL, "tests").assert_outcomes(passed=13, deselected=18)
    stopped = run("-x", "tests")
    stopped.assert_outcomes(passed=9, failed=1)
    assert (bench / "tests/.reports/code-review.html").is_file(), "what ran is reported all the same"
    run("tests").assert_outcomes(passed=28, failed=3)
    run("--lf", "tests").assert_outcomes(failed=3)


def test_nothing_collected_is_not_green(pytester: pytest.Pytester, run: Run) -> None:
    """Pytest's own exit code 5 stays."""
    (pytester.path / "tests").mkdir()
    (pytester.path / "skills").mkdir()
    assert run("tests").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_no_project_at_all(pytester: pytest.Pytester, run: Run) -> None:
    """A message with what to do, not a traceback."""
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *no repository here or above; expected a folder with tests/ and skills/*"])


def test_locations_for_click_through(bench: Path, pytester: pytest.Pytester) -> None:
    """What VS Code and PyCharm read: a plain name, an integer 0-based line, no callspec, the file as the parent."""
    items, _ = pytester.inline_genitems("--skillbench", NULL)
    lines = CASE.splitlines()
    for item in items:
        path, line, name = item.location
        assert path == NULL.replace("/", os.sep)
        assert name == item.name
        assert isinstance(line, int)
        assert not hasattr(item, "callspec")
        assert item.parent is not None
        assert item.parent.path == bench / NULL
        wanted = "---" if name == "case" else "## Hard assertions" if name.startswith("gate") else "## Soft criteria"
        assert lines[line] == wanted, name


def test_locations_where_the_case_does_not_parse(bench: Path, pytester: pytest.Pytester) -> None:
    """A line is a line even then."""
    (bench / NULL).write_text("no front matter")
    items, _ = pytester.inline_genitems("--skillbench", NULL)
    assert {item.location[1] for item in items} == {0}


def test_a_case_file_that_is_not_a_file(bench: Path, run: Run) -> None:
    """A folder named case.md, or bytes that are no text, are the case's problem and nobody else's."""
    (bench / NULL).write_bytes(b"\xff\xfe\x00")
    result = run("tests")
    result.assert_outcomes(passed=1, failed=1, skipped=24)
    assert "UTF" in result.stdout.str()


# -- the pure part ----------------------------------------------------------------------------------------------------


def test_the_longest_existing_path_wins(tmp_path: Path) -> None:
    """Pytest splits at the first ``::``; a folder may be called that."""
    (tmp_path / "a::b").mkdir()
    (tmp_path / "a::b/case.md").write_text("")
    assert split_argument("a::b/case.md::efficacy", tmp_path) == (tmp_path / "a::b/case.md", "efficacy")
    assert split_argument("a::b", tmp_path) == (tmp_path / "a::b", None)
    assert split_argument("a::c", tmp_path) is None
    assert split_argument("x" * 5000, tmp_path) is None
    assert split_argument("a\0b", tmp_path) is None


def test_a_name_pytest_cannot_spell_becomes_a_selection(tmp_path: Path) -> None:
    """The nearest folder that can be spelled stands in, and the selection keeps to what was meant."""
    tests = tmp_path / "tests"
    (tests / "ok/x[y/one").mkdir(parents=True)
    (tests / "ok/x[y/one/case.md").write_text("")
    found = understand(["tests/ok/x[y/one/case.md::case"], tmp_path, tests, ["ok/x[y/one/case.md"])
    assert found.args == (f"tests{os.sep}ok",)
    assert found.selection == (Target(path="ok/x[y/one/case.md", leaf="case"),)
    layout = Layout(tests, ["ok/x[y/one/case.md", "ok/x[y/two/case.md"], found.selection)
    assert layout.leaves("ok/x[y/one/case.md") == frozenset({"case"})
    assert layout.ignore(tests / "ok/x[y/two") is True
    assert layout.ignore(tests / "ok/x[y/one") is False
    assert layout.ignore(tests / "ok/other.py") is True
    assert layout.ignore(tmp_path / "elsewhere") is None


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        (["tests", "tests/a/case.md"], ["tests"]),
        (["tests/a/case.md::case", "tests"], ["tests"]),
        (["tests/a", "tests/a/", "alias/a"], ["tests/a"]),
        (
            ["tests/a/case.md::case", "tests/a/case.md::efficacy"],
            ["tests/a/case.md::case", "tests/a/case.md::efficacy"],
        ),
        ([".", "tests/a"], ["."]),
        (["tests/a/case.md::case", "tests/a/case.md"], ["tests/a/case.md"]),
        (["other.py::t", "other.py", "tests"], ["other.py::t", "other.py", "tests"]),
        (["nowhere", "tests/nowhere::x"], ["nowhere", "tests/nowhere::x"]),
    ],
)
def test_overlapping_arguments(tmp_path: Path, arguments: list[str], kept: list[str]) -> None:
    """Older pytest drops a folder that is given with something in it; what is not ours is left as it is."""
    (tmp_path / "tests/a").mkdir(parents=True)
    (tmp_path / "tests/a/case.md").write_text("")
    (tmp_path / "other.py").write_text("")
    (tmp_path / "alias").symlink_to("tests")
    found = understand(arguments, tmp_path, tmp_path / "tests", ["", "a", "a/case.md"])
    assert found.args == tuple(kept)
    assert found.selection is None


def test_ordinary_tests_beside_a_name_pytest_cannot_spell(pytester: pytest.Pytester, run: Run) -> None:
    """The folder that stands in for such a name brings nothing along that was not asked for."""
    write_skill(pytester.path, "a[b/code-review", {"one": UNGATED})
    write_skill(pytester.path, "plain", {"one": UNGATED})
    code = "def test_1(): pass\ndef test_12(): pass\nclass TestA:\n    def test_2(self): pass\n"
    (pytester.path / "tests/unit").mkdir()
    (pytester.path / "tests/unit/test_x.py").write_text(code)
    (pytester.path / "tests/unit/test_y.py").write_text(code)
    node = "tests/a[b/code-review/one/case.md::case"
    both = node_ids(run("--collect-only", "-q", node, "tests/unit/test_x.py::test_1"))
    assert sorted(both) == [node, "tests/unit/test_x.py::test_1"]
    assert len(node_ids(run("--collect-only", "-q", node, "tests/unit/test_x.py::TestA", "tests/unit/test_y.py"))) == 5


def test_without_the_option_nothing_is_there(bench: Path, pytester: pytest.Pytester) -> None:
    """Without --skillbench: no node, no import of ours but the door, no header, and exit code 5 as ever."""
    script = (
        "import pytest, sys\n"
        "code = pytest.main(['tests'])\n"
        "print(sorted(m for m in sys.modules if m.startswith('pytest_skillbench')))\n"
        "sys.exit(code)\n"
    )
    result = pytester.run(sys.executable, "-c", script)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    loaded = "['pytest_skillbench', 'pytest_skillbench.hookspecs', 'pytest_skillbench.plugin']"
    result.stdout.fnmatch_lines([loaded.replace("[", "[[]", 1)])
    result.stdout.no_fnmatch_line("*skillbench:*")


@pytest.mark.parametrize(
    "option",
    ["runs=x", "reports=x", "skill=x", "no-report", "require-runs", "require-fresh"],
)
def test_an_option_alone_is_a_mistake(pytester: pytest.Pytester, option: str) -> None:
    """An option that would silently do nothing is refused with what is missing."""
    result = pytester.runpytest_inprocess(f"--skillbench-{option}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    name = option.partition("=")[0]
    result.stderr.fnmatch_lines([f"ERROR: --skillbench-{name} does nothing by itself; add --skillbench"])


def test_blocking_the_plugin(bench: Path, pytester: pytest.Pytester) -> None:
    """``-p no:skillbench`` takes all of it away."""
    assert pytester.runpytest_inprocess("-p", "no:skillbench", "tests").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result = pytester.runpytest_inprocess("-p", "no:skillbench", "--skillbench", "tests")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_missing_runs_folder(bench: Path, run: Run) -> None:
    """A mistyped folder of runs must not look like a suite without runs."""
    result = run("--skillbench-runs", "nowhere", "tests")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --skillbench-runs nowhere: no such folder"])
