"""YAML that we write means what we mean, to any reader; several documents are cut where YAML cuts them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillbench.errors import Problem
from pytest_skillbench.yamlread import Source, compose, documents, is_tagged, plain_of
from pytest_skillbench.yamlwrite import dump, scalar

TEXT = st.text(st.characters(codec="utf-8"), max_size=30) | st.sampled_from(
    [
        "yes",
        "No",
        "null",
        "~",
        "1.10",
        "0x1f",
        "1e3",
        "2026-11-30",
        "- a",
        "a: b",
        "#",
        "---",
        "",
        " ",
        "é",
        "\x85",
        "\ufeff",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)


def read(text: str) -> Any:
    """Return what our own strict reader takes a document for."""
    source = Source(text=text, path="x", slug="x")
    return plain_of(source, compose(source, 1 << 20))


@given(st.dictionaries(TEXT, VALUES, min_size=1, max_size=5))
def test_what_is_written_is_read(value: dict[str, Any]) -> None:
    """By PyYAML and by our reader alike, whatever the texts look like."""
    text = dump(value)
    assert yaml.safe_load(text) == value
    assert read(text) == value


@given(st.decimals(-(10**6), 10**6, places=2))
def test_decimals_stay_exact(value: Decimal) -> None:
    """A score is written as it is spelled and read as just that number, never through a float."""
    assert read(dump({"a": value})) == {"a": value}


def test_numbers_that_are_none() -> None:
    """No file of ours holds a NaN."""
    with pytest.raises(ValueError, match="no number of ours"):
        scalar(Decimal("NaN"))


@pytest.mark.parametrize(
    "text", ["a: &x [1]\nb: *x\n", "a: !!python/name:os.system x\n", "a: 1\na: 2\n", "a: 010\n", "1: a\n"]
)
def test_the_strict_reader_refuses(text: str) -> None:
    """What hides a second meaning is a problem with a line, and never a value."""
    assert isinstance(read(text), Problem)


@given(st.lists(st.sampled_from(["a: 1\n", "b: |\n  x\n  ---\n", "c: 'q\n  r'\n", "# only this\n", ""]), max_size=6))
def test_documents_are_cut_where_yaml_cuts_them(bodies: list[str]) -> None:
    """The same documents as PyYAML's own, each with the line where its content stands in the file."""
    text = "".join(f"---\n{body}" for body in bodies)
    found = [
        (piece, node)
        for piece in documents(Source(text=text, path="x", slug="x"))
        if (node := compose(piece)) is not None and not is_tagged(node, "null")
    ]
    wanted = [node for node in yaml.compose_all(text) if node is not None and node.tag != "tag:yaml.org,2002:null"]
    assert [yaml.serialize(node) for _, node in found] == [yaml.serialize(node) for node in wanted]
    assert [piece.line(node.start_mark.index) for piece, node in found] == [n.start_mark.line + 1 for n in wanted]


def test_directives_and_ends() -> None:
    """What stands before the first --- belongs to its document, and a ... ends one."""
    text = "# about\n%YAML 1.1\n--- {a: 1}\n...\nb: 2\n---x: 1\n"
    found = documents(Source(text=text, path="x", slug="x"))
    assert [piece.first_line for piece in found] == [1, 4]
    assert [yaml.safe_load(piece.text) for piece in found] == [{"a": 1}, {"b": 2, "---x": 1}]
