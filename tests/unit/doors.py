"""What the modules of tests reach of cuecard behind its doors, by themselves and by their helpers and fixtures.

The doors are the names of `cuecard`, the modules of `DOORS`, the command line and HTTP. What a text names, to patch or
to run it, counts as imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cuecard

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
_ROOTS = (ROOT / "engine", ROOT / "examples" / "cms", ROOT / "examples" / "hosts", TESTS)
_MODULES = r"types|errors|telemetry|workbench\.testing\.pytest_plugin|adapters(\.\w+)*"
DOORS = re.compile(rf"cuecard(\.({_MODULES}))?")
_IMPORTED = re.compile(r"^(?:from|import) (cuecard(?:\.\w+)*)", re.MULTILINE)
_NAMED = re.compile(r"(?<![\w/.])cuecard(?:\.[a-z_]\w*)+")


def modules() -> list[Path]:
    """The modules of tests."""
    return sorted(path for path in TESTS.rglob("test_*.py") if "node_modules" not in path.parts)


def is_before_doors(test: Path) -> bool:
    """Whether a module of tests reaches nothing behind the doors; most that do say so where they import it."""
    imported = _IMPORTED.findall(test.read_text(encoding="utf-8"))
    return all(map(DOORS.fullmatch, imported)) and not behind_doors(test)


def behind_doors(test: Path) -> set[str]:
    """The names behind the doors that a module of tests reaches."""
    seen, left = {test}, [test]
    while left:
        new = {*_helpers(left.pop())} - seen
        seen |= new
        left += new
    return {name for path in seen for name in _read(path).leads if name.startswith("cuecard.") and not _is_door(name)}


def _is_door(name: str) -> bool:
    at_top = name.count(".") == 1 and _file(name) is None
    return name.partition(".")[2] in cuecard.__all__ if at_top else DOORS.fullmatch(_module(name)) is not None


def _module(name: str) -> str:
    """The module of a name, which may be one itself."""
    return name if _file(name) or "." not in name else _module(name.rpartition(".")[0])


@cache
def _file(name: str) -> Path | None:
    places = [root.joinpath(*name.split(".")) for root in _ROOTS]
    files = (file for place in places for file in (place.with_suffix(".py"), place / "__init__.py"))
    return next((file for file in files if file.is_file()), None)


@dataclass(frozen=True)
class _Read:
    """What stands in a file.

    Attributes:
        leads: the names that it imports, and those of cuecard that its texts name.
        fixtures: the names of its fixtures.
        asked: the names of arguments, and those that `usefixtures` or `getfixturevalue` is told.
    """

    leads: frozenset[str]
    fixtures: frozenset[str]
    asked: frozenset[str]


@cache
def _read(path: Path) -> _Read:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    told = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    found = {f"{node.module}.{each.name}" for node in nodes if isinstance(node, ast.ImportFrom) for each in node.names}
    found |= {each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in told)
    named = {name for text in texts if isinstance(text, str) for name in _NAMED.findall(text)}
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    fixtures = {each.name for each in functions if any("fixture" in ast.unparse(mark) for mark in each.decorator_list)}
    calls = (node for node in nodes if isinstance(node, ast.Call))
    asking = (call for call in calls if _name(call) in {"usefixtures", "getfixturevalue"})
    asked = {str(each.value) for call in asking for each in call.args if isinstance(each, ast.Constant)}
    return _Read(
        frozenset(found | {name for name in named if _module(name) != "cuecard"}),
        frozenset(fixtures),
        frozenset({node.arg for node in nodes if isinstance(node, ast.arg)} | asked),
    )


def _name(call: ast.Call) -> str:
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def _helpers(path: Path) -> Iterator[Path]:
    """The files of this project that a file imports, and those that have the fixtures that it asks for."""
    for name in _read(path).leads:
        if (file := _file(_module(name))) and not name.startswith("cuecard"):
            yield file
    for folder in path.parents if path.is_relative_to(TESTS) else ():
        shared = folder / "conftest.py"
        if shared != path and shared.is_file() and _read(shared).fixtures & _read(path).asked:
            yield shared
