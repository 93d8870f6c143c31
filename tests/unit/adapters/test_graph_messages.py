"""What a model is sent of a graph's messages, message for message, and what refused calls leave in them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest
from pydantic import create_model

from cuecard import Engine, InputError, Problem, Turn
from cuecard.adapters import langgraph
from cuecard.adapters.bodies import reminder
from cuecard.adapters.function_tools import search_card
from cuecard.adapters.langgraph.messages import called_together, refusing, with_refused
from cuecard.adapters.langgraph.tools import described, name_of
from unit.adapters.graph_models import Model
from unit.adapters.one_turn_hosts import OWN, engine, turn_of
from unit.adapters.shop import AGENT, TOOLS, Shop
from unit.adapters.test_graph_doors import list_orders, own_tool, refund_order

pytestmark = pytest.mark.filterwarnings("ignore:agent `shop`. entry:UserWarning")  # their tools are others
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
    if isinstance(model, ChatAnthropic):
        assert ready.system.content[-1] == {"type": "text", "text": own.text}


class Claude(OpenAi):
    """One that LangChain's own package for Claude does not make."""

    model_name: str = "claude-opus-4-8"

    @property
    def _llm_type(self) -> str:
        return "anthropic-chat"


ADDRESSES = ["anthropic_api_url", "openai_api_base", "azure_endpoint", "base_url", "endpoint_url", "groq_api_base"]


@pytest.mark.parametrize(
    ("name", "address"),
    [
        *((name, "base_url") for name in ("model_name", "model_id", "deployment_name")),
        *(("model", address) for address in ADDRESSES),
    ],
)
def test_a_model_is_known_by_whatever_its_package_calls_its_name_and_its_address(
    tmp_path: Path, name: str, address: str
) -> None:
    fields: Any = {
        name: (str, "gpt-5.4"),
        address: (str, GATEWAY),
        "deployment_name": (str, "gpt-4"),
        "model": (Any, 7),
    }
    model = create_model("Other", __base__=Model, **{**fields, name: (str, "gpt-5.4")})()
    card = langgraph.Cuecard(engine=Shop(tmp_path).engine)

    told = card.prepare(model, [HumanMessage("x")]).step.manifest.delivery
    claude = card.prepare(Claude(), [HumanMessage("x")]).step.manifest.delivery

    assert (told.model, told.endpoint) == ("gpt-5.4", "gateway.example/v1")
    assert (claude.model, claude.endpoint, claude.authority) == ("claude-opus-4-8", "", "system")


def _block(text: str, role: str) -> BaseMessage:
    if role == "user":
        return HumanMessage(reminder(text))
    return SystemMessage(text, additional_kwargs={"__openai_role__": role} if role == "developer" else {})


def _bare(message: BaseMessage) -> BaseMessage:
    """A message without breakpoints, references and metadata."""
    return message.model_copy(update={"content": message.text, "response_metadata": {}})


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
        HumanMessage([*PARTS], id="1"),
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
    told = ["<seen>", "<no light>", "Home", text, [{**text[0], "text": "<seen>"}, PARTS[1]], "<seen>", '<["se", "en"]>']
    told += ["[image/png: not shown as text]", "of nobody's"]

    sent = card.prepare(Model(), said, []).conversation

    assert sent == [*said[:2], *(m.model_copy(update={"content": c}) for m, c in zip(said[2:], told, strict=True))]


@pytest.mark.parametrize("checks", [True, False])
def test_of_ended_turns_a_model_that_checks_its_thinking_is_sent_none(checks: bool) -> None:  # noqa: FBT001 - a parameter
    card, model = langgraph.Cuecard(engine=engine("polyant")), claude(f"claude-opus-{'5-5' if checks else '4-8'}")
    kinds = [{"type": kind} for kind in ("thinking", "redacted_thinking", "reasoning")]
    text = {"type": "text", "text": "so"}
    calls = [tool_call(name="look", args={}, id="a")]
    said: list[BaseMessage] = [HumanMessage("hello", id="a")]
    begun = card.prepare(model, said, turn=turn_of("polyant", 0)).after(AIMessage("so"))
    said += [AIMessage([*kinds, text]), HumanMessage("what?", id="0")]
    begun = card.prepare(model, said, cuecard=begun, turn=turn_of("polyant", OWN)).after(AIMessage("so"))
    said += [AIMessage([*kinds, text, "more"]), AIMessage([*kinds], tool_calls=calls), given("a"), AIMessage([*kinds])]
    said += [AIMessage([text]), AIMessage([]), HumanMessage("and?", id="1"), AIMessage([*kinds, text])]

    sent = card.prepare(model, said, cuecard=begun, turn=turn_of("polyant", 0)).conversation

    whole: list[Any] = [message.content or "(no answer)" for message in said]
    bare = [*whole[:3], [text, "more"], "", "ok", *whole[7:]]
    assert [message.content for message in sent] == (bare if checks else whole)
    assert [message.tool_calls for message in sent if isinstance(message, AIMessage)][2] == calls


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


