"""Numbers as JavaScript formats and parses them (ECMA-262: Number::toString, StringToNumber)."""

from __future__ import annotations

import math
import re

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def number_of(text: str) -> float:
    """The number that JavaScript uses for a text in comparisons: 0 if blank, NaN if it is not a decimal number."""
    text = text.strip()
    if not text:
        return 0
    return float(text) if _DECIMAL.fullmatch(text) else math.nan


def number_text(value: float) -> str:
    """A boolean or number as JavaScript formats it (ECMA-262, Number::toString); integers below 1e21 are exact."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) < 10**21:
        return str(value)
    try:
        return _float_text(float(value))
    except OverflowError:
        return "Infinity" if value > 0 else "-Infinity"


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
