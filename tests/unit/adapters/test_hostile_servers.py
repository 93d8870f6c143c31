"""Tool servers that die, hang, flood, or say what is no MCP: one clear error or a recorded drop each, and no raw one.

Each is a real process that speaks by hand over its pipes.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from cuecard import Problem, ToolCard, ToolResult
from cuecard.adapters.mcp_client.client import open_server
from cuecard.files import server_process
from cuecard.files.server_process import ServerCommand
from cuecard.types import ToolServerError
from unit.adapters.hostile_server import CALLS, LISTS

FOLDER = Path(__file__).parent
PATIENT, SHORT = 20.0, 1.0
HANGS = {"hangs in list", "slow pages", "hangs in call", "bytes in call", "batch", "questions without end"}
"""Those whose answer never comes, or is none that can be told from a line for people: the time limit ends the wait."""

ERRORS = {
    "dies in list": "server-died",
    "hangs in list": "server-timeout",
    "bytes in list": "server-output",
    "endless line": "server-output",
    "endless pages": "server-pages",
    "slow pages": "server-timeout",
    "errors and death": "server-died",
    "tools is a text": "server-output",
    "20000 tools": "server-pages",
    "a million values": "server-output",
    "cursor is a number": "server-output",
    "questions without end": "server-timeout",
    "batch": "server-timeout",
    "half a message": "server-output",
    "version of the future": "server-output",
    "dies in call": "server-died",
}
FINE: dict[str, tuple[list[str], int]] = {
    "fine": (["read"], 0),
    "no json in list": (["read"], 0),
    "bytes at once": (["read"], 0),
    "flood in list": (["read"], 0),
    "another id": (["read"], 0),
    "5 MB description": (["other"], 1),
    "duplicates": (["read", "other"], 1),
    "no schema": (["other"], 1),
    "schema is a text": (["other"], 1),
    "name is a number": (["other"], 1),
    "deep schema": (["other"], 1),
    "endless number in schema": (["other"], 1),
    "NaN in schema": (["other"], 1),
    "half a character in schema": (["read", "other"], 0),
    "properties is a list": (["other"], 1),
    "a tool is a text": (["other"], 4),
    "standard error without end": (["read"], 0),
    "output schema that takes years": (["read"], 0),
    "answers twice": (["read"], 0),
}
_NOT_JSON = "the tool's answer is nested more than 64 levels deep, or is not JSON"
REFUSED = {
    "5 MB result": "the tool answered with 5,242,880 characters; at most 1,048,576 are supported",
    "20 MB result": "the tool server answered with a line of more than 8,388,608 bytes",
    "result is a text": "the tool server answered with a result that is not an object",
    "result is nothing": "the tool server answered with a result that is not an object",
    "a thousand blocks": "the tool server answered with 1,001 blocks; at most 1,000 are supported",
    "deep result": _NOT_JSON,
    "very deep result": _NOT_JSON,
    "endless number": _NOT_JSON,
    "infinity": _NOT_JSON,
    "code of a dead server": "not today",
    "code of a silent server": "not today",
    "error is a text": "the tool server answered with an error that is not valid JSON-RPC",
    "no": "m" * 99_999,
    "hangs in call": "the tool did not answer within 1 s",
    "bytes in call": "the tool did not answer within 1 s",
}
READ = {"NUL and ESC": "a[31mb", "surrogates and NUL": "ab"}


@pytest.fixture(autouse=True)
def little_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of them never go by themselves."""
    monkeypatch.setattr(server_process, "GRACE", 0.1)


def talk(way: str) -> tuple[tuple[ToolCard, ...], list[Problem], ToolResult]:
    """The tools of a server, those that were dropped, and the result of a call."""
    timeout = SHORT if way in HANGS else PATIENT

    async def talk_with_it() -> tuple[tuple[ToolCard, ...], list[Problem], ToolResult]:
        start = ServerCommand([sys.executable, "hostile_server.py", way], {}, FOLDER, timeout, "assistant.yaml")
        async with open_server(start) as server:
            cards = await server.tools()
            return cards, server.dropped, await server.call("read", {})

    return asyncio.run(talk_with_it())


def test_every_way_is_tried() -> None:
    assert {*LISTS, *CALLS, "fine", "bytes at once", "version of the future"} == {
        *ERRORS,
        *FINE,
        *REFUSED,
        *READ,
        "content is odd",
    }


@pytest.mark.parametrize("way", ERRORS)
def test_a_server_with_which_nothing_can_be_done_is_one_clear_error(way: str) -> None:
    with pytest.raises(ToolServerError) as caught:
        talk(way)

    [problem] = caught.value.problems
    assert (problem.code, problem.name) == (ERRORS[way], "assistant.yaml")
    assert len(str(caught.value)) < 10_000


@pytest.mark.parametrize("way", FINE)
def test_what_can_be_used_is_used_and_what_is_dropped_is_recorded(way: str) -> None:
    cards, dropped, result = talk(way)

    assert ([card.name for card in cards], len(dropped)) == FINE[way]
    assert {(each.code, each.severity, each.name) for each in dropped} <= {("server-tool", "warning", "assistant.yaml")}
    called = "a tool without a name is " if way in {"name is a number", "a tool is a text"} else "`read` "
    assert all(each.message.startswith(called) for each in dropped)
    assert result == ToolResult("read", "fine")


@pytest.mark.parametrize("way", REFUSED)
def test_an_answer_that_cannot_be_used_is_a_result_that_says_so_and_the_conversation_continues(way: str) -> None:
    assert talk(way)[2] == ToolResult("read", REFUSED[way], is_error=True)


@pytest.mark.parametrize(("way", "result"), READ.items())
def test_no_control_character_gets_into_a_result(way: str, result: str) -> None:
    assert talk(way)[2] == ToolResult("read", result)


def test_an_answer_whose_content_is_odd_is_reported_with_its_place_and_without_what_it_holds() -> None:
    result = talk("content is odd")[2]

    assert result.is_error
    assert str(result.result).startswith("the tool server answered with a message that is not valid MCP: `content.0")
    assert "smell" not in str(result.result)


def test_the_next_call_is_answered_after_one_that_was_not() -> None:
    async def call_twice() -> tuple[ToolResult, ToolResult]:
        start = ServerCommand([sys.executable, "hostile_server.py", "20 MB result"], {}, FOLDER, PATIENT)
        async with open_server(start) as server:
            return await server.call("read", {}), await server.call("read", {})

    first, second = asyncio.run(call_twice())

    assert first == second
    assert first.is_error


def test_a_late_answer_is_discarded_and_the_next_call_gets_its_own() -> None:
    async def call_twice() -> list[ToolResult]:
        start = ServerCommand([sys.executable, "hostile_server.py", "late once"], {}, FOLDER, SHORT)
        async with open_server(start) as server:
            first = await server.call("read", {"wait": 2 * SHORT, "say": "late"})
            await asyncio.sleep(1.2 * SHORT)
            return [first, await server.call("read", {"say": "in time"})]

    assert asyncio.run(call_twice()) == [
        ToolResult("read", "the tool did not answer within 1 s", is_error=True),
        ToolResult("read", "in time"),
    ]


def test_lines_that_are_not_messages_are_counted_where_an_answer_never_comes() -> None:
    with pytest.raises(ToolServerError, match="1 lines on its standard output were not MCP messages"):
        talk("batch")
