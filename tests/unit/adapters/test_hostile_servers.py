"""Tool servers that die, hang, flood, or say what is no MCP: one clear error or a recorded drop each, and no raw one.

Each is a real process that speaks by hand over its pipes.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TypeAlias

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

DIED = "server-died", "the tool server exited, or closed its output"
SILENT = "server-timeout", "the tool server did not answer within 1 s"
ENDLESS = "server-pages", "the server's list of tools is circular or endless"
WROTE = "the tool server wrote"
ERRORS = {
    "dies in list": DIED,
    "hangs in list": SILENT,
    "bytes in list": ("server-output", f"{WROTE} bytes that are not UTF-8"),
    "endless line": ("server-output", f"{WROTE} a line of more than 8,388,608 bytes"),
    "endless pages": ENDLESS,
    "slow pages": SILENT,
    "errors and death": DIED,
    "tools is a text": ("server-output", f"{WROTE} a list of tools that is not a list"),
    "10001 tools": ENDLESS,
    "a million values": ("server-output", f"{WROTE} a message of more than 1,000,000 values"),
    "cursor is a number": (
        "server-output",
        f"{WROTE} a message that is not valid MCP: `nextCursor`: Input should be a valid string",
    ),
    "questions without end": SILENT,
    "batch": SILENT,
    "half a message": (
        "server-output",
        f"{WROTE} output that is not JSON: EOF while parsing a value at line 1 column 38",
    ),
    "version of the future": ("server-output", f"{WROTE} an unsupported MCP version: 3026-01-01"),
    "dies in call": DIED,
}
HINTS = {
    "server-died": "start it by hand for details",
    "server-timeout": "find out what it waits for, or raise `server.timeout`",
    "server-output": "standard output is reserved for MCP; report it to the server's authors",
    "server-pages": "each cursor must lead to a new page; at most 200 pages and 10,000 tools are read",
}
_DEEP = "`read` has an input schema that is nested more than 64 levels deep, or is not JSON"
_INVALID = "`read` is not a valid MCP tool: `tools.0.inputSchema"
_NAMELESS = "a tool without a name is not a valid MCP tool: `tools.0"
FINE: dict[str, tuple[list[str], list[str]]] = {
    "fine": (["read"], []),
    "no json in list": (["read"], []),
    "bytes at once": (["read"], []),
    "flood in list": (["read"], []),
    "another id": (["read"], []),
    "asks first": (["read"], []),
    "5 MB description": (["other"], ["`read` has a definition of 5,242,910 characters; at most 65,536"]),
    "duplicates": (["read", "other"], ["`read` is listed twice"]),
    "no schema": (["other"], [f"{_INVALID}`: Field required"]),
    "schema is a text": (["other"], [f"{_INVALID}`: Input should be a valid dictionary or instance of InputSchema"]),
    "name is a number": (["other"], [f"{_NAMELESS}.name`: Input should be a valid string"]),
    "deep schema": (["other"], [f"{_INVALID}.type`: Field required"]),
    "endless number in schema": (["other"], [_DEEP]),
    "NaN in schema": (["other"], [_DEEP]),
    "half a character in schema": (["read", "other"], []),
    "properties is a list": (["other"], [f"{_INVALID}.properties`: Input should be a valid dictionary"]),
    "a tool is a text": (["other"], [f"{_NAMELESS}`: Input should be a valid dictionary or instance of Tool"] * 4),
    "standard error without end": (["read"], []),
    "output schema that takes years": (["read"], []),
    "answers twice": (["read"], []),
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
    "content is odd": "the tool server answered with a message that is not valid MCP: "
    "`content.0.TextContent.text`: Input should be a valid string (and 12 more)",
    "bytes in call": "the tool did not answer within 1 s",
    "hangs in call": "the tool did not answer within 1 s",
}
"""Errors with their places, and without what an answer holds."""
STRAY = "its standard output were not MCP messages"
READ = {"NUL and ESC": "a[31mb", "surrogates and NUL": "ab"}


@pytest.fixture(autouse=True)
def little_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of them never go by themselves."""
    monkeypatch.setattr(server_process, "GRACE", 0.1)


Said: TypeAlias = dict[str, tuple[tuple[ToolCard, ...], list[Problem], ToolResult]]


def talk(*ways: str) -> Said:
    """By way, the tools of one server, those that were dropped, and the result of a call."""
    timeout = SHORT if HANGS & {*ways} else PATIENT
    said: Said = {}

    async def talk_with_it() -> None:
        start = ServerCommand([sys.executable, "hostile_server.py", *ways], {}, FOLDER, timeout, "assistant.yaml")
        async with open_server(start) as server:
            for way in ways:
                cards = await server.tools()
                said[way] = cards, [*server.dropped], await server.call("read", {})

    asyncio.run(talk_with_it())
    return said


def test_every_way_is_tried() -> None:
    ways = {*LISTS, *CALLS, "fine", "bytes at once", "version of the future"}

    assert ways == {*ERRORS, *FINE, *REFUSED, *READ}


@pytest.mark.parametrize("way", ERRORS)
def test_a_server_with_which_nothing_can_be_done_is_one_clear_error(way: str) -> None:
    with pytest.raises(ToolServerError) as caught:
        talk(way)

    [problem] = caught.value.problems
    code, message = ERRORS[way]
    hint = f"1 lines on {STRAY}; {HINTS[code]}" if way == "batch" else HINTS[code]
    assert (problem.code, problem.message, problem.name) == (code, message, "assistant.yaml")
    *more, last = problem.hint.splitlines()
    assert last == hint
    if code != "server-pages":
        assert more[0] == f"it runs: {sys.executable} hostile_server.py {way}"
        said = {"errors and death": [f"it said: {'y' * 500}"] * 7, "dies in call": ["it said: out of memory"]}
        assert more[1:] == said.get(way, [])
    assert len(str(caught.value)) < 10_000


AT_ONCE = "bytes at once"
"""What a server does before it is asked for anything, which the ways of others would not notice."""


@pytest.mark.parametrize("ways", [[AT_ONCE], [way for way in FINE if way != AT_ONCE]], ids=["at once", "asked"])
def test_what_can_be_used_is_used_and_what_is_dropped_is_recorded(ways: list[str]) -> None:
    for way, (cards, dropped, result) in talk(*ways).items():
        names, messages = FINE[way]
        twice = "the first is used; report to the server's authors that names must be unique"
        hint = twice if way == "duplicates" else "the tool is dropped"

        assert (way, [card.name for card in cards]) == (way, names)
        assert dropped == [
            Problem("server-tool", message, hint, "assistant.yaml", severity="warning") for message in messages
        ]
        assert (way, result) == (way, ToolResult("read", "fine"))


@pytest.mark.parametrize("hangs", [False, True], ids=["answered", "in vain"])
def test_an_answer_that_cannot_be_used_is_a_result_that_says_so_and_the_conversation_continues(*, hangs: bool) -> None:
    told = {way: ToolResult("read", text, is_error=True) for way, text in REFUSED.items() if (way in HANGS) == hangs}

    assert {way: result for way, (*_, result) in talk(*told).items()} == told


def test_no_control_character_gets_into_a_result() -> None:
    assert {way: result for way, (*_, result) in talk(*READ).items()} == {
        way: ToolResult("read", text) for way, text in READ.items()
    }


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
