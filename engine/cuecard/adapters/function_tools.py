"""One Python function as a tool, and its definition in the form of each provider."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import to_jsonable_python

from cuecard.adapters.bodies import Body, Form
from cuecard.catalogue.catalogue import TOOL_NAME
from cuecard.engine import Engine
from cuecard.errors import Problem
from cuecard.model import Json, ToolCard
from cuecard.model.argument_problems import wrong
from cuecard.model.boundary import checked, taken

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


@checked
def definitions(cards: Iterable[ToolCard], form: Form) -> list[Body]:
    """The tools in the form that the adapter of the same name takes, in the order of the cards.

    Args:
        cards: what is known of the tools, such as those of `engine.tools`; a card without a schema takes any arguments.
        form: `anthropic`, `bedrock`, `chat`, `gemini` or `responses`.

    Raises:
        InputError: when there is no such form, or something that is no card.
    """
    return [_FORMS[form](card) for card in cards]


def search_card(engine: Engine) -> ToolCard:
    """The search tool as a card with its arguments, in the agent's words."""
    words, known = engine.words.search, engine.tools.get(engine.search_tool)
    fields = {
        "query": {"type": "string", "description": words.query_description},
        "limit": {"type": "integer", "description": words.limit_description},
    }
    schema = {"type": "object", "properties": fields, "required": ["query"]}
    description = (known.description if known else "") or words.description
    return ToolCard(engine.search_tool, description, schema)


def _schema(card: ToolCard) -> Body:
    return dict(card.input_schema) or {"type": "object", "properties": {}}


def _described(card: ToolCard) -> Body:
    # Some providers refuse a description that is empty.
    return {"name": card.name, **({"description": card.description} if card.description else {})}


def _anthropic(card: ToolCard) -> Body:
    return {**_described(card), "input_schema": _schema(card)}


def _bedrock(card: ToolCard) -> Body:
    return {"toolSpec": {**_described(card), "inputSchema": {"json": _schema(card)}}}


def _chat(card: ToolCard) -> Body:
    return {"type": "function", "function": {**_described(card), "parameters": _schema(card)}}


def _responses(card: ToolCard) -> Body:
    # Strict, which is the default there, wants schemas in which everything is required.
    return {"type": "function", **_described(card), "parameters": _schema(card), "strict": False}


def _gemini(card: ToolCard) -> Body:
    return {**_described(card), "parametersJsonSchema": _schema(card)}


_FORMS: Mapping[Form, Callable[[ToolCard], Body]] = {
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "chat": _chat,
    "gemini": _gemini,
    "responses": _responses,
}


def plain_value(value: Any) -> Json:
    """A value as JSON: models and dataclasses as objects, bytes as base64, NaN as null, anything else as its text."""
    if value is None or isinstance(value, str):
        return value
    try:
        made: Json = to_jsonable_python(value, inf_nan_mode="null", bytes_mode="base64", fallback=str)
    except ValueError:  # it contains itself
        return str(value)
    return made
