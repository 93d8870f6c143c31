"""What providers get from an agent with the `Cuecard` capability: bytes that real clients sent, and what is cached."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from itertools import count, pairwise, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings, OpenAIResponsesModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.profiles import merge_profile
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from cms_agent import cms as engine
from cuecard import Call, Conversation, Step, Turn
from cuecard.adapters.pydantic_ai import Cuecard
from cuecard.adapters.pydantic_ai.models import (
    ToolList,
    adds_tools,
    checks_thinking,
    framework_name,
    keeps_roles,
    reveals_tools,
    settings_for,
    shown_tools,
    with_model,
)
from shipped import read_models
from unit.adapters.model_server import Calls, Json, ToLoopback, model_server

pytestmark = pytest.mark.repeats

ROOT = Path(__file__).parents[3]
NOW = datetime(2026, 11, 20, tzinfo=UTC)
TOOLS = ("cms_createPage", "cms_searchImages", "cms_listPages", "cms_addPageSection")
PAGES: Json = {"query": "create an empty page", "limit": 1}
IMAGES: Json = {"query": "search images", "limit": 1}
TALK: list[Calls] = [
    [("tool_search", PAGES)],
    [("cms_createPage", {})],
    [("tool_search", IMAGES), ("cms_listPages", {})],
    [("cms_searchImages", {})],
]
SHORT = TALK[:1]
"""For what holds for each request: before a search, after it, and with the next message."""

MODELS = ["claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-5-5", "chat:gpt-5", "gpt-5", "gpt-5.6", "gpt-4o"]
FORMS = ["claude-opus-4-8", "chat:gpt-5", "gpt-5"]
"""One for each interface; of the others, the models of an interface differ only at the provider's own address."""

each_form = pytest.mark.parametrize("name", FORMS)
everywhere = pytest.mark.parametrize(
    ("name", "gateway"),
    [*((name, False) for name in MODELS), *((name, True) for name in (*FORMS, "claude-haiku-5-5"))],
)


def model_of(name: str, url: str, *, gateway: bool) -> Model:
    client = None if gateway else httpx2.AsyncClient(transport=ToLoopback(url))
    if name.startswith("claude"):
        base = url if gateway else "https://api.anthropic.com"
        return AnthropicModel(name, provider=AnthropicProvider(api_key="k", base_url=base, http_client=client))
    base = f"{url}/v1" if gateway else "https://api.openai.com/v1"
    provider = OpenAIProvider(api_key="k", base_url=base, http_client=client)
    bare = name.removeprefix("chat:")
    return OpenAIChatModel(bare, provider=provider) if bare != name else OpenAIResponsesModel(bare, provider=provider)


@cache
def tool(name: str) -> Tool[Any]:
    def call() -> Json:
        return {"ok": name}

    return Tool(call, name=name, description=f"{name} of the host")


@dataclass
class Talked:
    """A conversation of two runs: what was sent, the calls, and the messages."""

    bodies: list[bytes]
    calls: list[Call] = field(default_factory=list)
    messages: list[ModelMessage] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def sent(self) -> list[Json]:
        return [json.loads(body) for body in self.bodies]

    def key(self) -> str:
        return "input" if "input" in self.sent[0] else "messages"


def talk(
    name: str,
    *,
    gateway: bool = False,
    batches: Sequence[Calls] = TALK,
    tools: Sequence[Tool[Any]] | None = None,
    settings: ModelSettings | None = None,
    backup: str = "",
    **options: Any,
) -> Talked:
    with model_server(batches) as server:
        got = Talked(server.bodies, headers=server.headers)
        options = {"turn": Turn(now=NOW), "on_call": got.calls.append, **options}
        chat: Conversation = engine().conversation()
        card = Cuecard(**{"engine": engine(), "conversation": chat, **options})
        agent = Agent(tools=tools or [tool(each) for each in TOOLS], capabilities=[card], model_settings=settings)

        async def runs() -> None:
            model = model_of(name, server.url, gateway=gateway)
            model = FallbackModel(model, model_of(backup, server.url, gateway=gateway)) if backup else model
            first = await agent.run("a page, please", model=model)
            second = await agent.run("and the next", model=model, message_history=first.all_messages())
            got.messages = second.all_messages()

        asyncio.run(runs())
        return got


