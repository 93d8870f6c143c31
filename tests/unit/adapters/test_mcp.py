"""Tool servers, well and ill: real processes where a process is the point, the same protocol in memory elsewhere."""

from __future__ import annotations

import asyncio
import json
import math
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp import types
from mcp.client.client import Client
from mcp.types.version import LATEST_MODERN_VERSION

from cms_agent import cms
from cuecard import Problem, ToolResult
from cuecard.adapters import mcp_lines
from cuecard.adapters.mcp_client.answers import MAX_TOOLS, read_result
from cuecard.adapters.mcp_client.client import ToolServer, open_server
from cuecard.adapters.mcp_client.errors import UNREADABLE
from cuecard.adapters.mcp_client.transport import Gate, GateOutcome
from cuecard.adapters.mcp_lines import LastWords
from cuecard.files.server_process import ServerCommand
from cuecard.types import ToolServerError
from unit.adapters.odd_server import NAMES, odd_server

FOLDER = Path(__file__).parent
Result = TypeVar("Result")
Use = Callable[[ToolServer], Awaitable[Result]]


def command(*arguments: str, timeout: float = 20) -> ServerCommand:
    return ServerCommand([sys.executable, *arguments], {}, FOLDER, timeout, "assistant.yaml")


def use(start: ServerCommand, work: Use[Result]) -> Result:
    async def work_with_it() -> Result:
        async with open_server(start) as server:
            return await work(server)

    return asyncio.run(work_with_it())


def use_in_memory(work: Use[Result], **options: Any) -> Result:
    async def work_with_it() -> Result:
        async with Client(odd_server(**options), mode="legacy") as client:
            return await work(ToolServer(client, command(), LastWords()))

    return asyncio.run(work_with_it())


def error_of(start: ServerCommand) -> str:
    with pytest.raises(ToolServerError) as caught:
        use(start, lambda server: server.tools())
    return str(caught.value)


def test_a_command_that_does_not_exist_is_named() -> None:
    start = ServerCommand(["no-such-command", "--data", "x"], {}, FOLDER, name="assistant.yaml")

    assert error_of(start) == (
        "assistant.yaml: error[server-start]: the tool server cannot be started:"
        " `no-such-command`: no such file or directory\n"
        "  = install the command, or change `server.command`"
    )


def test_a_command_that_ends_at_once_is_quoted_with_its_last_words() -> None:
    program = "import sys; sys.exit('no \\x1b[31mdatabase')"

    assert error_of(command("-c", program)) == (
        "assistant.yaml: error[server-died]: the tool server exited, or closed its output\n"
        f"  = it runs: {sys.executable} -c {program}\n"
        "  = it said: no ‹U+001B›[31mdatabase\n"
        "  = start it by hand for details"
    )


def test_a_command_that_never_answers_is_abandoned() -> None:
    program = "import sys; sys.stdin.read()"

    assert error_of(command("-c", program, timeout=0.3)) == (
        "assistant.yaml: error[server-timeout]: the tool server did not answer within 0.3 s\n"
        f"  = it runs: {sys.executable} -c {program}\n"
        "  = find out what it waits for, or raise `server.timeout`"
    )


def test_a_server_that_dies_in_a_call_is_a_clear_error_with_its_last_words() -> None:
    with pytest.raises(ToolServerError) as caught:
        use(command("hostile_server.py", "dies in call"), lambda server: server.call("read", {}))

    assert "error[server-died]" in str(caught.value)
    assert "it said: out of memory" in str(caught.value)


def test_an_error_of_the_caller_comes_out_unchanged() -> None:
    async def fail(_server: ToolServer) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        use(command("hostile_server.py"), fail)


def test_tools_are_listed_over_all_pages_with_their_source() -> None:
    cards = use_in_memory(lambda server: server.tools())

    assert [card.name for card in cards] == [*NAMES]
    assert {(card.description, card.source) for card in cards[:1]} == {("The tool text", "assistant.yaml")}
    assert cards[0].input_schema == {"type": "object"}


