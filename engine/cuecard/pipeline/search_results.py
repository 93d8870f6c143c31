"""The names of tools in a search result, however it was wrapped; never taken from free text.

Frameworks and providers wrap results differently. The following are read, also nested and as JSON text:

- names, and objects with a `name` or a `tool_name` (such as `tool_reference` blocks), in lists;
- `{"tools": [...]}`, with `withheld` beside it or not, also under `result`, `output`, `structuredContent`, `content`
  and other wrappers of providers, and `tool_references`;
- content lists: `[{"type": "text", "text": "<JSON>"}]`, as sent by MCP servers and providers;
- objects with such fields: the engine's own `SearchResult`, dataclasses, pydantic models.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from cuecard.errors import visible
from cuecard.model import Json
from cuecard.model.json_values import exact_body
from cuecard.model.values import BLOCKS, FAILED, STRUCTURED
from cuecard.records import dataclass
from cuecard.template.guards.characters import has_controls, without_controls

_LISTS = ("tools", "tool_references")
"""Keys that contain names."""

_WITHHELD = "withheld"
"""The key next to them with names of tools that were found but have no room; they count as found, too."""

_WRAPS = ("result", "output", *STRUCTURED, "data", "content", "value", "response", *BLOCKS)
"""Keys that contain a result. The structured content of an MCP result equals its content, but is more precise."""

_NAMES = ("name", "tool_name")
_CONTENT = frozenset(
    {
        *("text", "input_text", "output_text", "image", "image_url", "audio", "document"),
        *("file", "resource", "resource_link", "search_result", "thinking"),
    }
)
"""The types of content parts; an object with another type and a name is a tool."""

_TEXT = frozenset({str})

_DEEPEST = 8
"""The maximum number of wrappers to unwrap."""


@dataclass(frozen=True, slots=True)
class FoundNames:
    """The names in a search result, each once, in order.

    `unread` describes the structure of what could not be read, without its text; empty if everything was.
    """

    names: tuple[str, ...] = ()
    unread: str = ""


NOTHING_FOUND = FoundNames()


def found_names(result: Json) -> FoundNames:
    """The tool names in a search result, and what could not be read."""
    return _read(result, _DEEPEST)


def _read(value: Json, depth: int) -> FoundNames:
    if depth == 0:
        return FoundNames(unread="a value with too many wrappers")
    if isinstance(value, str):
        return _read_text(value, depth)
    if isinstance(value, (list, tuple)):
        items = [item if isinstance(item, str) else _as_mapping(item) for item in value]
        parts = [item for item in items if isinstance(item, Mapping) and _is_content(item)]
        wraps = [item for item in items if isinstance(item, Mapping) and not _name(item) and _wrapped(item)]
        if not parts and wraps:
            return _joined([_read_mapping(item, depth - 1) for item in wraps])
        return _read_content(parts, depth) if parts else _read_list(items)
    known = _as_mapping(value)
    return FoundNames(unread=_shape(value)) if known is None else _read_mapping(known, depth)


def _read_text(text: str, depth: int) -> FoundNames:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return FoundNames(unread="a text that is not JSON" if text.strip() else "a blank text")
    if isinstance(value, (list, dict)):
        return _read(value, depth - 1)
    return FoundNames(unread=f"JSON text of {_shape(value)}")


def _read_mapping(known: Mapping[str, Json], depth: int) -> FoundNames:
    if known.get("status") == "error" or any(known.get(key) is True for key in FAILED):
        return FoundNames()
    for key in _LISTS:
        if isinstance(held := known.get(key), (list, tuple)):
            late = known.get(_WITHHELD)
            more = [item for item in late if isinstance(item, str)] if isinstance(late, (list, tuple)) else []
            if not _TEXT.issuperset(map(type, held)):
                held = [item if isinstance(item, str) else _as_mapping(item) for item in held]
            return _read_list([*held, *more])
    if known.get("type") == "tool_reference" and _name(known):
        return FoundNames(_each_once((_name(known),)))
    first: FoundNames | None = None
    for held in _wrapped(known):
        read = _read(held, depth - 1)
        if not read.unread:
            return read
        first = first or read
    return first or FoundNames((), _lacking(known))


def _read_content(parts: Sequence[Mapping[str, Json]], depth: int) -> FoundNames:
    """The readable ones of several parts: hosts add a sentence for people next to the data."""
    read = [_read(value, depth - 1) for value in map(_said, parts) if value is not None]
    joined = _joined(read)
    if joined.unread:
        return FoundNames(joined.names, f"content of {joined.unread}")
    return joined if read else FoundNames(unread="content without a text")


def _joined(read: Sequence[FoundNames]) -> FoundNames:
    names = _each_once(name for each in read for name in each.names)
    return FoundNames(names, read[0].unread if read and all(each.unread for each in read) else "")


def _said(part: Mapping[str, Json]) -> Json:
    """The content of a part: JSON, a text, or the text of a resource."""
    resource = _as_mapping(part.get("resource")) or {}
    return part["json"] if "json" in part else part.get("text", resource.get("text"))


def _wrapped(known: Mapping[str, Json]) -> list[Json]:
    return [known[key] for key in _WRAPS if known.get(key) is not None]


def _read_list(items: Sequence[str | Mapping[str, Json] | None]) -> FoundNames:
    names: Sequence[Any] = items
    if not _TEXT.issuperset(map(type, items)):
        names = [item if isinstance(item, str) else _name(item or {}) for item in items]
    lost = names.count("")
    unread = f"a list in which {lost} of {len(names)} entries name no tool" if lost else ""
    return FoundNames(_each_once(filter(None, names)), unread)


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    """The names without control characters, which not every store accepts."""
    once = dict.fromkeys(names)
    if has_controls("".join(once)):
        once = dict.fromkeys(map(without_controls, once))
    return tuple(filter(None, once))


def _name(known: Mapping[str, Json]) -> str:
    """The name of a tool in an object; in Chat Completions, it is under `function`."""
    function = known.get("function")
    held = (known, function) if isinstance(function, Mapping) else (known,)
    return next((each[key] for each in held for key in _NAMES if isinstance(each.get(key), str)), "")


def _is_content(known: Mapping[str, Json]) -> bool:
    kind = known.get("type")
    if isinstance(kind, str):
        return kind in _CONTENT
    return not _name(known) and ("text" in known or "json" in known)


def _as_mapping(value: Json) -> Mapping[str, Json] | None:
    """A mapping itself, or the fields of a dataclass or pydantic model."""
    kind = type(value)
    if isinstance(value, dict | Mapping):  # a dict is asked for first, which is quicker
        return value
    if is_dataclass(kind):
        names = {each.name for each in fields(kind)}
    elif isinstance(getattr(kind, "model_fields", None), Mapping):
        names = set(kind.model_fields)
    else:
        return None
    wanted = (*_LISTS, _WITHHELD, *_WRAPS, *_NAMES, *FAILED, "type", "text", "function", "resource", "status")
    held = [name for name in wanted if name in names or isinstance(getattr(kind, name, None), property)]
    return {name: exact_body(_attribute(value, name))[0] for name in held}


def _attribute(value: object, name: str) -> Json:
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001 - a property of the host's own class; the result then says nothing there
        return None


def _lacking(known: Mapping[str, Json]) -> str:
    held = next((key for key in _LISTS if known.get(key) is not None), "")
    if held:
        return f"an object whose `{held}` is {_shape(known[held])}"
    return f"an object with {len(known)} {'key' if len(known) == 1 else 'keys'} and no `tools` among them"


def _shape(value: Json) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "an object" if isinstance(value, Mapping) else f"a value of type {visible(type(value).__name__)[:60]}"
