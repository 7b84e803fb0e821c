"""A hand-written ``baseline.yaml`` and the baseline that it should hold -> the same text with other numbers.

Core: text in, text out. Values are put in the place of the old ones by their marks, so comments, blank lines, the order
of keys, indentation and quoting elsewhere stay. Not kept: the comment behind a value whose line goes away (a dimension
that is no longer applicable), comments within a ``{…}`` that is written anew, and line endings where a file mixes them.
Whatever comes out is read again; where it does not say what it should (anchors, merge keys), the file is written anew
as a whole, and the caller is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec
import yaml

from ..model import Value
from ..yamlwrite import Plain, dump, scalar
from .baseline import SKILL_KEYS, Baseline, BaselineSkill, parse
from .records import DIMENSIONS

_HEAD = "# What the scorecard compares with. Written by `skillbench scorecard --update-baseline`; comments stay.\n"
_TOP = ("version", "overall_score", "generated_by")
#: Keys of a skill that are ours to write; `notes` are the author's.
_ROW = tuple(name for name in SKILL_KEYS if name != "notes")
_Scalar: TypeAlias = "str | int | Decimal"


class Spliced(Value, frozen=True):
    """The new file. `rewritten`: the old one could not be edited in place, so its comments and order are lost."""

    data: bytes
    rewritten: bool


class _Edit(Value, frozen=True):
    """Characters `start` to `end` of the text make place for `text`."""

    start: int
    end: int
    text: str


def splice(old: bytes | None, new: Baseline) -> Spliced:
    """Return the file that says `new`, with as much of `old` as can be kept. `old` None: there was none."""
    if old is None:
        return Spliced(data=whole(new).encode(), rewritten=False)
    before, problems = parse(old, "baseline.yaml")
    if before is not None and not problems:
        data = _edited(old, new)
        after, problems = parse(data, "baseline.yaml") if data is not None else (None, ())
        if data is not None and after is not None and _same(after, new):
            return Spliced(data=data, rewritten=False)
    return Spliced(data=whole(new).encode(), rewritten=True)


def whole(new: Baseline) -> str:
    """Return the text of a baseline that nobody wrote by hand."""
    skills: dict[str, Plain] = {name: dict(_values(skill)) for name, skill in new.skills.items()}
    return _HEAD + dump({**_top(new), "skills": skills})


def _top(new: Baseline) -> dict[str, Plain]:
    values = {"version": new.version, "overall_score": new.overall_score, "generated_by": new.generated_by}
    return {name: value for name, value in values.items() if value is not None}


def _values(skill: BaselineSkill) -> dict[str, _Scalar]:
    """Return what a skill's row says, in the order of a new file."""
    found: dict[str, Any] = {name: skill.scores.get(name) for name in DIMENSIONS}
    found |= {name: getattr(skill, name) for name in _ROW if name not in found}
    return {name: value for name, value in found.items() if value is not None}


def _same(one: Baseline, other: Baseline) -> bool:
    def bare(baseline: Baseline) -> Baseline:
        skills = {name: msgspec.structs.replace(skill, line=None) for name, skill in baseline.skills.items()}
        return msgspec.structs.replace(baseline, skills=skills)

    return bare(one) == bare(other)


# -- edits -------------------------------------------------------------------------------------------------------------


def _edited(old: bytes, new: Baseline) -> bytes | None:
    """Return the old file with its values replaced, None where it is not made as it would have to be."""
    mark = b"\xef\xbb\xbf" if old.startswith(b"\xef\xbb\xbf") else b""
    text = old.decode("utf-8-sig")
    windows = "\r\n" in text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text if text.endswith("\n") else f"{text}\n"
    root = yaml.SafeLoader(text).get_single_node()
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        return None
    editor = _Editor(text)
    fields = {key.value: value for key, value in root.value}
    editor.row(root, _top(new), _TOP)
    editor.skills(root, fields.get("skills"), new.skills)
    # From the end, so that no index moves; of two at one place, the later one first, so that it comes to stand behind.
    edits = sorted(editor.edits, key=lambda edit: (edit.start, edit.end))
    for edit in edits[::-1]:
        text = text[: edit.start] + edit.text + text[edit.end :]
    return mark + (text.replace("\n", "\r\n") if windows else text).encode()


