"""A function as a tool: its card, and what checks arguments against its annotations and calls it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema

from cuecard.boundary.tools import TOOL_NAME
from cuecard.model import ToolCard
from cuecard.shapes import Findings

AnyFunction: TypeAlias = Callable[..., Any]

_NAMES = "pass functions by names of 1 to 64 letters, digits, `_`, `-` or `.`"
_NAMED = "give it arguments that can be passed by name, annotated with types that JSON can represent"


class _Schema(GenerateJsonSchema):
    """Without titles, which repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - of no field
        """Never."""
        return False


def function_tools(functions: Any, found: Findings) -> tuple[dict[str, TypeAdapter[Any]], list[ToolCard]]:
    """What checks and calls each function, by the name of its tool, and the cards.

    Args:
        functions: the functions, or the functions by name.
        found: is told of each that can be no tool.
    """
    if not isinstance(functions, (Mapping, Iterable)) or isinstance(functions, (str, bytes)):
        found.wrong("functions", "functions, or functions by name", functions)
        return {}, []
    pairs: Iterable[tuple[str, Any, Any]] = (
        [(f"functions[{name!r}]", name, each) for name, each in functions.items()]
        if isinstance(functions, Mapping)
        else [(f"functions[{n}]", getattr(each, "__name__", ""), each) for n, each in enumerate(functions)]
    )
    adapters: dict[str, TypeAdapter[Any]] = {}
    cards: list[ToolCard] = []
    for at, name, function in pairs:
        if name in adapters:
            found.report("wrong-argument", at, f"is a second tool named `{name}`", "name each tool once")
        elif made := _tool(at, name, function, found):
            adapters[name], card = made
            cards.append(card)
    return adapters, cards


def _tool(at: str, name: Any, function: Any, found: Findings) -> tuple[TypeAdapter[Any], ToolCard] | None:
    if not callable(function):
        found.wrong(at, "a function", function)
        return None
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        found.report("wrong-argument", at, "has a name that is not a valid tool name", _NAMES)
        return None
    try:
        adapter = TypeAdapter[Any](function)
        schema = adapter.json_schema(schema_generator=_Schema)
    except (PydanticUserError, NameError, TypeError) as error:
        found.report("wrong-argument", at, f"cannot be a tool: {str(error).partition(chr(10))[0]}", _NAMED)
        return None
    if schema.get("type") != "object":
        found.report("wrong-argument", at, "cannot be a tool: an argument cannot be passed by name", _NAMED)
        return None
    return adapter, ToolCard(name, inspect.getdoc(function) or "", schema)
