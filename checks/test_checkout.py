"""`checkout` against git itself: the same bytes as git's own checkout writes, the same files taken for unchanged."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_skillbench import checkout
from pytest_skillbench.checkout import Attributes, LineEnds, line_ends, pointer, same, smudge

from .repos import Repo, init

RULES = (
    "",
    "text",
    "-text",
    "text=auto",
    "eol=crlf",
    "eol=lf",
    "text eol=crlf",
    "text=auto eol=crlf",
    "text=auto eol=lf",
    "-text eol=crlf",
    "crlf",
    "-crlf",
    "crlf=input",
    "text=input",
    "binary",
    "ident",
    "text ident",
    "ident eol=crlf",
    "working-tree-encoding=UTF-16LE",
    "text working-tree-encoding=ISO-8859-1 eol=crlf",
)
PIECES = st.sampled_from(
    # No lone dollar: git's two ways of writing a file disagree on what $$Id$ and $Id:$Id$ are.
    [
        *(b"a", b"line", b" ", b"\n", b"\r\n", b"\r", b"\0", b"\x1a", b"\x07", b"\t", b"\x7f", b"\xc3\xa9", b"x" * 200),
        *(b"$Id$", b"$Id: x y z $", b"$Id: abc $", b"$Idea"),
    ]
)
CONTENT = st.lists(PIECES, max_size=12).map(b"".join)


def _attributes(rule: str) -> Attributes:
    found = {}
    for word in ["-text", "-diff", "-merge"] if rule == "binary" else rule.split():
        name, _, value = word.lstrip("-").partition("=")
        found[name] = "unset" if word.startswith("-") else value or "set"
    return found


def _oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Return a repository with one path a rule: ``f0`` and so on."""
    made = init(tmp_path_factory.mktemp("rules"))
    made.write(".gitattributes", "".join(f"f{number} {rule}\n" for number, rule in enumerate(RULES)))
    made.commit()
    return made


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=CONTENT, crlf=st.booleans())
def test_a_checkout_writes_what_git_writes(repo: Repo, data: bytes, crlf: bool) -> None:
    """For every rule, in an LF and in a CRLF checkout; and what git writes is unchanged, whatever it did."""
    repo.git("read-tree", "HEAD")
    oid = repo.git("hash-object", "-w", "--stdin", "--no-filters", data=data)
    assert oid == _oid(data)
    cached = "".join(f"100644 {oid}\tf{number}\n" for number in range(len(RULES)))
    repo.git("update-index", "--index-info", data=cached.encode())
    repo.git(
        "-c", f"core.autocrlf={'true' if crlf else 'false'}", "-c", "core.eol=lf", "checkout-index", "-q", "-f", "-a"
    )
    ends: LineEnds = "crlf" if crlf else "lf"
    for number, rule in enumerate(RULES):
        written = (repo.root / f"f{number}").read_bytes()
        attributes = _attributes(rule)
        if b"\0" not in data or "working-tree-encoding" not in attributes:
            assert smudge(data, oid, attributes, ends) == written, rule
        assert same(written, data, oid, attributes, ends), rule
        assert same(data, data, oid, attributes, ends), rule


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(blob=CONTENT, work=CONTENT, mutate=st.sampled_from(["none", "crlf", "lf", "other"]))
def test_what_git_would_store_as_something_else_is_changed(repo: Repo, blob: bytes, work: bytes, mutate: str) -> None:
    """A file is unchanged only where it is what a checkout writes, or git would store it as the very same blob."""
    if mutate == "crlf":
        work = blob.replace(b"\n", b"\r\n")
    elif mutate == "lf":
        work = blob.replace(b"\r\n", b"\n")
    elif mutate == "none":
        work = blob
    oid = _oid(blob)
    repo.git("read-tree", "HEAD")
    repo.git("hash-object", "-w", "--stdin", "--no-filters", data=blob)
    kept = {f"f{number}": rule for number, rule in enumerate(RULES) if "working-tree-encoding" not in rule}
    # The index matters: with text=auto git leaves a file alone that it has stored with CRLF.
    repo.git("update-index", "--index-info", data="".join(f"100644 {oid}\t{path}\n" for path in kept).encode())
    for path in kept:
        repo.write(path, work)
    stored = repo.git(
        "-c", "core.autocrlf=false", "hash-object", "--stdin-paths", data="\n".join(kept).encode()
    ).split()
    for rule, now in zip(kept.values(), stored, strict=True):
        attributes = _attributes(rule)
        expected = now == oid or work in (blob, smudge(blob, oid, attributes, "lf"))
        assert same(work, blob, oid, attributes, "lf") == expected, (rule, blob, work)


def test_a_git_lfs_pointer_is_the_content_that_it_names() -> None:
    """Fetched content and the pointer are one file; other content is an edit, and a near-pointer is just text."""
    content = b"\0big\r\n" * 100
    sha256 = hashlib.sha256(content).hexdigest()
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize 600\n".encode()
    rule = {"filter": "lfs", "text": "unset"}
    found = pointer(text)
    assert found is not None
    assert found.size == 600
    assert same(content, text, _oid(text), rule, "lf")
    assert same(text, text, _oid(text), rule, "lf")
    assert not same(content[:-1] + b"x", text, _oid(text), rule, "lf")
    assert pointer(text + b"x") is None
    assert pointer(b"version https://git-lfs.github.com/spec/v1\noid sha256:xyz\nsize 1\n") is None


def test_line_ends_are_read_off_the_files() -> None:
    """All CRLF is a CRLF checkout; one file with LF makes the others edits; binary and decided files have no say."""
    lf, crlf = b"a\nb\n", b"a\r\nb\r\n"
    nothing: Attributes = {}
    assert line_ends([]) == "lf"
    assert line_ends([(crlf, lf, nothing), (b"\0\n", b"\0\n", nothing), (b"one", b"one", nothing)]) == "crlf"
    assert line_ends([(crlf, lf, nothing), (lf, lf, nothing)]) == "lf"
    assert line_ends([(crlf, lf, nothing), (lf, lf, {"eol": "lf"}), (lf, lf, {"text": "unset"})]) == "crlf"
    assert line_ends([(crlf, crlf, nothing), (lf, lf, nothing)]) == "lf"
    assert line_ends([(b"a\r\nb\n", lf, nothing)]) == "lf"
    assert line_ends([(b"edited\r\n", lf, nothing)]) == "crlf"


def test_an_encoding_that_nobody_knows_leaves_the_bytes() -> None:
    """As git does; it is no crash."""
    assert smudge(b"a\n", _oid(b"a\n"), {"working-tree-encoding": "klingon"}, "lf") == b"a\n"
    bom = smudge("é".encode(), _oid("é".encode()), {"working-tree-encoding": "UTF-16LE-BOM"}, "lf")
    assert bom == b"\xff\xfe\xe9\x00"
    assert same(bom, "é".encode(), _oid("é".encode()), {"working-tree-encoding": "UTF-16LE-BOM"}, "lf")


def test_attributes_asked_for_are_those_that_are_used() -> None:
    """A rule that `git` is not asked about would silently not count."""
    assert {word.lstrip("-").split("=")[0] for rule in RULES if rule != "binary" for word in rule.split()} | {
        "filter"
    } == set(checkout.ATTRIBUTES)
