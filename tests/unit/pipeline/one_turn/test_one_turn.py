"""Texts of one turn: where they are sent, how they end, and what a host stores of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pytest

from cuecard import Call, Engine, InputError, Message, SpecError, Step, ToolResult, Turn
from cuecard.adapters import anthropic, bedrock, gemini, openai
from cuecard.types import Delivery, Host, Json

ROOT = Path(__file__).parents[4] / "prompts"
WITH, WITHOUT = (True, False, True, False), (False, True, False, False)
CASES: tuple[tuple[str, dict[str, Json], dict[str, Json], tuple[str, ...]], ...] = (
    ("polyant", {"context": "ORDER 7 OF JANA"}, {}, ("ORDER 7 OF JANA",)),
    ("mushroom", {"heartbeat": True}, {}, ("answer HEARTBEAT_OK", "Heartbeat run: true")),
    ("mushroom", {"response_format": "json_object"}, {}, ("one valid JSON object",)),
    ("pioneer", {"retry_instruction": "RETRY NOW"}, {}, ("RETRY NOW",)),
    ("mistermorph", {"channel": "telegram"}, {"channel": "slack"}, ("[ Telegram ]",)),
)
AGENT = """\
agent: shop
inputs:
  event: {default: "", lifetime: turn}
  retry: {default: "", tier: step}
  now: {default: "", lifetime: step}
  name: {default: ""}
sections:
  - {id: identity, text: "You answer for {{#if name}}{{{name}}}{{else}}a shop{{/if}}."}
  - {id: event, title: Event, text: "{{{event}}}"}
  - {id: retry, title: Retry, text: "{{{retry}}}"}
  - {id: now, title: Now, text: "{{{now}}}"}
layout: {heading: "## {{title}}\\n"}
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    return Engine.open(tmp_path)


def texts(step: Step) -> list[str]:
    return [block.text for block in step.appended]


def ended(call: Call) -> list[str]:
    return [cut.reason for cut in call.record.cuts if cut.what == "baseline"]


@pytest.mark.parametrize("order", [WITH, WITHOUT], ids=["with", "without"])
@pytest.mark.parametrize(("agent", "one", "other", "marks"), CASES)
@pytest.mark.parametrize("passes", [True, False], ids=["the engine has the message", "the host has it"])
def test_such_a_text_is_in_the_requests_of_its_turn_and_in_no_other(
    agent: str,
    one: Mapping[str, Json],
    other: Mapping[str, Json],
    marks: tuple[str, ...],
    *,
    order: tuple[bool, ...],
    passes: bool,
) -> None:
    chat, messages, seen = Engine.open(ROOT / agent).conversation(), list[dict[str, Any]](), []
    for number, has in enumerate(order):
        now = datetime(2026, 11, 20, 9, tzinfo=UTC) + timedelta(minutes=number)
        said = Message("user", f"message {number}") if passes else None
        chat.user(Turn(now=now, inputs=one if has else other, message=said))
        messages.append({"role": "user", "content": f"message {number}"})
        body = anthropic.request(chat.step([]), messages, model="claude-opus-4-8")
        seen.append([json.dumps(body, ensure_ascii=False).count(mark) for mark in marks])
        messages.append({"role": "assistant", "content": "ok"})

    assert seen == [[int(has)] * len(marks) for has in order]


@pytest.mark.parametrize(
    "send",
    [
        *(partial(anthropic.request, model=model) for model in ("claude-sonnet-4-6", "claude-opus-4-8")),
        *(partial(openai.chat_request, model=model) for model in ("gpt-5.6", "llama-3.3-70b")),
    ],
)
def test_a_text_that_reads_like_an_ended_one_is_sent_once_though_the_host_stores_what_it_sent(
    engine: Engine, send: Callable[..., Any]
) -> None:
    chat, messages = engine.conversation(), list[Any]()
    for number, last in enumerate(("THE FIRST", "THE SECOND")):
        chat.user(Turn({"event": "THE SAME"}, ephemeral=last))
        body = send(chat.step(), [*messages, {"role": "user", "content": f"message {number}"}])
        messages = [each for each in body["messages"] if body.get("system") or each is not body["messages"][0]]
        messages.append({"role": "assistant", "content": f"answer {number}"})
    again = send(chat.step(), messages[:-1])

    assert [json.dumps(again).count(text) for text in ("THE SAME", "THE FIRST", "THE SECOND")] == [1, 0, 1]
    assert again == body


