"""Request bodies for Anthropic's Messages API, as plain dicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cuecard.adapters.anthropic_deferral import Deferral, deferred
from cuecard.adapters.bodies import ToolBody, body_rules, profile_of
from cuecard.adapters.content_places import THINKING, Ends, place, text_block
from cuecard.adapters.placing import Body, Message, order_tools, system_pieces
from cuecard.config.model_profile import ModelProfile
from cuecard.model import Step
from cuecard.model.boundary import FilledText, checked

CACHED: Body = {"cache_control": {"type": "ephemeral"}}
TOOL_CHANGES_BETA = "mid-conversation-tool-changes-2026-07-01"
"""What a request has to name in its `anthropic-beta` header, where `defer=True` adds tools mid-conversation."""


@checked(also=body_rules("anthropic"))
def request(
    step: Step,
    messages: Iterable[Message],
    *,
    model: FilledText | ModelProfile,
    tools: Iterable[ToolBody] = (),
    defer: bool = False,
    base_url: str = "",
    compare_with: str | None = None,
) -> Body:
    """The body of one request, the messages last; add `max_tokens` and anything else you need.

    An appended block becomes a `system` message after its user turn if the model accepts those mid-conversation, and
    otherwise a `<system-reminder>` text in that turn. The function sets all four breakpoints that the provider allows
    and removes those of the messages: after the static part of the system prompt and after all of it (if the model's
    minimum is reached), on the last block, and on the last block of the previous request. Where a turn has texts of its
    own, its first request has one in front of them, in place of the second one if need be.

    Args:
        step: the step from `prepare_step`.
        messages: the conversation so far, without the system prompt; blocks placed earlier are recognised.
        model: the name of the model, with or without its provider in front; or a profile of your own.
        tools: every tool of the conversation, not only the active ones; otherwise the first discovery breaks the
            prompt cache. Include withdrawn tools, and refuse calls of them.
        defer: send tools that are not active from the start with `defer_loading`, and reveal them with a
            `tool_reference` in the search result that found them. What the user's message brought (`tools.ahead`,
            `Turn.discovered`) is added in a system message by a `tool_addition`, where the model takes that: send the
            beta header `TOOL_CHANGES_BETA` then. Elsewhere the first result behind the message reveals it; where the
            agent searches ahead, nothing is deferred. A tool that says `defer_loading` itself is left so.
        base_url: where the request goes, if not to the provider itself. Blocks get a role of their own only where the
            models file says that this endpoint leaves messages in their places.
        compare_with: the id of the message before, or empty for the first: the answer then says why the cache missed.

    Raises:
        InputError: with everything that is wrong in an argument, or when a block has no user message to go with.
    """
    model = profile_of(model, base_url)
    ordered = [_bare(tool) for tool in order_tools(tools, step)]
    turns = [_normal(message) for message in messages]
    late = deferred(ordered, turns, step, model) if defer else Deferral(ordered)
    turns = place(late.reveal(late.without_additions(turns)), step, model)
    ordered, turns = late.tools, late.with_additions(turns, step)
    loaded = [tool for tool in ordered if not tool.get("defer_loading")]
    ends = Ends.of(turns, step).places
    pieces = system_pieces(step, model, loaded, model.breakpoints - max(1, len(ends) - 1))
    return {
        "model": model.name,
        **({"tools": ordered} if ordered else {}),
        "system": [{**text_block(text), **(CACHED if marked else {})} for text, marked in pieces],
        **({} if compare_with is None else {"diagnostics": {"previous_message_id": compare_with or None}}),
        "messages": _marked(turns, ends[: max(0, model.breakpoints - sum(marked for _, marked in pieces))]),
    }


def _marked(turns: list[Body], ends: Sequence[tuple[int, int]]) -> list[Body]:
    """The messages with a breakpoint at the last block before each of these places that may carry one.

    The provider looks back some twenty blocks from a breakpoint for what it has cached. A step with many parallel calls
    is longer; a breakpoint where the request before ended finds the entry however much came since.
    """
    placed = list(turns)
    for end in ends:
        for place_, at in _last_markable(placed, *end):
            content = placed[place_]["content"]
            marked = [*content[:at], {**content[at], **CACHED}, *content[at + 1 :]]
            placed[place_] = {**placed[place_], "content": marked}
    return placed


def _last_markable(turns: Sequence[Body], last: int, before: int) -> Iterable[tuple[int, int]]:
    """The place of the last block that may carry a breakpoint, if there is one: its message, and its place there."""
    for place_ in range(last, -1, -1):
        content = turns[place_]["content"]
        for at in range((before if place_ == last else len(content)) - 1, -1, -1):
            if content[at].get("type") not in THINKING and content[at].get("text") != "":
                return [(place_, at)]
    return []


def _normal(message: Message) -> Body:
    """A copy with its content as blocks: a text must not change its form when the breakpoint moves on to it."""
    return {**message, "content": [_bare(block) for block in _blocks(message["content"])]}


def _blocks(content: str | Iterable[Body]) -> list[Body]:
    if isinstance(content, str):
        return [text_block(content)] if content else []
    return list(content)


def _bare(block: Message) -> Body:
    """A copy without breakpoints, also within a tool result."""
    return {key: _bare_content(value) for key, value in block.items() if key != "cache_control"}


def _bare_content(value: Any) -> Any:
    return [_bare(item) if isinstance(item, dict) else item for item in value] if isinstance(value, list) else value
