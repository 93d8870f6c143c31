"""The words in the input schema of a tool: the names, descriptions and choices of its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

MOST_NODES = 300
"""The maximum number of nodes read from a schema, since schemas come from tool servers and may be deep, huge or
cyclic.
"""

MOST_CHARACTERS = 4_000

_NAMED = ("properties", "patternProperties", "$defs", "definitions")
_NESTED = ("items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf")
_SAID = ("title", "description")


def parameter_text(schema: object) -> str:
    """The words of a JSON Schema at any depth, one text per line; empty for anything else.

    References are not followed: their targets are either in the schema anyway or missing.
    """
    text = "\n".join(islice(_said(schema), MOST_NODES))
    return text[:MOST_CHARACTERS]


def _said(schema: object) -> Iterator[str]:
    waiting, seen = [schema], 0
    while waiting and seen < MOST_NODES:
        node, seen = waiting.pop(0), seen + 1
        if isinstance(node, list | tuple):
            waiting += node[:MOST_NODES]
        elif isinstance(node, Mapping):
            if seen > 1:
                yield from (text for key in _SAID if isinstance(text := node.get(key), str))
            yield from _choices(node.get("enum"))
            for key in _NAMED:
                yield from _names(node.get(key), waiting)
            waiting += [node[key] for key in _NESTED if key in node]


def _names(named: object, waiting: list[object]) -> Iterator[str]:
    if isinstance(named, Mapping):
        for name in islice(named, MOST_NODES):
            if isinstance(name, str):
                yield name
            waiting.append(named[name])


def _choices(values: object) -> Iterator[str]:
    if isinstance(values, list | tuple):
        yield from (value for value in values[:MOST_NODES] if isinstance(value, str))
