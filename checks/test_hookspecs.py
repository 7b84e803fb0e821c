"""The hooks for other plugins: declared, documented with exact signatures, called when and with what is promised."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from checks.conftest import Run
from pytest_skillbench import hookspecs

DOCS = Path(__file__).parent.parent / "docs" / "hooks.md"
Recorded = Callable[..., Path]

PRICES = json.dumps(
    {
        "schema_version": 1,
        "date": "2031-01-01",
        "models": {
            "claude-sonnet-4-5": [
                {
                    "standard": {
                        "rates": {
                            "input": 1000.0,
                            "cache_write_5m": 0.0,
                            "cache_write_1h": 0.0,
                            "cache_read": 0.0,
                            "output": 0.0,
                        }
                    }
                }
            ]
        },
    }
)


def declared() -> dict[str, Callable[..., object]]:
    """Return the hooks by name."""
    return {name: hook for name, hook in vars(hookspecs).items() if name.startswith("pytest_skillbench")}


def test_what_is_declared_is_exported() -> None:
    """The module's public names are its hooks and nothing else."""
    assert sorted(hookspecs.__all__) == sorted(declared())


@pytest.mark.parametrize("name", sorted(declared()))
def test_each_hook_is_documented(name: str) -> None:
    """A hook is documented with its exact signature; its docstring says when it is called and with what."""
    hook = declared()[name]
    signature = re.sub(r"'([^']*)'", r"\1", str(inspect.signature(hook)))
    assert f"```python\ndef {name}{signature}\n```" in DOCS.read_text()
    assert f"## `{name}`" in DOCS.read_text()
    text = inspect.getdoc(hook) or ""
    assert "Called " in text
    assert ":return:" in text
    for parameter in inspect.signature(hook).parameters:
        assert f":param {parameter}:" in text


def test_an_implementation_does_no_harm_without_the_option(pytester: pytest.Pytester) -> None:
    """A conftest with our hooks is no error in an ordinary session, and is never called there."""
    pytester.makeconftest(
        "def pytest_skillbench_hosts(config): 1/0\n"
        "def pytest_skillbench_prices(config, prices): 1/0\n"
        "def pytest_skillbench_result(config, skill, result, report): 1/0\n"
    )
    pytester.makepyfile("def test_it(): pass")
    pytester.runpytest_inprocess().assert_outcomes(passed=1)


def test_a_result_is_announced(bench: Path, run: Run, pytester: pytest.Pytester, recorded: Recorded) -> None:
    """Once a scored skill, with its frozen result and the report that was just written."""
    pytester.makeconftest(
        "def pytest_skillbench_result(config, skill, result, report):\n"
        "    page = report and report.read_text()[:9]\n"
        "    print('ANNOUNCED', skill, result.verdict('efficacy').verdict, page, config.rootpath.name)\n"
    )
    recorded()
    name = bench.name
    result = run("-s", "tests")
    announced = [line.partition("ANNOUNCED ")[2].lower() for line in result.outlines if "ANNOUNCED" in line]
    assert announced == [f"code-review pass <!doctype {name}"]
    silent = run("-s", "--skillbench-no-report", "tests")
    silent.stdout.fnmatch_lines([f"*ANNOUNCED code-review pass None {name}"])
    run("-s", "--collect-only", "tests").stdout.no_fnmatch_line("*ANNOUNCED*")


def test_a_result_is_announced_once_under_xdist(bench: Path, pytester: pytest.Pytester, recorded: Recorded) -> None:
    """By the controller, and by no worker."""
    pytester.makeconftest(
        "import os\n"
        "def pytest_skillbench_result(config, skill):\n"
        "    open('announced', 'a').write(f'{skill} {hasattr(config, \"workerinput\")}\\n')\n"
    )
    recorded()
    assert pytester.runpytest_subprocess("--skillbench", "-n", "2", "tests").ret == 0
    assert (bench / "announced").read_text() == "code-review False\n"


def test_prices_are_amended(bench: Path, run: Run, pytester: pytest.Pytester, recorded: Recorded) -> None:
    """The table that a hook returns prices the report, and is named in it; None changes nothing."""
    (bench / "prices.json").write_text(PRICES)
    pytester.makeconftest(
        "from pathlib import Path\n"
        "from pytest_skillbench.prices import load\n"
        "def pytest_skillbench_prices(config, prices):\n"
        "    assert prices.models\n"
        "    return load(Path('prices.json').read_bytes())\n"
        "def pytest_skillbench_result(result):\n"
        "    print('PRICED', result.price_table, [round(c.usage.cost_usd, 4) for c in result.costs])\n"
    )
    recorded()
    # 2 cases x 5 trials x 3 input tokens at $1000 a million
    run("-s", "tests").stdout.fnmatch_lines(["*PRICED *amended 2031-01-01 [[]0.03, 0.03, 0.03[]]"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "def pytest_skillbench_prices(prices): return {}",
            "*pytest_skillbench_prices: got dict; expected a PriceTable",
        ),
        ("def pytest_skillbench_hosts(): return ['mine']", "*pytest_skillbench_hosts: got str; expected a Host"),
        (
            "from pytest_skillbench.hosts import HOSTS\ndef pytest_skillbench_hosts(): return HOSTS",
            '*pytest_skillbench_hosts: two hosts named "claude-code"',
        ),
    ],
)
def test_a_wrong_answer_is_a_usage_error(
    bench: Path, run: Run, pytester: pytest.Pytester, body: str, message: str
) -> None:
    """A plugin's mistake is named with its hook, not met as a traceback later."""
    pytester.makeconftest(body)
    result = run("tests")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_hosts_are_added(bench: Path, pytester: pytest.Pytester) -> None:
    """A host of another plugin is listed behind the built-in ones, for this session only."""
    pytester.makeconftest(
        "import msgspec\n"
        "from pytest_skillbench.hosts import HOSTS\n"
        "def pytest_skillbench_hosts():\n"
        "    return [msgspec.structs.replace(HOSTS[0], name='another')]\n"
        "def pytest_collection_finish(session):\n"
        "    found = session.config.pluginmanager.get_plugin('skillbench-session').hosts\n"
        "    print('HOSTS', [host.name for host in found][-1], len(found) - len(HOSTS))\n"
    )
    pytester.runpytest_inprocess("--skillbench", "-s", "tests").stdout.fnmatch_lines(["*HOSTS another 1"])
