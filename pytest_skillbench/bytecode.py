"""The compiled templates, kept beside their sources as Python keeps its modules: ``templates/__pycache__``.

Compiling them costs more than everything else in a scoring. Gather: the one place where rendering touches the disk, and
only with what belongs to the package; where that can't be written nothing is kept and nothing is lost.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

from .files import write_atomic


class BesideSource(BytecodeCache):
    """Keeps bytecode in a ``__pycache__``. Jinja checks the source's digest and Python's version when it loads it."""

    def __init__(self, templates: Path) -> None:
        self.folder = templates / "__pycache__"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket from disk, if there is something for it."""
        with contextlib.suppress(OSError), self._path(bucket).open("rb") as file:  # absent: Jinja compiles it
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled, unless Python was told to keep none."""
        if sys.dont_write_bytecode or sys.pycache_prefix is not None:
            return
        with contextlib.suppress(OSError):  # a read-only installation compiles each time
            self.folder.mkdir(exist_ok=True)
            write_atomic(self._path(bucket), bucket.bytecode_to_string())

    def _path(self, bucket: Bucket) -> Path:
        return self.folder / f"{bucket.key}.{sys.implementation.cache_tag}.jinja"
