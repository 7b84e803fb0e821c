"""How tests/ mirrors skills/: which folder is a skill's, which a case's, and which is neither.

Pure: folders that `walk` listed in, cases and problems out. The parent of a case's folder has a skill's path, and
nothing else makes a case belong to a skill.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from .errors import Problem, Severity
from .suggest import closest
from .walk import Folder

_CASE = "case.md"
_FIXTURE = "fixture"
_EVALS = "evals"
_NOT_OURS = ("__pycache__",)


class Mirror:
    """The folders below tests/ held against the skills' paths.

    `cases`: the names of each skill path's cases; `orphans`: the path of each case that maps to no skill, and why.
    """

    def __init__(self, folders: dict[str, Folder], skills: Sequence[str], shown: str) -> None:
        self._folders = folders
        self._skills = frozenset(skills)
        self._shown = shown
        self._prefixes = {"/".join(path.split("/")[:i]) for path in skills for i in range(path.count("/") + 1)}
        self._lost = self._lost_folders()
        self.cases: dict[str, list[str]] = defaultdict(list)
        self.orphans: dict[str, Problem] = {}
        for path, folder in folders.items():
            if _CASE in folder.files or _CASE in folder.folders:
                parent, _, name = path.rpartition("/")
                if path and parent in self._skills:
                    self.cases[parent].append(name)
                else:
                    self.orphans[path] = self._orphan(path, parent)

    def problems(self) -> list[Problem]:
        """Return the problems of folders; those of the orphans are theirs."""
        reported = set(self.orphans.values())
        found = [problem for problem in self._lost.values() if problem not in reported]
        for path, folder in self._folders.items():
            found += self._misspelt(path, folder)
            if path.rpartition("/")[0] in self._skills and self._is_empty(path, folder):
                found.append(self._problem(path, "tests-no-case", f"no {_CASE} in it", "a case", "warning"))
        return found

    def _problem(
        self,
        path: str,
        slug: str,
        what: str,
        expected: str,
        severity: Severity = "error",
        suggestion: str | None = None,
    ) -> Problem:
        shown = f"{self._shown}/{path}" if path else self._shown
        return Problem(
            path=shown,
            slug=slug,
            what=what,
            expected=expected,
            suggestion=suggestion,
            severity=severity,
        )

    def _known(self, path: str) -> bool:
        """Tell whether a folder has a place: on the way to a skill's, a skill's, or right below one."""
        return path in self._prefixes or path in self._skills or path.rpartition("/")[0] in self._skills

    def _lost_folders(self) -> dict[str, Problem]:
        """Return the topmost folders that map to no skill: an error where a case is below, else a warning."""
        found: dict[str, Problem] = {}
        with_case = {
            prefix
            for path, folder in self._folders.items()
            if _CASE in folder.files or _CASE in folder.folders
            for prefix in _ancestors(path)
        }
        for path in self._folders:
            parent, _, name = path.rpartition("/")
            if not path or self._known(path) or name.startswith(".") or name in _NOT_OURS:
                continue
            if parent and parent not in self._prefixes:
                continue  # below a case or below a folder that is reported
            severity: Severity = "error" if path in with_case else "warning"
            what = f'no skill "{path}"'
            expected = "tests/ to mirror the skills root"
            found[path] = self._problem(path, "tests-no-skill", what, expected, severity, self._nearest(path))
        return found

    def _nearest(self, path: str) -> str | None:
        """Return the skill that a folder was probably meant for: one of its name elsewhere, or a slip of its path."""
        below = [p for p in self._folders if p == path or p.startswith(f"{path}/")]
        parents = [p.rpartition("/")[0] for p in below if _CASE in self._folders[p].files]
        wanted = next((p for p in parents if p), path)
        name = wanted.rsplit("/", 1)[-1]
        moved = [skill for skill in sorted(self._skills) if skill.rsplit("/", 1)[-1] == name]
        return moved[0] if moved else closest(wanted, sorted(self._skills))

    def _orphan(self, path: str, parent: str) -> Problem:
        for prefix in _ancestors(path):
            if prefix in self._lost:
                return self._lost[prefix]
        shown = f"{path}/{_CASE}" if path else _CASE
        if path in self._skills or not path:
            where = f"{self._shown}/{path or '<skill path>'}/<case>/{_CASE}"
            return self._problem(shown, "case-no-folder", "a case needs a folder of its own", where)
        what = f'"{self._shown}/{parent}" is no skill\'s folder' if parent else "a case right below tests/"
        where = f"{self._shown}/<skill path>/<case>/{_CASE}"
        return self._problem(shown, "case-no-skill", what, where, suggestion=self._nearest(path))

    def _misspelt(self, path: str, folder: Folder) -> list[Problem]:
        found = []
        for name in (*folder.files, *folder.folders):
            if name.casefold() == _CASE and name != _CASE:
                where = folder.below(name)
                found.append(
                    self._problem(where, "case-spelling", f'"{name}" makes no case', "case.md", "error", _CASE)
                )
        if _FIXTURE in folder.folders and path in self._skills and _CASE not in folder.files:
            inner = f"{path}/{_FIXTURE}"
            if inner not in self._folders:
                what = "a folder fixture/ that is not beside a case.md"
                expected = "it in a case's folder; a case can't be called fixture"
                found.append(self._problem(inner, "fixture-misplaced", what, expected))
        return found

    def _is_empty(self, path: str, folder: Folder) -> bool:
        name = path.rsplit("/", 1)[-1]
        if name.startswith(".") or name in _NOT_OURS or path in self._prefixes or path in self._skills:
            return False
        if name == _EVALS and any(entry.endswith(".yaml") for entry in folder.files):
            return False  # the scorecard's cases
        return not any(entry.casefold() == _CASE for entry in (*folder.files, *folder.folders))


def _ancestors(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]
