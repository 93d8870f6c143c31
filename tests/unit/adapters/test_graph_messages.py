"""What a model is sent of a graph's messages, message for message, and what refused calls leave in them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call

from cuecard import Engine, Turn
from cuecard.adapters import langgraph
from cuecard.adapters.bodies import reminder
from cuecard.adapters.langgraph.messages import called_together, refusing, with_refused
from unit.adapters.graph_models import Model
from unit.adapters.one_turn_hosts import OWN, engine, turn_of
from unit.adapters.shop import Shop
from unit.adapters.test_graph_doors import refund_order

PAY = [invalid_tool_call(name="pay", args='{"n": 1}', id=each, error="no pay") for each in ("a", "c")]
WRONG = invalid_tool_call(name="own", args="{", id="e", error=None)


def answer(*calls: tuple[str, str | None], **more: Any) -> AIMessage:
    return AIMessage("", tool_calls=[tool_call(name=name, args={"n": 1}, id=each) for name, each in calls], **more)


def refused(name: str, call: str | None) -> ToolMessage:
    return ToolMessage(f"no {name}", name=name, tool_call_id=call, status="error")


def given(call: str) -> ToolMessage:
    return ToolMessage("ok", tool_call_id=call)


def refuse(name: str) -> str | None:
    return f"no {name}" if name == "pay" else None


def test_refused_calls_stand_aside_and_are_sent_where_the_model_made_them() -> None:
    calls = ("pay", "a"), ("look", "b"), ("pay", "c"), ("own", "d"), ("own", None)
    made = answer(*calls, id="m", invalid_tool_calls=[WRONG], additional_kwargs={"kept": 1})
    said = [HumanMessage("hello", id="1"), made, given("d")]
    aside = answer(("look", "b"), ("own", "d"), ("own", None), id="m", invalid_tool_calls=[WRONG, *PAY])
    aside.additional_kwargs = {"kept": 1, "cuecard_refused": ["a", "b", "c", "d", None]}

    assert refusing(said, refuse) == ([aside, refused("pay", "a"), refused("pay", "c")], True)

    kept = [said[0], aside, given("gone"), given("d"), refused("pay", "a"), refused("pay", "c"), given("b")]
    later = [HumanMessage("and?", id="2"), given("b")]
    whole = [said[0], made, refused("pay", "a"), given("b"), refused("pay", "c"), given("d"), given("gone")]
    assert with_refused([*kept, *later]) == [*whole, *later]
    assert with_refused(kept) == whole
    assert called_together([*kept, *later]) == ("look", "own", "own", "own", "pay", "pay")


def test_where_no_call_is_left_the_model_reads_the_refusals_at_once() -> None:
    twice = [HumanMessage("hello"), answer(("pay", "a"), ("pay", "a"), ("own", "b")), given("b")]

    assert refusing(twice, refuse) == ([refused("pay", "a")] * 2, False)


FAILED: list[BaseMessage] = [answer(("pay", "x")), refused("pay", "x")]


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (FAILED * 2, True),
        (FAILED * 3, False),
        ([*FAILED * 3, HumanMessage("go on")], True),
        ([*FAILED, answer(("look", "b")), given("b"), *FAILED * 2], True),
        ([*FAILED, answer(("pay", "b")), *FAILED], False),
    ],
)
def test_a_model_that_insists_is_left_to_the_agent(before: list[BaseMessage], told: bool) -> None:  # noqa: FBT001 - a parameter
    said = [HumanMessage("hello"), *before]

    assert refusing([*said, answer(("pay", "a"))], refuse) == (([refused("pay", "a")], False) if told else None)
    left = refusing([*said, answer(("pay", "a"), ("look", "b"))], refuse)
    assert left is not None
    assert left[1] is True


@pytest.mark.parametrize("said", [[], [HumanMessage("x")], [answer(("look", "a"))], [answer(("pay", None))]])
def test_where_nothing_is_refused_nothing_changes(said: list[BaseMessage]) -> None:
    assert refusing(said, refuse) is None
    assert with_refused(said) == said


def test_an_invalid_call_under_the_id_of_a_refused_one_stays_the_models_own() -> None:
    wrong = invalid_tool_call(name="pay", args="{", id="a", error=None)
    made = answer(("pay", "a"), ("look", "b"), invalid_tool_calls=[wrong])
    news, left = refusing([made], refuse) or ([], False)

    assert left
    assert with_refused(news) == [made, refused("pay", "a")]


# The models


class OpenAi(Model):
    """As LangChain's package for OpenAI has it."""

    model_name: str = "gpt-5.4"
    openai_api_base: str | None = None
    root_client: Any = None

    @property
    def _llm_type(self) -> str:
        return "openai-chat"


