"""Real git repositories in a temporary folder, for the tests that need one."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

SKILL = "skills/group/x"
TEXT = "---\nname: x\ndescription: does x\n---\nFirst line.\nSecond line.\n"

# The outer environment of the tests' own git calls: nobody's configuration, fixed authors and times.
_ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    "GIT_ALLOW_PROTOCOL": "file",
}


class Repo:
    """A working tree under git at `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def git(self, *args: str, data: bytes | None = None) -> str:
        """Run git here and return what it prints; an exit code that is not 0 fails the test with what git said."""
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *args],
            cwd=self.root,
            env=_ENVIRONMENT,
            input=data or b"",
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode(errors="surrogateescape").strip()

    def write(self, path: str, content: str | bytes = TEXT, *, mode: int = 0o644) -> Path:
        """Write a file and make its folders."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        place.chmod(mode)
        return place

    def commit(self, message: str = "change") -> str:
        """Commit everything that is not ignored and return the commit."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def clone(self, to: Path, *options: str) -> Repo:
        """Clone into `to` through the file transport, as over a network."""
        self.git("clone", "-q", *options, f"file://{self.root}", str(to))
        return Repo(to)

    def state(self) -> dict[str, str]:
        """Return every file below the root, git's own among them: its kind, mode, times and content."""
        found = {}
        for folder, folders, files in os.walk(self.root):
            for name in [*folders, *files]:
                place = Path(folder) / name
                status = os.lstat(place)
                content = ""
                if place.is_symlink():
                    content = os.readlink(place)
                elif place.is_file():
                    content = hashlib.sha256(place.read_bytes()).hexdigest()
                times = (status.st_mtime_ns, status.st_ctime_ns)
                found[str(place.relative_to(self.root))] = f"{status.st_mode:o} {times} {content}"
        return found


def init(root: Path, branch: str = "main") -> Repo:
    """Make an empty repository whose first branch is `branch`."""
    root.mkdir(parents=True, exist_ok=True)
    repo = Repo(root)
    repo.git("init", "-q", "-b", branch)
    return repo


def with_skill(root: Path, branch: str = "main") -> Repo:
    """Make a repository with one committed skill: SKILL.md, a script, a reference."""
    repo = init(root, branch)
    repo.write(f"{SKILL}/SKILL.md")
    repo.write(f"{SKILL}/scripts/run.sh", "#!/bin/sh\necho hello\n", mode=0o755)
    repo.write(f"{SKILL}/references/notes.md", "# Notes\nOne.\n")
    repo.commit("a skill")
    return repo
