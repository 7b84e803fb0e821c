"""The words of a shell script: quotes, substitutions, comments, operators and here-documents.

Core: a cursor over text that `shell` drives. Follows POSIX.1-2017 Shell Command Language 2.2 (quoting), 2.3 (tokens),
2.6.2 to 2.6.4 (expansions) and 2.7.4 (here-documents), and bash's manual for ``$'…'``, arrays, ``<(…)``, ``[[ … ]]``.
Nothing is expanded: all that matters here is where a word, and with it a command, can end.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, TypeAlias

Shell: TypeAlias = Literal["sh", "bash"]
Nested: TypeAlias = Callable[[], None]

_PLAIN = re.compile(r"[^ \t\n;&|()<>\\'\"`$]+")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_TO_COMMAND = re.compile(r"(?:[ \t\n]|\\\n|#[^\n]*)+")
_OPERATOR = re.compile(r"&>>|<<-|<<<|;;&|&&|\|\||\|&|;;|;&|<<|>>|<&|>&|<>|>\||&>|[<>|&;()]")
_ARRAY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\n]*\])?\+?=\Z")
# What stands between ${ and its operator. With these operators a pattern follows, in which a ' quotes even inside "…";
# with others it does so in bash alone.
_PARAMETER = re.compile(r"[!#]?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(?:\[[^]\n]*\])?")
_PATTERN_OPERATORS = "#%/^,"
_MOST_DOUBLES = 100  # each costs a look at the rest of the script


class ShellError(Exception):
    """Something in a script that is not complete or not shell: the 0-based line, and what."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