class Elsewhere(Model):
    """A model that nobody knows, at nobody knows which address."""

    model_name: Any = None
    model: str = "gpt-5.4"


def claude(name: str = "claude-opus-4-8", **more: Any) -> ChatAnthropic:
    return ChatAnthropic(model=name, api_key="k", **{"base_url": "https://api.anthropic.com", **more})


OPENAI = "https://api.openai.com/v1"
GATEWAY = "https://gateway.example/v1"
KEYED = {"prompt_cache_key": "KEY"}
EPHEMERAL: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
HOUR: dict[str, Any] = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


@pytest.mark.parametrize(
    ("model", "cache", "delivery", "settings"),
    [
        (Model(), "5m", ("", "", "system"), {}),
        (OpenAi(), "5m", ("gpt-5.4", "", "developer"), KEYED),
        (OpenAi(), None, ("gpt-5.4", "", "developer"), {}),
        (OpenAi(openai_api_base=OPENAI), "1h", ("gpt-5.4", "api.openai.com/v1", "developer"), KEYED),
        (OpenAi(openai_api_base=GATEWAY), "5m", ("gpt-5.4", "gateway.example/v1", "user"), {}),
        (OpenAi(root_client=SimpleNamespace(base_url=GATEWAY)), "5m", ("gpt-5.4", "gateway.example/v1", "user"), {}),
        (Elsewhere(), "5m", ("gpt-5.4", "", "user"), {}),
        (claude(), "5m", ("claude-opus-4-8", "api.anthropic.com", "system"), EPHEMERAL),
        (claude(), "1h", ("claude-opus-4-8", "api.anthropic.com", "system"), HOUR),
        (claude("claude-sonnet-4-6"), "5m", ("claude-sonnet-4-6", "api.anthropic.com", "user"), EPHEMERAL),
        (claude(base_url=GATEWAY), None, ("claude-opus-4-8", "gateway.example/v1", "user"), {}),
    ],
)
def test_each_kind_of_model_is_sent_what_it_takes(
    tmp_path: Path, model: Any, cache: Any, delivery: tuple[str, str, str], settings: dict[str, Any]
) -> None:
    card = langgraph.Cuecard(engine=Shop(tmp_path).engine, cache=cache)
    said: list[BaseMessage] = [HumanMessage("go", id="1"), answer(("tool_search", "a"), ("own", "b"))]
    said += [ToolMessage('{"tools": ["refund_order"]}', tool_call_id="a"), given("b")]
    said += [AIMessage("ok"), HumanMessage("on", id="2")]
    own = SystemMessage("Answer in one sentence.")

    hands = [refund_order, card.search_tool]
    ready = card.prepare(model, said[:1], hands, turn=Turn(ephemeral="ONCE"))
    ready = card.prepare(model, said[:4], hands, ready.cuecard)
    ready = card.prepare(model, said, hands, ready.after(AIMessage("ok")), turn=Turn(ephemeral="AGAIN"), system=own)

    told, role = ready.step.manifest.delivery, delivery[2]
    assert (told.model, told.endpoint, told.authority) == (delivery[0], delivery[1], role if delivery[0] else "unknown")
    assert {key: "KEY" if "key" in key else held for key, held in ready.settings.items()} == settings
    found, again = (_block(block.text, role) for block in ready.step.appended[-2:])
    assert "<refund_order>" in found.text
    assert "AGAIN" in again.text
    assert len(ready.step.appended) == 2
    assert [*map(_bare, ready.conversation)] == [*map(_bare, [*said[:4], found, *said[4:], again])]
    system = [ready.step.system.strip(), own.text]
    assert _bare(ready.system).content == ("" if isinstance(model, ChatAnthropic) else "\n\n").join(system)


