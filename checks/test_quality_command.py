"""``skillbench quality`` as typed: packages and benchmarks that are verified first, codes, tables, one line of JSON."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_skillbench.cli.quality import CODES
from pytest_skillbench.errors import QualityError
from pytest_skillbench.evidence import compare, freeze, retained, runs
from pytest_skillbench.evidence.coverage import result_of
from pytest_skillbench.evidence.envelope import BenchmarkFacts, QualityReceipt
from pytest_skillbench.evidence.quality import read_event
from pytest_skillbench.evidence.receipts import encode, stored
from pytest_skillbench.evidence.records import VARIANTS, RetainedRun

from .quality import PERIOD, behavioral, event, process, quality, write

REPORT = b"# Report\n"
CASE: dict[str, Any] = {
    "id": "one",
    "phase": "final-acceptance",
    "class": "functional",
    "prompt": "prompt.md",
    "fixtures": [],
    "skills": ["example-skill"],
    "criteria": [
        {"id": "works", "critical": True, "description": "It works."},
        {"id": "pretty", "critical": False, "description": "It is pretty."},
    ],
    "limits": {"attempts": 1, "seconds": 120},
}
SUITE = {"schema_version": 1, "id": "demo-suite", "description": "A demonstration.", "cases": [CASE]}


class Bench:
    """A suite, its frozen benchmark, and runs that are imported into it for real."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.skills = root / "skills"
        self.directory = root / "frozen"
        self.db = root / "state" / "evidence.db"
        self.numbers = itertools.count(1)
        self.package = self.skill("example-skill")
        self.digest = ""

    def skill(self, name: str) -> Path:
        """Write a package; one of its files is executable, which a digest of bytes does not see."""
        folder = self.skills / name
        (folder / "scripts").mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does it.\n---\nDo it.\n")
        (folder / "LICENSE").write_text("MIT\n")
        (folder / "scripts" / "run.sh").write_text("#!/bin/sh\nexit 1\n")
        (folder / "scripts" / "run.sh").chmod(0o755)
        return folder

    def prepare(self, *cases: dict[str, Any]) -> None:
        """Freeze a suite of these cases."""
        (self.root / "suite").mkdir()
        (self.root / "suite" / "prompt.md").write_text("Do it, please.\n")
        suite = write(self.root / "suite" / "suite.json", {**SUITE, "cases": list(cases) or [CASE]})
        prepared = freeze.prepare(suite, self.skills, self.directory)
        self.benchmark_sha256 = prepared.benchmark_sha256
        self.digest = {package.name: package.tree_sha256 for package in prepared.packages}["example-skill"]

    def retain(
        self,
        variant: str = "treatment",
        case: str = "one",
        *,
        works: str = "pass",
        pretty: str = "pass",
        limitations: tuple[str, ...] = (),
        wall_time_ms: int | None = 1000,
        attempt: int = 1,
        **execution: object,
    ) -> str:
        """Import a run; return its id."""
        name = f"run-{next(self.numbers)}"
        artifacts = self.root / name
        artifacts.mkdir()
        (artifacts / "report.md").write_bytes(REPORT)
        sha256 = hashlib.sha256(REPORT).hexdigest()
        run = {
            "schema_version": 1,
            "id": name,
            "benchmark_sha256": self.benchmark_sha256,
            "case_id": case,
            "variant": variant,
            "attempt": attempt,
            "execution": {
                "kind": "agent",
                "status": "executed",
                "executor": "somebody",
                "model": "a-model",
                "environment": "a machine",
                "settings": "default",
                "fresh_context": True,
                **execution,
            },
            "metrics": {"wall_time_ms": wall_time_ms, "input_tokens": None, "output_tokens": None},
            "artifacts": [{"path": "report.md", "sha256": sha256, "bytes": len(REPORT)}],
            "criteria": [
                {"id": name, "verdict": verdict, "reason": "As seen.", "evidence": ["report.md"]}
                for name, verdict in (("works", works), ("pretty", pretty))
            ],
            "limitations": list(limitations),
        }
        runs.import_run(self.directory, write(self.root / f"{name}.json", run), artifacts)
        return name

    def request(self, skill: str = "example-skill", **payload: Any) -> dict[str, Any]:
        """Return an event about the frozen package, with counts and a result that are not the benchmark's."""
        value = behavioral(skill=skill, **payload)
        value["payload"]["source"]["package_sha256"] = self.digest
        return value

    def record(self, value: dict[str, Any], *options: object) -> subprocess.CompletedProcess[bytes]:
        """Record an event with ``--json``."""
        file = write(self.root / "request.json", value)
        return quality("record", "--db", self.db, "--file", file, "--json", *options)

    def verified(self, value: dict[str, Any] | None = None) -> dict[str, Any]:
        """Record an event with the benchmark, which must work; return the stored receipt."""
        value = value or self.request()
        done = self.record(value, "--benchmark", self.directory)
        assert (done.returncode, done.stderr) == (0, b"")
        said = json.loads(done.stdout)
        assert list(said) == ["recorded", "event_id", "event_type", "assurance", "identity_key"]
        assert said["assurance"] == "verified_retained_benchmark"
        return next(r["receipt"] for r in self.rows() if r["receipt"]["event_id"] == value["event_id"])

    def rows(self) -> list[dict[str, Any]]:
        """Return what is recorded."""
        done = quality("inspect", "--db", self.db, *PERIOD, "--json")
        assert (done.returncode, done.stderr) == (0, b"")
        found: list[dict[str, Any]] = json.loads(done.stdout)["rows"]
        return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Write the sources of a benchmark."""
    return Bench(tmp_path)


def failed(done: subprocess.CompletedProcess[bytes], code: str) -> None:
    """Nothing is said but the code."""
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", f"skillbench: error: {code}\n".encode())


# -- the command -------------------------------------------------------------------------------------------------------


def test_the_command_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    """As typed in a shell: exit codes, bytes on both streams, an event through a pipe."""
    db = tmp_path / "evidence.db"
    data = json.dumps(event()).encode()
    done = process("record", "--db", db, "--file", "-", "--json", stdin=data)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["recorded"] is True
    done = process("inspect", "--db", db, *PERIOD, "--json")
    assert (done.returncode, done.stderr, json.loads(done.stdout)["matching_receipts"]) == (0, b"", 1)
    failed(process("record", "--db", db, "--file", "-", stdin=data[:-1]), "invalid_input")
    failed(process("inspect", "--db", tmp_path, *PERIOD), "storage_unavailable")


def test_an_event_goes_in_and_comes_out(tmp_path: Path) -> None:
    """From a file and from standard input, one line of JSON each; again, it is the same event."""
    db, value, other = tmp_path / "evidence.db", event(), event()
    file = write(tmp_path / "event.json", value)
    for recorded in (True, False):
        done = quality("record", "--db", db, "--file", file, "--json")
        assert (done.returncode, done.stderr, done.stdout.count(b"\n")) == (0, b"", 1)
        said = json.loads(done.stdout)
        assert said == {
            "recorded": recorded,
            "event_id": value["event_id"],
            "event_type": "skill.quality.recorded",
            "assurance": "caller_assertion",
            "identity_key": said["identity_key"],
        }
        assert done.stdout == json.dumps(said, separators=(",", ":")).encode() + b"\n"
    assert quality("record", "--db", db, "--file", "-", "--json", stdin=json.dumps(other).encode()).returncode == 0
    done = quality("inspect", "--db", db, *PERIOD, "--identity-key", said["identity_key"], "--limit", "1", "--json")
    answer = json.loads(done.stdout)
    assert done.stdout.count(b"\n") == 1
    assert answer["matching_receipts"] == 2
    first, second = sorted([value["event_id"], other["event_id"]])
    assert [row["receipt"]["event_id"] for row in answer["rows"]] == [first]
    done = quality(
        "inspect",
        "--db",
        db,
        *PERIOD,
        "--identity-key",
        said["identity_key"],
        "--after",
        answer["next_cursor"],
        "--json",
    )
    assert [row["receipt"]["event_id"] for row in json.loads(done.stdout)["rows"]] == [second]


def test_people_get_a_table(tmp_path: Path) -> None:
    """What was seen, when, how sure one may be and what limits it; how to go on; and what it all does not say."""
    db = tmp_path / "evidence.db"
    for value in (event(), behavioral()):
        done = quality("record", "--db", db, "--file", "-", stdin=json.dumps(value).encode())
        assert done.stdout.startswith(b"recorded: ")
    again = quality("record", "--db", db, "--file", "-", stdin=json.dumps(value).encode()).stdout.decode()
    assert again.splitlines()[0] == f"recorded before, unchanged: {value['event_id']}"
    assert "Nothing was run, graded or certified" in again
    text = quality("inspect", "--db", db, *PERIOD).stdout.decode()
    assert "2 receipts: 1 behavioral evaluation, 1 official validation" in text
    head, *rows = [line for line in text.splitlines() if re.match(r"occurred at|2026-09-19T", line)]
    assert len(rows) == 2
    for row in rows:
        assert row[head.index("result") :].startswith("pass")
        assert row[head.index("assurance") :].startswith("caller_assertion")
        assert row[head.index("event") :] in text
    assert "1/1 controlled pairs, complete" in text
    assert text.count("limits: ") == 2
    assert "Nothing was run, graded or certified" in text
    assert "--after" not in text
    assert "--after " in quality("inspect", "--db", db, *PERIOD, "--limit", "1").stdout.decode()
    nothing = quality("inspect", "--db", db, *PERIOD, "--skill", "nobody").stdout.decode()
    assert "0 receipts" in nothing
    assert "occurred at" not in nothing


def test_every_code_is_explained_in_the_help() -> None:
    """Codes are all that is said, so that help has to say what each one means and what to do."""
    for action in ("record", "inspect"):
        text = quality(action, "--help").stdout.decode()
        for code in (
            *("invalid_input", "evidence_conflict", "storage_unavailable", "query_limit_exceeded"),
            "response_too_large",
        ):
            assert f"\n  {code} " in text
        assert CODES in text


def test_codes_and_nothing_else(tmp_path: Path) -> None:
    """Whatever is wrong: no content, no path, no traceback; and where the event is refused, no store is made."""
    db = tmp_path / "state" / "evidence.db"
    secret = write(tmp_path / "secret.json", {"token": "s3cr3t"})
    for given in (secret, tmp_path, tmp_path / "missing.json", "/dev/null", tmp_path / ("x" * 300)):
        failed(quality("record", "--db", db, "--file", given), "invalid_input")
        failed(quality("record", "--db", db, "--file", given, "--json"), "invalid_input")
    os.mkfifo(tmp_path / "pipe")
    failed(quality("record", "--db", db, "--file", tmp_path / "pipe"), "invalid_input")
    failed(quality("record", "--db", db, "--file", "-", stdin=b"\x00" * 20_000), "invalid_input")
    failed(quality("record", "--db", db, "--file", "-"), "invalid_input")
    assert not db.parent.exists()
    failed(quality("inspect", "--db", db, *PERIOD), "storage_unavailable")
    failed(quality("inspect", "--db", db, *PERIOD, "--limit", "many"), "invalid_input")
    failed(quality("inspect", "--db", db, *PERIOD, "--limit", "1" * 5000), "invalid_input")
    failed(quality("inspect", "--db", db, *PERIOD, "--limit", "٣"), "invalid_input")
    failed(quality("inspect", "--db", db, *PERIOD, "--kind", "\x1b[2J"), "invalid_input")
    assert not db.parent.exists()
    value = event()
    assert quality("record", "--db", db, "--file", "-", stdin=json.dumps(value).encode()).returncode == 0
    changed = json.dumps({**value, "source_host": "other"}).encode()
    failed(quality("record", "--db", db, "--file", "-", stdin=changed), "evidence_conflict")


def test_the_event_is_never_taken_for_the_store(tmp_path: Path) -> None:
    """A file named twice by mistake, or lying where SQLite keeps its log, is left as it is."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        file = write(tmp_path / f"evidence.db{suffix}", event())
        data = file.read_bytes()
        failed(quality("record", "--db", tmp_path / "evidence.db", "--file", file), "invalid_input")
        (tmp_path / "alias").symlink_to(tmp_path)
        failed(quality("record", "--db", tmp_path / "alias" / "evidence.db", "--file", file), "invalid_input")
        alias = tmp_path / "alias" / file.name
        failed(quality("record", "--db", tmp_path / "evidence.db", "--file", alias), "invalid_input")
        (tmp_path / "alias").unlink()
        assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(file.name, data)]
        file.unlink()


