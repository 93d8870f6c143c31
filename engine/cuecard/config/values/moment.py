"""Times in files: ISO 8601 with a zone, because without one even the day is ambiguous."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

_SUCH_AS = "such as 2026-11-20T09:00:00+00:00"


def _read(value: Any) -> Any:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        raise PydanticCustomError("moment", f"should be an ISO 8601 time with a zone, {_SUCH_AS}") from None
    if isinstance(moment, datetime) and moment.tzinfo is None:
        raise PydanticCustomError("moment", f"should have a zone, {_SUCH_AS}")
    return moment


Moment = Annotated[datetime, BeforeValidator(_read)]
"""A time with its zone, written as text."""
