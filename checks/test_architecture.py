"""The shape of the program: one direction from gatherers through the core to the faces, and a small public surface."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_skillbench

PACKAGE = Path(pytest_skillbench.__file__).parent

#: The pytest face, and the only modules that may know that pytest exists.
PYTEST_FACE = {"plugin", "session", "nodes", "terminal", "hookspecs", "evidence_nodes", "scorecard_nodes"}
FACES = PYTEST_FACE | {"cli", "__main__"}
#: Pure: no clock, no randomness, no environment, no files but what they are handed.
PURE = {
    "casefile",
    "usage",
    "rules",
    "certainty",
    "results",
    "outcomes",
    "trials",
    "pairs",
    "text",
    "model",
    "sections",
}
IMPURE = {"os", "time", "random", "subprocess", "socket", "tempfile", "shutil", "secrets", "uuid", "datetime"}


def modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name below it."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)] = path
    return found


def imports(path: Path) -> set[str]:
    """Return the top names of what a module imports, at any depth and under any condition but TYPE_CHECKING."""
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or "").split(".")[0])
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text()))
    return found


def own_imports(name: str, path: Path) -> set[str]:
    """Return the first names below the package of what a module imports from it, TYPE_CHECKING aside."""
    package = name.split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            below = [*base, *(node.module.split(".") if node.module else [])]
            found.update([below[0]] if below else [alias.name for alias in node.names])
    return found


def test_nothing_but_the_pytest_face_loads_pytest() -> None:
    """A report can be made without pytest: every other module is imported, for real, and pytest stays out."""
    others = [name for name in modules() if name.split(".")[0] not in PYTEST_FACE | {"__main__"}]
    assert len(others) > 20
    script = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    importlib.import_module('pytest_skillbench' if name == '__init__' else f'pytest_skillbench.{name}')\n"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('pytest', '_pytest', 'pluggy')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *others], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", sorted(modules()))
def test_what_a_module_may_import(name: str) -> None:
    """No private part of pytest anywhere; pytest only in its face; nothing reaches up into a face."""
    path = modules()[name]
    top = name.split(".")[0]
    assert "_pytest" not in imports(path)
    if top not in PYTEST_FACE:
        assert "pytest" not in imports(path)
        assert not own_imports(name, path) & PYTEST_FACE
    if top not in FACES:
        assert "cli" not in own_imports(name, path)
    if top in PURE:
        assert not imports(path) & IMPURE


@pytest.mark.parametrize("name", sorted(modules()))
def test_every_module_says_its_duty(name: str) -> None:
    """The docstring of a module is how somebody finds their way; every public function and class has one as well."""
    tree = ast.parse(modules()[name].read_text())
    assert ast.get_docstring(tree)
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert ast.get_docstring(node), node.name


def test_the_public_names() -> None:
    """What ``import pytest_skillbench`` offers is chosen, is there, and has not grown by accident."""
    assert pytest_skillbench.__all__ == ["__version__", "Problem", "SkillbenchError"]
    for name in pytest_skillbench.__all__:
        assert getattr(pytest_skillbench, name)
    assert dir(pytest_skillbench) == sorted(pytest_skillbench.__all__) or set(dir(pytest_skillbench)) == set(
        pytest_skillbench.__all__
    )
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pytest_skillbench.nothing


def test_no_mutable_state_in_the_pytest_face() -> None:
    """State lives on the session's plugin object, so that two sessions in one process can't meet."""
    for name in PYTEST_FACE:
        for node in ast.parse((PACKAGE / f"{name}.py").read_text()).body:
            value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
            names = [t.id for t in getattr(node, "targets", []) if isinstance(t, ast.Name)]
            if names != ["__all__"] and names != ["_VERDICTS"]:
                assert not isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp)), (name, names)
            assert not isinstance(node, ast.Global)