# -- a package's bytes -------------------------------------------------------------------------------------------------


def test_a_package_has_the_digest_that_is_claimed(bench: Bench) -> None:
    """The digest is that of a freeze, whatever is executable; it stays an assertion that anything was validated."""
    bench.prepare()
    value = bench.request()
    done = bench.record(value, "--package-root", bench.package)
    assert json.loads(done.stdout)["assurance"] == "caller_assertion"
    (row,) = bench.rows()
    assert str(bench.root) not in json.dumps(row)


@pytest.mark.parametrize(
    "change", ["byte", "extra", "missing", "renamed", "link", "hard link", "pipe", "large", "none"]
)
def test_a_package_that_is_another_is_refused_without_a_trace(bench: Bench, change: str) -> None:
    """Any byte, any entry; what may not be in a package at all; nothing is stored, and no store is made."""
    bench.prepare()
    skill = bench.package / "SKILL.md"
    if change == "byte":
        skill.write_bytes(skill.read_bytes() + b" ")
    elif change == "extra":
        (bench.package / "notes.md").write_text("")
    elif change == "missing":
        (bench.package / "LICENSE").unlink()
    elif change == "renamed":
        skill.rename(bench.package / "SKILL.MD")
    elif change == "link":
        (bench.package / "LICENSE").unlink()
        (bench.package / "LICENSE").symlink_to(bench.root / "suite" / "prompt.md")
    elif change == "hard link":
        os.link(skill, bench.root / "other")
    elif change == "pipe":
        os.mkfifo(bench.package / "pipe")
    elif change == "large":
        with (bench.package / "SKILL.md").open("ab") as file:
            file.truncate(4_194_305)
    else:
        shutil.rmtree(bench.package)
    failed(bench.record(bench.request(), "--package-root", bench.package), "invalid_input")
    assert not bench.db.parent.exists()


