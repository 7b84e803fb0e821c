"""Prove whether an Agent Skill earns its keep, and whether an edit made it worse.

The public names, and nothing else. They are loaded on first use, so that ``import pytest_skillbench``
(which pytest does in every session) costs nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

_WHERE = {
    "SkillbenchError": "errors",
    "Problem": "errors",
}

__all__ = ["__version__", *sorted(_WHERE)]


def __getattr__(name: str) -> object:
    """Import a public name from the module that defines it (PEP 562)."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_WHERE[name]}", __name__), name)


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
