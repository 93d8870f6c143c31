"""Tools as the providers of models want them defined, made of the cards that an engine has of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from cuecard.adapters.bodies import Form
from cuecard.adapters.placing import Body
from cuecard.engine import Engine
from cuecard.model import ToolCard
from cuecard.model.boundary import checked


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
