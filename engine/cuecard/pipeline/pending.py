"""Whether a result asks for confirmation: decided by a key in its structure, never by its text."""

from __future__ import annotations

import json
from collections.abc import Mapping

from cuecard.model import Json
from cuecard.model.wraps import BLOCKS, STRUCTURED

_WRAPS = ("result", "output", *STRUCTURED, "content", "json", "text", "response", *BLOCKS)
_DEEPEST = 6


def asks_first(result: Json, key: str, depth: int = _DEEPEST) -> bool:
    """Whether an object in this result has the key with the value true.

    The result itself, JSON text, and the wrappers of frameworks, tool servers and providers are examined: `result`,
    `output`, `structuredContent`, `toolResult`, `functionResponse`, and lists of content.
    """
    if not depth or not key:
        return False
    if isinstance(result, str):
        return key in result and asks_first(_parsed(result), key, depth - 1)
    if isinstance(result, Mapping):
        return result.get(key) is True or any(asks_first(result.get(wrap), key, depth - 1) for wrap in _WRAPS)
    if isinstance(result, (list, tuple)):
        return any(asks_first(part, key, depth - 1) for part in result if _is_part(part))
    return False


def _is_part(part: Json) -> bool:
    """Whether an item of a list is a part of content with text or JSON; Bedrock's parts have no type."""
    return isinstance(part, Mapping) and (part.get("type") in {"text", "json"} or part.keys() in ({"text"}, {"json"}))


def _parsed(text: str) -> Json:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None
