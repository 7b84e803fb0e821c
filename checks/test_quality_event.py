"""The closed event: what is read as a receipt, in which normal form, with which limitations and keys."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillbench.errors import QualityError
from pytest_skillbench.evidence.envelope import QualityReceipt, moment
from pytest_skillbench.evidence.quality import read_event
from pytest_skillbench.evidence.receipts import RECEIPT_LIMIT, encode, identity_key, source_key, stored
from pytest_skillbench.evidence.repository import public_repository

from .quality import behavioral, event

OFFICIAL, BEHAVIORAL = event(), behavioral()


def read(data: bytes) -> QualityReceipt | None:
    """Return the receipt that a caller's bytes make; None where they are refused with the one code there is for it."""
    try:
        return read_event(data)
    except QualityError as error:
        code = error.code
    assert code == "invalid_input"
    return None


def accepted(value: object) -> bool:
    """Tell whether a document is read."""
    return read(json.dumps(value).encode()) is not None


def bent(value: dict[str, Any], path: str, new: object) -> dict[str, Any]:
    """Return a copy with the value at a dotted path replaced; ``...`` removes it."""
    found: Any = copy.deepcopy(value)
    node: Any = found
    *parents, last = path.split(".")
    for name in parents:
        node = node[int(name) if name.isdigit() else name]
    key: Any = int(last) if last.isdigit() else last
    if new is ...:
        del node[key]
    else:
        node[key] = new
    return dict(found)


def leaves(value: object, place: str = "") -> Iterator[tuple[str, object]]:
    """Yield every scalar of a document with its place."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from leaves(child, f"{place}.{key}")
    elif isinstance(value, list):
        for child in value:
            yield from leaves(child, f"{place}[]")
    else:
        yield place, value


def says_the_same(receipt: QualityReceipt, document: Any) -> bool:
    """Tell whether a receipt says what the document says, but for what the receipt's normal form adds (1.0 is 1)."""
    added = (".payload.assurance", ".payload.limitations[]", ".payload.source.repository")

    def said(value: Any) -> list[str]:
        numbers = ((p, float(v) if type(v) is int else v) for p, v in leaves(value))
        return sorted(f"{p} {v!r}" for p, v in numbers if p not in added)

    return said(json.loads(encode(receipt))) == said(document)


def test_the_normal_form_is_one_line_in_the_documented_order() -> None:
    """A receipt is compared and stored as bytes: the same event in any order and spelling gives the same ones."""
    first = read(json.dumps(BEHAVIORAL, indent=7).encode())
    assert first is not None

    def backwards(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: backwards(value[key]) for key in reversed(value)}
        return [backwards(item) for item in value] if isinstance(value, list) else value

    turned = json.dumps(backwards(BEHAVIORAL)).replace('"expected_pairs": 1', '"expected_pairs": 1.0').encode()
    again = read(turned)
    assert again is not None
    assert encode(first) == encode(again)
    document = json.loads(encode(first))
    assert encode(first) == json.dumps(document, separators=(",", ":")).encode()
    assert list(document) == [
        *("schema_version", "event_id", "correlation_id", "occurred_at", "source_host", "source_adapter"),
        *("event_type", "session", "payload"),
    ]
    assert list(document["payload"]) == [
        *("collection", "skill", "source", "kind", "assurance", "method", "result", "coverage"),
        *("artifacts", "limitations"),
    ]
    assert stored(document) == first


def test_what_a_caller_says_is_an_assertion() -> None:
    """No content of an event can raise its own assurance, not even to the one it gets anyway."""
    receipt = read(json.dumps(OFFICIAL).encode())
    assert receipt is not None
    assert receipt.payload.assurance == "caller_assertion"
    for tier in ("caller_assertion", "locally_observed_official_process", "verified_retained_benchmark", None):
        assert not accepted(bent(OFFICIAL, "payload.assurance", tier))
        assert not accepted(bent(BEHAVIORAL, "payload.assurance", tier))
    assert not accepted(bent(BEHAVIORAL, "payload.benchmark", {}))
    assert not accepted(bent(BEHAVIORAL, "payload.benchmark", None))


