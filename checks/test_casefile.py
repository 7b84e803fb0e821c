"""The case parser: what FORMATS section 1 allows comes out whole, what it does not is named with its line."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillbench.casefile import parse
from pytest_skillbench.digest import case_digest
from pytest_skillbench.errors import CaseError
from pytest_skillbench.model import Case, SectionLines, SeedTurn

WHOLE = """\
---
description: Finds the missing null check
tags: [smoke, p0]
---
## Prompt

  Review `a.py`.  \t

- one

### Deeper headings stay

## Seed (optional; conversation-based skills only)
**User:** hello
there

**Assistant:**
ok
```
**User:** not a turn
```
## Hard assertions (executable; $OUTPUT = arm's final message, $WORLD = its fixture copy)
Prose is fine beside a fence.
```sh
# the review is there
test -f "$WORLD/review.md"

grep -qE 'null|None' "$OUTPUT"
```
```bash
if true; then
  false | true
fi
```
## soft CRITERIA ##
- one
  two
- three:
  - a
  - b
1. ordered
"""


def case(text: str) -> Case:
    """Parse a text that is a case."""
    return parse(text.encode(), "case.md")


def problems(text: str | bytes) -> list[str]:
    """Return what is wrong with a text that is no case."""
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(CaseError) as caught:
        parse(data, "case.md")
    return [str(problem) for problem in caught.value.problems]


def minimal(prompt: str = "Do it.", hard: str = "", criteria: str = "- good", front: str = "description: d") -> str:
    """Return the smallest case, with parts in it."""
    return f"---\n{front}\n---\n## Prompt\n{prompt}\n## Hard assertions\n{hard}\n## Soft criteria\n{criteria}\n"


def test_everything_the_format_has() -> None:
    """Every part of a case reaches the record, with the lines that an editor shows."""
    got = case(WHOLE)
    assert got.description == "Finds the missing null check"
    assert got.tags == ("smoke", "p0")
    assert got.prompt == "  Review `a.py`.  \t\n\n- one\n\n### Deeper headings stay"
    assert got.seed_turns == (
        SeedTurn(role="user", text="hello\nthere"),
        SeedTurn(role="assistant", text="ok\n```\n**User:** not a turn\n```"),
    )
    assert [(a.shell, a.line, a.title, a.command) for a in got.assertions] == [
        ("sh", 26, "the review is there", 'test -f "$WORLD/review.md"'),
        ("sh", 28, None, "grep -qE 'null|None' \"$OUTPUT\""),
        ("bash", 31, None, "if true; then\n  false | true\nfi"),
    ]
    assert got.criteria == ("one two", "three:\n- a\n- b", "ordered")
    assert got.lines == SectionLines(prompt=5, seed=13, assertions=22, criteria=35)
    lines = WHOLE.split("\n")
    assert lines[got.assertions[1].line - 1].startswith("grep")


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_mark_mean_the_same_case(ending: str, mark: str) -> None:
    """A file saved on Windows is the same case with the same digest, else runs would be stale on another machine."""
    data = (mark + WHOLE.replace("\n", ending)).encode()
    assert parse(data, "case.md") == case(WHOLE)
    assert parse(data, "case.md").sha256 == case_digest(data) == case_digest(WHOLE.encode())


def test_sections_in_any_order_and_optional_ones_absent() -> None:
    """Only Prompt and Soft criteria are required, and order is the author's."""
    got = case("---\ndescription: d\n---\n## Soft criteria\n* x\n## Prompt\nDo it.\n")
    assert (got.prompt, got.criteria, got.seed_turns, got.assertions) == ("Do it.", ("x",), (), ())
    assert (got.lines.criteria, got.lines.seed, got.lines.assertions) == (4, None, None)


def test_a_fence_in_the_prompt_never_becomes_an_assertion() -> None:
    """FAULTS: a four-backtick fence that holds a whole other case is prompt text, and only the real assertion runs."""
    inner = "````\n```sh\nrm -rf x\n```\n## Hard assertions\n```sh\nrm -rf y\n```\n````"
    got = case(minimal(prompt=inner, hard="~~~sh\ntrue\n~~~"))
    assert got.prompt == inner
    assert [a.command for a in got.assertions] == ["true"]


def test_a_prompt_fence_holds_level_2_headings() -> None:
    """A prompt with headings of its own is written in a prompt fence, whose content it is."""
    got = case(minimal(prompt="~~~~prompt\n\n## Hard assertions\n```sh\nx\n```\n\n~~~~"))
    assert got.prompt == "## Hard assertions\n```sh\nx\n```"
    more = problems(minimal(prompt="```prompt\na\n```\nand more"))
    assert more == ["case.md:8: a prompt fence is the whole prompt, and here is more; expected the fence alone"]


