"""What models receive by way of LiteLLM: its own functions and router, against a server on this machine."""

from __future__ import annotations

import asyncio
import copy
import json
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would ask the network for prices as it is imported

import litellm
from litellm.exceptions import BadRequestError
from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER
from litellm.router import Router

from cms_agent import cms as engine
from cuecard import Call, Engine, Entity, InputError, Memory, Step, Turn
from cuecard.adapters.litellm import Cuecard
from cuecard.adapters.litellm.replays import Replays
from cuecard.adapters.litellm_callback import CuecardCallback
from cuecard.types import Delivery, Discovery
from unit.adapters.model_server import Calls, Json, ModelServer, model_server

NOW = datetime(2026, 11, 20, tzinfo=UTC)
NAMES = ("cms_createPage", "cms_searchImages", "cms_listPages")
PAGES: Json = {"query": "create an empty page", "limit": 1}
IMAGES: Json = {"query": "search images", "limit": 1}
TALK: list[Calls] = [
    [("tool_search", PAGES)],
    [("cms_createPage", {})],
    [],
    [("tool_search", IMAGES), ("cms_createPage", {})],
    [("cms_searchImages", {})],
]
WORDS = ("make a page", "and an image")
CREATED = json.dumps({"success": True, "page": {"id": "page-1", "title": "About"}})
GPT, CLAUDE = "openai/gpt-5", "anthropic/claude-opus-4-8"


@pytest.fixture(autouse=True, scope="module")
def loop_of_the_thread() -> Iterator[None]:
    """LiteLLM asks for the event loop of its thread, and nobody would close one that is made for it then."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CALLING: Json = {"role": "assistant", "tool_calls": [CALL]}
A_CALL = "a call with a `function`"
HINTS = (
    "pass messages and tools as plain dicts; objects of an SDK have a method such as `model_dump()`",
    "pass a plain dict; an object of an SDK has a method such as `model_dump()`",
)


def definition(name: str) -> Json:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "description": f"{name} of the host", "parameters": schema}}


TOOLS = [definition(name) for name in NAMES]


def card(delivery: Delivery = "append", **options: Any) -> Cuecard:
    return Cuecard(**{"engine": engine(delivery), "turn": Turn(now=NOW), **options})


def talk(made: Cuecard, model: str, ask: Callable[..., Any], words: Sequence[str] = WORDS, **options: Any) -> list[Any]:
    """The host's own loop: asks, runs what it is told to, and says the next thing."""
    messages: list[Any] = []
    for said in words:
        messages.append({"role": "user", "content": said})
        while True:
            ready = made.prepare(model, messages, TOOLS, **options)
            answer = ask(**ready.arguments, **options).choices[0].message
            messages.append(answer)
            if not answer.tool_calls:
                break
            for call in answer.tool_calls:
                ran = {"role": "tool", "tool_call_id": call.id, "content": CREATED}
                messages.append(ready.answer(call) or ran)
    return messages


@contextmanager
def served(model: str, batches: Sequence[Calls] = TALK) -> Iterator[tuple[ModelServer, Json]]:
    with model_server(batches) as server:
        yield server, {"api_base": server.url if model == CLAUDE else f"{server.url}/v1", "api_key": "k"}


def sent_by(model: str, made: Cuecard | None = None, words: Sequence[str] = WORDS) -> list[Json]:
    with served(model) as (server, options):
        talk(made or card(), model, litellm.completion, words, **options)
        return server.sent


@cache
def plain(model: str) -> list[Json]:
    """For tests that read the same conversation."""
    return sent_by(model)


def finished(asked: Awaitable[Any]) -> Any:
    """What was awaited, and with it what LiteLLM still has to log: its tasks must not outlive the loop."""

    async def whole() -> Any:
        GLOBAL_LOGGING_WORKER.start()  # in this loop
        try:
            return await asked
        finally:
            queue = GLOBAL_LOGGING_WORKER._queue
            if queue is not None:
                await queue.join()
            await GLOBAL_LOGGING_WORKER.stop()

    return asyncio.run(whole())


def bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: bare(held) for key, held in value.items() if key != "cache_control"}
    return [bare(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("model", [GPT, CLAUDE])
def test_every_request_begins_with_the_one_before_and_its_tools_never_change(model: str) -> None:
    sent = [bare(body) for body in plain(model)]

    assert len(sent) == 6
    for before, after in pairwise(sent):
        assert after["tools"] == before["tools"]
        assert after.get("system") == before.get("system")
        assert after["messages"][: len(before["messages"])] == before["messages"]


def test_instructions_come_after_the_search_result_as_reminders_where_nothing_is_known_of_the_endpoint() -> None:
    calls: list[Call] = []

    sent = sent_by(GPT, card(on_call=calls.append))

    assert [message["role"] for message in sent[1]["messages"]] == ["system", "user", "assistant", "tool", "user"]
    assert sent[1]["messages"][-1]["content"].startswith("<system-reminder>\n<tool-usage-instructions>")
    assert {call.delivery.authority for call in calls} == {"user"}


def test_at_openai_itself_they_are_messages_of_the_system_and_the_cache_has_a_key() -> None:
    found = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": None, "tool_calls": [asked("tool_search")]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"tools": ["cms_createPage"]}'},
    ]

    ready = card().prepare(GPT, found, TOOLS, extra_body={"user_tier": "x"})

    assert [message["role"] for message in ready.arguments["messages"]][-2:] == ["tool", "system"]
    assert ready.step.manifest.delivery.authority == "system"
    assert set(ready.arguments["extra_body"]) == {"prompt_cache_key", "user_tier"}


def asked(name: str, arguments: str = "{}") -> Json:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_claude_gets_reminders_since_litellm_moves_messages_of_the_system() -> None:
    sent = plain(CLAUDE)

    assert "<cms_createPage>" not in json.dumps(sent[1]["system"])
    result, block = sent[1]["messages"][2]["content"]
    assert result["type"] == "tool_result"
    assert block["text"].startswith("<system-reminder>")


def test_claude_gets_breakpoints_at_the_end_of_the_conversation_and_where_they_pay() -> None:
    for body in plain(CLAUDE):
        assert "cache_control" in body["messages"][-1]["content"][-1]
        assert 1 <= json.dumps(body).count('"cache_control"') <= 4
    assert "cache_control" not in json.dumps(sent_by(CLAUDE, card(cache=None)))

    for hour in map(json.dumps, sent_by(CLAUDE, card(cache="1h"), WORDS[:1])):
        assert hour.count('"cache_control": {"type": "ephemeral", "ttl": "1h"}') == hour.count('"cache_control"') > 0


POINTS = {"cache_control_injection_points": [{"location": "message", "index": -1, "control": {"type": "ephemeral"}}]}
HOUR: Json = {"type": "ephemeral", "ttl": "1h"}
HOURS = {"cache_control_injection_points": [{"location": "message", "index": -1, "control": HOUR}]}
KEY = {"extra_body": {"prompt_cache_key": "cuecard-"}}


@pytest.mark.parametrize(("kept", "mark"), [("5m", [{"type": "ephemeral"}]), ("1h", [HOUR]), (None, [])])
def test_the_prompt_has_no_more_breakpoints_than_the_end_of_the_conversation_leaves(
    kept: Any, mark: list[Json], tmp_path: Path
) -> None:
    least, most = (f"{{value: {figure}, source: measured, as_of: 2026-11-22}}" for figure in (40, 2))
    figures = f"{{provider: anthropic, min_cache_tokens: {least}, breakpoints: {most}}}"
    (tmp_path / "models.yaml").write_text(f"models: {{claude-opus-4-8: {figures}}}")
    (tmp_path / "agent.yaml").write_text(
        "agent: a\nmodels: models.yaml\ninputs: {name: {default: Ann}}\n"
        "sections: [{id: role, text: Be brief.}, {id: who, text: 'You help {{name}}.'}]"
    )
    made = card(engine=Engine.open(tmp_path), cache=kept)
    ready = made.prepare(CLAUDE, [{"role": "user", "content": "hi"}], TOOLS)  # which count for the minimum

    assert ready.arguments["tools"] == sorted(TOOLS, key=str)  # and no search tool where nothing is to be found
    role, who = ready.arguments["messages"][0]["content"]
    assert [*role, *who] == ["type", "text", *["cache_control" for _ in mark], "type", "text"]
    assert [role[key] for key in role if key == "cache_control"] == mark


@pytest.mark.parametrize("own", [{}, {"extra_body": {"a": 1}}, {"extra_body": {"prompt_cache_key": "mine"}}])
@pytest.mark.parametrize(
    ("model", "base", "cache", "kept", "role"),
    [
        (CLAUDE, "", "5m", POINTS, "user"),
        (CLAUDE, "", "1h", HOURS, "user"),
        (CLAUDE, "", None, {}, "user"),
        ("claude-opus-4-8", "https://gate.example", "5m", POINTS, "user"),
        ("bedrock/us.anthropic.claude-sonnet-4-6", "", "5m", {}, "user"),
        (GPT, "", "1h", KEY, "system"),
        (GPT, "", None, {}, "system"),
        ("gpt-5", "", "5m", KEY, "system"),
        ("gpt-5", "https://gate.example", "5m", {}, "user"),
        ("groq/llama-3.3-70b-versatile", "", "5m", {}, "user"),
    ],
)
def test_what_keeps_the_prompt_cached_stands_beside_what_the_host_says(
    model: str, base: str, cache: Any, kept: Json, role: str, own: Json
) -> None:
    ready = card(cache=cache).prepare(model, [{"role": "user", "content": "hi"}], TOOLS, api_base=base, **own)
    said = {key: value for key, value in ready.arguments.items() if key not in {"model", "messages", "tools"}}
    key = f"cuecard-{ready.step.origin[:32]}"
    extra = {**({"prompt_cache_key": key} if kept == KEY else {}), **own.get("extra_body", {})}

    assert said == {**({} if kept == KEY else kept), **({"extra_body": extra} if extra else {})}
    chosen = ready.step.manifest.delivery
    assert (ready.arguments["model"], chosen.model, chosen.authority) == (model, model, role)
    assert chosen.endpoint == base.removeprefix("https://")
    assert "Engine(" not in repr(ready)


def test_a_call_of_a_tool_that_is_not_active_is_answered_with_what_to_do() -> None:
    with served(GPT, [[("cms_createPage", {})]]) as (_, options):
        messages = talk(card(), GPT, litellm.completion, ["make a page"], **options)

    told = "`cms_createPage` is not active. Call `tool_search` with what you want to do, then use what it finds."
    assert messages[2] == {
        "role": "tool",
        "tool_call_id": messages[1].tool_calls[0].id,
        "name": "cms_createPage",
        "content": told,
    }


def test_the_search_finds_only_what_the_host_has() -> None:
    ready = card().prepare(GPT, [{"role": "user", "content": "hi"}], TOOLS)

    def told(arguments: Any) -> Any:
        answer = ready.answer({**asked("tool_search"), "function": {"name": "tool_search", "arguments": arguments}})
        content = (answer or {}).pop("content")
        assert answer == {"role": "tool", "tool_call_id": "c1", "name": "tool_search"}
        return json.loads(content) if content.startswith("{") else content

    found, none = told('{"query": "list pages", "limit": null}'), told('{"query": "publish a post"}')
    assert found["tools"] == ["cms_listPages"]
    assert none["tools"] == []
    assert "cms_publishPost" in engine().search_tools("publish a post").tools
    assert told({"query": "list pages"}) == found
    assert [*map(told, ("{", "[]", None, '{"limit": 1}'))] == [told('{"query": ""}')] * 4
    assert told('{"query": ""}')["message"].startswith("The query is empty.")
    assert told('{"query": "pages", "limit": "3"}') == "tool_search: limit is not a number"
    assert [told({"query": "pages", "limit": limit}) for limit in (0, 99)] == [
        f"a search cannot return {limit} tools: ask for 1 to 50 tools; 8 are usual" for limit in (0, 99)
    ]
    assert len(told({"query": "pages", "limit": 1})["tools"]) == 1
    assert ready.answer(asked("look")) is None


def test_rewrite_sends_active_tools_and_instructions_in_the_system_prompt() -> None:
    sent = sent_by(GPT, card("rewrite"), ["make a page"])

    assert [[tool["function"]["name"] for tool in body["tools"]] for body in sent] == [
        ["tool_search"], ["tool_search", "cms_createPage"], ["tool_search", "cms_createPage"],
    ]  # fmt: skip
    assert "<cms_createPage>" in sent[1]["messages"][0]["content"]

    ready = card("rewrite", turn=Turn(now=NOW, ephemeral="Hush.")).prepare(GPT, [{"role": "user", "content": "hi"}])
    assert ready.arguments["messages"][0]["content"] == f"{ready.step.system.strip()}\n\nHush."


def test_entities_of_results_reach_the_working_memory() -> None:
    sent = plain(GPT)

    assert '"About" (page-1)' in json.dumps(sent[3]["messages"][-1]["content"], ensure_ascii=False).replace("\\", "")


def test_another_process_makes_the_same_requests_of_the_same_messages() -> None:
    with served(GPT) as (_, options):
        messages = talk(card(), GPT, litellm.completion, **options)

    first, second = card(), card()
    for end in range(1, len(messages) + 1):
        made = [each.prepare(GPT, messages[:end], TOOLS).arguments for each in (first, second, card())]
        assert made[0] == made[1] == made[2]


def test_words_that_follow_each_other_are_one_message_of_the_user_also_where_they_come_one_by_one() -> None:
    calls = list[Call]()
    made, said = card(on_call=calls.append), list[Json]()
    for words in ("make a page", "and an image", "please"):
        said.append({"role": "user", "content": words})
        sent = made.prepare(GPT, said, TOOLS)

    assert sent.arguments == card().prepare(GPT, said, TOOLS).arguments
    assert len({call.turn for call in calls}) == 1


def test_what_stays_in_the_first_request_of_a_turn_ends_with_a_breakpoint() -> None:
    made = card(turn=Turn(now=NOW, ephemeral="in a hurry"))
    hi: Json = {"role": "user", "content": "hi"}
    ok: Json = {"role": "assistant", "content": "ok"}

    def ends(*said: Json) -> list[int]:
        points = made.prepare(CLAUDE, said, TOOLS).arguments["cache_control_injection_points"]
        assert {(point["location"], point["control"]["type"]) for point in points} == {("message", "ephemeral")}
        return [point["index"] for point in points]

    assert ends(hi) == [1, -1]
    assert ends(hi, hi) == [2, -1]
    assert ends(hi, ok, hi) == [3, -1]
    assert ends(hi, ok) == ends(hi, CALLING, {"role": "tool", "tool_call_id": "c", "content": "ok"}) == [-1]


def test_a_result_without_an_id_is_known_by_its_place_and_one_without_a_name_tells_nothing() -> None:
    found: list[Json] = [{"role": "function", "name": "tool_search", "content": json.dumps({"tools": [NAMES[0]]})}]
    nameless: Json = {"role": "function", "content": json.dumps({"tools": [NAMES[1]]})}

    step = card().prepare(GPT, [{"role": "user", "content": "hi"}, *found, nameless], TOOLS).step

    assert step.found == (Discovery(NAMES[0], "result-1"),)


def test_nothing_of_a_request_is_shared_with_the_host_or_with_the_next_request() -> None:
    made, tools = card(), copy.deepcopy(TOOLS)
    said: list[Json] = [
        {"role": "user", "content": [{"type": "text", "text": "hi", "more": {"a": [1]}}]},
        {**CALLING, "content": None, "provider": {"cache": [{"b": 2}]}},
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "more"},
    ]
    before = copy.deepcopy(said)

    def spoil(value: Any) -> None:
        for held in [*(value.values() if isinstance(value, dict) else value)]:
            if isinstance(held, (dict, list)):
                spoil(held)
        value.clear()

    for end in (1, 5, 5):
        spoil(made.prepare(GPT, said[:end], tools).arguments)
        assert (said, tools) == (before, TOOLS)
    assert made.prepare(GPT, said, tools).arguments == card().prepare(GPT, before, TOOLS).arguments
    tools[0]["function"]["description"] = "now of another host"
    assert tools[0] in made.prepare(GPT, said, tools).arguments["tools"]