def test_a_tier_that_nothing_here_grants_is_not_read_back_either() -> None:
    """A row that claims an observed official process was not written by this program."""
    receipt = read(json.dumps(OFFICIAL).encode())
    assert receipt is not None
    document = json.loads(encode(receipt))
    for tier in ("locally_observed_official_process", "verified_retained_benchmark"):
        document["payload"]["assurance"] = tier
        with pytest.raises(QualityError, match="invalid_input"):
            stored(document)


@pytest.mark.parametrize(
    ("value", "added"),
    [
        (OFFICIAL, {"validator_authenticity_unverified", "behavior_not_assessed"}),
        (BEHAVIORAL, set()),
        (behavioral({"comparison_status": "incomplete"}), {"comparison_incomplete"}),
        (
            behavioral(
                {
                    "selected_cases": [
                        {"case_id": "one", "phase": "tuning", "attempts": 1, "joint_workflow": True},
                    ]
                }
            ),
            {"joint_workflow"},
        ),
        (
            behavioral(
                {
                    "comparison_status": "incomplete",
                    "declared_agent_pairs": 0,
                    "declared_controlled_agent_pairs": 0,
                    "fixture_runs": 1,
                    "manual_runs": 1,
                }
            ),
            {"comparison_incomplete", "fixture_evidence", "manual_evidence"},
        ),
        (bent(BEHAVIORAL, "payload.limitations", ["historical_revision"] * 2), {"historical_revision"}),
    ],
)
def test_limitations_that_apply_are_always_there(value: dict[str, Any], added: set[str]) -> None:
    """A caller can add limitations, never leave one out; they are sorted and each is there once."""
    receipt = read(json.dumps(value).encode())
    assert receipt is not None
    always = {"source_identity_asserted", "artifact_locator_inert", "caller_assertion"}
    if value["payload"]["kind"] == "behavioral_evaluation":
        always |= {"grading_asserted", "executor_asserted", "metrics_asserted", "acceptance_is_phase_label"}
    assert list(receipt.payload.limitations) == sorted(always | added)


def test_the_keys_are_digests_of_compact_json() -> None:
    """Another program that writes the two arrays as JavaScript does comes to the same keys."""
    receipt = read(json.dumps(OFFICIAL).encode())
    assert receipt is not None
    source = receipt.payload.source
    first = hashlib.sha256(b'["https://example.org/skills","skills/example-skill"]').hexdigest()
    assert source_key(source) == first
    array = f'["{first}","{"a" * 40}","{"b" * 64}"]'
    assert identity_key(source) == hashlib.sha256(array.encode()).hexdigest()
    bare = bent(OFFICIAL, "payload.source.repository", None)
    bare["payload"]["source"] |= {"resolved_git_sha": None, "source_ref": None}
    receipt = read(json.dumps(bare).encode())
    assert receipt is not None
    assert source_key(receipt.payload.source) == hashlib.sha256(b'[null,"skills/example-skill"]').hexdigest()


