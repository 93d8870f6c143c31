"""What the plugin reads of ADK's agents, requests and sessions, and what it makes of them, value for value."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.function_tool import FunctionTool
from google.genai import types
from typing_extensions import override

from cms_agent import cms as engine
from cuecard import Engine, InputError, Problem, Step
from cuecard.adapters.adk import Cuecard
from cuecard.adapters.adk.requests import (
    agents_of,
    keep_front,
    put_in_front,
    says_something,
    show_active,
    waits,
    words_of,
)
from cuecard.adapters.adk.texts import SessionRecord
from cuecard.types import CallHost
from unit.adapters.alike import shop as alike_shop
from unit.adapters.shop import Shop
from unit.adapters.test_adk import Host, Scripted, results, runner, talk

TEXT = types.Part(text="Be brief.")


def content(*parts: types.Part | str) -> types.Content:
    return types.Content(
        role="user", parts=[types.Part(text=each) if isinstance(each, str) else each for each in parts]
    )


@pytest.mark.parametrize(
    ("existing", "made"),
    [
        (None, "PROMPT"),
        ("", "PROMPT"),
        ("Be brief.", "PROMPT\n\nBe brief."),
        (content("Be brief."), content("PROMPT", "Be brief.")),
        (types.Content(role="user"), content("PROMPT")),
        (TEXT, ["PROMPT", TEXT]),
        (["Be brief.", TEXT], ["PROMPT", "Be brief.", TEXT]),
    ],
)
def test_the_prompt_stands_in_front_of_instructions_of_any_form(existing: Any, made: Any) -> None:
    assert put_in_front("PROMPT", existing) == made


ANSWER = types.Part(function_response=types.FunctionResponse(name="order", id="a", response={}))


@pytest.mark.parametrize(
    ("message", "words", "says"),
    [
        (None, "", True),
        (types.Content(role="user"), "", False),
        (content(ANSWER), "", False),
        (content(ANSWER, "and"), "and", True),
        (content("one", types.Part(text="a thought", thought=True), "two"), "one\ntwo", True),
    ],
)
def test_what_a_user_says_is_text_and_not_the_answer_to_a_tool(
    message: types.Content | None,
    words: str,
    says: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert words_of(message) == words
    assert says_something(message) is says


def test_an_agent_waits_for_calls_of_its_own_that_no_user_has_answered() -> None:
    def asked(author: str, *calls: str, invocation: str = "i") -> Event:
        return Event(author=author, invocation_id=invocation, long_running_tool_ids={*calls})

    def answered(author: str) -> Event:
        return Event(author=author, invocation_id="later", content=content(ANSWER))

    assert waits([asked("cms", "a")], "i", "cms")
    assert waits([asked("cms", "a", "b"), answered("user")], "i", "cms")
    assert waits([asked("cms", "a"), answered("cms")], "i", "cms")
    for events in ([], [asked("cms")], [asked("cms", "a"), answered("user")], [asked("front", "a")]):
        assert not waits(events, "i", "cms")
    assert not waits([asked("cms", "a", invocation="before"), Event(author="cms", invocation_id="i")], "i", "cms")


def test_the_agents_of_an_app_are_found_from_any_of_them() -> None:
    inner = LlmAgent(name="inner")
    root = LlmAgent(name="root", sub_agents=[LlmAgent(name="one", sub_agents=[inner]), LlmAgent(name="two")])

    assert [each.name for each in agents_of(inner)] == ["root", "one", "inner", "two"]
    assert [each.name for each in agents_of(root)] == ["root", "one", "inner", "two"]
    assert [*agents_of("a workflow")] == []


def declared(*names: str | None) -> types.Tool:
    return types.Tool(function_declarations=[types.FunctionDeclaration(name=name, description="x") for name in names])


def asking(*tools: Any, run: tuple[str, ...] = ()) -> LlmRequest:
    """A request with these declarations, and tools that would run."""
    request = LlmRequest(config=types.GenerateContentConfig(tools=[*tools]))
    request.tools_dict = {name: FunctionTool(named(name)) for name in run}
    return request


def named(name: str) -> Any:
    def tool() -> None: ...

    tool.__name__ = name
    return tool


def shown(request: LlmRequest) -> list[Any]:
    tools: Any = request.config.tools
    return [tool.function_declarations and [each.name for each in tool.function_declarations] for tool in tools]


SEARCH = types.Tool(google_search=types.GoogleSearch())


def test_a_request_keeps_declarations_where_they_were_and_the_tools_of_those_that_are_gone() -> None:
    first = asking(declared("b", "a"), SEARCH, declared("c"), run=("a", "b", "c"))
    host = CallHost(there=("a", "b", "c"), front=("a", "b", "c"))
    front = keep_front(first, host, {})

    assert [*front] == ["a", "b", "c"]
    assert shown(first) == [["a", "b", "c"], None, None]
    assert {name: (each.name, tool and tool.name) for name, (each, tool) in front.items()} == {
        name: (name, name) for name in "abc"
    }

    later = asking(SEARCH, declared("d", "c"), run=("c",))
    front = keep_front(later, CallHost(("c", "d"), gone=("a",), front=("b", "x")), front)
    assert [*front] == ["a", "c", "d"]
    assert shown(later) == [None, ["a", "c", "d"]]
    assert [*later.tools_dict] == ["c", "a"]
    assert {name: tool and tool.name for name, (_, tool) in front.items()} == {"a": "a", "c": "c", "d": None}

    same = asking(declared("a", "c"), declared("d"))
    assert [*keep_front(same, CallHost(), front)] == ["a", "c", "d"]
    assert shown(same) == [["a", "c"], ["d"]]  # in their order, so nothing is moved
    bare = asking(SEARCH)
    assert [*keep_front(bare, CallHost(gone=("a",)), front)] == ["a"]
    assert shown(bare) == [None]


def test_under_rewrite_tools_of_the_catalogue_are_shown_while_they_are_active() -> None:
    request = asking(declared("a", "b", None), SEARCH, declared("c", "d"), types.Tool())
    chat = engine("rewrite").conversation()
    chat.user()

    show_active(request, replace(chat.step(), active_tools=("a", "d")), {"a", "b", "c"})

    assert shown(request) == [["a", None], None, ["d"], None]


@pytest.mark.parametrize(
    ("limit", "meant"),
    [(2, 2), (2.0, 2), ("2", 2), ("many", None), (-1, None), (None, None), (1.5, None), (0, 0), (10**12, 10**8)],
)
def test_a_limit_is_read_however_a_model_writes_it(limit: Any, meant: int | None) -> None:
    host = Host([[("tool_search", {"query": "list pages", "limit": limit})]])

    host.run()

    try:
        told = engine().search_tools("list pages", meant, call=host.calls[0]).to_json()
    except InputError:
        told = {"error": f"a search cannot return {meant} tools: ask for 1 to 50 tools; 8 are usual"}
    assert results(host.sent[1]) == [told]


class Ship(BaseTool):
    """A tool with parameters in ADK's own form."""

    @override
    def _get_declaration(self) -> types.FunctionDeclaration:
        place = types.Schema(type=types.Type.STRING, description="The harbour to call at")
        given = types.Schema(type=types.Type.OBJECT, properties={"place": place})
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters=given)

    @override
    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        return {"result": "shipped"}