@cache
def plain(name: str, *, gateway: bool) -> Talked:
    """What many tests read: a conversation of which the host says nothing more."""
    return talk(name, gateway=gateway)


def unmarked(value: Any) -> Any:
    """Without breakpoints and what compares responses: no part of what a model reads."""
    if isinstance(value, dict):
        left = {k: unmarked(v) for k, v in value.items()}
        return {k: v for k, v in left.items() if k not in {"cache_control", "comparison_response_id"}}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


@everywhere
def test_the_front_of_a_request_never_changes_and_the_messages_only_grow(name: str, gateway: bool) -> None:  # noqa: FBT001 - a parameter of the test
    got = plain(name, gateway=gateway)
    bodies = [unmarked(body) for body in got.sent]
    fronts = {json.dumps({k: v for k, v in body.items() if k != got.key()}) for body in bodies}

    assert len(bodies) == 6
    assert len(fronts) == 1
    for before, after in pairwise(body[got.key()] for body in bodies):
        assert after[: len(before)] == before
        assert len(after) > len(before)


@everywhere
def test_blocks_have_the_role_that_the_manifest_names(name: str, gateway: bool) -> None:  # noqa: FBT001 - the same
    got = plain(name, gateway=gateway)
    said = [m for m in got.sent[-1][got.key()][1:] if "BEFORE: " in json.dumps(m)]
    expected = {m["role"] for m in said}

    assert said
    assert {call.delivery.authority for call in got.calls} == expected
    assert {call.delivery.model for call in got.calls} == {name.removeprefix("chat:")}
    if gateway:
        assert expected == {"user"}


@each_form
def test_behind_an_unknown_gateway_no_message_of_the_system_appears_in_the_middle(name: str) -> None:
    got = plain(name, gateway=True)

    for body in got.sent:
        assert {message.get("role") for message in body[got.key()][1:]} <= {"user", "assistant", "tool", None}
        assert "additional_tools" not in json.dumps(body)
        assert "tool_addition" not in json.dumps(body)


def test_the_history_keeps_what_a_provider_that_is_known_would_get() -> None:
    through, direct = (plain("claude-opus-4-8", gateway=gateway) for gateway in (True, False))

    def prompts(got: Talked) -> list[Any]:
        return [part.content for m in got.messages for part in m.parts if part.part_kind == "system-prompt"]

    assert prompts(through) == prompts(direct) != []


def blocks_of(body: Json) -> list[tuple[str, bool]]:
    """The request of Anthropic as it is cached: tools, system and messages block by block, and the breakpoints."""
    tools = [t for t in body.get("tools", []) if not t.get("defer_loading")]
    content = [block for message in body["messages"] for block in message["content"]]
    blocks = [(json.dumps(unmarked(b)), "cache_control" in b) for b in (*tools, *body["system"], *content)]
    if "cache_control" in body:
        blocks[-1] = (blocks[-1][0], True)
    return blocks


def cached_shares(bodies: Sequence[Json]) -> list[float]:
    """Of each request, what was read from the cache: what ends at a breakpoint is kept, 20 blocks are looked back."""
    kept: set[tuple[str, ...]] = set()
    shares = []
    for body in bodies:
        blocks = blocks_of(body)
        texts = [text for text, _ in blocks]
        ends = [place + 1 for place, (_, marked) in enumerate(blocks) if marked]
        hits = [n for end in ends for n in range(end, max(end - 20, 0), -1) if tuple(texts[:n]) in kept]
        shares.append(sum(map(len, texts[: max(hits, default=0)])) / sum(map(len, texts)))
        kept |= {tuple(texts[:end]) for end in ends}
    return shares