LONG = """\
agent: shop
delivery: append
inputs: {os: {type: string}}
sections:
  - {id: role, text: ROLE}
  - {id: now, text: "On {{os}}."}
"""


def long(folder: Path, words: int, tool_length: int) -> tuple[langgraph.Cuecard, list[Any]]:
    """A card whose prompt has so many words that stay, and one tool described at such length."""
    (folder / "agent.yaml").write_text(LONG.replace("ROLE", "word " * words), encoding="utf-8")
    own = StructuredTool.from_function(lambda: "x", name="own", description="d" * tool_length)
    return langgraph.Cuecard(engine=Engine.open(folder)), [own]


@pytest.mark.parametrize(
    ("words", "tool_length", "marked"),
    [(100, 1, False), (100, 4500, False), (100, 4900, True), (1400, 1, False), (1800, 1, True)],
)
def test_claude_gets_breakpoints_in_the_system_prompt_where_they_pay(
    tmp_path: Path,
    words: int,
    tool_length: int,
    marked: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    card, tools = long(tmp_path, words, tool_length)
    own: list[Any] = [{"type": "text", "text": "Be brief."}]

    ready = card.prepare(
        claude("claude-sonnet-4-6"), [HumanMessage("x")], tools, turn=Turn({"os": "linux"}), system=SystemMessage(own)
    )

    text, mark = " ".join(["word"] * words), EPHEMERAL if marked else {}
    texts, system = [text, "On linux."], list[Any](ready.system.content)
    assert [(each["text"].strip(), {**each, "text": ""}) for each in system] == [
        *((each, {"type": "text", "text": "", **mark}) for each in texts),
        ("Be brief.", {"type": "text", "text": ""}),
    ]


def test_claude_takes_four_breakpoints_the_messages_own_first(tmp_path: Path) -> None:
    card, _ = long(tmp_path, 5000, 1)
    said: list[BaseMessage] = [HumanMessage("x", id="1")]

    def ask(stored: Any = None, **more: Any) -> langgraph.PreparedRequest:
        return card.prepare(claude(), said, cuecard=stored, turn=Turn({"os": "linux"}, **more))

    def marks(ready: langgraph.PreparedRequest) -> list[bool]:
        return ["cache_control" in each for each in ready.system.content]

    first = ask(ephemeral="ONCE")
    said += [AIMessage("ok"), HumanMessage("y", id="2")]
    second = ask(first.after(said[1]), ephemeral="AGAIN")
    said += [AIMessage("ok"), HumanMessage("z", id="3")]
    third = ask(second.after(said[3]))

    assert [marks(each) for each in (first, second, third)] == [[True, True], [True, False], [True, True]]
    uncached = langgraph.Cuecard(engine=card.engine, cache=None)
    assert marks(uncached.prepare(claude(), said[:1], turn=Turn({"os": "linux"}))) == [False, False]


FOUND = '{"tools": ["refund_order"]}'
REFERENCE = {"type": "tool_reference", "tool_name": "refund_order"}


@pytest.mark.parametrize("said", [FOUND, [{"type": "text", "text": FOUND}]])
def test_claude_gets_a_definition_in_the_first_result_that_names_it_while_that_is_there(
    tmp_path: Path, said: Any
) -> None:
    card, model = langgraph.Cuecard(engine=Shop(tmp_path).engine), claude()
    own = refund_order.model_copy(update={"extras": {"mine": 1}})
    hands = [own, card.search_tool, list_orders, own_tool]
    hello, ask = HumanMessage("go", id="1"), answer(("tool_search", "a"), ("own_tool", "b"))
    found, more = ToolMessage(said, tool_call_id="a"), given("b")

    first = card.prepare(model, [hello, ask, found, more], hands)
    again = ToolMessage(said, tool_call_id="c")
    second = card.prepare(model, [hello, ask, found, more, answer(("tool_search", "c")), again], hands, first.cuecard)
    cut = card.prepare(model, [hello, answer(("own_tool", "d")), given("d")], hands, second.cuecard)

    told = found.model_copy(update={"content": [{"type": "text", "text": FOUND}, REFERENCE]})
    for ready in (first, second):
        assert [message for message in ready.conversation if isinstance(message, ToolMessage)][:2] == [told, more]
        assert [(tool.name, tool.extras) for tool in ready.tools if isinstance(tool, BaseTool)] == [
            ("tool_search", None),
            ("list_orders", {"defer_loading": True}),
            ("own_tool", None),
            ("refund_order", {"mine": 1, "defer_loading": True}),
        ]
        assert ready.step.call is not None
        assert ready.step.call.host.front == ("tool_search", "own_tool")
    assert first.tools[1] is second.tools[1]
    assert again in second.conversation
    assert [tool.extras for tool in cut.tools if isinstance(tool, BaseTool)] == [
        None,
        {"defer_loading": True},
        None,
        {"mine": 1},
    ]
    other = refund_order.model_copy()
    assert card.prepare(model, [hello], [other]).tools[0].extras == {"defer_loading": True}  # type: ignore[union-attr]  # a tool


def test_what_a_message_brings_claude_gets_in_the_first_result_behind_it_that_is_no_error(tmp_path: Path) -> None:
    card, model = langgraph.Cuecard(engine=Shop(tmp_path).engine), claude()
    hands = [refund_order, card.search_tool, own_tool]
    said: list[BaseMessage] = [HumanMessage("go", id="1"), answer(("own_tool", "a")), given("a"), AIMessage("ok")]
    stored = card.prepare(model, said[:1], hands).after(said[3])
    said += [HumanMessage("pay", id="2"), answer(("own_tool", "b"), ("own_tool", "c"), ("own_tool", "d"))]
    said += [ToolMessage("no", tool_call_id="b", status="error"), given("c"), given("d")]

    ready = card.prepare(model, said, hands, stored, turn=Turn(ahead=("refund_order",)))

    results = [message for message in ready.conversation if isinstance(message, ToolMessage)]
    revealed = given("c").model_copy(update={"content": [{"type": "text", "text": "ok"}, REFERENCE]})
    assert results == [given("a"), said[6], revealed, given("d")]
    assert ready.step.brought == {"refund_order": 1}


# The tools


SCHEMA = {"properties": {"reason": {"description": "why"}}}


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        (list_orders, ("list_orders", "List the orders of a customer.", ("customer",))),
        ({"name": "own", "description": "Own.", "input_schema": SCHEMA}, ("own", "Own.", ("reason",))),
        ({"name": "own", "parameters": SCHEMA, "input_schema": {}}, ("own", "", ("reason",))),
        (
            {"type": "function", "function": {"name": "own", "description": "Own.", "parameters": SCHEMA}},
            ("own", "Own.", ("reason",)),
        ),
        ({"type": "function", "name": "own", "function": "text", "description": None}, ("own", "", ())),
        ({"type": "web_search"}, ("web_search", "", ())),
        ({"type": "web_search_20250305", "name": "web_search"}, ("web_search", "", ())),
        ({}, ("", "", ())),
    ],
)
def test_a_tool_is_known_by_what_it_says_in_whatever_form(tool: Any, told: tuple[str, str, tuple[str, ...]]) -> None:
    said = described(tool)

    assert (name_of(tool), said.description, tuple(name for name, _ in said.parameters)) == told
    assert said.name == told[0]


