"""Request bodies for Anthropic's Messages API, as plain dicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from cuecard.adapters.placing import Body, Message, homes, order_tools, reminder, system_pieces
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
    mid-conversation; elsewhere a `<system-reminder>` text at the end of that turn. All breakpoints are set here, those
    of the messages are removed: after the static part of the system prompt and after all of it, where the model's
    minimum is reached, and one on the last block, which moves: three of the four that are allowed.

    Args:
        step: what `prepare_step` gave.
        messages: the conversation so far, without the system prompt; blocks placed before are recognised.
        model: the name of the model, with or without its provider in front; or a profile of your own.
        tools: every tool of the conversation, not only the active ones, or promise 5 ends with the first discovery.
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
    turns = _place([_normal(message) for message in messages], step, model)
    if defer:
        ordered, turns = _deferred(ordered, turns, step)
    loaded = [tool for tool in ordered if not tool.get("defer_loading")]
    pieces = system_pieces(step, model, loaded, model.breakpoints - 1)
    return {
        "model": model.name,
        **({"tools": ordered} if ordered else {}),
        "system": [_block(text, CACHED if marked else {}) for text, marked in pieces],
        **({} if compare_with is None else {"diagnostics": {"previous_message_id": compare_with or None}}),
        "messages": _marked(turns) if model.breakpoints else turns,
    }


def _place(turns: list[Body], step: Step, model: ModelProfile) -> list[Body]:
    """The messages with the blocks in their places; those of an earlier request are taken out first."""
    by_system = model.mid_conversation != "user"
    make = str if by_system else partial(reminder, form=step.reminder)
    role = "system" if by_system else "user"
    texts = {make(block.text) for block in step.appended}
    bare = [_without(turn, texts) if turn["role"] == role else turn for turn in turns]
    bare = [turn for turn in bare if turn["content"] or turn["role"] != "system"]
    found = homes(bare, step.appended, results=_results, is_user=_is_user)
    blocks = {place: [_block(make(block.text)) for block in home] for place, home in found.items()}
    return _as_messages(bare, blocks) if by_system else _as_reminders(bare, blocks)


def _as_reminders(turns: Sequence[Body], blocks: dict[int, list[Body]]) -> list[Body]:
    return [
        {**turn, "content": [*turn["content"], *blocks[place]]} if place in blocks else turn
        for place, turn in enumerate(turns)
    ]


def _as_messages(turns: Sequence[Body], blocks: dict[int, list[Body]]) -> list[Body]:
    """A system message is refused unless it follows a whole user turn and ends the list or precedes the model's."""
    placed: list[Body] = []
    waiting: list[Body] = []
    for place, turn in enumerate(turns):
        if waiting and turn["role"] == "system":  # the host's own stands here already
            placed.append({**turn, "content": [*turn["content"], *waiting]})
            waiting = []
            continue
        if waiting and turn["role"] == "assistant":
            placed.append({"role": "system", "content": waiting})
            waiting = []
        placed.append(turn)
        waiting = [*waiting, *blocks.get(place, ())]
    return [*placed, {"role": "system", "content": waiting}] if waiting else placed


def _deferred(tools: list[Body], turns: list[Body], step: Step) -> tuple[list[Body], list[Body]]:
    """The tools with `defer_loading`, and the search results with references to what they found.

    A tool whose search result is no longer among the messages is loaded like a core tool: nothing could reveal it.
    """
    held = {call_id for turn in turns for call_id in _results(turn)}
    lost = {found.tool for found in step.discovered if found.after_call_id not in held}
    loaded = {*step.initial_tools, *lost}
    # Tools of a server (web search and the like) have a type of their own, and are never found by our search.
    late = [t for t in tools if t.get("name") not in loaded and t.get("type", "custom") == "custom"]
    tools = [{"defer_loading": True, **tool} if tool in late else tool for tool in tools]
    names = {tool["name"] for tool in tools if tool.get("defer_loading")}
    revealed: dict[str, list[Body]] = {}
    for found in step.discovered:
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


def _marked(turns: list[Body]) -> list[Body]:
    """The messages with a breakpoint on the last block that may carry one."""
    for place in range(len(turns) - 1, -1, -1):
        content = turns[place]["content"]
        for at in range(len(content) - 1, -1, -1):
            if content[at].get("type") not in _NEVER_MARKED and content[at].get("text") != "":
                marked = [*content[:at], {**content[at], **CACHED}, *content[at + 1 :]]
                return [*turns[:place], {**turns[place], "content": marked}, *turns[place + 1 :]]
    return turns


def _normal(message: Message) -> Body:
    """A copy with its content as blocks: a text must not change its form when the breakpoint moves on to it."""
    return {**message, "content": [_bare(block) for block in _blocks(message["content"])]}


def _blocks(content: str | Iterable[Body]) -> list[Body]:
    if isinstance(content, str):
        return [_block(content)] if content else []
    return list(content)


def _block(text: str, more: Body | None = None) -> Body:
    return {"type": "text", "text": text, **(more or {})}


def _bare(block: Message) -> Body:
    """A copy without breakpoints, also within a tool result."""
    return {key: _bare_content(value) for key, value in block.items() if key != "cache_control"}


def _bare_content(value: Any) -> Any:
    return [_bare(item) if isinstance(item, dict) else item for item in value] if isinstance(value, list) else value


def _without(turn: Body, texts: set[str]) -> Body:
    return {**turn, "content": [block for block in turn["content"] if block.get("text") not in texts]}


def _results(message: Message) -> tuple[str, ...]:
    return tuple(block["tool_use_id"] for block in message["content"] if block.get("type") == "tool_result")


def _is_user(message: Message) -> bool:
    return bool(message["role"] == "user")
