"""The public names: those of `cuecard` and its doors, and what pages and examples import from modules below it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import ismodule
from pathlib import Path

import cuecard
import cuecard.types
import cuecard.workspace

ROOT = Path(__file__).parents[3]
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PACKAGE = {"__version__"}
"""Names that are no class and no function, and described in words."""


@cache
def public_names() -> frozenset[str]:
    """Full names, such as `cuecard.Engine` and `cuecard.adapters.anthropic.request`."""
    own = {f"cuecard.{name}" for name in cuecard.__all__ if name not in _PACKAGE}
    own |= {f"cuecard.types.{name}" for name in cuecard.types.__all__}
    own |= {f"cuecard.workspace.{name}" for name in cuecard.workspace.__all__}
    return frozenset({*own, *(name for text in _sources() for name in _imported(text))})


def _sources() -> Iterator[str]:
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        if page.parent.name != "api":
            yield from _BLOCK.findall(page.read_text(encoding="utf-8"))
    yield from (path.read_text(encoding="utf-8") for path in (ROOT / "examples" / "hosts").glob("*.py"))


def _imported(text: str) -> Iterator[str]:
    """What a program takes from modules below `cuecard`, also as `anthropic.request` of an imported module."""
    tree = ast.parse(text)
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("cuecard."):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if _is_module(node.module, alias.name):
                    modules[alias.name] = full
                else:
                    yield full
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield f"{modules[node.value.id]}.{node.attr}"


def _is_module(package: str, name: str) -> bool:
    found = getattr(import_module(package), name, None)
    return ismodule(found) or (found is None and find_spec(f"{package}.{name}") is not None)
