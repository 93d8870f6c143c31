"""Texts of one turn in apps of Google ADK: in the requests of their turn, and in nothing that the session keeps."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode  # type: ignore[attr-defined]  # its documentation imports it so
from google.adk.apps import App
from google.adk.models.llm_request import LlmRequest
from google.adk.runners import Runner
from google.adk.sessions import BaseSessionService, InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.long_running_tool import LongRunningFunctionTool
from google.genai import types
from typing_extensions import override

from cuecard import Turn
from cuecard.adapters.adk import Cuecard
from unit.adapters.one_turn_hosts import BATCHES, CASES, NOW, OWN, WORDS, check, engine, pairs, turn_of
from unit.adapters.test_adk import Batch, Scripted

pytestmark = pytest.mark.filterwarnings("ignore:agent .* has no tool")  # their one tool has no entry
RUNTIME = "## Runtime Facts"
AT: dict[str, Any] = {"app_name": "site", "user_id": "ann", "session_id": "one"}


def look(at: str) -> dict[str, str]:
    return {"seen": at}


def runner(name: str, model: Scripted, sessions: BaseSessionService, turn: Any, tool: Any = look) -> Runner:
    agent = LlmAgent(name="one", model=model, tools=[tool])
    app = App(name="site", root_agent=agent, plugins=[Cuecard(engine(name), turn=turn)])
    return Runner(app=app, session_service=sessions)


async def say(run: Runner, *parts: types.Part, streamed: bool = False) -> list[Any]:
    if await run.session_service.get_session(**AT) is None:
        await run.session_service.create_session(**AT)
    message = types.Content(role="user", parts=list(parts))
    config = RunConfig(streaming_mode=StreamingMode.SSE) if streamed else None
    events = run.run_async(user_id="ann", session_id="one", new_message=message, run_config=config)
    return [event async for event in events]


async def stored(sessions: BaseSessionService) -> Session:
    session = await sessions.get_session(**AT)
    assert session is not None
    return session


def pieces(request: LlmRequest) -> list[str]:
    return [str(request.config.system_instruction), *(content.model_dump_json() for content in request.contents)]


@pytest.mark.parametrize(("name", "process", "how"), pairs(["one", "another after each turn"], ["whole", "streamed"]))
def test_a_text_of_one_turn_is_in_its_own_requests_and_not_in_the_session(
    name: str, process: str, how: str, tmp_path: Path
) -> None:
    text, now, model = CASES[name][0], [0], Scripted(batches=list(BATCHES), ids=True)

    def turn(_: Any) -> Turn:
        return turn_of(name, now[0])

    async def whole() -> None:
        sessions: BaseSessionService = InMemorySessionService()
        if process != "one":
            sessions = SqliteSessionService(str(tmp_path / "sessions.sqlite"))
        run = runner(name, model, sessions, turn)
        for now[0], words in enumerate(WORDS):
            run = runner(name, model, sessions, turn) if process != "one" else run
            events = await say(run, types.Part(text=words), streamed=how == "streamed")
            session = await stored(sessions)
            assert text not in repr(session.state)
            assert text not in repr([event.content for event in (*events, *session.events)])

    asyncio.run(whole())

    check([pieces(request) for request in model.sent], text, [RUNTIME])


def test_inputs_that_may_change_are_asked_for_with_each_request_and_are_stored_while_the_turn_goes_on() -> None:
    asked, sessions = list[int](), InMemorySessionService()
    batches: list[Batch] = [[("look", {"at": "a"})], [("look", {"at": "b"})]]
    model = Scripted(batches=batches, ids=True)

    def turn(_: Any) -> Turn:
        asked.append(len(asked))
        inputs: dict[str, Any] = {"os": f"os-{asked[-1]}"}
        return Turn(inputs | ({"retry_instruction": "TRY-ANOTHER-WAY"} if asked[-1] == 1 else {}), now=NOW)

    events = asyncio.run(say(runner("pioneer", model, sessions, turn), types.Part(text="go")))

    first, second, third = (pieces(request) for request in model.sent)
    assert asked == [0, 1, 2]
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert [repr(sent).count("TRY-ANOTHER-WAY") for sent in (first, second, third)] == [0, 1, 1]
    assert "os-1" not in repr((first, second, third))
    assert "TRY-ANOTHER-WAY" not in repr([event.actions.state_delta for event in events])
    assert "TRY-ANOTHER-WAY" not in repr(asyncio.run(stored(sessions)).state)


def test_a_turn_that_waits_for_a_tool_goes_on_with_its_text_in_another_process() -> None:
    sessions, now, model = InMemorySessionService(), [OWN], Scripted(batches=[[("order", {"at": "x"})]], ids=True)

    def order(at: str) -> None:
        """Order something; somebody else answers."""

    def turn(_: Any) -> Turn:
        return turn_of("polyant", now[0])

    async def whole() -> None:
        await say(runner("polyant", model, sessions, turn, LongRunningFunctionTool(order)), types.Part(text="hello"))
        now[0] = 0  # nobody asks for the turn again
        answer = types.FunctionResponse(name="order", id="call-0-0", response={"done": "yes"})
        again = runner("polyant", model, sessions, turn, LongRunningFunctionTool(order))
        await say(again, types.Part(function_response=answer))
        assert "ORDER-7-OF-JANA" not in repr((await stored(sessions)).state)

    asyncio.run(whole())

    sent = [pieces(request) for request in model.sent]
    assert [repr(request).count("ORDER-7-OF-JANA") for request in sent] == [1] * len(sent)
    assert len(sent) > 1


class Thinking(Scripted):
    """Thinks aloud before it answers."""

    @override
    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> Any:
        async for response in super().generate_content_async(llm_request, stream):
            thought = types.Part(text=f"T{len(self.sent) - 1}", thought=True)
            content = response.content
            assert content is not None
            yield response.model_copy(
                update={"content": content.model_copy(update={"parts": [thought, *(content.parts or [])]})}
            )


@pytest.mark.parametrize(("name", "left"), [("claude-opus-5-5", ["T0"]), ("claude-opus-4-8", ["T0", "T1", "T2"])])
def test_thinking_of_an_ended_turn_leaves_where_the_model_checks_it(name: str, left: list[str]) -> None:
    model, now = Thinking(model=name, batches=[[], [("look", {"at": "x"})]], ids=True), [0]
    run = runner("polyant", model, InMemorySessionService(), lambda _: turn_of("polyant", now[0]))

    async def whole() -> None:
        for now[0] in range(3):
            await say(run, types.Part(text=WORDS[now[0]]))

    asyncio.run(whole())

    last = repr(pieces(model.sent[-1]))
    assert [word for word in ("T0", "T1", "T2") if f'"{word}"' in last] == left
    assert '"name":"look"' in last