def test_a_store_is_never_put_into_what_was_verified(bench: Bench) -> None:
    """It would change the package or the freeze that it speaks of."""
    bench.prepare()
    for root, option in ((bench.package, "--package-root"), (bench.directory, "--benchmark")):
        before = sorted(root.rglob("*"))
        (bench.root / "alias").symlink_to(root)
        for place in (root / "evidence.db", root / "new" / "evidence.db", bench.root / "alias" / "evidence.db"):
            bench.db = place
            failed(bench.record(bench.request(), option, root), "storage_unavailable")
        (bench.root / "alias").unlink()
        assert sorted(root.rglob("*")) == before


# -- a benchmark -------------------------------------------------------------------------------------------------------


def test_a_benchmark_gives_all_facts(bench: Bench) -> None:
    """Method, result, coverage and artifacts are the benchmark's; what the caller said of them is gone."""
    bench.prepare()
    ids = [bench.retain("baseline", works="fail"), bench.retain("treatment", pretty="fail", limitations=("One run.",))]
    value = bench.request(
        method={"name": "made-up", "version": "9", "revision": "a" * 40, "source_sha256": "e" * 64},
        limitations=["historical_revision", "caller_assertion"],
    )
    receipt = bench.verified(value)
    payload = receipt["payload"]
    assert list(payload)[-3:] == ["artifacts", "limitations", "benchmark"]
    assert payload["method"] == {
        "name": "retained-benchmark-comparison",
        "version": "1",
        "revision": None,
        "source_sha256": None,
    }
    assert payload["result"] == "pass"
    assert payload["coverage"] == {
        "expected_pairs": 1,
        "imported_runs": 2,
        "missing_runs": 0,
        "paired_cases": 1,
        "declared_agent_pairs": 1,
        "declared_controlled_agent_pairs": 1,
        "fixture_runs": 0,
        "manual_runs": 0,
        "unexecuted_runs": 0,
        "critical_failures": 1,
        "treatment_critical_failures": 0,
        "comparison_status": "complete",
        "selected_cases": [{"case_id": "one", "phase": "final-acceptance", "attempts": 1, "joint_workflow": False}],
        "treatment": {
            "expected": 1,
            "executed": 1,
            "blocked": 0,
            "not_run": 0,
            "missing": 0,
            "passed": 1,
            "failed": 0,
            "unresolved": 0,
        },
    }
    places = ["manifest.json", *(f"runs/{name}/run.json" for name in sorted(ids))]
    assert payload["artifacts"] == [
        {
            "locator": place,
            "sha256": hashlib.sha256((bench.directory / place).read_bytes()).hexdigest(),
            "scope": "benchmark_run" if place.startswith("runs/") else "benchmark_manifest",
        }
        for place in places
    ]
    assert payload["limitations"] == sorted(
        [
            *("source_identity_asserted", "artifact_locator_inert", "grading_asserted", "executor_asserted"),
            *("metrics_asserted", "acceptance_is_phase_label", "retained_run_limitations", "historical_revision"),
        ]
    )
    assert payload["benchmark"] == {
        "suite": "demo-suite",
        "benchmark_sha256": bench.benchmark_sha256,
        "scope": "selected_package_cases",
        "suite_comparison_status": "complete",
        "suite_observed_treatment_result": "pass",
        "result_basis": "critical_treatment_criteria",
        "baseline_failed_criteria": 1,
        "treatment_failed_criteria": 1,
        "baseline_overruns": 0,
        "treatment_overruns": 0,
        "runs_with_limitations": 1,
        "comparability_reasons": [],
    }
    assert str(bench.root) not in json.dumps(receipt)
    assert json.loads(bench.record(value, "--benchmark", bench.directory).stdout)["recorded"] is False


