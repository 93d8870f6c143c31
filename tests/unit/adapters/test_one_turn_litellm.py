"""Texts of one turn by way of LiteLLM: in the requests of their turn, and in nothing that the host has."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would ask the network for prices as it is imported

import litellm

from cuecard import Engine, InputError, Problem, Turn
from cuecard.adapters.litellm import Cuecard
from cuecard.adapters.litellm_callback import CuecardCallback
from unit.adapters.model_server import Json, model_server
from unit.adapters.one_turn_hosts import BATCHES, CASES, NOW, WORDS, check, engine, turn_of
from unit.adapters.test_litellm import CLAUDE, GPT, finished

pytestmark = pytest.mark.filterwarnings("ignore:agent .* has no tool")  # their one tool has no entry
RUNTIME = "## Runtime Facts"
LOOK: Json = {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}
TOOLS = [{"type": "function", "function": LOOK}]


@pytest.fixture(autouse=True, scope="module")
def loop_of_the_thread() -> Iterator[None]:
    """LiteLLM asks for the event loop of its thread, and nobody would close one that is made for it then."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


def turn_at(name: str, arguments: Mapping[str, Any]) -> Turn:
    """The turn of a completion, as its metadata say."""
    return turn_of(name, sum(message["role"] == "user" for message in arguments["messages"]) - 1)


async def talk(**options: Any) -> list[Any]:
    """A host's own loop, which knows nothing of cuecard but the callback."""
    messages: list[Any] = []
    for said in WORDS:
        messages.append({"role": "user", "content": said})
        while True:
            answer = (await litellm.acompletion(messages=messages, tools=TOOLS, **options)).choices[0].message
            messages.append(answer)
            if not answer.tool_calls:
                break
            messages += [{"role": "tool", "tool_call_id": call.id, "content": "seen"} for call in answer.tool_calls]
    return messages


def pieces(body: Json) -> list[str]:
    """What a request says, without breakpoints; blocks of content one by one."""
    front = body.get("system", [])
    said: list[Json] = [{"role": "system", "content": front}, *body["messages"]]
    found = []
    for each in said:
        content = each.get("content")
        content = content if isinstance(content, list) else [{"type": "text", "text": content}]
        rest = {key: value for key, value in each.items() if key != "content"}
        found += [{**rest, "part": {k: v for k, v in part.items() if k != "cache_control"}} for part in content]
    return [json.dumps(each) for each in found]


