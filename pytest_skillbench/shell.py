"""A script in `sh` or `bash` -> its complete commands, each to be run by itself.

Core: reads text, runs nothing. This is how a fence of hard assertions becomes one assertion a command: a command ends
at the first line end at which the shell would run it, so quotes, continuations, here-documents, substitutions and
compound commands hold lines together. Follows POSIX.1-2017 Shell Command Language 2.4 (reserved words), 2.9 and 2.10
(commands and grammar), and bash's grammar where a bash script may differ. What is not complete at the end, or closes
what was never opened, is an error and never a guess. Other nonsense is left to the shell, which refuses to run it.
`shellwords` knows words, quotes and here-documents; this module knows commands.
"""

from __future__ import annotations

from typing import Literal

from .model import Value
from .shellwords import Reader, Shell, ShellError

# Compound commands: the word that opens one, and the word that closes it.
_OPENS = {"if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac", "{": "}"}
_CLOSES = frozenset(_OPENS.values())
# Words within a compound command, behind which another command stands, and the closer they belong to.
_WITHIN = {"then": "fi", "elif": "fi", "else": "fi", "do": "done"}
_BASH_ONLY = frozenset({"select", "function", "coproc", "time", "[["})
_LIST_OPERATORS = frozenset({"&&", "||", "|", "|&"})
_CASE_OPERATORS = frozenset({";;", ";&", ";;&"})

# What stands next: a command; more words of a command; the variable of for or select; its `in` or `do`; its list; the
# word of case; its `in`; a pattern; a function's name; its body.
_Next = Literal["command", "words", "for-name", "for-in", "for-list", "case-word", "case-in", "pattern", "name", "body"]


class Command(Value, frozen=True):
    """One complete command: its text, the 0-based line where it begins, the comment on the line above it."""

    text: str
    line: int
    title: str | None