def test_requests_go_on_from_the_newest_that_began_like_them() -> None:
    replays, turn = Replays(most=2), Turn(now=NOW)

    def offered(*said: str, as_: Turn = turn) -> Any:
        """What was offered with the request that this one goes on from."""
        roles = [{"role": "user" if each[0] in "uvw" else "assistant", "content": each} for each in said]
        made = replays.replay(engine(), roles, as_, ())
        before = replays.before(roles)
        replays.keep(made, " ".join(said))
        assert (before[0] is None) is (made.offer is None)
        assert before[1] in (None, before[0])
        return made.offer, before[1] is not None

    assert offered("u") == (None, False)
    assert offered("v") == (None, False)
    assert offered("u", "a") == ("u", True)
    assert offered("u", "a", "u") == ("u a", False)
    assert offered("u", "b") == (None, False)  # only the last two are kept
    assert offered("u", "a", "u", "a") == ("u a u", True)
    assert offered("u", "a", "u", "w") == (None, False)  # words that follow each other are one message
    assert offered("u", "a", "u", "a", "x") == ("u a u a", True)
    assert replays.replay(engine(), [{"role": "user", "content": "u"}], turn, ()).offer is None
    other = [{"role": each, "content": text} for each, text in zip(["user", "assistant"] * 3, "uauaxu", strict=True)]
    assert replays.replay(engine(), other, replace(turn, conversation="other"), ()).offer is None


