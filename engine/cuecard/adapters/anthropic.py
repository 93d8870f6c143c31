"""Bodies for the Messages API, and tools that are deferred until a search has found them.

A tool that a search has found is revealed by a `tool_reference` in its result. What no result could reveal, because the
user's message brought it or the result is gone, is added in a system message at its place (`tool_addition`), if the
model takes that. Other models get what a message brought with the first result behind it; where an agent searches ahead
with every message, that would be too late, so nothing is deferred. A tool whose result is gone is loaded there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

from cuecard.adapters.block_places import MessageReader, homes, results_behind
from cuecard.adapters.bodies import (
    Body,
    Message,
    ToolBody,
    body_rules,
    loaded_tools,
    order_tools,
    profile_of,
    reminder,
    system_pieces,
    tool_choice,
)
from cuecard.adapters.content_places import (
    ANTHROPIC,
    NO_ANSWER,
    NO_RESULT,
    THINKING,
    Ends,
    filled,
    is_empty,
    place,
    result_ids,
    text_block,
)
from cuecard.config.model_profile import ModelProfile
from cuecard.model import Appended, Step
from cuecard.model.boundary import FilledText, checked
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Deferral:
    """The tools as they are sent, and where the deferred ones are revealed.

    Attributes:
        tools: the tools, with `defer_loading` where they are not loaded from the start.
        revealed: the names of tools by the call id of the search result that found them.
        added: for each tool that a system message adds, what that stands behind; its name is in place of a text.
    """

    tools: list[Body]
    revealed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    added: tuple[Appended, ...] = ()

    def reveal(self, turns: Sequence[Body]) -> list[Body]:
        """The messages with references in the search results that found tools."""
        return [{**turn, "content": [self._with_references(block) for block in turn["content"]]} for turn in turns]

    def without_additions(self, turns: Sequence[Body]) -> list[Body]:
        """The messages of a host that has kept what was sent, without the additions in them."""
        ours = [_addition(block.text) for block in self.added]
        bare = [
            {**turn, "content": [block for block in turn["content"] if block not in ours]}
            if turn["role"] == "system"
            else turn
            for turn in turns
        ]
        return [turn for turn in bare if turn["content"] or turn["role"] != "system"]

    def with_additions(self, turns: Sequence[Body], step: Step) -> list[Body]:
        """The messages, blocks in their places, with the additions in front of those, before the model's answer."""
        found = homes(_reader(step).read(turns), self.added, step.turns)
        placed: list[Body] = []
        waiting: list[Body] = []
        for number, turn in enumerate(turns):
            if waiting and turn["role"] == "system":
                placed.append({**turn, "content": [*waiting, *turn["content"]]})
                waiting = []
                continue
            if waiting and turn["role"] == "assistant":
                placed.append({"role": "system", "content": waiting})
                waiting = []
            placed.append(turn)
            waiting = [*waiting, *(_addition(block.text) for block in found.get(number, ()))]
        return [*placed, {"role": "system", "content": waiting}] if waiting else placed

    def _with_references(self, block: Body) -> Body:
        names = self.revealed.get(block.get("tool_use_id", "")) if block.get("type") == "tool_result" else None
        if not names:
            return block
        content = block.get("content") or []
        blocks = [text_block(content)] if isinstance(content, str) else list(content)
        references = [{"type": "tool_reference", "tool_name": name} for name in names]
        return {**block, "content": [*blocks, *(each for each in references if each not in blocks)]}


