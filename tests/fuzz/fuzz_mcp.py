"""Whatever a tool server writes becomes answers to what was asked, problems, or nothing; never an exception."""

from __future__ import annotations

import json
from contextlib import suppress

from mcp.types import CallToolResult, JSONRPCError, JSONRPCRequest, JSONRPCResponse, ListToolsResult
from pydantic import ValidationError

from cuecard import Problem, SpecError, ToolCard
from cuecard.adapters.mcp_client.answers import read_result, read_tool
from cuecard.adapters.mcp_client.transport import Gate
from cuecard.adapters.mcp_lines import Lines
from fuzz.drawn import check_told
from fuzz.json_pieces import PIECES as JSON

METHODS = ("initialize", "tools/list", "tools/call", "server/discover", "skills/list", "resources/read", "prompts/list")
"""What is asked; the numbers of the requests are their places."""

PIECES = (
    *(
        *JSON,
        '"jsonrpc": "2.0"',
        '"id": ',
        '"error": ',
        '"code": ',
        '"message": ',
        '"method": "ping"',
        '"nextCursor": ',
    ),
    *('"supportedVersions": ', '"protocolVersion": ', '"isError": ', '"structuredContent": ', '"contents": ', "\r\n"),
)
PHRASES = (
    *('{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}}', "\n"),
    *(
        '{"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": "',
        '"}], "structuredContent": {}}}',
    ),
    *('{"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-06-18", "capabilities": {}}}', "listening\n"),
    *('{"jsonrpc": "2.0", "id": 3, "result": {"supportedVersions": 5}}', '{"jsonrpc": "2.0", "id": 4, "error": {}}'),
    *('{"jsonrpc": "2.0", "id": "x", "method": "ping"}', '{"jsonrpc": "2.0", "method": "x"}', "[" * 150, "]" * 150),
)


def target(data: bytes) -> None:
    """Read one input as what a server writes, in pieces of odd sizes."""
    gate, lines = Gate("server"), Lines()
    for number, method in enumerate(METHODS):
        gate.sent(JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params={}))
    for start in range(0, len(data), 777):
        for line in lines.feed(data[start : start + 777]):
            passed = gate.received(line)
            for answer in passed.answers:
                assert isinstance(answer, (JSONRPCResponse, JSONRPCError))
                if isinstance(answer, JSONRPCResponse):
                    use(METHODS[int(answer.id)], answer)
    if gate.dropped:
        check_told(SpecError(gate.dropped))


def use(method: str, answer: JSONRPCResponse) -> None:
    """Make tools and results of an answer that has passed, as the client does."""
    if method == "tools/list":
        known: dict[str, ToolCard] = {}
        for tool in ListToolsResult.model_validate(answer.result).tools:
            card = read_tool(tool, known, "server")
            if isinstance(card, Problem):
                check_told(SpecError(card))
            else:
                known[card.name] = card
    if method == "tools/call":
        with suppress(ValidationError):
            json.dumps(read_result("a", CallToolResult.model_validate(answer.result)).result, allow_nan=False)