@pytest.mark.parametrize("query", ["goods", "harbour", "place"])
def test_a_tool_is_found_by_what_its_own_form_of_declaration_says(query: str, tmp_path: Path) -> None:
    steps, model = list[Step](), Scripted(batches=[[("tool_search", {"query": query})]])
    agent = LlmAgent(name="shop", model=model, tools=[Ship(name="ship", description="Send goods")])

    asyncio.run(talk(runner(agent, Cuecard(Engine.open(alike_shop(tmp_path, "ship")), on_step=steps.append)), "hello"))

    assert steps[-1].active_tools == ("tool_search", "ship")


def test_the_first_tool_is_forced_in_the_first_request_alone(tmp_path: Path) -> None:
    model = Scripted(batches=[[("greet", {})]])

    def greet() -> str:
        return "hello"

    path = alike_shop(tmp_path, "greet", more="run: {first_tool: greet, force_first: true}\n", core="greet")
    agent = LlmAgent(name="shop", model=model, tools=[greet])
    asyncio.run(talk(runner(agent, Cuecard(Engine.open(path))), "hello"))

    forced = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY, allowed_function_names=["greet"])
    first, second = (request.config.tool_config for request in model.sent)
    assert first == types.ToolConfig(function_calling_config=forced)
    assert second is None


