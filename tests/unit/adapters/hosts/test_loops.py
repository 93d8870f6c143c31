"""The loops of `examples/hosts`, with the providers' own clients: what a model saw of two messages of several steps."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, product
from threading import local
from types import ModuleType
from typing import Any, TypeAlias

import boto3
import pytest
from anthropic import Anthropic
from google.genai import Client
from openai import OpenAI

import anthropic_loop
import bedrock_loop
import gemini_loop
import openai_chat_loop
import openai_responses_loop
from cms_agent import cms
from cuecard import Conversation, Engine
from cuecard.adapters.functions import Functions
from cuecard.types import RunLimitError
from loopback_models import (
    AGENT,
    SCRIPT,
    WORDS,
    Call,
    LoopbackModels,
    bedrock_wire,
    gemini_wire,
    loopback_models,
    page_functions,
)
from loopback_models.server import PATHS
from property.hosts import bare

pytestmark = pytest.mark.repeats

Json = dict[str, Any]
GEMINI, BEDROCK = (next(path for path in PATHS if PATHS[path] is each.WIRE) for each in (gemini_wire, bedrock_wire))


@pytest.fixture(autouse=True, scope="module")
def no_proxy() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("NO_PROXY", "127.0.0.1")
        yield


@contextmanager
def boto(url: str) -> Iterator[Any]:
    keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
    client = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=url, **keys)
    yield client
    client.close()


@dataclass(frozen=True)
class Loop:
    """An example, the client that it takes, and where the messages stand in its requests."""

    module: ModuleType
    client: Callable[[str], Any]
    messages: str

    def play(self, client: Any, tools: Functions, *, stream: bool, words: Sequence[str] = WORDS) -> Played:
        chat, messages = tools.engine.conversation(), list[Any]()
        answers = [self.module.say(client, tools, chat, messages, each, stream=stream) for each in words]
        return Played(answers, chat, messages)


@dataclass(frozen=True)
class Played:
    answers: list[str]
    chat: Conversation
    messages: list[Any]


LOOPS = {
    "anthropic": Loop(anthropic_loop, lambda url: Anthropic(base_url=url, api_key="none", max_retries=0), "messages"),
    "responses": Loop(openai_responses_loop, lambda url: OpenAI(base_url=f"{url}/v1", api_key="none"), "input"),
    "chat": Loop(openai_chat_loop, lambda url: OpenAI(base_url=f"{url}/v1", api_key="none"), "messages"),
    "gemini": Loop(gemini_loop, lambda url: Client(api_key="none", http_options={"base_url": url}), "contents"),
    "bedrock": Loop(bedrock_loop, boto, "messages"),
}
every = pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
streamed = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def functions() -> Functions:
    return Functions(cms(), page_functions())


def play(
    loop: Loop, script: Sequence[Sequence[Call]] = SCRIPT, *, stream: bool = False, words: Sequence[str] = WORDS
) -> tuple[Played, LoopbackModels]:
    with loopback_models(script) as service, loop.client(service.url) as client:
        return loop.play(client, functions(), stream=stream, words=words), service


@dataclass(frozen=True)
class Seen:
    """Two messages with a loop, and the bodies that the model got."""

    loop: Loop
    played: Played
    asked: list[Json]


@pytest.fixture(scope="module", params=product(LOOPS, ("whole", "streamed")), ids="-".join)
def seen(request: pytest.FixtureRequest) -> Seen:
    name, way = request.param
    played, service = play(LOOPS[name], stream=way == "streamed")
    return Seen(LOOPS[name], played, service.asked)


def test_two_messages_of_several_steps_are_answered_and_only_appended_to(seen: Seen) -> None:
    loop, played, asked = seen.loop, seen.played, seen.asked
    rest = [{key: value for key, value in body.items() if key != loop.messages} for body in asked]

    assert played.answers == ["Done.", "Done."]
    assert len(asked) == len(SCRIPT)
    assert all(bare(each) == bare(rest[0]) for each in rest)
    for before, after in pairwise(bare(body[loop.messages]) for body in asked):
        assert json.dumps(after).startswith(json.dumps(before).removesuffix("]"))


def test_instructions_of_a_tool_come_once_after_the_results_that_found_it(seen: Seen) -> None:
    asked = [json.dumps(body) for body in seen.asked]
    first, last = asked[0], seen.asked[-1]
    messages = [json.dumps(message) for message in last[seen.loop.messages]]
    after = {
        name: next(place for place, text in enumerate(messages) if f"<{name}>\\n" in text)
        for name in ("cms_createPage", "cms_deletePage")
    }
    results = [
        place for place, text in enumerate(messages) if "They are now active" in text or "It is now active" in text
    ]

    assert not any(f"<{name}>\\n" in first for name in after)
    assert [asked[-1].count(f"<{name}>\\n") for name in after] == [1, 1]
    assert results[0] <= after["cms_createPage"] < results[-1] <= after["cms_deletePage"]


def test_entities_of_tool_results_reach_the_working_memory_and_the_next_message(seen: Seen) -> None:
    names = [entity.name for entity in seen.played.chat.memory.entities]
    told = json.dumps(seen.asked[4][seen.loop.messages])

    assert names == ["About us"]  # the page about the team is deleted again
    assert "context-update" in told
    assert "Team" in told.partition("context-update")[2]


def test_an_error_reaches_the_model_and_ends_nothing(seen: Seen) -> None:
    errors = [record for record in seen.played.chat.state.results if record.is_error]

    assert [record.tool for record in errors] == ["cms_deletePage"]
    assert "LookupError" in json.dumps(seen.asked[-1])
    assert "there is no page page-9" not in json.dumps(seen.asked[-1])


@every
def test_a_tool_that_was_not_found_is_refused_with_what_to_do(loop: Loop) -> None:
    early: list[list[Call]] = [[("cms_createPage", {"title": "Early"})], [("no_such_tool", {})], []]
    played, service = play(loop, early, words=["Hello"])
    said = json.dumps(service.asked[-1])

    assert "`cms_createPage` is not active. Call `tool_search`" in said
    assert "`no_such_tool` is not active" in said
    assert not played.chat.memory.entities


@every
def test_conversations_at_once_stay_apart(loop: Loop) -> None:
    here, script = local(), [*SCRIPT[:2], []]

    def create(title: str) -> Any:
        return here.make(f"{title} {here.number:03}")

    tools = Functions(cms(), {"cms_createPage": create})

    def one(number: int) -> Played:
        here.make, here.number = page_functions()["cms_createPage"], number
        return loop.play(client, tools, stream=number % 2 == 0, words=[f"Client {number:03}: make pages."])

    with loopback_models(script) as service, loop.client(service.url) as client, ThreadPoolExecutor(12) as pool:
        one(12)  # with its first answer a client makes schemas, which twelve threads would make twelve times
        service.bodies.clear()
        played = list(pool.map(one, range(12)))

    assert len(service.bodies) == 12 * len(script)
    for place, each in enumerate(played):
        assert each.answers == ["Done."]
        assert [entity.name for entity in each.chat.memory.entities] == [f"Team {place:03}", f"About us {place:03}"]
    for body in service.bodies:
        (number,) = {*re.findall(rb"Client (\d{3})", body)}
        assert {*re.findall(rb"About us (\d{3})", body)} <= {number}


def test_what_a_model_of_google_signs_comes_back_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    made = gemini_wire.WIRE.answer

    def signed(number: int, calls: Sequence[Call]) -> Json:
        answer = made(number, calls)
        answer["candidates"][0]["content"]["parts"][0]["thoughtSignature"] = "c2lnbmVkLz8+"
        return answer

    monkeypatch.setitem(PATHS, GEMINI, replace(gemini_wire.WIRE, answer=signed))
    _, service = play(LOOPS["gemini"])
    parts = [
        part for content in service.asked[-1]["contents"] if content["role"] == "model" for part in content["parts"]
    ]

    signatures = [part["thoughtSignature"] for part in parts if "thoughtSignature" in part]
    assert len(signatures) == 6
    assert {urlsafe_b64decode(each.replace("+", "-").replace("/", "_")) for each in signatures} == {b"signed/?>"}


@streamed
def test_what_a_model_on_bedrock_thought_goes_back_in_front(monkeypatch: pytest.MonkeyPatch, *, stream: bool) -> None:
    made, thought = bedrock_wire.WIRE.answer, {"text": "Hm.", "signature": "signed"}

    def thinking(number: int, calls: Sequence[Call]) -> Json:
        answer = made(number, calls)
        answer["output"]["message"]["content"].insert(0, {"reasoningContent": {"reasoningText": thought}})
        return answer

    monkeypatch.setitem(PATHS, BEDROCK, replace(bedrock_wire.WIRE, answer=thinking))
    _, service = play(LOOPS["bedrock"], stream=stream)
    answers = [message["content"] for message in service.asked[-1]["messages"] if message["role"] == "assistant"]

    assert [content[0] for content in answers] == [{"reasoningContent": {"reasoningText": thought}}] * 6


def acknowledge(message: str) -> str:
    """Say what is about to happen."""
    return message


Under: TypeAlias = Callable[[str], Engine]


@pytest.fixture(scope="module")
def under(tmp_path_factory: pytest.TempPathFactory) -> Under:
    """The CMS assistant under these limits alone; in `rewrite`, where each message is a new baseline."""

    @cache
    def opened(limits: str) -> Engine:
        folder = tmp_path_factory.mktemp("cms")
        told = f"agent: cms\nextends: {AGENT}/agent.yaml\nrun: {limits}\ndelivery: rewrite\n"
        (folder / "agent.yaml").write_text(told)
        return Engine.open(folder)

    return opened


@contextmanager
def limited(
    loop: Loop, engine: Engine, script: Sequence[Sequence[Call]]
) -> Iterator[tuple[Callable[[Sequence[str]], Played], LoopbackModels]]:
    """What plays messages of the user with an assistant."""
    tools = Functions(engine, {**page_functions(), "acknowledge": acknowledge})
    with loopback_models(script) as service, loop.client(service.url) as client:
        yield lambda words: loop.play(client, tools, stream=False, words=words), service


SEARCH: Call = ("tool_search", {"query": "delete page"})
LOST: Call = ("cms_deletePage", {"id": "page-9"})
LIST: Call = ("cms_listPages", {})


@every
def test_no_request_follows_the_last_that_the_steps_allow(loop: Loop, under: Under) -> None:
    with limited(loop, under("{steps: 3}"), [[SEARCH], [], [SEARCH], [SEARCH], [SEARCH], []]) as (say, service):
        with pytest.raises(RunLimitError, match=r"run\.steps: 3"):
            say(["Delete it", "Delete it again"])

        assert len(service.asked) == 5


@every
def test_a_tool_that_failed_too_often_is_refused_until_the_user_speaks_again(loop: Loop, under: Under) -> None:
    script = [[SEARCH], [LOST], [LOST], [LOST], [], [LOST], []]
    with limited(loop, under("{retries: 1, failures: 9}"), script) as (say, service):
        say(["Delete it", "Try once more"])

        told = json.dumps(service.asked[-1])
        assert told.count("has failed 2 times") == 1
        assert told.count("LookupError") == 3


@every
def test_after_so_many_failures_of_a_conversation_calls_are_refused(loop: Loop, under: Under) -> None:
    script = [[SEARCH], [LOST], [], [LOST], [LOST], []]
    with limited(loop, under("{retries: 9, failures: 2}"), script) as (say, service):
        say(["Delete it", "Try once more"])

        assert "2 calls have failed in this conversation" not in json.dumps(service.asked[-2])
        assert "2 calls have failed in this conversation" in json.dumps(service.asked[-1])


@every
def test_other_calls_wait_for_the_first_tool_with_each_message(loop: Loop, under: Under) -> None:
    script = [[SEARCH], [("acknowledge", {"message": "I look."})], [SEARCH], [], [SEARCH], []]
    with limited(loop, under("{first_tool: acknowledge}"), script) as (say, service):
        say(["Delete it", "Delete another one"])

        told = [json.dumps(each).count("call `acknowledge` first") for each in service.asked]
        assert told == [0, 1, 1, 1, 1, 2]


@every
def test_a_new_baseline_keeps_so_many_found_tools_and_names_the_others(loop: Loop, under: Under) -> None:
    script = [[("tool_search", {"query": "delete a page, create a page, list pages"})], [LIST], [], []]
    with limited(loop, under("{kept_tools: 1}"), script) as (say, service):
        played = say(["What is there?", "Go on"])

        named = [len(re.findall(r"<cms_\w+>", json.dumps(each))) for each in service.asked]
        assert named[1] > 1
        assert named[-1] == 1
        left = [cut.what for cut in played.chat.step().manifest.cuts if "run.kept_tools: 1" in cut.reason]
        assert left
        assert "cms_listPages" not in left
