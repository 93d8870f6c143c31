"""What a tool result says, however it is wrapped: its values, and marks in place of its pictures and files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

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

_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w.+-]+=[\w.+-]+)*;base64,[A-Za-z0-9+/=_-]*")
_BASE64 = re.compile(r"[A-Za-z0-9+/=_\s-]+")
_BYTES = ("data", "blob", "base64", "bytes", "file_data")
_TYPES = ("mimeType", "mime_type", "media_type", "mediaType", "format")
MEDIA_WORDS = (";base64,", *map('"{}"'.format, _TYPES))
"""Texts, one of which is in the JSON of every result with a picture or a file."""

_AROUND = ("resource", "source", "inlineData", "inline_data", "input_audio", "image", "audio", "video", "document")
_URIS = frozenset(("image_url", "input_image", "input_file", "file"))
_TEXTS = frozenset(("text", "input_text", "output_text"))


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


def without_media(result: Json, mark: Callable[[str], str]) -> tuple[Json, tuple[Json, ...]]:
    """What a result says, with a mark in place of each picture or file, and those as the tool wrote them.

    The result itself if there are none in it. Where its parts are texts, what it says is a text.

    Args:
        result: what the tool returned.
        mark: the text that stands for a picture or a file of a kind, such as `image/png`.
    """
    said, marks = _parsed(result), _Marks(mark)
    try:
        told = marks.told(unwrapped(said))
        if isinstance(said, Mapping) and any(said.get(key) is not None for key in STRUCTURED):
            beside = _Marks(mark)
            beside.told(said.get("content"))  # structured content says what the texts beside it say
            marks.found += beside.found
            told = "\n".join((json.dumps(told, ensure_ascii=False), *beside.said)) if beside.said else told
    except RecursionError:
        return result, ()
    return (told if marks.found else result), tuple(marks.found)


def _parsed(result: Json) -> Json:
    """A result that is JSON text, as far as something in it may be a picture."""
    if not isinstance(result, str) or not any(word in result for word in MEDIA_WORDS):
        return result
    try:
        value = json.loads(result)
    except (ValueError, RecursionError):
        return result
    return value if isinstance(value, (dict, list)) else result


class _Marks:
    """The pictures and files found so far, and the marks that stand for them."""

    def __init__(self, mark: Callable[[str], str]) -> None:
        self.mark = mark
        self.found: list[Json] = []
        self.said: list[str] = []

    def told(self, value: Json) -> Json:
        """A value with marks; a list of parts with at least one mark is a text."""
        if isinstance(value, str):
            return _URI.sub(lambda uri: self._noted(uri[0], uri[1]), value) if ";base64," in value else value
        if isinstance(value, Mapping):
            kind = _kind(value)
            return self._noted(value, kind) if kind else {key: self.told(held) for key, held in value.items()}
        if not isinstance(value, (list, tuple)):
            return value
        before = len(self.found)
        told = [self.told(held) for held in value]
        texts = [each if isinstance(each, str) else _text(each) for each in told]
        is_text = len(self.found) > before and not any(isinstance(held, str) for held in value)
        return "\n".join(text or "" for text in texts) if is_text and None not in texts else told

    def _noted(self, part: Json, kind: str) -> str:
        self.found.append(part)
        self.said.append(self.mark(kind))
        return self.said[-1]


def _text(part: Json) -> str | None:
    """The text of a part that is one, also of an embedded resource."""
    if not isinstance(part, Mapping):
        return None
    held = part.get("resource") if part.get("type") == "resource" else part
    text = held.get("text") if isinstance(held, Mapping) else None
    is_text = part.get("type") in _TEXTS or held is not part or len(part) == 1
    return text if is_text and isinstance(text, str) else None


def _kind(part: Mapping[str, Json]) -> str:
    """The kind of a picture or file whose bytes are in the part, such as `image/png`; empty for anything else."""
    if part.get("type") in _URIS:
        within = (text for each in part.values() if isinstance(each, Mapping) for text in each.values())
        uris = (_URI.fullmatch(text) for text in (*part.values(), *within) if isinstance(text, str))
        return next((uri[1] for uri in uris if uri), "")
    held: list[Mapping[str, Json]] = [part]
    held += [around for key in _AROUND if isinstance(around := part.get(key), Mapping)]
    held += [source for each in held[1:] if isinstance(source := each.get("source"), Mapping)]
    texts = (each.get(key) for each in held for key in _BYTES)
    if not any(isinstance(text, str) and _BASE64.fullmatch(text) for text in texts):
        return ""
    return next((kind for each in held for key in _TYPES if isinstance(kind := each.get(key), str)), "")
