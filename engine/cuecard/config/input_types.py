"""The types of an agent's inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from cuecard.model import Json

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