REFUSED: dict[str, list[Any]] = {
    "schema_version": [1, 3, "2", True, None],
    "event_type": ["skill.read.recorded", "", None],
    "event_id": [
        "10000000-0000-4000-8000-00000000000",
        "10000000-0000-4000-8000-000000000001\n",
        "10000000-0000-4000-8000-00000000000A",
        "{10000000-0000-4000-8000-000000000001}",
        "10000000000040008000000000000001",
        "00000000-0000-0000-0000-000000000000",
        "10000000-0000-4000-c000-000000000001",
        None,
        1,
    ],
    "correlation_id": ["", "urn:uuid:10000000-0000-4000-8000-000000000001"],
    "occurred_at": [
        "2026-02-29T12:00:00.000Z",
        "2026-09-31T12:00:00.000Z",
        "2026-13-01T12:00:00.000Z",
        "2026-09-19T24:00:00.000Z",
        "2026-09-19T23:59:60.000Z",
        "2026-09-19T12:00:00Z",
        "2026-09-19T12:00:00.0000Z",
        "2026-09-19T12:00:00.000+00:00",
        "2026-09-19t12:00:00.000z",
        "2026-09-19T12:00:00.000Z\n",
        "2026-09-19 12:00:00.000Z",
        "٢٠٢٦-09-19T12:00:00.000Z",
        "0000-01-01T00:00:00.000Z",
        "+002026-09-19T12:00:00.000Z",
        1789819200000,
    ],
    "source_host": ["", "Manual", "a--b", "-a", "a-", "1a", "a" * 65, "a_b", "a\n", "ä", None],
    "source_adapter": ["a b", None],
    "session": ["", "s", 0, False, {}],
    "payload": [None, [], "x", 1],
    "payload.collection": ["a--b", "", "Demo"],
    "payload.skill": ["example-skill-", "a/b", None],
    "payload.source.source_ref": ["", "/main", "main/", "a..b", "a//b", "a b", "-x", "x" * 129, "x\n", 1],
    "payload.source.resolved_git_sha": ["a" * 39, "a" * 41, "A" * 40, "a" * 63, "g" * 40, "a" * 40 + "\n", 1],
    "payload.source.package_path": [
        *("", " ", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a\\b", "a:b", "C:/a", "a\nb", "é", "a\n", None),
        "/".join("a" * 17),
        "a" * 513,
    ],
    "payload.source.package_sha256": ["b" * 63, "B" * 64, "b" * 64 + "\n", None],
    "payload.kind": ["", "official", None, 0],
    "payload.method.name": ["Skills", "", None],
    "payload.method.version": ["", "1/2", "-1", "1\n", "x" * 129, 1],
    "payload.method.revision": ["main", "a" * 41],
    "payload.method.source_sha256": ["", "a" * 40],
    "payload.result": ["passed", "fail", "blocked", "not-run", None, True],
    "payload.coverage": [None, [], {}, {"selected_packages": 1}],
    "payload.coverage.selected_packages": [0, 2, "1", True, 1.5],
    "payload.coverage.executed": [0, 2, -1, None],
    "payload.coverage.blocked": [1],
    "payload.coverage.failed": [1],
    "payload.artifacts": [[], None, {}, "x"],
    "payload.artifacts.0.locator": ["/etc/passwd", "../x", "", "a\\b", "https://example.org/x"],
    "payload.artifacts.0.sha256": ["", "c" * 63],
    "payload.artifacts.0.scope": ["everything", None],
    "payload.limitations": [["none"], [None], None, ["caller_assertion"] * 33],
}


@pytest.mark.parametrize(("path", "new"), [(path, new) for path, values in REFUSED.items() for new in values])
def test_a_field_of_another_form_is_refused(path: str, new: object) -> None:
    """The event is closed down to each field, also where only a line feed at the end is too much."""
    assert accepted(OFFICIAL)
    assert not accepted(bent(OFFICIAL, path, new))


@pytest.mark.parametrize("value", [OFFICIAL, BEHAVIORAL], ids=["official", "behavioral"])
def test_every_object_is_closed(value: dict[str, Any]) -> None:
    """No key can be left out, added or given twice, at any depth."""

    def objects(node: Any, place: str = "") -> Iterator[str]:
        if isinstance(node, dict):
            yield place
            for key, child in node.items():
                yield from objects(child, f"{place}.{key}".removeprefix("."))
        elif isinstance(node, list):
            for index, child in enumerate(node):
                yield from objects(child, f"{place}.{index}")

    places = list(objects(value))
    assert len(places) >= 6
    for place in places:
        node: Any = value
        for name in place.split(".") if place else []:
            node = node[int(name) if name.isdigit() else name]
        prefix = f"{place}." if place else ""
        for key in node:
            assert not accepted(bent(value, f"{prefix}{key}", ...)), key
            twice = json.dumps(value).replace(f'"{key}":', f'"{key}": null, "{key}":', 1).encode()
            assert read(twice) is None, key
        for extra in ("prompt", "__proto__", "", "Skill"):
            assert not accepted(bent(value, f"{prefix}{extra}", None)), (place, extra)


def test_sizes_are_bounded() -> None:
    """16,384 bytes are read and one more is not; 16 artifacts and not 17; the normal form is bounded as well."""
    data = json.dumps(OFFICIAL).encode()
    assert read(data + b" " * (RECEIPT_LIMIT - len(data))) is not None
    assert read(data + b" " * (RECEIPT_LIMIT - len(data) + 1)) is None
    many = [{"locator": f"a/{n}", "sha256": "c" * 64, "scope": "official_result"} for n in range(17)]
    assert accepted(bent(OFFICIAL, "payload.artifacts", many[:16]))
    assert not accepted(bent(OFFICIAL, "payload.artifacts", many))
    assert not accepted(bent(OFFICIAL, "payload.artifacts", [many[0], {**many[1], "locator": "a/0"}]))
    # "é" is two bytes in the file and six in the address: the file fits, the receipt does not.
    wide = copy.deepcopy(OFFICIAL)
    wide["payload"]["source"]["repository"] = "https://example.org/" + "é" * 330
    assert accepted(wide)
    wide["payload"]["source"]["repository"] += "é" * 10
    assert not accepted(wide)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"\xff",
        json.dumps(OFFICIAL).encode()[:-1],
        json.dumps(OFFICIAL).encode() + b"{}",
        json.dumps(OFFICIAL).encode("utf-16"),
        json.dumps(OFFICIAL).replace('"manual"', '"\\ud800"').encode(),
        json.dumps(OFFICIAL).replace('"manual"', "NaN").encode(),
        json.dumps(OFFICIAL).replace('"executed": 1', '"executed": 1e400').encode(),
        json.dumps(OFFICIAL).replace('"executed": 1', '"executed": ' + "1" * 5000).encode(),
        b"[" * 9000 + b"]" * 7000,
    ],
    ids=range(12),
)
def test_what_is_no_strict_json_is_refused(data: bytes) -> None:
    """Nothing is read as something near to it, and nothing ends in a traceback."""
    assert read(data) is None


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 200)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from([leaf for value in (OFFICIAL, BEHAVIORAL) for _, leaf in leaves(value)])
)
ANYTHING = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.text(max_size=4), SCALARS, max_size=3)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_document_bent_anywhere_is_refused_or_read_as_it_is(data: st.DataObject) -> None:
    """Whatever stands where, a receipt says what its document says; nothing is dropped, guessed or repaired."""
    value = data.draw(st.sampled_from([OFFICIAL, BEHAVIORAL]))
    paths: list[str] = []

    def collect(node: Any, place: str) -> None:
        if place:
            paths.append(place)
        items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, child in items:
            collect(child, f"{place}.{key}".removeprefix("."))

    collect(value, "")
    document = bent(value, data.draw(st.sampled_from(paths)), data.draw(ANYTHING))
    receipt = read(json.dumps(document).encode())
    if receipt is not None:
        assert says_the_same(receipt, document)
        assert stored(json.loads(encode(receipt))) == receipt


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([OFFICIAL, BEHAVIORAL]), st.data())
def test_bytes_changed_anywhere_are_refused_or_read_as_they_are(value: dict[str, Any], data: st.DataObject) -> None:
    """The same for the bytes: cut, put in or overwritten, they are refused or mean what they say."""
    raw = bytearray(json.dumps(value).encode())
    at = data.draw(st.integers(0, len(raw) - 1))
    length = data.draw(st.integers(0, 3))
    raw[at : at + length] = data.draw(st.binary(max_size=3) | st.sampled_from([b'"', b",", b"}", b"0", b" ", b"a"]))
    receipt = read(bytes(raw))
    if receipt is not None:
        assert says_the_same(receipt, json.loads(raw))
        assert stored(json.loads(encode(receipt))) == receipt


