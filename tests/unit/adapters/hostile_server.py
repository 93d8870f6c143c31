"""A tool server that misbehaves in the ways it is told: `python hostile_server.py WAY...`. It speaks MCP by hand.

A call of its tool ends a way, and the next one begins.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

WAY = sys.argv[1] if len(sys.argv) > 1 else "fine"
TOOL = {"name": "read", "description": "Reads.", "inputSchema": {"type": "object"}}
MEGABYTES = 5 * 1024 * 1024


def raw(data: bytes) -> None:
    """Write bytes, whatever they are."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def send(message: Any) -> None:
    """Write one message."""
    raw(json.dumps(message).encode() + b"\n")


def answer(number: Any, result: Any) -> None:
    """Answer a request."""
    send({"jsonrpc": "2.0", "id": number, "result": result})


def tools(listed: Any) -> Callable[[Any], None]:
    """Answer `tools/list` with this."""
    return lambda number: answer(number, {"tools": listed})


def result(value: Any) -> Callable[[Any], None]:
    """Answer `tools/call` with this."""
    return lambda number: answer(number, value)


def text(value: str) -> dict[str, Any]:
    """The result of a tool that says a text."""
    return {"content": [{"type": "text", "text": value}]}


def endless_pages(number: Any) -> None:
    """Another page, and another."""
    time.sleep(0)
    answer(number, {"tools": [TOOL], "nextCursor": str(number)})


def slow_pages(number: Any) -> None:
    """Another page, and another, each of them soon enough."""
    time.sleep(0.5)
    answer(number, {"tools": [], "nextCursor": str(number)})


def flood(number: Any) -> None:
    """Notifications without end, then the answer."""
    for count in range(5_000):
        message = {"level": "info", "data": f"line {count}"}
        send({"jsonrpc": "2.0", "method": "notifications/message", "params": message})
    tools([TOOL])(number)


def endless_line(_number: Any) -> None:
    """A line that never ends."""
    while True:
        raw(b"x" * 65_536)


def asks_first(number: Any) -> None:
    """A ping, and the list once it is answered."""
    send({"jsonrpc": "2.0", "id": "p", "method": "ping"})
    tools([TOOL] if json.loads(sys.stdin.readline()) == {"jsonrpc": "2.0", "id": "p", "result": {}} else [])(number)


def errors(_number: Any) -> None:
    """Much on standard error, and death."""
    for _ in range(2_000):
        sys.stderr.write("y" * 10_000 + "\n")
    sys.exit(3)


def no_json(number: Any) -> None:
    """A line for people, then the answer."""
    raw(b"Traceback: no\n")
    tools([TOOL])(number)


def another_id(number: Any) -> None:
    """An answer to a question that nobody asked, then the answer."""
    answer(number + 1000, {"tools": []})
    tools([TOOL])(number)


def spelled(number: Any, schema: str) -> None:
    """Answer `tools/list` with a tool of this schema, letter by letter, and one that is fine."""
    first = json.dumps(TOOL).replace('{"type": "object"}', schema)
    other = json.dumps({**TOOL, "name": "other"})
    raw(b'{"jsonrpc": "2.0", "id": %d, "result": {"tools": [%b, %b]}}\n' % (number, first.encode(), other.encode()))


