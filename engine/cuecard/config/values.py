"""Kinds of values that several files share, texts with placeholders, and values at a path."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from cuecard.model import Json

_SUCH_AS = "such as 2026-11-20T09:00:00+00:00"


def _read(value: Any) -> Any:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError(f"should be an ISO 8601 time with a zone, {_SUCH_AS}") from None
    if isinstance(moment, datetime) and moment.tzinfo is None:
        raise ValueError(f"should have a zone, {_SUCH_AS}")
    return moment


Moment = Annotated[datetime, BeforeValidator(_read)]
"""A time with its zone, written as text."""


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


_PATTERN_SCHEMA: dict[str, Any] = {"type": "string", "pattern": _PATTERN}
_PATTERNS_SCHEMA: dict[str, Any] = {"type": "array", "items": _PATTERN_SCHEMA}
NamesOrPatterns = Annotated[
    tuple[ToolPattern, ...], BeforeValidator(_texts), WithJsonSchema({"anyOf": [_PATTERN_SCHEMA, _PATTERNS_SCHEMA]})
]
"""Tools by name or pattern: one, or a list."""


def is_pattern(name: str) -> bool:
    """Whether a name in a file stands for any number of tools."""
    return "*" in name or "?" in name


NamesAndPatterns = Annotated[
    tuple[ToolPattern, ...],
    BeforeValidator(_all_or_listed),
    WithJsonSchema({"anyOf": [{"const": "all"}, _PATTERNS_SCHEMA]}),
]
"""Tools by name or pattern; `all` is short for the pattern that every name matches."""

Texts = Annotated[
    tuple[str, ...],
    BeforeValidator(_texts),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""A text, or a list of texts."""


PLACEHOLDER = re.compile(r"\{(\w+)\}")
"""A name between braces; any other brace is an ordinary character."""


def fill(form: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders filled in one pass, so that braces in a value stay as they are."""
    text, rest = _parts(form)
    for name, after in rest:
        text += values.get(name, f"{{{name}}}") + after
    return text


@lru_cache(256)
def _parts(form: str) -> tuple[str, Sequence[tuple[str, str]]]:
    """The text before the first placeholder, and each name with the text behind it: lists fill a form line by line."""
    text, *rest = PLACEHOLDER.split(form)
    return text, tuple(zip(rest[::2], rest[1::2], strict=True))


def holds(*known: str, required: tuple[str, ...] = ()) -> AfterValidator:
    """A text with only known placeholders, including the required ones."""

    def check(value: str) -> str:
        found = PLACEHOLDER.findall(value)
        unknown = [word for word in found if word not in known]
        if unknown:
            listed = ", ".join(f"{{{word}}}" for word in known) or "none"
            raise ValueError(f"contains the unknown placeholder {{{unknown[0]}}}; known here: {listed}")
        if missing := [word for word in required if word not in found]:
            listed = " and ".join(f"{{{word}}}" for word in missing)
            raise ValueError(f"should contain {listed}")
        return value

    return AfterValidator(check)


InputType: TypeAlias = Literal["string", "integer", "number", "boolean", "list", "object"]
"""The JSON types that an input may have."""

_TYPES: Mapping[InputType, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list, tuple),
    "object": (Mapping,),
}


def is_of_type(value: Json, kind: InputType) -> bool:
    """Whether a value is of the type that an input declares; a boolean is not a number."""
    return kind == "boolean" if isinstance(value, bool) else isinstance(value, _TYPES[kind])


def value_at(value: Json, path: str) -> Json:
    """The value at a dotted path such as `result.items`, itself for an empty one; None if there is none."""
    for key in path.split(".") if path else ():
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