@pytest.mark.parametrize("differ", ["id", "text", "parts"])
def test_conversations_of_one_length_do_not_take_each_others_tools(differ: str) -> None:
    """They differ in the id of their last result alone, or in what was said last."""
    made, kept, talks = card(), list[list[Json]](), list[list[Json]]()
    for words in WORDS:
        call = {**asked("tool_search", json.dumps(PAGES)), "id": words}
        answer: Json = {"role": "tool", "tool_call_id": words, "content": '{"tools": []}'}
        said: list[Json] = [{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": [call]}, answer]
        last = {"text": words, "parts": [{"type": "text", "text": words}]}
        talks.append(said if differ == "id" else [*said, {"role": "assistant", "content": last[differ]}])
    for said in talks:
        made.prepare(GPT, said, TOOLS)
    for said in talks:
        kept.append(made.prepare(GPT, [*said, {"role": "user", "content": "go on"}], TOOLS[:2]).arguments["tools"])

    assert [[tool["function"]["name"] for tool in each] for each in kept] == [["tool_search", *sorted(NAMES)]] * 2


def test_what_the_host_says_itself_appears_after_the_prompt() -> None:
    parts = [{"type": "text", "text": text} for text in (" One.", "Two.\n")]
    own: list[Json] = [
        {"role": "system", "content": "\nAnswer in one sentence. "},
        {"role": "system", "content": None},
        {"role": "developer", "content": parts},
        {"role": "system", "content": [{"type": "image_url"}]},
    ]
    hi: Json = {"role": "user", "content": "hi"}
    late: Json = {"role": "system", "content": "Be quick."}

    plain, claude = (card().prepare(model, [*own, hi, late], TOOLS) for model in (GPT, CLAUDE))

    prompt, behind = plain.step.system.strip(), ["Answer in one sentence.", "One.\n\nTwo."]
    assert plain.arguments["messages"] == [
        {"role": "system", "content": "\n\n".join([prompt, *behind])},
        hi,
        late,
    ]
    first, *rest = claude.arguments["messages"]
    assert rest == [hi, late]
    assert first["role"] == "system"
    assert "".join(part["text"] for part in first["content"][:-2]) == claude.step.system
    assert first["content"][-2:] == [{"type": "text", "text": text} for text in behind]
    alone = card().prepare(GPT, own[:1], TOOLS)
    assert alone.arguments["messages"] == [{"role": "system", "content": f"{prompt}\n\n{behind[0]}"}]


def test_what_the_turn_says_of_the_model_and_of_the_host_holds_over_the_request() -> None:
    said = Turn(now=NOW, model="gpt-5", authority="developer", not_enforced=("steps",))
    own, moved, named = (
        card(turn=turn).prepare(model, [{"role": "user", "content": "hi"}], TOOLS, api_base="https://gate.example")
        for turn, model in ((said, GPT), (said, CLAUDE), (replace(said, model="gpt-5", authority=None), GPT))
    )

    chosen = [each.step.manifest.delivery for each in (own, moved, named)]
    assert [(each.model, each.endpoint, each.authority) for each in chosen] == [
        ("gpt-5", "", "developer"),
        ("gpt-5", "", "user"),
        ("gpt-5", "", "user"),
    ]
    (told,) = [each.message for each in own.step.manifest.diagnostics if each.code == "not-enforced"]
    assert told == "the host cannot enforce run.steps: 15; run.retries: 2; run.failures: 5"


def test_a_wrapped_function_gets_what_it_is_asked_for_and_what_was_prepared() -> None:
    seen: list[Any] = []
    told: list[Any] = []

    def turn(arguments: Any) -> Turn:
        seen.append(copy.deepcopy(arguments))
        arguments["tools"].clear()  # they are the function's own
        return Turn(now=NOW)

    def completion(**arguments: Any) -> Json:
        """Ask a model."""
        return arguments

    made = card(turn=turn, on_call=told.append, on_step=told.append)
    said = [{"role": "user", "content": "hi"}]
    bases: tuple[Json, ...] = ({"api_base": "https://gate.example"}, {"base_url": "https://gate.example"})
    bases += ({"api_base": "https://gate.example", "base_url": "https://other.example"},)
    for base in bases:
        got = made.wrap(completion)(GPT, said, tools=TOOLS, temperature=1, extra_body={"a": 1}, **base)
        prepared = made.prepare(GPT, said, TOOLS, api_base="https://gate.example", extra_body={"a": 1})

        assert got == {"temperature": 1, **base, **prepared.arguments}
        assert told[-2:] == [prepared.step.call, prepared.step]
    others = {key: value for key, value in seen[-2].items() if key not in {"temperature", "base_url"}}
    assert others == seen[-1]
    assert seen[-1] == {
        "extra_body": {"a": 1},
        "model": GPT,
        "messages": said,
        "api_base": "https://gate.example",
        "tools": [made.search_tool, *TOOLS],
    }
    assert (seen[-2]["temperature"], seen[-2]["base_url"]) == (1, "https://other.example")
    assert made.wrap(completion).__doc__ == "Ask a model."
    assert made.wrap(completion)(GPT, None)["messages"][1:] == []


def test_a_wrapped_function_prepares_and_streams() -> None:
    def whole(said: str) -> str:
        chunks = card().wrap(litellm.completion)(
            GPT, [{"role": "user", "content": said}], tools=TOOLS, stream=True, mock_response="done", api_key="k"
        )
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)

    assert whole("hello") == "done"


def router(url: str) -> Router:
    deployment = {"model": GPT, "api_base": f"{url}/v1", "api_key": "k"}
    return Router(model_list=[{"model_name": "writer", "litellm_params": deployment}])


def test_a_router_behind_the_wrapper() -> None:
    with model_server([]) as server:
        ask = card().wrap(router(server.url).acompletion)
        finished(ask(model="writer", messages=[{"role": "user", "content": "hi"}], tools=TOOLS))

    (body,) = server.sent
    assert "<agent>" in body["messages"][0]["content"]
    assert [tool["function"]["name"] for tool in body["tools"]] == ["tool_search", *sorted(NAMES)]


@pytest.mark.parametrize("model", [GPT, CLAUDE])
@pytest.mark.parametrize("delivery", ["append", "rewrite"])
@pytest.mark.parametrize("own", [[], ["Be brief."], ["Be brief.", "Be kind."]])
def test_a_host_that_stores_what_was_sent_sends_one_prompt(model: str, delivery: Delivery, own: list[str]) -> None:
    """Where the prompt is another one with each request, texts behind an earlier one cannot be told from it."""
    made, sent = card(delivery), list[list[Json]]()
    stored: list[Any] = [{"role": "system", "content": text} for text in own]
    for number, name in enumerate(("search images", "create an empty page")):
        stored.append({"role": "user", "content": name})
        for calls in (True, False):
            ready = made.prepare(model, stored, TOOLS)
            sent.append(ready.arguments["messages"])
            stored = [*sent[-1]]
            if calls:
                function = {"name": "tool_search", "arguments": json.dumps({"query": name})}
                call: Json = {"id": f"call-{number}", "type": "function", "function": function}
                stored += [{"role": "assistant", "tool_calls": [call]}, ready.answer(call)]
            else:
                stored.append({"role": "assistant", "content": "done"})

    assert [sum(each["role"] == "system" for each in messages[:2]) for messages in sent] == [1] * 4
    assert [json.dumps(messages).count("<identity") for messages in sent] == [1] * 4
    if delivery == "append":
        assert all(messages[0] == sent[0][0] for messages in sent)
        assert all(json.dumps(messages).count(text) == 1 for messages in sent for text in own)


@pytest.fixture
def callback(monkeypatch: pytest.MonkeyPatch) -> Callable[[Cuecard], None]:
    return lambda made: monkeypatch.setattr(litellm, "callbacks", [CuecardCallback(made)])


def test_the_callback_prepares_what_a_router_sends_and_knows_the_model_behind_its_name(
    callback: Callable[[Cuecard], None],
) -> None:
    steps: list[Step] = []
    callback(card(on_step=steps.append))

    with model_server([]) as server:
        said: list[Any] = [{"role": "user", "content": "hi"}]
        finished(router(server.url).acompletion(model="writer", messages=said, tools=TOOLS))
        assert said == [{"role": "user", "content": "hi"}]
        told = steps[0].manifest.delivery

    (body,) = server.sent
    assert "<agent>" in body["messages"][0]["content"]
    assert (told.model, told.endpoint) == (GPT, f"{server.url.removeprefix('http://')}/v1")


def test_the_callback_prepares_each_of_a_completions_fallbacks_for_its_own_model(
    callback: Callable[[Cuecard], None],
) -> None:
    steps: list[Step] = []
    callback(card(on_step=steps.append))
    gone: Json = {"model": CLAUDE, "api_base": "http://127.0.0.1:9", "api_key": "k", "num_retries": 0}

    with served(GPT, []) as (server, options):
        said: list[Any] = [{"role": "user", "content": "hi"}]
        others = [{"model": GPT, **options}]
        finished(litellm.acompletion(messages=said, tools=TOOLS, fallbacks=others, **gone))

    (body,) = server.sent
    assert json.dumps(body).count("<identity") == 1
    assert [step.manifest.delivery.model for step in steps] == [CLAUDE, GPT]


def test_thirty_conversations_at_once_stay_apart(callback: Callable[[Cuecard], None]) -> None:
    def turn(arguments: Mapping[str, Any]) -> Turn:
        number = arguments["messages"][0]["content"]
        return Turn(now=NOW, memory=Memory((Entity("page", f"id-{number}", f"Page {number}"),)))

    callback(card(turn=turn))

    async def all_at_once(**options: Any) -> None:
        said = ([{"role": "user", "content": f"#{number}"}] for number in range(30))
        await asyncio.gather(*(litellm.acompletion(model=GPT, messages=each, tools=TOOLS, **options) for each in said))

    with served(GPT, []) as (server, options):
        finished(all_at_once(**options))

    assert len(server.sent) == 30
    for body in server.sent:
        system, said = (message["content"] for message in body["messages"])
        assert f"(id-{said})" in system
        assert system.count("(id-#") == 1


def test_equal_words_of_two_people_do_not_share_a_state() -> None:
    people = iter([Memory((Entity("page", "page-1", "Hers"),)), Memory((Entity("page", "page-2", "His"),))])
    made = card(turn=lambda _: Turn(now=NOW, memory=next(people)))
    words = [{"role": "user", "content": "hi"}]

    systems = [made.prepare(GPT, words, TOOLS).arguments["messages"][0]["content"] for _ in range(2)]

    assert ["Hers" in system for system in systems] == [True, False]


def test_wrong_turns_of_the_callback_reach_the_one_who_asked(callback: Callable[[Cuecard], None]) -> None:
    callback(card(turn=lambda _: 3))

    with served(GPT, []) as (server, options), pytest.raises(InputError, match="turn"):
        finished(litellm.acompletion(model=GPT, messages=[{"role": "user", "content": "hi"}], **options))

    assert server.sent == []


@pytest.mark.parametrize(
    "asked", [{"messages": [{"role": "tool", "content": "x"}]}, {"tools": [{"type": "function", "function": 7}]}]
)
def test_wrong_messages_and_tools_of_a_proxys_client_are_a_bad_request(
    callback: Callable[[Cuecard], None], asked: Json
) -> None:
    callback(card())

    with model_server([]) as server, pytest.raises(BadRequestError, match=next(iter(asked))) as caught:
        finished(router(server.url).acompletion(**{"model": "writer", "messages": [{"role": "user"}], **asked}))

    assert caught.value.status_code == 400
    assert isinstance(caught.value.__cause__, InputError)
    assert server.sent == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"messages": ["hello"]}, ["messages[0]: a mapping with texts as keys, not a text"]),
        ({"messages": [{"content": "hello"}]}, ["messages[0].role: a text, not None"]),
        ({"messages": [{"role": "tool", "content": "x"}]}, ["messages[0].tool_call_id: a text, not None"]),
        (
            {"messages": [CALLING, {**CALLING, "tool_calls": 7}]},
            ["messages[1].tool_calls: a list of calls, not the number 7"],
        ),
        ({"messages": [{**CALLING, "tool_calls": [CALL, "x"]}]}, [f"messages[0].tool_calls[1]: {A_CALL}, not a text"]),
        (
            {"messages": [{**CALLING, "tool_calls": [{"function": "x"}]}]},
            [f"messages[0].tool_calls[0]: {A_CALL}, not a mapping of type dict"],
        ),
        (
            {"tools": [{"type": "function", "function": {"name": object()}}]},
            ["tools[0]: plain JSON in which every object is a dict"],
        ),
        (
            {"tools": [{"type": "function", "function": {"name": "x"}}, {"name": 7}]},
            ["tools[1].name: a text, not the number 7"],
        ),
        (
            {"messages": [{}], "tools": [{"function": 7}]},
            ["messages[0].role: a text, not None", "tools[0].function: a mapping, not the number 7"],
        ),
    ],
)
def test_wrong_messages_and_tools_are_named(given: Any, told: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        card().prepare(GPT, **{"messages": [{"role": "user"}], "tools": TOOLS, **given})

    assert [
        f"{each.name}: {each.message.removeprefix(f'`{each.name}` should be ')}" for each in caught.value.problems
    ] == told
    assert {(each.code, each.hint) for each in caught.value.problems} <= {("wrong-argument", hint) for hint in HINTS}


SHAPES: list[Any] = [
    '{"tools": ["cms_createPage"]}',
    '["cms_createPage"]',
    '{"result": {"tools": [{"name": "cms_createPage"}]}}',
    [{"type": "text", "text": '[{"tool_name": "cms_createPage"}]'}],
    json.dumps({"tools": [*(f"tool_{n}" for n in range(5000)), "cms_createPage"]}),
]


@pytest.mark.parametrize("content", SHAPES)
def test_search_results_of_any_shape_discover(content: Any) -> None:
    found = [
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        {"role": "assistant", "content": None, "tool_calls": [asked("tool_search")]},
        {"role": "tool", "tool_call_id": "c1", "content": content},
    ]

    assert card().prepare(GPT, found, TOOLS).step.active_tools[-1] == "cms_createPage"


@pytest.mark.parametrize(
    "content", ["Use cms_createPage.", '{"isError": true, "tools": ["cms_createPage"]}', "", None, "{", 7]
)
def test_an_error_of_the_search_and_free_text_discover_nothing(content: Any) -> None:
    told = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": None, "tool_calls": [asked("tool_search")]},
        {"role": "tool", "tool_call_id": "c1", "content": content},
    ]

    assert "cms_createPage" not in card().prepare(GPT, told, TOOLS).step.active_tools


