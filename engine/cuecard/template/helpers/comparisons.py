"""Helpers that return true or false: `{{#if (eq mode "plan")}}`."""

from __future__ import annotations

from typing import TypeGuard

from cuecard.model import Json
from cuecard.template.runtime.values import WrongValueError, is_falsy


def is_same(left: Json, right: Json) -> bool:
    """Equal, and of the same type: `1` is neither `"1"` nor `true`, as in the conditions of an agent file."""
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def eq(left: Json, right: Json) -> bool:
    """Whether two values are equal."""
    return is_same(left, right)


def ne(left: Json, right: Json) -> bool:
    """Whether two values differ."""
    return not is_same(left, right)


def gt(left: Json, right: Json) -> bool:
    """Whether a number or text is greater than another."""
    return _compared(left, right) > 0


def lt(left: Json, right: Json) -> bool:
    """Whether a number or text is less than another."""
    return _compared(left, right) < 0


def and_(*values: Json) -> Json:
    """The last value if all are truthy, otherwise the first that is not, as in JavaScript."""
    return next((each for each in values if is_falsy(each)), values[-1])


def or_(*values: Json) -> Json:
    """The first truthy value, otherwise the last."""
    return next((each for each in values if not is_falsy(each)), values[-1])


def not_(value: Json) -> bool:
    """Whether the value is falsy."""
    return is_falsy(value)


def _compared(left: Json, right: Json) -> int:
    if isinstance(left, str) and isinstance(right, str):
        return (left > right) - (left < right)
    if _is_number(left) and _is_number(right):
        return (left > right) - (left < right)
    raise WrongValueError("compares two numbers, or two texts", "declare the input as `type: number`")


def _is_number(value: Json) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
