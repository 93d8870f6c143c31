"""Definitions that Claude is given when their tools are found, and `tools` that never changes by it.

A tool that a search has found is revealed by a `tool_reference` in its result. What no result could reveal, because the
user's message brought it or the result is gone, is added in a system message at its place (`tool_addition`), if the
model takes that. Other models get what a message brought with the first result behind it; where an agent searches ahead
with every message, that would be too late, so nothing is deferred. A tool whose result is gone is loaded there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial

from cuecard.adapters.content_places import ANTHROPIC, result_ids, text_block
from cuecard.adapters.homes import Reader, homes, results_behind
from cuecard.adapters.placing import Body, reminder
from cuecard.config.model_profile import ModelProfile
from cuecard.model import Appended, Step
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
    calls = {each.tool: each.after_call_id for each in step.found or step.discovered if each.tool not in step.brought}
    there = {tool: call for tool, call in calls.items() if call is not None and call in held}
    added = _additions(step, {tool: call for tool, call in calls.items() if tool not in there}, model)
    wanted = {tool for tool, call in calls.items() if call is not None or tool in step.active_tools}
    unrevealed = wanted - there.keys() - {block.text for block in added} - step.brought.keys()
    loaded = {*(step.base_tools or step.initial_tools), *unrevealed}
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


def _reader(step: Step) -> Reader:
    reminders = {reminder(block.text, step.reminder) for block in step.appended}
    return Reader(result_ids, partial(ANTHROPIC.says, apart_from=reminders))


def _addition(tool: str) -> Body:
    return {"type": "tool_addition", "tool": {"type": "tool_reference", "name": tool}}
