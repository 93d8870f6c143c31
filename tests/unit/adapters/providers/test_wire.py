"""What really leaves: conversations of the real engine, sent with the providers' own clients, read byte by byte."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from typing import Any
from urllib.request import Request, urlopen

import pytest

from cms_agent import CORE, TOOLS, cms
from cuecard import Entity, Turn
from cuecard.adapters import anthropic, bedrock, gemini, openai
from unit.adapters.providers import talk
from unit.adapters.providers.loopback import Loopback, loopback
from unit.adapters.providers.talk import PROFILES, Json, Moment

pytestmark = pytest.mark.repeats


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


HOME, NEWS = Entity("page", "p1", "Home"), Entity("page", "p2", "News")
BEDROCK = "us.anthropic.claude-opus-4-8-v1:0"
_BREAKPOINT = re.compile(rb',"cache_control":\{"type":"ephemeral"\}|,\{"cachePoint":\{"type":"default"\}\}')


@cache
def moments() -> tuple[Moment, ...]:
    """Three calls of several steps: parallel searches, a memory that changes, a night that passes."""
    calls: list[tuple[list[Entity], list[talk.Batch], int]] = [
        ([], [[TOOLS[:2]], [TOOLS[2:3], TOOLS[1:2]]], 0),
        ([HOME], [], 1),
        ([NEWS, HOME], [[TOOLS[3:5]]], 3),
    ]
    return tuple(talk.play(calls))


def anthropic_client(server: Loopback) -> Any:
    sdk = pytest.importorskip("anthropic", reason="anthropic is not installed")
    return sdk.Anthropic(api_key="none", base_url=server.url, max_retries=0)


def openai_client(server: Loopback) -> Any:
    sdk = pytest.importorskip("openai", reason="openai is not installed")
    return sdk.OpenAI(api_key="none", base_url=f"{server.url}/v1", max_retries=0)


def by_anthropic(server: Loopback, bodies: Sequence[Json]) -> None:
    with anthropic_client(server) as client:
        for body in bodies:
            assert client.messages.create(**body, max_tokens=64).content[0].text == "done"


def by_responses(server: Loopback, bodies: Sequence[Json]) -> None:
    with openai_client(server) as client:
        for body in bodies:
            assert client.responses.create(**body).status == "completed"


def by_chat(server: Loopback, bodies: Sequence[Json]) -> None:
    with openai_client(server) as client:
        for body in bodies:
            assert client.chat.completions.create(**body).choices[0].message.content == "done"


def by_http(server: Loopback, bodies: Sequence[Json]) -> None:
    for body in bodies:
        data = json.dumps(body, separators=(",", ":")).encode()
        url = f"{server.url}/v1beta/models/any:generateContent"
        request = Request(url, data, {"Content-Type": "application/json"})  # noqa: S310 - our own server
        with urlopen(request) as answer:  # noqa: S310 - our own server
            assert json.load(answer)["candidates"]


def by_boto(server: Loopback, bodies: Sequence[Json]) -> None:
    sdk = pytest.importorskip("boto3", reason="boto3 is not installed")
    keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
    client = sdk.client("bedrock-runtime", region_name="us-east-1", endpoint_url=server.url, **keys)
    for body in bodies:
        answer = client.converse(**body, inferenceConfig={"maxTokens": 64})
        assert answer["output"]["message"]["content"] == [{"text": "done"}]
    client.close()
    for number, sent in enumerate(server.bodies):  # boto3 spaces its JSON; without that the bytes are like the others
        assert json.dumps(json.loads(sent)).encode() == sent
        server.bodies[number] = json.dumps(json.loads(sent), separators=(",", ":"), ensure_ascii=False).encode()


@dataclass(frozen=True)
class Wire:
    """One way to send: a model, the form of messages, the body made of them, the client, the key of the messages."""

    name: str
    model: str
    form: Callable[..., list[Json]]
    request: Callable[..., Json]
    send: Callable[[Loopback, Sequence[Json]], None]
    key: str
    endpoint: str = ""

    @cache  # noqa: B019 - a dozen of them, for as long as the tests run
    def sent(self) -> Sequence[bytes]:
        """The bytes of every request of the conversation."""
        bodies = [self.request(moment.step, self.form(moment.events)) for moment in moments()]
        with loopback() as server:
            self.send(server, bodies)
        return server.bodies


def claude(model: str, *, defer: bool = False) -> Wire:
    make = partial(anthropic.request, model=PROFILES.find(model), tools=talk.schemas(), defer=defer)
    name = f"{model}{'-deferred' if defer else ''}"
    return Wire(name, model, talk.anthropic_messages, make, by_anthropic, "messages")


def responses(model: str) -> Wire:
    make = partial(openai.responses_request, model=PROFILES.find(model), tools=talk.functions())
    return Wire(f"responses-{model}", model, talk.response_items, make, by_responses, "input")


def chat(model: str) -> Wire:
    make = partial(openai.chat_request, model=PROFILES.find(model), tools=talk.chat_tools())
    return Wire(f"chat-{model}", model, talk.chat_messages, make, by_chat, "messages")


def google() -> Wire:
    make = partial(gemini.request, tools=talk.schemas())
    return Wire("gemini", "gemini-2.5-pro", talk.gemini_contents, make, by_http, "contents")


def converse() -> Wire:
    make = partial(bedrock.request, model=f"bedrock:{BEDROCK}", tools=talk.tool_specs())
    return Wire("converse", BEDROCK, talk.converse_messages, make, by_boto, "messages", bedrock.ENDPOINT)


CLAUDES = [claude("claude-opus-4-8"), claude("claude-opus-4-8", defer=True), claude("claude-sonnet-5")]
GPTS = [responses("gpt-5"), responses("gpt-5.6"), chat("gpt-5"), chat("gpt-5.6"), chat("of-my-own")]
every = pytest.mark.parametrize("wire", [*CLAUDES, *GPTS, google(), converse()], ids=lambda wire: wire.name)
every_gpt = pytest.mark.parametrize("wire", GPTS, ids=lambda wire: wire.name)


def messages_and_rest(body: bytes, key: str) -> tuple[bytes, bytes]:
    """The messages as they were sent, without cache breakpoints (no part of what a model reads); and all the rest."""
    text = body.decode()
    decoder, place = json.JSONDecoder(), 1
    while True:
        name, place = decoder.raw_decode(text, place)
        start = place + 1
        _, end = decoder.raw_decode(text, start)
        if name == key:
            return _BREAKPOINT.sub(b"", text[start:end].encode()), f"{text[:start]}...{text[end:]}".encode()
        place = end + 1


def breakpoints(value: Any) -> int:
    if isinstance(value, dict):
        own = sum(key in value for key in ("cache_control", "prompt_cache_breakpoint", "cachePoint"))
        return own + sum(breakpoints(item) for item in value.values())
    return sum(breakpoints(item) for item in value) if isinstance(value, list) else 0


def found(value: Any, kind: str) -> Iterator[Json]:
    """The objects of a type, wherever they stand."""
    if isinstance(value, dict):
        if value.get("type") == kind:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from found(item, kind)


@every
def test_promise_5_the_messages_of_request_n_start_with_those_of_request_n_minus_1(wire: Wire) -> None:
    sent = wire.sent()

    assert len(sent) == len(moments()) == 6
    for before, after in pairwise(messages_and_rest(body, wire.key)[0] for body in sent):
        assert before.endswith(b"]")
        assert len(after) > len(before)
        assert after.startswith(before.removesuffix(b"]"))


@every
def test_tools_system_prompt_and_all_else_are_the_same_bytes_in_every_request(wire: Wire) -> None:
    rest = {messages_and_rest(body, wire.key)[1] for body in wire.sent()}

    assert len(rest) == 1
    assert b"tool_search" in rest.pop()


@every
def test_no_request_has_more_breakpoints_than_the_model_allows(wire: Wire) -> None:
    allowed = PROFILES.find(wire.model).breakpoints
    counts = {breakpoints(json.loads(body)) for body in wire.sent()}

    assert max(counts) <= allowed <= 4
    assert (max(counts) > 0) == (allowed > 0)


@every
def test_blocks_have_the_authority_that_the_manifest_names(wire: Wire) -> None:
    """An instruction mid-conversation is a message of the named role; a reminder, where that is the user's."""
    authority = cms().prepare_call(Turn(model=wire.model, endpoint=wire.endpoint)).delivery.authority
    last = json.loads(wire.sent()[-1])[wire.key]
    ours = [m for m in last[1:] if re.search(r"context-update turn|BEFORE: ", json.dumps(m))]

    assert {message["role"] for message in ours} == {authority}
    assert ("<system-reminder>" in json.dumps(ours)) == (authority == "user")


