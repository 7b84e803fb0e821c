"""What a case expects: hard assertions out of fences, soft criteria out of a list.

Core: a section's blocks in, records and problems out; `casefile` calls it. Nothing that an author may have meant as an
assertion or a criterion is dropped without a word.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from markdown_it.token import Token

from .errors import Problem
from .model import Assertion
from .sections import Section, is_comment, line_of
from .shell import split
from .suggest import closest

# A command is handed to the shell as one argument; Linux takes at most 131,072 bytes in one.
_LONGEST_COMMAND = 100_000
_LISTS = ("bullet_list_open", "ordered_list_open")
_MARKER = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$)")
_SHELLS = {"sh": "sh", "bash": "bash", "shell": "sh", "dash": "sh", "posix": "sh", "zsh": "bash", "console": "sh"}


def assertions(section: Section | None, path: str, problems: list[Problem]) -> tuple[Assertion, ...]:
    """Return the commands of the section's `sh` and `bash` fences in order, each with its line in the file."""
    if section is None:
        return ()
    found: list[Assertion] = []
    prose: Token | None = None
    fences = 0

    def report(line: int, slug: str, what: str, expected: str, suggestion: str | None = None) -> None:
        problems.append(
            Problem(path=path, slug=f"case-{slug}", what=what, line=line, expected=expected, suggestion=suggestion)
        )

    for token in section.tokens:
        if token.type == "code_block":
            report(line_of(token), "indented-code", "indented code does not run", "a fence: ```sh")
            fences += 1
        elif token.type == "fence":
            fences += 1
            info = token.info.strip()
            if token.level > 0:
                where = "it outside, at the start of a line"
                report(line_of(token), "nested-fence", "a fence inside a list or a quote does not run", where)
            elif info not in ("sh", "bash"):
                what = f'a fence with the info string "{info}"' if info else "a fence without an info string"
                near = _SHELLS.get(info.lower().split()[0] if info else "") or closest(info, ("sh", "bash"))
                report(line_of(token), "fence-info", what, "sh or bash", near if info else None)
            else:
                found += _commands(token, path, problems)
        elif token.type == "paragraph_open" and prose is None:
            prose = token
    if prose is not None and not fences:
        report(line_of(prose), "no-fence", "text, but no fence: nothing of it runs", "a fence ```sh with the commands")
    return tuple(found)


def _commands(token: Token, path: str, problems: list[Problem]) -> list[Assertion]:
    first = line_of(token) + 1
    kind = "bash" if token.info.strip() == "bash" else "sh"
    commands, error = split(token.content, kind)  # type: ignore[arg-type]  # one of the two shells
    if error is not None:
        line = first + error.line
        expected = f"complete {kind} commands"
        problems.append(Problem(path=path, slug="case-shell", what=error.what, line=line, expected=expected))
    found = []
    for command in commands:
        line = first + command.line
        if len(command.text.encode()) > _LONGEST_COMMAND:
            what = f"a command of {len(command.text):,} characters"
            expected = f"at most {_LONGEST_COMMAND:,} bytes"
            problems.append(Problem(path=path, slug="case-shell-length", what=what, line=line, expected=expected))
        found.append(Assertion(shell=kind, line=line, title=command.title, command=command.text))  # type: ignore[arg-type]
    return found


def criteria(section: Section | None, lines: Sequence[str], path: str, problems: list[Problem]) -> tuple[str, ...]:
    """Return the items of the section's top-level lists, folded to one line each; nested blocks stay as text below.

    A paragraph that ends in a colon may introduce a list; deeper headings may group lists; any other text would be lost
    on the judge, so it is a problem.
    """
    if section is None:
        return ()
    found: list[str] = []
    stray: Token | None = None
    tokens = section.tokens
    blocks = [index for index, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
    for index, after in zip(blocks, [*blocks[1:], None], strict=False):
        token = tokens[index]
        if token.type in (*_LISTS, "heading_open", "hr") or is_comment(token):
            continue
        introduces = token.type == "paragraph_open" and tokens[index + 1].content.rstrip().endswith(":")
        if stray is None and not (introduces and after is not None and tokens[after].type in _LISTS):
            stray = token
    for index, token in enumerate(tokens):
        if token.type == "list_item_open" and token.level == 1:
            text = _item(tokens, index, lines)
            if not text:
                _report(path, problems, line_of(token), "empty-criterion", "an empty criterion", "a statement")
            found.append(text)
    if stray is not None:
        what = "text outside the list is no criterion"
        _report(path, problems, line_of(stray), "stray-criterion", what, "a list item: - …")
    if not found and stray is None:
        _report(path, problems, section.heading, "no-criteria", "no soft criteria", "at least one list item: - …")
    return tuple(found)


def _report(path: str, problems: list[Problem], line: int, slug: str, what: str, expected: str) -> None:
    problems.append(Problem(path=path, slug=f"case-{slug}", what=what, line=line, expected=expected))


def _item(tokens: Sequence[Token], index: int, lines: Sequence[str]) -> str:
    """Return the text of one list item: its first paragraph on one line, what else it holds below, dedented."""
    item = tokens[index]
    first, last = item.map or (0, 0)
    inner: list[Token] = []
    while not ((token := tokens[index + 1 + len(inner)]).type == "list_item_close" and token.level == item.level):
        inner.append(token)
    if all(is_comment(token) for token in inner):
        return ""
    if inner[0].type != "paragraph_open":
        rows = [_MARKER.sub("", lines[first], count=1), *lines[first + 1 : last]]
        return _below(rows[0], rows[1:])
    folded = " ".join(part.strip() for part in inner[1].content.split("\n"))
    end = (inner[0].map or (0, first + 1))[1]
    return _below(folded, lines[end:last])


def _below(head: str, rows: Sequence[str]) -> str:
    rest = textwrap.dedent("\n".join(rows)).strip("\n").rstrip()
    return f"{head}\n{rest}" if rest else head.rstrip()
