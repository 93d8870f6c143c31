"""Request bodies for Amazon Bedrock: where blocks and cache points go."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from cms_agent import TOOLS, cms
from cuecard import Entity, InputError, Turn
from cuecard.adapters.bedrock import ENDPOINT, request
from cuecard.adapters.bodies import reminder
from cuecard.adapters.lifetimes import check_lifetimes
from property.hosts import bare
from unit.adapters.providers.talk import (
    PROFILES,
    Json,
    Moment,
    converse_messages,
    play,
    tool_specs,
    two_turns,
)

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
NOVA, LLAMA = "us.amazon.nova-pro-v1:0", "us.meta.llama4-maverick-17b-instruct-v1:0"
POINT = {"cachePoint": {"type": "default"}}


def sent(moment: Moment, **more: Any) -> Json:
    return request(moment.step, converse_messages(moment.events), **{"model": CLAUDE, "tools": tool_specs(), **more})


def kinds(content: list[Json]) -> list[str]:
    return [next(iter(block)) for block in content]


def points(body: Json) -> int:
    contents = [body["toolConfig"]["tools"], body["system"], *(turn["content"] for turn in body["messages"])]
    return sum("cachePoint" in block for content in contents for block in content)


def test_blocks_are_reminders_after_the_results_and_at_the_end_of_the_users_words() -> None:
    moment = two_turns()
    body = sent(moment)
    *protocols, update = [reminder(block.text) for block in moment.step.appended]
    results, last = body["messages"][2]["content"], body["messages"][-1]["content"]

    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert kinds(results) == ["toolResult", "toolResult", *["text"] * len(protocols), "cachePoint"]
    assert [block["text"] for block in results[2:-1]] == protocols
    assert last == [{"text": "message 1"}, {"text": update}, POINT]
    assert next(reversed(body)) == "messages"


def test_cache_points_appear_after_the_system_prompt_the_last_message_and_where_the_request_before_ended() -> None:
    moments = play([([], [[TOOLS[:1]], [TOOLS[1:2]]], 0), ([], [], 1)])
    bodies = [sent(moment) for moment in moments]

    for before, after in pairwise(bodies):
        ends = [at for at, turn in enumerate(after["messages"]) if turn["content"][-1] == POINT]
        assert ends[-1] == len(after["messages"]) - 1
        assert len(before["messages"]) - 1 in ends
    assert {points(body) for body in bodies[1:]} == {4}
    assert POINT in bodies[0]["system"]
    assert not any("cachePoint" in tool for tool in bodies[0]["toolConfig"]["tools"])


def test_a_cache_point_is_never_in_what_the_model_has_begun_to_say() -> None:
    moment = two_turns()
    begun = {"role": "assistant", "content": [{"text": "I"}]}
    said = [*converse_messages(moment.events), begun]
    body = request(moment.step, said, model=CLAUDE, tools=tool_specs())

    assert body["messages"][-2:] == [sent(moment)["messages"][-1], begun]
    assert [turn["content"].count(POINT) for turn in body["messages"]] == [0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("model", ["openai.gpt-oss-120b-1:0", "deepseek.r1-v1:0", "arn:aws:bedrock:x:1:y/z"])
def test_models_that_are_not_known_to_take_cache_points_get_none(model: str) -> None:
    assert points(sent(two_turns(), model=model)) == 0


def test_novas_take_cache_points_too() -> None:
    assert points(sent(two_turns(), model=NOVA)) == 4


def test_cache_points_of_the_host_give_way() -> None:
    moment = two_turns()
    longer: Json = {"cachePoint": {"type": "default", "ttl": "1h"}}
    messages = converse_messages(moment.events)
    messages[0]["content"].append(longer)

    assert request(moment.step, messages, model=CLAUDE, tools=[longer, *tool_specs(), longer]) == sent(moment)


def test_the_system_prompt_may_live_longer_than_the_messages_and_never_shorter() -> None:
    moment = two_turns()
    body = sent(moment, system_lifetime="1h")
    check_lifetimes(body)

    assert {block["cachePoint"]["ttl"] for block in body["system"] if "cachePoint" in block} == {"1h"}
    assert body["messages"][-1]["content"][-1] == POINT
    assert sent(moment, lifetime="1h")["messages"][-1]["content"][-1]["cachePoint"]["ttl"] == "1h"
    with pytest.raises(InputError) as caught:
        sent(moment, lifetime="1h", system_lifetime="5m")
    assert {problem.code for problem in caught.value.problems} == {"wrong-option"}
    assert len(caught.value.problems) == 2


def test_lifetimes_of_cache_points_in_tools_are_looked_at_too() -> None:
    unknown, late = ({"cachePoint": {"type": "default", "ttl": ttl}} for ttl in ("9h", "1h"))
    body = {"toolConfig": {"tools": [unknown, POINT]}, "system": [late]}
    with pytest.raises(InputError) as caught:
        check_lifetimes(body)

    names = [problem.name for problem in caught.value.problems]
    assert names == ["body.toolConfig.tools[0].cachePoint", "body.system[0].cachePoint"]


def test_messages_of_one_role_become_one() -> None:
    """Hosts that write each result, or the words after it, as a message of its own."""
    moment = two_turns()
    apart: list[Json] = []
    for message in converse_messages(moment.events):
        apart += [{"role": message["role"], "content": [block]} for block in message["content"]]

    assert len(apart) > len(converse_messages(moment.events))
    assert request(moment.step, apart, model=CLAUDE, tools=tool_specs()) == sent(moment)


def test_where_a_profile_of_your_own_grants_a_role_blocks_have_it() -> None:
    moment, profile = two_turns(), replace(PROFILES.find(CLAUDE), mid_conversation="system")
    body = sent(moment, model=replace(profile, endpoint="bedrock-runtime.us-east-1.amazonaws.com"))

    assert [turn["role"] for turn in body["messages"]].count("system") == 2
    assert sent(moment, model=profile)["messages"] == sent(moment)["messages"]  # a name alone is no endpoint


def test_models_that_refuse_texts_alongside_results_get_none() -> None:
    with pytest.raises(InputError) as caught:
        sent(two_turns(), model=LLAMA)

    assert [(problem.code, problem.name) for problem in caught.value.problems] == [
        ("text-beside-results", "messages[2]")
    ]
    moment = two_turns()
    call = cms().prepare_call(Turn(host="system-only", model=LLAMA, endpoint=ENDPOINT))
    history = [result for event in moment.events for result in event.results]
    step = cms().prepare_step(call, history)
    assert request(step, converse_messages(moment.events[:3]), model=LLAMA)["messages"]


def test_the_id_is_sent_without_the_provider_in_front() -> None:
    assert sent(two_turns(), model=f"bedrock/{CLAUDE}")["modelId"] == CLAUDE
    assert sent(two_turns(), model=PROFILES.find(f"bedrock:{CLAUDE}"))["modelId"] == CLAUDE


def test_a_system_prompt_that_is_empty_is_left_out() -> None:
    moment = two_turns()

    assert "system" not in request(replace(moment.step, segments=()), converse_messages(moment.events), model=CLAUDE)
    assert "toolConfig" not in request(moment.step, converse_messages(moment.events), model=CLAUDE)


def test_what_is_not_of_bedrocks_form_is_refused_with_every_place() -> None:
    messages: Any = [
        {"role": "user", "content": "text"},
        {"content": [7, {"toolResult": 1}, {"toolResult": {}}]},
    ]
    with pytest.raises(InputError) as caught:
        request(two_turns().step, messages, model=CLAUDE, tools=[{"toolSpec": 1}], lifetime="2h")  # type: ignore[arg-type]

    assert {problem.name for problem in caught.value.problems} == {
        "messages[0].content",
        "messages[1].role",
        "messages[1].content[0]",
        "messages[1].content[1].toolResult",
        "messages[1].content[2].toolResult.toolUseId",
        "tools[0].toolSpec",
        "lifetime",
    }


def test_messages_that_had_become_one_are_told_apart_in_what_a_host_has_kept() -> None:
    """Messages of the user with no answer between them, as after a run that failed."""
    moments = play([([Entity("page", f"p{n}", "Home")], [], 0) for n in range(3)])
    steps = [moment.step for moment in moments]
    words: list[Json] = [{"role": "user", "content": [{"text": text}]} for text in ("one", "two", "three")]
    bodies = [request(step, words[: n + 1], model=CLAUDE) for n, step in enumerate(steps)]
    for n, body in enumerate(bodies):
        kept = [*(bodies[n - 1]["messages"] if n else []), words[n]]

        assert request(steps[n], kept, model=CLAUDE) == body
        assert request(steps[n], body["messages"], model=CLAUDE) == body
    (message,) = bare(bodies[-1]["messages"])
    assert [block["text"].startswith("<system-reminder>") for block in message["content"]] == [0, 0, 1, 0, 1]
