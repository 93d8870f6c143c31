"""What the input schema of a tool says in words: the names and descriptions of its parameters, and their choices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

MOST_NODES = 300
"""Schemas come from tool servers: deep, huge, or a mapping that holds itself. So much of one is looked at, no more."""

MOST_CHARACTERS = 4_000

_NAMED = ("properties", "patternProperties", "$defs", "definitions")
_NESTED = ("items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf")
_SAID = ("title", "description")


def parameter_text(schema: object) -> str:
    """The words of a JSON Schema, one text a line, wherever they stand in it; empty for what is no schema.

    References are not followed: what they point to stands in the schema as well, or is not there.
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
