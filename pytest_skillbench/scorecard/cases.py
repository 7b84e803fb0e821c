"""A case file's text -> its documents as `Draft`, and what is wrong with the others, each with its line.

Core: bytes in, records and problems out; `discover` finds the files and knows the skills. A file holds several
documents (``---``), and one that is malformed never stops the others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

import msgspec

from ..errors import Problem
from ..model import Value
from ..suggest import closest
from ..text import one_line
from ..yamlread import (
    Field,
    Source,
    compose,
    decoded,
    documents,
    fields_of,
    flag_of,
    is_tagged,
    items_of,
    kind_of,
    lines_of,
    text_of,
)
from .config import category_of
from .records import STRUCTURES, Category, Context, ContextFile, Expected

LONGEST = 1 << 20
_KEYS = ("name", "skill", "category", "input", "context", "expected", "tags")
_REQUIRED = ("name", "skill", "category", "input", "expected")
_EXPECTED = ("triggered", "tools_used", "output_contains", "output_not_contains", "output_structure", "error_handled")
_START = re.compile(rb"^(?=---)", re.MULTILINE)
_ENVIRONMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Draft(Value, frozen=True):
    """A document that could be read. `lines` are the 1-based lines of its keys, `line` is where it starts."""

    line: int
    lines: Mapping[str, int]
    name: str
    skill: str
    category: Category
    input: str
    context: Context
    expected: Expected
    tags: tuple[str, ...]


class Lost(Value, frozen=True):
    """A document (or a file, at its first line) that can't be used. `category` None: not even that can be read."""

    line: int
    category: Category | None = None


class Parsed(Value, frozen=True):
    """A case file: the documents that can be used, in their order, which others there are, and why not."""

    drafts: tuple[Draft, ...]
    lost: tuple[Lost, ...]
    problems: tuple[Problem, ...]


def parse(data: bytes, shown: str) -> Parsed:
    """Return what is in a case file. `shown` is its name in messages.

    Of two documents with one name, the second can't be used.
    """
    text, problems = _readable(data, shown)
    source = decoded(text, shown, "eval-case")
    if isinstance(source, Problem):
        return Parsed(drafts=(), lost=(Lost(line=1),), problems=(source,))
    drafts: list[Draft] = []
    lost = [Lost(line=problem.line or 1) for problem in problems]
    named: dict[str, int] = {}
    for document in documents(source):
        root = compose(document, LONGEST)
        if root is None or is_tagged(root, "null"):
            continue
        if isinstance(root, Problem):
            problems.append(root)
            lost.append(Lost(line=root.line or document.first_line))
            continue
        reader = _Reader(document, root)
        draft = reader.read()
        problems += reader.problems
        if draft is None:
            lost.append(Lost(line=document.line(root.start_mark.index), category=reader.category))
            continue
        first = named.setdefault(unicodedata.normalize("NFC", draft.name), draft.line)
        if first != draft.line:
            what = f'a second case named "{draft.name}"'
            where = f"each name once in a file; the first is at line {first}"
            problems.append(document.problem(draft.lines["name"], what, where, kind="duplicate-name"))
            lost.append(Lost(line=draft.line, category=draft.category))
        else:
            drafts.append(draft)
    if not drafts and not problems:
        problems.append(source.problem(1, "no case in the file", "a document with name, skill, category, input, …"))
    return Parsed(drafts=tuple(drafts), lost=tuple(lost), problems=tuple(problems))


def _readable(data: bytes, shown: str) -> tuple[bytes, list[Problem]]:
    """Return a file with each document that is not UTF-8 as blank lines, and what is wrong with these."""
    pieces: list[bytes] = []
    problems: list[Problem] = []
    line = 0
    for piece in _START.split(data):
        found = decoded(piece, shown, "eval-case")
        if isinstance(found, Problem):
            problems.append(msgspec.structs.replace(found, line=line + (found.line or 1)))
            pieces.append(b"\n" * piece.count(b"\n"))
        else:
            pieces.append(piece)
        line += piece.count(b"\n")
    return b"".join(pieces), problems


