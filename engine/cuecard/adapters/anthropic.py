"""Request bodies for Anthropic's Messages API, as plain dicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cuecard.adapters.content_places import place, result_ids, text_block
from cuecard.adapters.placing import Body, Message, order_tools, system_pieces
from cuecard.boundary import admit_request
from cuecard.config.models_file import ModelProfile
from cuecard.model import Step

CACHED: Body = {"cache_control": {"type": "ephemeral"}}
_NEVER_MARKED = {"thinking", "redacted_thinking"}


def request(
    step: Step,
    messages: Iterable[Message],
    *,
    model: str | ModelProfile,
    tools: Iterable[Message] = (),
    defer: bool = False,
    base_url: str = "",
    compare_with: str | None = None,
) -> Body:
    """The body of one request, the messages last; add `max_tokens` and whatever else the host wants.

    Appended blocks become a `system` message after the user turn they belong to, where the model takes those in
    mid-conversation; elsewhere `<system-reminder>` texts in that turn. All breakpoints are set here, those of the
    messages are removed: after the static part of the system prompt and after all of it, where the model's minimum is
    reached, on the last block, and on the block that was the last of the request before: the four that are allowed.

    Args:
        step: what `prepare_step` gave.
        messages: the conversation so far, without the system prompt; blocks placed before are recognised.
        model: the name of the model, with or without its provider in front; or a profile of your own.
        tools: every tool of the conversation, not only the active ones, or promise 5 ends with the first discovery:
            also those that are withdrawn by now, whose calls the host refuses.
        defer: send tools that are not active from the start with `defer_loading`, and reveal them with a
            `tool_reference` in the search result that found them. A tool that says `defer_loading` itself is left so.
        base_url: where the request goes, if not to the provider itself. Blocks get a role of their own only where the
            models file says that this endpoint leaves messages in their places; `cuecard probe` finds out.
        compare_with: the id of the message before, or empty for the first: the answer then says why the cache missed.

    Raises:
        InputError: with everything that is wrong in an argument, or when a block has no user message to go with.
    """
    options = {"defer": defer, "base_url": base_url, "compare_with": compare_with}
    messages, tools, model = admit_request("anthropic", step, messages, tools, model, options)
    ordered = [_bare(tool) for tool in order_tools(tools, step)]
    turns = place([_normal(message) for message in messages], step, model)
    if defer:
        ordered, turns = _deferred(ordered, turns, step)
    loaded = [tool for tool in ordered if not tool.get("defer_loading")]
    pieces = system_pieces(step, model, loaded, model.breakpoints - 1)
    return {
        "model": model.name,
        **({"tools": ordered} if ordered else {}),
        "system": [{**text_block(text), **(CACHED if marked else {})} for text, marked in pieces],
        **({} if compare_with is None else {"diagnostics": {"previous_message_id": compare_with or None}}),
        "messages": _marked(turns, model.breakpoints - sum(marked for _, marked in pieces)),
    }


def _deferred(tools: list[Body], turns: list[Body], step: Step) -> tuple[list[Body], list[Body]]:
    """The tools with `defer_loading`, and the search results with references to what they found.

    A tool whose search result is no longer among the messages is loaded like a core tool: nothing could reveal it. What
    was revealed stays so, also when the tool is withdrawn.
    """
    held = {call_id for turn in turns for call_id in result_ids(turn)}
    found_tools = step.found or step.discovered
    lost = {found.tool for found in found_tools if found.after_call_id not in held}
    loaded = {*(step.base_tools or step.initial_tools), *lost}
    # Tools of a server (web search and the like) have a type of their own, and are never found by our search.
    late = [t for t in tools if t.get("name") not in loaded and t.get("type", "custom") == "custom"]
    tools = [{"defer_loading": True, **tool} if tool in late else tool for tool in tools]
    names = {tool["name"] for tool in tools if tool.get("defer_loading")}
    revealed: dict[str, list[Body]] = {}
    for found in found_tools:
        if found.tool in names and found.after_call_id is not None:
            reference = {"type": "tool_reference", "tool_name": found.tool}
            revealed.setdefault(found.after_call_id, []).append(reference)
    return tools, [{**turn, "content": [_revealing(block, revealed) for block in turn["content"]]} for turn in turns]


def _revealing(block: Body, revealed: dict[str, list[Body]]) -> Body:
    references = revealed.get(block.get("tool_use_id", "")) if block.get("type") == "tool_result" else None
    if not references:
        return block
    content = _blocks(block.get("content") or "")
    return {**block, "content": [*content, *(r for r in references if r not in content)]}


def _marked(turns: list[Body], limit: int) -> list[Body]:
    """The messages with a breakpoint at their end, and one where the request before this one ended.

    The provider looks back some twenty blocks from a breakpoint for what it has cached. A step with many parallel calls
    is longer; a breakpoint at the place of the last one finds the entry however much came since.
    """
    answer = max((place for place, turn in enumerate(turns) if turn["role"] == "assistant"), default=0)
    while answer and turns[answer - 1]["role"] == "assistant":
        answer -= 1
    placed = list(turns)
    for end in (len(turns), answer)[: max(limit, 0)]:
        for place_, at in _last_markable(placed[:end]):
            content = placed[place_]["content"]
            marked = [*content[:at], {**content[at], **CACHED}, *content[at + 1 :]]
            placed[place_] = {**placed[place_], "content": marked}
    return placed


def _last_markable(turns: Sequence[Body]) -> Iterable[tuple[int, int]]:
    """The place of the last block that may carry a breakpoint, if there is one: its message, and its place there."""
    for place_ in range(len(turns) - 1, -1, -1):
        content = turns[place_]["content"]
        for at in range(len(content) - 1, -1, -1):
            if content[at].get("type") not in _NEVER_MARKED and content[at].get("text") != "":
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
