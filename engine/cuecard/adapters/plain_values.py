"""What tools of a host return, as JSON: models and dataclasses among it."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_jsonable_python

from cuecard.model import Json


def plain_value(value: Any) -> Json:
    """A value as JSON: models and dataclasses as objects, bytes as base64, NaN as null, anything else as its text."""
    if value is None or isinstance(value, str):
        return value
    try:
        made: Json = to_jsonable_python(value, inf_nan_mode="null", bytes_mode="base64", fallback=str)
    except ValueError:  # it contains itself
        return str(value)
    return made
