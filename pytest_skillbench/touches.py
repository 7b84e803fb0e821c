"""A shell command of an agent -> the paths that it touches, and how.

Core: pure, no look at the disk; the command is read by `commandline`. Knows of the usual programs which of their words
are paths, which of them read a folder when they are given none, and which go down into everything below. A path of
anything else counts where it is spelled as one (``/…``, ``~…``, ``./…``, ``../…``).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable

from .commandline import UNKNOWN, Command, Script
from .programs import (
    CODE,
    CWD_READERS,
    FIND_PATTERNS,
    LOOKERS,
    OPENERS,
    PREFIXES,
    QUIET,
    SCRIPT_FIRST,
    SHELLS,
    VALUES,
    always_deep,
    operands,
)
from .touch import PATH_LIMIT, Touch, absolute, spelled

_LIMIT = 100_000
_MOST = 5_000
_DEEP = 8
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=(.*)", re.DOTALL)
_EMBEDDED = re.compile(r"(?<![\w.\-:/*\0])~?/[^\s'\"`,;:()<>|&{}\[\]\\=?]*")
_WALKS = re.compile(r"\b(?:walk|rglob)\w*\s*\(|\*\*/|\brecursive\b")
_RESERVED = {"if", "then", "elif", "else", "do", "while", "until", "!", "{", "}", "time", "fi", "done", "esac"}


def of_command(script: str, cwd: str, home: str | None, known: Iterable[str] = ()) -> list[Touch]:
    """Return what a shell script touches that is started in `cwd`.

    `home`: what ``~`` means; None: not known. `known`: places that matter, which are found in code also where they have
    a blank in them.
    """
    shell = _Shell(cwd, home, known)
    shell.run(script[:_LIMIT], 0)
    if len(script) > _LIMIT:
        shell.embedded(script[_LIMIT : 10 * _LIMIT])
    return shell.found


def programs_of(script: str, cwd: str, home: str | None) -> list[tuple[str, ...]]:
    """Return the programs that a shell script runs, as far as it can be followed, each with its words.

    Such as are run by ``sh -c``, ``eval``, ``xargs``, ``env`` and the like stand behind those that run them.
    """
    shell = _Shell(cwd, home, ())
    shell.run(script[:_LIMIT], 0)
    return shell.programs


class _Shell:
    """One shell: its folder, its variables, and what it has touched so far."""

    def __init__(self, cwd: str, home: str | None, known: Iterable[str]) -> None:
        blanks = [re.escape(place) for place in known if re.search(r"\s", place)]
        self.known = re.compile(rf"(?:{'|'.join(blanks)})(?:/[^\s'\"`]*)?" if blanks else r"(?!)")
        self.bare = True  # where it is now was reached from where it was started, by relative paths alone
        self.cwd: str | None = cwd
        self.before: str | None = None
        self.home = home
        self.variables = {"PWD": cwd, "CLAUDE_PROJECT_DIR": cwd} | ({"HOME": home} if home else {})
        self.found: list[Touch] = []
        self.programs: list[tuple[str, ...]] = []

    # -- scripts -------------------------------------------------------------------------------------------------------

    def run(self, text: str, level: int) -> None:
        """Follow the commands of a script. A script nested too deeply, or that does not end, is searched for paths."""
        if level > _DEEP or len(self.found) > _MOST:
            self.embedded(text)
            return
        script = Script(text, self._lookup, lambda inner: self._substitution(inner, level + 1))
        outer: list[tuple[str | None, bool, dict[str, str]]] = []
        for event in script.events():
            if event == "(":
                outer.append((self.cwd, self.bare, dict(self.variables)))
            elif event == ")":
                if outer:
                    self.cwd, self.bare, self.variables = outer.pop()
            else:
                self._command(event, level)
            if len(self.found) > _MOST:
                break
        if script.broken:
            self.embedded(text)

    def _lookup(self, name: str) -> str:
        if name == "PWD":
            return self.cwd or UNKNOWN
        if name == "OLDPWD":
            return self.before or UNKNOWN
        return self.variables.get(name, UNKNOWN)

    def _substitution(self, script: str, level: int) -> str:
        """Follow a substitution, which has a shell of its own; return what it prints, where that is known."""
        kept = (self.cwd, self.before, self.bare, dict(self.variables))
        self.run(script, level)
        self.cwd, self.before, self.bare, self.variables = kept
        return (self.cwd or UNKNOWN) if script.strip() == "pwd" else UNKNOWN

    def embedded(self, code: str) -> None:
        """Note every absolute path in a piece of code; one that walks through folders goes down into them."""
        deep = bool(_WALKS.search(code))
        texts = [match[0] for match in _EMBEDDED.finditer(code)] + [match[0] for match in self.known.finditer(code)]
        if deep and re.search(r"""(['"])/\1""", code):
            self.found.append(Touch(path="/", deep=True, reads=True, sure=False))
        for text in texts[:_MOST]:
            path = absolute((self.home or UNKNOWN) + text[1:] if text.startswith("~") else text, None)
            if path is not None and path != "/":
                self.found.append(Touch(path=path, deep=deep, reads=True, sure=False))

    # -- commands ------------------------------------------------------------------------------------------------------

    def _command(self, command: Command, level: int) -> None:
        for name in command.reads:
            self._touch(name, reads=True)
        for name in command.writes:
            self._touch(name, writes=True)
        words = list(command.words)
        while words and words[0] in _RESERVED:
            words.pop(0)
        while words and (match := _ASSIGNMENT.fullmatch(words[0])):
            self.variables[match[1]] = match[2][:PATH_LIMIT]
            words.pop(0)
        if words:
            self._program(words, command.document, command.piped, level)

    def _program(self, words: list[str], document: str, piped: bool, level: int) -> None:
        """Note what one program touches; `words[0]` is its name."""
        if len(self.programs) < _MOST:
            self.programs.append(tuple(words))
        if words[0].startswith(("/", "~", "./", "../")):
            self._touch(words[0])
        name = posixpath.basename(words[0])
        name = re.sub(r"(?<=[a-z])[0-9.]+\Z", "", name) if name.startswith(("python", "ruby", "perl", "node")) else name
        rest = words[1:]
        if self._of_its_own_kind(name, rest, level):
            return
        if name in PREFIXES:
            self._prefixed(name, rest, document, piped, level)
        elif name in SHELLS or name in CODE:
            self._interpreter(name, rest, document, level)
        elif name in OPENERS or name in LOOKERS:
            self._known(name, rest, piped)
        elif name not in QUIET:
            self._unknown(name, rest)

    def _known(self, name: str, rest: list[str], piped: bool) -> None:
        """Note the operands of a program of which it is known which words are paths."""
        options, found = operands(rest, VALUES.get(name, ""))
        if name in SCRIPT_FIRST and not any(re.match(r"-\w*[ef]|--(?:regexp|file|expression)", o) for o in options):
            found = found[1:]
        deep, depth = always_deep(name, options)
        deletes = name in ("rm", "rmdir", "unlink", "shred")
        writes = deletes or name in ("tee", "touch", "mkdir", "chmod", "chown", "truncate", "install", "mv")
        writes = writes or (name == "sed" and any(re.match(r"-\w*i|--in-place", o) for o in options))
        reads = name in OPENERS and name not in SCRIPT_FIRST.difference({"sed", "awk", "gawk", "mawk", "jq", "yq"})
        for option in options:
            if match := re.match(r"(?:-\w*[fCt]|--[\w-]+)=(/.*)", option, re.DOTALL):
                self._touch(match[1])
        for number, word in enumerate(found):
            last = name in ("cp", "ln", "rsync") and number == len(found) - 1 > 0
            how = {"reads": reads, "writes": writes or last, "deletes": deletes}
            self._touch(word, deep=deep and not last, depth=depth, **how)
        stdin = name in SCRIPT_FIRST and (piped or (name.endswith("grep") and not deep))
        if not found and name in CWD_READERS and not stdin:
            self._touch(".", deep=deep, depth=depth)

    def _unknown(self, name: str, rest: list[str]) -> None:
        """Note the words that are spelled as paths, of a program of which nothing is known."""
        parts = [part for word in rest for part in spelled(word)]
        for part in parts:
            self._touch(part)
        asks = {"--version", "--help", "-V", "-h", "-v", "help", "version"}
        if name in CWD_READERS and not asks.intersection(rest) and not any(part.startswith("/") for part in parts):
            self._touch(".")

    def _interpreter(self, name: str, rest: list[str], document: str, level: int) -> None:
        """Follow ``sh -c``, search ``python -c``, and what either is fed; else it reads the script that it is given."""
        follow: Callable[[str], None] = self.embedded
        if name in SHELLS:
            follow = lambda script: self.run(script, level + 1)  # noqa: E731  # a second name for one of two things
        if document:
            follow(document)
        code = re.compile(r"-\w*c" if name in SHELLS or name.startswith("py") else r"-\w*[eEr]|--eval|--print")
        for number, word in enumerate(rest):
            if word == "-m" and name.startswith("py"):
                self._program(rest[number + 1 :] or ["true"], "", False, level)
                return
            if code.fullmatch(word) and number + 1 < len(rest):
                follow(rest[number + 1])
                rest = rest[number + 2 :]
                break
            if not word.startswith("-"):
                self._touch(word, reads=True)
                rest = rest[number + 1 :]
                break
        for word in rest:
            for part in spelled(word):
                self._touch(part, reads=name in CODE)

    def _prefixed(self, name: str, rest: list[str], document: str, piped: bool, level: int) -> None:
        """Go on to the program that a program like ``env``, ``sudo`` or ``xargs`` starts."""
        options, found = operands(rest, VALUES.get(name, ""), stop=True)
        if name == "command" and {"-v", "-V"}.intersection(options):
            return  # it asks where a program is
        while found and name in ("env", "sudo") and _ASSIGNMENT.fullmatch(found[0]):
            found = found[1:]
        found = found[1:] if name == "timeout" else found
        if not found:
            return
        if name == "xargs":
            if posixpath.basename(found[0]) in OPENERS:
                # what was searched for is what is opened now
                self.found = [_opened(touch) if touch.deep else touch for touch in self.found]
            piped = True
        self._program(found, document, piped, level)

    # -- programs of their own kind ------------------------------------------------------------------------------------

    def _of_its_own_kind(self, name: str, rest: list[str], level: int) -> bool:
        """Note what a program touches that is like no other; False for any other program."""
        if name in ("cd", "pushd", "popd"):
            self._change_folder(name, rest)
        elif name in ("export", "local", "declare", "typeset", "readonly"):
            self._set(rest)
        elif name in ("for", "select"):
            self._loop(rest)
        elif name == "eval":
            self.run(" ".join(rest), level + 1)
        elif name in ("test", "[", "[["):
            self._test(rest)
        elif name in ("find", "gfind"):
            self._find(rest, level)
        elif name == "git":
            self._git(rest)
        else:
            return False
        return True

    def _change_folder(self, name: str, rest: list[str]) -> None:
        """Change the folder; this alone reads nothing."""
        _, found = operands(rest, "")
        target = found[0] if found else self.home or UNKNOWN
        back = name == "popd" or rest == ["-"]
        self.cwd, self.before = self.before if back else absolute(target, self.cwd), self.cwd
        self.bare = self.bare and not back and not target.startswith("/")

    def _set(self, rest: list[str]) -> None:
        for word in rest:
            if match := _ASSIGNMENT.fullmatch(word):
                self.variables[match[1]] = match[2][:PATH_LIMIT]

    def _loop(self, rest: list[str]) -> None:
        """``for X in …``: what is listed is what the body works on, and so counts as opened."""
        listed = rest[2:] if rest[1:2] == ["in"] else []
        for word in listed:
            if "/" in word or "*" in word:
                self._touch(word, reads=True)
        if rest:
            self.variables[rest[0]] = listed[0] if len(listed) == 1 else UNKNOWN

    def _test(self, rest: list[str]) -> None:
        """``test``: what stands behind a test of one file, or is spelled as a path; the rest are texts and numbers."""
        for before, word in zip(["", *rest], rest, strict=False):
            for part in [word] if re.fullmatch("-[a-hkprsuwxGLNOS]", before) else spelled(word):
                self._touch(part)

    def _find(self, rest: list[str], level: int) -> None:
        """``find``: the folders come before the first test; what ``-exec`` runs is followed."""
        tests = next((n for n, word in enumerate(rest) if re.match(r"-(?![HLPDO])|[(!]", word)), len(rest))
        folders = [word for word in rest[:tests] if not re.match(r"-[HLPDO]", word)] or ["."]
        depth, opens, at = None, False, tests
        while at < len(rest):
            word, value = rest[at], rest[at + 1] if at + 1 < len(rest) else ""
            if word == "-maxdepth" and value.isascii() and value.isdigit():
                depth = int(value[:6])
            elif word in ("-exec", "-execdir", "-ok", "-okdir"):
                end = next((n for n in range(at + 1, len(rest)) if rest[n] in (";", "+")), len(rest))
                inner = [UNKNOWN if word == "{}" else word for word in rest[at + 1 : end]]
                if inner:
                    opens = opens or posixpath.basename(inner[0]) in OPENERS
                    self._program(inner, "", True, level + 1)
                at = end
            elif word in FIND_PATTERNS:
                at += 1
            elif word.startswith("-newer") or word in ("-samefile", "-fprint", "-fls"):
                self._touch(value)
                at += 1
            at += 1
        for folder in folders:
            deletes = "-delete" in rest
            self._touch(folder, deep=True, depth=depth, reads=opens, writes=deletes, deletes=deletes)

    def _git(self, rest: list[str]) -> None:
        """``git``: reads the repository that it runs in, unless it only makes one or asks nothing of it."""
        where = "."
        while len(rest) > 1 and rest[0] in ("-C", "-c", "--git-dir", "--work-tree"):
            where = rest[1] if rest[0] != "-c" else where
            rest = rest[2:]
        while rest and rest[0].startswith("-") and rest[0] not in ("--version", "--help"):
            where = rest[0].partition("=")[2] if rest[0].startswith(("--git-dir=", "--work-tree=")) else where
            rest = rest[1:]
        if rest and rest[0] not in ("--version", "--help", "version", "help", "config", "init", "clone"):
            self._touch(where, reads=True)
        for word in rest[1:]:
            for part in spelled(word):
                self._touch(part)

    # -- paths ---------------------------------------------------------------------------------------------------------

    def _touch(self, word: str, **how: object) -> None:
        """Note a word that is a path. A relative one counts where it can be one: not a number, not mere punctuation."""
        word = word.removeprefix("file://")
        explicit = word.startswith("/")
        if "://" in word or (not explicit and not re.search(r"[^\W\d]|[*.]", word.replace(UNKNOWN, ""))):
            return
        path = absolute(word, self.cwd)
        if path is not None and path.replace(UNKNOWN, ""):
            bare = not explicit and self.bare
            self.found.append(Touch(path=path, bare=bare, **how))  # type: ignore[arg-type]  # the callers' keywords are its fields


def _opened(touch: Touch) -> Touch:
    return Touch(path=touch.path, deep=True, depth=touch.depth, reads=True, sure=touch.sure, bare=touch.bare)
