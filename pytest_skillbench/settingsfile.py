"""The bytes of a ``skillbench.yaml`` -> `Settings`: the repository's defaults and a skill's overrides.

Core: every rule of type and range is read off `model.Settings`, so record and reader can't differ. `settings` reads
the file.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import inspect as shapes

from .errors import Problem, SettingsError
from .model import Settings
from .suggest import SLUG, closest, slug
from .yamlread import Field, Source, is_tagged, items_of, kind_of, mapping, text_of

_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)\Z")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?\Z")
_KNOWN = tuple(field.name for field in msgspec.structs.fields(Settings))
_ROOTS = {"skills_root": "skills or .claude/skills", "evals_root": "evals"}


def parse(data: bytes, shown: str, base: Settings, *, repo: bool = False) -> tuple[Settings, dict[str, int]]:
    """Return `base` overridden by the settings in `data`, and the 1-based line of each case name in ``order``.

    `shown` is the file's name in messages; `repo` as in `settings.load`. Raises SettingsError with every problem.
    """
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise SettingsError(
            Problem(path=shown, slug="settings-utf8", what="not UTF-8", line=line, expected="text in UTF-8")
        ) from error
    source = Source(text=text, path=shown, slug="settings")
    known = tuple(name for name in _KNOWN if (name != "order" if repo else name not in _ROOTS))
    fields, problems = mapping(source, _KNOWN, "the file")
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for name, field in fields.items():
        if name not in known:
            where = "it in tests/<skill path>/skillbench.yaml" if repo else "it in tests/skillbench.yaml only"
            problems.append(source.problem(field.line, f'"{name}" does not belong here', where, kind="misplaced-key"))
            continue
        got = _order(source, field, lines) if name == "order" else _value(source, field)
        if isinstance(got, list):
            problems += got
        else:
            values[name] = got
    if problems:
        raise SettingsError(*problems)
    return msgspec.structs.replace(base, **values), lines


def _value(source: Source, field: Field) -> Any:
    """Return the value of one field, or a list of problems."""
    kind = _TYPES[field.key]
    nullable, inner = _without_none(kind)
    node = field.node
    line = source.line(node.start_mark.index) if node.start_mark else field.line
    if is_tagged(node, "null") and nullable:
        return None
    expected = _expected(inner) + (" or null" if nullable else "")
    if isinstance(inner, shapes.IntType | shapes.FloatType):
        return _number(source, field, inner, line, expected)
    text = text_of(source, node, f'"{field.key}"')
    if isinstance(text, Problem):
        return [msgspec.structs.replace(text, expected=expected if not text.expected else text.expected)]
    if isinstance(inner, shapes.LiteralType) and text not in inner.values:
        guess = closest(text, map(str, inner.values))
        return [source.problem(line, f'"{field.key}" is "{text}"', expected, guess)]
    if field.key in _ROOTS:
        return _inside(source, field.key, text, line)
    return text


def _number(source: Source, field: Field, kind: shapes.IntType | shapes.FloatType, line: int, expected: str) -> Any:
    """Return a number in range, or a list of one problem. YAML's octal, sexagesimal and ``1_0`` are refused."""
    node = field.node
    whole = isinstance(kind, shapes.IntType)
    raw = node.value if isinstance(node.value, str) else ""
    wrong = source.problem(line, f'"{field.key}" is {_shown(node)}', expected)
    if not is_tagged(node, "int", "float") or not (_WHOLE if whole else _NUMBER).match(raw) or len(raw) > 20:
        return [wrong]
    value = int(raw) if whole else float(raw)
    low = (kind.ge is None or value >= kind.ge) and (kind.gt is None or value > kind.gt)
    high = (kind.le is None or value <= kind.le) and (kind.lt is None or value < kind.lt)
    return value if low and high else [wrong]


def _shown(node: Any) -> str:
    if not isinstance(node.value, str):
        return kind_of(node)
    return f'"{node.value}", {kind_of(node)}' if not is_tagged(node, "int", "float") else f"{node.value}"


def _order(source: Source, field: Field, lines: dict[str, int]) -> tuple[str, ...] | list[Problem] | None:
    if is_tagged(field.node, "null"):
        return None
    items = items_of(source, field.node, '"order"')
    if isinstance(items, Problem):
        return [items]
    problems = []
    for node in items:
        line = source.line(node.start_mark.index)
        name = text_of(source, node, "a name in order")
        if isinstance(name, Problem):
            problems.append(name)
        elif name in lines:
            problems.append(source.problem(line, f'case "{name}" is there twice', f"it only at line {lines[name]}"))
        elif not SLUG.match(name):
            problems.append(source.problem(line, f'"{name}" is no name of a case', "[a-z0-9][a-z0-9-]*", slug(name)))
        else:
            lines[name] = line
    return problems or tuple(lines)


def _inside(source: Source, key: str, text: str, line: int) -> str | list[Problem]:
    """Return a root that stays inside the repository, in its plainest form."""
    parts = PurePosixPath(text).parts
    if text.startswith(("/", "~")) or ".." in parts or "\\" in text or not parts or parts == (".",):
        expected = f"a relative folder inside the repository, such as {_ROOTS[key]}"
        return [source.problem(line, f'"{key}" is "{text}"', expected)]
    if parts[0] in ("tests", ".git"):
        return [source.problem(line, f'"{key}" is "{text}"', "a folder outside tests/ and .git/")]
    return PurePosixPath(*parts).as_posix()


def _without_none(kind: shapes.Type) -> tuple[bool, shapes.Type]:
    if isinstance(kind, shapes.UnionType):
        rest = [member for member in kind.types if not isinstance(member, shapes.NoneType)]
        return len(rest) < len(kind.types), rest[0]
    return False, kind


def _expected(kind: shapes.Type) -> str:
    if isinstance(kind, shapes.LiteralType):
        return " or ".join(map(str, kind.values))
    if not isinstance(kind, shapes.IntType | shapes.FloatType):
        return "text on one line"
    name = "a whole number" if isinstance(kind, shapes.IntType) else "a number"
    low = f"from {kind.ge}" if kind.ge is not None else f"above {kind.gt}"
    return f"{name} {low} to {kind.le}"


_TYPES: dict[str, shapes.Type] = {
    field.name: field.type
    for field in shapes.type_info(Settings).fields  # type: ignore[attr-defined]  # a StructType: Settings is a Struct
}