@pytest.mark.parametrize(
    ("name", "gateway"),
    [*product(["claude-opus-4-8", "claude-haiku-5-5"], [False, True]), ("claude-sonnet-4-6", False)],
)
def test_claude_reads_from_the_cache_all_that_was_sent_before(name: str, gateway: bool) -> None:  # noqa: FBT001 - the same
    bodies = plain(name, gateway=gateway).sent
    first, *shares = cached_shares(bodies)
    expected = [
        sum(len(text) for text, _ in blocks_of(before)) / sum(len(text) for text, _ in blocks_of(after))
        for before, after in pairwise(bodies)
    ]

    assert first == 0
    assert shares == pytest.approx(expected)
    assert min(shares) > 0.8
    assert max(json.dumps(body).count('"cache_control"') for body in bodies) <= 4


def test_caching_is_turned_off_by_one_word() -> None:
    bodies = talk("claude-opus-4-8", batches=SHORT, cache=None).bodies

    assert not any(b"cache_control" in body for body in bodies)
    for body in talk("gpt-5.6", batches=SHORT, cache=None).bodies:
        assert b"prompt_cache_key" not in body
        assert b"prompt_cache_breakpoint" not in body


@pytest.mark.parametrize(
    "settings",
    [ModelSettings(cache=False), AnthropicModelSettings(anthropic_cache=False)],
    ids=["unified", "of the provider"],
)
def test_what_the_host_has_set_holds(settings: ModelSettings) -> None:
    bodies = talk("claude-opus-4-8", batches=SHORT, settings=settings).bodies

    assert len(bodies) == 3
    assert not any(b"cache_control" in body for body in bodies)


def test_the_host_chooses_the_lifetime() -> None:
    hours = talk("claude-opus-4-8", batches=SHORT, cache="1h").sent
    own = talk("claude-opus-4-8", batches=SHORT, settings=ModelSettings(cache="1h")).sent

    assert {body["cache_control"]["ttl"] for body in (*hours, *own)} == {"1h"}


def test_openai_gets_one_cache_key_for_the_configuration_unless_the_host_has_its_own() -> None:
    mine = OpenAIChatModelSettings(openai_prompt_cache_key="mine")
    keys = {body["prompt_cache_key"] for body in plain("gpt-5", gateway=False).sent}
    own = {body["prompt_cache_key"] for body in talk("gpt-5", batches=SHORT, settings=mine).sent}

    assert keys == {f"cuecard-{engine().agent.sha256[:32]}"}
    assert own == {"mine"}


def declared(body: Json) -> list[str]:
    return [each.get("name") or each["function"]["name"] for each in body["tools"]]


def test_the_chat_interface_has_every_definition_in_front() -> None:
    assert {tuple(declared(body)) for body in plain("chat:gpt-5", gateway=False).sent} == {
        ("tool_search", *sorted(TOOLS))
    }


def test_the_responses_interface_gets_a_definition_where_the_tool_was_found() -> None:
    last = plain("gpt-5", gateway=False).sent[-1]
    items = last["input"]
    given = [place for place, item in enumerate(items) if item.get("type") == "additional_tools"]

    assert declared(last) == ["tool_search"]
    assert [tool["name"] for place in given for tool in items[place]["tools"]] == ["cms_createPage", "cms_searchImages"]
    assert {items[place - 1]["type"] for place in given} == {"function_call_output"}


def test_claude_gets_deferred_definitions_from_the_start_and_a_reference_where_the_tool_was_found() -> None:
    last = plain("claude-opus-4-8", gateway=False).sent[-1]
    late = {each["name"] for each in last["tools"] if each.get("defer_loading")}
    added = re.findall(r'"type": "tool_addition", "tool": \{[^}]*"name": "(\w+)"', json.dumps(last))
    added = added or re.findall(r'"name": "(\w+)"[^}]*\}, "type": "tool_addition"', json.dumps(last))

    assert late == set(TOOLS)
    assert added == ["cms_createPage", "cms_searchImages"]