def test_a_turns_own_text_stands_behind_what_stays_and_its_end_is_in_the_manifest(engine: Engine) -> None:
    chat = engine.conversation()
    before, first = chat.user(), chat.user(Turn({"event": "ORDER 7", "name": "Jana"}, ephemeral="Be brief."))
    sent = chat.step().appended
    second, third = chat.user(), chat.user()

    assert [block.id.rpartition("-")[0] for block in sent] == [
        "context-update",
        "turn-text:event",
        "turn-text:ephemeral",
    ]
    assert [ended(call) for call in (first, second, third)] == [[], ["one-turn text ended: event, ephemeral"], []]
    assert second.prompt.segments == before.prompt.segments


def test_its_first_request_has_a_breakpoint_in_front_of_it(engine: Engine) -> None:
    step = engine.prepare_step(engine.prepare_call(Turn({"event": "ORDER 7"})))
    body = anthropic.request(step, [{"role": "user", "content": "Hi"}], model="claude-sonnet-4-6")

    assert ["cache_control" in block for block in body["messages"][0]["content"]] == [True, True]
    later = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    body = anthropic.request(step, [*later, {"role": "user", "content": "So?"}], model="claude-sonnet-4-6")
    assert "ORDER 7" in str(body["messages"][-1])


def test_a_changed_text_follows_the_last_result_and_says_what_it_replaces(engine: Engine) -> None:
    chat = engine.conversation()
    call = chat.user(Turn({"retry": "Try A."}))
    first = chat.step()
    second = chat.step([ToolResult("t", 1, "c1")], inputs={"retry": "Try B."})
    third = chat.step([ToolResult("t", 2, "c2")], inputs={"retry": ""})

    assert texts(first) == ["## Retry\nTry A.\n"]
    assert texts(second)[:1] == texts(first)
    assert "this replaces the earlier text of: Retry\n## Retry\nTry B.\n" in texts(second)[1]
    assert texts(third)[:2] == texts(second)
    assert texts(third)[2] == "<withdrawn-sections>\nRetry\n</withdrawn-sections>\n"
    assert [block.after_call_id for block in third.appended] == [None, "c1", "c2"]
    assert third.segments == call.prompt.segments
    assert next(each.id for each in second.manifest.sections if each.placement == "appended") == "retry"
    chat.user()
    assert chat.step().appended == ()


def test_hosts_without_the_handle_go_on_from_the_call_of_the_last_step(engine: Engine) -> None:
    chat = engine.conversation()
    call = chat.user()
    history = [ToolResult("t", 1, "c1"), ToolResult("t", 2, "c2")]
    handle = [chat.step(history[:1], inputs={"retry": "Try A."}), chat.step(history[1:], inputs={"retry": "Try B."})]
    first = engine.prepare_step(call, history[:1], inputs={"retry": "Try A."})
    assert first.call
    second = engine.prepare_step(first.call, history, inputs={"retry": "Try B."})

    assert [first, second] == handle
    assert engine.prepare_step(call, history[:1], inputs={"retry": ""}).call is call


def test_under_rewrite_the_system_prompt_is_made_again(engine: Engine) -> None:
    chat = replace(engine, delivery="rewrite").conversation()
    chat.user(Turn({"retry": "Try A.", "event": "ORDER 7"}))
    first, second = chat.step(), chat.step([ToolResult("t", 1, "c1")], inputs={"retry": "Try B."})

    assert first.system == "You answer for a shop.\n\n## Event\nORDER 7\n\n## Retry\nTry A."
    assert second.system == "You answer for a shop.\n\n## Event\nORDER 7\n\n## Retry\nTry B."
    assert (first.appended, second.appended) == ((), ())
    assert "ORDER 7" not in engine.dump(chat, ended=True)


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"name": "Jana"}, "not-a-step-input"),
        ({"retyr": "x"}, "unknown-input"),
        ({"retry": 7}, "wrong-input"),
        ({"retry": "\0"}, "control-character"),
        (["retry"], "wrong-argument"),
    ],
)
def test_a_wrong_input_of_a_request_is_refused_and_nothing_is_lost(engine: Engine, inputs: Any, code: str) -> None:
    chat = engine.conversation()
    chat.user(Turn({"event": "ORDER 7"}))
    before = chat.state
    with pytest.raises(InputError) as caught:
        chat.step([ToolResult("t", 1, "c1")], inputs=inputs)

    assert [problem.code for problem in caught.value.problems] == [code]
    assert chat.state is before