def _said(*, call: str = "call_1") -> list[Any]:
    """A conversation in which a tool was found."""
    found = json.dumps({"tools": ["cms_createPage"], "message": "Found 1 tool."})
    asked = {"id": call, "type": "function", "function": {"name": "tool_search", "arguments": json.dumps(PAGES)}}
    return [
        {"role": "user", "content": "make a page"},
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": call, "content": found},
    ]


def test_a_tool_that_is_taken_away_stays_in_front_and_the_model_is_told_behind_the_last_result() -> None:
    card = Cuecard(engine=engine(), turn=Turn(now=NOW))
    tools = [definition(name) for name in NAMES]
    more = [
        {"role": "assistant", "content": "Which?"},
        {"role": "user", "content": "any"},
    ]
    first = card.prepare(GPT, _said(), tools)
    gone = card.prepare(GPT, [*_said(), *more], [definition(name) for name in NAMES[1:]])
    other = card.prepare(GPT, more[1:], [definition(name) for name in NAMES[1:]])
    back = card.prepare(GPT, [*_said(), *more, *more], tools)

    assert "cms_createPage" in first.step.active_tools
    assert "cms_createPage" not in gone.step.active_tools
    assert gone.step.refusal("cms_createPage")
    assert "cms_createPage" in back.step.active_tools
    sent = [each.arguments for each in (first, gone, back)]
    assert all(each["tools"] == sent[0]["tools"] for each in sent)
    assert all(now["messages"][: len(old["messages"])] == old["messages"] for old, now in pairwise(sent))
    assert "cms_createPage" not in str(other.arguments["tools"])
    assert "<withdrawn-tools>" in str(sent[1]["messages"][-1])
    assert "<restored-tools>" in str(sent[2]["messages"][-1])
    assert not [cut for each in (gone, back) for cut in each.step.manifest.cuts if cut.what == "baseline"]


