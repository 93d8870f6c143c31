"""Other people's packages: by their public names only, loaded only when needed, and no more of them than that."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from unit.loaded_modules import loaded_by

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "engine" / "cuecard").rglob("*.py"))
MIB = 2**20
INSTALLED = 60 * MIB
"""What the package may take on disk with all that it brings, in bytes, before anything is compiled."""

EXTRAS = {"numpy", "bm25s", "babel", "pybars3", "pydantic-ai-slim", "mcp"}
REQUESTS = {"requests", "urllib3", "certifi", "charset_normalizer", "idna"}
"""What tiktoken brings for downloads that we never make."""


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All that a module says, without the expressions: those are most of it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child
            yield from statements(child)


def imported(module: Path) -> set[str]:
    """The full names of all that a module imports, wherever it does so."""
    names = set()
    for node in statements(ast.parse(module.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_no_private_module_or_name_of_another_package_is_used() -> None:
    others = {name for module in MODULES for name in imported(module) if not name.startswith(("cuecard", "__future__"))}

    assert "watchfiles.watch" in others
    # `_ruamel_yaml` is how the package ruamel.yaml.clib is imported: it has no other name.
    others = {name.removeprefix("_ruamel_yaml.") for name in others}
    assert [name for name in others if any(part.startswith("_") for part in name.split("."))] == []


@pytest.mark.parametrize("command", ["render AGENT", "check AGENT", "tokens AGENT", "tools search AGENT page"])
def test_a_command_never_loads_what_downloads_and_no_extra(
    command: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    modules = loaded_by(tmp_path_factory, command.replace("AGENT", "prompts/cms/agent.yaml"))
    loaded = {name.partition(".")[0] for name in modules}

    assert "cuecard" in loaded
    assert loaded.isdisjoint(
        REQUESTS | {name.replace("-", "_") for name in EXTRAS} | {"watchfiles", "pydantic_ai", "pydantic_settings"}
    )


def brought(name: str = "cuecard") -> set[str]:
    """The distributions that come with one, itself included, without any extra."""
    found, waiting = set[str](), [name]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            wanted = [Requirement(line) for line in distribution(name).requires or ()]
            needed = [each for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})]
            waiting += [each.name.lower().replace("_", "-").replace(".", "-") for each in needed]
    return found


def test_what_few_need_is_an_extra() -> None:
    names = brought()

    assert {"pydantic", "lxml", "tiktoken", "requests", "tzdata"} <= names
    assert names.isdisjoint(EXTRAS)


def test_every_extra_is_documented() -> None:
    extras = distribution("cuecard").metadata.get_all("Provides-Extra") or []
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")

    assert "locale" in extras
    assert [extra for extra in extras if f"| `{extra}` |" not in page] == []


def test_the_core_is_small() -> None:
    files = [file for name in brought() - {"cuecard"} for file in distribution(name).files or ()]
    sizes = [Path(str(file.locate())).stat().st_size for file in files if file.suffix != ".pyc"]
    carried = ("engine/cuecard", "prompts", "tool_instructions", "schemas", "examples")
    own = [path.stat().st_size for folder in carried for path in (ROOT / folder).rglob("*") if path.suffix != ".pyc"]

    assert sum(sizes) > 20 * MIB
    assert sum(sizes) + sum(own) < INSTALLED
