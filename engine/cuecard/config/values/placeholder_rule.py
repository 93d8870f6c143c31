"""Which placeholders a text of an agent file may have, and which it must have."""

from __future__ import annotations

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from cuecard.config.values.placeholders import PLACEHOLDER


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
