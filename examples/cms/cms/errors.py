"""What can go wrong in a tool call: five classes, each with the way out.

CmsError
├── ValidationError        an argument is missing, unknown or malformed, or a confirmation was not asked for
├── ConstraintError        a rule of the site would break: a slug is taken, a state does not allow it
├── NotFoundError          nothing goes by that slug, label or description
├── UnknownReferenceError  an id or a field key that points at nothing
└── TransientError         the database is busy, and the same call may work in a moment
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar


class CmsError(Exception):
    """A refused call: the cause, the way out, and the values that would have been accepted."""

    kind: ClassVar[str]

    def __init__(self, message: str, suggestion: str, options: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.suggestion = suggestion
        self.options = tuple(options)

    def to_json(self) -> dict[str, Any]:
        """`{"error": {"class", "message", "suggestion", "options"}}`; options only when there are any."""
        error: dict[str, Any] = {"class": self.kind, "message": self.message, "suggestion": self.suggestion}
        if self.options:
            error["options"] = list(self.options)
        return {"error": error}


class ValidationError(CmsError):
    """An argument is missing, unknown or malformed, or a confirmation was not asked for."""

    kind = "validation"


class ConstraintError(CmsError):
    """A rule of the site would break."""

    kind = "constraint"


class NotFoundError(CmsError):
    """Nothing goes by that slug, label or description."""

    kind = "not_found"


class UnknownReferenceError(CmsError):
    """An id or a field key that points at nothing."""

    kind = "reference"


class TransientError(CmsError):
    """The database is busy."""

    kind = "transient"
