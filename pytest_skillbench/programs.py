"""What the audit knows of the usual programs: which of their words are paths, and what they do with them.

Core: tables. By the manuals of POSIX, of GNU coreutils, findutils, grep and sed, and of each other program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Programs whose words are never files.
QUIET = _words(
    "echo printf : true false unset set alias unalias type which whereis hash sleep exit return kill wait jobs "
    "read shift trap pwd date whoami id uname hostname seq break continue umask ulimit tput clear history "
    "printenv let times expr basename dirname tr yes case in function bc ps env nproc arch tty bg fg disown "
    "logname groups"
)

#: Programs that show what is in the files that they are given.
OPENERS = _words(
    "cat tac head tail less more most nl bat batcat od xxd hexdump hd strings sort uniq cut paste column fold fmt "
    "rev pr expand iconv base64 base32 diff sdiff cmp comm join vim vi nvim nano emacs view code source . open "
    "xdg-open pandoc jq yq xmllint glow mdcat zcat gzcat bzcat xzcat grep egrep fgrep zgrep rg ag ack sed awk "
    "gawk mawk"
)

#: Programs that ask about files, or move and change them, without showing what is in them.
LOOKERS = _words(
    "ls dir vdir stat file readlink realpath du df tree fd fdfind wc md5sum sha1sum sha256sum sha512sum "
    "cksum sum shasum b2sum locate plocate touch mkdir rmdir rm unlink shred chmod chown chgrp ln cp mv rsync scp "
    "install tee truncate unzip tar zip gzip gunzip"
)

#: Programs that read the folder they run in when no file is named.
CWD_READERS = _words(
    "ls dir vdir tree fd fdfind du grep egrep fgrep rg ag ack make gmake pytest tox nox npm pnpm yarn cargo just "
    "mvn gradle"
)

#: Programs whose first word is a pattern or a script, unless an option gives it.
SCRIPT_FIRST = _words("grep egrep fgrep zgrep rg ag ack sed awk gawk mawk jq yq fd fdfind")

#: Programs that start another program, which is what matters.
PREFIXES = _words(
    "env sudo doas nohup time nice ionice exec command builtin stdbuf setsid timeout gtimeout xargs unbuffer "
    "chronic watch"
)

SHELLS = _words("sh bash zsh dash ksh ash fish")
CODE = _words("python pypy node nodejs deno bun perl ruby php lua Rscript osascript")

#: Tests of ``find`` whose value is a pattern or a word, and no file.
FIND_PATTERNS = _words(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -size -mtime -mmin "
    "-atime -amin -ctime -cmin -perm -user -group -mindepth -printf -regextype -links -inum -uid -gid"
)

#: One-letter options with a value of their own, which is no file.
VALUES = {
    "grep": "efmABCdD", "egrep": "efmABCdD", "fgrep": "efmABCdD", "zgrep": "efmABCdD",
    "rg": "efgtTABCmjMrE", "ag": "ABCGm", "ack": "ABCm",
    "sed": "ef", "awk": "vFf", "gawk": "vFf", "mawk": "vFf",
    "head": "nc", "tail": "ncs", "sort": "ktoST", "cut": "dfbc", "paste": "d", "fold": "w", "fmt": "w", "nl": "bwsvi",
    "od": "ANjtw", "xxd": "clsg", "base64": "w", "tree": "LIPo", "fd": "etEdx", "fdfind": "etEdx", "du": "d",
    "stat": "cf", "mkdir": "m", "install": "mog", "touch": "dtr", "truncate": "s", "column": "sct", "diff": "UCI",
    "env": "u", "sudo": "ugp", "nice": "n", "ionice": "cn", "stdbuf": "ioe", "timeout": "ks", "gtimeout": "ks",
    "xargs": "nIPLdsE", "watch": "n", "exec": "a",
}  # fmt: skip

_VALUES_LONG = _words(
    "--max-depth --level --include --exclude --glob --type --context --lines --bytes --key --output --delimiter "
    "--arg --argjson --max-count --after-context --before-context --regexp --exclude-dir --format --signal "
    "--kill-after"
)

_LEVEL = re.compile(r"(?:-[A-Za-z]*[Ld]=?|--(?:max-)?depth=|--level=)([0-9]{1,6})")


def operands(words: Sequence[str], values: str, *, stop: bool = False) -> tuple[list[str], list[str]]:
    """Return the options among `words` and the operands. `values`: one-letter options that take the next word.

    `stop`: everything from the first operand on is operands, as for a program that starts another.
    """
    options: list[str] = []
    found: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            found += words[at:]
            break
        if len(word) < 2 or word[0] != "-":
            if stop:
                found += words[at - 1 :]
                break
            found.append(word)
            continue
        options.append(word)
        if word in _VALUES_LONG or (word[1] != "-" and word[-1] in values and re.fullmatch(r"-[A-Za-z]+", word)):
            options += [f"{word}={words[at]}"] if at < len(words) else []
            at += 1
    return options, found


def always_deep(name: str, options: Sequence[str]) -> tuple[bool, int | None]:
    """Tell whether a program goes down into the folders that it is given, and how many levels (None: all)."""
    flags = "".join(option[1:] for option in options if re.fullmatch(r"-[A-Za-z]+", option))
    words = {option.partition("=")[0] for option in options}
    if name in ("tree", "fd", "fdfind", "rg", "ag", "ack"):
        levels = [match[1] for option in options if (match := _LEVEL.fullmatch(option))]
        return True, int(levels[0]) if levels else None
    if name in ("rsync", "scp", "tar", "zip", "locate", "plocate"):
        return True, None
    if name == "du":
        return "s" not in flags and "--summarize" not in words, None
    if name in ("ls", "dir", "vdir"):
        return "R" in flags or "--recursive" in words, None
    deep = {"r", "R"} if name in ("cp", "rm", "diff", "grep", "egrep", "fgrep", "zgrep") else {"R"}
    deep |= {"a"} if name == "cp" else set()
    return bool(deep & set(flags)) or bool({"--recursive", "--archive"} & words), None
