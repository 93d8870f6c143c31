"""What the checkout ships, as programs reach it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from cuecard import Engine
from cuecard.types import ModelProfiles

ROOT = Path(__file__).parents[1]


def content_root() -> Path:
    """The folder with `prompts/`, `tool_instructions/`, `schemas/` and `examples/`."""
    return ROOT


@cache
def read_models() -> ModelProfiles:
    """The shipped profiles of models; the CMS has none of its own."""
    return Engine.open(ROOT / "prompts" / "cms").models