def test_the_same_request_after_another_run_is_a_conflict(bench: Bench) -> None:
    """An observation is of what was there; what is there now is a new one, with a new id."""
    bench.prepare()
    value = bench.request()
    assert bench.verified(value)["payload"]["result"] == "not-run"
    bench.retain("treatment")
    failed(bench.record(value, "--benchmark", bench.directory), "evidence_conflict")
    assert bench.verified()["payload"]["result"] == "pass"
    assert [row["receipt"]["payload"]["result"] for row in bench.rows()].count("not-run") == 1


SITUATIONS: dict[str, tuple[list[dict[str, Any]], str, list[str], set[str]]] = {
    "nothing imported": ([], "not-run", ["missing_arm"], {"comparison_incomplete"}),
    "baseline alone": ([{"variant": "baseline"}], "not-run", ["missing_arm"], {"comparison_incomplete"}),
    "treatment alone fails": ([{"works": "fail"}], "fail", ["missing_arm"], {"comparison_incomplete"}),
    "blocked": (
        [{"variant": "baseline"}, {"status": "blocked", "works": "blocked", "pretty": "blocked"}],
        "blocked",
        ["unexecuted_arm"],
        {"comparison_incomplete"},
    ),
    "not run": (
        [{"status": "not-run", "works": "not-run", "pretty": "not-run"}],
        "not-run",
        ["missing_arm"],
        {"comparison_incomplete"},
    ),
    "unresolved": ([{"variant": "baseline"}, {"works": "blocked"}], "blocked", [], {"comparison_incomplete"}),
    "fixture and manual": (
        [{"variant": "baseline", "kind": "manual"}, {"kind": "fixture"}],
        "pass",
        ["non_agent_pair"],
        {"comparison_incomplete", "fixture_evidence", "manual_evidence"},
    ),
    "over budget": (
        [{"variant": "baseline", "wall_time_ms": 120_001}, {"wall_time_ms": 200_000}],
        "pass",
        ["baseline_overrun", "treatment_overrun"],
        {"comparison_incomplete", "reported_budget_overrun"},
    ),
    "unknown and different": (
        [{"variant": "baseline", "model": None, "settings": "other"}, {"environment": "N/A", "fresh_context": False}],
        "pass",
        ["environment_unknown", "fresh_context_unasserted", "model_unknown", "settings_different"],
        {"comparison_incomplete"},
    ),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_incomplete_evidence_stays_incomplete(bench: Bench, situation: str) -> None:
    """Missing, blocked, unresolved, fixture, manual, over budget, unknown: each is told, none counts as good."""
    imported, result, reasons, limits = SITUATIONS[situation]
    bench.prepare()
    for run in imported:
        bench.retain(**run)
    payload = bench.verified()["payload"]
    assert payload["result"] == result
    assert payload["benchmark"]["comparability_reasons"] == reasons
    assert limits <= set(payload["limitations"])
    always = {"source_identity_asserted", "artifact_locator_inert", "grading_asserted", "executor_asserted"}
    always |= {"metrics_asserted", "acceptance_is_phase_label"}
    assert set(payload["limitations"]) == limits | always


def test_a_receipt_is_of_the_cases_that_select_the_skill(bench: Bench) -> None:
    """Other skills' failures are the suite's; a case with several skills is joint work; all bytes are verified."""
    bench.skill("peer-skill")
    joint = {**CASE, "id": "joint", "phase": "tuning", "skills": ["example-skill", "peer-skill"]}
    bench.prepare(CASE, joint, {**CASE, "id": "peer", "skills": ["peer-skill"]})
    for variant in ("baseline", "treatment"):
        bench.retain(variant)
        bench.retain(variant, "joint")
    failing = bench.retain("treatment", "peer", works="fail")
    payload = bench.verified()["payload"]
    assert payload["result"] == "pass"
    assert [case["case_id"] for case in payload["coverage"]["selected_cases"]] == ["joint", "one"]
    assert [case["joint_workflow"] for case in payload["coverage"]["selected_cases"]] == [True, False]
    assert payload["coverage"]["critical_failures"] == 0
    assert payload["benchmark"]["suite_observed_treatment_result"] == "fail"
    assert payload["benchmark"]["suite_comparison_status"] == "incomplete"
    assert payload["coverage"]["comparison_status"] == "complete"
    assert "joint_workflow" in payload["limitations"]
    assert not any(failing in artifact["locator"] for artifact in payload["artifacts"])
    (bench.directory / "runs" / failing / "artifacts" / "report.md").write_bytes(b"changed")
    failed(bench.record(bench.request(), "--benchmark", bench.directory), "invalid_input")


def test_a_changed_byte_anywhere_is_refused_without_a_trace(bench: Bench) -> None:
    """Every file of the freeze and of its runs, and a file more or less: no receipt, no store."""
    bench.prepare()
    bench.retain("baseline")
    bench.retain("treatment")
    asked = read_event(json.dumps(bench.request()).encode())
    for path in sorted(p for p in bench.directory.rglob("*") if p.is_file()):
        data = path.read_bytes()
        path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
        failed(bench.record(bench.request(), "--benchmark", bench.directory), "invalid_input")
        path.write_bytes(data)
    (bench.directory / "extra").write_text("")
    failed(bench.record(bench.request(), "--benchmark", bench.directory), "invalid_input")
    (bench.directory / "extra").unlink()
    assert not bench.db.parent.exists()
    receipt = retained.from_evidence(asked, compare.inspect(bench.directory))
    assert isinstance(receipt.payload.benchmark, BenchmarkFacts)
    assert result_of(receipt.payload.coverage) == receipt.payload.result == "pass"


def test_the_benchmark_has_to_hold_this_package(bench: Bench) -> None:
    """Another revision, another skill, an official validation, a benchmark that is none."""
    bench.prepare()
    other = bench.request()
    other["payload"]["source"]["package_sha256"] = "d" * 64
    official = event()
    official["payload"]["source"]["package_sha256"] = bench.digest
    for value, directory in (
        (other, bench.directory),
        (bench.request(skill="other-skill"), bench.directory),
        (official, bench.directory),
        (bench.request(), bench.root),
        (bench.request(), bench.root / "nowhere"),
    ):
        failed(bench.record(value, "--benchmark", directory), "invalid_input")
    assert not bench.db.parent.exists()


def test_more_runs_than_a_receipt_can_name_are_refused(bench: Bench) -> None:
    """A receipt names all its runs, or there is none: nothing is dropped without a word."""
    bench.prepare(*({**CASE, "id": f"case-{n}", "limits": {"attempts": 5, "seconds": 60}} for n in range(16)))
    bench.retain("treatment", "case-0")
    evidence = compare.inspect(bench.directory)
    asked = read_event(json.dumps(bench.request()).encode())

    def receipt(name: str) -> QualityReceipt:
        slots = itertools.product(range(16), range(1, 6), VARIANTS)
        every = tuple(
            RetainedRun(
                run=msgspec.structs.replace(
                    evidence.retained[0].run, id=f"{name}{at}", case_id=f"case-{case}", attempt=attempt, variant=variant
                ),
                run_sha256="e" * 64,
            )
            for at, (case, attempt, variant) in enumerate(slots)
            if variant == "treatment"
        )
        comparison = compare.compare(evidence.freeze, [item.run for item in every])
        return retained.from_evidence(asked, msgspec.structs.replace(evidence, retained=every, comparison=comparison))

    found = receipt("run-")
    assert (len(found.payload.artifacts), found.payload.result) == (81, "pass")
    assert stored(json.loads(encode(found))) == found
    with pytest.raises(QualityError, match="invalid_input"):
        receipt(f"{'x' * 60}-")


def test_every_reason_against_a_comparison_has_its_code() -> None:
    """A reason without one would be lost, or stop a record; the texts are those that compare gives."""
    texts = set(retained._REASONS)
    names = ("model", "environment", "settings")
    assert texts == {
        "A baseline/treatment run is missing.",
        "Both arms must have executed.",
        "The pair is not two declared agent executions.",
        "Fresh independent contexts are not declared for both arms.",
        *(f"Reported {arm} wall time exceeds the frozen case limit." for arm in ("baseline", "treatment")),
        *(f"Comparable {name} is unknown." for name in names),
        *(f"Declared {name} differs between arms." for name in names),
    }
    assert len(set(retained._REASONS.values())) == len(texts)


def test_the_help_of_the_program_names_the_command() -> None:
    """It is found by who looks for it."""
    command = [sys.executable, "-m", "pytest_skillbench", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.search(r"^ +quality +record quality receipts", done.stdout, re.MULTILINE)
