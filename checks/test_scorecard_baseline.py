"""``evals/baseline.yaml``: read strictly, and edited so that what a person wrote in it stays."""

from __future__ import annotations

from decimal import Decimal

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillbench.scorecard.baseline import Baseline, BaselineSkill, parse
from pytest_skillbench.scorecard.records import DIMENSIONS
from pytest_skillbench.scorecard.splice import splice, whole

SOURCE = """\
# evals/baseline.yaml
version: "2026-03-17"
overall_score: 87.3   # of all

skills:
  aether-status:      # the oldest
    trigger_accuracy: 95.0
    # two cases are known to be hard
    output_quality: 90.0
    tool_usage: 92.0
    error_handling: 88.0
    token_efficiency: 95.0
    overall: 92.0

  aether-deploy:
    # ...
"""
NEW_STATUS = BaselineSkill(
    scores={name: Decimal("80.0") for name in DIMENSIONS},
    overall=Decimal("80.0"),
    eval_count=7,
    last_evaluated="2026-11-30",
    skill_lines=10,
    skill_words=100,
)
PLAIN = BaselineSkill(scores={"token_efficiency": Decimal("90.0")}, skill_lines=1, skill_words=2)


def baseline(**skills: BaselineSkill) -> Baseline:
    """Return a baseline of these skills, whose names are spelled with underscores here."""
    return Baseline(
        version="2026-11-30",
        overall_score=Decimal("80.0"),
        generated_by="pytest-skillbench 0.1.0",
        skills={name.replace("_", "-"): skill for name, skill in skills.items()},
    )


def read(data: bytes) -> Baseline:
    """Return what a file says, without lines."""
    found, problems = parse(data, "b.yaml")
    assert problems == ()
    assert found is not None
    skills = {name: msgspec.structs.replace(skill, line=None) for name, skill in found.skills.items()}
    return msgspec.structs.replace(found, skills=skills)


def test_the_source_reads_as_it_stands() -> None:
    """Scores exactly as spelled; a skill without any has none."""
    found = read(SOURCE.encode())
    assert (found.version, found.overall_score) == ("2026-03-17", Decimal("87.3"))
    assert found.skills["aether-status"].scores["output_quality"] == Decimal("90.0")
    assert found.skills["aether-deploy"] == BaselineSkill(scores={})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("skills: {a: {overall: 101}}", '1: "overall" is 101; expected a score from 0 to 100'),
        ("skills: {a: {tool_usage: -1}}", '1: "tool_usage" is -1;'),
        ("skills: {a: {tool_usage: ninety}}", '1: "tool_usage" is "ninety"; expected a number'),
        ("skills: {a: {tool_usage: 1_0}}", '1: "tool_usage" is "1_0"'),
        ("skills: {a: {tool_usage: .nan}}", '1: "tool_usage" is ".nan"'),
        ("skills: {a: {eval_count: 1.5}}", '1: "eval_count" is 1.5; expected a whole number'),
        ("skills:\n  a: {tool_uses: 5}", '2: unknown key "tool_uses"; expected one of'),
        ("skills:\n  a: {}\n  a: {}", '3: key "a" is there twice'),
        ("skills: [a]", '1: "skills" is a list'),
        ("skills: {yes: {}}", '"yes" is a boolean to YAML; expected text: quote it, "yes"'),
        ("version: 1", '1: "skills" is missing'),
        ("skils: {}", 'did you mean "skills"?'),
        ("skills: {", "1: not YAML"),
        ("skills: {}\n---\nskills: {}", "not YAML"),
    ],
)
def test_what_is_wrong_is_named(text: str, says: str) -> None:
    """With its line; a baseline that is wrong anywhere is none."""
    found, problems = parse(text.encode(), "b.yaml")
    assert found is None
    assert any(says in str(problem) for problem in problems), problems


def test_what_a_person_wrote_stays() -> None:
    """Comments, blank lines, order and spelling; only what is new differs, and the row of nothing is filled in."""
    spliced = splice(SOURCE.encode(), baseline(aether_status=NEW_STATUS, aether_deploy=PLAIN, new_one=PLAIN))
    assert not spliced.rewritten
    assert (
        spliced.data.decode()
        == """\
# evals/baseline.yaml
version: "2026-11-30"
overall_score: 80.0   # of all
generated_by: pytest-skillbench 0.1.0

skills:
  aether-status:      # the oldest
    trigger_accuracy: 80.0
    # two cases are known to be hard
    output_quality: 80.0
    tool_usage: 80.0
    error_handling: 80.0
    token_efficiency: 80.0
    overall: 80.0
    eval_count: 7
    last_evaluated: "2026-11-30"
    skill_lines: 10
    skill_words: 100

  aether-deploy:
    token_efficiency: 90.0
    skill_lines: 1
    skill_words: 2
  new-one:
    token_efficiency: 90.0
    skill_lines: 1
    skill_words: 2
    # ...
"""
    )


def test_the_same_again_changes_nothing() -> None:
    """Another spelling of the same number is left alone, as is the whole file."""
    text = (
        "version: '2026-11-30'\noverall_score: 80\ngenerated_by: \"pytest-skillbench 0.1.0\"\n"
        "skills:\n  a: {token_efficiency: 90, skill_lines: 1, skill_words: 2} # x\n"
    )
    assert splice(text.encode(), baseline(a=PLAIN)).data.decode() == text