@pytest.mark.parametrize(
    ("prompt", "line", "says"),
    [
        ("```\nnever closed", 5, "this fence is never closed"),
        ("~~~sh\nx\n~~\n```", 5, "this fence is never closed"),
        ("````\nx\n```", 5, "this fence is never closed"),
        ("- a\n  ```\n  x", 6, "this fence is never closed"),
        ("> ```\n> x", 5, "this fence is never closed"),
        ("x\n\n<!-- never closed", 7, "this HTML comment is never closed"),
        ("<script>\nx", 5, "this HTML element is never closed"),
    ],
)
def test_what_is_never_closed_is_an_error_with_its_line(prompt: str, line: int, says: str) -> None:
    """An unclosed block swallows what follows; it is named alone, not with the sections that it swallowed."""
    got = problems(minimal(prompt=prompt))
    assert len(got) == 1
    assert got[0].startswith(f"case.md:{line}: {says}")


def test_front_matter_never_closed() -> None:
    """The first section is not taken for YAML comments."""
    assert "not closed before line 3" in problems("---\ndescription: d\n## Prompt\nx\n## Soft criteria\n- y\n")[0]
    assert "never closed" in "\n".join(problems("---\ndescription: d\nx: y\n"))
    assert problems("---\ndescription: d\n## Prompt\nx\n\n---\n\n## Soft criteria\n- y\n")[0] == (
        "case.md:1: the front matter is not closed before line 3; expected a line ---"
    )


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("yes", "a boolean"),
        ("2026-11-30", "a date"),
        ("null", "null"),
        ("1.10", "a number"),
        ("012", "a number"),
        ("~", "null"),
    ],
)
def test_a_description_that_yaml_does_not_read_as_text(value: str, kind: str) -> None:
    """The author is told to quote it, and the quoted form is the text."""
    (got,) = problems(minimal(front=f"description: {value}"))
    assert got == f'case.md:2: description "{value}" is {kind} to YAML; expected text: quote it, "{value}"'
    assert case(minimal(front=f'description: "{value}"')).description == value


@pytest.mark.parametrize(
    ("front", "says"),
    [
        ("descripton: d", ['2: unknown key "descripton"', "1: no description"]),
        ("description: d\ndescription: e", ['3: key "description" is there twice']),
        ("description: |\n  two\n  lines", ["2: description has a line break"]),
        ("description: one\n  two", ["2: description has a line break"]),
        ('description: "a\\nb"', ["2: description has a line break"]),
        ("description:", ["2: description is empty"]),
        ("description: [a]", ["2: description is a list"]),
        ("description: d\ntags: smoke", ["3: tags is text; expected a list", 'did you mean "[smoke]"']),
        ("description: d\ntags:\n- a\n- yes\n- a", ['5: a tag "yes" is a boolean', '6: tag "a" is there twice']),
        ("description: use when: a, b", ["2: not YAML: mapping values are not allowed here"]),
        ("description: 'x", ["not YAML"]),
        ("- a", ["2: the front matter is a list"]),
        ("description: !!python/object:os.system x", ["2: description"]),
    ],
)
def test_front_matter_is_closed_and_typed(front: str, says: list[str]) -> None:
    """Unknown, duplicate and ill-typed keys are errors on the line where they stand."""
    got = "\n".join(problems(minimal(front=front)))
    for part in says:
        assert part in got


def test_headings() -> None:
    """Unknown, duplicate, underlined, glued and swallowed headings are errors with what was meant."""
    assert problems(minimal().replace("Soft criteria", "Soft criterias")) == [
        'case.md:8: unknown section "Soft criterias"; expected one of Prompt, Seed, Hard assertions, Soft criteria '
        '(a prompt with headings of its own goes into a prompt fence); did you mean "Soft criteria"?'
    ]
    assert problems(minimal() + "## Prompt (again)\nx\n")[0].startswith('case.md:10: a second section "Prompt"')
    underlined = problems(minimal().replace("## Prompt", "Prompt\n------"))
    assert underlined[0].startswith('case.md:4: "Prompt" with a line of dashes')
    assert 'did you mean "## Prompt"?' in underlined[0]
    assert 'did you mean "## Hard assertions"?' in problems(minimal().replace("## Hard", "##Hard"))[0]
    assert "is inside raw HTML" in problems(minimal(prompt="<div>\n## Hard assertions\nx"))[0]
    assert "is a level-1 heading" in problems(minimal().replace("## Prompt", "# Prompt"))[0]
    assert "comment begins within a paragraph" in problems(minimal(prompt="x <!-- y", criteria="- a -->"))[0]
    case("---\ndescription: d\n---\n# A title\n<!-- ## Hard assertions\n\n-->\n" + minimal().split("---\n")[2])


