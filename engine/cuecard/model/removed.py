"""What settings had in earlier versions, refused with what to write instead."""

from __future__ import annotations

from typing import Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from cuecard.errors import REMOVED


def no_longer(word: str, hint: str) -> BeforeValidator:
    """Annotates a setting that could be this word; `hint` says what to write instead."""

    def check(value: Any) -> Any:
        if isinstance(value, str) and str.__str__(value) == word:
            told = f"can no longer be `{word}`"
            raise PydanticCustomError("told", "{told}", {"code": REMOVED, "told": told, "hint": hint})
        return value

    return BeforeValidator(check)