@each_form
def test_a_call_of_a_tool_that_was_not_found_is_refused_with_what_to_do(name: str) -> None:
    got = talk(name, batches=[[("cms_listPages", {})]])

    assert "`cms_listPages` is not active. Call `tool_search`" in json.dumps(got.sent[1], ensure_ascii=False)


def test_the_model_hears_only_of_tools_that_the_agent_has() -> None:
    delete: Json = {"query": "delete a page", "limit": 3}
    got = talk("claude-opus-4-8", batches=[[("tool_search", delete)]], tools=[tool("cms_createPage")])

    assert got.calls[0].tools.available == ("tool_search", "cms_createPage")
    assert b"cms_deletePage" not in got.bodies[1].split(b'"tool_result"')[1]
    assert engine().search_tools(**delete).tools[0] == "cms_deletePage"


def test_tools_that_the_turn_names_hold_over_those_of_the_agent() -> None:
    got = talk("claude-opus-4-8", batches=SHORT, turn=Turn(now=NOW, tools=("tool_search", "cms_listPages")))

    assert got.calls[0].tools.available == ("tool_search", "cms_listPages")


def test_a_model_that_the_turn_names_holds_over_that_of_the_agent() -> None:
    got = talk("claude-opus-4-8", batches=SHORT, turn=Turn(now=NOW, model="gpt-5"))

    assert got.calls[0].delivery.model == "gpt-5"


def test_of_models_that_take_over_from_each_other_the_most_restricted_decides() -> None:
    got = talk("claude-opus-4-8", batches=SHORT, backup="claude-sonnet-4-6")

    assert {call.delivery.authority for call in got.calls} == {"user"}
    assert {call.delivery.model for call in got.calls} == {"claude-opus-4-8"}


@pytest.mark.parametrize(
    ("name", "gateway"),
    [*((name, False) for name in (*FORMS, "claude-sonnet-4-6", "claude-haiku-5-5")), ("claude-opus-4-8", True)],
)
def test_a_tool_that_goes_mid_run_is_withdrawn_with_a_notice_and_the_front_stays(name: str, gateway: bool) -> None:  # noqa: FBT001 - the same
    async def until_the_third(ctx: RunContext[Any], definition: ToolDefinition) -> ToolDefinition | None:
        return None if ctx.run_step == 3 else definition

    some = [tool(each) for each in TOOLS if each != "cms_createPage"]
    leaving = replace(tool("cms_createPage"), prepare=until_the_third)
    got = talk(name, gateway=gateway, batches=TALK[:3], tools=[*some, leaving])
    bodies = [unmarked(body) for body in got.sent]
    notices = [json.dumps(body).count("withdrawn-tools>") for body in bodies]
    back = [json.dumps(body).count("restored-tools>") for body in bodies]

    assert notices == [0, 0, 2, 2, 2]
    assert back == [0, 0, 0, 2, 2]
    assert len({json.dumps({k: v for k, v in body.items() if k != got.key()}) for body in bodies}) == 1
    for before, after in pairwise(body[got.key()] for body in bodies):
        assert after[: len(before)] == before


@each_form
def test_a_tool_that_went_mid_run_and_stays_away_is_not_withdrawn_again(name: str) -> None:
    left: list[int] = []

    async def until_the_third(ctx: RunContext[Any], definition: ToolDefinition) -> ToolDefinition | None:
        left.extend([ctx.run_step] if ctx.run_step == 3 else [])
        return None if left else definition

    some = [tool(each) for each in TOOLS if each != "cms_createPage"]
    got = talk(name, batches=TALK[:3], tools=[*some, replace(tool("cms_createPage"), prepare=until_the_third)])

    assert [json.dumps(body).count("withdrawn-tools>") for body in got.sent] == [0, 0, 2, 2, 2]
    assert "cms_createPage" not in got.calls[1].tools.available


