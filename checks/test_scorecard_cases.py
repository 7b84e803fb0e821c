"""Case files: what the source of the format writes loads without an edit, and what is malformed stops nothing else."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillbench import project, tree
from pytest_skillbench.scorecard.cases import Draft, Lost, parse
from pytest_skillbench.scorecard.discover import Found, discover
from pytest_skillbench.scorecard.ids import slugs

from .scorecards import CASES, write_cases, write_skill

#: The example of the source, comments and all.
SOURCE = """\
name: "descriptive-test-name"
skill: "aether-status"
category: "trigger-accuracy"    # 五维之一
input: "用户输入的提示词"
context:                         # 可选：模拟环境
  files: []
  env: {}
expected:
  triggered: true                # 是否应该触发此 Skill
  tools_used: ["Bash"]           # 期望使用的工具
  output_contains: ["keyword"]   # 输出应包含的关键字
  output_not_contains: []        # 输出不应包含的内容
  output_structure: "table"      # 期望的输出结构
  error_handled: false           # 是否测试错误处理
tags: ["p0", "smoke"]
"""
SMALL = "name: {name}\nskill: s\ncategory: trigger-negative\ninput: x\nexpected:\n  triggered: false\n"


def read(text: str | bytes) -> tuple[tuple[Draft, ...], list[str]]:
    """Return the documents that can be used, and what is wrong with the others, without the path."""
    found = parse(text if isinstance(text, bytes) else text.encode(), "c.yaml")
    return found.drafts, [str(problem).removeprefix("c.yaml:") for problem in found.problems]


def found_in(root: Path) -> Found:
    """Return the evals tree of a project."""
    return discover(tree.discover(project.find(root)))


def test_the_example_of_the_source() -> None:
    """It loads as it stands, with each of its fields."""
    (draft,), problems = read(SOURCE)
    assert problems == []
    assert (draft.name, draft.skill, draft.category) == ("descriptive-test-name", "aether-status", "trigger-accuracy")
    assert draft.input == "用户输入的提示词"
    assert draft.expected.triggered is True
    assert draft.expected.tools_used == ("Bash",)
    assert draft.expected.output_contains == ("keyword",)
    assert draft.expected.output_structure == "table"
    assert draft.tags == ("p0", "smoke")


def test_both_vocabularies_and_what_may_be_absent() -> None:
    """Hyphens and underscores are alike; a negative without a structure, tags or context is whole."""
    text = (
        SMALL.format(name="a")
        + "---\nname: b\nskill: s\ncategory: output_quality\ninput: |\n  two\n  lines\n"
        + "expected: {output_contains: [状态, Ｎomad], output_structure: code_block}\n"
        + "---\nname: c\nskill: s\ncategory: trigger_positive\ninput: x\nexpected: {output_contains: []}\n"
        + "---\nname: d\nskill: s\ncategory: token-efficiency\ninput: x\nexpected: {}\ntags: null\n"
    )
    drafts, problems = read(text)
    assert problems == []
    assert [draft.category for draft in drafts] == [
        "trigger-negative",
        "output-quality",
        "trigger-positive",
        "token-efficiency",
    ]
    assert drafts[1].input == "two\nlines\n"
    assert drafts[1].expected.output_structure == "code-block"
    assert drafts[2].expected.triggered is True  # the category says it
    assert [draft.line for draft in drafts] == [1, 8, 16, 22]


def test_windows_files_mean_the_same() -> None:
    """CRLF and a byte-order mark change no case."""
    windows = b"\xef\xbb\xbf" + (SOURCE + "---\n" + CASES.format(skill="s")).replace("\n", "\r\n").encode()
    assert read(windows)[0] == read(SOURCE + "---\n" + CASES.format(skill="s"))[0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("category: output-qualty", '3: "category" is "output-qualty"; expected one of'),
        ("category: output-qualty", 'did you mean "output-quality"?'),
        ("category: yes", '3: "category" "yes" is a boolean to YAML; expected text: quote it, "yes"'),
        ("name: 2026-11-30", '1: "name" "2026-11-30" is a date to YAML; expected text: quote it, "2026-11-30"'),
        ("name: 010", '1: "name" "010" is a number to YAML'),
        ("name: [a]", '1: "name" is a list; expected text on one line'),
        ("input: no", '4: "input" "no" is a boolean to YAML; expected text: quote it, "no"'),
        ("input: ''", '4: "input" is empty'),
        ("input: null", '4: "input" "null" is null to YAML'),
        ("expected: {triggered: yes}", '5: "triggered" is "yes"; expected true or false'),
        ("expected: {triggered: 1}", '5: "triggered" is "1"; expected true or false'),
        (
            "expected: {triggered: true}",
            '5: "triggered" contradicts the category trigger-negative; expected triggered: f',
        ),
        ("expected:", '5: "expected" is empty'),
        ("expected: [triggered]", '5: "expected" is a list'),
        ("expected: {triger: false}", '5: unknown key "triger"; expected one of triggered'),
        ("expected: {output_contains: word}", 'is text; expected a list such as [one, two]; did you mean "[word]"?'),
        ("expected: {output_contains: [on]}", '"on" is a boolean to YAML; expected text: quote it, "on"'),
        ("expected: {output_structure: tables}", '"output_structure" is "tables"; expected one of table, list'),
        ("tags: [p0, 1.10]", '"1.10" is a number to YAML; expected text: quote it, "1.10"'),
        ("context: {files: [../x]}", 'a file "../x"; expected a path inside the case\'s world'),
        ("context: {files: [/etc/passwd]}", 'a file "/etc/passwd"'),
        ("context: {files: [{path: a}]}", 'a file without "content"'),
        ("context: {files: [{path: a, content: x}, {path: a, content: y}]}", '"a" is there twice'),
        ("context: {env: {A: yes}}", '"A" "yes" is a boolean to YAML'),
        ("context: {env: {A-B: x}}", 'a variable "A-B"'),
        ("context: {env: {1: x}}", 'a key of "env" "1" is a number to YAML; expected text: quote it, "1"'),
        ("exepcted: {}", 'unknown key "exepcted"; expected one of name, skill'),
        ("name: b", '6: key "name" is there twice; expected it only at line 1'),
    ],
)
def test_what_is_wrong_is_named(change: str, says: str) -> None:
    """With its line and what was expected; YAML's surprises say to quote; the documents around it are used."""
    key = change.split(":")[0]
    lines = ["name: a", "skill: s", "category: trigger-negative", "input: x", "expected: {triggered: false}"]
    changed = [change if line.startswith(f"{key}:") and says[0] != "6" else line for line in lines]
    bad = "\n".join(changed if change in changed else [*lines, change])
    _, problems = read(bad)
    assert any(says in problem for problem in problems), problems
    around = f"{SMALL.format(name='before')}---\n{bad}\n---\n{SMALL.format(name='after')}"
    found = parse(around.encode(), "c.yaml")
    assert [draft.name for draft in found.drafts] == ["before", "after"]
    assert [lost.line for lost in found.lost] == [8]


