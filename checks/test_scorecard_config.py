"""``evals/config.yaml``: defaults, every check with its line, and nothing that is wrong silently taken for right."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from pytest_skillbench.errors import SettingsError
from pytest_skillbench.model import Settings
from pytest_skillbench.scorecard.config import Config, default, parse
from pytest_skillbench.settings import load

WHOLE = """\
version: 1.0
created: 2026-03-17
dimensions:
  trigger_accuracy: {weight: 0.3, description: used when it should be}
  output_quality: {weight: 0.3}
  tool_usage: {weight: 0.1}
  error_handling: {weight: 0.1}
  token_efficiency: {weight: 0.2}
regression_thresholds:
  trigger_accuracy: {warning: -2.5, blocking: -10}
  token_efficiency: {warning: +10, blocking: +25}
baseline:
  path: "evals/baseline.yaml"
  require_comparison: true
  auto_update: false
  history_path: "evals/results/"
eval_cases:
  path: "evals/cases/"
  min_cases_per_skill: 5
  required_categories: [trigger_positive, output-quality]
target_skills:
  - aether-status
  - aether-deploy
"""


def read(text: str) -> tuple[Config, list[str]]:
    """Return the config and what is wrong with it, without the path."""
    config, problems = parse(text.encode(), "evals/config.yaml", "evals")
    return config, [str(problem).removeprefix("evals/config.yaml:") for problem in problems]


def test_a_whole_config() -> None:
    """As the source of the format writes it: unquoted dates and versions of the file itself are nobody's business."""
    config, problems = read(WHOLE)
    assert problems == []
    assert config.weights["tool_usage"] == Decimal("0.1")
    assert config.thresholds["trigger_accuracy"].warning == Decimal("-2.5")
    assert config.thresholds["token_efficiency"].blocking == 25
    assert config.thresholds["output_quality"].blocking == -20  # a default
    assert (config.baseline_path, config.results_path, config.cases_path) == (
        "evals/baseline.yaml",
        "evals/results",
        "evals/cases",
    )
    assert (config.require_comparison, config.auto_update, config.min_cases) == (True, False, 5)
    assert config.required == ("trigger-positive", "output-quality")
    assert config.targets == ("aether-status", "aether-deploy")


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "\ufeff# a\r\n"])
def test_an_empty_config_is_the_defaults(text: str) -> None:
    """As is none at all; their weights sum to 1."""
    config, problems = read(text)
    assert problems == []
    assert config == default("evals")
    assert sum(config.weights.values()) == 1
    assert config.targets is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("dimensions: {tool_usage: {weight: 0.25}}", "1: the weights sum to 1.05 (0.25 + 0.25 + 0.25 + 0.15 + 0.15"),
        ("dimensions: {tool_usage: {weight: 0.1999999999999}}", "1: the weights sum to 0.9999999999999 ("),
        ("dimensions: {tool_usage: {weight: 2}}", "1: the weight of tool_usage is 2; expected a number from 0 to 1"),
        ("dimensions: {tool_usage: {weight: 20%}}", '1: the weight of tool_usage is "20%"; expected a number'),
        (
            "dimensions: {tool_usage: {wieght: 1}}",
            'unknown key "wieght"; expected one of weight, description, name; did',
        ),
        ("dimensions: {tool-usage: {weight: 1}}", 'unknown key "tool-usage"'),
        ("dimension: {}", 'unknown key "dimension"; expected one of'),
        (
            "regression_thresholds:\n  tool_usage: {warning: 5}",
            "2: the warning threshold of tool_usage is 5; expected po",
        ),
        ("regression_thresholds:\n  tool_usage: {warning: 5}", 'did you mean "-5"?'),
        ("regression_thresholds:\n  token_efficiency: {blocking: -50}", "growth in per cent, above 0"),
        ("regression_thresholds:\n  tool_usage: {warning: 0}", "2: the warning threshold of tool_usage is 0;"),
        ("regression_thresholds:\n  tool_usage: {warning: -20}", "2: tool_usage blocks at -15 and warns at -20"),
        ("baseline: {path: /etc/passwd}", '1: "path" is "/etc/passwd"; expected a path below the repository\'s root'),
        ("baseline: {path: ../x.yaml}", '1: "path" is "../x.yaml"'),
        ("baseline: {require_comparison: yes}", '1: "require_comparison" is "yes"; expected true or false'),
        ("baseline: {require_comparison: 1}", '1: "require_comparison" is "1"; expected true or false'),
        ("eval_cases: {min_cases_per_skill: -1}", '1: "min_cases_per_skill" is -1; expected a whole number'),
        ("eval_cases: {min_cases_per_skill: 1.5}", '1: "min_cases_per_skill" is 1.5;'),
        ("eval_cases: {required_categories: [trigger-postive]}", 'did you mean "trigger-positive"?'),
        ("eval_cases: {required_categories: all}", "is text; expected a list"),
        ("target_skills: [a, b, a]", '1: skill "a" is there twice; expected it only at line 1'),
        ("target_skills: [no]", 'a target skill "no" is a boolean to YAML; expected text: quote it, "no"'),
        ("a: [", "1: not YAML:"),
        ("- a", "1: the config is a list"),
        ("dimensions: 5", '1: "dimensions" is a number'),
        ("baseline: {}\nbaseline: {}", '2: key "baseline" is there twice'),
    ],
)
def test_what_is_wrong_is_named(text: str, says: str) -> None:
    """With its line, what was expected, and what was probably meant."""
    _, problems = read(text)
    assert any(says in problem for problem in problems), problems


def test_nothing_wrong_is_taken_for_right() -> None:
    """All problems at once, and in the place of what is wrong the defaults, whole: never weights that sum to 1.05."""
    config, problems = read(
        "dimensions: {tool_usage: {weight: 0.25}}\nregression_thresholds:\n  tool_usage: {warning: 5}\n"
    )
    assert len(problems) == 2
    assert config.weights == default("evals").weights
    assert config.thresholds == default("evals").thresholds


def test_not_utf8() -> None:
    """A message with the line."""
    _, problems = parse(b"version: 1\n\xff", "c.yaml", "evals")
    assert [str(problem) for problem in problems] == ["c.yaml:2: not UTF-8; expected text in UTF-8"]


@pytest.mark.parametrize("root", ["/abs", "../up", ".", "tests/evals", ".git"])
def test_the_evals_root_stays_inside(tmp_path: Path, root: str) -> None:
    """It is a folder of the repository, which its own settings alone may name."""
    file = tmp_path / "skillbench.yaml"
    file.write_text(f'evals_root: "{root}"\n')
    with pytest.raises(SettingsError, match=r'"evals_root" is ".*"; expected a'):
        load(file, "tests/skillbench.yaml", Settings(), repo=True)
    file.write_text("evals_root: quality/evals\n")
    assert load(file, "tests/skillbench.yaml", Settings(), repo=True).evals_root == "quality/evals"
    with pytest.raises(SettingsError, match=r"expected it in tests/skillbench\.yaml only"):
        load(file, "tests/x/skillbench.yaml", Settings())