# -- where a skill comes from ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "normal"),
    [
        ("https://example.org/skills", "https://example.org/skills"),
        ("HTTPS://Example.ORG./Skills/", "https://example.org/Skills"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("https://example.org", "https://example.org"),
        ("https://example.org/", "https://example.org"),
        ("https://git.example.co.uk/~me/a-b_c.git", "https://git.example.co.uk/~me/a-b_c.git"),
        ("https://example.org/日本", "https://example.org/%E6%97%A5%E6%9C%AC"),
        ("https://xn--bcher-kva.example/a%20b", "https://xn--bcher-kva.example/a%20b"),
    ],
)
def test_an_address_has_one_form(address: str, normal: str) -> None:
    """As a web browser spells it, which is then itself the normal form."""
    assert public_repository(address) == normal
    assert public_repository(normal) == normal


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://",
        "https:///a",
        "https:example.org/a",
        "http://example.org/a",
        "ssh://git@example.org/a",
        "git@example.org:a/b",
        "//example.org/a",
        "file:///etc/passwd",
        "https://user@example.org/a",
        "https://user:secret@example.org/a",
        "https://example.org:8443/a",
        "https://example.org:/a",
        "https://example.org/a?token=x",
        "https://example.org/a#x",
        "https://example.org/a?",
        "https://example.org/a#",
        "https://example.org\\@evil.org/a",
        "https://example.org/a b",
        "https://example.org/a\n",
        "https://example.org/a\t",
        "\thttps://example.org/a",
        "https://example.org/../a",
        "https://example.org/a/%2E%2e/b",
        "https://example.org/a/./b",
        "https://example.org//a",
        "https://example.org/a//",
        "https://example.org/%zz",
        "https://example.org/a\x00",
        "https://example.org/a\x85",
        "https://example.org/a\u2028",
        "https://example.org/\ud800",
        "https://localhost/a",
        "https://LOCALHOST./a",
        "https://api.localhost/a",
        "https://printer.local/a",
        "https://git.internal/a",
        "https://git.corp/a",
        "https://router.home.arpa/a",
        "https://name.onion/a",
        "https://x.test/a",
        "https://x.invalid/a",
        "https://intranet/a",
        "https://127.0.0.1/a",
        "https://10.0.0.1/a",
        "https://8.8.8.8/a",
        "https://2130706433/a",
        "https://0x7f.1/a",
        "https://0x7f000001/a",
        "https://127.1/a",
        "https://1.2.3.4./a",
        "https://[::1]/a",
        "https://[2001:4860:4860::8888]/a",
        "https://-a.example.org/a",
        "https://a-.example.org/a",
        "https://a..example.org/a",
        "https://.example.org/a",
        "https://a_b.example.org/a",
        "https://ex%61mple.org/a",
        "https://bücher.example/a",
        "https://example.org。evil.org/a",
        "https://" + "a" * 64 + ".org/a",
        "https://" + ".".join(["a" * 60] * 5) + ".org/a",
        "https://example.org/" + "a" * 2048,
        "https://example.org/" + "é" * 400,
    ],
)
def test_an_address_that_is_not_public_or_says_more_is_refused(address: str) -> None:
    """No credential, no machine of one's own, no spelling that two readers could take for two places."""
    assert public_repository(address) is None
    source = {**OFFICIAL["payload"]["source"], "repository": address}
    assert not accepted(bent(OFFICIAL, "payload.source", source))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=30), st.sampled_from(["https://example.org/", "https://", "https://a.b"]))
