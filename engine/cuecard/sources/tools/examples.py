"""Examples of a tool's input, checked against its schema."""

from __future__ import annotations

import json
from collections.abc import Mapping

from cuecard.model import Cut, Json, ToolCard

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": (list, tuple),
    "object": Mapping,
    "null": type(None),
}


def examples_text(card: ToolCard, examples: Mapping[str, Json]) -> tuple[str, tuple[Cut, ...]]:
    """One line for each example, beginning with a line break: two spaces, its label, its JSON.

    An example that the tool's schema rejects is left out, since a model would copy the mistake. Only an object's own
    keys are checked: whether they are known, required, and have the type and values that the schema lists.
    """
    reasons = {label: _refused(card.input_schema, example) for label, example in examples.items()}
    lines = [f"\n  {label}: {_json(example)}" for label, example in examples.items() if not reasons[label]]
    cuts = [Cut(f"input example `{label}` of {card.name}", reason) for label, reason in reasons.items() if reason]
    return "".join(lines), tuple(cuts)


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _refused(schema: Mapping[str, Json], example: Json) -> str:
    if not schema:
        return ""
    if not isinstance(example, Mapping):
        return "it is not an object"
    properties = schema.get("properties", {})
    missing = [key for key in schema.get("required", ()) if key not in example]
    unknown = [key for key in example if key not in properties] if schema.get("additionalProperties") is False else []
    wrong = [key for key, value in example.items() if not _fits(properties.get(key), value)]
    for what, keys in (("lacks", missing), ("does not know", unknown), ("has another kind of value for", wrong)):
        if keys:
            subject = "it" if what == "lacks" else "the tool's schema"
            return f"{subject} {what} {', '.join(f'`{key}`' for key in keys)}"
    return ""


def _fits(schema: Json, value: Json) -> bool:
    if not isinstance(schema, Mapping):
        return True
    if "enum" in schema and value not in schema["enum"]:
        return False
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    return not kinds or any(_is(value, kind) for kind in kinds)


def _is(value: Json, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES.get(kind, object))
