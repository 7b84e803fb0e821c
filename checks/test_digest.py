"""Digests: the documented tree digest exactly, changed by everything that matters, safe on every kind of file."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillbench import digest
from pytest_skillbench.errors import SkillbenchError

# A public package and its tree digest: path and SHA-256 of each file.
VECTOR = {
    "LICENSE": "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30",
    "SKILL.md": "fb1d0d80201b47c27ebd3c5ae45542193b63cfe0b2746ccfdccce38ef02c7a30",
    "agents/openai.yaml": "3409e7b91b518011931bdcc97244aa8ff296fa4880b3c35d8f32148c5a8fa5f9",
    "assets/icon-source.md": "b61664e36f8a5a84dd4f3857f7d2f9c7e465d65a239811d26cb27902f23b20f5",
    "assets/icon.png": "1ad173b9f0c91dfca25356b5416d9cc8515f51c81704b732a817f5f74033a898",
    "assets/icon.render.json": "96a0d1eb7831ca15534570a0e9f2077dc376d50f7188b97109c0383712ea6a6f",
    "assets/icon.source.json": "224e57df904492f61c4258ac12605adf7c7215f21e2ff81566c71396dbb69a7b",
    "assets/icon.svg": "901becfd2a789e58f9d6f0246f41f92cc494e1c285ee4b17d2f2f506e7c253ab",
}
VECTOR_DIGEST = "d8979cddd3a7f895bc605bd1b24bac551197b33387d8e5f217e3e454385d6969"


def entry(path: str, sha256: str, *, executable: bool = False, link: str | None = None) -> digest.Entry:
    """Return an inventory's line."""
    return digest.Entry(path=path, sha256=sha256, bytes=1, executable=executable, link=link)


def refusals(root: Path) -> dict[str, str]:
    """Return what is refused in a tree, by path."""
    with pytest.raises(SkillbenchError) as caught:
        digest.inventory(root, shown="tree")
    return {problem.path: problem.slug for problem in caught.value.problems}


def test_the_published_vector() -> None:
    """The digest is the one that evidence is frozen with; another program must get the same."""
    assert digest.tree_digest(entry(path, sha) for path, sha in VECTOR.items()) == VECTOR_DIGEST