@every
def test_all_blocks_of_the_conversation_are_on_the_wire_once(wire: Wire) -> None:
    body = wire.sent()[-1]
    texts = [json.dumps(block.text, ensure_ascii=False)[1:-1].encode() for block in moments()[-1].step.appended]

    assert [body.count(text) for text in texts] == [1] * len(texts)


@every_gpt
def test_every_request_of_openai_names_the_same_cache(wire: Wire) -> None:
    keys = {json.loads(body)["prompt_cache_key"] for body in wire.sent()}

    assert keys == {f"cuecard-{cms().agent.sha256[:32]}"}


def test_deferred_tools_are_sent_from_the_start_and_revealed_by_references_in_the_results() -> None:
    first, *_, last = (json.loads(body) for body in claude("claude-opus-4-8", defer=True).sent())
    late = {tool["name"] for tool in last["tools"] if tool.get("defer_loading")}
    revealed = [reference["tool_name"] for reference in found(last["messages"], "tool_reference")]

    assert last["tools"] == first["tools"]
    assert late == {tool["name"] for tool in talk.schemas()} - set(CORE)
    assert revealed == [discovery.tool for discovery in moments()[-1].step.manifest.discovered] == TOOLS[:5]
    assert not list(found(first["messages"], "tool_reference"))


@pytest.mark.parametrize(("most", "system", "messages"), [(0, 0, 0), (1, 0, 1), (2, 1, 1), (3, 2, 1), (4, 2, 2)])
def test_of_few_breakpoints_the_end_of_the_conversation_has_the_first(most: int, system: int, messages: int) -> None:
    moment = talk.two_turns()
    model = replace(PROFILES.find("claude-opus-4-8"), breakpoints=most, min_cache_tokens=1)
    events = moment.events
    bodies = [
        anthropic.request(moment.step, talk.anthropic_messages(events), model=model, tools=talk.schemas()),
        bedrock.request(moment.step, talk.converse_messages(events), model=model),
    ]

    assert [(breakpoints(body["system"]), breakpoints(body["messages"])) for body in bodies] == [(system, messages)] * 2