@each_form
@pytest.mark.parametrize(
    ("delivery", "made", "there"),
    [
        ("frozen", "cms_createPage", "1 010"),
        ("append", "cms_createPage", "1 101"),  # the host names it
        ("append", "acknowledge", "0 101"),
    ],
)
def test_a_definition_that_came_stays_where_it_was_once_its_tool_is_gone_again(
    name: str, delivery: Any, made: str, there: str
) -> None:
    async def known(_: RunContext[Any], definition: ToolDefinition) -> ToolDefinition | None:
        return definition if requests[len(server.bodies)] == "1" else None

    chosen, requests, steps = engine(delivery), there.replace(" ", ""), list[Step]()
    chat, pages = chosen.conversation(), ("cms_listPages", dict[str, Any]())
    tools = [tool("cms_listPages"), tool("cms_searchImages"), replace(tool(made), prepare=known)]
    with model_server([calls for run in there.split() for calls in (*[[pages]] * (len(run) - 1), [])]) as server:

        async def runs() -> None:
            messages: list[ModelMessage] = []
            for _ in there.split():
                named = (made,) if messages and delivery == "append" else ()
                turn = Turn(now=NOW, discovered=named)
                card = Cuecard(engine=chosen, conversation=chat, turn=turn, on_step=steps.append)
                agent = Agent(model_of(name, server.url, gateway=False), tools=tools, capabilities=[card])
                messages = (await agent.run("a page, please", message_history=messages)).all_messages()

        asyncio.run(runs())
        bodies = [unmarked(json.loads(body)) for body in server.bodies]
    key = "input" if "input" in bodies[0] else "messages"
    told = [f'"name": "{made}"' in json.dumps(body[key]) for body in bodies]
    assert not any(told[: [made in step.active_tools for step in steps].index(True)])
    for before, after in pairwise(bodies[there.index(" ") :]):
        for place in ("tools", key):
            assert after[place][: len(before[place])] == before[place]


def test_words_behind_results_of_a_run_that_was_broken_off_stay_where_a_new_baseline_put_them() -> None:
    with model_server([*SHORT, [], *SHORT]) as server:
        chat = engine().conversation()
        card = Cuecard(engine=engine(), conversation=chat, turn=Turn(now=NOW, ephemeral="The user is in a hurry."))
        agent = Agent(
            model_of("claude-opus-4-8", server.url, gateway=True), tools=[tool(TOOLS[0])], capabilities=[card]
        )

        async def runs() -> None:
            first = await agent.run("a page, please")
            chat.compacted()
            await agent.run("and the next", message_history=first.all_messages()[:-1])

        asyncio.run(runs())
        begins, goes_on = [unmarked(json.loads(body))["messages"] for body in server.bodies[-2:]]

    assert goes_on[: len(begins)] == begins


@pytest.mark.parametrize("name", ["claude-opus-4-8", "gpt-5"])
def test_a_tool_that_was_gone_as_it_was_found_is_defined_where_it_is_back(name: str) -> None:
    requests = count(1)

    async def there(_: RunContext[Any], definition: ToolDefinition) -> ToolDefinition | None:
        return definition if next(requests) != 2 else None

    made = Tool(tool(TOOLS[0]).function, name=TOOLS[0], description="comes and goes", prepare=there)
    got = talk(name, tools=[made, *(tool(each) for each in TOOLS[1:])])
    messages = [unmarked(body[got.key()]) for body in got.sent]

    assert all(now[: len(before)] == before for before, now in pairwise(messages))
    assert "comes and goes" in json.dumps(got.sent[2])


def test_without_a_conversation_each_run_tells_its_model_again() -> None:
    got = talk("claude-opus-4-8", batches=SHORT, conversation=None)

    assert [call.delivery.model for call in got.calls] == ["claude-opus-4-8"] * 2
    assert len({json.dumps(body["tools"]) for body in got.sent}) == 1


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("claude-opus-4-8", "anthropic:claude-opus-4-8"),
        ("anthropic/claude-opus-4-8", "anthropic:claude-opus-4-8"),
        ("openai/gpt-5", "openai:gpt-5"),
        ("openrouter:anthropic/claude-opus-4-8", "openrouter:anthropic/claude-opus-4-8"),
        ("test", "test"),
        ("nobody-knows-it", "nobody-knows-it"),
    ],
)
def test_a_bare_name_is_one_that_pydantic_ai_takes(name: str, known: str) -> None:
    assert framework_name(name) == known