def test_paths_are_in_the_order_of_their_bytes(tmp_path: Path) -> None:
    """Not the order of folders, of code points in UTF-16 or of the file system."""
    names = ["a/b", "a-b", "a.b", "B", "é", "\U0001f600", "\uffee", "z"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    got = [found.path for found in digest.inventory(tmp_path)]
    assert got == sorted(names, key=str.encode)


def test_everything_that_matters_changes_the_digest(tmp_path: Path) -> None:
    """Bytes, a name, the executable bit, a link's target, a file in the place of a link: each is another skill."""

    def build(name: str) -> Path:
        root = tmp_path / name
        (root / "sub").mkdir(parents=True)
        (root / "SKILL.md").write_bytes(b"x")
        (root / "sub" / "run.sh").write_bytes(b"y")
        (root / "link").symlink_to("SKILL.md")
        return root

    same = digest.package(build("one"))
    assert digest.package(build("two")) == same
    assert (same.files, same.bytes) == (3, 1 + 1 + len("SKILL.md"))
    changed = {same.tree_sha256}
    (build("bytes") / "SKILL.md").write_bytes(b"z")
    (build("mode") / "sub" / "run.sh").chmod(0o755)
    (build("name") / "SKILL.md").rename(tmp_path / "name" / "SKILL2.md")
    (tmp_path / "name" / "link").unlink()
    (tmp_path / "name" / "link").symlink_to("SKILL2.md")
    (build("target") / "link").unlink()
    (tmp_path / "target" / "link").symlink_to("sub/run.sh")
    (build("file") / "link").unlink()
    (tmp_path / "file" / "link").write_text("SKILL.md")
    (build("gone") / "sub" / "run.sh").unlink()
    for name in ("bytes", "mode", "name", "target", "file", "gone"):
        changed.add(digest.package(tmp_path / name).tree_sha256)
    assert len(changed) == 7


def test_what_is_never_part_of_a_skill(tmp_path: Path) -> None:
    """A repository's own folder, caches and Finder's files do not make a skill a different one; times do not either."""
    (tmp_path / "SKILL.md").write_text("x")
    before = digest.package(tmp_path)
    for name in (".git/HEAD", "sub/__pycache__/x.pyc", ".DS_Store"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("y")
    os.utime(tmp_path / "SKILL.md", (1, 1))
    assert digest.package(tmp_path) == before


def test_refused_kinds_are_all_named_at_once_and_hang_nothing(tmp_path: Path) -> None:
    """A FIFO, a socket, links out, absolute links, dangling and circular ones: each by name, at once."""
    root = tmp_path / "tree"
    root.mkdir()
    (tmp_path / "secret").write_text("x")
    os.mkfifo(root / "fifo")
    here = os.getcwd()
    os.chdir(root)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket")
    finally:
        os.chdir(here)
    (root / "out").symlink_to("../secret")
    (root / "absolute").symlink_to(root / "inner")
    (root / "inner").write_text("x")
    (root / "dangling").symlink_to("nothing")
    (root / "circle").symlink_to("circle")
    (root / "up").symlink_to(".")
    (root / "by-way").symlink_to("up/../../secret")
    assert refusals(root) == {
        "tree/fifo": "tree-special-file",
        "tree/socket": "tree-special-file",
        "tree/out": "tree-link-leaves",
        "tree/absolute": "tree-link-leaves",
        "tree/dangling": "tree-link-dangling",
        "tree/circle": "tree-link-dangling",
        "tree/by-way": "tree-link-leaves",
    }


def test_links_to_folders_are_recorded_and_not_entered(tmp_path: Path) -> None:
    """A circle through a folder ends; an inner link is its target's text."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "f").write_text("x")
    (tmp_path / "a" / "loop").symlink_to("..")
    assert [(e.path, e.link) for e in digest.inventory(tmp_path)] == [("a/f", None), ("a/loop", "..")]


def test_names_that_are_no_text(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 and line ends in a name are part of the path as they are."""
    raw = os.fsencode(tmp_path)
    for name in (b"\xff\xfe", b"new\nline"):
        with open(os.path.join(raw, name), "wb") as file:
            file.write(b"x")
    got = digest.inventory(tmp_path)
    assert [os.fsencode(found.path) for found in got] == [b"new\nline", b"\xff\xfe"]
    assert len(digest.tree_digest(got)) == 64


def test_depth_is_bounded(tmp_path: Path) -> None:
    """A tree deeper than any skill is refused by name, and not by an exception of the interpreter."""
    (tmp_path / "/".join(["d"] * 70)).mkdir(parents=True)
    assert list(refusals(tmp_path).values()) == ["tree-too-deep"]


def test_a_missing_root_is_a_problem(tmp_path: Path) -> None:
    """No traceback where the folder went away."""
    assert refusals(tmp_path / "nothing") == {"tree": "tree-unreadable"}


def test_fixture_of_an_empty_world(tmp_path: Path) -> None:
    """No folder and an empty one are one world, since git keeps no empty folders; a list of empty ones is content."""
    assert digest.fixture(None) is None
    assert digest.fixture(tmp_path / "fixture") is None
    (tmp_path / "fixture" / "empty").mkdir(parents=True)
    assert digest.fixture(tmp_path / "fixture") is None
    (tmp_path / "fixture" / ".skillbench-dirs").write_text("empty\n")
    assert digest.fixture(tmp_path / "fixture") is not None


@given(st.text(alphabet="a\r\n"), st.booleans())
def test_case_digest_is_of_the_text(text: str, mark: bool) -> None:
    """Line ends and a byte-order mark do not count, everything else does."""
    data = text.encode()
    plain = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    assert digest.case_digest(b"\xef\xbb\xbf" * mark + data) == digest.case_digest(plain)
    assert digest.case_digest(plain + b"x") != digest.case_digest(plain)


def test_suite_digest() -> None:
    """The order of the cases does not count; each of their digests does, and they can't be told apart wrongly."""
    one: tuple[str, str, str | None] = ("a", "1" * 64, None)
    two: tuple[str, str, str | None] = ("b", "2" * 64, "3" * 64)
    assert digest.suite_digest([one, two]) == digest.suite_digest(iter([two, one]))
    variants: list[list[tuple[str, str, str | None]]] = [
        [one],
        [two],
        [one, two],
        [("a", "1" * 64, "3" * 64), two],
        [("a", "4" * 64, None), two],
        [],
    ]
    assert len({digest.suite_digest(variant) for variant in variants}) == len(variants)