class _Editor:
    def __init__(self, text: str) -> None:
        self.text = text
        self.edits: list[_Edit] = []

    def row(self, node: Any, values: Mapping[str, Plain], known: Sequence[str]) -> None:
        """Make a block mapping of scalars say `values`, of the keys in `known`, whose order new lines keep."""
        have = {key.value: (key, value) for key, value in node.value}
        after: Any = None
        lines: dict[int, list[str]] = {}
        for name in known:
            if name in have and name in values:
                self._replace(have[name][1], values[name])
                after = have[name][1]
            elif name in have:
                self._remove(*have[name])
            elif name in values:
                first = node.value[0][0]
                at = self._line_end(after.end_mark.index) if after is not None else self._line_start(first)
                lines.setdefault(at, []).append(f"{' ' * first.start_mark.column}{name}: {scalar(values[name])}\n")
        self.edits += [_Edit(start=at, end=at, text="".join(found)) for at, found in lines.items()]

    def skills(self, root: Any, node: Any, skills: Mapping[str, BaselineSkill]) -> None:
        """Make the mapping of skills say all of `skills`: rows that are there are edited, others follow the last."""
        have: dict[str, Any] = {}
        if isinstance(node, yaml.MappingNode) and not node.flow_style:
            have = {key.value: (key, value) for key, value in node.value}
        column = min((key.start_mark.column for key, _ in have.values()), default=2)
        step = next((v.value[0][0].start_mark.column - column for _, v in have.values() if _is_block(v)), 2)
        for name, (key, value) in have.items():
            values = _values(skills[name])
            if _is_block(value):
                self.row(value, values, _ROW)
            elif isinstance(value, yaml.MappingNode):
                self._flow(value, values)
            else:
                self._null(key, value, _indented(values, column + step))
        added = "".join(
            f"{' ' * column}{scalar(name)}:\n{_indented(_values(skill), column + step)}"
            for name, skill in skills.items()
            if name not in have
        )
        if added and have:
            at = self._line_end(_last(node))
            self.edits.append(_Edit(start=at, end=at, text=added))
        elif added:
            key = next(key for key, _ in root.value if key.value == "skills")
            self._null(key, node, added)

    def _flow(self, node: Any, values: Mapping[str, _Scalar]) -> None:
        """Write a ``{…}`` anew, unless it says the same already; keys that are not ours stay, in their place."""
        have = {key.value: (key, value) for key, value in node.value}
        ours = {name for name in have if name in _ROW}
        if ours == set(values) and all(_says(have[name][1], values[name]) for name in ours):
            return
        parts = [
            f"{scalar(name)}: {self.text[value.start_mark.index : value.end_mark.index]}"
            for name, (_, value) in have.items()
            if name not in _ROW
        ]
        parts += [f"{name}: {scalar(value)}" for name, value in values.items()]
        text = "{" + ", ".join(parts) + "}"
        self.edits.append(_Edit(start=node.start_mark.index, end=node.end_mark.index, text=text))

    def _replace(self, node: Any, value: Plain) -> None:
        """Put a scalar in the place of another, unless it says the same already, however it is spelled."""
        start, end = node.start_mark.index, node.end_mark.index
        old = self.text[start:end]
        if _says(node, value):
            return
        gap = " " if self.text[start - 1 : start] == ":" else ""
        self.edits.append(_Edit(start=start, end=end, text=gap + scalar(value) + ("\n" if old.endswith("\n") else "")))

    def _remove(self, key: Any, value: Any) -> None:
        start = self._line_start(key)
        self.edits.append(_Edit(start=start, end=self._line_end(max(value.end_mark.index - 1, start)), text=""))

    def _null(self, key: Any, node: Any, block: str) -> None:
        """Put a block below a key that has none: nothing, ``null`` or ``{}`` stands behind it."""
        colon = self.text.index(":", key.end_mark.index)
        if node.end_mark.index > node.start_mark.index:
            start = node.start_mark.index - (self.text[node.start_mark.index - 1] == " ")
            self.edits.append(_Edit(start=start, end=node.end_mark.index, text=""))
        at = self._line_end(max(colon, node.end_mark.index if node.end_mark.line == key.end_mark.line else colon))
        self.edits.append(_Edit(start=at, end=at, text=block))

    def _line_start(self, key: Any) -> int:
        return self.text.rfind("\n", 0, key.start_mark.index) + 1

    def _line_end(self, index: int) -> int:
        """Return where the line behind the one with this character begins."""
        return self.text.index("\n", index) + 1


def _is_block(node: Any) -> bool:
    return isinstance(node, yaml.MappingNode) and not node.flow_style and bool(node.value)


def _last(node: Any) -> int:
    """Return the index of the last character of what stands in a node, without the comments behind it."""
    while isinstance(node, (yaml.MappingNode, yaml.SequenceNode)) and node.value and not node.flow_style:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(max(node.end_mark.index - 1, node.start_mark.index))


def _says(node: Any, value: Plain) -> bool:
    """Tell whether a scalar node says a value already, however it is spelled."""
    if isinstance(value, str):
        return bool(node.value == value)
    return node.value == scalar(value) or _number(node.value) == value


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except ArithmeticError:
        return None


def _indented(values: Mapping[str, _Scalar], column: int) -> str:
    return "".join(f"{' ' * column}{name}: {scalar(value)}\n" for name, value in values.items())
