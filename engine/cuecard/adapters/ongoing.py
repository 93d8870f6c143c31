"""What adapters ask of a conversation that is under way."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from cuecard.catalogue.search import wrong_limit
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem
from cuecard.model import Call, SearchResult, ToolResult


def made_by(call: Call, engine: Engine) -> bool:
    """Whether the engine can prepare steps of the call: its files and its tools are those that it was made from."""
    made, agent = call.configuration, engine.agent
    return (made.sha256, made.catalogue) == (agent.sha256, agent.catalogue.sha256)


def check_own(call: Call | None, engine: Engine) -> None:
    """Refuse a conversation of another agent, whose prompt would be sent in place of the engine's.

    Args:
        call: the call of the conversation; None before its first.
        engine: the prompt engine.

    Raises:
        InputError: when the call is of another agent.
    """
    own = engine.agent.spec.agent
    if call and call.configuration.agent != own:
        told = f"the conversation belongs to the agent `{call.configuration.agent}`, not to `{own}`"
        raise InputError(Problem("foreign-call", told, "pass a conversation of this adapter's engine", "conversation"))


def search(
    engine: Engine, chat: Conversation, query: str, limit: int | None, here: Collection[str] | None = None
) -> SearchResult | str:
    """What the search tool finds in this conversation, or what a model hears that has asked for too much.

    Args:
        engine: the prompt engine.
        chat: the conversation.
        query: what the tools should do.
        limit: at most so many.
        here: the tools of the agent that searches, where the conversation is of several; None for all.
    """
    call = chat.call
    if call and here is not None:
        there = tuple(name for name in call.tools.available if name in here)
        call = replace(call, tools=replace(call.tools, available=there))
    searches = (record for record in chat.state.results if record.found and not record.is_error)
    known = tuple(ToolResult(each.tool, list(each.found), each.call_id) for each in searches)
    try:
        return engine.search_tools(query, limit, call=call, history=known)
    except InputError:
        return wrong_limit(limit or 0, engine.words)
