"""What a checkout does to a file's bytes, and whether a file on disk is such a checkout of a blob.

Core: bytes and attributes in, bytes and answers out. The rules are git's (gitattributes(5), convert.c): line endings
by `text` and `eol`, `ident`, `working-tree-encoding`; a filter is never run, a Git LFS pointer is told from its
content. Only committed attributes count. Whether the working copy is one with CRLF line ends (``core.autocrlf``) is
read off its files, never from anybody's configuration, which may have changed since.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from .model import Value

LineEnds: TypeAlias = Literal["lf", "crlf"]
Attributes: TypeAlias = Mapping[str, str]
ATTRIBUTES = ("text", "crlf", "eol", "ident", "working-tree-encoding", "filter")

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n"
)
_IDENT = re.compile(rb"\$Id(?:\$|:([^$\n]*)\$)")
_NOT_TEXT = bytes(code for code in range(32) if code not in b"\b\t\n\r\x1b\x0c") + b"\x7f"


class Pointer(Value, frozen=True):
    """A Git LFS pointer: the SHA-256 and the size of the content that it stands for."""

    sha256: str
    size: int


def pointer(data: bytes) -> Pointer | None:
    """Return the Git LFS pointer that `data` is, None where it is none."""
    if len(data) > 1024 or (match := _POINTER.fullmatch(data)) is None:
        return None
    return Pointer(sha256=match[1].decode(), size=int(match[2]))


def smudge(data: bytes, oid: str, given: Attributes, line_ends: LineEnds) -> bytes:
    """Return the bytes that a checkout writes for the blob `oid` with content `data`.

    `line_ends`: of the checkout, where the attributes leave it open. Filters are not run.
    """
    if given.get("ident") == "set":
        data = _IDENT.sub(lambda match: _expanded(match, oid), data)
    if _wants_crlf(given, line_ends) and _converts(data, _text(given)):
        data = re.sub(rb"(?<!\r)\n", b"\r\n", data)
    encoding = _encoding(given)
    return data if encoding is None else _recoded(data, "utf-8", encoding)


def same(work: bytes, blob: bytes, oid: str, given: Attributes, line_ends: LineEnds) -> bool:
    """Tell whether `work` is what a checkout of the blob writes, or what git would store as that very blob.

    `given`: the attributes of the file; `line_ends`: of the working copy. Other line ends than those are an edit,
    where no attribute says that git would not see them.
    """
    if work in (blob, smudge(blob, oid, given, line_ends)):
        return True
    if (stored := pointer(blob)) is not None:
        return stored.size == len(work) and stored.sha256 == hashlib.sha256(work).hexdigest()
    encoding = _encoding(given)
    if encoding is not None:
        work = _recoded(work, encoding, "utf-8")
    return _clean(work, blob, given) == blob


def line_ends(files: Iterable[tuple[bytes, bytes, Attributes]]) -> LineEnds:
    """Return the line ends of a working copy, from its files, each as its bytes, the released blob and its attributes.

    ``crlf`` where every file that such a checkout converts, and of which the attributes do not decide, has CRLF
    throughout. One LF among them, and the CRLF files are edits of their own.
    """
    seen = False
    for work, blob, given in files:
        if _decided(given) or not _converts(blob, "auto") or b"\n" not in work:
            continue
        if b"\n" in work.replace(b"\r\n", b""):
            return "lf"
        seen = True
    return "crlf" if seen else "lf"


def _text(given: Attributes) -> str:
    """Return what the attributes say of line ends: ``set``, ``unset``, ``auto`` or ``unspecified``."""
    text = given.get("text", "unspecified")
    if text not in ("set", "unset", "auto", "input"):
        text = given.get("crlf", "unspecified")
    if text == "unset":
        return text
    if text == "auto":
        return text
    if text in ("set", "input") or given.get("eol") in ("lf", "crlf"):
        return "set"
    return "unspecified"


def _decided(given: Attributes) -> bool:
    return _text(given) == "unset" or given.get("eol") in ("lf", "crlf") or given.get("crlf") == "input"


def _wants_crlf(given: Attributes, line_ends: LineEnds) -> bool:
    kind = _text(given)
    if kind == "unset" or "input" in (given.get("text"), given.get("crlf")):
        return False
    eol = given.get("eol")
    return (eol if eol in ("lf", "crlf") else line_ends) == "crlf"


def _converts(data: bytes, kind: str) -> bool:
    """Tell whether a CRLF checkout changes `data`: it has a bare LF and, unless `kind` is set, is text without a CR."""
    if re.search(rb"(?<!\r)\n", data) is None:
        return False
    return kind == "set" or (b"\r" not in data and not _binary(data))


def _binary(data: bytes) -> bool:
    """Tell whether git takes `data` for binary: a NUL, a bare CR, or more than one in 128 bytes that no text has."""
    if b"\0" in data or re.search(rb"\r(?!\n)", data):
        return True
    odd = len(data) - len(data.translate(None, _NOT_TEXT)) - data.endswith(b"\x1a")
    breaks = data.count(b"\r") + data.count(b"\n")
    return (len(data) - odd - breaks) >> 7 < odd


def _clean(data: bytes, blob: bytes, given: Attributes) -> bytes:
    """Return what git would store for `data`; with ``text=auto`` it leaves a file alone that was stored with CRLF."""
    kind = _text(given)
    if kind == "set" or (kind == "auto" and b"\r\n" not in blob and not _binary(data)):
        data = data.replace(b"\r\n", b"\n")
    if given.get("ident") == "set":
        data = re.sub(rb"\$Id:[^$\n]*\$", b"$Id$", data)
    return data


def _expanded(match: re.Match[bytes], oid: str) -> bytes:
    inner = match[1]
    if inner is not None and b" " in inner[1:-1]:
        return match[0]  # another system's keyword, which git leaves alone
    return b"$Id: " + oid.encode() + b" $"


def _encoding(given: Attributes) -> str | None:
    name = given.get("working-tree-encoding", "unspecified")
    if name in ("unspecified", "set", "unset", "") or name.upper() in ("UTF-8", "UTF8"):
        return None
    return name


def _recoded(data: bytes, source: str, target: str) -> bytes:
    """Return `data` in another encoding; unchanged where it can't be, as git does."""
    try:
        text = data.decode("utf-16" if source.upper() == "UTF-16LE-BOM" else source)
        if target.upper() == "UTF-16LE-BOM":
            return b"\xff\xfe" + text.encode("utf-16-le")
        return text.encode(target)
    except (LookupError, UnicodeError):
        return data