class _Reader:
    """Reads one document; keeps every problem of it, and its category, which may be all that can be read."""

    def __init__(self, source: Source, root: Any) -> None:
        self.source = source
        self.root = root
        self.problems: list[Problem] = []
        self.category: Category | None = None

    def read(self) -> Draft | None:
        """Return the document, None where there is any problem."""
        fields, problems = fields_of(self.source, self.root, _KEYS, "a case")
        self.problems += problems
        line = self.source.line(self.root.start_mark.index)
        if any(problem.slug.endswith("not-mapping") for problem in problems):
            return None
        for key in _REQUIRED:
            if key not in fields:
                what = f'"{key}" is missing'
                self.problems.append(self.source.problem(line, what, ", ".join(_REQUIRED), kind="missing-key"))
        name, skill = self._text(fields, "name", text_of), self._text(fields, "skill", text_of)
        text = self._text(fields, "input", lines_of)
        category = self.category = self._category(fields.get("category"))
        context = self._context(fields.get("context"))
        expected = self._expected(fields.get("expected"))
        tags = self._texts(fields.get("tags"), "a tag")
        if category is not None and expected is not None:
            expected = self._consistent(fields, category, expected)
        if self.problems or not (name and skill and text and category and expected):
            return None
        return Draft(
            line=line,
            lines={field.key: field.line for field in fields.values()},
            name=name,
            skill=skill,
            category=category,
            input=text,
            context=context,
            expected=expected,
            tags=tags,
        )

    def _add(self, line: int, what: str, expected: str, suggestion: str | None = None) -> None:
        self.problems.append(self.source.problem(line, what, expected, suggestion))

    def _take(self, value: Any, otherwise: Any = None) -> Any:
        """Return a value that was read, or `otherwise` where it is a problem, which is kept."""
        if isinstance(value, Problem):
            self.problems.append(value)
            return otherwise
        return value

    def _text(self, fields: Mapping[str, Field], name: str, read: Callable[..., str | Problem]) -> str | None:
        field = fields.get(name)
        text: str | None = self._take(read(self.source, field.node, f'"{name}"')) if field else None
        return text

    def _texts(self, field: Field | None, what: str, read: Callable[..., str | Problem] = text_of) -> tuple[str, ...]:
        """Return the texts of a list; none where the field is absent or null."""
        if field is None or is_tagged(field.node, "null"):
            return ()
        nodes = self._take(items_of(self.source, field.node, f'"{field.key}"'), [])
        found = [self._take(read(self.source, node, what)) for node in nodes]
        return tuple(dict.fromkeys(text for text in found if text is not None))

    def _category(self, field: Field | None) -> Category | None:
        category: Category | None = (
            self._take(category_of(self.source, field.node, '"category"')) if field is not None else None
        )
        return category

    # -- expectations --------------------------------------------------------------------------------------------------

    def _expected(self, field: Field | None) -> Expected | None:
        if field is None:
            return None
        fields, problems = fields_of(self.source, field.node, _EXPECTED, '"expected"')
        self.problems += problems
        if is_tagged(field.node, "null"):
            self._add(field.line, '"expected" is empty', f"some of {', '.join(_EXPECTED)}")
        structure = fields.get("output_structure")
        return Expected(
            triggered=self._flag(fields.get("triggered")),
            tools_used=self._texts(fields.get("tools_used"), "a tool in tools_used"),
            output_contains=self._keywords(fields.get("output_contains")),
            output_not_contains=self._keywords(fields.get("output_not_contains")),
            output_structure=self._structure(structure) if structure is not None else None,
            error_handled=bool(self._flag(fields.get("error_handled"))),
        )

    def _keywords(self, field: Field | None) -> tuple[str, ...]:
        """Return the texts of a list, of those that match alike the first: one thing is checked once."""
        found = self._texts(field, f"a text in {field.key}" if field is not None else "", lines_of)
        return tuple({folded(word): word for word in reversed(found)}.values())[::-1]

    def _flag(self, field: Field | None) -> bool | None:
        if field is None or is_tagged(field.node, "null"):
            return None
        value: bool | None = self._take(flag_of(self.source, field.node, f'"{field.key}"'))
        return value

    def _structure(self, field: Field) -> Any:
        if is_tagged(field.node, "null") or (is_tagged(field.node, "str") and not field.node.value.strip()):
            return None
        text = self._take(text_of(self.source, field.node, f'"{field.key}"'))
        plain = text.strip().replace("_", "-") if text is not None else None
        if plain is not None and plain not in STRUCTURES:
            line = self.source.line(field.node.start_mark.index)
            expected = f"one of {', '.join(STRUCTURES)}, or none"
            self._add(line, f'"{field.key}" is "{text}"', expected, closest(plain, STRUCTURES))
        return plain if plain in STRUCTURES else None

    def _consistent(self, fields: Mapping[str, Field], category: Category, expected: Expected) -> Expected:
        """Hold what is expected to the category, and fill in what the category says already."""
        line = fields["expected"].line
        implied = {"trigger-positive": True, "trigger-negative": False}.get(category)
        if implied is not None and expected.triggered is None:
            return msgspec.structs.replace(expected, triggered=implied)
        if implied is not None and expected.triggered is not implied:
            word = str(implied).lower()
            self._add(line, f'"triggered" contradicts the category {category}', f"triggered: {word}")
        if category == "trigger-accuracy" and expected.triggered is None:
            self._add(line, '"expected" does not say whether the skill is triggered', "triggered: true or false")
        forbidden = {folded(word) for word in expected.output_not_contains}
        for word in expected.output_contains:
            if any(each in folded(word) for each in forbidden):
                self._add(line, f'"{one_line(word)}" must be there and must not', "each text in one of the two lists")
        if category == "output-quality" and not has_checks(expected):
            self._add(line, "nothing to check", "output_contains, output_not_contains or output_structure in expected")
        if category == "tool-usage" and not expected.tools_used:
            self._add(line, "no tool to look for", "tools_used in expected")
        if category == "error-handling":
            return msgspec.structs.replace(expected, error_handled=True)
        return expected

    # -- context -------------------------------------------------------------------------------------------------------

    def _context(self, field: Field | None) -> Context:
        fields, problems = fields_of(self.source, field.node if field else None, ("files", "env"), '"context"')
        self.problems += problems
        return Context(files=self._files(fields.get("files")), env=self._env(fields.get("env")))

    def _files(self, field: Field | None) -> tuple[ContextFile, ...]:
        if field is None or is_tagged(field.node, "null"):
            return ()
        found: dict[str, ContextFile] = {}
        for node in self._take(items_of(self.source, field.node, '"files"'), []):
            file = self._file(node)
            if file is not None and file.path in found:
                self._add(self.source.line(node.start_mark.index), f'"{file.path}" is there twice', "each file once")
            elif file is not None:
                found[file.path] = file
        return tuple(found.values())

    def _file(self, node: Any) -> ContextFile | None:
        """Return one file: a path, of a file beside the case file, or a path with what it holds."""
        content: str | None = None
        if kind_of(node) == "a mapping":
            fields, problems = fields_of(self.source, node, ("path", "content"), "a file")
            self.problems += problems
            for name in ("path", "content"):
                if name not in fields:
                    self._add(self.source.line(node.start_mark.index), f'a file without "{name}"', "path and content")
            if set(fields) != {"path", "content"}:
                return None
            node = fields["path"].node
            content = self._content(fields["content"])
        path: str | None = self._take(text_of(self.source, node, "a file's path"))
        if path is None:
            return None
        parts = PurePosixPath(path).parts
        if path.startswith(("/", "~")) or ".." in parts or "\\" in path or not parts:
            self._add(self.source.line(node.start_mark.index), f'a file "{path}"', "a path inside the case's world")
            return None
        plain = PurePosixPath(*parts).as_posix()
        return ContextFile(path=plain, content=content, source=None if content is not None else plain)

    def _content(self, field: Field) -> str:
        if is_tagged(field.node, "str") and not field.node.value.strip():
            return str(field.node.value)  # an empty file is a file
        text: str = self._take(lines_of(self.source, field.node, "a file's content"), "")
        return text

    def _env(self, field: Field | None) -> dict[str, str]:
        fields, problems = fields_of(self.source, field.node if field else None, None, '"env"')
        self.problems += problems
        found = {}
        for inner in fields.values():
            if not _ENVIRONMENT.fullmatch(inner.key):
                self._add(inner.line, f'a variable "{inner.key}"', "a name of letters, digits and _")
            empty = is_tagged(inner.node, "str") and not inner.node.value
            value: str = "" if empty else self._take(text_of(self.source, inner.node, f'"{inner.key}"'), "")
            found[inner.key] = value
        return found


def folded(text: str) -> str:
    """Return a text as keywords are compared: NFKC and casefold, and nothing else."""
    return unicodedata.normalize("NFKC", text).casefold()


def has_checks(expected: Expected) -> bool:
    """Tell whether a case says anything of the final message."""
    return bool(expected.output_contains or expected.output_not_contains or expected.output_structure)
