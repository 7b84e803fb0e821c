"""A shell script that an agent ran -> its simple commands, one after the other, with words as the shell would see them.

Core, lenient where `shellwords` is strict: whatever the text, something is read, nothing raises, and what can't be
known (an unset variable, a command's output) is `UNKNOWN` in its word. For the audit, which must find the paths in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from .model import Value

UNKNOWN = "\0"
_BLANKS = re.compile(r"(?:[ \t\r]|\\\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_OPERATOR = re.compile(r"\|\||&&|;;&?|;&|\|&|[;&|\n()]")
_REDIRECTION = re.compile(r"(?:[0-9]+|\{\w+\})?(&>>|&>|<<<|<<-|<<|<>|>>|>\||<&|>&|<(?!\()|>(?!\())")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[^\s\\'\"`$;&|()<>~\0]+")
_QUOTED = re.compile(r'[^\\"`$]+')
_SPECIAL = re.compile(r"[0-9@*#?$!-]")
_BRACES = re.compile(r"\$\{(!?[A-Za-z_][A-Za-z0-9_]*)?([^{}]*)\}")
_DEFAULT = re.compile(r":?[-=](.*)", re.DOTALL)
_IN_DOCUMENT = re.compile(r"\$\(|`")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Command(Value, frozen=True):
    """One simple command: its words, the files it is redirected from and to.

    `document`: the text of its here-documents and here-strings. `piped`: it reads what another command writes.
    """

    words: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    document: str
    piped: bool


Event: TypeAlias = Command | Literal["(", ")"]


class Script:
    """A cursor over a script. `broken`: something in it did not end, so what was read of it is a guess.

    `lookup` gives the value of a variable (`UNKNOWN` where none is known); `nested` is handed the script of each
    substitution and gives what it prints. Both are asked when all commands before have been yielded, so that they can
    follow assignments.
    """

    def __init__(self, text: str, lookup: Callable[[str], str], nested: Callable[[str], str]) -> None:
        self.text = text.replace(UNKNOWN, "\ufffd").replace("\r\n", "\n")
        self.at = 0
        self.broken = False
        self._lookup = lookup
        self._nested = nested
        self._documents_end = 0

    def events(self) -> Iterator[Event]:
        """Yield the commands in their order, and the parentheses of subshells around them."""
        words: list[str] = []
        reads: list[str] = []
        writes: list[str] = []
        document, piped = "", False
        while True:
            self._skip(_BLANKS)
            self._skip(_COMMENT)
            if match := _REDIRECTION.match(self.text, self.at):
                self.at = match.end()
                document += self._redirection(match[1], reads, writes)
                continue
            operator = _OPERATOR.match(self.text, self.at)
            if operator is None and self.at < len(self.text):
                words.append(self._word())
                continue
            complete = bool(words or reads or writes)
            if complete:
                yield Command(
                    words=tuple(words), reads=tuple(reads), writes=tuple(writes), document=document, piped=piped
                )
            if operator is None:
                return
            words, reads, writes, document = [], [], [], ""
            self.at = operator.end()
            piped = operator[0] in ("|", "|&") or (piped and not complete and operator[0] in ("\n", "("))
            if operator[0] == "\n":
                self.at = max(self.at, self._documents_end)
            elif operator[0] == "(":
                yield "("
            elif operator[0] == ")":
                yield ")"

    # -- redirections --------------------------------------------------------------------------------------------------

    def _redirection(self, operator: str, reads: list[str], writes: list[str]) -> str:
        """Take what stands behind a redirection operator; return the text of a here-document or here-string."""
        self._skip(_BLANKS)
        if operator in ("<<", "<<-"):
            start = self.at
            end = self._word_as_written()
            return self._document(self.text[start:end], tabs=operator == "<<-")
        target = self._word()
        if operator == "<<<":
            return target + "\n"
        if operator in (">&", "<&") and (target.isdigit() or target == "-"):
            return ""
        if target:
            (reads if operator in ("<", "<&", "<>") else writes).append(target)
        return ""

    def _word_as_written(self) -> int:
        """Go past a word without evaluating anything in it."""
        while self.at < len(self.text) and self.text[self.at] not in " \t\r\n;&|()<>":
            if self.text[self.at] in "'\"" and (end := self.text.find(self.text[self.at], self.at + 1)) > 0:
                self.at = end
            self.at += 1
        return min(self.at, len(self.text))

    def _document(self, delimiter: str, *, tabs: bool) -> str:
        """Take a here-document's body, which begins behind this line and the bodies before; look for commands in it."""
        literal = any(mark in delimiter for mark in "'\"\\")
        end = re.sub(r"\\(.)|['\"]", r"\1", delimiter)
        newline = self.text.find("\n", self.at)
        start = at = max(newline + 1 if newline >= 0 else len(self.text), self._documents_end)
        while at < len(self.text):
            stop = self.text.find("\n", at)
            stop = len(self.text) if stop < 0 else stop
            line = self.text[at:stop].rstrip("\r")
            if (line.lstrip("\t") if tabs else line) == end:
                body = self.text[start:at]
                self._documents_end = min(stop + 1, len(self.text))
                break
            at = stop + 1
        else:
            body, self.broken = self.text[start:], True
            self._documents_end = len(self.text)
        if not literal:
            self._substitutions(body)
        return body

    def _substitutions(self, body: str) -> None:
        at = 0
        while match := _IN_DOCUMENT.search(body, at):
            closed = body.find("`", match.end()) if match[0] == "`" else _balanced(body, match.end())
            if closed < 0:
                return
            self._nested(body[match.end() : closed])
            at = closed + 1

    # -- words ---------------------------------------------------------------------------------------------------------

    def _word(self) -> str:
        parts: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if match := _PLAIN.match(self.text, self.at):
                parts.append(match[0])
                self.at = match.end()
            elif char in "<>" and self.text[self.at + 1 : self.at + 2] == "(":
                self.at += 2
                self._commands()
                parts.append(UNKNOWN)
            elif char.isspace() or char in ";&|()<>":
                if char not in " \t\r\n;&|()<>":  # a blank to Unicode, none to the shell
                    parts.append(char)
                    self.at += 1
                    continue
                break
            elif char == "~":
                self.at += 1
                starts = not parts or (len(parts) == 1 and parts[0].endswith("="))
                home = starts and self.text[self.at : self.at + 1] in ("", "/", " ", "\t", "\n", ";", "&", "|", ")")
                parts.append(self._lookup("HOME") if home else UNKNOWN if starts else "~")
            else:
                parts.append(self._quoting(char))
        return "".join(parts)

    def _quoting(self, char: str) -> str:
        """Take one quoted or expanded part of a word, at whose first character the cursor is."""
        if char == "\\":
            taken = self.text[self.at + 1 : self.at + 2]
            self.at += 2
            return "" if taken == "\n" else taken
        if char == "'":
            return self._until("'")
        if char == '"':
            return self._double()
        if char == "`":
            script = self._until("`")
            return self._nested(script.replace("\\`", "`"))
        return self._dollar()

    def _until(self, mark: str) -> str:
        """Take a part that begins and ends with `mark`, and return what is between."""
        end = self.text.find(mark, self.at + 1)
        while mark == "`" and end > 0 and self.text[end - 1] == "\\":
            end = self.text.find(mark, end + 1)
        if end < 0:
            self.broken, end = True, len(self.text)
        inside = self.text[self.at + 1 : end]
        self.at = end + 1
        return inside

    def _double(self) -> str:
        parts: list[str] = []
        self.at += 1
        while self.at < len(self.text):
            char = self.text[self.at]
            if match := _QUOTED.match(self.text, self.at):
                parts.append(match[0])
                self.at = match.end()
            elif char == '"':
                self.at += 1
                return "".join(parts)
            elif char == "\\" and self.text[self.at + 1 : self.at + 2] not in ("$", "`", '"', "\\", "\n"):
                parts.append("\\")
                self.at += 1
            else:
                parts.append(self._quoting(char))
        self.broken = True
        return "".join(parts)

    def _dollar(self) -> str:
        """Take an expansion, at whose ``$`` the cursor is."""
        rest = self.text[self.at + 1 : self.at + 2]
        if rest == "(":
            self.at += 2
            return self._commands()
        if rest == "{":
            return self._braces()
        if rest == "'":
            self.at += 1
            return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), self._until("'"))
        if match := _NAME.match(self.text, self.at + 1):
            self.at = match.end()
            return self._lookup(match[0])
        if match := _SPECIAL.match(self.text, self.at + 1):
            self.at = match.end()
            return UNKNOWN
        self.at += 1
        return "" if rest == '"' else "$"

    def _commands(self) -> str:
        """Take a substitution from behind its parenthesis; an arithmetic one runs nothing."""
        start = self.at
        end = _balanced(self.text, start)
        if end < 0:
            self.broken, end = True, len(self.text)
        self.at = end + 1
        script = self.text[start:end]
        return UNKNOWN if script.startswith("(") and script.endswith(")") else self._nested(script)

    def _braces(self) -> str:
        match = _BRACES.match(self.text, self.at)
        if match is None:
            end = self.text.find("}", self.at)
            self.at = len(self.text) if end < 0 else end + 1
            return UNKNOWN
        self.at = match.end()
        name, operator = match[1] or "", match[2]
        value = self._lookup(name) if name and not name.startswith("!") else UNKNOWN
        if not operator:
            return value
        default = _DEFAULT.fullmatch(operator)
        if default is None:
            return UNKNOWN
        return default[1] if value == UNKNOWN and "$" not in default[1] else value

    def _skip(self, what: re.Pattern[str]) -> None:
        if match := what.match(self.text, self.at):
            self.at = match.end()


_QUOTE_OR_PARENTHESIS = re.compile(r"""\\.|'[^']*'|"(?:[^"\\]|\\.)*"|[()]""", re.DOTALL)


def _balanced(text: str, start: int) -> int:
    """Return where the parenthesis closes that was opened before `start`, -1 where it does not."""
    depth = 1
    for match in _QUOTE_OR_PARENTHESIS.finditer(text, start):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
            if depth == 0:
                return match.start()
    return -1
