"""What helpers share: values as texts and numbers, whether a result is trusted, and its maximum length."""

from __future__ import annotations

from collections.abc import Mapping

from cuecard.model import Json
from cuecard.model.json_values import texts_in
from cuecard.template.guards.guard import Trusted
from cuecard.template.guards.marks import Shown
from cuecard.template.runtime.values import WrongValueError, text_of

MOST = 10_000_000
"""The maximum length of a helper's result in characters."""


def text(value: Json) -> str:
    """A value as text. A missing value is an empty text; a trusted text stays trusted.

    Raises:
        WrongValueError: for a list or a mapping.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        raise WrongValueError("takes a text, not a list", "convert it: `(join value)` or `(json value)`")
    if isinstance(value, Mapping):
        raise WrongValueError("takes a text, not an object", "convert it: `(json value)`")
    return text_of(value)


def whole(value: Json, name: str, most: int = MOST) -> int:
    """A count, from 0 up.

    Raises:
        WrongValueError: for everything else.
    """
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
        return value
    raise WrongValueError(f"takes a whole number from 0 to {most:,} for {name}", "write a number without quotes")


def written(value: Json) -> str:
    r"""A separator, with `\n` and `\t` for a line break and a tab."""
    return text(value).replace("\\n", "\n").replace("\\t", "\t")


def within(length: int) -> None:
    """Check the length before a long text is created.

    Raises:
        WrongValueError: when it would be too long.
    """
    if length > MOST:
        raise WrongValueError(f"would produce more than {MOST:,} characters", "pass less text")


def as_of(result: str, *values: Json) -> str:
    """A text made from values: trusted if all texts in them are, otherwise data."""
    kinds = {type(each) for value in values for each in texts_in(value)}
    if not kinds or not kinds <= {Trusted, Shown}:
        return result
    return Shown(result) if Shown in kinds else Trusted(result)