def test_all_problems_of_a_file_at_once_sorted_by_line() -> None:
    """An author mends a file in one go."""
    got = problems(
        "---\ndescription: yes\n---\nstray\n## Prompt\n\n## Hard assertions\n```zsh\nx\n```\n## Soft criteria\n-\n"
    )
    assert [int(line.split(":")[1]) for line in got] == [2, 4, 5, 8, 12]


@pytest.mark.parametrize(
    ("hard", "line", "says"),
    [
        ("```\ntrue\n```", 7, "a fence without an info string"),
        ("```shell\ntrue\n```", 7, 'info string "shell"; expected sh or bash; did you mean "sh"'),
        ("```sh title\ntrue\n```", 7, 'info string "sh title"'),
        ("    true", 7, "indented code does not run"),
        ("- ```sh\n  true\n  ```", 7, "a fence inside a list or a quote does not run"),
        ('test -f "$WORLD/x"', 7, "text, but no fence"),
        ("```sh\ntrue\nif x; then\n  y\n```", 9, "no fi for it"),
        ("```sh\ntrue\necho 'a\n```", 9, "a ' is never closed"),
        ("```sh\ncat <<EOF\nx\n```", 8, "the here-document has no line EOF"),
        ("```sh\ntrue &&\n# and\n```", 8, "nothing after &&"),
        ("```bash\n\nfi\n```", 9, "fi closes nothing"),
    ],
)
def test_hard_assertions_that_would_not_run_as_meant(hard: str, line: int, says: str) -> None:
    """What looks like a gate and is none, or is no complete command, is an error on its line."""
    (got,) = problems(minimal(hard=hard))
    # the sections before take six lines: front matter, Prompt, its text, the heading
    assert got.startswith(f"case.md:{line}: ")
    assert says in got


def test_hard_assertions_may_be_empty() -> None:
    """No gate is a legal choice; a comment in it is no command."""
    assert case(minimal(hard="")).assertions == ()
    assert case(minimal(hard="```sh\n# nothing yet\n```\n<!-- later -->")).assertions == ()


@pytest.mark.parametrize(
    ("criteria", "says"),
    [
        ("just prose", "7: text outside the list is no criterion"),
        ("- a\n\nprose after", "text outside the list is no criterion"),
        ("", "no soft criteria"),
        ("- a\n-\n- b", "an empty criterion"),
        ("- <!-- x -->", "an empty criterion"),
        ("```\n- a\n```", "text outside the list"),
    ],
)
def test_criteria_are_list_items_and_nothing_is_lost(criteria: str, says: str) -> None:
    """A statement that the judge would never see is an error."""
    assert any(says in line for line in problems(minimal(criteria=criteria).replace("## Hard assertions\n\n", "")))


def test_criteria_with_an_introduction_and_groups() -> None:
    """A paragraph with a colon and deeper headings may order the list; every item counts."""
    got = case(minimal(criteria="A good review:\n\n- a\n- b\n\n### Style\n+ c\n\n  more of c\n\n2) d"))
    assert got.criteria == ("a", "b", "c\n\nmore of c".replace("\n\n", "\n"), "d")


@pytest.mark.parametrize(
    ("seed", "says"),
    [
        ("hello\n**User:** x", "text before the first turn"),
        ("**User:**\n\n**Assistant:** x", "the turn **User:** is empty"),
        ("**Assistant:** x", "the first turn is the assistant's"),
        ("**user:** x", 'did you mean "**User:**"'),
        ("**User:** x\n**Assistant**: y", 'did you mean "**Assistant:**"'),
    ],
)
def test_seed_turns(seed: str, says: str) -> None:
    """A turn that is not recognised would silently become part of the one before."""
    assert says in "\n".join(problems(minimal() + f"## Seed\n{seed}\n"))


def test_seed_text_is_kept() -> None:
    """Lists and quotes do not hide a turn; a tag that is not at the line's start is text."""
    got = case(minimal() + "## Seed\n**System:** s\n**User:** a\n- b **User:** c\n**User:** d\n> **User:** e\n")
    assert [(t.role, t.text) for t in got.seed_turns] == [
        ("system", "s"),
        ("user", "a\n- b **User:** c"),
        ("user", "d\n> **User:** e"),
    ]


