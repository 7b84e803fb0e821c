"""Where settings come from: ``skillbench.yaml`` over what stands already, or nothing where there is no such file.

Gather: reads one file. Most repositories have none, so what reads its text (`settingsfile`, and with it YAML) is
imported only where there is one.
"""

from __future__ import annotations

from pathlib import Path

from .errors import SettingsError, SkillbenchError
from .files import read_bounded
from .model import Settings

FILE = "skillbench.yaml"
_LIMIT = 65_536


def load(path: Path, shown: str, base: Settings, *, repo: bool = False) -> Settings:
    """Return `base` overridden by the settings in the file at `path`; `shown` is its name in messages.

    `repo`: this is the repository's own file, which alone may set the roots, and which may not set `order`.
    A missing file is `base`. Raises SettingsError with every problem of the file.
    """
    return load_with_lines(path, shown, base, repo=repo)[0]


def load_with_lines(path: Path, shown: str, base: Settings, *, repo: bool = False) -> tuple[Settings, dict[str, int]]:
    """Return what `load` returns and the 1-based line of each case name in `order`. Raises as `load` does."""
    try:
        data = read_bounded(path, _LIMIT, shown)
    except FileNotFoundError:
        return base, {}
    except SkillbenchError as error:
        raise SettingsError(*error.problems) from error
    from .settingsfile import parse

    return parse(data, shown, base, repo=repo)
