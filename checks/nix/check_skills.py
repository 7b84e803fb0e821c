"""Tells whether packaged skills are valid by the Agent Skills specification and hold the skill's files and no others.

``check_skills.py SOURCE NAME=PACKAGE…``: SOURCE is the folder ``skills/``. Prints every problem and ends with 1 where
there is one. Run by the flake's check ``skills``, and by a test on the folders themselves.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
#: key -> the longest value; a text each. `metadata` apart: a mapping of texts.
SPECIFIED = {"name": 64, "description": 1024, "license": None, "compatibility": 500, "allowed-tools": None}
#: What Claude Code reads besides. Other clients pass it over.
CLIENT = {"argument-hint", "disable-model-invocation"}
#: Names that only tests and their data have.
TESTS = re.compile(r"tests?|fixtures?|case\.md|conftest\.py|test_.*\.py|.*_test\.py|\.reports|__pycache__")
LAUNCHER = "scripts/skillbench"


def file_problems(text: str, folder: str) -> Iterator[str]:
    """Yield what is wrong with a SKILL.md, by the specification, for a skill in a folder of this name."""
    parts = re.split(r"^---[ \t]*$", text, maxsplit=2, flags=re.MULTILINE)
    if len(parts) != 3 or parts[0].strip():
        yield "no front matter between two lines ---"
        return
    try:
        matter = yaml.safe_load(parts[1])
    except yaml.YAMLError as error:
        yield f"the front matter is no YAML: {error}"
        return
    if isinstance(matter, Mapping):
        yield from matter_problems(matter, folder)
    else:
        yield "the front matter is no mapping"
    if not parts[2].strip():
        yield "nothing after the front matter"


def matter_problems(matter: Mapping[object, object], folder: str) -> Iterator[str]:
    """Yield what is wrong with a skill's front matter: a missing, unknown or wrong key, a name not the folder's."""
    for required in ("name", "description"):
        if not str(matter.get(required) or "").strip():
            yield f"no {required}"
    for key, value in matter.items():
        if key in SPECIFIED:
            yield from text_problems(str(key), value)
        elif key == "metadata":
            texts = [*value, *value.values()] if isinstance(value, Mapping) else [None]
            if not all(isinstance(text, str) for text in texts):
                yield "metadata is no mapping of texts to texts"
        elif key not in CLIENT:
            yield f'unknown key "{key}"'
    name = matter.get("name")
    if isinstance(name, str) and not NAME.fullmatch(name):
        yield f'name "{name}"; expected a-z, 0-9 and single hyphens between them'
    if name != folder:
        yield f'name "{name}"; expected the folder\'s, "{folder}"'


def text_problems(key: str, value: object) -> Iterator[str]:
    """Yield what is wrong with the value of a key that the specification gives a text and perhaps a longest length."""
    longest = SPECIFIED[key]
    if not isinstance(value, str):
        yield f"{key} is {value!r}; expected a text"
    elif longest is not None and len(value) > longest:
        yield f"{key} has {len(value)} characters; expected at most {longest}"


def content(folder: Path) -> dict[str, tuple[bool, bytes]]:
    """Return every file and link below a folder: is it executable, and its bytes or where it leads."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = (False, os.fsencode(os.readlink(path)))
        elif path.is_file():
            found[name] = (bool(path.stat().st_mode & stat.S_IXUSR), path.read_bytes())
    return found


def package_problems(package: Path, source: Path) -> Iterator[str]:
    """Yield how a package differs from the folder it is made of, a bound launcher apart, and which tests are in it."""
    for path in sorted(package.rglob("*")):
        if TESTS.fullmatch(path.name):
            yield f"{path.relative_to(package)}: tests and their data are never packaged"
    got, want = content(package), content(source)
    if LAUNCHER in want and package.resolve() != source.resolve():
        executable, data = want[LAUNCHER]
        bound = re.search(rb"^bundled='(/.+/bin/skillbench)'$", got.get(LAUNCHER, (False, b""))[1], re.MULTILINE)
        if bound is None:
            yield f"{LAUNCHER}: not bound to a program"
        else:
            want[LAUNCHER] = (executable, data.replace(b"@skillbench@", bound[1], 1))
    for name in sorted(got.keys() | want.keys()):
        if name not in want:
            yield f"{name}: not a file of the skill"
        elif name not in got:
            yield f"{name}: missing in the package"
        elif got[name] != want[name]:
            yield f"{name}: not as in the skill"


def main(source: Path, packages: Mapping[str, Path]) -> list[str]:
    """Return every problem of these packages (by name) and of the skills of `source` that have none."""
    folders = {file.parent.name: file.parent for file in source.rglob("SKILL.md")}
    problems = [f"{name}: a skill without a package" for name in sorted(folders.keys() - packages.keys())]
    for name, package in packages.items():
        if name not in folders:
            problems.append(f"{name}: a package without a skill")
            continue
        found = [f"SKILL.md: {problem}" for problem in file_problems((package / "SKILL.md").read_text("utf-8"), name)]
        problems += [f"{name}: {problem}" for problem in (*found, *package_problems(package, folders[name]))]
    return problems


if __name__ == "__main__":
    told = main(Path(sys.argv[1]), {name: Path(path) for name, path in (word.split("=", 1) for word in sys.argv[2:])})
    for line in told or [f"{len(sys.argv) - 2} skills are valid and packaged as they are"]:
        print(line, file=sys.stderr if told else sys.stdout)
    sys.exit(bool(told))
