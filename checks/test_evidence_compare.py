"""``compare``: exactly the documented fields for every kind of pair, and laws that hold for all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.freezes import criterion, execution, freeze, imported, result, run, state, suite, suite_case
from pytest_skillbench.errors import EvidenceError
from pytest_skillbench.evidence import compare as comparing
from pytest_skillbench.evidence.compare import compare, inspect, is_known, overall
from pytest_skillbench.evidence.documents import read_run, read_suite
from pytest_skillbench.evidence.reading import json_line
from pytest_skillbench.evidence.records import Comparison, Freeze, Manifest, Package, Pair, Run, Suite

DIGEST = "d" * 64
MISSING = "A baseline/treatment run is missing."


def frozen(value: dict[str, Any] | None = None) -> Freeze:
    """Return a freeze in memory."""
    found = read_suite(json.dumps(value or suite()).encode(), "suite.json")
    packages = (Package(name="code-review", tree_sha256="e" * 64),)
    manifest = Manifest(schema_version=1, suite_sha256="f" * 64, benchmark_sha256=DIGEST, files=(), packages=packages)
    return Freeze(directory=Path("/freeze"), suite=found, manifest=manifest, manifest_sha256="0" * 64)


def declared(of: Suite, variant: str, attempt: int = 1, **changes: Any) -> Run:
    """Return a run in memory."""
    return read_run(json.dumps(run(DIGEST, variant, attempt, **changes)).encode(), "run.json", of, DIGEST)


def first(baseline: dict[str, Any] | None, treatment: dict[str, Any] | None) -> Pair:
    """Return what is said of the first pair of a suite, of runs with these changes (None: no run)."""
    whole = frozen()
    runs = [
        declared(whole.suite, variant, **changes)
        for variant, changes in (("baseline", baseline), ("treatment", treatment))
        if changes is not None
    ]
    return compare(whole, runs).cases[0]


def timed(milliseconds: int | None) -> dict[str, Any]:
    """Return the change of a run that took so long."""
    return {"metrics": {"wall_time_ms": milliseconds, "input_tokens": None, "output_tokens": None}}


def graded(critical: str, other: str = "pass") -> dict[str, Any]:
    """Return the change of a run with these verdicts."""
    names = (("names-it", critical), ("stays-brief", other))
    return {"criteria": [result(n, v, ("answer.md",) if v == "pass" else ()) for n, v in names]}


# -- whole answers -----------------------------------------------------------------------------------------------------


def test_a_complete_pair_field_by_field(tmp_path: Path) -> None:
    """The answer of the command for one pair that may be compared: keys, order and values."""
    only = suite(suite_case(limits={"attempts": 1, "seconds": 60}))
    said = freeze(tmp_path, only)
    imported(tmp_path, run(said.benchmark_sha256, "treatment", **graded("pass", "fail"), **timed(60_000)))
    imported(tmp_path, run(said.benchmark_sha256, "baseline", **graded("fail", "pass")))
    before = state(tmp_path)
    found = json.loads(json_line(inspect(tmp_path / "freeze").comparison))
    assert state(tmp_path) == before
    limits = found.pop("limits")
    assert len(limits) == 5
    assert all(isinstance(limit, str) and limit.endswith(".") for limit in limits)
    cited = {"reason": "It does.", "evidence": ["answer.md"]}
    bare = {"reason": "It does.", "evidence": []}
    expected = {
        "schema_version": 1,
        "suite": "reviews",
        "benchmark_sha256": said.benchmark_sha256,
        "packages": [{"name": "code-review", "tree_sha256": said.packages[0].tree_sha256}],
        "coverage": {
            "expected_pairs": 1,
            "imported_runs": 2,
            "missing_runs": 0,
            "paired_cases": 1,
            "declared_agent_pairs": 1,
            "declared_controlled_agent_pairs": 1,
            "fixture_runs": 0,
            "manual_runs": 0,
            "unexecuted_runs": 0,
        },
        "observed_treatment_result": "pass",
        "comparison_status": "complete",
        "cases": [
            {
                "case_id": "null-check",
                "phase": "final-acceptance",
                "attempt": 1,
                "baseline_run": "run-baseline-1",
                "treatment_run": "run-treatment-1",
                "declared_agent_pair": True,
                "declared_controlled_agent_pair": True,
                "comparability_reasons": [],
                "comparison_status": "complete",
                "observed_treatment_result": "pass",
                "critical_failures": [{"variant": "baseline", "criterion": "names-it"}],
                "criteria": [
                    {
                        "id": "names-it",
                        "critical": True,
                        "baseline": {"id": "names-it", "verdict": "fail", **bare},
                        "treatment": {"id": "names-it", "verdict": "pass", **cited},
                        "change": "improved",
                    },
                    {
                        "id": "stays-brief",
                        "critical": False,
                        "baseline": {"id": "stays-brief", "verdict": "pass", **cited},
                        "treatment": {"id": "stays-brief", "verdict": "fail", **bare},
                        "change": "regressed",
                    },
                ],
                "reported_metrics": {
                    "baseline": {"wall_time_ms": 59_000, "input_tokens": 1_200, "output_tokens": None},
                    "treatment": {"wall_time_ms": 60_000, "input_tokens": None, "output_tokens": None},
                },
                "reported_budget": {
                    "seconds_limit": 60,
                    "baseline_within_limit": True,
                    "treatment_within_limit": True,
                },
                "run_limitations": {
                    "baseline": ["One reader graded it."],
                    "treatment": ["One reader graded it."],
                },
            }
        ],
    }
    assert json.dumps(found) == json.dumps(expected)


def test_nothing_imported(tmp_path: Path) -> None:
    """An empty freeze is incomplete and blocked: no run is not a good run."""
    freeze(tmp_path)
    found = inspect(tmp_path / "freeze").comparison
    assert (found.comparison_status, found.observed_treatment_result) == ("incomplete", "blocked")
    assert (found.coverage.expected_pairs, found.coverage.missing_runs, found.coverage.paired_cases) == (2, 4, 0)
    for attempt, pair in enumerate(found.cases, 1):
        assert (pair.attempt, pair.baseline_run, pair.treatment_run) == (attempt, None, None)
        assert (pair.comparability_reasons, pair.observed_treatment_result) == ((MISSING,), "not-run")
        assert [(c.baseline, c.treatment, c.change) for c in pair.criteria] == [(None, None, "not-compared")] * 2
        assert (pair.reported_metrics.baseline, pair.reported_budget.baseline_within_limit) == (None, None)
        assert (pair.critical_failures, pair.run_limitations.baseline) == ((), ())


# -- pairs -------------------------------------------------------------------------------------------------------------

UNEXECUTED = {"execution": execution(status="not-run"), **graded("not-run", "not-run")}
BLOCKED = {"execution": execution(status="blocked"), **graded("blocked", "not-run")}


@pytest.mark.parametrize(
    ("baseline", "treatment", "reasons"),
    [
        ({}, None, [MISSING]),
        (None, timed(99_000), [MISSING]),
        ({}, UNEXECUTED, ["Both arms must have executed."]),
        (BLOCKED, {}, ["Both arms must have executed."]),
        ({}, {"execution": execution(kind="manual")}, ["The pair is not two declared agent executions."]),
        ({"execution": execution(kind="fixture")}, {}, ["The pair is not two declared agent executions."]),
        (
            {"execution": execution(fresh_context=False)},
            {},
            ["Fresh independent contexts are not declared for both arms."],
        ),
        (timed(60_001), {}, ["Reported baseline wall time exceeds the frozen case limit."]),
        ({}, timed(60_001), ["Reported treatment wall time exceeds the frozen case limit."]),
        ({}, {"execution": execution(model=None)}, ["Comparable model is unknown."]),
        (
            {"execution": execution(environment=" Not_Recorded\n")},
            {"execution": execution(environment="not recorded")},
            ["Comparable environment is unknown."],
        ),
        ({"execution": execution(settings="N/A")}, {}, ["Comparable settings is unknown."]),
        ({}, {"execution": execution(model="a-model-2")}, ["Declared model differs between arms."]),
        ({}, {"execution": execution(environment="a container ")}, ["Declared environment differs between arms."]),
        ({"execution": execution(settings="High effort")}, {}, ["Declared settings differs between arms."]),
        (
            {
                "execution": execution(kind="fixture", status="not-run", model=None, fresh_context=False),
                **graded("not-run", "blocked"),
                **timed(10**9),
            },
            {"execution": execution(kind="manual", environment="x", settings="unavailable"), **timed(60_001)},
            [
                "Both arms must have executed.",
                "The pair is not two declared agent executions.",
                "Fresh independent contexts are not declared for both arms.",
                "Reported baseline wall time exceeds the frozen case limit.",
                "Reported treatment wall time exceeds the frozen case limit.",
                "Comparable model is unknown.",
                "Declared environment differs between arms.",
                "Comparable settings is unknown.",
            ],
        ),
    ],
)
def test_why_a_pair_is_not_compared(
    baseline: dict[str, Any] | None, treatment: dict[str, Any] | None, reasons: list[str]
) -> None:
    """Each reason in its words, all of them in their order; then no criterion is compared and nothing is complete."""
    pair = first(baseline, treatment)
    assert list(pair.comparability_reasons) == reasons
    assert (pair.declared_controlled_agent_pair, pair.comparison_status) == (False, "incomplete")
    assert {criterion.change for criterion in pair.criteria} == {"not-compared"}


def test_two_agents_may_be_a_pair_and_not_controlled() -> None:
    """That both arms are executed agents is one thing, that they may be compared another."""
    assert first({}, timed(60_001)).declared_agent_pair
    assert not first({}, BLOCKED).declared_agent_pair
    assert not first({}, {"execution": execution(kind="manual")}).declared_agent_pair
    assert not first({}, None).declared_agent_pair


@pytest.mark.parametrize(("milliseconds", "within"), [(None, None), (0, True), (60_000, True), (60_001, False)])
def test_the_budget(milliseconds: int | None, within: bool | None) -> None:
    """To the millisecond; an unknown time keeps to no limit and breaks none."""
    pair = first(timed(milliseconds), timed(1))
    budget = pair.reported_budget
    assert (budget.seconds_limit, budget.baseline_within_limit, budget.treatment_within_limit) == (60, within, True)
    assert (pair.comparison_status == "complete") is (within is not False)


@pytest.mark.parametrize(
    ("treatment", "observed"),
    [
        (None, "not-run"),
        (UNEXECUTED, "not-run"),
        (BLOCKED, "blocked"),
        (graded("pass", "fail"), "pass"),
        (graded("fail", "pass"), "fail"),
        (graded("blocked"), "blocked"),
        (graded("not-run"), "blocked"),
        ({"execution": execution(status="not-run"), **graded("blocked", "blocked")}, "not-run"),
        ({"execution": execution(kind="fixture"), **graded("pass")}, "pass"),
    ],
)
def test_what_a_treatment_shows(treatment: dict[str, Any] | None, observed: str) -> None:
    """Critical criteria alone decide; what was not done is neither a pass nor a fail."""
    assert first({}, treatment).observed_treatment_result == observed


def test_any_critical_failure_is_a_fail() -> None:
    """Also beside one that could not be graded, and in the order of the suite, baseline first."""
    whole = frozen(suite(suite_case(criteria=[criterion("b"), criterion("a"), criterion("c", critical=False)])))
    verdicts = [result("c", "fail", ()), result("a", "fail", ()), result("b", "blocked", ())]
    runs = [declared(whole.suite, variant, criteria=verdicts) for variant in ("treatment", "baseline")]
    pair = compare(whole, runs).cases[0]
    assert pair.observed_treatment_result == "fail"
    assert [(failure.variant, failure.criterion) for failure in pair.critical_failures] == [
        ("baseline", "a"),
        ("treatment", "a"),
    ]
    assert [(c.id, c.change) for c in pair.criteria] == [("b", "not-compared"), ("a", "unchanged"), ("c", "unchanged")]
    assert pair.comparison_status == "incomplete"


@pytest.mark.parametrize(
    ("text", "known"),
    [
        *(
            (text, False)
            for text in ("unknown", "UNKNOWN", " Unavailable\t", "not known", "not-recorded", "N/A", "n/a")
        ),
        *((text, False) for text in ("notavailable", "not_available", "\u00a0unknown\ufeff")),
        *((text, True) for text in ("unknown model", "not  known", "na", "none", "not.known", "un\u212anown", "?")),
    ],
)
def test_what_is_known(text: str, known: bool) -> None:
    """Exactly the words that say nothing; every other text says something."""
    assert is_known(text) is known
    assert is_known(None) is False


@pytest.mark.parametrize(
    ("results", "whole"),
    [
        (["pass", "pass"], "pass"),
        (["pass", "not-run"], "blocked"),
        (["blocked", "pass"], "blocked"),
        (["not-run", "fail"], "fail"),
        (["fail"], "fail"),
    ],
)
def test_the_result_of_a_suite(results: list[Any], whole: str) -> None:
    """Any fail is a fail; only passes are a pass."""
    assert overall(results) == whole


def test_an_answer_that_would_be_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused whole; a reader never gets a part of it."""
    freeze(tmp_path)
    size = len(msgspec.json.encode(inspect(tmp_path / "freeze").comparison))
    monkeypatch.setattr(comparing, "JSON_LIMIT", size)
    inspect(tmp_path / "freeze")
    monkeypatch.setattr(comparing, "JSON_LIMIT", size - 1)
    with pytest.raises(EvidenceError) as caught:
        inspect(tmp_path / "freeze")
    assert caught.value.message == f"Invalid benchmark: Comparison output exceeds {size - 1} bytes."