class _Commands:
    """Reads one complete command, or all commands of a substitution, off a shared `Reader`."""

    def __init__(self, reader: Reader, *, inside: bool) -> None:
        self.reader = reader
        self.inside = inside  # a substitution: the list goes on, across lines, to its closing parenthesis
        self.open: list[tuple[str, int]] = []  # closers that are still to come, and the lines of what opened them
        self.next: _Next = "command"
        self.pending: tuple[str, int] | None = None  # what still needs a command behind it, and its line
        self.first = True  # nothing of a command has been read
        self.fresh = False  # a pattern list has not begun: `esac` may stand here
        self.words = 0  # words of the command that is being read

    def read(self) -> None:
        """Consume the command. Raises ShellError where it is broken or never becomes complete."""
        reader = self.reader
        while True:
            reader.skip_blanks()
            char = reader.peek()
            if char == "":
                return self._end()
            if char == "\n":
                reader.newline()
                if self._line_ends():
                    return None
            elif char == "#":
                reader.comment()
            elif char in ";&|()<>" and not reader.is_substitution():
                if self._operator():
                    return None
            else:
                self._word()

    def _nested(self) -> None:
        _Commands(self.reader, inside=True).read()

    def _end(self) -> None:
        if self.open:
            closer, line = self.open[-1]
            raise ShellError(line, f"this command is not complete: no {closer} for it")
        if self.pending is not None:
            raise ShellError(self.pending[1], f"this command is not complete: nothing after {self.pending[0]}")
        if self.inside:
            raise ShellError(self.reader.line, "this command is not complete: no ) for a substitution")
        self.reader.require_documents()

    def _line_ends(self) -> bool:
        """Take note of a line end; tell whether the command is complete with it."""
        if self.next in ("words", "for-list"):
            self.next = "command"
        return not (self.open or self.pending or self.inside or self.first)

    # -- operators -----------------------------------------------------------------------------------------------------

    def _operator(self) -> bool:
        """Consume an operator; True where it is the parenthesis that ends a substitution."""
        reader = self.reader
        line = reader.line
        text = reader.operator()
        if text == "(":
            self._parenthesis(line)
        elif text == ")":
            return self._closing(line)
        elif "<" in text or ">" in text:
            reader.redirection(text, self._nested)
            self._began()
            self.next = "words" if self.next == "command" else self.next
        elif text in _CASE_OPERATORS:
            if not self.open or self.open[-1][0] != "esac" or self.next == "pattern":
                raise ShellError(line, f"{text} outside a case")
            self._pattern()
        elif self.next != "pattern":
            self._separator(text, line)
        return False

    def _separator(self, text: str, line: int) -> None:
        if self.first:
            raise ShellError(line, f"a command can't begin with {text}")
        if self.pending is not None:
            raise ShellError(line, f"nothing between {self.pending[0]} and {text}")
        self.next = "command"
        if text in _LIST_OPERATORS:
            self.pending = (text, line)

    def _parenthesis(self, line: int) -> None:
        reader = self.reader
        if self.next == "pattern":
            self.fresh = False
        elif self.next == "for-name":
            if reader.peek() != "(" or not reader.arithmetic(self._nested):
                raise ShellError(line, "for without a variable")
            self.next = "for-in"
        elif (self.next == "words" and self.words == 1) or (self.next == "body" and self._empty_parentheses()):
            reader.skip_blanks()
            if reader.operator() != ")" if reader.peek() == ")" else True:
                raise ShellError(line, "a ( in the middle of a command")
            self.next, self.pending = "command", ("the head of a function", line)
        elif self.next not in ("command", "body"):
            raise ShellError(line, "a ( in the middle of a command")
        elif reader.shell == "bash" and reader.peek() == "(" and reader.arithmetic(self._nested):
            self._began()
            self.next = "command"
        else:
            self._begin(")", line)

    def _empty_parentheses(self) -> bool:
        return self.reader.text[self.reader.position :].lstrip(" \t").startswith(")")

    def _closing(self, line: int) -> bool:
        if self.next == "pattern":
            self.next = "command"
            return False
        if self.open or not self.inside:
            self._close(")", line)
            return False
        if self.pending is not None:
            raise ShellError(line, f"nothing between {self.pending[0]} and )")
        self.reader.require_documents()
        return True

    # -- compound commands ---------------------------------------------------------------------------------------------

    def _began(self) -> None:
        self.first, self.pending = False, None

    def _begin(self, closer: str, line: int) -> None:
        self._began()
        self.open.append((closer, line))
        self.next = "command"

    def _close(self, closer: str, line: int) -> None:
        if not self.open or self.open[-1][0] != closer:
            raise ShellError(line, f"{closer} closes nothing")
        if self.pending is not None:
            raise ShellError(line, f"nothing between {self.pending[0]} and {closer}")
        self.open.pop()
        self.next = "command"  # where only an operator or another reserved word can follow, and is one

    def _pattern(self) -> None:
        self.next, self.fresh = "pattern", True

    # -- words ---------------------------------------------------------------------------------------------------------

    def _word(self) -> None:
        reader = self.reader
        line = reader.line
        word = reader.word(self._nested)
        if word.isdigit() and reader.peek() in ("<", ">"):
            return  # the number of a redirection
        if self.next in ("command", "body"):
            self._command_word(word, line)
        elif self.next == "words":
            self.words += 1
        elif self.next == "name":
            self.next = "body"
        elif self.next != "for-list":
            self._head_word(word, line)

    def _head_word(self, word: str, line: int) -> None:
        """Handle a word between for, select or case and their first command."""
        if self.next == "for-name":
            self.next = "for-in"
        elif self.next == "for-in":
            if word not in ("in", "do"):
                raise ShellError(line, "for without in or do")
            self.next = "for-list" if word == "in" else "command"
        elif self.next == "case-word":
            self.next = "case-in"
        elif self.next == "case-in":
            if word != "in":
                raise ShellError(line, "case without in")
            self._pattern()
        elif word == "esac" and self.fresh:
            self._close("esac", line)
        else:
            self.fresh = False

    def _command_word(self, word: str, line: int) -> None:
        """Handle a word where a command begins, the only place where reserved words are reserved."""
        if word in _BASH_ONLY and self.reader.shell != "bash":
            self._simple()
        elif word in _CLOSES:
            self._close(word, line)
        elif word in _WITHIN:
            if not self.open or self.open[-1][0] != _WITHIN[word]:
                raise ShellError(line, f"{word} belongs to nothing")
            if self.pending is not None:
                raise ShellError(line, f"nothing between {self.pending[0]} and {word}")
        elif word in _OPENS:
            self._begin(_OPENS[word], line)
            if word != "{":
                self.next = {"case": "case-word", "for": "for-name", "select": "for-name"}.get(word, "command")  # type: ignore[assignment]  # the values are members of _Next
        elif word == "[[":
            self._began()
            self.reader.conditional(self._nested, line)
        elif word == "function":
            self.first, self.pending, self.next = False, ("the head of a function", line), "name"
        elif word == "coproc":
            raise ShellError(line, "coproc has no place in a hard assertion")
        elif word in ("!", "time") or (word == "-p" and self.words == -1):
            self.first, self.pending = False, None
            self.words = -1 if word == "time" else 0
        else:
            self._simple()

    def _simple(self) -> None:
        self._began()
        self.next, self.words = "words", 1


def split(text: str, shell: Shell) -> tuple[tuple[Command, ...], ShellError | None]:
    """Return the complete commands of a script in order, and the first thing that is wrong with it.

    After an error nothing is read: a command that is never completed has swallowed the rest. Its line is 0-based.
    """
    lines = text.split("\n")
    reader = Reader(text, shell)
    commands: list[Command] = []
    while True:
        reader.skip_to_command()
        if reader.peek() == "":
            return tuple(commands), None
        start, line = reader.position, reader.line
        try:
            _Commands(reader, inside=False).read()
        except ShellError as error:
            return tuple(commands), error
        except RecursionError:
            return tuple(commands), ShellError(line, "substitutions nested too deeply")
        body = text[start : reader.position].removesuffix("\n")
        commands.append(Command(text=body, line=line, title=_title(lines, line)))


def _title(lines: list[str], line: int) -> str | None:
    above = lines[line - 1].strip(" \t") if line else ""
    if not above.startswith("#") or above.startswith("#!"):
        return None
    return above.strip("# \t") or None