def _block(text: str, role: str) -> BaseMessage:
    if role == "user":
        return HumanMessage(reminder(text))
    return SystemMessage(text, additional_kwargs={"__openai_role__": role} if role == "developer" else {})


def _bare(message: BaseMessage) -> BaseMessage:
    """A message without breakpoints and references."""
    return message.model_copy(update={"content": message.text})


PARTS: list[dict[str, Any]] = [{"type": "text", "text": "look"}, {"type": "image", "url": "u"}]


@pytest.mark.parametrize(
    ("said", "marked"),
    [
        ("hello", [{"type": "text", "text": "hello", **EPHEMERAL}]),
        (PARTS, [PARTS[0], {**PARTS[1], **EPHEMERAL}]),
        ([PARTS[1], PARTS[0]], [PARTS[1], {**PARTS[0], **EPHEMERAL}]),
        ("", ""),
        ([PARTS[0], {"type": "text", "text": ""}], [PARTS[0], {"type": "text", "text": ""}]),
        ([PARTS[0], "words"], [PARTS[0], "words"]),
        ([], []),
    ],
)
def test_claude_gets_a_breakpoint_behind_what_stays_in_front_of_a_text_of_one_turn(said: Any, marked: Any) -> None:
    card, model = langgraph.Cuecard(engine=engine("polyant")), claude()
    messages: list[BaseMessage] = [HumanMessage("before", id="0"), AIMessage("yes"), HumanMessage(said, id="1")]
    begun = card.prepare(model, messages[:1], turn=turn_of("polyant", OWN)).after(messages[1])
    sent = [
        [message.content for message in card.prepare(model, messages, cuecard=begun, turn=turn).conversation]
        for turn in (turn_of("polyant", OWN), turn_of("polyant", 0))
    ]

    first: Any = [{"type": "text", "text": "before", **EPHEMERAL}]
    assert sent[0][:-1] == [first, "yes", marked]
    assert sent[1] == [first, "yes", said]  # nothing of this turn leaves, so its end is no other than the request's
    uncached = langgraph.Cuecard(engine=engine("polyant"), cache=None)
    begun = uncached.prepare(model, messages[:1], turn=turn_of("polyant", OWN)).after(messages[1])
    plain = uncached.prepare(model, messages, cuecard=begun, turn=turn_of("polyant", OWN))
    assert [message.content for message in plain.conversation[:-1]] == ["before", "yes", said]


def test_a_turn_whose_text_stays_for_it_is_marked_once() -> None:
    card, model = langgraph.Cuecard(engine=engine("polyant")), claude()
    messages: list[BaseMessage] = [HumanMessage("before", id="0"), answer(("look", "a")), given("a")]
    begun = card.prepare(model, messages[:1], turn=turn_of("polyant", OWN))

    assert EPHEMERAL["cache_control"] in [part.get("cache_control") for part in begun.conversation[0].content]  # type: ignore[union-attr]  # parts
    again = card.prepare(model, messages, cuecard=begun.cuecard)
    assert [again.conversation[0], *again.conversation[2:]] == messages
    assert again.conversation[1:2] == begun.conversation[1:]


RULES = """\
agent: shop
sections: [{id: a, text: You help.}]
results:
  look: {text: "<{{{content}}}>", error: "<no {{{content}}}>"}
  page: "{{{result.title}}}"
"""