@pytest.mark.parametrize("key", ["name", "skill", "category", "input", "expected"])
def test_a_missing_key_is_named(key: str) -> None:
    """What every case needs is said with the line where the document begins."""
    text = "".join(
        line for line in SMALL.format(name="a").replace(":\n  triggered", ": {}\ntags").splitlines(keepends=True)
        if not line.startswith((f"{key}:", "tags"))
    )  # fmt: skip
    drafts, problems = read(f"# about\n{text}")
    assert drafts == ()
    assert problems == [f'2: "{key}" is missing; expected name, skill, category, input, expected']


@pytest.mark.parametrize(
    ("category", "says"),
    [
        ("output-quality", "nothing to check; expected output_contains"),
        ("tool-usage", "no tool to look for; expected tools_used"),
        ("trigger-accuracy", '"expected" does not say whether the skill is triggered'),
    ],
)
def test_a_case_that_could_not_fail_is_refused(category: str, says: str) -> None:
    """A case of a category that expects nothing of that kind would be right whatever happened."""
    drafts, problems = read(f"name: a\nskill: s\ncategory: {category}\ninput: x\nexpected: {{error_handled: false}}\n")
    assert drafts == ()
    assert says in problems[0]


def test_one_that_is_not_yaml_stops_no_other() -> None:
    """The others, before and behind, are read; the line is the one in the file."""
    text = f"{SMALL.format(name='a')}---\nname: [\n---\n{SMALL.format(name='b')}---\n\tx\n---\n- list\n"
    drafts, problems = read(text)
    assert [draft.name for draft in drafts] == ["a", "b"]
    assert [problem.split(":")[0] for problem in problems] == ["8", "17", "19"]


def test_duplicate_names() -> None:
    """The second is refused with the line of the first; names that look alike are the same name."""
    drafts, problems = read("---\n".join(SMALL.format(name=name) for name in ("é", "b", "e\u0301")))
    assert [draft.name for draft in drafts] == ["é", "b"]
    assert problems == ['15: a second case named "é"; expected each name once in a file; the first is at line 1'] or (
        "15: a second case named" in problems[0] and "the first is at line 1" in problems[0]
    )


