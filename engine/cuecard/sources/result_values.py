"""Finds the values in a tool result that the working memory's rules refer to, however the result is wrapped."""

from __future__ import annotations

import json
from collections.abc import Mapping

from cuecard.model import Json
from cuecard.model.values import BLOCKS, FAILED, STRUCTURED
from cuecard.template import without_controls

_WRAP = frozenset({*STRUCTURED, *FAILED, "content", "_meta", "meta"})
_DEEPEST = 4
"""The maximum number of wrappers to unwrap."""

_LONGEST = 1000
"""The maximum length of an id or a key, in characters or bits. A longer one is ignored, since it would fill the
prompt.
"""


def read_result(result: Json) -> Json:
    """The content of a result: JSON text is parsed, and content from an MCP server or a provider is unwrapped.

    None if it cannot be read, and for a wrapper that says that the tool failed.
    """
    value = result
    for _ in range(_DEEPEST):
        wrapped, inner = (True, _from_text(value)) if isinstance(value, str) else _inside(value)
        if not wrapped:
            return value
        value = inner
    return None if isinstance(value, str) else value


def unwrapped(result: Json) -> Json:
    """The content of a result, unwrapped like in `read_result`; a text stays a text, and nothing becomes None."""
    value = result
    for _ in range(_DEEPEST):
        wrapped, inner = _inside(value)
        if not wrapped or inner is None:
            return value
        value = inner
    return value


def fields_of(said: Json) -> Json:
    """The object with the fields of a result: itself, or its text parsed as JSON."""
    return _from_text(said) if isinstance(said, str) else said


def applies(result: Json, when: str) -> bool:
    """Whether the key that a rule requires is true in the result."""
    return not when or (isinstance(result, Mapping) and result.get(when) is True)


def identifier(value: Json) -> str:
    """An id or a key as text; empty if it is invalid.

    One with a control character is invalid: the next turn would be rejected for it, and no tool call could carry it.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    if isinstance(value, int) and value.bit_length() > _LONGEST:  # `str` rejects very long integers
        return ""
    text = str(value)
    return text if text.strip() and len(text) <= _LONGEST and without_controls(text) == text else ""


def _from_text(text: str) -> Json:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None


def _inside(value: Json) -> tuple[bool, Json]:
    """Whether a value is a wrapper, and its content."""
    if isinstance(value, list) and len(value) == 1 and (part := _part(value[0])) is not None:
        return True, part
    if isinstance(value, Mapping) and (block := _block(value)) is not None:
        return True, _said(block)
    if isinstance(value, Mapping) and value and value.keys() <= _WRAP:
        return True, _unwrapped(value)
    return False, value


def _part(part: Json) -> Json:
    """The content of a part: a text, or Bedrock's JSON; None if it is not such a part."""
    if not isinstance(part, Mapping):
        return None
    if isinstance(text := part.get("text"), str) and (part.get("type") == "text" or len(part) == 1):
        return text
    return part["json"] if part.keys() == {"json"} else None


def _block(value: Mapping[str, Json]) -> Mapping[str, Json] | None:
    """The block in which a provider sends a result; None for anything else."""
    if value.get("type") == "tool_result" and "tool_use_id" in value:
        return value
    held = next((value[key] for key in BLOCKS if len(value) == 1 and key in value), None)
    return held if isinstance(held, Mapping) else None


def _said(block: Mapping[str, Json]) -> Json:
    """The content of a block; Gemini hosts put it under another `output`, and an error under `error`."""
    if block.get("is_error") is True or block.get("status") == "error":
        return None
    response = block.get("response", block.get("content"))
    if isinstance(response, Mapping) and response.keys() <= {"output", "error"}:
        return response.get("output")
    return response


def _unwrapped(wrap: Mapping[str, Json]) -> Json:
    if any(wrap.get(key) is True for key in FAILED):
        return None
    structured = (wrap[key] for key in STRUCTURED if wrap.get(key) is not None)
    return next(structured, wrap.get("content"))