def test_the_normal_form_of_an_address_is_its_own(text: str, prefix: str) -> None:
    """Else a stored receipt could not be read back as what was stored."""
    normal = public_repository(prefix + text)
    if normal is not None:
        assert public_repository(normal) == normal
        assert normal.isascii()
        assert normal.startswith("https://")


def test_a_revision_needs_a_repository_and_a_ref_a_revision() -> None:
    """A branch moves: without the commit that it meant, it says nothing about a revision."""
    source = OFFICIAL["payload"]["source"]
    for left_out in ({"repository": None}, {"resolved_git_sha": None}, {"repository": None, "source_ref": None}):
        assert not accepted(bent(OFFICIAL, "payload.source", {**source, **left_out}))
    nothing = {"repository": None, "resolved_git_sha": None, "source_ref": None}
    for fine in (nothing, {"source_ref": None}, {"resolved_git_sha": "a" * 64}):
        assert accepted(bent(OFFICIAL, "payload.source", {**source, **fine}))


def test_times_are_real() -> None:
    """A leap day exists in leap years alone."""
    assert moment("2028-02-29T23:59:59.999Z").day == 29
    with pytest.raises(QualityError):
        moment("2100-02-29T00:00:00.000Z")


# -- counts that agree -------------------------------------------------------------------------------------------------

