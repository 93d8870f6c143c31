"""Tool servers that die, hang, flood, or say what is no MCP: one clear error or a recorded drop each, and no raw one.

Each is a real process that speaks by hand over its pipes.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from cuecard.errors import Problem, ToolServerError
from cuecard.model import ToolCard, ToolResult
from cuecard.outside.mcp import ServerCommand, open_server
from unit.adapters.hostile_server import CALLS, LISTS

FOLDER = Path(__file__).parent
PATIENT, SHORT = 20.0, 1.5
HANGS = {"hangs in list", "endless line", "hangs in call", "deep schema"}
HANGS |= {"result is a text", "result is nothing", "surrogates and NUL", "bytes in list", "bytes in call"}
"""Those whose answer never comes, or is none that can be told from one: the time limit ends the wait."""

ERRORS = {
    "dies in list": "server-died",
    "hangs in list": "server-timeout",
    "bytes in list": "server-output",
    "endless line": "server-timeout",
    "endless pages": "server-pages",
    "errors and death": "server-died",
    "no schema": "server-output",
    "schema is a text": "server-output",
    "tools is a text": "server-output",
    "name is a number": "server-output",
    "20000 tools": "server-pages",
    "deep schema": "server-timeout",
    "dies in call": "server-died",
    "hangs in call": "server-timeout",
    "bytes in call": "server-output",
    "result is a text": "server-timeout",
    "result is nothing": "server-timeout",
    "surrogates and NUL": "server-timeout",
    "bytes at once": "server-output",
}
FINE: dict[str, tuple[list[str], int]] = {
    "fine": (["read"], 0),
    "no json in list": (["read"], 0),
    "flood in list": (["read"], 0),
    "another id": (["read"], 0),
    "5 MB description": (["other"], 1),
    "duplicates": (["read", "other"], 1),
}
REFUSED = {
    "5 MB result": "the tool answered with 5,242,880 characters; at most 1,048,576 can be read",
    "content is odd": "the tool answered with something that is no result of MCP",
    "no": "m" * 99_999,
}


def talk(way: str) -> tuple[tuple[ToolCard, ...], list[Problem], ToolResult]:
    """The tools of a server, those that were dropped, and the result of a call."""
    timeout = SHORT if way in HANGS or way == "bytes at once" else PATIENT

    async def talk_with_it() -> tuple[tuple[ToolCard, ...], list[Problem], ToolResult]:
        start = ServerCommand([sys.executable, "hostile_server.py", way], {}, FOLDER, timeout, "assistant.yaml")
        async with open_server(start) as server:
            cards = await server.tools()
            return cards, server.dropped, await server.call("read", {})

    return asyncio.run(talk_with_it())


def test_every_way_is_tried() -> None:
    assert {*LISTS, *CALLS, "fine", "bytes at once"} == {*ERRORS, *FINE, *REFUSED, "NUL and ESC"}


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
    assert {problem.code for problem in dropped} <= {"server-tool"}
    assert result == ToolResult("read", "fine")


@pytest.mark.parametrize("way", REFUSED)
def test_an_answer_that_cannot_be_used_is_a_result_that_says_so_and_the_conversation_goes_on(way: str) -> None:
    assert talk(way)[2] == ToolResult("read", REFUSED[way], is_error=True)


def test_no_control_character_gets_into_a_result() -> None:
    assert talk("NUL and ESC")[2] == ToolResult("read", "a[31mb")