@pytest.mark.parametrize(
    "text",
    [
        "skills: {}\n",
        "skills:\n",
        "skills: null # none yet\n",
        "skills:",
        "skills: {a: {overall: 3.0}}\n",
        "{skills: {a: {overall: 3.0}}}\n",
        "skills:\n      a:\n          overall: 3.0\n# the end",
        "skills:\n  a: {overall: 3.0, # why\n      tool_usage: 5}\n",
        "skills:\n  a: null\n",
        "skills:\n  a: {}\nversion: 3\n",
        "skills:\n  ? a\n  : overall: 3.0\n",
        'skills:\n  "a":\n    overall: "3"\n'.replace('"3"', "3"),
        "x: 1\n".replace("x: 1", "skills:\n  a: &row {overall: 1}\n  b: *row"),
        "skills:\n  a:\n    forced: |\n      it was\n      Friday\n    overall: 1\n".replace(
            "|\n      it was\n      Friday", "it was"
        ),
        "\ufeffskills:\r\n  a:\r\n    overall: 3.0 # c\r\n",
        "--- \nskills:\n  a:\n    overall: 3.0\n...\n",
        "skills:\n  a:\n    notes: [mine, and yours]\n    overall: 3\n",
    ],
)
def test_whatever_the_form_it_says_what_it_should(text: str) -> None:
    """Edited in place or written anew: what comes out is read as the new baseline, and never loses a skill."""
    before, problems = parse(text.encode(), "b.yaml")
    assert problems == ()
    assert before is not None
    new = baseline(a=NEW_STATUS, c=PLAIN)
    skills = {name: msgspec.structs.replace(skill, line=None) for name, skill in before.skills.items()}
    new = msgspec.structs.replace(new, skills={**skills, **new.skills})
    spliced = splice(text.encode(), new)
    assert read(spliced.data) == new
    assert yaml.safe_load(spliced.data)["skills"]["a"]["eval_count"] == 7


def test_what_is_kept_of_a_windows_file() -> None:
    """Its line ends and its byte-order mark."""
    data = splice(b"\xef\xbb\xbfskills:\r\n  a: # mine\r\n    overall: 3.0\r\n", baseline(a=PLAIN)).data
    assert data.startswith(b"\xef\xbb\xbfversion:")
    assert b"\r\n  a: # mine\r\n" in data
    assert data.count(b"\n") == data.count(b"\r\n")


def test_notes_and_lines_that_go_away() -> None:
    """A value that is no more loses its line; what the author keeps for themselves stays."""
    text = (
        "skills:\n  a:\n    notes: mine\n    trigger_accuracy: 5.0 # was hard\n    token_efficiency: 90.0\n"
        "    forced: Friday\n"
    )
    spliced = splice(text.encode(), baseline(a=PLAIN))
    assert not spliced.rewritten
    assert b"notes: mine" in spliced.data
    assert b"trigger_accuracy" not in spliced.data
    assert b"forced" not in spliced.data


def test_anchors_are_written_anew_and_said() -> None:
    """Two rows that are one text can't be edited one by one."""
    text = b"skills:\n  a: &row\n    overall: 1\n  b: *row\n"
    new = msgspec.structs.replace(baseline(a=PLAIN), skills={"a": PLAIN, "b": NEW_STATUS})
    spliced = splice(text, new)
    assert spliced.rewritten
    assert read(spliced.data) == new


SKILLS = st.builds(
    BaselineSkill,
    scores=st.dictionaries(st.sampled_from(DIMENSIONS), st.decimals(0, 100, places=1)),
    overall=st.none() | st.decimals(0, 100, places=1),
    eval_count=st.none() | st.integers(0, 99),
    last_evaluated=st.none() | st.just("2026-11-30"),
    skill_lines=st.none() | st.integers(0, 999),
    forced=st.none() | st.text(st.characters(codec="utf-8", categories=("L", "P", "Zs")), min_size=1, max_size=20),
)
NAMES = st.sampled_from(["a", "b-c", "状态", "yes", "1.0", "x: y", "#"])
BASELINES = st.builds(
    Baseline,
    version=st.none() | st.sampled_from(["2026-11-30", "1.0"]),
    overall_score=st.none() | st.decimals(0, 100, places=1),
    skills=st.dictionaries(NAMES, SKILLS, max_size=4),
    generated_by=st.none() | st.just("pytest-skillbench 0.1.0"),
)


@given(BASELINES, BASELINES)
def test_from_any_baseline_to_any_other(old: Baseline, new: Baseline) -> None:
    """The file of one, edited to say the other, says the other, in place wherever no skill is taken away."""
    new = msgspec.structs.replace(new, skills={**old.skills, **new.skills})
    text = whole(old).replace("skills:", "# mine\nskills:")
    spliced = splice(text.encode(), new)
    assert read(spliced.data) == new
    assert spliced.rewritten or b"# mine" in spliced.data
    assert not spliced.rewritten
    assert splice(spliced.data, new).data == spliced.data
