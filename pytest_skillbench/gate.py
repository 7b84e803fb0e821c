"""Hard assertions in subprocesses: each by itself, with a time limit, bounded output and nothing left running.

Gather: runs shells. A gate's outcome depends on the assertion, the world and the output alone: the environment is made
here, standard input is empty, and what a command leaves running is killed before the next one starts.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from .model import Assertion, GateResult

KEEP = 32_768
_COMMANDS = {"sh": ("sh", "-eu", "-c"), "bash": ("bash", "-euo", "pipefail", "-c")}
_TICK_SECONDS = 0.02
_READ = 65_536


def run(assertions: Sequence[Assertion], world: Path, output: Path, timeout_seconds: float) -> tuple[GateResult, ...]:
    """Run every assertion in order, with cwd and ``$WORLD`` at `world` and ``$OUTPUT`` at `output`.

    A failed one does not stop the next. `timeout_seconds` is for each. `exit_code` is the shell's, 128 + n where signal
    n ended it, None where it timed out or could not be started (`stderr` then says why). Output keeps its first and
    last 32 KiB, with a mark between where more was written.
    """
    if not assertions:
        return ()
    with tempfile.TemporaryDirectory(prefix="gate-", ignore_cleanup_errors=True) as home:
        environment = _environment(Path(home), world, output)
        return tuple(
            _one(number, assertion, world, environment, timeout_seconds) for number, assertion in enumerate(assertions)
        )


def _environment(home: Path, world: Path, output: Path) -> dict[str, str]:
    """Return all that a command may know: no user's configuration, no ``GIT_*``, one language and time zone."""
    for name in ("home", "tmp"):
        (home / name).mkdir()
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home / "home"),
        "TMPDIR": str(home / "tmp"),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "WORLD": os.path.abspath(world),
        "OUTPUT": os.path.abspath(output),
    }


class _Kept:
    """The first and the last `KEEP` bytes of a stream."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0

    def add(self, data: bytes) -> None:
        self._size += len(data)
        room = KEEP - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        if len(self._tail) > 2 * KEEP:
            del self._tail[:-KEEP]

    def text(self) -> str:
        del self._tail[:-KEEP]
        cut = self._size - len(self._head) - len(self._tail)
        mark = f"\n… {cut:,} bytes cut …\n" if cut else ""
        if not cut:
            return bytes(self._head + self._tail).decode(errors="replace")
        return self._head.decode(errors="replace") + mark + self._tail.decode(errors="replace")


def _one(number: int, assertion: Assertion, world: Path, environment: dict[str, str], timeout: float) -> GateResult:
    arguments = [*_COMMANDS[assertion.shell], assertion.command, f"assertion-{number + 1}"]
    begun = time.monotonic()
    # The leash is a pipe whose other end every descendant inherits: as long as it is open, somebody is still there.
    leash, held = os.pipe()
    try:
        process = subprocess.Popen(  # noqa: S603  # running the author's commands is what a gate is
            arguments,
            cwd=world,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(held,),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        os.close(leash)
        return GateResult(
            assertion=number, exit_code=None, timed_out=False, duration_ms=0, stdout="", stderr=f"not run: {error}"
        )
    finally:
        os.close(held)
    kept = (_Kept(), _Kept())
    try:
        timed_out = _wait(process, kept, leash, begun + timeout)
    finally:
        _end(process, kept, leash)
    duration = round((time.monotonic() - begun) * 1000)
    code = process.returncode
    return GateResult(
        assertion=number,
        exit_code=None if timed_out else code if code >= 0 else 128 - code,
        timed_out=timed_out,
        duration_ms=duration,
        stdout=kept[0].text(),
        stderr=kept[1].text(),
    )


def _wait(process: subprocess.Popen[bytes], kept: tuple[_Kept, _Kept], leash: int, deadline: float) -> bool:
    """Read until the shell has ended or time is up; True for the latter. Grandchildren are not waited for."""
    with selectors.DefaultSelector() as selector:
        for stream, keep in zip((process.stdout, process.stderr), kept, strict=True):
            assert stream is not None  # noqa: S101  # both are pipes
            os.set_blocking(stream.fileno(), False)
            selector.register(stream.fileno(), selectors.EVENT_READ, keep)
        selector.register(leash, selectors.EVENT_READ, None)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return not _has_ended(process)
            if not selector.get_map():
                time.sleep(min(left, _TICK_SECONDS / 10))  # the shell closed everything and is about to end
            for key, _ in selector.select(min(left, _TICK_SECONDS)) if selector.get_map() else ():
                if not _read(key.fd, key.data):
                    selector.unregister(key.fd)
            if _has_ended(process):
                return False


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether the shell has ended, without reaping it, so that its group's number can't be somebody else's yet."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    if process.returncode is not None:
        return True
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _read(fd: int, keep: _Kept | None) -> bool:
    """Take what can be read at once; False at the end of the stream."""
    try:
        data = os.read(fd, _READ)
    except BlockingIOError:
        return True
    if data and keep is not None:
        keep.add(data)
    return bool(data)


def _end(process: subprocess.Popen[bytes], kept: tuple[_Kept, _Kept], leash: int) -> None:
    """Kill the group and whatever left it, take what is in the pipes already, and reap the shell."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    _kill_escaped(leash)
    for stream, keep in zip((process.stdout, process.stderr), kept, strict=True):
        if stream is None:
            continue
        with stream, contextlib.suppress(OSError):
            os.set_blocking(stream.fileno(), False)
            # A pipe holds at most 1 MiB; a writer that got away must not keep us reading.
            for _ in range(1 << 5):
                data = os.read(stream.fileno(), _READ)
                if not data:
                    break
                keep.add(data)
    os.close(leash)


def _kill_escaped(leash: int) -> None:
    """Kill descendants that made a session of their own: those that still hold the leash (where there is /proc)."""
    for _ in range(20):
        holders = _holders(leash)
        if not holders:
            return
        for pid in holders:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _holders(leash: int) -> list[int]:
    os.set_blocking(leash, False)
    try:
        if os.read(leash, 1) == b"":
            return []  # nobody holds the other end: the usual case, without a look at /proc
    except BlockingIOError:
        pass
    pipe = f"pipe:[{os.fstat(leash).st_ino}]"
    own = os.getpgrp()
    found = []
    processes = [name for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc") else []
    for name in processes:
        with contextlib.suppress(OSError):
            pid = int(name)
            if os.getpgid(pid) == own:
                continue  # this program itself, or a process of it that another thread is just starting
            fds = f"/proc/{name}/fd"
            if any(_target(f"{fds}/{fd}") == pipe for fd in os.listdir(fds)):
                found.append(pid)
    return found


def _target(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
