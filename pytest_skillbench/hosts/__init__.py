"""The agent clients whose transcripts can be read, and how a file finds its reader.

Gather: a host is a `Host` record; the built-in ones are in `HOSTS`, others come from the ``pytest_skillbench_hosts``
hook. Nothing is counted that no host reads, and nothing is left out without a word.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from ..model import Value
from . import claude_code
from .records import Reading, ToolCall, Transcript


class Reader(Protocol):
    """Reads transcripts of one host, each by itself and all together; see `claude_code.read`."""

    def __call__(self, paths: Sequence[Path], *, calls: bool = False) -> Reading:
        """Return what the files say. A file that can't be read is an incomplete transcript, never an error."""
        ...


class Host(Value, frozen=True, kw_only=True):
    """An agent client.

    `name` is unique. `finds`: whether a file in a folder may be one of its transcripts, by name and place alone.
    `reads`: whether a file's content is its (raises OSError). `read`: reads many; usage is de-duplicated across them.
    """

    name: str
    finds: Callable[[Path], bool]
    reads: Callable[[Path], bool]
    read: Reader


HOSTS: tuple[Host, ...] = (
    Host(name=claude_code.NAME, finds=claude_code.finds, reads=claude_code.reads, read=claude_code.read),
)


def host_of(path: Path, hosts: Sequence[Host] = HOSTS) -> Host | None:
    """Return the first host that reads the file, None where none does. Raises OSError."""
    return next((host for host in hosts if host.reads(path)), None)


def named(name: str, hosts: Sequence[Host] = HOSTS) -> Host | None:
    """Return the host of that name."""
    return next((host for host in hosts if host.name == name), None)


def search(folder: Path, hosts: Sequence[Host] = HOSTS) -> Iterator[Path]:
    """Yield the files below a folder that may be transcripts, sorted within each folder.

    Links are followed; no folder is entered twice, so a link that leads back ends there. Raises OSError where a folder
    can't be listed: a part that was not searched is never passed over in silence.
    """
    seen: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        status = here.stat()
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        folders: list[Path] = []
        for entry in sorted(os.scandir(here), key=lambda entry: entry.name):
            path = here / entry.name
            if path.is_dir():
                folders.append(path)
            # A link that leads nowhere is yielded as well: whoever reads it says so.
            elif (path.is_file() or not path.exists()) and any(host.finds(path) for host in hosts):
                yield path
        waiting += reversed(folders)


__all__ = ["HOSTS", "Host", "Reader", "Reading", "ToolCall", "Transcript", "host_of", "named", "search"]
