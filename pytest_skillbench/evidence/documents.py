"""The four documents of evidence, from bytes: suite.json, manifest.json, run.json, receipt.json.

Core: parses strictly, holds every value to the format, returns records. What is looked at first is what a program is
told first, so the order of the checks is part of the format; people get all that is wrong in a document.
"""

from __future__ import annotations

from .checking import Check
from .reading import is_laid_out, parse_json
from .records import (
    CLASSES,
    GRADES,
    KINDS,
    PHASES,
    STATUSES,
    VARIANTS,
    Case,
    Criterion,
    CriterionResult,
    Execution,
    File,
    Fixture,
    Limits,
    Manifest,
    Metrics,
    Package,
    Receipt,
    Run,
    Suite,
)

MOST_CASES = 16
MOST_PACKAGES = 16
MOST_FILES = 2_048
MOST_ARTIFACTS = 256
FILE_LIMIT = 4_194_304
TREE_LIMIT = 33_554_432
MOST_OF_A_METRIC = 1_000_000_000

_SUITE = ("schema_version", "id", "description", "cases")
_CASE = ("id", "phase", "class", "prompt", "fixtures", "skills", "criteria", "limits")
_MANIFEST = ("schema_version", "suite_sha256", "benchmark_sha256", "files", "packages")
_RUN = (
    "schema_version",
    "id",
    "benchmark_sha256",
    "case_id",
    "variant",
    "attempt",
    "execution",
    "metrics",
    "artifacts",
    "criteria",
    "limitations",
)
_EXECUTION = ("kind", "status", "executor", "model", "environment", "settings", "fresh_context")
_METRICS = ("wall_time_ms", "input_tokens", "output_tokens")


def read_suite(data: bytes, shown: str) -> Suite:
    """Return the suite that `data` is. `shown`: the file's name in messages. Raises EvidenceError."""
    check = Check(shown)
    suite = check.mapping(parse_json(data, shown), _SUITE, "$")
    check.version(suite["schema_version"], "$.schema_version")
    items = check.array(suite["cases"], "$.cases", least=1, most=MOST_CASES)
    cases = tuple(_case(check, item, f"$.cases[{at}]") for at, item in enumerate(items))
    check.unique((case.id for case in cases), "case IDs", "$.cases")
    found = Suite(
        schema_version=1,
        id=check.identifier(suite["id"], "$.id"),
        description=check.text(suite["description"], "$.description", 2_000),
        cases=cases,
    )
    check.done()
    return found


def read_manifest(data: bytes, shown: str) -> Manifest:
    """Return the manifest that `data` is. `shown`: the file's name in messages. Raises EvidenceError.

    No digest covers a manifest, so it must be laid out as a program lays it out (`reading.is_laid_out`).
    """
    check = Check(shown)
    tree = parse_json(data, shown)
    manifest = check.mapping(tree, _MANIFEST, "$")
    check.version(manifest["schema_version"], "$.schema_version")
    packages = []
    for at, item in enumerate(check.array(manifest["packages"], "$.packages", least=1, most=MOST_PACKAGES)):
        package = check.mapping(item, ("name", "tree_sha256"), f"$.packages[{at}]")
        name = check.identifier(package["name"], f"$.packages[{at}].name")
        digest = check.digest(package["tree_sha256"], f"$.packages[{at}].tree_sha256")
        packages.append(Package(name=name, tree_sha256=digest))
    check.unique((package.name for package in packages), "package names", "$.packages")
    suite = check.digest(manifest["suite_sha256"], "$.suite_sha256")
    benchmark = check.digest(manifest["benchmark_sha256"], "$.benchmark_sha256")
    files = _files(check, manifest["files"], "$.files", least=1, most=MOST_FILES)
    check.done()
    check.require(is_laid_out(data, tree), "Frozen inventory changed.", "$", "JSON laid out as it is written")
    check.done()
    return Manifest(
        schema_version=1, suite_sha256=suite, benchmark_sha256=benchmark, files=files, packages=tuple(packages)
    )


def read_receipt(data: bytes, shown: str) -> Receipt:
    """Return the receipt that `data` is, laid out as of `read_manifest`. Raises EvidenceError."""
    check = Check(shown)
    tree = parse_json(data, shown)
    receipt = check.mapping(tree, ("schema_version", "run_sha256"), "$")
    check.version(receipt["schema_version"], "$.schema_version")
    digest = check.digest(receipt["run_sha256"], "$.run_sha256")
    check.done()
    check.require(is_laid_out(data, tree), "Imported run record changed.", "$", "JSON laid out as it is written")
    check.done()
    return Receipt(schema_version=1, run_sha256=digest)