@pytest.mark.parametrize("text", ["", "---\n---\n", "# only a comment\n"])
def test_a_file_without_a_case_says_so(text: str) -> None:
    """It is never nothing without a word."""
    assert read(text)[1] == ["1: no case in the file; expected a document with name, skill, category, input, …"]


@given(st.permutations(range(6)))
def test_the_order_of_documents_changes_no_case(order: list[int]) -> None:
    """Neither what a case says nor its slug depends on where it stands."""
    documents = CASES.format(skill="s").split("---\n")
    one = {draft.name: draft for draft in read("---\n".join(documents))[0]}
    other = {draft.name: draft for draft in read("---\n".join(documents[i] for i in order))[0]}
    assert {name: (d.category, d.input, d.expected) for name, d in one.items()} == {
        name: (d.category, d.input, d.expected) for name, d in other.items()
    }


NAMES = st.lists(
    st.text(max_size=80) | st.sampled_from(["a b", "a-b", "A B", "case", "状态", "查看", "case-1"]),
    unique=True,
    max_size=8,
)


@given(NAMES, st.randoms())
def test_slugs_are_unique_and_know_no_order(names: list[str], random: object) -> None:
    """Whatever the names: each slug is one, no two are the same, and shuffling changes none."""
    found = slugs({name: name for name in names})
    assert len(set(found.values())) == len(names)
    assert all(len(slug) <= 128 and slug.strip("-") == slug and slug.isascii() for slug in found.values())
    shuffled = list(names)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random, as hypothesis gives it
    assert slugs({name: name for name in shuffled}) == found


def test_a_name_that_is_a_slug_keeps_it() -> None:
    """Node ids are what the author wrote, where that can be."""
    assert slugs({name: name for name in ("a b", "a-b", "plain-name")})["a-b"] == "a-b"
    assert slugs({"状态": "状态"})["状态"].startswith("case-")


# -- in a repository ---------------------------------------------------------------------------------------------------


def test_cases_beside_the_head_to_heads(tmp_path: Path) -> None:
    """``tests/<skill path>/evals/*.yaml`` are cases as well, and no problem of the tests tree."""
    write_skill(tmp_path)
    write_cases(tmp_path)
    folder = tmp_path / "tests/group/reviewing/evals"
    folder.mkdir(parents=True)
    (folder / "cases.yaml").write_text(SMALL.format(name="a").replace("skill: s", "skill: group/reviewing"))
    found = found_in(tmp_path)
    assert found.problems == ()
    ids = [case.id for case in found.cases["reviewing"]]
    assert len(ids) == len(set(ids)) == 7
    assert found.cases["reviewing"][-1].file == "tests/group/reviewing/evals/cases.yaml"
    assert not [p for p in tree.discover(project.find(tmp_path)).problems if "evals" in p.path]


def test_an_unknown_skill_and_a_foreign_folder(tmp_path: Path) -> None:
    """Named with the line and the nearest skill; the other documents of the file run."""
    write_skill(tmp_path)
    write_skill(tmp_path, "writing")
    text = "---\n".join(SMALL.format(name=name).replace(": s\n", f": {skill}\n") for name, skill in
                        [("a", "reviewing"), ("b", "reveiwing"), ("c", "writing")])  # fmt: skip
    write_cases(tmp_path, "reviewing", text)
    found = found_in(tmp_path)
    assert [case.name for case in found.cases["reviewing"]] == ["a"]
    assert [(lost.place, lost.category) for lost in found.lost["reviewing"]] == [
        ("evals/cases/reviewing/cases.yaml:8", "trigger-negative"),
        ("evals/cases/reviewing/cases.yaml:15", "trigger-negative"),
    ]
    assert [str(problem).removeprefix("evals/cases/reviewing/cases.yaml:") for problem in found.problems] == [
        '9: no skill "reveiwing"; expected a skill in skills; did you mean "reviewing"?',
        '16: a case of "writing" in the folder of "reviewing"; expected the skill of its folder; '
        'did you mean "reviewing"?',
    ]


def test_what_lies_in_the_wrong_place_is_told(tmp_path: Path) -> None:
    """A .yml, a file outside of a skill's folder, a link out of the repository, a folder, a FIFO: said, not skipped."""
    import os

    write_skill(tmp_path / "repo")
    write_cases(tmp_path / "repo")
    cases = tmp_path / "repo/evals/cases"
    (cases / "loose.yaml").write_text("a: 1")
    (cases / "reviewing/a.yml").write_text("a: 1")
    (cases / "reviewing/B.YAML").write_text("a: 1")
    (tmp_path / "secret.yaml").write_text("a: 1")
    (cases / "reviewing/link.yaml").symlink_to(tmp_path / "secret.yaml")
    (cases / "reviewing/dangling.yaml").symlink_to(cases / "nowhere")
    (cases / "reviewing/folder.yaml").mkdir()
    os.mkfifo(cases / "reviewing/pipe.yaml")
    found = found_in(tmp_path / "repo")
    told = {problem.path.rsplit("/", 1)[-1]: problem.what for problem in found.problems}
    assert sorted(told) == ["B.YAML", "a.yml", "dangling.yaml", "folder.yaml", "link.yaml", "loose.yaml", "pipe.yaml"]
    assert len(found.cases["reviewing"]) == 6


