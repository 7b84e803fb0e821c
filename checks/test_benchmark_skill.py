"""The distributed skill: its text, its agents, its launcher, and the references that authors rely on."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pytest_skillbench import casefile, formats, install, settings
from pytest_skillbench.model import Narrative, Settings

SKILL = Path(__file__).resolve().parent.parent / "skills" / "benchmark-skill"
TEXT = (SKILL / "SKILL.md").read_text()
LAUNCHER = SKILL / "scripts" / "skillbench"
FENCE = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


def front_matter(file: Path) -> dict[str, object]:
    """Return a Markdown file's front matter."""
    head = file.read_text().split("---\n")[1]
    found = yaml.safe_load(head)
    assert isinstance(found, dict)
    return found


def fences(name: str, info: str) -> list[str]:
    """Return the contents of the outermost fences of a reference with this info string."""
    return [match[3] for match in FENCE.finditer((SKILL / "references" / name).read_text()) if match[2] == info]


# -- the text ---------------------------------------------------------------------------------------------------------


def test_it_is_only_run_deliberately() -> None:
    """No client offers it to the model by itself, and each has its own way of saying so."""
    matter = front_matter(SKILL / "SKILL.md")
    assert matter["name"] == "benchmark-skill" == SKILL.name
    assert matter["disable-model-invocation"] is True
    assert matter["argument-hint"] == "[--scorecard] [skill …]"
    assert len(str(matter["description"])) < 300
    openai = yaml.safe_load((SKILL / "agents/openai.yaml").read_text())
    assert openai["policy"] == {"allow_implicit_invocation": False}


def test_its_permissions_cover_its_agents() -> None:
    """Whatever tool an arm or a judge has is among those that the skill allows, so that no question stops a run."""
    allowed = set(re.split(r",\s*", str(front_matter(SKILL / "SKILL.md")["allowed-tools"])))
    for name in install.AGENTS:
        tools = set(re.split(r",\s*", str(front_matter(SKILL / f"agents/{name}.md")["tools"])))
        assert tools <= allowed
        assert not tools & {"Agent", "Task", "WebFetch", "WebSearch"}
        # Only a probe is offered skills, and it can change nothing.
        assert tools == {"Skill", "Read"} if name == "skillbench-probe" else "Skill" not in tools
    assert {"Bash", "Agent", "Write"} <= allowed


def test_the_text_is_short_and_injects_nothing() -> None:
    """No shell injection, one place for arguments, and a size that does not weigh on the conversation."""
    assert "!`" not in TEXT
    assert TEXT.count("$ARGUMENTS") == 1
    assert not re.search(r"\$\d", TEXT)
    assert len(TEXT) < 5_000


def test_every_link_leads_somewhere() -> None:
    """Files that the skill points at are in it, and none of its references is left unmentioned."""
    linked = set()
    for file in (SKILL / "SKILL.md", *(SKILL / "references").iterdir()):
        for target in re.findall(r"\]\(([^)#]+)\)", file.read_text()):
            place = (file.parent / target).resolve()
            assert place.is_file(), f"{file.name}: {target}"
            linked.add(place)
    assert {path.resolve() for path in (SKILL / "references").iterdir()} <= linked


def test_the_agents_say_nothing_of_a_benchmark() -> None:
    """What an arm or a judge is told before its task must not give the experiment away, nor favour any output."""
    for name in install.AGENTS:
        text = (SKILL / f"agents/{name}.md").read_text()
        body = text.split("---\n", 2)[2]
        assert not re.search(r"bench|skill|test|baseline|experiment|evaluat|compar(?!e two)", body, re.IGNORECASE), name
        assert front_matter(SKILL / f"agents/{name}.md")["omitClaudeMd"] is True
        assert front_matter(SKILL / f"agents/{name}.md")["model"] == "inherit"


# -- the references ---------------------------------------------------------------------------------------------------


def test_the_example_case_is_one() -> None:
    """The case that authors copy parses, and means what the text around it says."""
    case = casefile.parse(fences("case-format.md", "markdown")[0].encode(), "case.md")
    assert case.tags == ("smoke", "p0")
    assert [assertion.title for assertion in case.assertions] == ["the review was written", "it is about the crash"]
    assert len(case.criteria) == 3


def test_the_examples_of_sections_parse() -> None:
    """The fenced prompt and the seed conversation are read as the text says."""
    prompt, seed = fences("case-format.md", "markdown")[1:]
    head, tail = "---\ndescription: x\n---\n", "## Soft criteria\n- one\n"
    assert casefile.parse(f"{head}{prompt}{tail}".encode(), "x").prompt.endswith("## Monday\nShip it.")
    turns = casefile.parse(f"{head}## Prompt\nHi\n{seed}{tail}".encode(), "x").seed_turns
    assert [turn.role for turn in turns] == ["user", "assistant", "user"]


def test_every_setting_is_described_with_its_default(tmp_path: Path) -> None:
    """The table of skillbench.yaml has each key once, and the defaults in it are the program's."""
    text = (SKILL / "references/case-format.md").read_text().split("## skillbench.yaml")[1]
    rows = dict(re.findall(r"^\| `(\w+)` \| `([^`]*)` \|", text, re.MULTILINE))
    assert set(rows) == set(Settings.__struct_fields__)
    for key, default in rows.items():
        file = tmp_path / f"{key}.yaml"
        file.write_text(f"{key}: {default}\n")
        assert settings.load(file, key, Settings(), repo=key.endswith("_root")) == Settings(), key


