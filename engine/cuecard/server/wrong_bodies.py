"""Problems in a request's body, worded like those in files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from cuecard.config.documents.document import Document, problem_at
from cuecard.config.documents.json_places import json_places
from cuecard.config.documents.validation import FileModel, validate
from cuecard.errors import Problem, Span, SpecError
from cuecard.server.json_text import read_json

_NAME = "body"


def wrong_body(body: bytes, model: type[FileModel], found: Sequence[Any]) -> tuple[Problem, ...]:
    """Every problem in a body, with line and column.

    Args:
        body: the body as received.
        model: the expected shape.
        found: pydantic's errors.
    """
    if not body:
        return (Problem("json-syntax", "the body is empty", "send a JSON object", _NAME),)
    try:
        value = read_json(body)
    except json.JSONDecodeError as error:
        return (_syntax(body, error),)
    if found and tuple(found[0]["loc"]) == ("body",) and not isinstance(value, dict):
        return (Problem("wrong-value", "the body should be a JSON object", "", _NAME),)
    text = body.decode("utf-8-sig")
    try:
        validate(Document(_NAME, text, value, *json_places(text)), model)
    except SpecError as error:
        return error.problems
    return tuple(Problem("wrong-value", str(each["msg"]), "", _NAME) for each in found)


def _syntax(body: bytes, error: json.JSONDecodeError) -> Problem:
    text = body.decode("utf-8", "replace")
    before = text[: error.pos]
    span = Span(before.count("\n") + 1, error.pos - (before.rfind("\n") + 1) + 1)
    return problem_at(_NAME, text, span, "json-syntax", f"the body is not JSON: {error.msg}", "")
