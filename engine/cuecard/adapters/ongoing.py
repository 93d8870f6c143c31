"""What adapters ask of a conversation that is under way."""

from __future__ import annotations

from cuecard.catalogue.search import wrong_limit
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import InputError
from cuecard.model import Call, SearchResult, ToolResult


def made_by(call: Call, engine: Engine) -> bool:
    """Whether the engine can prepare steps of the call: its files and its tools are those that it was made from."""
    made, agent = call.configuration, engine.agent
    return (made.sha256, made.catalogue) == (agent.sha256, agent.catalogue.sha256)


def search(engine: Engine, chat: Conversation, query: str, limit: int | None) -> SearchResult | str:
    """What the search tool finds in this conversation, or what a model hears that has asked for too much."""
    searches = (record for record in chat.state.results if record.found and not record.is_error)
    known = tuple(ToolResult(each.tool, list(each.found), each.call_id) for each in searches)
    try:
        return engine.search_tools(query, limit, call=chat.call, history=known)
    except InputError:
        return wrong_limit(limit or 0, engine.words)