RUN = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["agent", "manual", "fixture"]),
        "status": st.sampled_from(["executed", "executed", "executed", "blocked", "not-run"]),
        "verdict": st.sampled_from(["pass", "fail", "blocked"]),
        "alike": st.booleans(),
    }
)
SLOTS = st.lists(st.tuples(st.none() | RUN, st.none() | RUN), min_size=1, max_size=5)


def counted(slots: list[tuple[Any, Any]]) -> tuple[str, dict[str, Any]]:
    """Count some pairs of runs, baseline and treatment, as an honest caller does; return the result and the counts."""
    runs = [run for pair in slots for run in pair if run is not None]
    both = [(before, after) for before, after in slots if before and after]
    agents = [pair for pair in both if all(r["kind"] == "agent" and r["status"] == "executed" for r in pair)]
    controlled = [pair for pair in agents if all(run["alike"] for run in pair)]
    graded = [pair for pair in controlled if all(run["verdict"] != "blocked" for run in pair)]
    treated = [after for _, after in slots if after is not None]
    done = [run for run in treated if run["status"] == "executed"]
    failures = [run for run in runs if run["status"] == "executed" and run["verdict"] == "fail"]
    treatment = {
        "expected": len(slots),
        "executed": len(done),
        "blocked": sum(run["status"] == "blocked" for run in treated),
        "not_run": sum(run["status"] == "not-run" for run in treated),
        "missing": len(slots) - len(treated),
        "passed": sum(run["verdict"] == "pass" for run in done),
        "failed": sum(run["verdict"] == "fail" for run in done),
        "unresolved": sum(run["verdict"] == "blocked" for run in done),
    }
    idle = treatment["not_run"] + treatment["missing"] == len(slots)
    passed = treatment["passed"] == len(slots)
    result = "fail" if treatment["failed"] else "pass" if passed else "not-run" if idle else "blocked"
    return result, {
        "expected_pairs": len(slots),
        "imported_runs": len(runs),
        "missing_runs": 2 * len(slots) - len(runs),
        "paired_cases": len(both),
        "declared_agent_pairs": len(agents),
        "declared_controlled_agent_pairs": len(controlled),
        "fixture_runs": sum(run["kind"] == "fixture" for run in runs),
        "manual_runs": sum(run["kind"] == "manual" for run in runs),
        "unexecuted_runs": sum(run["status"] != "executed" for run in runs),
        "critical_failures": len(failures),
        "treatment_critical_failures": treatment["failed"],
        "comparison_status": "complete" if len(graded) == len(slots) else "incomplete",
        "selected_cases": [{"case_id": "one", "phase": "tuning", "attempts": len(slots), "joint_workflow": False}],
        "treatment": treatment,
    }


