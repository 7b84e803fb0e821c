"""YAML as a closed format: a mapping with line numbers, no duplicate keys, no surprises of type.

Core: text in, nodes or problems out. Used for front matter (`casefile`, `tree`), ``skillbench.yaml`` (`settings`) and
the files of the scorecard. Only nodes are composed, never Python objects, so no tag can construct anything.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import msgspec
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
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?\Z")
# A document begins or ends at such a line, wherever it stands: YAML forbids it even inside a quoted or a block text.
_MARKER = re.compile(r"^(---|\.\.\.)(?=[ \t\n]|\Z)", re.MULTILINE)
_CONTENT = re.compile(r"^(?!%)[ \t]*[^#\s]", re.MULTILINE)
# What a text of several lines may not hold either: C0 controls but tab and newline, and what is no character.
_NOT_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
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


def decoded(data: bytes, path: str, slug: str) -> Source | Problem:
    """Return the text of a whole file, whatever its line endings, without a byte-order mark; or why it is no text."""
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        return Problem(path=path, slug=f"{slug}-utf8", what="not UTF-8", line=line, expected="text in UTF-8")
    return Source(text=text, path=path, slug=slug)


def documents(source: Source) -> list[Source]:
    """Return each document of a file, as a source of its own that knows its place in the file.

    The text is cut before anything is parsed, so that one that is not YAML does not stop the others. Some may be empty.
    """
    found: list[tuple[int, int]] = []
    start, begun = 0, False
    for marker in _MARKER.finditer(source.text):
        if marker[1] == "...":
            found.append((start, marker.start()))
            start, begun = marker.end(), False
        # What stands before the first --- and is no content, such as %YAML, belongs to the document that follows.
        elif begun or _CONTENT.search(source.text[start : marker.start()]):
            found.append((start, marker.start()))
            start = marker.start()
        begun = marker[1] == "---"
    found.append((start, len(source.text)))
    pieces: list[Source] = []
    line, counted = source.first_line, 0
    for start, end in found:
        line, counted = line + source.text.count("\n", counted, start), start
        pieces.append(msgspec.structs.replace(source, text=source.text[start:end], first_line=line))
    return pieces


def compose(source: Source, longest: int = _LONGEST) -> Any:
    """Return the root node of the one document in `source`, None where it is empty, or a Problem.

    `longest`: the most characters that are read. The C parser is twenty times as fast; where it refuses, the Python one
    has the last word, so that the message is the same on every machine.
    """
    if len(source.text) > longest:
        return source.problem(source.first_line, f"{len(source.text):,} characters of YAML", f"at most {longest:,}")
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


def mapping(
    source: Source, known: tuple[str, ...], what: str, longest: int = _LONGEST
) -> tuple[dict[str, Field], list[Problem]]:
    """Return the fields of the mapping in `source` and every problem of its keys.

    `known` are the keys that may stand there; `what` names the whole in messages ("the front matter"); `longest` as in
    `compose`. A key that is unknown, not text or there twice is a problem and not among the fields.
    """
    root = compose(source, longest)
    if isinstance(root, Problem):
        return {}, [root]
    return fields_of(source, root, known, what)


def fields_of(
    source: Source, root: Any, known: tuple[str, ...] | None, what: str
) -> tuple[dict[str, Field], list[Problem]]:
    """Return the fields of a mapping node and every problem of its keys, as `mapping` does; none for no node or null.

    `known` None: any text may be a key.
    """
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
        if known is None and key is not None and not is_tagged(key_node, "str"):
            key_problem = text_of(source, key_node, f"a key of {what}")
            problems += [key_problem] if isinstance(key_problem, Problem) else []
            continue
        expected = f"one of {', '.join(known)}" if known is not None else "text as a key"
        if key is None:
            problems.append(source.problem(line, f"a key is {kind_of(key_node)}", expected, kind="unknown-key"))
        elif key in seen:
            where = f"it only at line {seen[key]}"
            problems.append(source.problem(line, f'key "{key}" is there twice', where, kind="duplicate-key"))
        elif known is not None and key not in known:
            guess = closest(key, known)
            problems.append(source.problem(line, f'unknown key "{key}"', expected, guess, kind="unknown-key"))
        else:
            fields[key] = Field(key=key, line=line, node=node)
        if key is not None:
            seen.setdefault(key, line)
    return fields, problems


def plain_of(source: Source, node: Any) -> object:
    """Return a whole tree of nodes as dicts, lists, texts, whole numbers, decimals, booleans and None, or a Problem.

    For files that are a format of ours: each key once and text, no alias, no tag, no number in another spelling.
    """
    try:
        return _plain(source, node, set())
    except _NotPlainError as error:
        return error.problem


class _NotPlainError(Exception):
    def __init__(self, problem: Problem) -> None:
        self.problem = problem


def _plain(source: Source, node: Any, seen: set[int]) -> object:
    # A line is only counted where there is a problem: counting for every node of a long file takes minutes.
    if id(node) in seen:
        raise _NotPlainError(source.problem(source.line(node.start_mark.index), "an alias", "everything spelled out"))
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        return [_plain(source, item, seen) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        found: dict[str, object] = {}
        for key, item in node.value:
            if not is_tagged(key, "str") or key.value in found:
                _, problems = fields_of(source, node, None, "a mapping")
                raise _NotPlainError(problems[0])
            found[key.value] = _plain(source, item, seen)
        return found
    if is_tagged(node, "str"):
        return str(node.value)
    if is_tagged(node, "null"):
        return None
    read = flag_of if is_tagged(node, "bool") else decimal_of
    value = read(source, node, "a value")
    if isinstance(value, Problem):
        raise _NotPlainError(value)
    return int(value) if is_tagged(node, "int") else value


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


def lines_of(source: Source, node: Any, what: str) -> str | Problem:
    """Return the non-empty text of a scalar, of one line or of several, or the problem that says why it is none."""
    if not is_tagged(node, "str"):
        return text_of(source, node, what)
    line = source.line(node.start_mark.index)
    if _NOT_TEXT.search(node.value):
        return source.problem(line, f"{what} has a control character", "plain text")
    if not node.value.strip():
        return source.problem(line, f"{what} is empty", "text")
    return str(node.value)


def flag_of(source: Source, node: Any, what: str) -> bool | Problem:
    """Return the value of ``true`` or ``false``, or the problem that says why it is none.

    ``yes`` and ``on`` are booleans to one version of YAML and text to the other, so they are refused.
    """
    if is_tagged(node, "bool") and node.value.casefold() in ("true", "false"):
        return bool(node.value.casefold() == "true")
    line = source.line(node.start_mark.index)
    shown = f'"{node.value}"' if isinstance(node, yaml.ScalarNode) else kind_of(node)
    return source.problem(line, f"{what} is {shown}", "true or false")


def decimal_of(source: Source, node: Any, what: str) -> Decimal | Problem:
    """Return the exact value of a number as it is written, or the problem that says why it is none.

    YAML's octal, sexagesimal, ``1_0``, ``.inf`` and exponents are refused.
    """
    if is_tagged(node, "int", "float") and _DECIMAL.match(node.value):
        return Decimal(node.value)
    line = source.line(node.start_mark.index)
    shown = f'"{node.value}"' if isinstance(node, yaml.ScalarNode) else kind_of(node)
    return source.problem(line, f"{what} is {shown}", "a number such as 0.25 or -5")


def items_of(source: Source, node: Any, what: str) -> list[Any] | Problem:
    """Return the nodes of a list, or the problem that says why it is none."""
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    line = source.line(node.start_mark.index)
    hint = f"[{node.value}]" if isinstance(node, yaml.ScalarNode) and node.value else None
    return source.problem(line, f"{what} is {kind_of(node)}", "a list such as [one, two]", hint)