def test_files_of_a_world(tmp_path: Path) -> None:
    """Text in the case, or a file beside the case file, with its digest; one that is not there is told of."""
    write_skill(tmp_path)
    text = (
        "name: a\nskill: reviewing\ncategory: tool-usage\ninput: x\nexpected: {tools_used: [Read]}\n"
        "context:\n  files:\n    - data/notes.txt\n    - absent.txt\n    - {path: sub/a.txt, content: 'hi'}\n"
        "  env: {MODE: fast, EMPTY: ''}\n"
    )
    file = write_cases(tmp_path, "reviewing", text)
    (file.parent / "data").mkdir()
    (file.parent / "data/notes.txt").write_text("one\n")
    found = found_in(tmp_path)
    (case,) = found.cases["reviewing"]
    assert [(f.path, f.content, f.sha256 is not None) for f in case.context.files] == [
        ("data/notes.txt", None, True),
        ("absent.txt", None, False),
        ("sub/a.txt", "hi", False),
    ]
    assert case.context.files[0].source == "evals/cases/reviewing/data/notes.txt"
    assert case.context.env == {"MODE": "fast", "EMPTY": ""}
    (problem,) = found.problems
    assert problem.severity == "warning"
    assert (problem.line, problem.expected) == (6, "evals/cases/reviewing/absent.txt")
    (file.parent / "data/notes.txt").write_text("two\n")
    assert found_in(tmp_path).cases["reviewing"][0].sha256 != case.sha256


def test_ten_thousand_cases(tmp_path: Path) -> None:
    """Many documents in one file are read in the time of a test."""
    write_skill(tmp_path)
    one = SMALL.replace("skill: s", "skill: reviewing")
    write_cases(tmp_path, "reviewing", "---\n".join(one.format(name=f"n{i}") for i in range(10_000)))
    found = found_in(tmp_path)
    assert len({case.id for case in found.cases["reviewing"]}) == 10_000
    assert all(a.line < b.line for a, b in itertools.pairwise(found.cases["reviewing"]))


def test_a_document_that_is_no_utf8_takes_no_other_along() -> None:
    """It is named with its line in the file, and those before and behind it are cases all the same."""
    one = b"name: %s\nskill: s\ncategory: output-quality\ninput: x\nexpected: {output_contains: [a]}\n"
    found = parse(one % b"a" + b"---\nname: caf\xe9\n---\n" + one % b"b", "c.yaml")
    assert [(draft.name, draft.line) for draft in found.drafts] == [("a", 1), ("b", 9)]
    assert [str(problem) for problem in found.problems] == ["c.yaml:7: not UTF-8; expected text in UTF-8"]
    assert found.lost == (Lost(line=7),)


def test_a_folder_of_cases_that_is_not_there(tmp_path: Path) -> None:
    """A path that somebody wrote and that leads nowhere is said; the default need not be there."""
    write_skill(tmp_path)
    assert found_in(tmp_path).problems == ()
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals/config.yaml").write_text("eval_cases: {path: evals/nowhere}\n")
    assert [str(problem) for problem in found_in(tmp_path).problems] == [
        'evals/config.yaml: eval_cases.path "evals/nowhere" is no folder, so no case is read there'
    ]


def test_texts_that_match_alike_are_checked_once() -> None:
    """Case and width are nothing to a keyword, so two spellings of one are one check."""
    one = "name: a\nskill: s\ncategory: output-quality\ninput: x\nexpected: {output_contains: [Ab, AB, ａｂ, b]}\n"
    drafts, problems = read(one)
    assert (drafts[0].expected.output_contains, problems) == (("Ab", "b"), [])


@pytest.mark.parametrize(("there", "not_there"), [("diff", "DIFF"), ("a different text", "diff")])
def test_a_text_that_must_be_there_and_must_not(there: str, not_there: str) -> None:
    """No output could hold both, so the case is wrong and not the skill."""
    expected = f"{{output_contains: [{there}], output_not_contains: [{not_there}]}}"
    _, problems = read(f"name: a\nskill: s\ncategory: output-quality\ninput: x\nexpected: {expected}\n")
    assert problems == [f'5: "{there}" must be there and must not; expected each text in one of the two lists']
