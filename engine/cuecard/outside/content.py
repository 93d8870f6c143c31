"""Where the shipped prompts, tool instructions, schemas and examples are."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Literal

from cuecard.outside.paths import is_there


def content_root() -> Path:
    """The folder that holds `prompts/`, `tool_instructions/`, `schemas/` and `examples/`.

    In an installed package they are bundled; in a checkout they stand at its top.
    """
    package = Path(__file__).parents[1]
    bundled = package / "_bundled"
    return bundled if bundled.is_dir() else package.parents[1]


def find_content(path: Path, kind: Literal["agent", "assistant"] = "agent") -> Path:
    """The path itself; where nothing is, what cuecard brings under that path or name.

    `prompts/cms/agent.yaml` works anywhere, and so does `cms`: the agent of that name, or its assistant.
    """
    if path.is_absolute() or is_there(path):
        return path
    root = content_root()
    folder = root / ("prompts" if kind == "agent" else "examples") / path
    by_name = folder / f"{kind}.yaml" if len(path.parts) == 1 else folder
    return next((found for found in (root / path, by_name) if is_there(found)), path)


def find_agent(path: str | Path) -> Path:
    """The same for the library, with a warning where a shipped agent is taken: one's own may be missing by mistake."""
    given = Path(path)
    found = find_content(given)
    if found != given:
        warnings.warn(f"`{path}` is not in this folder: using the agent that cuecard brings", stacklevel=3)
    return found
