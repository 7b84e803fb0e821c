"""The gate with real shells: exact outcomes, nothing that hangs it, nothing left behind."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pytest_skillbench import gate
from pytest_skillbench.model import Assertion, GateResult


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """Make a world and an output beside it."""
    (tmp_path / "world").mkdir()
    (tmp_path / "output.md").write_text("the answer\n")
    return tmp_path / "world"


def run(world: Path, *commands: str, shell: str = "sh", timeout: float = 30) -> tuple[GateResult, ...]:
    """Run commands as the assertions of one gate."""
    assertions = [
        Assertion(shell=shell, line=1, title=None, command=command)  # type: ignore[arg-type]  # sh or bash
        for command in commands
    ]
    return gate.run(assertions, world, world.parent / "output.md", timeout)


def alive(pid: int) -> bool:
    """Tell whether a process still runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_exit_codes_in_order(world: Path) -> None:
    """Each assertion has its own outcome, and a failed one does not stop the next."""
    got = run(world, "true", "exit 3", "echo out; echo err >&2; false", "kill -9 $$", "no-such-command")
    assert [(r.assertion, r.exit_code, r.timed_out) for r in got] == [
        (0, 0, False),
        (1, 3, False),
        (2, 1, False),
        (3, 137, False),
        (4, 127, False),
    ]
    assert (got[2].stdout, got[2].stderr) == ("out\n", "err\n")
    assert run(world) == ()


def test_flags_of_the_shells(world: Path) -> None:
    """-e and -u in both; pipefail in bash alone, so that a masked failure is seen there."""
    commands = ("false; true", 'echo "$unset"', "false | true")
    assert [bool(r.exit_code) for r in run(world, *commands)] == [True, True, False]
    assert [bool(r.exit_code) for r in run(world, *commands, shell="bash")] == [True, True, True]


def test_what_a_command_sees(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """$OUTPUT and $WORLD, cwd in the world, empty input, and nothing of the user's environment."""
    for name in ("GIT_DIR", "BASH_ENV", "ENV", "SECRET", "LANG"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("HOME", "/nowhere")
    commands = (
        'grep -q "the answer" "$OUTPUT"',
        'test "$(pwd -P)" = "$(cd "$WORLD" && pwd -P)" && test "${OUTPUT#/}" != "$OUTPUT"',
        'test -z "$(cat)"',
        'test -z "${GIT_DIR-}${SECRET-}${BASH_ENV-}${ENV-}${LANG-}" && test -d "$HOME" && test -z "$(ls -A "$HOME")"',
        'touch "$TMPDIR/x" "$HOME/y" && test "$TZ" = UTC',
    )
    assert [r.exit_code for r in run(world, *commands)] == [0] * len(commands)


def test_each_runs_by_itself(world: Path) -> None:
    """A variable or a cd of one command is not there in the next; a file in the world is."""
    assert [bool(r.exit_code) for r in run(world, "x=1; cd /", 'test -z "${x-}"', "touch f", "test -f f")] == [
        False
    ] * 4


def test_a_hanging_command_is_killed_with_its_group(world: Path) -> None:
    """The limit holds for children too, and nothing of them goes on."""
    begun = time.monotonic()
    (got,) = run(world, "sleep 300 & echo $! > pid; sleep 300", timeout=0.5)
    assert (got.exit_code, got.timed_out) == (None, True)
    assert 500 <= got.duration_ms < 20_000
    assert time.monotonic() - begun < 20
    assert not alive(int((world / "pid").read_text()))


def test_a_child_that_outlives_its_command(world: Path) -> None:
    """It holds the pipe and would write later: the command's outcome comes at once, the child is killed."""
    begun = time.monotonic()
    got = run(world, "(sleep 300; touch late) & echo $! > pid; echo done", "test ! -e late")
    assert time.monotonic() - begun < 20
    assert [r.exit_code for r in got] == [0, 0]
    assert got[0].stdout == "done\n"
    assert not alive(int((world / "pid").read_text()))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc to find a process that left its group")
@pytest.mark.parametrize("prefix", ["setsid", "env -i setsid"])
def test_a_child_that_makes_its_own_session(world: Path, prefix: str) -> None:
    """Leaving the group, closing the output and clearing the environment does not save it."""
    command = f"{prefix} sh -c 'echo $$ > pid; exec sleep 300' >/dev/null 2>&1 & while ! test -s pid; do :; done"
    (got,) = run(world, command)
    assert got.exit_code == 0
    assert not alive(int((world / "pid").read_text()))


def test_output_is_bounded_and_says_so(world: Path) -> None:
    """Three megabytes: the beginning, the end and a mark that counts what is missing; a failure is still seen."""
    (got,) = run(world, "echo first; yes | head -c 3000000; echo last; echo e >&2; exit 4")
    assert got.exit_code == 4
    assert got.stdout.startswith("first\ny\n")
    assert got.stdout.endswith("y\nlast\n")
    cut = 3_000_000 + len("first\nlast\n") - 2 * gate.KEEP
    assert f"… {cut:,} bytes cut …" in got.stdout
    assert len(got.stdout.encode()) < 2 * gate.KEEP + 100
    assert got.stderr == "e\n"


def test_endless_output_ends_with_the_limit(world: Path) -> None:
    """A flood is no way around the time limit or the memory limit."""
    (got,) = run(world, "yes", timeout=0.5)
    assert got.timed_out
    assert len(got.stdout) < 3 * gate.KEEP


def test_bytes_that_are_no_text(world: Path) -> None:
    """The record is text: what is not UTF-8 is replaced, NUL and escapes stay for the faces to show safely."""
    (got,) = run(world, "printf '\\377\\033[31m\\000'")
    assert got.stdout == "\ufffd\x1b[31m\x00"


def test_closed_streams_and_a_deleted_world(world: Path) -> None:
    """A command that closes its output still has an outcome; a world that is gone is not a pass."""
    assert [r.exit_code for r in run(world, "exec >&- 2>&-; exit 5")] == [5]
    (gone, after) = run(world, 'rm -rf "$WORLD"; exit 6', "true")
    assert gone.exit_code == 6
    assert (after.exit_code, after.timed_out) == (None, False)
    assert after.stderr.startswith("not run:")


def test_a_shell_that_is_not_there(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without bash on the PATH nothing is known, and that is not a pass."""
    monkeypatch.setenv("PATH", "/nonexistent")
    (got,) = run(world, "true", shell="bash")
    assert (got.exit_code, got.timed_out) == (None, False)
    assert "bash" in got.stderr


def test_nothing_is_left_open(world: Path) -> None:
    """A thousand assertions in one process must not run out of file descriptors."""
    before = len(os.listdir("/dev/fd"))
    run(world, "true", "false", "sleep 300 &", "exec >&-")
    run(world / "none", "true")
    assert len(os.listdir("/dev/fd")) == before


def test_a_command_with_everything_in_it(world: Path) -> None:
    """Quotes, line ends and here-documents reach the shell as they are written; messages name the assertion."""
    (good, bad) = run(world, "cat <<'E' | grep -q '\\$x \"y\"'\n$x \"y\"\nE", "if")
    assert good.exit_code == 0
    assert "assertion-2" in bad.stderr