@settings(max_examples=200, deadline=None)
@given(SLOTS)
def test_honest_counts_are_read_with_their_one_result(slots: list[tuple[Any, Any]]) -> None:
    """Whatever happened to two arms, counting it gives a receipt, and no other result than its own goes with it."""
    result, counts = counted(slots)
    for claimed in ("pass", "fail", "blocked", "not-run"):
        assert accepted(behavioral(counts, result=claimed)) == (claimed == result)
    if counts["comparison_status"] == "incomplete" and counts["declared_controlled_agent_pairs"] < len(slots):
        assert not accepted(behavioral({**counts, "comparison_status": "complete"}, result=result))


ONE_AND_A_HALF = {
    "expected_pairs": 2,
    "imported_runs": 3,
    "missing_runs": 1,
    "declared_controlled_agent_pairs": 0,
    "comparison_status": "incomplete",
    "selected_cases": [{"case_id": "one", "phase": "tuning", "attempts": 2, "joint_workflow": False}],
    "treatment": {"expected": 2, "executed": 2, "passed": 2},
}
INCOMPLETE = {"comparison_status": "incomplete", "declared_agent_pairs": 0, "declared_controlled_agent_pairs": 0}


@pytest.mark.parametrize(
    "counts",
    [
        {"expected_pairs": 2},
        {"missing_runs": 1},
        {"imported_runs": 1},
        {"paired_cases": 2},
        {"paired_cases": 0},
        {"declared_agent_pairs": 2},
        {"declared_agent_pairs": 0},
        {"declared_controlled_agent_pairs": 0},
        {"treatment_critical_failures": 1, "critical_failures": 1},
        {"critical_failures": 0, "treatment_critical_failures": 1},
        {"fixture_runs": 1},
        {"manual_runs": 1},
        {"unexecuted_runs": 1},
        {"treatment": {"executed": 0}},
        {"treatment": {"passed": 0}},
        {"treatment": {"expected": 2}},
        {"treatment": {"missing": 1}},
        {"treatment": {"unresolved": 1}},
        {"selected_cases": []},
        {"selected_cases": [{"case_id": "one", "phase": "tuning", "attempts": 2, "joint_workflow": False}]},
        {"selected_cases": [{"case_id": "one", "phase": "tuning", "attempts": 1, "joint_workflow": 0}]},
        {"selected_cases": [{"case_id": "One", "phase": "tuning", "attempts": 1, "joint_workflow": False}]},
        {**INCOMPLETE, "unexecuted_runs": 2},
        {**INCOMPLETE, "treatment": {"executed": 0, "blocked": 1, "passed": 0}},
        {**INCOMPLETE, "fixture_runs": 2, "manual_runs": 1},
        {**INCOMPLETE, "fixture_runs": 2, "declared_agent_pairs": 1},
        {**INCOMPLETE, "unexecuted_runs": 1, "declared_agent_pairs": 1},
        {**ONE_AND_A_HALF, "paired_cases": 0, "declared_agent_pairs": 0},
        {**ONE_AND_A_HALF, "paired_cases": 2},
        {**ONE_AND_A_HALF, "imported_runs": 2, "missing_runs": 2},
        {
            **ONE_AND_A_HALF,
            "selected_cases": [{"case_id": "one", "phase": "tuning", "attempts": 1, "joint_workflow": False}] * 2,
        },
    ],
)
def test_counts_that_contradict_each_other_are_refused(counts: dict[str, Any]) -> None:
    """No arms that can't have been, no pair without two runs, nothing complete that is not."""
    assert accepted(behavioral())
    assert accepted(behavioral(ONE_AND_A_HALF))
    for result in ("pass", "fail", "blocked", "not-run"):
        assert not accepted(behavioral(counts, result=result))
