"""The searchable fields of a tool card, and their weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple
from types import MappingProxyType
from typing import TypeAlias

from cuecard.catalogue.parameters import parameter_text
from cuecard.model import ToolCard

Weights: TypeAlias = Mapping[str, float]
"""How much each occurrence of a word in a field counts; a field that is absent or 0 is not searched."""

FIELDS: Mapping[str, Callable[[ToolCard], str]] = MappingProxyType(
    {
        "name": lambda card: bare_name(card.name),
        "phrases": lambda card: "\n".join(card.phrases),
        "description": lambda card: card.description,
        "category": lambda card: f"{card.category}\n{server_prefix(card.name)}",
        "instructions": lambda card: "\n".join(astuple(card.instructions)) if card.instructions else "",
        "parameters": lambda card: parameter_text(card.input_schema) if card.input_schema else "",
    }
)
"""The text of each field."""

WEIGHTS: Weights = MappingProxyType(
    {"name": 3.0, "phrases": 1.0, "description": 1.0, "category": 0.5, "instructions": 0.25, "parameters": 0.25}
)

_SEPARATORS = ("__", ".", "/", ":")


def short_texts(card: ToolCard, weights: Weights) -> list[str]:
    """The texts that a query may match as a whole: the tool's name and its phrases, if those fields are searched."""
    names = [bare_name(card.name)] if weights.get("name") else []
    return [*names, *card.phrases] if weights.get("phrases") else names


def bare_name(name: str) -> str:
    """The name without the prefix of its server: `brave_web_search` of `mcp__brave__brave_web_search`."""
    return name[_bare_from(name) :]


def server_prefix(name: str) -> str:
    """The prefix of the bare name, such as `mcp__brave__`. All tools of a server share it, so it counts little."""
    return name[: _bare_from(name)]


def _bare_from(name: str) -> int:
    """The offset after the last separator with text before it and letters after it."""
    if name.isidentifier() and "__" not in name:
        return 0
    found = (at + len(mark) for mark in _SEPARATORS if (at := name.rfind(mark)) > 0)
    return max((end for end in found if any(map(str.isalnum, name[end:]))), default=0)
