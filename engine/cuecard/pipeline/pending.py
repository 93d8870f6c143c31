"""Whether a result asks for confirmation: decided by a key in its structure, never by its text."""

from __future__ import annotations

import json
from collections.abc import Mapping

from cuecard.model import Json

_WRAPS = ("result", "output", "structuredContent", "structured_content", "content", "json", "text")
_DEEPEST = 6


def asks_first(result: Json, key: str, depth: int = _DEEPEST) -> bool:
    """Whether an object in this result has the key with the value true.

    The result itself, JSON text, and the wrappers of frameworks and tool servers are examined: `result`, `output`,
    `structuredContent`, and lists of content.
    """
    if not depth or not key:
        return False
    if isinstance(result, str):
        return key in result and asks_first(_parsed(result), key, depth - 1)
    if isinstance(result, Mapping):
        return result.get(key) is True or any(asks_first(result.get(wrap), key, depth - 1) for wrap in _WRAPS)
    if isinstance(result, (list, tuple)):
        parts = (part for part in result if isinstance(part, Mapping) and part.get("type") in {"text", "json"})
        return any(asks_first(part, key, depth - 1) for part in parts)
    return False


def _parsed(text: str) -> Json:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None