# The state of sessions


AT = Session(id="one", app_name="site", user_id="ann")


@pytest.fixture
def shop(tmp_path: Path) -> Engine:
    return Shop(tmp_path / "shop").engine


def test_the_state_of_a_session_has_digests_and_the_names_of_tools(shop: Engine) -> None:
    record = SessionRecord.of(shop, AT, "i-1", "a text \ud800", ("refund_order", "x"))

    digest = sha256(b"a text \xed\xa0\x80").hexdigest()
    place = sha256(b"site\nann\none").hexdigest()
    found = {"conversation": {"of": digest, "in": place, "found": ["refund_order", "x"]}}
    assert {**record.shown, "found": json.loads(record.found)} == {
        "invocation": "i-1",
        "digest": digest,
        "agent": "shop",
        "found": found,
    }
    assert SessionRecord.read(record.shown, "cuecard:shop") == replace(record, text="")
    assert SessionRecord.read({"conversation": "old", "invocation": "i-1"}, "key") == SessionRecord("i-1", text="old")
    assert SessionRecord.read({"conversation": "old", "invocation": 1}, "key") == SessionRecord("", text="old")
    for held in (None, 5, "text", {}, {**record.shown, "digest": 1}, {"conversation": 3}):
        with pytest.raises(InputError) as caught:
            SessionRecord.read(held, "cuecard:shop")
        told = "the session state does not contain a conversation under this key"
        hint = "remove it, or give the plugin another `name`"
        assert caught.value.problems == (Problem("bad-conversation", told, hint, "cuecard:shop"),)


def test_tools_that_were_found_are_those_of_this_agent_conversation_and_session(shop: Engine) -> None:
    record = SessionRecord.of(shop, AT, "i-1", "text", ("refund_order", "x"))

    assert record.tools(shop, AT) == ("refund_order", "x")
    for other in ({"id": "two"}, {"user_id": "eve"}, {"app_name": "other"}):
        assert record.tools(shop, AT.model_copy(update=other)) == ()
    odd = record.found.replace('["refund_order","x"]', '"refund_order"')
    assert replace(record, found=odd).tools(shop, AT) == ()
    for wrong in (replace(record, digest="0" * 64), replace(record, found='{"conversation":["found"]}')):
        with pytest.raises(InputError) as caught:
            wrong.tools(shop, AT)
        told = "the tools in the session state are those of another conversation"
        hint = "remove the conversation from the state"
        assert caught.value.problems == (Problem("bad-conversation", told, hint, "conversation"),)
    with pytest.raises(InputError) as caught:
        replace(record, agent="bank").tools(shop, AT)
    told = "the conversation belongs to the agent `bank`, not to `shop`"
    assert caught.value.problems == (Problem("foreign-call", told, "give the plugin another `name`", "conversation"),)


def test_a_text_is_kept_in_a_session_of_its_own_until_it_is_deleted(shop: Engine) -> None:
    record, service = SessionRecord.of(shop, AT, "i-1", "text", ()), InMemorySessionService()
    elsewhere = SessionRecord.read(record.shown, "key")
    place: dict[str, Any] = {"app_name": "site.cuecard", "user_id": "ann", "session_id": f"one.{record.digest[:32]}"}

    async def whole() -> None:
        assert await elsewhere.load(service, AT) == ""
        await record.save(service, AT)
        await record.save(service, AT)
        held = await service.get_session(**place)
        assert held is not None
        assert held.state == {"conversation": "text"}
        assert await elsewhere.load(service, AT) == "text"
        assert await replace(elsewhere, text="at hand").load(service, AT) == "at hand"
        assert await replace(elsewhere, digest=record.digest[:32] + "0" * 32).load(service, AT) == ""
        await record.delete(service, AT)
        assert await service.get_session(**place) is None
        await service.create_session(**place, state={"conversation": 3})
        assert await elsewhere.load(service, AT) == ""

    asyncio.run(whole())
