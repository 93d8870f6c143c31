"""Kinds of values that several files share: names, texts, lists of them."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]
"""A name of an agent, input or section: a letter, then letters, digits, `_` or `-`."""

ToolName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/-]{1,128}$")]
"""A tool's name as model providers accept it (and as MCP servers send it)."""

_TOOL_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,128}")


def is_tool_name(text: str) -> bool:
    """Whether a text is a `ToolName`."""
    return _TOOL_NAME.fullmatch(text) is not None


def _texts(value: Any) -> Any:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, (list, tuple)):
        raise ValueError("should be a text, or a list of texts")  # noqa: TRY004 - pydantic collects ValueError
    return tuple(value)


def as_tuple(value: Any) -> Any:
    """Lists in a file as tuples; anything else unchanged, for the validation to reject."""
    return tuple(value) if isinstance(value, list) else value


_PATTERN = r"^[A-Za-z0-9_.:/*?-]{1,128}$"
ToolPattern = Annotated[str, Field(pattern=_PATTERN)]
"""A tool's name, or one with `*` for any characters and `?` for one."""

Names = Annotated[tuple[ToolName, ...], BeforeValidator(as_tuple)]
_TOOL_NAME_SCHEMA: dict[str, Any] = {"type": "string", "pattern": f"^{_TOOL_NAME.pattern}$"}
NameOrNames = Annotated[
    tuple[ToolName, ...],
    BeforeValidator(_texts),
    WithJsonSchema({"anyOf": [_TOOL_NAME_SCHEMA, {"type": "array", "items": _TOOL_NAME_SCHEMA}]}),
]
"""A tool's name, or a list of names."""


def _all_or_listed(value: Any) -> Any:
    if value == "all":
        return ("*",)
    if not isinstance(value, (list, tuple)):
        raise ValueError("should be `all`, or a list of tools and patterns such as `calendar_*`")  # noqa: TRY004 - as above
    return tuple(value)


NamesAndPatterns = Annotated[
    tuple[ToolPattern, ...],
    BeforeValidator(_all_or_listed),
    WithJsonSchema(
        {
            "anyOf": [
                {"const": "all"},
                {"type": "array", "items": {"type": "string", "pattern": _PATTERN}},
            ]
        }
    ),
]
"""Tools by name or pattern; `all` is short for the pattern that every name matches."""

Texts = Annotated[
    tuple[str, ...],
    BeforeValidator(_texts),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""A text, or a list of texts."""
