"""A tool call of any client -> the paths that it touches, and what to show of it.

Core: tables and look-ups over untrusted input. Tools are known by name (case is nothing); of a tool that is not known,
every argument that is spelled as an absolute path counts.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from .model import Value
from .observed import ToolUse
from .touch import Touch, absolute
from .touches import of_command

_SHELL = {"bash", "shell", "exec_command", "run_shell_command", "local_shell", "container.exec", "terminal"}
_READ = {"read", "read_file", "readfile", "notebookread", "view", "read_many_files", "view_image"}
_WRITE = {"write", "edit", "multiedit", "notebookedit", "write_file", "replace", "create", "str_replace", "patch"}
_SEARCH = {"grep", "search_file_content", "grep_search", "ripgrep"}
_GLOB = {"glob", "find_files", "glob_search"}
_LIST = {"ls", "list", "list_directory", "list_dir"}
_AGENT = {"agent", "task", "spawn_agent", "invoke_agent", "workflow"}
_PATH_KEYS = ("file_path", "filePath", "notebook_path", "absolute_path", "path", "dir_path", "directory", "paths")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)
_MOST = 200


class Used(Value, frozen=True):
    """One tool call, read. `atomic`: when it failed, it showed and changed nothing. `told`: what to show of it.

    `script`: what a shell was told to run, None for any other tool.
    """

    touches: tuple[Touch, ...]
    told: str
    atomic: bool = False
    skill: str | None = None
    agent: bool = False
    script: str | None = None


def used(use: ToolUse, cwd: str, home: str | None, known: Sequence[str]) -> Used:
    """Return what a tool call touches. `cwd`, `home` and `known` are `touches.of_command`'s. Never raises."""
    name = str(use.name).casefold()
    given: Mapping[str, object] = use.input if isinstance(use.input, Mapping) else {}
    if name in _SHELL:
        script = _script(given)
        where = next((v for k in ("workdir", "cwd", "dir_path") if isinstance(v := given.get(k), str)), None)
        start = absolute(where, cwd) if where else cwd
        return Used(touches=tuple(of_command(script, start or cwd, home, known)), told=script, script=script)
    if name == "skill":
        asked = next((v for k in ("skill", "command", "name") if isinstance(v := given.get(k), str)), "")
        return Used(touches=(), told=asked, skill=asked)
    if name in _AGENT:
        return Used(touches=(), told=str(given.get("description") or "")[:400], agent=True)
    if name == "apply_patch":
        text = "\n".join(v for v in given.values() if isinstance(v, str))
        paths = [match[1] or match[2] for match in _PATCHED.finditer(text)][:_MOST]
        return Used(touches=tuple(_touches(paths, cwd, home, writes=True)), told=", ".join(paths), atomic=True)
    paths = list(_paths(given))[:_MOST]
    told = ", ".join(paths)
    if name in _READ:
        return Used(touches=tuple(_touches(paths, cwd, home, reads=True)), told=told, atomic=True)
    if name in _WRITE:
        return Used(touches=tuple(_touches(paths, cwd, home, writes=True)), told=told, atomic=True)
    if name in _SEARCH:
        told = f"{given.get('pattern')!s:.200} in {told or '.'}"
        return Used(touches=tuple(_touches(paths or ["."], cwd, home, deep=True)), told=told)
    if name in _GLOB:
        pattern = str(given.get("pattern") or "*")
        whole = [pattern] if pattern.startswith(("/", "~")) else [f"{path}/{pattern}" for path in paths or ["."]]
        return Used(touches=tuple(_touches(whole, cwd, home)), told=", ".join(whole))
    if name in _LIST:
        return Used(touches=tuple(_touches(paths or ["."], cwd, home)), told=told or ".")
    spelled = [text for text in _strings(given, 0) if re.match(r"(?:file://)?~?/[^/]", text) and len(text) < 4096]
    return Used(touches=tuple(_touches(spelled[:_MOST], cwd, home)), told=_json(given))


def _script(given: Mapping[str, object]) -> str:
    """Return the script of a shell tool: text, or a list of words, of which ``sh -c`` is the usual beginning."""
    command = given.get("command", given.get("cmd", ""))
    if isinstance(command, Mapping):
        command = command.get("command", "")
    if isinstance(command, list | tuple):
        words = [str(word) for word in command]
        return words[2] if len(words) == 3 and re.fullmatch(r"-\w*c", words[1]) else shlex.join(words)
    return command if isinstance(command, str) else ""


def _paths(given: Mapping[str, object]) -> Iterator[str]:
    for key in _PATH_KEYS:
        value = given.get(key)
        for item in value if isinstance(value, list | tuple) else [value]:
            if isinstance(item, str) and item:
                yield item


def _touches(paths: Sequence[str], cwd: str, home: str | None, **how: bool) -> Iterator[Touch]:
    for text in paths:
        text = text.removeprefix("file://")
        if text == "~" or text.startswith("~/"):
            if home is None:
                continue
            text = home + text[1:]
        path = absolute(text.replace("\0", "\ufffd"), cwd)
        if path is not None:
            yield Touch(path=path, bare=not text.startswith("/"), **how)


def _strings(value: object, depth: int) -> Iterator[str]:
    """Yield every text in an argument, however it is nested."""
    if isinstance(value, str):
        yield value
    elif depth < 6 and isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item, depth + 1)
    elif depth < 6 and isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item, depth + 1)


def _json(given: Mapping[str, object]) -> str:
    try:
        return json.dumps(dict(given), ensure_ascii=False, default=str)[:1000]
    except (TypeError, ValueError, RecursionError):
        return ""