def test_a_text_of_one_request_moves_to_the_end_of_each(engine: Engine) -> None:
    chat = engine.conversation()
    chat.user(Turn({"now": "09:05"}))
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Hi"}]
    first = anthropic.request(chat.step(), messages, model="claude-opus-4-8")["messages"]
    messages += [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "t", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "1"}]},
    ]
    step = chat.step([ToolResult("t", 1, "c1")], inputs={"retry": "Again"})
    second = anthropic.request(step, messages, model="claude-opus-4-8")["messages"]

    assert [block.lifetime for block in step.appended] == ["turn", "step"], "behind what changed"
    assert [["09:05" in str(message) for message in sent] for sent in (first, second)] == [
        [False, True],
        [False, False, False, True],
    ]
    assert "cache_control" not in str(second[-1]["content"][-1])
    with pytest.raises(InputError, match="lifetime: turn"):
        engine.prepare_call(Turn({"now": "09:05"}, model="claude-opus-5-5"))


def test_a_state_of_the_running_turn_goes_on_and_one_of_an_ended_turn_does_not(engine: Engine) -> None:
    chat = engine.conversation()
    chat.user(Turn({"event": "ORDER 7", "retry": "Try A."}, ephemeral="Be brief."))
    running, over = engine.dump(chat), engine.dump(chat, ended=True)

    assert engine.load(running).step() == chat.step()
    assert [text for text in ("ORDER 7", "Try A.", "Be brief.") if text in over] == []
    with pytest.raises(InputError) as caught:
        engine.load(over).step()
    assert [problem.code for problem in caught.value.problems] == ["turn-ended"]
    after, usual = engine.load(over), engine.load(running)
    assert ended(after.user()) == ended(usual.user())
    assert after.step() == usual.step()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("{id: event, title", "{id: event, tier: static, lifetime: turn, title", "is static"),
        ("tier: step}", "tier: step, lifetime: conversation}", "may change between the requests"),
        ('text: "{{{event}}}"', 'text: "{{{event}}}{{{activeProtocols}}}"', "holds instructions of tools"),
        ("{id: retry, title", "{id: retry, lifetime: conversation, title", "which may change between"),
        ("layout: {", "layout: {boundary: {marker: M, before: retry}, ", "before the boundary"),
    ],
)
def test_a_lifetime_that_contradicts_its_section_is_an_error(tmp_path: Path, old: str, new: str, told: str) -> None:
    (tmp_path / "agent.yaml").write_text(AGENT.replace(old, new), encoding="utf-8")
    with pytest.raises(SpecError, match=told):
        Engine.open(tmp_path)


@pytest.mark.parametrize("key", ["lifetime: turn", "remove: true"])
def test_an_element_within_a_section_has_no_lifetime_and_the_error_names_the_section(tmp_path: Path, key: str) -> None:
    core = (
        "<agent>\n<rules>\n{{#if x}}<deep><event>{{{x}}}</event></deep>{{/if}}\n</rules>\n<other>x</other>\n</agent>\n"
    )
    (tmp_path / "agent.xml").write_text(core, encoding="utf-8")
    (tmp_path / "agent.yaml").write_text(
        f"agent: a\ntemplate: agent.xml\ninputs: {{x: {{default: ''}}}}\nsections: [{{id: event, {key}}}]\n",
        encoding="utf-8",
    )
    with pytest.raises(SpecError) as caught:
        Engine.open(tmp_path)

    (problem,) = caught.value.problems
    assert problem.message == "`event` is an element within the section `rules`, and has no settings of its own"
    assert problem.hint == "name `rules`; or move `event` out of it, to be a child of the template's root"
    assert (problem.code, problem.span and problem.span.line) == ("unknown-section", 4)


@pytest.mark.parametrize("kept", [0, 2])
def test_after_a_compaction_the_turns_that_are_left_are_known_by_their_new_numbers(engine: Engine, kept: int) -> None:
    chat = engine.conversation()
    for number in range(3):
        chat.user(Turn({"event": f"ORDER {number}"}))
    chat.compacted(kept=kept)
    chat.user()

    assert [each.turn for each in chat.step().ended] == [*[None] * (3 - kept), *range(kept)]


