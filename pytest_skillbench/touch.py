"""One path that a tool call touched, and how a path is spelled.

Core: pure, no look at the disk. `touches` finds them in shell commands, `tools` in other tools' arguments, and `audit`
judges them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from .commandline import UNKNOWN
from .model import Value

PATH_LIMIT = 4096
_OF_A_PROCESS = re.compile(r"/proc/(?:self|thread-self|[0-9]+|\0)/(cwd|root)(?=/|\Z)")


class Touch(Value, frozen=True):
    """One path that was touched: absolute, without ``..``, perhaps with glob marks or `UNKNOWN` in it.

    `deep`: everything below as well, down to `depth` levels (None: all). `reads`: its content was asked for; `writes`:
    it was changed. `sure` False: it only stands in a program's code. `bare`: it was spelled relative to the folder in
    which the client starts every command, so it may name nothing that is there.
    """

    path: str
    deep: bool = False
    depth: int | None = None
    reads: bool = False
    writes: bool = False
    sure: bool = True
    bare: bool = False


def absolute(path: str, cwd: str | None) -> str | None:
    """Return a path as an absolute one without ``.`` and ``..``, None where that can't be known."""
    if not path or path.startswith(UNKNOWN) or len(path) > PATH_LIMIT:
        return None
    if not path.startswith("/"):
        if cwd is None:
            return None
        path = f"{cwd}/{path}"
    path = "/" + posixpath.normpath(path).lstrip("/")
    if match := _OF_A_PROCESS.match(path):
        rest = path[match.end() :].lstrip("/")
        return absolute(rest or ".", cwd if match[1] == "cwd" else "/")
    return path


def spelled(word: str) -> Iterable[str]:
    """Return the parts of a word that are spelled as paths: itself, what follows ``=`` or ``-X``, between colons."""
    if "://" in word and not word.startswith("file://"):
        return ()
    parts = [word, re.sub(r"\A-[A-Za-z](?=[/.~])", "", word)]
    if word.startswith("-") or re.match(r"[\w-]+=", word):
        parts.append(word.partition("=")[2])
    parts += [piece for part in list(parts) if ":" in part for piece in part.split(":")]
    return dict.fromkeys(part for part in parts if re.match(r"/|\.\.?(?:/|\Z)", part) and part != ".")
