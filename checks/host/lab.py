"""Runs one real Claude Code client against the scripted model server, cut off from every network but loopback.

`Lab` is a client's whole machine in one folder: home, work, temp folder, and what the server wrote. `Lab.run` starts
this file again as a program inside a private network namespace in which only ``lo`` is up; the server is a thread of it
and the client its child, with an environment made from nothing. Nothing talks to a model.

The server is a file of the laboratory material beside the repository; the client comes from the npm registry (400 MB,
once, into a cache outside the repository). `UnavailableError` says which is not to be had, and tests skip with that.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from filelock import FileLock

ROOT = Path(__file__).resolve().parent.parent.parent
VERSION = "2.1.332"
PACKAGE = "@anthropic-ai/claude-code-linux-x64"
CACHE_VARIABLE = "SKILLBENCH_CLIENT_CACHE"
_SERVER = ROOT.parent / "shared" / "lab" / "fake" / "server.py"
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1
# Settings that an administrator of this machine may have put there would reach the client as well.
_MACHINE_SETTINGS = Path("/etc/claude-code")


class UnavailableError(Exception):
    """Something that the lab needs is not to be had here; the message says what."""


class Outcome(NamedTuple):
    """How a client ended. `returncode` is negative for a signal; `timed_out`: it was stopped after its time."""

    returncode: int
    stdout: str
    stderr: str
    timed_out: bool


def client() -> Path:
    """Return the client's binary, installed on first use. Raises UnavailableError."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise UnavailableError("the client's package is for Linux on x86-64")
    home = os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache" / "pytest-skillbench"
    cache = Path(home) / f"claude-code-{VERSION}"
    binary = cache / "node_modules" / PACKAGE / "claude"
    if binary.exists():
        return binary
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError("npm is not installed")
    cache.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(cache.with_suffix(".lock")):
        if not binary.exists():
            fresh = cache.with_suffix(".new")
            shutil.rmtree(fresh, ignore_errors=True)
            options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(fresh)]
            done = subprocess.run(
                [npm, "install", *options, f"{PACKAGE}@{VERSION}"], capture_output=True, text=True, timeout=900
            )
            if done.returncode or not (fresh / "node_modules" / PACKAGE / "claude").exists():
                raise UnavailableError(f"npm can't install {PACKAGE}@{VERSION}: {done.stderr.strip()[-300:]}")
            shutil.rmtree(cache, ignore_errors=True)
            fresh.rename(cache)
    return binary