def test_a_server_that_lists_its_tools_in_a_cycle_is_refused() -> None:
    async def list_them(server: ToolServer) -> None:
        with pytest.raises(ToolServerError) as caught:
            await server.tools()
        assert str(caught.value) == (
            "assistant.yaml: error[server-pages]: the server's list of tools is circular or endless\n"
            "  = each cursor must lead to a new page; at most 200 pages and 10,000 tools are read"
        )

    use_in_memory(list_them, circle=True)
    asked: list[str] = []
    use_in_memory(list_them, endless=asked)
    assert len(asked) == 200


WITH_PICTURE: dict[str, Any] = {
    "content": [
        {"type": "text", "text": "two lines\nof text"},
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    ]
}


def test_text_is_the_result_where_there_is_no_structure() -> None:
    result = use_in_memory(lambda server: server.call("text", {}))

    assert result == ToolResult("text", WITH_PICTURE)
    rendered = cms().render_result(result)
    assert rendered.text == "two lines\nof text\n[image/png: not shown as text]"
    assert rendered.media == (WITH_PICTURE["content"][1],)


def test_what_a_tool_refuses_is_a_result_that_says_so() -> None:
    result = use_in_memory(lambda server: server.call("refuse", {}))

    assert result == ToolResult("refuse", WITH_PICTURE, is_error=True)


@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        ([types.TextContent(type="text", text="one"), types.TextContent(type="text", text="two")], "one\ntwo"),
        ([types.ResourceLink(type="resource_link", name="Plan", uri="file:///plan.md")], "Plan: file:///plan.md"),
        (
            [types.EmbeddedResource(type="resource", resource=types.TextResourceContents(uri="a:b", text="the text"))],
            "the text",
        ),
    ],
)
def test_blocks_without_pictures_are_a_text(blocks: list[types.ContentBlock], told: str) -> None:
    assert read_result("look", types.CallToolResult(content=blocks)) == ToolResult("look", told)


def test_a_picture_may_be_longer_than_what_a_model_reads_as_text() -> None:
    picture = types.ImageContent(type="image", data="iVBO" * 300_000, mime_type="image/png")
    text = types.TextContent(type="text", text="x" * 1_100_000)

    assert not read_result("look", types.CallToolResult(content=[picture])).is_error
    assert read_result("look", types.CallToolResult(content=[picture, text])).is_error


def test_a_tool_that_raises_in_the_server_is_a_result_that_says_so() -> None:
    result = use_in_memory(lambda server: server.call("boom", {}))

    assert result.is_error


def an_error(number: int | str, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=message))


def a_result(number: int | str, **result: Any) -> types.JSONRPCResponse:
    return types.JSONRPCResponse(jsonrpc="2.0", id=number, result=result)