def test_tools_stand_in_the_order_of_the_conversation_whatever_other_conversations_had(tmp_path: Path) -> None:
    card = langgraph.Cuecard(engine=Shop(tmp_path).engine)

    def order(tools: list[Any], **turn: Any) -> list[str]:
        return [*map(name_of, card.prepare(Model(), [HumanMessage("x")], tools, turn=Turn(**turn)).tools)]

    hands, web = [own_tool, refund_order, card.search_tool], {"type": "a_web_search"}
    assert order(hands) == ["tool_search", "own_tool", "refund_order"]
    assert order([*hands[::-1], web]) == ["tool_search", "a_web_search", "own_tool", "refund_order"]
    assert order(hands, discovered=("refund_order",)) == ["refund_order", "own_tool"]  # nothing is left to find
    assert order([refund_order]) == ["refund_order"]


def test_the_search_tool_is_described_in_the_words_of_the_agent_file(tmp_path: Path) -> None:
    card = langgraph.Cuecard(engine=Shop(tmp_path).engine)
    search, words = card.search_tool, card.engine.words.search  # type: ignore[union-attr]  # an engine

    schema = search.tool_call_schema.model_json_schema()  # type: ignore[union-attr]  # a model
    assert (search.name, search.description) == ("tool_search", search_card(Shop(tmp_path).engine).description)
    assert schema["required"] == ["query"]
    assert {name: (held["description"], held.get("default", "")) for name, held in schema["properties"].items()} == {
        "query": (words.query_description, ""),
        "limit": (words.limit_description, None),
    }