def deferred(tools: Sequence[Body], turns: Sequence[Body], step: Step, model: ModelProfile) -> Deferral:
    """The tools with `defer_loading`, and where each of them is revealed; what was revealed stays so when withdrawn.

    Args:
        tools: every tool of the conversation.
        turns: the messages, with their content as blocks.
        step: the step from `prepare_step`.
        model: its profile says whether it takes additions mid-conversation.
    """
    if step.looks_ahead and not model.adds_tools:
        return Deferral(list(tools))
    held = {call_id for turn in turns for call_id in _revealing(turn)}
    calls = {each.tool: each.after_call_id for each in step.found if each.tool not in step.brought}
    there = {tool: call for tool, call in calls.items() if call is not None and call in held}
    added = _additions(step, {tool: call for tool, call in calls.items() if tool not in there}, model)
    wanted = {tool for tool, call in calls.items() if call is not None or tool in step.active_tools}
    unrevealed = wanted - there.keys() - {block.text for block in added} - step.brought.keys()
    loaded = loaded_tools(step) | unrevealed
    # Tools of a server (web search and the like) have a type of their own, and are never found by our search.
    late = [tool for tool in tools if tool.get("name") not in loaded and tool.get("type", "custom") == "custom"]
    sent = [{"defer_loading": True, **tool} if tool in late else tool for tool in tools]
    names = {tool["name"] for tool in sent if tool.get("defer_loading")}
    revealed: dict[str, list[str]] = {}
    behind = {} if model.adds_tools else _behind(turns, step)
    for tool, call in {**there, **behind}.items():
        if tool in names:
            revealed.setdefault(call, []).append(tool)
    return Deferral(sent, revealed, tuple(block for block in added if block.text in names))


def _additions(step: Step, gone: Mapping[str, str | None], model: ModelProfile) -> tuple[Appended, ...]:
    """What no result reveals: with the message that brought it, or in the place of the result that is gone."""
    if not model.adds_tools:
        return ()
    lost = (Appended(call, tool) for tool, call in gone.items() if call is not None)
    return (*lost, *(Appended(None, tool, turn=turn) for tool, turn in step.brought.items()))


def _behind(turns: Sequence[Body], step: Step) -> Mapping[str, str]:
    """Of each tool that a message brought, the call id of the first result behind that message, if there is one."""
    return results_behind(_reader(step).read(turns), [_revealing(turn) for turn in turns], step)


def _revealing(turn: Body) -> list[str]:
    """The call ids of the results in a message that may hold references: an error may hold nothing but text."""
    results = (block for block in turn["content"] if block.get("type") == "tool_result")
    return [block["tool_use_id"] for block in results if not block.get("is_error")]


def _reader(step: Step) -> MessageReader:
    reminders = {reminder(block.text, step.reminder) for block in step.appended}
    return MessageReader(result_ids, partial(ANTHROPIC.says, apart_from=reminders))


def _addition(tool: str) -> Body:
    return {"type": "tool_addition", "tool": {"type": "tool_reference", "name": tool}}


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
        RunLimitError: when a limit of the run allows no further request.
    """
    model = profile_of(model, base_url)
    ordered = [_bare(tool) for tool in order_tools(tools, step)]
    turns = [turn for turn in map(_normal, messages) if turn["content"]]  # the provider refuses what is empty
    late = deferred(ordered, turns, step, model) if defer else Deferral(ordered)
    turns = place(late.reveal(late.without_additions(turns)), step, model)
    ordered, turns = late.tools, late.with_additions(turns, step)
    loaded = [tool for tool in ordered if not tool.get("defer_loading")]
    ends = Ends.of(turns, step).places
    pieces = system_pieces(step, model, loaded, model.breakpoints - max(1, len(ends) - 1))
    return {
        "model": model.name,
        **({"tools": ordered} if ordered else {}),
        **tool_choice(step, "anthropic", ordered, model),
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
            if content[at].get("type") not in THINKING:
                return [(place_, at)]
    return []


def _normal(message: Message) -> Body:
    """A copy with its content as blocks: a text must not change its form when the breakpoint moves on to it."""
    content = [_told(_bare(block)) for block in _blocks(message["content"]) if not is_empty(block)]
    return {**message, "content": content or ([text_block(NO_ANSWER)] if message["role"] == "assistant" else [])}


def _told(block: Body) -> Body:
    """A block; a tool result without anything to read says so."""
    if block.get("type") != "tool_result":
        return block
    content = block.get("content") or ""
    if isinstance(content, str):
        return block if content.strip() else {**block, "content": NO_RESULT}
    return {**block, "content": filled(content, text_block(NO_RESULT))}


def _blocks(content: str | Iterable[Body]) -> list[Body]:
    if isinstance(content, str):
        return [text_block(content)]
    return list(content)


def _bare(block: Message) -> Body:
    """A copy without breakpoints, also within a tool result."""
    return {key: _bare_content(value) for key, value in block.items() if key != "cache_control"}


def _bare_content(value: Any) -> Any:
    return [_bare(item) if isinstance(item, dict) else item for item in value] if isinstance(value, list) else value