NO_SERVICES = "this client provides no services to servers"
WRONG_VERSION = f"an unsupported MCP version: {'v' * 40}"
NOTHING = GateOutcome()
BLOCKS = [{"type": "text", "text": ""}] * 1_000
ABOUT = {"capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}


@pytest.mark.parametrize(
    ("asked", "said", "outcome"),
    [
        ("ping", {"id": 1, "result": {}}, GateOutcome((a_result(1),))),
        ("ping", {"id": "1", "result": {}}, NOTHING),
        ("ping", {"id": 2, "result": {}}, NOTHING),
        ("ping", {"result": {}}, NOTHING),
        ("ping", {"method": "notifications/progress"}, NOTHING),
        ("ping", {"id": None, "method": "ping"}, NOTHING),
        ("ping", {"id": True, "result": {}}, NOTHING),
        ("ping", {"id": 1.0, "result": {}}, NOTHING),
        ("ping", {"id": True, "method": "ping"}, NOTHING),
        ("ping", {"id": 1, "method": "ping"}, GateOutcome(reply=a_result(1))),
        ("ping", {"id": "a", "method": "roots/list"}, GateOutcome(reply=an_error("a", -32601, NO_SERVICES))),
        ("ping", {"id": "a" * 200, "method": "ping"}, GateOutcome(reply=a_result("a" * 200))),
        ("ping", {"id": "a" * 201, "method": "ping"}, NOTHING),
        ("ping", {"id": 1, "error": {"code": -5, "message": "no"}}, GateOutcome((an_error(1, -5, "no"),))),
        ("ping", {"id": 1, "error": {"code": -32099, "message": "no"}}, GateOutcome((an_error(1, -32603, "no"),))),
        (
            "ping",
            {"id": 1, "error": {"code": "5", "message": "no"}},
            GateOutcome((an_error(1, UNREADABLE, "an error that is not valid JSON-RPC"),)),
        ),
        (
            "ping",
            {"id": 1, "error": {"code": 5}},
            GateOutcome((an_error(1, UNREADABLE, "an error that is not valid JSON-RPC"),)),
        ),
        ("ping", {"id": 1, "result": []}, GateOutcome((an_error(1, UNREADABLE, "a result that is not an object"),))),
        (
            "tools/list",
            {"id": 1, "result": {"tools": "read"}},
            GateOutcome((an_error(1, UNREADABLE, "a list of tools that is not a list"),)),
        ),
        ("tools/call", {"id": 1, "result": {"content": BLOCKS}}, GateOutcome((a_result(1, content=BLOCKS),))),
        (
            "tools/call",
            {"id": 1, "result": {"content": [*BLOCKS, BLOCKS[0]]}},
            GateOutcome((an_error(1, UNREADABLE, "1,001 blocks; at most 1,000 are supported"),)),
        ),
        ("skills/list", {"id": 1, "result": {"odd": 1}}, GateOutcome((a_result(1, odd=1),))),
        (
            "initialize",
            {"id": 1, "result": {"protocolVersion": "2025-06-18", **ABOUT}},
            GateOutcome((a_result(1, protocolVersion="2025-06-18", **ABOUT),)),
        ),
        (
            "initialize",
            {"id": 1, "result": {"protocolVersion": "v" * 41, **ABOUT}},
            GateOutcome((an_error(1, UNREADABLE, WRONG_VERSION),)),
        ),
        (
            "server/discover",
            {"id": 1, "result": {"supportedVersions": ["2020-01-01"], **ABOUT}},
            GateOutcome((an_error(1, UNREADABLE, "unsupported MCP versions"),)),
        ),
        (
            "server/discover",
            {"id": 1, "result": {"supportedVersions": LATEST_MODERN_VERSION, **ABOUT}},
            GateOutcome((an_error(1, UNREADABLE, "unsupported MCP versions"),)),
        ),
    ],
)
def test_only_what_was_asked_for_passes_the_gate(asked: str, said: Any, outcome: GateOutcome) -> None:
    gate = Gate("--mcp")
    gate.sent(types.JSONRPCRequest(jsonrpc="2.0", id=1, method=asked))
    line = json.dumps({"jsonrpc": "2.0", **said}).encode()

    assert gate.received(line) == outcome
    assert gate.strays == 0
    if outcome.answers:
        assert gate.received(line) == NOTHING


def test_what_cannot_be_read_ends_all_that_waits_and_what_is_for_people_is_counted() -> None:
    gate = Gate("--mcp")
    for number in (1, "2", 3):
        gate.sent(types.JSONRPCRequest(jsonrpc="2.0", id=number, method="ping"))
    for cancelled in ({"requestId": 3}, {"requestId": 4}, {}):
        params = dict[str, Any](cancelled) or None
        gate.sent(types.JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=params))
    gate.sent(types.JSONRPCNotification(jsonrpc="2.0", method="notifications/progress", params={"requestId": 1}))
    broken = b'{"jsonrpc": "2.0", "id": 1, "result": \xff}'

    assert [gate.received(line) for line in (b"", b"\r", b"a line", b"[]")] == [NOTHING] * 4
    assert gate.strays == 2
    assert gate.received(broken) == GateOutcome(
        tuple(an_error(number, UNREADABLE, "bytes that are not UTF-8") for number in (1, "2"))
    )
    assert gate.received(broken) == NOTHING