def read_run(data: bytes, shown: str, suite: Suite, benchmark_sha256: str) -> Run:
    """Return the run that `data` is, held to the frozen suite and the freeze's digest. Raises EvidenceError."""
    check = Check(shown)
    run = check.mapping(parse_json(data, shown), _RUN, "$")
    check.version(run["schema_version"], "$.schema_version")
    case_id = check.identifier(run["case_id"], "$.case_id")
    case = next((case for case in suite.cases if case.id == case_id), None)
    if case is None:
        known = " or ".join(case.id for case in suite.cases)
        check.stop("Run refers to an unknown case.", "$.case_id", known)
    if check.digest(run["benchmark_sha256"], "$.benchmark_sha256") not in ("", benchmark_sha256):
        check.fail("Run freeze identity does not match.", "$.benchmark_sha256", benchmark_sha256)
    execution = check.mapping(run["execution"], _EXECUTION, "$.execution")
    status = check.choice(execution["status"], STATUSES, "$.execution.status")
    metrics = check.mapping(run["metrics"], _METRICS, "$.metrics")
    artifacts = _files(check, run["artifacts"], "$.artifacts", least=0, most=MOST_ARTIFACTS)
    paths = frozenset(artifact.path for artifact in artifacts)
    before = len(check.problems)
    items = check.array(run["criteria"], "$.criteria", least=1, most=64)
    criteria = tuple(
        _result(check, item, f"$.criteria[{at}]", paths, executed=status == "executed") for at, item in enumerate(items)
    )
    check.unique((result.id for result in criteria), "criterion result IDs", "$.criteria")
    frozen = {criterion.id for criterion in case.criteria}
    graded = {result.id for result in criteria}
    if graded != frozen and len(check.problems) == before:
        said = [f'no "{name}"' for name in sorted(frozen - graded)]
        said += [f'"{name}" is none' for name in sorted(graded - frozen)]
        check.fail("Run must grade every frozen criterion exactly once.", "$.criteria", "; ".join(said))
    found = Run(
        schema_version=1,
        id=check.identifier(run["id"], "$.id"),
        benchmark_sha256=benchmark_sha256,
        case_id=case_id,
        variant=check.choice(run["variant"], VARIANTS, "$.variant"),
        attempt=check.integer(run["attempt"], "$.attempt", 1, case.limits.attempts),
        execution=Execution(
            kind=check.choice(execution["kind"], KINDS, "$.execution.kind"),
            status=status,
            executor=check.text(execution["executor"], "$.execution.executor", 500),
            model=check.optional_text(execution["model"], "$.execution.model", 2_000),
            environment=check.optional_text(execution["environment"], "$.execution.environment", 2_000),
            settings=check.optional_text(execution["settings"], "$.execution.settings", 2_000),
            fresh_context=check.boolean(execution["fresh_context"], "$.execution.fresh_context"),
        ),
        metrics=Metrics(
            wall_time_ms=_metric(check, metrics, "wall_time_ms"),
            input_tokens=_metric(check, metrics, "input_tokens"),
            output_tokens=_metric(check, metrics, "output_tokens"),
        ),
        artifacts=artifacts,
        criteria=criteria,
        limitations=tuple(
            check.text(item, f"$.limitations[{at}]", 2_000)
            for at, item in enumerate(check.array(run["limitations"], "$.limitations", most=32))
        ),
    )
    check.done()
    return found


# -- parts -------------------------------------------------------------------------------------------------------------


def _case(check: Check, value: object, place: str) -> Case:
    case = check.mapping(value, _CASE, place)
    fixtures = tuple(
        _fixture(check, item, f"{place}.fixtures[{at}]")
        for at, item in enumerate(check.array(case["fixtures"], f"{place}.fixtures", most=64))
    )
    targets = [fixture.target for fixture in fixtures]
    check.unique(targets, "fixture targets", f"{place}.fixtures")
    _check_overlap(check, targets, f"{place}.fixtures")
    skills = tuple(
        check.identifier(item, f"{place}.skills[{at}]")
        for at, item in enumerate(check.array(case["skills"], f"{place}.skills", least=1, most=MOST_PACKAGES))
    )
    check.unique(skills, "case skills", f"{place}.skills")
    before = len(check.problems)
    items = check.array(case["criteria"], f"{place}.criteria", least=1, most=64)
    criteria = tuple(_criterion(check, item, f"{place}.criteria[{at}]") for at, item in enumerate(items))
    check.unique((criterion.id for criterion in criteria), "criterion IDs", f"{place}.criteria")
    if criteria and len(check.problems) == before:
        critical = any(criterion.critical for criterion in criteria)
        check.require(critical, "Each case needs a critical criterion.", f"{place}.criteria")
    limits = check.mapping(case["limits"], ("attempts", "seconds"), f"{place}.limits")
    return Case(
        id=check.identifier(case["id"], f"{place}.id"),
        phase=check.choice(case["phase"], PHASES, f"{place}.phase"),
        class_=check.choice(case["class"], CLASSES, f"{place}.class"),
        prompt=check.relative(case["prompt"], f"{place}.prompt"),
        fixtures=fixtures,
        skills=skills,
        criteria=criteria,
        limits=Limits(
            attempts=check.integer(limits["attempts"], f"{place}.limits.attempts", 1, 5),
            seconds=check.integer(limits["seconds"], f"{place}.limits.seconds", 1, 3_600),
        ),
    )