def test_hosts_whose_first_messages_are_equal_hear_nothing_of_each_others_tools() -> None:
    card = Cuecard(engine=engine(), turn=Turn(now=NOW))
    hello = [{"role": "user", "content": "make a page"}]
    card.prepare(GPT, hello, [definition(name) for name in NAMES])
    other = card.prepare(GPT, _said(call="call_of_another"), [definition(name) for name in NAMES[1:]])

    assert "cms_createPage" not in str(other.arguments["tools"])
    assert "withdrawn" not in str(other.arguments["messages"])


def test_a_conversation_with_a_name_goes_on_from_its_first_request() -> None:
    card = Cuecard(engine=engine(), turn=Turn(now=NOW, conversation="one"))
    hello = [{"role": "user", "content": "make a page"}]
    first = card.prepare(GPT, hello, [definition(name) for name in NAMES])
    gone = card.prepare(GPT, _said(), [definition(name) for name in NAMES[1:]])

    assert gone.arguments["tools"] == first.arguments["tools"]
    assert "cms_createPage" not in gone.step.active_tools


def test_an_input_that_changes_within_a_turn_is_said_behind_the_last_result(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        "agent: a\ndelivery: append\ninputs: {hint: {type: string, default: '', tier: step}}\n"
        "sections: [{id: role, text: Be brief.}, {id: hint, text: '{{{hint}}}'}]\n"
    )
    hints = ["ONE", "TWO"]
    card = Cuecard(engine=Engine.open(tmp_path), turn=lambda _: Turn({"hint": hints[0]}, now=NOW, conversation="one"))
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    said: list[Any] = [{"role": "user", "content": "go"}]
    first = card.prepare(GPT, said, [definition("look")]).arguments["messages"]
    hints.pop(0)
    said += [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": "seen"}]
    then = card.prepare(GPT, said, [definition("look")]).arguments["messages"]

    assert "ONE" in str(first)
    assert then[: len(first)] == first
    assert "TWO" in str(then[-1])


def test_calls_that_share_an_id_have_an_id_and_a_place_of_their_own() -> None:
    def called(name: str) -> Json:
        call = {"id": "call_0", "type": "function", "function": {"name": name, "arguments": "{}"}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def answered(said: str) -> Json:
        return {"role": "tool", "tool_call_id": "call_0", "content": said}

    def found(name: str) -> Json:
        return answered(json.dumps({"tools": [name]}))

    said = [{"role": "user", "content": "go"}, called("tool_search"), found("cms_createPage")]
    said += [called("cms_createPage"), answered("ok"), called("tool_search"), found("cms_listPages")]
    made, tools = card(), [definition("cms_createPage"), definition("cms_listPages")]
    sent = [made.prepare("openai/gpt-5", said[:end], tools).arguments["messages"] for end in (3, 5, 7)]

    assert all(now[: len(before)] == before for before, now in pairwise(sent))
    assert "<cms_listPages>" in sent[-1][-1]["content"]
    assert [each["tool_call_id"] for each in sent[-1] if each["role"] == "tool"] == ["call_0", "call_0-2", "call_0-3"]


LONG = "call_" + "x" * 35


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("a? a! b? b!", "a? a! b? b!"),
        ("a? a! a? a! a? a!", "a? a! a-2? a-2! a-3? a-3!"),
        ("a,a? a! a!", "a,a-2? a! a-2!"),
        ("a,b? b! a! a? a!", "a,b? b! a! a-2? a-2!"),
        ("a? a? a!", "a? a-2? a-2!"),
        ("a? a! a!", "a? a! a!"),
        ("a! a? a!", "a! a-2? a-2!"),
        ("a-2? a-2! a? a! a? a!", "a-2? a-2! a? a! a-3? a-3!"),
        (f"{LONG}? {LONG}! {LONG}? {LONG}!", f"{LONG}? {LONG}! {LONG[:-2]}-2? {LONG[:-2]}-2!"),
        (f"{LONG}y? {LONG}y! {LONG}y?", f"{LONG}y? {LONG}y! {LONG[:-1]}-2?"),
        (
            f"{LONG[:-1]}? {LONG[:-1]}? {LONG[:-2]}? {LONG[:-2]}?",
            f"{LONG[:-1]}? {LONG[:-2]}-2? {LONG[:-2]}? {LONG[:-2]}-3?",
        ),
        ("_? a? a!", "_? a? a!"),
        ("_,a? a! _,a? a!", "_,a? a! _,a-2? a-2!"),
    ],
)
def test_each_call_has_an_id_of_its_own(said: str, named: str) -> None:
    """`a,b?` is a message with two calls, `a!` the result of one; `_` has no id."""

    def message(each: str) -> Json:
        ids = [name.replace("_", "", name == "_") for name in each[:-1].split(",")]
        if each.endswith("!"):
            return {"role": "tool", "tool_call_id": ids[0], "content": "ok"}
        return {"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": each} for each in ids]}

    hello: Json = {"role": "user", "content": "go"}
    _, _, *sent = card().prepare(GPT, [hello, *map(message, said.split())], TOOLS).arguments["messages"]

    assert sent == [*map(message, named.split())]