def namespace() -> list[str]:
    """Return the command that starts a program in a private network. Raises UnavailableError."""
    if shutil.which("unshare") is None:
        raise UnavailableError("unshare is not installed")
    command = ["unshare", "--net", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    probe = subprocess.run([*command, "true"], capture_output=True, text=True, timeout=60)
    if probe.returncode:
        raise UnavailableError(f"no private network to be had here: {probe.stderr.strip()[-200:]}")
    return command


def server_source() -> Path:
    """Return the scripted server's file. Raises UnavailableError."""
    if not _SERVER.is_file():
        raise UnavailableError("the scripted model server is not beside this repository")
    return _SERVER


class Lab:
    """One client's machine in `folder`. Runs may follow each other in it, as a user starts a client again."""

    def __init__(self, folder: Path) -> None:
        self.binary = client()
        self.unshare = namespace()
        self.folder = folder
        self.home, self.work, self.temp = folder / "home", folder / "work", folder / "tmp"
        self.server = folder / "server"
        for part in (self.home, self.work, self.temp, self.server):
            part.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(server_source(), folder / "server.py")
        self.runs = 0

    def run(
        self,
        *arguments: str,
        scenario: msgspec.Struct | None = None,
        path: Sequence[Path] = (),
        env: Mapping[str, str] | None = None,
        timeout: float = 300,
        policy: Path | None = None,
    ) -> Outcome:
        """Start the client with `arguments` in the work folder and wait for its end, at most `timeout` seconds.

        `path` are folders to put before the PATH, `env` is added to the client's environment, `policy`
        is the file that plays the model, ours where none is named. Raises RuntimeError where the model did not know
        what to answer.
        """
        self.runs += 1
        spec = self.folder / f"run-{self.runs}.json"
        faults = self.folder / f"scenario-{self.runs}.json"
        faults.write_bytes(msgspec.json.encode(scenario) if scenario is not None else b"{}")
        spec.write_text(
            json.dumps(
                {
                    "command": [str(self.binary), *arguments],
                    "scenario": str(faults),
                    "path": [str(folder) for folder in path],
                    "env": dict(env or {}),
                    "timeout": timeout,
                    "policy": str(policy or Path(__file__).with_name("policy.py")),
                }
            )
        )
        inner = [*self.unshare, sys.executable, "-m", "checks.host.lab", str(self.folder), str(spec)]
        done = subprocess.run(inner, cwd=ROOT, capture_output=True, text=True, timeout=timeout + 60)
        if done.returncode:
            raise RuntimeError(f"the lab itself failed: {done.stderr[-2000:]}")
        errors = self.server / "policy_errors.jsonl"
        if errors.exists():
            raise RuntimeError(f"the model did not know what to answer: {errors.read_text()[:2000]}")
        end = json.loads(done.stdout.splitlines()[-1])
        out, err = ((self.folder / name).read_text(errors="replace") for name in ("stdout", "stderr"))
        return Outcome(end["returncode"], out, err, end["timed_out"])

    def ledger(self) -> list[dict[str, Any]]:
        """Return one entry a response that the server delivered, in all runs: id, usage, label, session, agent."""
        file = self.server / "ledger.jsonl"
        lines = file.read_text().split("\n") if file.exists() else []
        return [json.loads(line) for line in lines if line]

    def requests(self) -> list[dict[str, Any]]:
        """Return every request as the server received it, in order."""
        return [json.loads(file.read_text()) for file in sorted((self.server / "requests").glob("*.json"))]

    def transcripts(self) -> list[Path]:
        """Return the client's transcripts, main sessions and subagents."""
        return sorted((self.home / ".claude" / "projects").rglob("*.jsonl"))


# -- inside the namespace ---------------------------------------------------------------------------------------------


def _inside(folder: Path, spec: dict[str, Any]) -> dict[str, Any]:
    """Start server and client, wait, stop both, and return how the client ended."""
    _loopback()
    if _MACHINE_SETTINGS.is_dir():
        subprocess.run(["mount", "-t", "tmpfs", "none", str(_MACHINE_SETTINGS)], check=True)
    os.environ |= {"SKILLBENCH_SCENARIO": spec["scenario"], "LAB_WORK": str(folder / "work")}
    module = _load_server(folder / "server.py")
    state = module.State(folder / "server", Path(spec["policy"]))
    state.n = len(list((folder / "server" / "requests").glob("*.json")))  # a later run adds to the same ledger
    state.toolid = 10_000 * state.n
    module.Handler.st = state

    class Server(module.Server):  # type: ignore[misc, name-defined]  # the server's module has no types
        daemon_threads = False  # closing waits for answers that are under way, so the ledger is whole

    server = Server(("127.0.0.1", 0), module.Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        return _client(folder, spec, f"http://127.0.0.1:{server.server_address[1]}", state.policy)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _client(folder: Path, spec: dict[str, Any], url: str, policy: Any) -> dict[str, Any]:
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        process = subprocess.Popen(
            spec["command"],
            cwd=folder / "work",
            env=_environment(folder, spec, url),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )

        def kill() -> None:
            os.killpg(process.pid, signal.SIGKILL)

        policy.kill_client = kill
        timed_out = False
        try:
            process.wait(spec["timeout"])
        except subprocess.TimeoutExpired:
            timed_out = True
        with contextlib.suppress(ProcessLookupError):
            kill()  # also what it may have left behind in its group
        return {"returncode": process.wait(), "timed_out": timed_out}


def _environment(folder: Path, spec: dict[str, Any], url: str) -> dict[str, str]:
    return {
        "PATH": os.pathsep.join([*spec["path"], "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "SHELL": "/bin/bash",
        "NO_PROXY": "127.0.0.1",
        "IS_SANDBOX": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "CLAUDE_CONFIG_DIR": str(folder / "home" / ".claude"),
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        **spec["env"],
    }


def _load_server(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location("server", file)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["server"] = module  # by this name the policy imports it
    spec.loader.exec_module(module)
    return module


def _loopback() -> None:
    """Set ``lo`` up, as ``ip link set lo up`` does, where there is no iproute2."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(control, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


if __name__ == "__main__":
    print(json.dumps(_inside(Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text()))))