class Reader:
    """A cursor over a script. `position` is a character index, `line` its 0-based line."""

    def __init__(self, text: str, shell: Shell) -> None:
        self.text = text
        self.shell = shell
        self.position = 0
        self._line_at = (0, 0)
        self._documents: list[tuple[str, bool, bool, int, int]] = []
        self._depth = 0
        self._not_arithmetic: set[int] = set()

    @property
    def line(self) -> int:
        """Return the 0-based line of the cursor; cheap, since it counts on from where it was asked last."""
        at, line = self._line_at
        if at > self.position:
            at, line = 0, 0
        self._line_at = (self.position, line + self.text.count("\n", at, self.position))
        return self._line_at[1]

    # -- tokens --------------------------------------------------------------------------------------------------------

    def peek(self, ahead: int = 0) -> str:
        """Return the character at the cursor, "" at the end."""
        at = self.position + ahead
        return self.text[at : at + 1]

    def skip_blanks(self) -> None:
        """Go past blanks and line continuations."""
        self._skip(_BLANKS)

    def skip_to_command(self) -> None:
        """Go past everything that is no command: blanks, empty lines, comments."""
        self._skip(_TO_COMMAND)

    def comment(self) -> None:
        """Go to the end of the line."""
        end = self.text.find("\n", self.position)
        self.position = len(self.text) if end < 0 else end

    def operator(self) -> str:
        """Consume the longest operator and return it."""
        match = _OPERATOR.match(self.text, self.position)
        assert match is not None  # noqa: S101  # the caller looked: the cursor is at one of the operators' characters
        self.position = match.end()
        return match.group()

    def is_substitution(self) -> bool:
        """Tell whether the cursor is at ``<(`` or ``>(``."""
        return self.peek() in ("<", ">") and self.peek(1) == "("

    def word(self, nested: Nested) -> str:
        """Consume one word and return it as written, without line continuations.

        `nested` reads the commands of a substitution, from behind its ``(`` past its ``)``. Raises ShellError.
        """
        parts: list[str] = []
        start = self.position
        while char := self.peek():
            if match := _PLAIN.match(self.text, self.position):
                self.position = match.end()
            elif char == "\\":
                if self.peek(1) == "\n":
                    parts.append(self.text[start : self.position])
                    self.position += 2
                    start = self.position
                else:
                    self._take(2)
            elif char == "'":
                self._single()
            elif char == '"':
                self._double(nested)
            elif char == "`":
                self._backquote()
            elif char == "$":
                self._dollar(nested, quoted=False)
            elif self.is_substitution():
                self._take(2)
                self._commands(nested)
            elif char == "(" and _ARRAY.match("".join(parts) + self.text[start : self.position]):
                self._array(nested)
            else:
                break
        parts.append(self.text[start : self.position])
        return "".join(parts)

    # -- lines and here-documents --------------------------------------------------------------------------------------

    def redirection(self, operator: str, nested: Nested) -> None:
        """Consume what a redirection operator needs behind it; for ``<<`` remember the here-document."""
        line = self.line
        self.skip_blanks()
        target = self.word(nested)
        if not target:
            raise ShellError(line, f"nothing after {operator}")
        if operator in ("<<", "<<-"):
            quoted = any(mark in target for mark in "'\"\\")
            delimiter = re.sub(r"\\(.)|['\"]", r"\1", target)
            self._documents.append((delimiter, quoted, operator == "<<-", line, self._depth))

    def newline(self) -> None:
        """Consume a line end and the here-documents whose bodies begin behind it."""
        self._take(1)
        for delimiter, quoted, tabs, line, depth in self._documents:
            if depth < self._depth:
                raise ShellError(line, "a here-document and a substitution over several lines begin on one line")
            self._document(delimiter, quoted, tabs, line)
        self._documents.clear()

    def require_documents(self) -> None:
        """Raise ShellError where a here-document was announced on this level and no line is left for its body."""
        for delimiter, _, _, line, depth in self._documents:
            if depth >= self._depth:
                raise ShellError(line, f"the here-document has no line {delimiter}")

    def _document(self, delimiter: str, quoted: bool, tabs: bool, line: int) -> None:
        while self.position < len(self.text):
            body = self._body_line()
            # Where the delimiter is not quoted, a backslash joins lines before they are compared with it.
            while not quoted and _continued(body) and self.position < len(self.text):
                body = body[:-1] + self._body_line()
            if (body.lstrip("\t") if tabs else body) == delimiter:
                return
        raise ShellError(line, f"the here-document has no line {delimiter}")

    def _body_line(self) -> str:
        end = self.text.find("\n", self.position)
        end = len(self.text) if end < 0 else end
        body = self.text[self.position : end]
        self.position = min(end + 1, len(self.text))
        return body

    # -- quotes and expansions -----------------------------------------------------------------------------------------

    def _skip(self, what: re.Pattern[str]) -> None:
        if match := what.match(self.text, self.position):
            self.position = match.end()

    def _take(self, count: int) -> None:
        self.position = min(self.position + count, len(self.text))

    def _commands(self, nested: Nested) -> None:
        self._depth += 1
        try:
            nested()
        finally:
            self._depth -= 1

    def _single(self) -> None:
        end = self.text.find("'", self.position + 1)
        if end < 0:
            raise ShellError(self.line, "a ' is never closed")
        self.position = end + 1

    def _dollar_single(self) -> None:
        """Consume ``$'…'`` from its quote on. Not every `sh` knows it, so an unclear end is refused there."""
        line = self.line
        end = self.position + 1
        while end < len(self.text) and self.text[end] != "'":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise ShellError(line, "a $' is never closed")
        if self.shell == "sh" and "'" in self.text[self.position + 1 : end]:
            raise ShellError(line, "$'…\\'…' does not end at the same place in every sh; a bash fence is needed for it")
        self.position = end + 1

    def _double(self, nested: Nested) -> None:
        line = self.line
        self._take(1)
        while (char := self.peek()) != '"':
            if char == "":
                raise ShellError(line, 'a " is never closed')
            self._inside(char, nested, quoted=True)
        self._take(1)

    def _inside(self, char: str, nested: Nested, *, quoted: bool) -> None:
        """Consume one piece of what stands in double quotes, in ``${…}`` or in arithmetic."""
        if char == "\\":
            self._take(2)
        elif char == "`":
            self._backquote()
        elif char == "$":
            self._dollar(nested, quoted=quoted)
        else:
            self._take(1)

    def _backquote(self) -> None:
        line = self.line
        self._take(1)
        while (char := self.peek()) != "`":
            if char == "":
                raise ShellError(line, "a ` is never closed")
            self._take(2 if char == "\\" else 1)
        self._take(1)

    def _dollar(self, nested: Nested, *, quoted: bool) -> None:
        self._take(1)
        char = self.peek()
        if char == "(":
            self._take(1)
            if self.peek() != "(" or not self.arithmetic(nested):
                self._commands(nested)
        elif char == "{":
            self._parameter(nested, quoted=quoted)
        elif char == "'" and not quoted:
            self._dollar_single()

    def _parameter(self, nested: Nested, *, quoted: bool) -> None:
        line = self.line
        self._take(1)
        match = _PARAMETER.match(self.text, self.position)
        if match:
            self.position = match.end()
        pattern = not quoted or self.shell == "bash" or self.peek() in _PATTERN_OPERATORS
        while (char := self.peek()) != "}":
            if char == "":
                raise ShellError(line, "a ${ is never closed")
            if char == "'" and pattern:
                self._single()
            elif char == '"':
                self._double(nested)
            else:
                self._inside(char, nested, quoted=quoted)
        self._take(1)

    def arithmetic(self, nested: Nested) -> bool:
        """At the second ``(`` of ``((``: consume up to ``))`` and return True, or nothing where it is two parentheses.

        A position that turned out to be no arithmetic is remembered: else nested ones would be tried again and again.
        """
        start = self.position
        if start in self._not_arithmetic or self.text.find("))", start) < 0:
            return False
        if len(self._not_arithmetic) >= _MOST_DOUBLES:
            raise ShellError(self.line, "too many (( that are no arithmetic")
        try:
            if self._arithmetic(nested):
                return True
        except ShellError:
            pass
        self._not_arithmetic.add(start)
        self.position = start
        return False

    def _arithmetic(self, nested: Nested) -> bool:
        self._take(1)
        depth = 0
        while char := self.peek():
            if char == ")":
                self._take(1)
                if depth == 0:
                    closed = self.peek() == ")"
                    self._take(1)
                    return closed
                depth -= 1
            elif char == '"':
                self._double(nested)
            else:
                depth += char == "("
                self._inside(char, nested, quoted=True)
        return False

    def _array(self, nested: Nested) -> None:
        line = self.line
        self._take(1)
        while True:
            self.skip_to_command()
            char = self.peek()
            if char == "":
                raise ShellError(line, "an array's ( is never closed")
            if char == ")":
                self._take(1)
                return
            if not self.word(nested):
                raise ShellError(line, f"an array with {char} in it")

    def conditional(self, nested: Nested, line: int) -> None:
        """Consume a bash ``[[ … ]]`` from behind its opening word; `line` is where that stands."""
        while True:
            self.skip_blanks()
            char = self.peek()
            if char == "":
                raise ShellError(line, "this command is not complete: no ]] for it")
            if char == "\n":
                self.newline()
            elif char == "#":
                self.comment()
            elif char in "();&|<>":
                self._take(1)
            elif self.word(nested) == "]]":
                return


def _continued(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1
