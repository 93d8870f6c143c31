"""Texts of an agent file with `{placeholders}`: which ones are allowed, and how they are filled."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

PLACEHOLDER = re.compile(r"\{(\w+)\}")
"""A name between braces; any other brace is an ordinary character."""


def fill(form: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders filled in one pass, so that braces in a value stay as they are."""
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), form)


def holds(*known: str, required: tuple[str, ...] = ()) -> AfterValidator:
    """A text with only known placeholders, including the required ones."""

    def check(value: str) -> str:
        found = PLACEHOLDER.findall(value)
        unknown = [word for word in found if word not in known]
        if unknown:
            listed = ", ".join(f"{{{word}}}" for word in known) or "none"
            context = {"word": f"{{{unknown[0]}}}", "known": listed}
            raise PydanticCustomError(
                "placeholder", "contains the unknown placeholder {word}; known here: {known}", context
            )
        if missing := [word for word in required if word not in found]:
            listed = " and ".join(f"{{{word}}}" for word in missing)
            raise PydanticCustomError("placeholder", "should contain {word}", {"word": listed})
        return value

    return AfterValidator(check)