MOVING = [
    CLAUDE,
    "bedrock/us.anthropic.claude-sonnet-4-6",
    "vertex_ai/gemini-3-pro",
    "gemini/gemini-3-pro",
    "google/gemini-3-pro",
]


@pytest.mark.parametrize(
    ("model", "blank"),
    [
        *product([CLAUDE, GPT], ["", " \n", None, [], [{"type": "text", "text": " "}]]),
        *((model, "") for model in MOVING[1:]),
    ],
)
def test_texts_that_nobody_can_read_do_not_reach_a_service_that_refuses_them(model: str, blank: Any) -> None:
    spaces, text = {"type": "text", "text": " "}, {"type": "text", "text": "so"}
    said: list[Json] = [
        {"role": "user", "content": blank or ""},
        {**CALLING, "content": blank},
        {"role": "tool", "tool_call_id": "c", "content": blank or ""},
        {"role": "assistant", "content": blank, "name": "a"},
        {"role": "assistant", "content": [spaces, text, spaces]},
        {**CALLING, "content": " so "},
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
    ]
    readable: list[Json] = [
        said[0],
        {**CALLING, "content": None},
        {"role": "tool", "tool_call_id": "c", "content": "(no result)"},
        {"role": "assistant", "content": "(no answer)", "name": "a"},
        {"role": "assistant", "content": [text]},
    ]

    _, *sent = card().prepare(model, said, TOOLS).arguments["messages"]

    assert sent[:5] == (readable if model in MOVING else said[:5])
    assert [each["content"] for each in sent[5:]] == [" so ", "ok"]