@pytest.mark.parametrize("name", ["claude-opus-4-8", "gpt-5", "chat:gpt-5"])
def test_a_history_goes_through_a_gateway_and_back(name: str) -> None:
    card = Cuecard(engine=engine(), turn=Turn(now=NOW))
    agent = Agent(tools=[tool(each) for each in TOOLS], capabilities=[card])

    async def runs(url: str) -> None:
        history: list[ModelMessage] = []
        for gateway in (False, True, False):
            ran = await agent.run("go on", model=model_of(name, url, gateway=gateway), message_history=history)
            history = ModelMessagesTypeAdapter.validate_json(ran.all_messages_json())

    with model_server(TALK) as server:
        asyncio.run(runs(server.url))
        *_, direct, through, back = server.sent
    key = "input" if "input" in direct else "messages"
    before, after = unmarked(direct), unmarked(back)

    assert declared(through) == ["tool_search", *sorted(TOOLS)]
    assert not {"system", "developer"} & {message.get("role") for message in through[key][1:]}
    assert {**after, key: None} == {**before, key: None}
    assert after[key][: len(before[key])] == before[key]


@pytest.mark.parametrize("names", [("claude-opus-4-8", "claude-sonnet-4-6"), ("claude-sonnet-4-6", "claude-opus-4-8")])
def test_a_model_that_defers_and_one_that_does_not_continue_each_other(names: tuple[str, str]) -> None:
    card = Cuecard(engine=engine(), turn=Turn(now=NOW), conversation=engine().conversation())
    agent = Agent(tools=[tool(each) for each in TOOLS], capabilities=[card])

    async def runs(url: str) -> None:
        first, other = (model_of(name, url, gateway=False) for name in names)
        before = await agent.run("a page", model=first)
        await agent.run("go on", model=other, message_history=before.all_messages())

    with model_server(TALK) as server:
        asyncio.run(runs(server.url))
        last = server.sent[-1]

    assert declared(last) == ["tool_search", *sorted(TOOLS)]
    late = {each["name"] for each in last["tools"] if each.get("defer_loading")}
    assert late == ({*TOOLS} if names[1] == "claude-opus-4-8" else set())
    assert "search_tools" not in json.dumps(last["messages"])


def known_model(names: str) -> Model:
    """The model of these words: its name, `gate` behind a gateway, `developer` for its role; `>` takes over."""
    if " > " in names:
        return FallbackModel(*map(known_model, names.split(" > ")))
    name, *how = names.split()
    model: Model = TestModel() if name == "test" else model_of(name, "https://gate.example", gateway="gate" in how)
    if "developer" in how:
        model.profile = merge_profile(model.profile, OpenAIModelProfile(openai_system_prompt_role="developer"))
    return WrapperModel(model) if "wrapped" in how else model


ANTHROPIC, OPENAI = "https://api.anthropic.com", "https://api.openai.com/v1/"


