"""A pydantic-ai host that shortens its message history: the next run begins a new baseline and forgets no tool."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile

from cms_agent import cms
from cuecard import Call, Conversation, Entity, Memory, Step, Turn
from cuecard.adapters.pydantic_ai import Cuecard
from property.test_every_conversation import engine_of

NOW = datetime(2026, 11, 20, tzinfo=UTC)


async def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Search once after each message of the user, then answer."""
    last = messages[-1].parts
    if any(isinstance(part, UserPromptPart) and "pages" in str(part.content) for part in last):
        return ModelResponse([ToolCallPart("tool_search", {"query": "list all pages"}, "call-1")])
    return ModelResponse([TextPart("done")])


def cms_listPages() -> list[str]:  # noqa: N802 - tools are named as the catalogue names them
    return []


def run(text: str, turn: Turn, history: list[ModelMessage], chat: Conversation) -> tuple[list[ModelMessage], Call]:
    calls: list[Call] = []
    card = Cuecard(engine=cms(), turn=turn, conversation=chat, on_call=calls.append)
    model = FunctionModel(decide, profile=ModelProfile(supports_inline_system_prompts=True))
    result = asyncio.run(Agent(model, tools=[cms_listPages], capabilities=[card]).run(text, message_history=history))
    return result.all_messages(), calls[0]


def steps_of(calls: list[Call]) -> list[Step]:
    return [cms().prepare_step(call) for call in calls]


def test_a_run_on_a_shortened_history_opens_a_baseline_with_all_that_was_discovered() -> None:
    home = Turn(now=NOW, memory=Memory((Entity("page", "p1", "Home"),)))
    chat = cms().conversation()
    history, _ = run("show the pages", Turn(now=NOW), [], chat)
    history, second = run("go on", home, history, chat)
    summary: list[ModelMessage] = [ModelRequest([UserPromptPart("what was said so far")])]
    _, third = run("and now", home, summary, chat)
    before, after = steps_of([second, third])

    assert len(before.appended) == 2
    assert after.appended == ()
    assert after.active_tools == before.active_tools[1:]  # nothing is left to find, so the new baseline has no search
    assert [cut.reason.partition(":")[0] for cut in third.record.cuts if cut.what == "baseline"] == ["compacted"]
    assert '- "Home" (p1)' in after.system


def test_a_run_on_the_whole_history_opens_none() -> None:
    home = Turn(now=NOW, memory=Memory((Entity("page", "p1", "Home"),)))
    chat = cms().conversation()
    history, first = run("show the pages", Turn(now=NOW), [], chat)
    history, _ = run("go on", home, history, chat)
    _, third = run("and now", home, history, chat)

    assert not [cut for cut in third.record.cuts if cut.what == "baseline"]
    assert third.prompt.segments == first.prompt.segments


def test_a_baseline_whose_run_the_host_forgets_takes_the_blocks_of_older_prompts_with_it() -> None:
    chat = cms().conversation()
    history, _ = run("show the pages", Turn(now=NOW), [], chat)
    history, _ = run("go on", Turn(now=NOW), history, chat)
    run("and now", Turn(now=NOW), [ModelRequest([UserPromptPart("what was said so far")])], chat)
    gone_on, last = run("go on", Turn(now=NOW), history, chat)

    told = [part.part_kind for message in gone_on for part in message.parts].count("system-prompt")
    assert [part.part_kind for message in history for part in message.parts].count("system-prompt") == 1
    assert (told, last.prompt.system.count("<cms_listPages>")) == (0, 1)


def test_another_agent_that_goes_on_with_a_history_leaves_the_blocks_of_the_first() -> None:
    history, _ = run("show the pages", Turn(now=NOW), [], cms().conversation())
    other = engine_of(0, (1, 1, 1, 1, 0), "append", "next-call", "{}")
    card = Cuecard(engine=other, turn=Turn(now=NOW), conversation=other.conversation())
    model = FunctionModel(decide, profile=ModelProfile(supports_inline_system_prompts=True))
    ran = asyncio.run(Agent(model, capabilities=[card]).run("go on", message_history=history))

    assert [part.part_kind for message in ran.all_messages() for part in message.parts].count("system-prompt") == 1


def test_a_conversation_keeps_the_name_of_its_first_run_where_the_turn_has_none() -> None:
    chat, own = cms().conversation(), cms().conversation()
    history, first = run("go on", Turn(now=NOW), [], chat)
    _, second = run("go on", Turn(now=NOW), [], chat)
    _, third = run("go on", Turn(now=NOW, conversation="mine"), [], own)
    _, fourth = run("go on", Turn(now=NOW), history, own)

    assert first.conversation
    assert {message.conversation_id for message in history} == {first.conversation}
    assert [call.conversation for call in (second, third, fourth)] == [first.conversation, "mine", "mine"]