# -- laws --------------------------------------------------------------------------------------------------------------

CASES = suite(
    suite_case("one", criteria=[criterion("a"), criterion("b", critical=False)], limits={"attempts": 2, "seconds": 1}),
    suite_case("two", criteria=[criterion("a"), criterion("b")], limits={"attempts": 1, "seconds": 1}),
)
SLOTS = [("one", v, n) for v in ("baseline", "treatment") for n in (1, 2)] + [
    ("two", v, 1) for v in ("baseline", "treatment")
]


@st.composite
def some_runs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return any runs of `CASES` that could have been imported, in any order."""
    found = []
    for case, variant, attempt in draw(st.lists(st.sampled_from(SLOTS), unique=True)):
        status = draw(st.sampled_from(["executed", "executed", "executed", "blocked", "not-run"]))
        possible = ["pass", "pass", "fail", "blocked", "not-run"] if status == "executed" else ["blocked", "not-run"]
        verdicts = {name: draw(st.sampled_from(possible)) for name in "ab"}
        text = st.sampled_from(["x", "x", "x", "y", "unknown", None])
        found.append(
            run(
                DIGEST,
                variant,
                attempt,
                id=f"{case}-{variant}-{attempt}",
                case_id=case,
                execution=execution(
                    kind=draw(st.sampled_from(["agent", "agent", "agent", "manual", "fixture"])),
                    status=status,
                    model=draw(text),
                    environment=draw(text),
                    settings=draw(text),
                    fresh_context=draw(st.sampled_from([True, True, False])),
                ),
                criteria=[result(n, v, ("answer.md",) if v == "pass" else ()) for n, v in verdicts.items()],
                **timed(draw(st.sampled_from([None, 0, 1_000, 1_001]))),
            )
        )
    return found


def both(values: list[dict[str, Any]]) -> tuple[Comparison, list[Run]]:
    """Return the comparison of these runs, and the runs."""
    whole = frozen(CASES)
    runs = [read_run(json.dumps(value).encode(), "run.json", whole.suite, DIGEST) for value in values]
    return compare(whole, runs), runs


@given(some_runs())
def test_laws_of_every_comparison(values: list[dict[str, Any]]) -> None:
    """What must hold whatever was imported: counts add up, nothing missing is good, and order does not matter."""
    found, runs = both(values)
    counts = found.coverage
    assert [(pair.case_id, pair.attempt) for pair in found.cases] == [("one", 1), ("one", 2), ("two", 1)]
    assert (counts.expected_pairs, counts.imported_runs) == (3, len(runs))
    assert counts.imported_runs + counts.missing_runs == 6
    assert counts.declared_controlled_agent_pairs <= counts.declared_agent_pairs <= counts.paired_cases <= 3
    named = [run for pair in found.cases for run in (pair.baseline_run, pair.treatment_run) if run is not None]
    assert sorted(named) == sorted(run.id for run in runs)
    results = [pair.observed_treatment_result for pair in found.cases]
    assert (found.observed_treatment_result == "pass") == (set(results) == {"pass"})
    assert (found.observed_treatment_result == "fail") == ("fail" in results)
    assert (found.comparison_status == "complete") == all(p.comparison_status == "complete" for p in found.cases)
    if counts.missing_runs or counts.unexecuted_runs or counts.fixture_runs or counts.manual_runs:
        assert found.comparison_status == "incomplete"
    for pair in found.cases:
        law_of_a_pair(pair)
    assert both(list(reversed(values)))[0] == found


def law_of_a_pair(pair: Pair) -> None:
    """Hold one pair to what must be true of all."""
    controlled = pair.declared_controlled_agent_pair
    assert controlled == (not pair.comparability_reasons)
    assert not controlled or pair.declared_agent_pair
    changes = {criterion.change for criterion in pair.criteria}
    assert (pair.comparison_status == "complete") == (controlled and "not-compared" not in changes)
    assert controlled or changes == {"not-compared"}
    missing = None in (pair.baseline_run, pair.treatment_run)
    assert (pair.comparability_reasons == (MISSING,)) == missing == (MISSING in pair.comparability_reasons)
    failures = {failure.criterion for failure in pair.critical_failures if failure.variant == "treatment"}
    assert (pair.observed_treatment_result == "fail") == bool(failures)
    for compared in pair.criteria:
        verdicts = [side.verdict for side in (compared.baseline, compared.treatment) if side is not None]
        if compared.change != "not-compared":
            expected = {("fail", "pass"): "improved", ("pass", "fail"): "regressed"}
            assert compared.change == expected.get((verdicts[0], verdicts[1]), "unchanged")
            assert set(verdicts) <= {"pass", "fail"}


@given(some_runs())
def test_exchanging_the_arms_exchanges_what_is_said(values: list[dict[str, Any]]) -> None:
    """No rule favours an arm: with baseline and treatment exchanged, better is worse and the rest the same."""
    other = {"baseline": "treatment", "treatment": "baseline"}
    mirrored = [value | {"variant": other[value["variant"]]} for value in values]
    turned = {"improved": "regressed", "regressed": "improved"}
    for pair, mirror in zip(both(values)[0].cases, both(mirrored)[0].cases, strict=True):
        assert (pair.baseline_run, pair.treatment_run) == (mirror.treatment_run, mirror.baseline_run)
        assert [turned.get(c.change, c.change) for c in pair.criteria] == [c.change for c in mirror.criteria]
        assert pair.comparison_status == mirror.comparison_status
        swapped = [
            r.replace("baseline", "?").replace("treatment", "baseline").replace("?", "treatment")
            for r in pair.comparability_reasons
            if r != MISSING
        ]
        assert sorted(swapped) == sorted(r for r in mirror.comparability_reasons if r != MISSING)