def test_thinking_of_an_ended_turn_goes_after_a_compaction_too(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(AGENT.replace(", lifetime: step}", "}"), encoding="utf-8")

    def said(words: str, thought: str) -> list[dict[str, Any]]:
        block = {"type": "thinking", "thinking": thought, "signature": "s"}
        return [
            {"role": "user", "content": words},
            {"role": "assistant", "content": [block, {"type": "text", "text": "ok"}]},
        ]

    chat = Engine.open(tmp_path).conversation()
    for event in ("", "ORDER 1", "ORDER 2", ""):
        chat.user(Turn({"event": event}, model="claude-opus-5-5"))
    chat.compacted(kept=2)
    chat.user(Turn(model="claude-opus-5-5"))
    messages = [*said("third", "OF ORDER 2"), *said("fourth", "OF NONE"), {"role": "user", "content": "fifth"}]
    body = json.dumps(anthropic.request(chat.step(), messages, model="claude-opus-5-5"))

    assert ["OF ORDER 2" in body, "OF NONE" in body] == [False, True]


def test_what_is_known_of_ended_texts_is_bounded_by_the_messages_that_are_left(engine: Engine) -> None:
    chat, sizes = engine.conversation(), []
    for number in range(200):
        chat.user(Turn({"event": f"ORDER {number}"}))
        if number % 10 == 9:
            chat.compacted(kept=2)
            sizes.append(len(chat.step().ended))

    assert max(sizes) < 80


@pytest.mark.parametrize("name", ["messages", "system-only"])
@pytest.mark.parametrize("delivery", get_args(Delivery))
def test_an_instruction_for_one_message_is_in_the_bodies_of_every_provider(delivery: Delivery, name: Host) -> None:
    chat = Engine.open(ROOT / "cms", delivery=delivery).conversation()
    words: list[Json] = [{"role": "user", "content": "hello"}]
    parts: list[Json] = [{"role": "user", "parts": [{"text": "hello"}]}]
    blocks: list[Json] = [{"role": "user", "content": [{"text": "hello"}]}]
    sent = []
    for said in ("", "SAY-IT-IN-CZECH", ""):
        chat.user(Turn(ephemeral=said, host=name))
        step = chat.step()
        bodies = [
            anthropic.request(step, words, model="claude-opus-4-8"),
            bedrock.request(step, blocks, model="us.anthropic.claude-opus-4-8-v1:0"),
            gemini.request(step, parts),
            openai.chat_request(step, words, model="gpt-5.2"),
            openai.responses_request(step, words, model="gpt-5.2"),
            openai.responses_request(step, words, model="gpt-5.6"),
        ]
        sent.append([json.dumps(body).count("SAY-IT-IN-CZECH") for body in bodies])

    assert sent == [[0] * 6, [1] * 6, [0] * 6]


def test_a_text_of_one_turn_leaves_a_frozen_prompt_when_the_host_can_append_messages_again(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    chat = Engine.open(tmp_path, delivery="frozen").conversation()
    chat.user(Turn({"event": "ORDER 7"}, host="system-only"))
    first = chat.step()
    call = chat.user(Turn({"name": "Jana"}))

    assert "ORDER 7" in first.system
    assert "ORDER 7" not in chat.step().system
    assert [reason.split(":")[0] for reason in ended(call)] == ["the host changed from system-only to messages"]


TIGHT = (
    AGENT
    + """\
  - {id: use, text: "{{{activeProtocols}}}"}
tools: {instructions: tools.yaml, core: [ask]}
budget: {total: 120}
"""
)
TOOLS = "tools:\n" + "".join(
    f"  {name}: {{before: Read it first, after: Say what {name} has done, next: None, gotcha: None}}\n"
    for name in ("ask", "bake", "cook")
)


def test_what_was_sent_stays_where_a_text_that_comes_with_a_request_takes_its_room(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(TIGHT.replace("layout:", "# layout:"), encoding="utf-8")
    (tmp_path / "tools.yaml").write_text(TOOLS, encoding="utf-8")
    engine = Engine.open(tmp_path)
    chat, found = engine.conversation(), [ToolResult("tool_search", {"tools": ["bake"]}, "c1")]
    chat.user()
    before = chat.step(found)
    chat.step(inputs={"retry": "Try it again, " * 30})
    history = [*found, ToolResult("bake", "ok", "c2")]
    after = engine.load(engine.dump(chat)).step(history[1:])

    assert after.appended[: len(before.appended)] == before.appended
    assert "bake" in after.active_tools
    assert chat.step(history[1:]).to_json() == after.to_json()