@pytest.mark.parametrize(
    ("name", "model"),
    [*product(["polyant"], [GPT, CLAUDE, "anthropic/claude-opus-5-5"]), ("mushroom", GPT), ("cms", CLAUDE)],
)
def test_a_text_of_one_turn_is_in_its_own_requests_and_not_in_the_hosts_messages(
    name: str, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, card = CASES[name][0], Cuecard(engine=engine(name), turn=lambda arguments: turn_at(name, arguments))
    monkeypatch.setattr(litellm, "callbacks", [CuecardCallback(card)])
    with model_server(BATCHES) as server:
        base = f"{server.url}/v1" if model == GPT else server.url
        messages = finished(talk(model=model, api_base=base, api_key="k"))
        sent = server.sent

    check([pieces(body) for body in sent], text, [RUNTIME])
    assert text not in repr(messages)
    assert all(json.dumps(body).count('"cache_control"') <= 4 for body in sent)


def test_any_process_makes_the_same_request_of_the_same_messages() -> None:
    messages: list[Json] = [{"role": "user", "content": "hello"}]
    first = Cuecard(engine=engine("polyant"), turn=lambda arguments: turn_at("polyant", arguments))
    for more in (("assistant", "done"), ("user", "what came in?"), ("assistant", "an order"), ("user", "and now?")):
        messages.append({"role": more[0], "content": more[1]})
        second = Cuecard(engine=engine("polyant"), turn=lambda arguments: turn_at("polyant", arguments))
        made = [each.prepare(GPT, messages, TOOLS).arguments for each in (first, second)]
        assert made[0] == made[1]


def thinking(words: str, **others: Any) -> Json:
    block = {"type": "thinking", "thinking": words, "signature": "s"}
    return {"role": "assistant", "content": "so", "thinking_blocks": [block], "reasoning_content": words, **others}


@pytest.mark.parametrize(("model", "checks"), [("anthropic/claude-opus-5-5", True), (CLAUDE, False)])
def test_thinking_of_earlier_turns_leaves_where_the_model_checks_it(model: str, *, checks: bool) -> None:
    card = Cuecard(engine=engine("polyant"), turn=lambda arguments: turn_at("polyant", arguments))
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    seen: Json = {"role": "tool", "tool_call_id": "c", "content": "seen"}
    thoughts: list[Json] = [{"type": "thinking", "thinking": "T"}, {"type": "redacted_thinking", "data": "T"}]
    text: Json = {"type": "text", "text": "so"}
    answers: list[Json] = [
        thinking("T", tool_calls=[call]),
        thinking("T"),
        {**thinking("T"), "content": None},
        {"role": "assistant", "content": [*thoughts, text]},
        {"role": "assistant", "content": thoughts, "tool_calls": [{**call, "id": "c-2"}]},
        {"role": "assistant", "content": thoughts},
        thinking("T", tool_calls=[{**call, "id": "c-3"}]),
    ]
    first, *earlier, last = answers
    said: list[Json] = [{"role": "user", "content": "hello"}, first, seen, *earlier[:2]]
    said += [{"role": "user", "content": "what?"}, *earlier[2:4], {**seen, "tool_call_id": "c-2"}, earlier[4]]
    said += [{"role": "user", "content": "so?"}, last, {**seen, "tool_call_id": "c-3"}]

    sent = card.prepare(model, said, TOOLS).arguments["messages"]

    bare: list[Json] = [
        {"role": "assistant", "content": "so", "tool_calls": [call]},
        {"role": "assistant", "content": "so"},
        {"role": "assistant", "content": [text]},
        {"role": "assistant", "content": None, "tool_calls": [{**call, "id": "c-2"}]},
    ]
    answers[2]["content"] = "(no answer)"
    assert [each for each in sent if each["role"] == "assistant"] == ([*bare, last] if checks else answers)


@pytest.mark.parametrize(
    ("inputs", "section", "leaves"),
    [
        ("{mood: {default: ''}}", "{id: mood, text: '{{mood}}'}", False),
        ("{mood: {default: ''}}", "{id: mood, lifetime: turn, when: mood, text: Be kind.}", True),
        ("{mood: {default: '', lifetime: turn}}", "{id: other, text: Be kind.}", True),
    ],
)
def test_thinking_leaves_wherever_a_turn_may_have_a_text_of_its_own(
    inputs: str, section: str, tmp_path: Path, *, leaves: bool
) -> None:
    (tmp_path / "agent.yaml").write_text(
        f"agent: a\ndelivery: append\ninputs: {inputs}\nsections: [{{id: role, text: You help.}}, {section}]\n"
    )
    card = Cuecard(engine=Engine.open(tmp_path), turn=Turn(now=NOW))
    said = [{"role": "user", "content": "hello"}, thinking("T0"), {"role": "user", "content": "so?"}]

    sent = card.prepare("anthropic/claude-opus-5-5", said).arguments["messages"]

    assert ("T0" in repr(sent)) is not leaves


def test_an_input_that_may_change_is_what_it_is_now() -> None:
    now: dict[str, Any] = {}
    card = Cuecard(engine=engine("pioneer"), turn=lambda _: Turn(dict(now), now=NOW))
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    said: list[Json] = [{"role": "user", "content": "go"}]
    first = card.prepare(GPT, said, TOOLS).arguments["messages"]
    said += [{"role": "assistant", "content": None, "tool_calls": [call]}]
    said += [{"role": "tool", "tool_call_id": "c", "content": "seen"}]
    now["retry_instruction"] = "TRY-ANOTHER-WAY"

    second = card.prepare(GPT, said, TOOLS).arguments["messages"]

    assert "TRY-ANOTHER-WAY" not in repr(first)
    assert repr(second).count("TRY-ANOTHER-WAY") == 1
    assert second[0] == first[0]


@pytest.mark.parametrize(
    ("name", "turn", "told"),
    [
        ("polyant", 0, ["conversation-context"]),
        ("polyant", 1, ["conversation-context"]),
        ("mushroom", 1, ["response_format", "runtime_facts", "heartbeat"]),
        ("cms", 1, ["turn.ephemeral"]),
        ("cms", 0, []),
    ],
)
def test_a_history_that_the_provider_keeps_is_refused_with_every_text_of_one_turn(
    name: str, turn: int, told: list[str]
) -> None:
    card = Cuecard(engine=engine(name), turn=turn_of(name, turn))

    def ask(**others: Any) -> list[Problem]:
        try:
            card.prepare(GPT, [{"role": "user", "content": "hello"}], TOOLS, **others)
        except InputError as error:
            return [*error.problems]
        return []

    way = 'pass `Turn(host="system-only")`, which puts it into the system prompt; or send the history yourself'
    said = "`{}` lives for one turn, but the provider keeps the history, and takes nothing back"
    assert ask() == []
    assert ask(previous_response_id="resp_1") == [
        Problem("kept-history", said.format(each), way, "turn") for each in told
    ]
