"""Functions as tools: their definitions, and what calls of them are answered, whatever a model or a function does."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from cms_agent import cms
from cuecard import Conversation, Engine, InputError, Problem, Step, ToolCard, ToolResult, Turn, watch
from cuecard.adapters.function_tools import definitions
from cuecard.adapters.functions import Functions
from unit.reload.demo import QUICK

ROOT = Path(__file__).parents[4]


@dataclass
class Page:
    id: str
    title: str


def cms_createPage(title: str, day: date | None = None, tags: list[str] | None = None) -> dict[str, Any]:  # noqa: N802 - tools are named as the CMS names them
    """Make a page; this says less than the file."""
    return {"success": True, "page": Page("p-1", title), "day": day, "tags": tags}


def shout(text: str) -> str:
    """Say it aloud."""
    return text.upper()


async def waits(seconds: float = 0.0) -> str:
    await asyncio.sleep(seconds)
    return "waited"


def begun(functions: Any, *found: str) -> tuple[Functions, Conversation, Step]:
    """Tools, and a conversation in which the search has found these."""
    tools = Functions(cms(), functions)
    return tools, *begun_with(tools, *found)


def begun_with(tools: Functions, *found: str) -> tuple[Conversation, Step]:
    chat = tools.engine.conversation()
    chat.user(Turn(tools=tools.names))
    step = chat.step([ToolResult("tool_search", {"tools": list(found)}, "call-0")] if found else [])
    return chat, step


LIMIT = "ask for 1 to 50 tools; 8 are usual"


@cache
def shouting() -> Functions:
    return Functions(cms(), [shout])


def test_definitions_say_what_the_files_and_the_functions_say() -> None:
    tools = Functions(cms(), [cms_createPage, shout])
    search, page, loud = tools.definitions("anthropic")

    assert tools.names == ("tool_search", "cms_createPage", "shout")
    assert search == {
        "name": "tool_search",
        "description": cms().tools["tool_search"].description,
        "input_schema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": cms().words.search.query_description},
                "limit": {"type": "integer", "description": cms().words.search.limit_description},
            },
            "required": ["query"],
        },
    }
    assert page["description"] == "Create an empty page"
    assert page["input_schema"]["properties"]["title"] == {"type": "string"}
    assert page["input_schema"]["required"] == ["title"]
    assert loud == {
        "name": "shout",
        "description": "Say it aloud.",
        "input_schema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
    }


def test_every_form_contains_name_description_and_schema() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    card = ToolCard("t", "does", schema)

    assert definitions([card], "anthropic") == [{"name": "t", "description": "does", "input_schema": schema}]
    assert definitions([card], "gemini") == [{"name": "t", "description": "does", "parametersJsonSchema": schema}]
    assert definitions([card], "bedrock")[0]["toolSpec"]["inputSchema"] == {"json": schema}
    assert definitions([card], "chat")[0]["function"]["parameters"] == schema
    assert definitions([card], "responses") == [
        {"type": "function", "name": "t", "description": "does", "parameters": schema, "strict": False}
    ]
    assert definitions([ToolCard("t")], "bedrock") == [
        {"toolSpec": {"name": "t", "inputSchema": {"json": {"type": "object", "properties": {}}}}}
    ]
    with pytest.raises(InputError) as caught:
        definitions([card, "t"], "openai")  # type: ignore[list-item, arg-type]
    assert [problem.name for problem in caught.value.problems] == ["cards[1]", "form"]
    with pytest.raises(InputError) as caught:
        definitions([card, "t"], "chat")  # type: ignore[list-item]
    assert [problem.name for problem in caught.value.problems] == ["cards[1]"]


def test_a_call_gives_plain_json_whatever_the_function_returns() -> None:
    tools, chat, step = begun([cms_createPage], "cms_createPage")
    arguments = {"title": "Home", "day": "2026-11-22", "tags": ["a"]}
    done = tools.answer(chat, step, "cms_createPage", arguments, "c")

    assert done == tools.answer(chat, step, "cms_createPage", json.dumps(arguments), "c")
    assert done.arguments == arguments
    assert done.result == {
        "success": True,
        "page": {"id": "p-1", "title": "Home"},
        "day": "2026-11-22",
        "tags": ["a"],
    }
    chat.step([done])
    assert [entity.name for entity in chat.memory.entities] == ["Home"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "title: Missing required argument"),
        ("", "title: Missing required argument"),
        ({"title": "a", "day": "tomorrow"}, "day: Input should be a valid date or datetime, input is too short"),
        ({"tags": 7}, "title: Missing required argument; tags: Input should be a valid list"),
        ({"title": "a", "tags": ["b", 1]}, "tags.1: Input should be a valid string"),
        ({"title": "a", "other": 1}, "other: Unexpected keyword argument"),
        (
            "{",
            "arguments: JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        ),
        ("[1]", "arguments: not an object"),
        ("7", "arguments: not an object"),
        (None, "arguments: not an object"),
        (7, "arguments: not an object"),
    ],
)
def test_arguments_that_do_not_fit_are_reported_to_the_model(arguments: Any, told: str) -> None:
    tools, chat, step = begun([cms_createPage], "cms_createPage")
    result = tools.answer(chat, step, "cms_createPage", arguments, "c")

    assert result == ToolResult("cms_createPage", told, "c", is_error=True, arguments=arguments)
    chat.step([result])


def test_the_search_knows_only_the_functions() -> None:
    tools, chat, step = begun([cms_createPage])
    found = tools.answer(chat, step, "tool_search", {"query": "create a page"}, "c")
    nothing = tools.answer(chat, step, "tool_search", {"query": "delete a page"}, "d")

    assert found.result["tools"] == ["cms_createPage"]
    assert nothing.result["tools"] == []
    wrong = [({"query": "x", "limit": number}, f"a search cannot return {number} tools: {LIMIT}") for number in (0, 51)]
    for asked, told in [*wrong, ({}, "query: Field required")]:
        refused = tools.answer(chat, step, "tool_search", asked, "e")
        assert refused == ToolResult("tool_search", told, "e", is_error=True, arguments=asked)
    for name in ("cms_deletePage", "nobody"):
        told = f"`{name}` is not active. Call `tool_search` with what you want to do, then use what it finds."
        assert tools.answer(chat, step, name, {}, "e") == ToolResult(name, told, "e", is_error=True, arguments={})
    nameless: Any = None  # as some servers send a call that broke off
    assert tools.answer(chat, step, nameless, {}, "e").result.startswith("`?` is not active. Call `tool_search`")


def test_the_engine_with_the_functions_is_made_once() -> None:
    tools = Functions(cms(), [shout])

    assert tools.serve().engine is tools.engine


def test_of_what_a_function_raises_the_model_reads_the_type_alone() -> None:
    def broken() -> None:
        raise InputError([])

    def failing() -> None:
        raise LookupError("postgres://user:s3cret@db")

    def checking() -> None:
        TypeAdapter(int).validate_python("s3cret")

    tools, chat, step = begun([broken, failing, checking], "broken", "failing", "checking")

    told = [tools.answer(chat, step, name, {}, "c") for name in ("failing", "broken", "checking")]
    assert [(each.result, each.is_error) for each in told] == [
        ("LookupError", True),
        ("InputError", True),
        ("ValidationError", True),
    ]


def test_a_host_says_what_becomes_of_an_exception() -> None:
    def failing() -> None:
        raise LookupError("gone")

    def answered(handling: Any) -> ToolResult:
        tools = Functions(cms(), [failing], handle_tool_errors=handling)
        return tools.answer(*begun_with(tools, "failing"), "failing", {}, "c")

    assert answered("It failed.") == ToolResult("failing", "It failed.", "c", is_error=True)
    assert answered(lambda error: f"no: {error}").result == "no: gone"
    with pytest.raises(LookupError):
        answered(handling=False)


def test_values_that_are_not_json_become_json() -> None:
    loop: list[Any] = []
    loop.append(loop)
    values: list[Any] = [b"\xff", object(), float("nan"), {1: 2}, {"a", "b"}, loop, "\ud800", Path("a"), None, ""]
    tools, chat, step = begun({f"t_{n}": partial(lambda value: value, value) for n, value in enumerate(values)})
    chat.step([ToolResult("tool_search", {"tools": [*tools.names]}, "call-0")])
    step = chat.step()
    results = [tools.answer(chat, step, f"t_{n}", {}, f"c{n}") for n in range(len(values))]
    chat.step(results)

    assert [result.is_error for result in results].count(True) <= 2  # what contains itself, and half a character
    texts = [chat.render_result(result).text for result in results]
    assert all(text and text.encode("utf-8", "replace") for text in texts)


def test_asynchronous_functions_are_awaited() -> None:
    tools, chat, step = begun([waits, shout], "waits", "shout")
    with pytest.raises(InputError) as caught:
        tools.answer(chat, step, "waits", {}, "c")
    hint = "await `functions.aanswer` instead"
    assert caught.value.problems == (Problem("wrong-argument", "`waits` is asynchronous", hint, "name"),)

    async def both() -> list[ToolResult]:
        calls: list[tuple[str, Any]] = [
            ("waits", {"seconds": 0.0}),
            ("shout", {"text": "a"}),
            ("waits", {"seconds": "soon"}),
        ]
        return [await tools.aanswer(chat, step, name, arguments, "c") for name, arguments in calls]

    soon = "seconds: Input should be a valid number, unable to parse string as a number"
    assert asyncio.run(both()) == [
        ToolResult("waits", "waited", "c", arguments={"seconds": 0.0}),
        ToolResult("shout", "A", "c", arguments={"text": "a"}),
        ToolResult("waits", soon, "c", is_error=True, arguments={"seconds": "soon"}),
    ]


def test_what_can_be_no_tool_is_refused_with_every_place() -> None:
    def positional(a: int, /) -> None: ...
    def unknown(a: object) -> None: ...
    def odd(a: Callable[[], int]) -> None: ...

    with pytest.raises(InputError) as caught:
        Functions("cms", [shout, 7, shout, positional, odd], handle_tool_errors=7)  # type: ignore[arg-type, list-item]

    assert [problem.name for problem in caught.value.problems] == [
        *("engine", "functions[1]", "functions[2]", "functions[3]", "functions[4]", "handle_tool_errors"),
    ]
    told = "`functions[4]` cannot be a tool: Cannot generate a JsonSchema for core_schema.CallableSchema"
    assert caught.value.problems[4].message == told
    assert Functions(cms(), [unknown]).names[1:] == ("unknown",)
    for wrong in ("shout", 7, None):
        with pytest.raises(InputError):
            Functions(cms(), wrong)  # type: ignore[arg-type]


def test_names_that_no_tool_may_have_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        Functions(cms(), {"a b": shout, "": shout, "x" * 65: shout, "ok-1": shout})

    assert len(caught.value.problems) == 3


def test_a_search_tool_of_your_own_takes_the_place_of_ours() -> None:
    def tool_search(query: str) -> list[str]:
        return ["cms_createPage"]

    tools, chat, step = begun([tool_search, cms_createPage])

    assert tools.names == ("tool_search", "cms_createPage")
    assert tools.answer(chat, step, "tool_search", {"query": "x"}, "c").result == ["cms_createPage"]


@pytest.mark.repeats
def test_hundreds_of_functions_are_tools_like_a_few() -> None:
    tools, chat, step = begun({f"tool_{n:04}": shout for n in range(400)})

    assert len(tools.definitions("chat")) == 401
    found = tools.answer(chat, step, "tool_search", {"query": "say aloud"}, "c")
    after = chat.step([found])
    assert set(found.result["tools"]) <= set(after.active_tools)


@given(name=st.text(max_size=90), arguments=st.one_of(st.text(), st.dictionaries(st.text(), st.integers())))
def test_whatever_a_model_calls_is_answered(name: str, arguments: Any) -> None:
    tools = shouting()
    chat, step = begun_with(tools, "shout")
    result = tools.answer(chat, step, name, arguments, "c")

    assert result.is_error or name in tools.names
    assert chat.render_result(result).text
    chat.step([result])


def test_a_name_that_nobody_knows_is_not_sent_to_a_search_that_is_not_offered(tmp_path: Path) -> None:
    text = "agent: a\ntools: {instructions: t.yaml, core: all}\nsections: [{id: s, text: '{{{activeProtocols}}}'}]\n"
    (tmp_path / "agent.yaml").write_text(text)
    (tmp_path / "t.yaml").write_text("tools: {shout: {before: Ask.}}\n")
    tools = Functions(Engine.open(tmp_path), [shout])

    assert (
        tools.answer(*begun_with(tools), "shuot", {}, "c").result
        == "Nothing is left to find: use the tools that are active."
    )


def helped(tools: Functions, chat: Conversation | None) -> Conversation:
    """The conversation after a message of the user, as the pages of providers have it."""
    mine = tools.serve(previous=chat.call if chat else None)
    made = mine.conversation(chat.state if chat else None)
    made.user(mine.turn())
    return made


@pytest.mark.parametrize("policy", ["next-conversation", "next-call", "now"])
def test_functions_follow_the_files_by_the_policy(tmp_path: Path, policy: str) -> None:
    agent = tmp_path / "agent.yaml"
    agent.write_text(f"agent: a\nreload: {policy}\ndelivery: append\nsections: [{{id: role, text: You help.}}]\n")
    with watch(agent, states=tmp_path / "states", pace=QUICK) as watcher:
        tools = Functions(watcher, [shout])
        chat = helped(tools, None)
        first = chat.step().system
        seen = watcher.status.number
        agent.write_text(agent.read_text().replace("You help.", "You work."))
        while watcher.status.number == seen:
            time.sleep(0.01)

        within = tools.serve(call=chat.call)
        assert (within.engine.sha256 == watcher.current.sha256) is (policy == "now")
        assert "shout" in within.engine.tools

        chat = helped(tools, chat)
        step = chat.step()

    assert (step.system == first) is (policy == "next-conversation")
    assert ("You work." in step.system) is (policy != "next-conversation")
    assert step.manifest.configuration.reload == policy
    assert tools.answer(chat, step, "tool_search", {"query": "aloud"}, "c").result["tools"] == ["shout"]


def test_functions_and_entries_are_compared(tmp_path: Path) -> None:
    (tmp_path / "tools.yaml").write_text("tools: {shuot: {description: Say it aloud, before: Breathe in.}}")
    (tmp_path / "agent.yaml").write_text(
        "agent: a\ntools: {instructions: tools.yaml}\nsections: [{id: a, text: '{{{activeProtocols}}}'}]\n"
    )
    tools = Functions(Engine.open(tmp_path), [shout]).serve()

    with pytest.warns(UserWarning, match="entry `shuot` has no tool; did you mean `shout`"):
        turn = tools.turn()

    assert [each.code for each in turn.diagnostics] == ["unmatched_tools"]


def test_a_call_beside_the_first_tool_is_not_too_early_and_one_in_front_of_it_is(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        "agent: shop\nrun: {first_tool: greet}\ntools: {core: [greet, shout]}\nsections: [{id: role, text: A shop.}]\n"
    )

    def greet() -> str:
        """Greet."""
        return "hello"

    tools = Functions(Engine.open(tmp_path), [greet, shout])
    chat = tools.conversation()
    chat.user(tools.turn())
    step = chat.step()
    early = tools.answer(chat, step, "shout", {"text": "a"}, "1")
    first = tools.answer(chat, step, "greet", {}, "2")
    beside = tools.answer(chat, step, "shout", {"text": "a"}, "3")

    assert (early.is_error, first.result, beside.result) == (True, "hello", "A")
    assert tools.answer(chat, step, "shout", {"text": "b"}, "4", beside=["greet"]).result == "B"
