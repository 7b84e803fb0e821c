"""The shell hook that links skills into a project: what it makes, what it keeps, what it says. Without Nix.

The flake's check `shell-hook` runs the produced hook on real packages; here are the many ways a project can look.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from checks.repos import Repo, init

HOOK = Path(__file__).parent / "nix" / "skills-hook.sh"
BEGIN, END = "# BEGIN agent skills", "# END agent skills"

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


class Shell:
    """A project and a store of skills, and the entering of the project's shell."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "store"
        self.root = folder / "my project"
        self.root.mkdir()
        self.said = ""

    def skill(self, name: str, *agents: str, version: str = "1") -> tuple[str, str]:
        """Put a skill into the store and return what asks the hook for it."""
        package = self.store / f"{version}-{name}"
        (package / "agents").mkdir(parents=True)
        (package / "SKILL.md").write_text(name)
        for agent in (*agents, "openai.yaml"):
            (package / "agents" / agent).write_text(f"{agent} of {name}")
        return (name, str(package))

    def enter(self, *skills: tuple[str, str], cwd: Path | None = None, code: int = 0) -> None:
        """Run the hook for these skills; `said` is what it told."""
        words = [word for skill in skills for word in skill]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.root.parent)}
        done = subprocess.run(
            ["bash", str(HOOK), str(self.store), *words],
            cwd=cwd or self.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (code, ""), done.stderr
        self.said = done.stderr

    def state(self) -> dict[str, tuple[int, int, str]]:
        """Return every path of the project with its mode, time of change, and content or target."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            status = path.lstat()
            content = os.readlink(path) if path.is_symlink() else path.read_text("latin-1") if path.is_file() else ""
            found[path.relative_to(self.root).as_posix()] = (status.st_mode, status.st_mtime_ns, content)
        return found

    def links(self) -> dict[str, str]:
        """Return every link of the project and where it leads, with the store as ``S``."""
        return {
            path: content.replace(str(self.store), "S")
            for path, (mode, _, content) in self.state().items()
            if stat.S_ISLNK(mode)
        }

    @property
    def ignore(self) -> bytes:
        """The bytes of .gitignore."""
        return (self.root / ".gitignore").read_bytes()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Make an empty project."""
    return Shell(tmp_path)


def test_everything_is_linked_and_the_second_time_nothing_changes(shell: Shell) -> None:
    """Skills for every client, agents for Claude Code, all of them in the block; then not even a time changes."""
    skills = shell.skill("alpha", "arm.md"), shell.skill("beta")
    shell.enter(*skills)
    assert shell.links() == {
        ".agents/skills/alpha": "S/1-alpha",
        ".agents/skills/beta": "S/1-beta",
        ".agents/agents/arm.md": "S/1-alpha/agents/arm.md",
        ".claude/skills": "../.agents/skills",
        ".claude/agents": "../.agents/agents",
    }
    assert (shell.root / ".claude/skills/alpha/SKILL.md").read_text() == "alpha"
    lines = shell.ignore.decode().splitlines()
    assert lines[0].startswith(BEGIN)
    assert lines[-1].startswith(END)
    assert {line.removeprefix("/") for line in lines[1:-1]} == set(shell.links())
    before = shell.state()
    shell.enter(*skills)
    assert shell.said == ""
    assert shell.state() == before


def test_git_sees_only_the_gitignore(tmp_path: Path, shell: Shell) -> None:
    """Entered from a folder inside, the links stand at the repository's top, and git ignores each of them."""
    repo: Repo = init(shell.root)
    inner = shell.root / "src" / "deep"
    inner.mkdir(parents=True)
    shell.enter(shell.skill("alpha", "arm.md"), cwd=inner)
    assert len(shell.links()) == 4
    assert list(inner.iterdir()) == []
    assert repo.git("status", "--porcelain") == "?? .gitignore"


def test_a_home_folder_under_version_control_is_no_project(shell: Shell) -> None:
    """Somebody who keeps their home folder in git does not get the skills of every project into it."""
    (shell.root.parent / ".git").mkdir()
    shell.enter(shell.skill("alpha"))
    assert ".agents/skills/alpha" in shell.links()
    assert not (shell.root.parent / ".agents").exists()


def test_an_update_moves_the_links_and_a_dropped_skill_goes(shell: Shell) -> None:
    """A new version of a skill takes the place of the old; what is no longer asked for is unlinked with its agents."""
    shell.enter(shell.skill("alpha", "arm.md"), shell.skill("beta"))
    newer = shell.skill("beta", version="2")
    shell.enter(newer)
    assert shell.said == ""
    assert shell.links() == {".agents/skills/beta": "S/2-beta", ".claude/skills": "../.agents/skills"}
    assert not (shell.root / ".agents/agents").exists()
    shell.enter()
    assert list(shell.root.iterdir()) == []


def test_a_link_whose_package_was_collected_is_replaced_and_removed(shell: Shell) -> None:
    """A dangling link of ours, after the store was cleaned, is still ours."""
    alpha, beta = shell.skill("alpha"), shell.skill("beta")
    shell.enter(alpha, beta)
    shutil.rmtree(shell.store)
    newer = shell.skill("alpha", version="2")
    shell.enter(newer)
    assert shell.links() == {".agents/skills/alpha": "S/2-alpha", ".claude/skills": "../.agents/skills"}


@pytest.mark.parametrize("make", ["file", "folder", "link", "dangling"])
@pytest.mark.parametrize("place", [".agents/skills/alpha", ".agents/agents/arm.md"])
def test_what_is_in_the_way_is_kept_and_told(shell: Shell, place: str, make: str) -> None:
    """Nothing of the project is overwritten or removed, now or when the skill is dropped; the rest is linked."""
    path = shell.root / place
    path.parent.mkdir(parents=True)
    (shell.root / "elsewhere").mkdir()
    if make == "file":
        path.write_text("mine")
    elif make == "folder":
        path.mkdir()
    else:
        path.symlink_to(shell.root / ("elsewhere" if make == "link" else "nowhere"))
    mine = shell.state()[place]
    alpha, beta = shell.skill("alpha", "arm.md"), shell.skill("beta")
    for skills in ((alpha, beta), (alpha, beta), (beta,), ()):
        shell.enter(*skills)
        assert shell.state()[place] == mine
        assert f"/{place}" not in (shell.ignore.decode() if skills else "").splitlines()
        if alpha in skills:
            assert f"skills: {place} is " in shell.said
            assert "left alone" in shell.said
        assert (".agents/skills/beta" in shell.links()) == (beta in skills)


def test_a_claude_folder_of_the_project_is_kept_and_linked_inside(shell: Shell) -> None:
    """Where .claude/skills and .claude/agents are there already, their files stay and ours stand beside them."""
    for path in (".claude/skills/mine/SKILL.md", ".claude/agents/mine.md", ".claude/skills/beta/SKILL.md"):
        (shell.root / path).parent.mkdir(parents=True, exist_ok=True)
        (shell.root / path).write_text("mine")
    skills = shell.skill("alpha", "arm.md"), shell.skill("beta")
    shell.enter(*skills)
    assert ".claude/skills is a folder of the project: kept as it is" in shell.said
    assert ".claude/agents is a folder of the project: kept as it is" in shell.said
    assert "skills: .claude/skills/beta is there already and was not made here: left alone" in shell.said
    links = shell.links()
    assert links[".claude/skills/alpha"] == "S/1-alpha"
    assert links[".claude/agents/arm.md"] == "S/1-alpha/agents/arm.md"
    assert ".claude/skills/beta" not in links
    before = shell.state()
    shell.enter(*skills)
    assert shell.state() == before
    shell.enter()
    left = {path for path, (mode, _, _) in shell.state().items() if not stat.S_ISDIR(mode)}
    assert left == {".claude/skills/mine/SKILL.md", ".claude/agents/mine.md", ".claude/skills/beta/SKILL.md"}


@pytest.mark.parametrize("make", ["file", "dangling"])
def test_a_claude_skills_that_is_no_folder_is_kept_and_told(shell: Shell, make: str) -> None:
    """A file, or a link that leads nowhere, where .claude/skills would be: told, and the skills are in .agents."""
    (shell.root / ".claude").mkdir()
    path = shell.root / ".claude/skills"
    path.write_text("mine") if make == "file" else path.symlink_to("nowhere")
    mine = shell.state()[".claude/skills"]
    shell.enter(shell.skill("alpha"))
    assert "skills: .claude/skills is " in shell.said
    assert shell.state()[".claude/skills"] == mine
    assert ".agents/skills/alpha" in shell.links()


def test_the_project_may_arrange_its_folders_by_links(shell: Shell) -> None:
    """A project's own link between the two folders, in either direction, is used, never listed and never removed."""
    for link, target, folder in (
        (".claude/skills", "../.agents/skills", ".agents/skills"),
        (".agents/skills", "../.claude/skills", ".claude/skills"),
        (".claude", ".agents", ".agents/skills"),
    ):
        (shell.root / folder).mkdir(parents=True)
        (shell.root / folder / "keep").write_text("")
        (shell.root / link).parent.mkdir(exist_ok=True)
        (shell.root / link).symlink_to(target)
        alpha = shell.skill("alpha", version=link.replace("/", ""))
        for skills in ((alpha,), (alpha,), ()):
            shell.enter(*skills)
            assert shell.said == ""
            assert os.readlink(shell.root / link) == target
            assert (shell.root / folder / "alpha").is_symlink() == bool(skills)
            assert (shell.root / link / ("skills/alpha" if link == ".claude" else "alpha")).exists() == bool(skills)
            assert not (shell.root / ".gitignore").exists() or f"/{link}\n".encode() not in shell.ignore
        shutil.rmtree(shell.root)
        shell.root.mkdir()


@pytest.mark.parametrize("link", [".agents", ".agents/skills", ".claude", ".claude/skills"])
def test_nothing_is_linked_outside_the_project(tmp_path: Path, shell: Shell, link: str) -> None:
    """A folder that leads out of the project is named, and nothing appears where it leads."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (shell.root / link).parent.mkdir(exist_ok=True)
    (shell.root / link).symlink_to(outside)
    shell.enter(shell.skill("alpha"))
    assert "leads out of the project" in shell.said
    assert [path for path in outside.rglob("*") if not path.is_dir()] == []


def test_a_folder_that_the_project_makes_of_our_link_is_theirs(shell: Shell) -> None:
    """.claude/skills was our link and is now a folder, then our link again: nothing of either is lost."""
    alpha = shell.skill("alpha")
    shell.enter(alpha)
    (shell.root / ".claude/skills").unlink()
    (shell.root / ".claude/skills").mkdir()
    shell.enter(alpha)
    assert shell.links() == {".agents/skills/alpha": "S/1-alpha", ".claude/skills/alpha": "S/1-alpha"}
    shutil.rmtree(shell.root / ".claude/skills")
    shell.enter(alpha)
    assert shell.links() == {".agents/skills/alpha": "S/1-alpha", ".claude/skills": "../.agents/skills"}
    assert b"/.claude/skills/alpha" not in shell.ignore


# -- .gitignore --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "before",
    [b"", b"dist/\n", b"dist/", b"dist/\r\n*.pyc\r\n", b"dist/\r\n*.pyc", b"\n\n", b"caf\xe9\n", b"\\#a\\ \n!b\n\t\n"],
)
def test_the_rest_of_gitignore_stays_byte_for_byte(shell: Shell, before: bytes) -> None:
    """Whatever it holds, without a last line end, with CRLF, no UTF-8: the block is added, found again and removed."""
    (shell.root / ".gitignore").write_bytes(before)
    shell.enter(shell.skill("alpha"))
    assert shell.ignore.startswith(before)
    end = b"\r\n" if b"\r\n" in before else b"\n"
    block = shell.ignore[len(before) :].removeprefix(end if before and not before.endswith(b"\n") else b"")
    assert block.startswith(BEGIN.encode())
    assert block.endswith(END.encode() + end)
    assert set(block.removesuffix(end).split(end)[1:-1]) == {b"/.agents/skills/alpha", b"/.claude/skills"}
    with (shell.root / ".gitignore").open("ab") as file:
        file.write(b"later" + end)
    shell.enter()
    line_end = end if before and not before.endswith(b"\n") else b""
    assert shell.ignore == before + line_end + b"later" + end


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"a\n{BEGIN}\n/dist\n", "a BEGIN mark without its END"),
        (f"a\n{END}\n", "an END mark without its BEGIN"),
        (f"{BEGIN}\n{BEGIN}\n{END}\n", "a second BEGIN mark"),
        (f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n", "a second BEGIN mark"),
        (f"{BEGIN}\n/.agents/skills/old\n{END}\n{END}\n", "an END mark without its BEGIN"),
        ("a\0b\n", "can't be read as text"),
    ],
)
def test_a_block_that_is_not_whole_is_left_alone_and_told(shell: Shell, text: str, reason: str) -> None:
    """A torn, doubled or unreadable block is never guessed at: the file stays, the skills are linked, it is said."""
    (shell.root / ".gitignore").write_text(text)
    (shell.root / ".agents/skills").mkdir(parents=True)
    (shell.root / ".agents/skills/old").symlink_to(shell.store / "1-old")
    shell.enter(shell.skill("alpha"))
    assert reason in shell.said
    assert "left alone" in shell.said
    assert shell.ignore == text.encode()
    assert set(shell.links()) == {".agents/skills/alpha", ".agents/skills/old", ".claude/skills"}


@pytest.mark.parametrize("make", ["link", "folder"])
def test_a_gitignore_that_is_no_plain_file_is_left_alone(shell: Shell, make: str) -> None:
    """Git does not follow such a link either; a folder of that name is somebody's mistake, not ours to mend."""
    path = shell.root / ".gitignore"
    path.mkdir() if make == "folder" else path.symlink_to("elsewhere")
    shell.enter(shell.skill("alpha"))
    assert "is not a plain file: left alone" in shell.said
    assert path.is_dir() if make == "folder" else os.readlink(path) == "elsewhere"
    assert not (shell.root / "elsewhere").exists()


def test_a_block_speaks_only_of_our_links(tmp_path: Path, shell: Shell) -> None:
    """A .gitignore is anybody's work: what its block lists is removed only where it is a link of ours in here."""
    (tmp_path / "precious").symlink_to(shell.store / "1-x")
    for name in ("file", "folder/inner"):
        (shell.root / name).parent.mkdir(exist_ok=True)
        (shell.root / name).write_text("mine")
    (shell.root / "link").symlink_to("file")
    (shell.root / "away").symlink_to(tmp_path)
    entries = [
        "/../precious",
        "/away/precious",
        "/file",
        "/folder",
        "/link",
        f"/{tmp_path}/precious",
        "",
        "/",
        "*",
        "-rf",
    ]
    (shell.root / ".gitignore").write_text("\n".join([BEGIN, *entries, END, ""]))
    shell.enter()
    assert (tmp_path / "precious").is_symlink()
    assert set(shell.state()) == {"file", "folder", "folder/inner", "link", "away"}


def test_permissions_stay(shell: Shell) -> None:
    """The file keeps its mode when it is written anew, and nothing else is left beside it."""
    (shell.root / ".gitignore").write_text("a\n")
    (shell.root / ".gitignore").chmod(0o640)
    shell.enter(shell.skill("alpha"))
    assert stat.S_IMODE((shell.root / ".gitignore").stat().st_mode) == 0o640
    assert sorted(path.name for path in shell.root.iterdir()) == [".agents", ".claude", ".gitignore"]


# -- what is asked for -------------------------------------------------------------------------------------------------


def test_a_package_that_is_no_skill_is_told(shell: Shell) -> None:
    """A derivation without SKILL.md is named and passed over; the others are linked."""
    shell.store.mkdir()
    shell.enter(("empty", str(shell.store / "1-empty")), shell.skill("alpha"))
    assert "skills: empty: no SKILL.md in" in shell.said
    assert set(shell.links()) == {".agents/skills/alpha", ".claude/skills"}


def test_two_skills_with_one_agent(shell: Shell) -> None:
    """The first skill that brings an agent has it, each time the same; the second is told, not silently replaced."""
    skills = shell.skill("alpha", "arm.md"), shell.skill("beta", "arm.md")
    for _ in range(2):
        shell.enter(*skills)
        assert "skills: .agents/agents/arm.md: two skills bring it" in shell.said
        assert shell.links()[".agents/agents/arm.md"] == "S/1-alpha/agents/arm.md"


def test_a_project_that_cant_be_written_to_is_told_in_words(shell: Shell) -> None:
    """A file where a folder is needed: a sentence, no trace of the shell's own errors, and the shell is entered."""
    (shell.root / ".agents").write_text("a file")
    shell.enter(shell.skill("alpha"))
    assert shell.said == "skills: .agents/skills can't be made: nothing is linked in it\n"
    assert sorted(path.name for path in shell.root.iterdir()) == [".agents"]


def test_two_shells_at_once(shell: Shell) -> None:
    """Two terminals opened together leave one whole block."""
    skills = shell.skill("alpha", "arm.md"), shell.skill("beta")
    words = [word for skill in skills for word in skill]
    command = ["bash", str(HOOK), str(shell.store), *words]
    running = [subprocess.Popen(command, cwd=shell.root, stderr=subprocess.DEVNULL) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    assert shell.ignore.count(BEGIN.encode()) == shell.ignore.count(END.encode()) == 1
    shell.enter(*skills)
    assert shell.said == ""
    assert len(shell.links()) == 5
    assert sorted(path.name for path in shell.root.iterdir()) == [".agents", ".claude", ".gitignore"]