def test_the_first_tool_is_forced_where_the_request_has_it(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    forcing = AGENT.replace("core: [", "core: [list_orders, ") + "run: {first_tool: list_orders, force_first: true}\n"
    shop.write(forcing, TOOLS)
    card, keyed = (
        langgraph.Cuecard(engine=shop.engine),
        {"prompt_cache_key": f"cuecard-{shop.engine.agent.sha256[:32]}"},
    )
    hello = HumanMessage("x", id="1")

    for model, settings in ((Model(), {}), (OpenAi(), keyed)):
        first = card.prepare(model, [hello], [refund_order, list_orders])
        said = [hello, answer(("list_orders", "a")), given("a")]
        assert first.settings == {**settings, "tool_choice": "list_orders"}
        assert card.prepare(model, said, [refund_order, list_orders], first.cuecard).settings == settings
        assert card.prepare(model, [hello], [refund_order]).settings == settings


# Calls that run


def request_of(name: str, state: Any) -> ToolCallRequest:
    call = tool_call(name=name, args={}, id="a")
    return ToolCallRequest(tool_call=call, tool=None, state=state, runtime=SimpleNamespace())  # type: ignore[arg-type]  # nobody looks at it


def fails(_: Any) -> Any:
    raise KeyError("secret")


def waits(_: Any) -> Any:
    raise GraphInterrupt


@pytest.mark.parametrize("shape", [dict, lambda held: SimpleNamespace(**held)], ids=["mapping", "object"])
def test_a_call_runs_is_refused_or_fails_as_the_host_wants(tmp_path: Path, shape: Any) -> None:
    card = langgraph.Cuecard(engine=Shop(tmp_path).engine, handle_tool_errors=True)
    ready = card.prepare(Model(), [HumanMessage("x", id="1")], [refund_order, own_tool])
    state = shape({"cuecard": ready.cuecard, "messages": [HumanMessage("x", id="1"), answer(("own_tool", "a"))]})

    def wrapped(name: str, run: Any, awaited: bool) -> Any:  # noqa: FBT001 - in a loop
        async def later(request: Any) -> Any:
            return run(request)

        request = request_of(name, state)
        return asyncio.run(card.awrap_tool_call(request, later)) if awaited else card.wrap_tool_call(request, run)

    refusal = "Nothing is left to find: use the tools that are active."  # the host has no search
    for awaited in (False, True):
        assert wrapped("own_tool", lambda _: given("a"), awaited) == given("a")
        told = ToolMessage("KeyError", name="own_tool", tool_call_id="a", status="error")
        assert wrapped("own_tool", fails, awaited) == told
        told = ToolMessage(refusal, name="refund_order", tool_call_id="a", status="error")
        assert wrapped("refund_order", fails, awaited) == told
        with pytest.raises(GraphInterrupt):
            wrapped("own_tool", waits, awaited)
    assert card.refusal("own_tool", shape({})) is None
    assert card.refusal("refund_order", shape({})) is not None


def test_a_conversation_whose_texts_are_elsewhere_cannot_be_made_whole(tmp_path: Path) -> None:
    ready = langgraph.Cuecard(engine=Shop(tmp_path).engine).prepare(Model(), [HumanMessage("x")])

    with pytest.raises(InputError) as caught:
        langgraph.Cuecard(engine=Shop(tmp_path).engine).whole(ready.cuecard)
    told = "the texts of this conversation are not to be had in this process"
    hint = "keep it in `card.channel`, or call this where the request was prepared"
    assert caught.value.problems == (Problem("bad-conversation", told, hint, "cuecard"),)


@pytest.mark.parametrize(
    ("turn", "model", "delivery"),
    [
        (Turn(model="gpt-5", endpoint=OPENAI), OpenAi(openai_api_base=GATEWAY), ("gpt-5", "api.openai.com/v1", "user")),
        (Turn(endpoint=GATEWAY), OpenAi(), ("gpt-5.4", "", "developer")),
        (Turn(authority="user"), OpenAi(), ("gpt-5.4", "", "user")),
        (Turn(authority="system"), claude("claude-sonnet-4-6"), ("claude-sonnet-4-6", "api.anthropic.com", "user")),
        (Turn(authority="user"), claude(), ("claude-opus-4-8", "api.anthropic.com", "user")),
        (Turn(model="gpt-5"), Model(), ("gpt-5", "", "developer")),
    ],
)
def test_what_a_turn_says_of_its_model_goes_before_what_the_model_says(
    tmp_path: Path, turn: Turn, model: Any, delivery: tuple[str, str, str]
) -> None:
    told = langgraph.Cuecard(engine=Shop(tmp_path).engine).prepare(model, [HumanMessage("x")], turn=turn).step.manifest

    assert (told.delivery.model, told.delivery.endpoint, told.delivery.authority) == delivery
