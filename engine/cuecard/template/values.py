"""Values as a template sees them: JSON only, looked up as keys and items, printed and judged as JavaScript would."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from cuecard.model import Json


class Code:
    """Something that runs and yet may stand among values: `@partial-block`. It is true, and prints nothing."""

    __slots__ = ()


class NotData(Exception):  # noqa: N818 - never shown: the runtime turns it into a TemplateRenderError with a place
    """A value that is not JSON, such as a function or an object with methods."""


def lookup(value: Json, key: str) -> Json:
    """`value.key`: a mapping's key, a sequence's or text's item or `length`; None for anything else.

    Never an attribute, never a method (Handlebars.js 4.7 looks up own properties only).
    """
    if isinstance(value, dict):
        return value.get(key)
    if isinstance(value, (list, tuple, str)):
        if key == "length":
            return len(value)
        if key.isascii() and key.isdigit() and (key == "0" or key[0] != "0") and len(key) < 10:
            index = int(key)
            return value[index] if index < len(value) else None
        return None
    if isinstance(value, Mapping):
        return value.get(key)
    return None


def has(value: Json, key: str) -> bool:
    """Whether `lookup` would find the key, be its value null or not."""
    if isinstance(value, Mapping):
        return key in value
    return lookup(value, key) is not None


def is_empty(value: Json) -> bool:
    """What `if` and `with` treat as absent: null, false, "", NaN and []; not 0 (Handlebars isEmpty)."""
    if isinstance(value, (list, tuple)):
        return not value
    if isinstance(value, (str, bool)) or value is None:
        return not value
    return isinstance(value, float) and math.isnan(value)


def is_falsy(value: Json, *, include_zero: bool = False) -> bool:
    """What `if` takes for no."""
    if value == 0 and isinstance(value, (int, float)) and not isinstance(value, bool):
        return not include_zero
    if callable(value) and not isinstance(value, Code):
        raise NotData
    return is_empty(value)


def items_of(value: Json) -> Iterator[tuple[Json, Json]]:
    """Keys and values as `each` walks them; a mapping's integer keys come first, as JavaScript has them."""
    if isinstance(value, (list, tuple)):
        yield from enumerate(value)
    elif isinstance(value, Mapping):
        keys = list(value)
        if any(_is_index(key) for key in keys):
            keys = [*sorted((k for k in keys if _is_index(k)), key=int), *(k for k in keys if not _is_index(k))]
        yield from ((key, value[key]) for key in keys)
    elif callable(value):
        raise NotData


def _is_index(key: Any) -> bool:
    return isinstance(key, str) and key.isascii() and key.isdigit() and (key == "0" or key[0] != "0") and len(key) < 11


def text_of(value: Json) -> str:
    """The value as JavaScript prints it: nothing for null, `a,b` for a list, `[object Object]` for a mapping."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, (bool, int, float)):
        return number_text(value)
    if isinstance(value, (list, tuple)):
        return ",".join(map(text_of, value))
    if isinstance(value, Mapping):
        return "[object Object]"
    raise NotData


def number_text(value: float) -> str:
    """A boolean, or a number as JavaScript writes it (ECMA-262, Number::toString); integers below 1e21 are exact."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) < 10**21:
        return str(value)
    return _float_text(float(value))


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction.removesuffix("0") if fraction == "0" else whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0)
    if whole == "0":
        point -= len(fraction) - len(fraction.lstrip("0")) + 1
    digits = digits.rstrip("0") or "0"
    return sign + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    exponent = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return digits + exponent if count == 1 else f"{digits[0]}.{digits[1:]}{exponent}"


def same(left: Json, right: Json) -> bool:
    """JavaScript's `==` as far as contexts need it: scalars by value, everything else by identity."""
    if left is right:
        return True
    scalars = (str, int, float)
    return isinstance(left, scalars) and isinstance(right, scalars) and left == right
