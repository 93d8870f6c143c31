"""The argument of `render_result`: one result, whose body is checked, unlike those in a history."""

from __future__ import annotations

from typing import Any

from cuecard.boundary.nouns import shape_of
from cuecard.model import ToolResult
from cuecard.shapes import Findings, JsonValue

_RESULT, _BODY = shape_of(ToolResult), JsonValue()


def admit_result(result: Any) -> ToolResult:
    """A result whose body is JSON.

    Raises:
        InputError: with everything that is wrong in it.
    """
    found = Findings()
    taken: Any = result if _RESULT.fits(result) else _RESULT.take(result, "result", found)
    found.refuse()
    if not _BODY.fits(taken.result):
        _BODY.take(taken.result, "result.result", found)
    found.refuse()
    admitted: ToolResult = taken
    return admitted
