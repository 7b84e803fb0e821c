"""A case that failed can't be made to vanish: without its file there is no node, and the session is red anyway."""

from __future__ import annotations

from pathlib import Path

import pytest

from .records import CASE, write_run, write_skill


@pytest.mark.parametrize("kind", ["dangling", "folder", "gone"])
def test_a_red_case_without_its_file_stays_red(pytester: pytest.Pytester, kind: str) -> None:
    """Deleting or replacing the case.md of a case that failed never turns the session green."""
    root = pytester.path
    write_skill(root, "reviewing", {"one": CASE, "two": CASE})
    write_run(root, "reviewing", {"one": "WWWWW", "two": "LLLLL"})
    file = root / "tests/reviewing/two/case.md"
    file.unlink()
    if kind == "dangling":
        file.symlink_to("/nowhere")
    elif kind == "folder":
        file.mkdir()
    result = pytester.runpytest_inprocess("--skillbench", "tests")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*tests/reviewing/two/case.md*failed efficacy in the recorded run*"])


def test_a_case_that_is_no_file_is_an_error(pytester: pytest.Pytester) -> None:
    """What `skillbench check` calls an error makes pytest red, though pytest itself visits only files."""
    write_skill(pytester.path, "reviewing", {"one": CASE})
    folder = Path(pytester.path, "tests/reviewing/two/case.md")
    folder.mkdir(parents=True)
    result = pytester.runpytest_inprocess("--skillbench", "tests")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "tests/reviewing/two" in result.stdout.str()