def test_the_example_narrative_is_one() -> None:
    """What the agent is shown as a narrative is read by the reader of narratives."""
    narrative = formats.decode(fences("narrative.md", "json")[0].encode(), Narrative, "narrative.json")
    assert [sentence.about for sentence in narrative.sentences] == ["headline", "buried-breaking-change"]


# -- the launcher -----------------------------------------------------------------------------------------------------

ECHO = "#!/bin/sh\nprintf '%s|' '{name}' \"$@\"\n"


def put(place: Path, name: str) -> Path:
    """Write a program that says its name and its arguments."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(ECHO.format(name=name))
    place.chmod(0o755)
    return place


def launch(cwd: Path, *path: Path, launcher: Path = LAUNCHER) -> subprocess.CompletedProcess[str]:
    """Run the launcher with two awkward arguments and nothing on the PATH but `path` and the system's tools."""
    tools = cwd / ".tools"
    tools.mkdir(exist_ok=True)
    for tool in ("grep", "cat"):
        if not (tools / tool).exists():
            (tools / tool).symlink_to(str(shutil.which(tool)))
    env = {"PATH": os.pathsep.join(map(str, [*path, tools]))}
    shell = str(shutil.which("sh"))
    return subprocess.run(
        [shell, str(launcher), "a b", "$(c)"], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=20
    )


def test_the_path_comes_first_then_the_repository(tmp_path: Path) -> None:
    """A program on the PATH wins over the repository's environment, which is found from any folder inside."""
    repo, inner = tmp_path / "repo", tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    (repo / ".git").mkdir()
    put(repo / ".venv/bin/skillbench", "venv")
    assert launch(inner).stdout == "venv|a b|$(c)|"
    put(tmp_path / "bin/skillbench", "path")
    assert launch(inner, tmp_path / "bin").stdout == "path|a b|$(c)|"


def test_an_environment_above_the_repository_is_not_ours(tmp_path: Path) -> None:
    """What somebody put into a folder above the repository is not started."""
    repo = tmp_path / "repo"
    (repo / ".git").mkdir(parents=True)
    put(tmp_path / ".venv/bin/skillbench", "foreign")
    assert launch(repo).returncode == 127


def test_it_never_starts_itself(tmp_path: Path) -> None:
    """Copies of the launcher on the PATH, and links to it, are passed over; without the program it ends with 127."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    shutil.copy(LAUNCHER, tmp_path / "one/skillbench")
    (tmp_path / "two/skillbench").symlink_to(LAUNCHER)
    done = launch(tmp_path, tmp_path / "one", tmp_path / "two", launcher=tmp_path / "one/skillbench")
    assert done.returncode == 127
    assert "pip install pytest-skillbench" in done.stderr
    put(tmp_path / "three/skillbench", "real")
    assert launch(tmp_path, tmp_path / "one", tmp_path / "two", tmp_path / "three").stdout == "real|a b|$(c)|"


def test_the_bundled_copy_and_the_runners(tmp_path: Path) -> None:
    """A distribution fills in its own copy; else uvx or pipx fetch the package, in this order."""
    bundled = put(tmp_path / "store/skillbench", "store")
    launcher = tmp_path / "launcher"
    launcher.write_text(LAUNCHER.read_text().replace("@skillbench@", str(bundled)))
    assert launch(tmp_path, launcher=launcher).stdout == "store|a b|$(c)|"
    put(tmp_path / "pipx/pipx", "pipx")
    assert launch(tmp_path, tmp_path / "pipx").stdout == "pipx|run|--spec|pytest-skillbench|skillbench|a b|$(c)|"
    put(tmp_path / "uv/uvx", "uvx")
    done = launch(tmp_path, tmp_path / "pipx", tmp_path / "uv")
    assert done.stdout == "uvx|--from|pytest-skillbench|skillbench|a b|$(c)|"


def test_folders_and_plain_files_named_like_it_are_no_program(tmp_path: Path) -> None:
    """A folder or a file that may not be executed does not end the search, and no PATH at all is survived."""
    (tmp_path / "bin/skillbench").mkdir(parents=True)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/skillbench").write_text("text")
    assert launch(tmp_path, tmp_path / "bin", tmp_path / "lib").returncode == 127
    done = subprocess.run(
        [str(shutil.which("sh")), str(LAUNCHER)], cwd=tmp_path, env={}, capture_output=True, check=False, timeout=20
    )
    assert done.returncode == 127 or b"usage: skillbench" in done.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_it_runs_in_bash_as_well(tmp_path: Path) -> None:
    """The same answers in another shell than the system's sh."""
    put(tmp_path / "bin/skillbench", "path")
    done = subprocess.run(
        [str(shutil.which("bash")), "--posix", str(LAUNCHER), json.dumps("x")],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == 'path|"x"|'


def test_the_real_program_is_reached() -> None:
    """From this repository, with its environment on the PATH, the launcher ends at the program itself."""
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    done = subprocess.run([str(LAUNCHER), "--version"], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("pytest-skillbench ")
