"""The location of the shipped prompts, tool instructions, schemas and examples."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Literal

from cuecard.outside.paths import is_there


def content_root() -> Path:
    """The folder that contains `prompts/`, `tool_instructions/`, `schemas/` and `examples/`.

    They are bundled with an installed package; in a checkout, they are at the top level.
    """
    package = Path(__file__).parents[1]
    bundled = package / "_bundled"
    return bundled if bundled.is_dir() else package.parents[1]


def find_content(path: Path, kind: Literal["agent", "assistant"] = "agent") -> Path:
    """The path itself or, if nothing exists there, the content that cuecard ships under that path or name.

    `prompts/cms/agent.yaml` works anywhere, and so does `cms`: the agent of that name, or its assistant.
    """
    if path.is_absolute() or is_there(path):
        return path
    root = content_root()
    folder = root / ("prompts" if kind == "agent" else "examples") / path
    by_name = folder / f"{kind}.yaml" if len(path.parts) == 1 else folder
    return next((found for found in (root / path, by_name) if is_there(found)), path)


def find_agent(path: str | Path) -> Path:
    """The same for the library, with a warning if a shipped agent is used, since the user's own may be missing by
    mistake.
    """
    given = Path(path)
    found = find_content(given)
    if found != given:
        warnings.warn(f"`{path}` is not in this folder: using the agent that cuecard brings", stacklevel=4)
    return found