def test_text_that_is_no_text() -> None:
    """Control characters, NUL and invalid UTF-8 are named with their line; the rest of the file is still looked at."""
    assert problems(minimal(prompt="a\x00b")) == ["case.md:5: control character U+0000; expected none"]
    assert problems(minimal(prompt="x\n\x1b[31m"))[0].startswith("case.md:6: control character U+001B")
    got = problems(minimal(criteria="").encode().replace(b"Do it", b"\xff\xfe"))
    assert got[0] == "case.md:5: byte 0xff is not UTF-8; expected text in UTF-8"
    assert "no soft criteria" in got[1]
    assert "UTF-16" in problems(WHOLE.encode("utf-16"))[0]
    assert "no front matter" in problems(b"")[0]
    assert len(problems(b"\x00\xff\n" * 1000)) == 20
    assert "prompt is empty" in problems(minimal(prompt="\u200b\u00a0"))[0]


def test_unusual_line_separators_do_not_move_lines() -> None:
    """U+2028, U+0085 and form feeds of other worlds end no line: the next problem is where an editor shows it."""
    got = problems(minimal(prompt="a\u2028b\u0085c", criteria="", front='description: d # \u2028\nx: "\u2029"'))
    assert [line.split(":")[1] for line in got if "no soft" in line] == ["9"]
    assert [line.split(":")[1] for line in got if "unknown key" in line] == ["3"]


@pytest.mark.parametrize(
    "hostile",
    [
        "- " * 5000 + "x",
        ">" * 5000 + "x",
        "- ```\n" * 3000,
        "<!--\n" * 20000,
        "x\n" * 30000,
        "`" * 100000,
        "* a\n" * 8000,
        "[" * 50000 + "](" * 50000,
        "#" * 100000,
        "> " * 30 + "```sh\nrm\n",
    ],
)
def test_hostile_markdown_ends_in_bounded_time(hostile: str) -> None:
    """No text makes the parser hang, recurse to death or lose a section without a word."""
    begun = time.perf_counter()
    try:
        got = case(minimal(prompt=hostile, hard="```sh\ntrue\n```"))
    except CaseError as error:
        assert error.problems  # noqa: PT017  # either outcome is right, silence is not
    else:
        assert [a.command for a in got.assertions] == ["true"]
    assert time.perf_counter() - begun < 20  # a hang, not a speed


@pytest.mark.parametrize("depth", range(1, 60))
def test_deep_nesting_never_hides_a_section(depth: int) -> None:
    """Where the Markdown parser stops looking, it is an error and never a case without its gate."""
    for opener in ("- ", "> ", "1. > "):
        try:
            got = case(minimal(prompt=opener * depth + "x", hard="```sh\ntrue\n```"))
        except CaseError as error:
            assert "deep" in str(error)  # noqa: PT017  # see above
        else:
            assert len(got.assertions) == 1


PIECES = st.sampled_from(
    [
        *WHOLE.splitlines(keepends=True),
        "```\n",
        "~~~\n",
        "<!--\n",
        "-->\n",
        "    x\n",
        "> y\n",
        "---\n",
        "\n",
        "x\r",
        "é\u2028",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_is_a_case_or_an_error(text: str) -> None:
    """The parser never crashes, and what it accepts has a prompt, a criterion and lines that exist."""
    data = ("---\ndescription: d\n---\n" + text).encode()
    try:
        got = parse(data, "case.md")
    except CaseError as error:
        lines = [problem.line for problem in error.problems]
        assert all(line is not None and line >= 1 for line in lines)  # every problem has a line
        assert lines == sorted(lines, key=lambda line: line or 0)
    else:
        assert got.prompt.strip()
        assert got.criteria
        rows = data.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for assertion in got.assertions:
            assert rows[assertion.line - 1].strip().startswith(assertion.command.split("\n")[0].strip())


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_an_error_and_no_crash(data: bytes) -> None:
    """Not a text, not a case, not a traceback."""
    with pytest.raises(CaseError):
        parse(data, "case.md")


def test_long_command_is_refused() -> None:
    """A command that no shell can be given as an argument is an error before any run."""
    (got,) = problems(minimal(hard=f"```sh\necho {'x' * 100_001}\n```"))
    assert got.startswith("case.md:8: a command of 100,006 characters")
