"""Request bodies for Anthropic: where blocks, breakpoints and references go."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from cms_agent import TOOLS, cms
from cuecard import InputError, Message, Step, Turn
from cuecard.adapters.anthropic import request
from cuecard.adapters.bodies import reminder
from cuecard.types import Appended
from unit.adapters.providers.talk import PROFILES, START, Json, anthropic_messages, play, schemas, two_turns

OPUS, SONNET = PROFILES.find("claude-opus-4-8"), PROFILES.find("claude-sonnet-4-6")


def roles(body: Json) -> list[str]:
    return [message["role"] for message in body["messages"]]


def breakpoints(value: Any) -> int:
    if isinstance(value, dict):
        return sum(breakpoints(item) for item in value.values()) + ("cache_control" in value)
    return sum(breakpoints(item) for item in value) if isinstance(value, list) else 0


def with_blocks(step: Step, *blocks: Appended) -> Step:
    return replace(step, appended=blocks)


def test_a_model_without_system_messages_gets_reminders_after_the_results() -> None:
    moment = two_turns()
    body = request(moment.step, anthropic_messages(moment.events), model=SONNET)
    protocols = moment.step.appended[:-1]
    results = body["messages"][2]["content"]

    assert roles(body) == ["user", "assistant", "user", "assistant", "user"]
    assert [block["type"] for block in results] == ["tool_result", "tool_result", *["text"] * len(protocols)]
    assert [block["text"] for block in results[2:]] == [reminder(block.text) for block in protocols]


def test_a_block_joins_the_system_message_of_the_host() -> None:
    step = with_blocks(play([([], [], 0)])[-1].step, Appended(None, "ours", turn=0))
    messages = [{"role": "user", "content": "a"}, {"role": "system", "content": "theirs"}]
    body = request(step, messages, model=OPUS)

    assert roles(body) == ["user", "system"]
    assert [block["text"] for block in body["messages"][1]["content"]] == ["theirs", "ours"]


def test_no_message_to_go_with_is_an_error_that_says_so() -> None:
    step = with_blocks(play([([], [], 0)])[-1].step, Appended(None, "block"))

    with pytest.raises(InputError, match="no-user-message"):
        request(step, [], model=OPUS)


def test_breakpoints_appear_after_the_static_part_the_system_and_the_ends_of_both_requests() -> None:
    moment = two_turns()
    small = replace(OPUS, min_cache_tokens=512)
    body = request(moment.step, anthropic_messages(moment.events), model=small, tools=schemas())
    static, rest = body["system"]

    assert static["text"] + rest["text"] == moment.step.system
    assert rest["text"].startswith("<working-memory>")
    assert breakpoints(body["system"]) == 2
    assert breakpoints(body) == 4
    assert "cache_control" in body["messages"][-1]["content"][-1]
    assert "cache_control" in body["messages"][3]["content"][-1]  # what the model has answered


def test_a_prefix_below_the_minimum_of_the_model_gets_no_breakpoint() -> None:
    moment = two_turns()
    segments = moment.step.segments
    before = sum(s.tokens for s in segments[: [s.tier for s in segments].index("call")])
    between = replace(OPUS, min_cache_tokens=before + 1, token_factor=1.0)
    above = replace(OPUS, min_cache_tokens=100_000)
    messages = anthropic_messages(moment.events)
    pieces = request(moment.step, messages, model=between)["system"]

    assert ["cache_control" in piece for piece in pieces] == [False, True]
    assert breakpoints(request(moment.step, messages, model=above)["system"]) == 0
    assert breakpoints(request(moment.step, messages, model=between, tools=schemas()[:1])["system"]) == 2


def test_the_minimum_is_counted_in_tokens_of_the_model() -> None:
    moment = two_turns()
    whole = sum(segment.tokens for segment in moment.step.segments)
    plain = replace(OPUS, min_cache_tokens=whole + 1, token_factor=1.0)
    dense = replace(plain, token_factor=1.1)
    exact = replace(plain, min_cache_tokens=whole)
    messages = anthropic_messages(moment.events)

    assert breakpoints(request(moment.step, messages, model=plain)["system"]) == 0
    assert breakpoints(request(moment.step, messages, model=dense)["system"]) == 1
    assert breakpoints(request(moment.step, messages, model=exact)["system"]) == 1
    (tool,) = schemas()[:1]  # JSON costs a token for every two and a half characters
    size = len(json.dumps(tool)) / 2.5
    for most, marks in ((whole + size, 1), (whole + size + 0.1, 0)):
        model = replace(plain, min_cache_tokens=most)  # type: ignore[arg-type]  # to a tenth
        assert breakpoints(request(moment.step, messages, model=model, tools=[tool])["system"]) == marks


def test_what_lives_for_one_turn_stands_behind_the_system_prompt_where_nothing_is_placed_among_messages() -> None:
    chat = cms("rewrite").conversation()
    messages = (Message("system", "kept by the host"), Message("system", " for now\n", persist=False))
    chat.user(Turn(now=START, messages=(*messages, Message("user", "hi", persist=False)), ephemeral="in a hurry"))
    step = chat.step()
    system = request(step, [{"role": "user", "content": "hi"}], model=replace(OPUS, min_cache_tokens=1))["system"]

    assert [piece["text"] for piece in system[-2:]] == ["for now", "in a hurry"]
    assert "".join(piece["text"] for piece in system[:-2]) == step.system
    assert ["cache_control" in piece for piece in system] == [True, True, False, False]


def test_a_model_without_breakpoints_gets_none() -> None:
    moment = two_turns()
    body = request(moment.step, anthropic_messages(moment.events), model=PROFILES.find("own"), tools=schemas())

    assert breakpoints(body) == 0


def test_the_order_of_tools_depends_neither_on_the_host_nor_on_what_was_found() -> None:
    before, after = play([([], [[TOOLS[5:6]]], 0)])
    one = request(before.step, [], model=OPUS, tools=schemas())["tools"]
    other = request(replace(after.step, appended=()), [], model=OPUS, tools=reversed(schemas()))["tools"]
    names = [tool["name"] for tool in one]

    assert one == other
    assert names[:3] == list(before.step.active_tools)
    assert names[3:] == sorted(names[3:])


def test_deferred_tools_are_revealed_in_the_result_that_found_them() -> None:
    moment = two_turns()
    host: list[Json] = [{"name": "mine", "defer_loading": False, "input_schema": {}}, {"type": "web_search_20260318"}]
    tools = [*schemas(), *host]
    body = request(moment.step, anthropic_messages(moment.events), model=OPUS, tools=tools, defer=True)
    loaded = [tool.get("name", tool.get("type")) for tool in body["tools"] if not tool.get("defer_loading")]
    found = [result["content"][-1] for result in body["messages"][2]["content"]]

    assert sorted(loaded) == ["acknowledge", "final_answer", "mine", "tool_search", "web_search_20260318"]
    assert found == [{"type": "tool_reference", "tool_name": name} for name in TOOLS[:2]]


def test_a_tool_whose_search_result_is_gone_is_loaded_because_nothing_could_reveal_it() -> None:
    moment = two_turns()
    body = request(
        moment.step, [{"role": "user", "content": "a"}], model="claude-sonnet-5", tools=schemas(), defer=True
    )
    loaded = {tool["name"] for tool in body["tools"] if not tool.get("defer_loading")}

    assert set(TOOLS[:2]) < loaded