@pytest.mark.parametrize(
    ("names", "endpoint", "role", "kept"),
    [
        ("claude-opus-4-8", ANTHROPIC, "system", "roles reveals adds"),
        ("claude-opus-4-8 gate", "https://gate.example", "user", "adds"),
        ("claude-sonnet-4-6", ANTHROPIC, "user", "roles"),
        ("claude-haiku-5-5", ANTHROPIC, "user", "roles adds checks"),
        ("claude-opus-5-5", ANTHROPIC, "system", "roles reveals adds checks"),
        ("chat:gpt-5", OPENAI, "system", "roles"),
        ("chat:gpt-5 gate", "https://gate.example/v1/", "user", ""),
        ("gpt-5", OPENAI, "system", "roles reveals adds"),
        ("gpt-5 developer", OPENAI, "developer", "roles reveals adds"),
        ("claude-opus-4-8 wrapped", ANTHROPIC, "system", "roles reveals adds"),
        ("claude-opus-4-8 > chat:gpt-5", ANTHROPIC, "system", "roles"),
        ("chat:gpt-5 > chat:gpt-5 gate", OPENAI, "user", ""),
        ("chat:gpt-5 > claude-sonnet-4-6", OPENAI, "user", "roles"),
        ("claude-sonnet-4-6 > claude-opus-5-5", ANTHROPIC, "user", "roles checks"),
        ("claude-opus-4-8 wrapped > test", ANTHROPIC, "user", "roles"),
        ("test", "", None, "roles"),
        ("test > claude-opus-4-8", "", None, "roles"),
    ],
)
def test_what_is_known_of_a_model_and_of_those_that_take_over(names: str, endpoint: str, role: Any, kept: str) -> None:
    model, profiles = known_model(names), read_models()
    first = names.partition(" ")[0].removeprefix("chat:") if endpoint else ""
    does = {
        "roles": keeps_roles(model, profiles),
        "reveals": reveals_tools(model, profiles),
        "adds": adds_tools(model),
        "checks": checks_thinking(model, profiles),
    }

    assert with_model(Turn(), model, profiles) == Turn(model=first, endpoint=endpoint, authority=role)
    assert with_model(Turn(model="own"), model, profiles) == Turn(model="own")
    assert " ".join(name for name, known in does.items() if known) == kept


def test_what_the_host_has_set_of_the_cache_is_left_out_of_what_is_wanted() -> None:
    def wanted(system: str, cache: Any, said: Any = None) -> Any:
        ctx: Any = SimpleNamespace(model=SimpleNamespace(system=system), model_settings=said)
        return settings_for(ctx, cache, "the key")

    framing, key = {"framing_announcement": "always"}, {"openai_prompt_cache_key": "the key"}
    assert wanted("openai", None) == framing
    assert wanted("openai", cache=False) == {**framing, "cache": False}
    assert wanted("openai", "1h") == {**framing, "cache": "1h", **key}
    assert wanted("anthropic", cache=True) == {**framing, "cache": True}
    assert wanted("openai", "5m", {"cache": False, "temperature": 1}) == {**framing, **key}
    assert wanted("openai", "5m", {"framing_announcement": "x", "openai_prompt_cache_key": "y"}) == {"cache": "5m"}


def test_which_definitions_a_request_shows_and_which_of_them_later() -> None:
    chat = engine().conversation()
    chat.user(Turn(now=NOW))
    step = replace(chat.step(), base_tools=("b",), initial_tools=("i",), active_tools=("i", "x", "b"))
    tools = [ToolDefinition(name=name) for name in "xfbio"]

    def shown(showing: Any) -> str:
        made = shown_tools(tools, step, {*"xfbi"}, showing, ["f"])
        return " ".join(each.name + "?" * each.defer_loading for each in made)

    assert shown("all") == "x f b i o"
    assert shown("active") == "i o x b"
    assert shown("revealed") == "x? f b i o"


def test_definitions_that_were_sent_stay_and_new_ones_follow_as_the_first_list_is_sorted() -> None:
    call = engine().conversation().user(Turn(now=NOW))
    call = replace(call, host=replace(call.host, front=("z", "y")), tools=replace(call.tools, initial=("y", "q")))

    def listed(names: str) -> list[ToolDefinition]:
        return [ToolDefinition(name=name, description=names) for name in names]

    first = ToolList().more(listed("abqyzc"), call)
    then = first.more(listed("dzxb"), call)

    assert "".join(each.name for each in first.sent) == "zyqabc"
    assert "".join(each.name for each in then.sent) == "zyqabcdx"
    assert [each.description for each in then.sent] == [
        "dzxb" if each.name in "dzxb" else "abqyzc" for each in then.sent
    ]