def _fixture(check: Check, value: object, place: str) -> Fixture:
    fixture = check.mapping(value, ("path", "target"), place)
    return Fixture(
        path=check.relative(fixture["path"], f"{place}.path"),
        target=check.relative(fixture["target"], f"{place}.target"),
    )


def _check_overlap(check: Check, targets: list[str], place: str) -> None:
    """Refuse a target that would have to be a file and a folder."""
    files = {target for target in targets if target}
    for target in files:
        above = target.rpartition("/")[0]
        while above and above not in files:
            above = above.rpartition("/")[0]
        if above:
            expected = f'"{above}" to be a file or a folder; "{target}" is below it'
            check.fail("Fixture file/directory targets overlap.", place, expected)
            return


def _criterion(check: Check, value: object, place: str) -> Criterion:
    criterion = check.mapping(value, ("id", "critical", "description"), place)
    return Criterion(
        id=check.identifier(criterion["id"], f"{place}.id"),
        critical=check.boolean(criterion["critical"], f"{place}.critical"),
        description=check.text(criterion["description"], f"{place}.description", 2_000),
    )


def _files(check: Check, value: object, place: str, *, least: int, most: int) -> tuple[File, ...]:
    files = []
    for at, item in enumerate(check.array(value, place, least=least, most=most)):
        file = check.mapping(item, ("path", "sha256", "bytes"), f"{place}[{at}]")
        path = check.relative(file["path"], f"{place}[{at}].path")
        sha256 = check.digest(file["sha256"], f"{place}[{at}].sha256")
        size = check.integer(file["bytes"], f"{place}[{at}].bytes", 0, FILE_LIMIT)
        files.append(File(path=path, sha256=sha256, bytes=size))
    check.unique((file.path for file in files), "file paths", place)
    total = sum(file.bytes for file in files)
    check.require(
        total <= TREE_LIMIT, f"File inventory exceeds {TREE_LIMIT} bytes.", place, f"there are {total:,} bytes"
    )
    return tuple(files)


def _result(check: Check, value: object, place: str, artifacts: frozenset[str], *, executed: bool) -> CriterionResult:
    before = len(check.problems)
    result = check.mapping(value, ("id", "verdict", "reason", "evidence"), place)
    evidence = tuple(
        check.relative(item, f"{place}.evidence[{at}]")
        for at, item in enumerate(check.array(result["evidence"], f"{place}.evidence", most=16))
    )
    check.unique(evidence, "evidence paths", f"{place}.evidence")
    stray = next((path for path in evidence if path and path not in artifacts), None)
    if stray is not None:
        expected = f'a path of $.artifacts; there is "{stray}"'
        check.fail("Criterion evidence is not a retained artifact.", f"{place}.evidence", expected)
    verdict = check.choice(result["verdict"], GRADES, f"{place}.verdict")
    if len(check.problems) == before:
        cited = verdict != "pass" or bool(evidence)
        check.require(cited, "Passing criteria require artifact evidence.", f"{place}.evidence")
        possible = executed or verdict in ("blocked", "not-run")
        check.require(possible, "Unexecuted runs cannot claim passing or failing behavior.", f"{place}.verdict")
    return CriterionResult(
        id=check.identifier(result["id"], f"{place}.id"),
        verdict=verdict,
        reason=check.text(result["reason"], f"{place}.reason", 2_000),
        evidence=evidence,
    )


def _metric(check: Check, metrics: dict[str, object], name: str) -> int | None:
    return check.optional_integer(metrics[name], f"$.metrics.{name}", 0, MOST_OF_A_METRIC)
