"""``skillbench.yaml``: closed, typed, with lines, and overriding what it overrides and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_skillbench.errors import SettingsError
from pytest_skillbench.model import Settings
from pytest_skillbench.settings import load

BASE = Settings(trials=7, model="m", temperature=0.5)


def read(tmp_path: Path, text: str | bytes, *, repo: bool = False) -> Settings:
    """Write a settings file and load it over BASE."""
    file = tmp_path / "skillbench.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(file, "tests/s/skillbench.yaml", BASE, repo=repo)


def problems(tmp_path: Path, text: str | bytes, *, repo: bool = False) -> list[str]:
    """Return what is wrong with a settings file, without its path."""
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, text, repo=repo)
    prefix = "tests/s/skillbench.yaml:"
    assert all(str(problem).startswith(prefix) for problem in caught.value.problems)
    return [str(problem).removeprefix(prefix) for problem in caught.value.problems]


def test_overrides_leave_the_rest(tmp_path: Path) -> None:
    """A skill's file changes what it names; null takes a value back where null is one."""
    text = (
        "trials: 3\ntemperature: 1\neffort: high\nmodel: null\njudging: both-orders\narm_timeout_minutes: 0.5\n"
        "gate_timeout_seconds: 5\nretries: 0\ndelivery: inline\norder:\n- b\n- a\n"
    )
    assert read(tmp_path, text) == Settings(
        trials=3,
        temperature=1,
        effort="high",
        model=None,
        judging="both-orders",
        arm_timeout_minutes=0.5,
        gate_timeout_seconds=5,
        retries=0,
        delivery="inline",
        order=("b", "a"),
    )


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n"])
def test_an_empty_file_changes_nothing(tmp_path: Path, text: str) -> None:
    """Nor does no file at all."""
    assert read(tmp_path, text) == BASE
    assert load(tmp_path / "none.yaml", "none.yaml", BASE) == BASE


def test_windows_files(tmp_path: Path) -> None:
    """CRLF and a byte-order mark mean the same."""
    assert read(tmp_path, b"\xef\xbb\xbftrials: 3\r\nretries: 1\r\n").retries == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("trials: 5.0", '1: "trials" is 5.0; expected a whole number from 1 to 25'),
        ("trials: yes", '1: "trials" is "yes", a boolean; expected a whole number from 1 to 25'),
        ('trials: "5"', '1: "trials" is "5", text; expected a whole number from 1 to 25'),
        ("trials: 0", '1: "trials" is 0; expected a whole number from 1 to 25'),
        ("trials: 26", '1: "trials" is 26;'),
        ("trials: 010", '1: "trials" is 010;'),
        ("trials: 1_0", '1: "trials" is 1_0;'),
        ("trials: 1:30", '1: "trials" is 1:30;'),
        ("trials: -1", '1: "trials" is -1;'),
        ("trials: null", '1: "trials" is "null", null;'),
        ("trials: [5]", '1: "trials" is a list;'),
        ("trials: 99999999999999999999999", '1: "trials" is'),
        ("temperature: .nan", '1: "temperature" is .nan; expected a number from 0 to 2 or null'),
        ("temperature: .inf", '1: "temperature" is .inf;'),
        ("temperature: true", '1: "temperature" is "true", a boolean;'),
        ("temperature: 2.1", '1: "temperature" is 2.1;'),
        ("arm_timeout_minutes: 0", '"arm_timeout_minutes" is 0; expected a number above 0 to 1440'),
        ("judging: both_orders", 'expected both-orders or one-order; did you mean "both-orders"?'),
        ("model: 4.5", '1: "model" "4.5" is a number to YAML; expected text: quote it, "4.5"'),
        ("model: ''", '1: "model" is empty'),
        ("effort: |\n  a", '1: "effort" has a line break'),
        ("order: a", '1: "order" is text; expected a list such as [one, two]; did you mean "[a]"?'),
        ("order: [a, b,\n a]", '2: case "a" is there twice; expected it only at line 1'),
        ("order: [A b]", '1: "A b" is no name of a case; expected [a-z0-9][a-z0-9-]*; did you mean "a-b"?'),
        ("trails: 5", '1: unknown key "trails"; expected one of'),
        ("trials: 5\ntrials: 6", '2: key "trials" is there twice; expected it only at line 1'),
        ("[1]: 2", "1: a key is a list"),
        ("- a", "1: the file is a list"),
        ("trials: 5\n  x: y", "2: not YAML:"),
        ("trials: 5\n---\ntrials: 6", "2: not YAML:"),
        ("trials: !!python/name:os.system x", '1: "trials" is'),
        ("skills_root: x", '1: "skills_root" does not belong here; expected it in tests/skillbench.yaml only'),
        ("a: " + "[" * 5000, "1: not YAML:"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, says: str) -> None:
    """Every kind of slip, with its line and what was expected; YAML's odd numbers are none."""
    assert any(says in line for line in problems(tmp_path, text)), problems(tmp_path, text)


def test_all_problems_at_once(tmp_path: Path) -> None:
    """Sorted by line."""
    got = problems(tmp_path, "trials: 0\nretries: x\nmodl: m\n")
    assert [line[0] for line in got] == ["1", "2", "3"]


@pytest.mark.parametrize("root", ["/abs", "../up", "a/../../b", "~/x", ".", "tests/x", ".git", "a\\b"])
def test_skills_root_stays_inside(tmp_path: Path, root: str) -> None:
    """Only the repository's own file sets it, and never to a place outside or to the cases."""
    (got,) = problems(tmp_path, f'skills_root: "{root.replace(chr(92), chr(92) * 2)}"', repo=True)
    assert '"skills_root" is' in got
    assert read(tmp_path, "skills_root: ./.claude//skills/", repo=True).skills_root == ".claude/skills"
    assert "does not belong here" in problems(tmp_path, "order: [a]", repo=True)[0]


def test_files_that_are_no_text(tmp_path: Path) -> None:
    """Not UTF-8, a folder, a FIFO, a huge file: a message, never a hang or a traceback."""
    assert problems(tmp_path, b"trials: 5\n\xff") == ["2: not UTF-8; expected text in UTF-8"]
    with pytest.raises(SettingsError, match="65,536"):
        read(tmp_path, "#" * 70_000)
    for make in (os.mkdir, os.mkfifo):
        place = tmp_path / make.__name__
        make(place)
        with pytest.raises(SettingsError, match="not a regular file"):
            load(place, "x", BASE)
