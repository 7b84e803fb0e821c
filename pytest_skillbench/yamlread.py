"""YAML as a closed format: a mapping with line numbers, no duplicate keys, no surprises of type.

Core: text in, nodes or problems out. Used for front matter (`casefile`, `tree`) and ``skillbench.yaml`` (`settings`).
Only nodes are composed, never Python objects, so no tag can construct anything.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from .errors import Problem
from .model import Value
from .suggest import closest

_FAST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LONGEST = 65_536
_TAG = "tag:yaml.org,2002:"
_KINDS = {
    "bool": "a boolean",
    "int": "a number",
    "float": "a number",
    "null": "null",
    "timestamp": "a date",
    "seq": "a list",
    "map": "a mapping",
    "merge": "a merge key",
    "value": "a default-value key",
    "binary": "binary data",
}
# What cuts a line for YAML or for Python: a one-line text has none of them. C0 controls can come in as escapes.
_NOT_ONE_LINE = re.compile("[\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")


class Field(Value, frozen=True):
    """One ``key: value`` of a mapping; `line` is 1-based in the whole file, `node` the composed value."""

    key: str
    line: int
    node: Any


class Source(Value, frozen=True):
    """A piece of YAML: its text, the file's name in messages, the slug prefix, the 1-based line where it starts."""

    text: str
    path: str
    slug: str
    first_line: int = 1

    def line(self, index: int) -> int:
        """Return the 1-based line in the file of a character index of `text`.

        PyYAML's own line numbers also count U+0085, U+2028 and U+2029, which an editor does not.
        """
        return self.first_line + self.text.count("\n", 0, index)

    def problem(
        self, line: int, what: str, expected: str | None = None, suggestion: str | None = None, kind: str = "value"
    ) -> Problem:
        """Return a problem of this source at a line."""
        return Problem(
            path=self.path,
            slug=f"{self.slug}-{kind}",
            what=what,
            line=line,
            expected=expected,
            suggestion=suggestion,
        )


def _syntax(source: Source, error: Exception) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    index = mark.index if mark is not None else getattr(error, "position", 0)
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or "nested too deeply"
    last = source.text.count("\n", 0, len(source.text.rstrip("\n")))
    line = min(source.line(index), source.first_line + last)
    return source.problem(line, f"not YAML: {what}", "lines of `key: value`", kind="yaml")


def compose(source: Source) -> Any:
    """Return the root node of the one document in `source`, None where it is empty, or a Problem.

    The C parser is twenty times as fast; where it refuses, the Python one has the last word, so that the message is the
    same on every machine.
    """
    if len(source.text) > _LONGEST:
        return source.problem(source.first_line, f"{len(source.text):,} characters of YAML", f"at most {_LONGEST:,}")
    try:
        return _FAST(source.text).get_single_node()
    except (yaml.YAMLError, RecursionError, UnicodeError) as error:
        if "nesting depth" in str(error):  # the Python parser would take seconds to come to the same end
            return source.problem(
                source.first_line, "not YAML: nested too deeply", "lines of `key: value`", kind="yaml"
            )
    try:
        return yaml.SafeLoader(source.text).get_single_node()
    except (yaml.YAMLError, RecursionError, UnicodeError) as error:
        return _syntax(source, error)


def mapping(source: Source, known: tuple[str, ...], what: str) -> tuple[dict[str, Field], list[Problem]]:
    """Return the fields of the mapping in `source` and every problem of its keys.

    `known` are the keys that may stand there; `what` names the whole in messages ("the front matter"). A key that is
    unknown, not text or there twice is a problem and not among the fields.
    """
    root = compose(source)
    if isinstance(root, Problem):
        return {}, [root]
    if root is None or is_tagged(root, "null"):
        return {}, []
    if not isinstance(root, yaml.MappingNode):
        line = source.line(root.start_mark.index)
        return {}, [source.problem(line, f"{what} is {kind_of(root)}", "lines of `key: value`", kind="not-mapping")]
    fields: dict[str, Field] = {}
    problems = []
    seen: dict[str, int] = {}
    for key_node, node in root.value:
        line = source.line(key_node.start_mark.index)
        key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
        expected = f"one of {', '.join(known)}"
        if key is None:
            problems.append(source.problem(line, f"a key is {kind_of(key_node)}", expected, kind="unknown-key"))
        elif key in seen:
            where = f"it only at line {seen[key]}"
            problems.append(source.problem(line, f'key "{key}" is there twice', where, kind="duplicate-key"))
        elif key not in known:
            guess = closest(key, known)
            problems.append(source.problem(line, f'unknown key "{key}"', expected, guess, kind="unknown-key"))
        else:
            fields[key] = Field(key=key, line=line, node=node)
        if key is not None:
            seen.setdefault(key, line)
    return fields, problems


def kind_of(node: Any) -> str:
    """Return what YAML takes a node for, in words: "a boolean", "a list", "text"."""
    tag = str(node.tag)
    if tag == f"{_TAG}str":
        return "text"
    return _KINDS.get(tag.removeprefix(_TAG), f"something tagged {tag}")


def is_tagged(node: Any, *kinds: str) -> bool:
    """Tell whether a node is a scalar of one of these YAML types (``str``, ``int``, ``float``, ``null``, ``bool``)."""
    return isinstance(node, yaml.ScalarNode) and node.tag in {f"{_TAG}{kind}" for kind in kinds}


def text_of(source: Source, node: Any, what: str) -> str | Problem:
    """Return the one-line, non-empty text of a scalar, or the problem that says why it is none.

    ``yes``, ``2026-11-30``, ``null`` and ``1.10`` are not text for YAML: the problem says to quote them.
    """
    line = source.line(node.start_mark.index)
    if not isinstance(node, yaml.ScalarNode):
        return source.problem(line, f"{what} is {kind_of(node)}", "text on one line")
    if not is_tagged(node, "str"):
        if not node.value:
            return source.problem(line, f"{what} is empty", "text on one line")
        quoted = f'"{node.value}"'
        return source.problem(line, f"{what} {quoted} is {kind_of(node)} to YAML", f"text: quote it, {quoted}")
    raw = source.text[node.start_mark.index : node.end_mark.index].rstrip()
    if node.style in ("|", ">") or _NOT_ONE_LINE.search(raw) or _NOT_ONE_LINE.search(node.value):
        return source.problem(line, f"{what} has a line break or a control character", "text on one line")
    if not node.value.strip():
        return source.problem(line, f"{what} is empty", "text on one line")
    return str(node.value)


def items_of(source: Source, node: Any, what: str) -> list[Any] | Problem:
    """Return the nodes of a list, or the problem that says why it is none."""
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    line = source.line(node.start_mark.index)
    hint = f"[{node.value}]" if isinstance(node, yaml.ScalarNode) and node.value else None
    return source.problem(line, f"{what} is {kind_of(node)}", "a list such as [one, two]", hint)
