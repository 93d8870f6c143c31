"""A function as a tool: its card, and what checks arguments against its annotations and calls it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema

from cuecard.catalogue.catalogue import TOOL_NAME
from cuecard.errors import Problem
from cuecard.model import ToolCard
from cuecard.model.argument_problems import wrong
from cuecard.model.boundary import taken

AnyFunction: TypeAlias = Callable[..., Any]

_NAMES = "pass functions by names of 1 to 64 letters, digits, `_`, `-` or `.`"
_NAMED = "give it arguments that can be passed by name, annotated with types that JSON can represent"


class _Schema(GenerateJsonSchema):
    """Without titles, which repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - of no field
        """Never."""
        return False


def function_tools(functions: Any, problems: list[Problem]) -> tuple[dict[str, TypeAdapter[Any]], list[ToolCard]]:
    """What checks and calls each function, by the name of its tool, and the cards.

    Args:
        functions: the functions, or the functions by name.
        problems: collects each that can be no tool.
    """
    kind = Mapping[Any, Any] if issubclass(type(functions), Mapping) else Iterable[Any]
    given = taken(kind, functions, "functions", problems)
    pairs: Iterable[tuple[str, Any, Any]] = (
        [(f"functions[{name!r}]", name, each) for name, each in given.items()]
        if isinstance(given, dict)
        else [(f"functions[{n}]", getattr(each, "__name__", ""), each) for n, each in enumerate(given or ())]
    )
    adapters: dict[str, TypeAdapter[Any]] = {}
    cards: list[ToolCard] = []
    for at, name, function in pairs:
        if name in adapters:
            problems.append(_unfit(at, f"is a second tool named `{name}`", "name each tool once"))
        elif made := _tool(at, name, function, problems):
            adapters[name], card = made
            cards.append(card)
    return adapters, cards


def _tool(at: str, name: Any, function: Any, problems: list[Problem]) -> tuple[TypeAdapter[Any], ToolCard] | None:
    if not callable(function):
        problems.append(wrong(at, "a function", function))
        return None
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        problems.append(_unfit(at, "has a name that is not a valid tool name", _NAMES))
        return None
    try:
        adapter = TypeAdapter[Any](function)
        schema = adapter.json_schema(schema_generator=_Schema)
    except (PydanticUserError, NameError, TypeError) as error:
        problems.append(_unfit(at, f"cannot be a tool: {str(error).partition(chr(10))[0]}", _NAMED))
        return None
    if schema.get("type") != "object":
        problems.append(_unfit(at, "cannot be a tool: an argument cannot be passed by name", _NAMED))
        return None
    return adapter, ToolCard(name, inspect.getdoc(function) or "", schema)


def _unfit(at: str, told: str, hint: str) -> Problem:
    return Problem("wrong-argument", f"`{at}` {told}", hint, at)