def test_of_a_tool_only_what_is_used_passes_and_the_one_too_many_shows_that_there_are_too_many() -> None:
    gate, schema = Gate("--mcp"), {"type": "object"}
    tools = [{"name": f"t{n}", "inputSchema": schema, "outputSchema": 7, "title": "x"} for n in range(MAX_TOOLS + 2)]
    tools[1] |= {"description": "Reads.", "_meta": {"a": 1}}
    tools[2] |= {"name": "n" * 65, "inputSchema": 7}
    for number, listed in enumerate((tools[:3], tools[:1] * (MAX_TOOLS + 2))):
        gate.sent(types.JSONRPCRequest(jsonrpc="2.0", id=number, method="tools/list"))
        line = {"jsonrpc": "2.0", "id": number, "result": {"tools": listed}}
        (answer,) = gate.received(json.dumps(line).encode()).answers
        assert isinstance(answer, types.JSONRPCResponse)
        if number:
            assert len(answer.result["tools"]) == MAX_TOOLS + 1
        else:
            first = {"name": "t0", "inputSchema": schema}
            second = {"name": "t1", "description": "Reads.", "inputSchema": schema, "_meta": {"a": 1}}
            assert answer.result == {"tools": [first, second]}
    wrong = "`tools.0.inputSchema`: Input should be a valid dictionary or instance of InputSchema"
    message = f"`{'n' * 64}` is not a valid MCP tool: {wrong}"
    assert gate.dropped == [Problem("server-tool", message, "the tool is dropped", "--mcp", severity="warning")]


@pytest.mark.parametrize("more", ["[" * 3, "{" * 3, "," * 3, "[{,"])
def test_a_message_has_as_many_values_as_it_may(more: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_lines, "MAX_VALUES", 5)
    line = b'{"jsonrpc": "2.0", "a": "%s"}'

    assert mcp_lines.read_message(line % more.encode()) == {"jsonrpc": "2.0", "a": more}
    for one in "[{,":
        with pytest.raises(mcp_lines.TooMuchError, match=r"^a message of more than 5 values$"):
            mcp_lines.read_message(line % f"{more}{one}".encode())


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (r'["a\ud800", "\udfffb\n", "\ud83d\ude00", "\\ud800"]', ["a", "b\n", "\U0001f600", "\\ud800"]),
        (f"[1, {'9' * 999}, {'9' * 1_000}, -{'9' * 1_000}, 2]", [1, int("9" * 999), "nan", "nan", 2]),
        (f"[{'9' * 5_000}, 2]", ["nan", 2]),
        (f"[{'9' * 5_000}, {'[' * 97}3{']' * 97}]", ["nan", *[[["ends"]]]]),
        (f"[{'[' * 300}{']' * 300}, 2, {'[' * 300}1, 2{']' * 300}, 3]", ["cut", 2, "cut", 3]),
    ],
)
def test_what_json_allows_and_the_parser_does_not_is_left_out(said: str, read: list[Any]) -> None:
    line = b'{"jsonrpc": "2.0", "a": %s, "b": "\\ud800c"}' % said.encode()
    found = mcp_lines.read_message(line)

    assert found
    assert (found["jsonrpc"], found["b"], len(found["a"])) == ("2.0", "c", len(read))
    for value, wanted in zip(found["a"], read, strict=True):
        if wanted == "nan":
            assert math.isnan(value)
        elif wanted == "cut":
            assert depth_of(value) == 98
        elif isinstance(wanted, list):
            assert depth_of(value) == 97
        else:
            assert value == wanted


def depth_of(value: Any) -> int:
    return 1 + depth_of(value[0]) if isinstance(value, list) and value else 0


def test_what_is_no_mcp_behind_the_gate_is_one_clear_error_too() -> None:
    class Odd:
        session: Any = None

        async def list_tools(self, cursor: str | None) -> types.ListToolsResult:
            return types.ListToolsResult.model_validate({"tools": cursor, "nextCursor": 7})

        async def send_request(self, *_: Any) -> types.CallToolResult:
            return types.CallToolResult.model_validate({})

    odd: Any = Odd()
    odd.session, start = odd, command("x.py")
    server = ToolServer(odd, start, LastWords())
    with pytest.raises(ToolServerError) as caught:
        asyncio.run(server.tools())

    told = "the tool server's answer is not valid MCP: `nextCursor`: Input should be a valid string (and 1 more)"
    out = "standard output is reserved for MCP; report it to the server's authors"
    hint = f"it runs: {sys.executable} x.py\n{out}"
    assert caught.value.problems == (Problem("server-output", told, hint, "assistant.yaml"),)
    wrong = "the tool's answer is not a valid MCP result"
    assert asyncio.run(server.call("read", {})) == ToolResult("read", wrong, is_error=True)