def test_each_result_is_told_by_the_rule_of_its_tool(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(RULES, encoding="utf-8")
    card = langgraph.Cuecard(engine=Engine.open(tmp_path))
    text: list[Any] = [{"type": "text", "text": "seen"}]
    picture: dict[str, Any] = {"content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]}
    said: list[BaseMessage] = [
        HumanMessage("go", id="1"),
        answer(("look", "a"), ("look", "b"), ("page", "c"), ("own", "d"), ("look", "")),
        ToolMessage("seen", tool_call_id="a", name="renamed"),
        ToolMessage("light", tool_call_id="b", status="error"),
        ToolMessage("raw", tool_call_id="c", artifact={"structured_content": {"title": "Home"}}),
        ToolMessage(text, tool_call_id="d"),
        ToolMessage([*text, PARTS[1]], tool_call_id="x", name="look"),
        ToolMessage(text, tool_call_id="y", name="look", artifact="of a tool"),
        ToolMessage(["se", "en"], tool_call_id="y", name="look"),
        ToolMessage("raw", tool_call_id="z", name="own", artifact={"structured_content": picture}),
        ToolMessage("of nobody's", tool_call_id=""),
    ]
    told = ["<seen>", "<no light>", "Home", text, [*text, PARTS[1]], "<seen>", '<["se", "en"]>']
    told += ["[image/png: not shown as text]", "of nobody's"]

    sent = card.prepare(Model(), said, []).conversation

    assert sent == [*said[:2], *(m.model_copy(update={"content": c}) for m, c in zip(said[2:], told, strict=True))]


@pytest.mark.parametrize("checks", [True, False])
def test_of_ended_turns_a_model_that_checks_its_thinking_is_sent_none(checks: bool) -> None:  # noqa: FBT001 - a parameter
    card, model = langgraph.Cuecard(engine=engine("polyant")), claude(f"claude-opus-{'5-5' if checks else '4-8'}")
    kinds = [{"type": kind} for kind in ("thinking", "redacted_thinking", "reasoning")]
    text = {"type": "text", "text": "so"}
    calls = [tool_call(name="look", args={}, id="a")]
    said: list[BaseMessage] = [HumanMessage("what?", id="0")]
    begun = card.prepare(model, said, turn=turn_of("polyant", OWN)).after(AIMessage("so"))
    said += [AIMessage([*kinds, text, "more"]), AIMessage([*kinds], tool_calls=calls), given("a"), AIMessage([*kinds])]
    said += [AIMessage([text]), AIMessage([]), HumanMessage("and?", id="1"), AIMessage([*kinds, text])]

    sent = card.prepare(model, said, cuecard=begun, turn=turn_of("polyant", 0)).conversation

    bare: list[Any] = ["what?", [text, "more"], "", "ok", [text], "(no answer)", "and?", [*kinds, text]]
    whole: list[Any] = ["what?", [*kinds, text, "more"], [*kinds], "ok", [*kinds], [text], "(no answer)", "and?"]
    assert [message.content for message in sent] == (bare if checks else [*whole, [*kinds, text]])
    assert [message.tool_calls for message in sent if isinstance(message, AIMessage)][1] == calls


@pytest.mark.parametrize("first", ["hello", "\ud800", ["hello"]])
def test_a_message_without_an_id_is_known_by_its_words_and_its_place(tmp_path: Path, first: Any) -> None:
    calls = list[Any]()
    card, stored = langgraph.Cuecard(engine=Shop(tmp_path).engine, on_call=calls.append), None
    hello, done = HumanMessage(first), AIMessage("\ud800", tool_calls=[tool_call(name="own", args={}, id="a")])
    for said in ([hello], [hello, done, given("a")], [hello, done, given("a"), AIMessage("ok"), hello]):
        stored = card.prepare(Model(), said, [], stored).after(done)
        card.prepare(Model(), said, [], stored)
    assert [call.turn for call in calls] == [0, 1]
    other = card.prepare(Model(), [hello, done, given("a"), AIMessage("ok"), HumanMessage("other")], [], stored)
    assert other.step.call is not None
    assert other.step.call.turn == 2