def told(number: Any, value: str) -> None:
    """Answer `tools/call` with this as its structured content, letter by letter."""
    raw(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":%b}}\n' % (number, value.encode()))


def refuse(number: Any, code: int) -> None:
    """Answer with an error."""
    send({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": "not today"}})


def questions(number: Any) -> None:
    """Ask without end, and never read what is answered."""
    while True:
        send({"jsonrpc": "2.0", "id": f"q{number}", "method": "ping"})


def much_said(number: Any) -> None:
    """100 MB on standard error, in one line, then the answer."""
    for _ in range(1_600):
        sys.stderr.write("y" * 65_536)
    tools([TOOL])(number)


YEARS = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}, "required": ["a"]}
LISTS: dict[str, Callable[[Any], object]] = {
    "dies in list": lambda _: sys.exit(3),
    "hangs in list": lambda _: time.sleep(600),
    "bytes in list": lambda _: raw(b'{"jsonrpc": "2.0", "id": 1, "result": {"\xff\xfe": 1}}\n'),
    "no json in list": no_json,
    "flood in list": flood,
    "endless line": endless_line,
    "endless pages": endless_pages,
    "slow pages": slow_pages,
    "errors and death": errors,
    "5 MB description": lambda number: answer(
        number, {"tools": [{**TOOL, "description": "z" * MEGABYTES}, {**TOOL, "name": "other"}]}
    ),
    "duplicates": tools([TOOL, {**TOOL, "description": "Other."}, {**TOOL, "name": "other"}]),
    "no schema": tools([{"name": "read"}, {**TOOL, "name": "other"}]),
    "schema is a text": tools([{**TOOL, "inputSchema": "object"}, {**TOOL, "name": "other"}]),
    "tools is a text": tools("read"),
    "name is a number": tools([{**TOOL, "name": 7}, {**TOOL, "name": "other"}]),
    "10001 tools": lambda number: answer(number, {"tools": [{**TOOL, "name": f"t{n}"} for n in range(10_001)]}),
    "another id": another_id,
    "asks first": asks_first,
    "deep schema": lambda number: spelled(number, '{"a":' * 500 + "1" + "}" * 500),
    "endless number in schema": lambda number: spelled(number, '{"type": "object", "maximum": ' + "9" * 9_000 + "}"),
    "NaN in schema": lambda number: spelled(number, '{"type": "object", "maximum": NaN}'),
    "half a character in schema": lambda number: spelled(number, '{"type": "object", "title": "a\\ud800b"}'),
    "a tool is a text": tools(["read", {**TOOL, "name": "other"}, None, 7, []]),
    "properties is a list": tools(
        [{**TOOL, "inputSchema": {"type": "object", "properties": []}}, {**TOOL, "name": "other"}]
    ),
    "a million values": lambda number: spelled(number, "[" + "{}," * 1_000_000 + "{}]"),
    "cursor is a number": lambda number: answer(number, {"tools": [TOOL], "nextCursor": 7}),
    "questions without end": questions,
    "batch": lambda number: send([{"jsonrpc": "2.0", "id": number, "result": {"tools": [TOOL]}}]),
    "half a message": lambda number: raw(b'{"jsonrpc": "2.0", "id": %d, "result": \n' % number),
    "standard error without end": much_said,
    "output schema that takes years": tools([{**TOOL, "outputSchema": YEARS}]),
}
CALLS: dict[str, Callable[[Any], object]] = {
    "dies in call": lambda _: sys.exit("out of memory"),
    "hangs in call": lambda _: time.sleep(600),
    "bytes in call": lambda _: raw(b'{"\xff": 1}\n'),
    "5 MB result": lambda number: answer(number, text("w" * MEGABYTES)),
    "result is a text": result("done"),
    "result is nothing": result(None),
    "a thousand blocks": result({"content": [{"type": "text", "text": ""}] * 1_001}),
    "deep result": lambda number: told(number, '{"a":' * 80 + "1" + "}" * 80),
    "very deep result": lambda number: told(number, '{"a":' * 5_000 + "1" + "}" * 5_000),
    "endless number": lambda number: told(number, '{"a": ' + "9" * 9_000 + "}"),
    "infinity": lambda number: told(number, '{"a": 1e999}'),
    "20 MB result": lambda number: answer(number, text("w" * 4 * MEGABYTES)),
    "code of a dead server": lambda number: refuse(number, -32000),
    "code of a silent server": lambda number: refuse(number, -32001),
    "error is a text": lambda number: send({"jsonrpc": "2.0", "id": number, "error": "no"}),
    "answers twice": lambda number: [result(text("fine"))(number) for _ in range(1_000)],
    "content is odd": result({"content": [{"type": "smell", "text": 1}]}),
    "surrogates and NUL": lambda number: raw(
        b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"a\\ud800\\u0000b"}]}}\n' % number
    ),
    "no": lambda number: send({"jsonrpc": "2.0", "id": number, "error": {"code": -1, "message": "m" * 99_999}}),
    "NUL and ESC": result(text("a\0\x1b[31mb")),
}


def serve() -> None:
    """Answer until the client goes."""
    way, later = WAY, sys.argv[2:]
    for line in sys.stdin:
        message = json.loads(line)
        assert None not in message.values(), "strict servers refuse null where JSON-RPC has a structure or nothing"
        number, method = message.get("id"), message.get("method")
        if method == "initialize":
            if way == "bytes at once":
                raw(b"\xff\xfe\n")
            version = "3026-01-01" if way == "version of the future" else message["params"]["protocolVersion"]
            about = {"name": "hostile", "version": "1"}
            answer(number, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about})
        elif method == "tools/list":
            LISTS.get(way, tools([TOOL]))(number)
        elif method == "tools/call" and way == "late once":
            said = message["params"]["arguments"]
            time.sleep(said.get("wait", 0))
            result(text(said["say"]))(number)
        elif method == "tools/call":
            CALLS.get(way, result(text("fine")))(number)
            way = later.pop(0) if later else way


if __name__ == "__main__":
    serve()
