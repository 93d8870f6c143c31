"""The five limits of the shipped CMS agent over several turns, with the chat of `cuecard run`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from cms.tools import TOOLS
from cms_agent import cms
from cuecard import Conversation, ToolCard, ToolResult, Turn
from cuecard.types import RunLimits
from cuecard.workbench.run.events import StepEvent, TurnEnd
from cuecard.workbench.run.sources import ToolSource
from cuecard.workbench.run.turn import LiveAgent, Talk, take_turn

FIRST = RunLimits(first_tool="acknowledge")
"""What the assistant file says over the agent file."""

Called = tuple[str, Mapping[str, Any]]
ACKNOWLEDGE: Called = ("acknowledge", {"message": "Gladly."})
SEARCH: Called = ("tool_search", {"query": "show a page"})


class Chat:
    """A chat with the CMS agent, whose tools fail or not."""

    def __init__(self, *, fails: bool = False) -> None:
        cards = tuple(ToolCard(name, tool.description, tool.input_schema) for name, tool in TOOLS.items())

        async def call(name: str, arguments: Mapping[str, Any]) -> ToolResult:
            return ToolResult(name, {"error": "gone"} if fails else {"ok": True}, is_error=fails)

        engine = cms()
        self.running = LiveAgent.on(ToolSource(cards, call), "chat", engine, own=engine.agent.named, over=FIRST)
        self.talk = Talk(self.running.engine.conversation())

    @property
    def conversation(self) -> Conversation:
        return self.talk.chat

    def say(self, batches: Sequence[Sequence[Called]]) -> tuple[list[StepEvent], TurnEnd]:
        """A message, to which the model reacts with these calls, and then answers."""
        left = list(batches)

        def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            made = left.pop(0) if left else []
            return ModelResponse([ToolCallPart(name, dict(args)) for name, args in made] or [TextPart("Done.")])

        before = len(self.talk.steps)
        turn = take_turn(self.running, self.talk, "Please.", FunctionModel(decide), lambda _: None)
        self.talk = asyncio.run(turn)
        return list(self.talk.steps[before:]), self.talk.turns[-1]


def results(steps: Sequence[StepEvent]) -> list[str]:
    return [str(call.result) for step in steps for call in step.calls]


def test_a_turn_has_fifteen_requests_and_the_next_one_has_them_again() -> None:
    chat = Chat()

    for _ in range(2):
        steps, end = chat.say([[ACKNOWLEDGE], *[[SEARCH]] * 20])
        assert len(steps) == 15
        assert end.stopped == "no answer within 15 model requests"


def test_a_tool_is_called_three_times_in_a_turn_that_it_fails() -> None:
    chat = Chat(fails=True)
    page: Called = ("cms_getPage", {"slug": "about"})

    steps, _ = chat.say([[ACKNOWLEDGE, SEARCH], [page], [page], [page], [page]])

    assert ["has failed 3 times" in text for text in results(steps)[2:]] == [False, False, False, True]


def test_after_five_failures_over_several_turns_no_tool_is_called() -> None:
    chat = Chat(fails=True)
    page: Called = ("cms_getPage", {"slug": "about"})
    menu: Called = ("cms_getNavigation", {})
    chat.say([[ACKNOWLEDGE, SEARCH, ("tool_search", {"query": "show the navigation"})], [page], [page]])
    chat.say([[ACKNOWLEDGE, page], [page], [menu]])

    steps, end = chat.say([[ACKNOWLEDGE], [menu], [("final_answer", {"answer": "It does not work."})]])

    assert ["calls have failed in this conversation" in text for text in results(steps)][:2] == [True, True]
    assert end.answer == "It does not work."


def test_each_turn_acknowledges_before_it_calls_other_tools() -> None:
    chat = Chat()

    first, _ = chat.say([[SEARCH], [ACKNOWLEDGE], [SEARCH]])
    second, _ = chat.say([[("cms_getPage", {"slug": "about"})], [ACKNOWLEDGE, ("cms_getPage", {"slug": "about"})]])

    assert ["call `acknowledge` first" in text for text in results(first)] == [True, False, False]
    assert ["call `acknowledge` first" in text for text in results(second)] == [True, False, False]


def test_a_new_baseline_keeps_twenty_found_tools() -> None:
    chat = cms().conversation()
    chat.user()
    chat.step()
    found = [name for name in cms().tools if name not in cms().core_tools]
    chat.step([ToolResult("tool_search", {"tools": found}, "call-1")])
    used = found[:3]
    chat.step([ToolResult(name, {"ok": True}, f"call-{name}") for name in used])
    chat.compacted()

    chat.user(Turn())

    manifest = chat.step().manifest
    left = [cut.what for cut in manifest.cuts if "run.kept_tools: 20" in cut.reason]
    assert len(left) == len(found) - 20
    assert not {*left} & {*used, *manifest.active_tools}
