"""`materialize`: exactly the bytes that were recorded, inner links only, and nothing written outside the folder."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillbench import digest
from pytest_skillbench.digest import Entry
from pytest_skillbench.errors import SkillbenchError
from pytest_skillbench.materialize import Item, package, stray_links, write


def _file(path: str, content: bytes = b"x\n", *, executable: bool = False) -> Item:
    sha256 = hashlib.sha256(content).hexdigest()
    return Item(
        entry=Entry(path=path, sha256=sha256, bytes=len(content), executable=executable, link=None), content=content
    )


def _link(path: str, target: str) -> Item:
    raw = os.fsencode(target)
    entry = Entry(path=path, sha256=hashlib.sha256(raw).hexdigest(), bytes=len(raw), executable=False, link=target)
    return Item(entry=entry, content=raw)


PARTS = st.sampled_from(["f", "d", "d/f", "l", "m", "n", "d/l", "d/m", ".", "..", "gone", "/", "d/..", "d/l/f"])
TARGETS = st.lists(PARTS, min_size=1, max_size=3).map("/".join)


@settings(max_examples=100, deadline=None)
@given(targets=st.dictionaries(st.sampled_from(["l", "m", "n", "d/l", "d/m"]), TARGETS))
def test_links_are_followed_as_the_system_follows_them(targets: dict[str, str]) -> None:
    """A link is refused exactly where, on disk, it leaves the folder or leads nowhere, by way of other links too."""
    items = [_file("f"), _file("d/f"), *(_link(path, target) for path, target in targets.items())]
    refused = {problem.path.removeprefix("s/") for problem in stray_links((item.entry for item in items), "s")}
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(os.path.realpath(folder), "a/b/c/root")
        os.makedirs(f"{root}/d")
        for name in ("f", "d/f"):
            Path(root, name).write_bytes(b"x\n")
        for path, target in targets.items():
            os.symlink(target, f"{root}/{path}")
        for path in targets:
            try:
                os.stat(f"{root}/{path}")
                real = os.path.realpath(f"{root}/{path}")
                inside = real == root or real.startswith(f"{root}/")
            except OSError:
                inside = False
            assert (path in refused) == (not inside), (path, targets)


def test_what_is_written_has_the_digest_of_what_was_asked_for(tmp_path: Path) -> None:
    """One law for planner, freshness and copy: `package` of the entries is `digest.package` of the folder."""
    items = [
        _file("SKILL.md"),
        _file("a/run", b"#!/bin/sh\n", executable=True),
        _file("a-b", b""),
        _file("a/\n"),
        _link("z", "a"),
    ]
    assert write(items, tmp_path / "new", "s") == digest.package(tmp_path / "new") == package([i.entry for i in items])


def test_a_file_that_is_not_what_was_recorded_is_refused(tmp_path: Path) -> None:
    """Edited, gone or turned into a link between digest and copy: the copy is never taken for what was recorded."""
    source = tmp_path / "source"
    source.write_bytes(b"other\n")
    item = Item(entry=_file("f").entry, content=source)
    with pytest.raises(SkillbenchError, match="s/f: changed while it was copied"):
        write([item], tmp_path / "1", "s")
    source.write_bytes(b"x\n")
    write([item], tmp_path / "2", "s")
    source.rename(tmp_path / "moved")
    with pytest.raises(SkillbenchError, match="changed while it was copied"):
        write([item], tmp_path / "3", "s")
    source.symlink_to(tmp_path / "moved")
    with pytest.raises(SkillbenchError, match="changed while it was copied"):
        write([item], tmp_path / "4", "s")


def test_all_problems_at_once_and_before_anything_is_written(tmp_path: Path) -> None:
    """Stray links and impossible names are named together."""
    items = [_link("a", "/etc"), _link("b", "gone"), _link("c", "c"), _file("../d"), _file(".GIT/hooks/x"), _file("f")]
    with pytest.raises(SkillbenchError) as caught:
        write(items, tmp_path / "new", "s")
    assert [problem.slug for problem in caught.value.problems] == [
        "tree-bad-name",
        "tree-bad-name",
        "tree-link-leaves",
        "tree-link-dangling",
        "tree-link-dangling",
    ]
    assert not (tmp_path / "new").exists()


def test_two_entries_of_one_name_never_overwrite(tmp_path: Path) -> None:
    """On a file system that folds case, or from a forged tree, the second one is an error."""
    with pytest.raises(SkillbenchError, match="two names that are one"):
        write([_file("f"), _file("f", b"y\n")], tmp_path / "new", "s")
    with pytest.raises(SkillbenchError, match="two names that are one"):
        write([_file("f/g"), _link("f", "h"), _file("h")], tmp_path / "other", "s")
