"""Where the shipped prompts, tool instructions, schemas and examples are."""

from __future__ import annotations

from pathlib import Path

from cuecard.outside.paths import is_there


def content_root() -> Path:
    """The folder that holds `prompts/`, `tool_instructions/`, `schemas/` and `examples/`.

    In an installed package they are bundled; in a checkout they stand at its top.
    """
    package = Path(__file__).parents[1]
    bundled = package / "_bundled"
    return bundled if bundled.is_dir() else package.parents[1]


def find_content(path: Path) -> Path:
    """The path itself; where nothing is, the shipped file of that name: `prompts/cms/agent.yaml` works anywhere."""
    shipped = content_root() / path
    return shipped if not is_there(path) and not path.is_absolute() and is_there(shipped) else path
