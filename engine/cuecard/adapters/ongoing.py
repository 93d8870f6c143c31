"""What adapters ask of a conversation that is under way."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import replace

from cuecard.catalogue.search import wrong_limit
from cuecard.config.values.placeholders import fill
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import CuecardError, InputError, Problem
from cuecard.model import Call, Diagnostic, SearchResult, Step, ToolResult, Turn
from cuecard.pipeline.baseline import LOST


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


def found_so_far(call: Call | None, step: Step | None) -> tuple[str, ...]:
    """The tools that a conversation has found: what a prompt is made anew from where the conversation is lost."""
    if call is None:
        return ()
    found = step.found if step else call.tools.discovered
    return tuple(dict.fromkeys((*call.tools.earlier, *(each.tool for each in found))))


def anew(turn: Turn, found: Collection[str], engine: Engine) -> Turn:
    """The turn of a conversation that is known no longer, but for the tools that it had found: a new baseline, and the
    manifest says so.
    """
    known = tuple(name for name in found if name in engine.tools)
    lost = Diagnostic(
        LOST, "the conversation so far is not known here: its prompt is made anew, with what it had found"
    )
    return replace(turn, discovered=(*turn.discovered, *known), diagnostics=(*turn.diagnostics, lost))


def answered_step(chat: Conversation, engine: Engine, turn: Turn, results: Sequence[ToolResult]) -> Step | None:
    """The step that a model has answered and this process has not prepared, to see what may be called.

    Where other files have made the call, or its turn is over, it is what a prompt would be that is made anew.

    Args:
        chat: the conversation, which stays as it is.
        engine: the prompt engine.
        turn: what the host knows now.
        results: what the messages hold.

    Returns:
        The step; None where none can be made.
    """
    call, held = chat.call, copy(chat)
    try:
        if call and not call.over and made_by(call, engine):
            return held.step(results)
        held.compacted()
        held.user(replace(turn, tools=call.tools.available) if call and turn.tools is None else turn, results)
        return held.step()
    except CuecardError:
        return None


def in_doubt(tool: str, engine: Engine) -> str | None:
    """The answer to a call of which nobody knows the step: None where the engine does not judge the tool.

    The search tool does nothing but name others, so it answers all the same.
    """
    if tool == engine.search_tool or tool not in engine.tools:
        return None
    return fill(engine.words.tools.unknown, {"tool": engine.words.quoted(tool)})


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
