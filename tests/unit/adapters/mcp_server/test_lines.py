"""`cuecard mcp` as a process, written to by hand: every line is answered, whatever is in it, and so is the next one."""

from __future__ import annotations

import asyncio
import json
import os
import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine
from cuecard.adapters import mcp_stdio
from cuecard.adapters.mcp_lines import MAX_LINE, MAX_VALUES, id_in
from cuecard.adapters.mcp_server import FollowingServer
from cuecard.adapters.mcp_stdio import standard_streams
from forked import start

PARSE, INVALID = -32700, -32600
AGENT = """\
agent: helper
sections: [{id: role, text: "You help {{name}}."}]
inputs: {name: {type: string, default: Eve}}
"""
ABOUT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def request(number: object, method: str = "prompts/list", **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


HELLO = [request(0, "initialize", **ABOUT), b'{"jsonrpc": "2.0", "method": "notifications/initialized"}']


def with_text(number: int, text: bytes) -> bytes:
    """A request whose argument is spelled letter by letter."""
    return b'{"jsonrpc":"2.0","id":%d,"method":"prompts/get","params":{"name":"helper","arguments":{"name":%b}}}' % (
        number,
        text,
    )


LINES: dict[str, tuple[bytes, list[tuple[object, int]]]] = {
    "no JSON": (b"hello", [(None, PARSE)]),
    "cut short": (b'{"jsonrpc": "2.0", "id": 7, "method": "prompts/l', [(7, PARSE)]),
    "cut short before the id": (b'{"jsonrpc": "2.0", ', [(None, PARSE)]),
    "two messages in a line": (request(7) + request(8), [(7, PARSE)]),
    "bad UTF-8": (with_text(7, b'"a\xff\xfeb"'), [(7, PARSE)]),
    "bad UTF-8 alone": (b"\xff\xfe", [(None, PARSE)]),
    "an id of bad UTF-8": (b'{"jsonrpc": "2.0", "id": "\xff", "method": "ping"}', [(None, PARSE)]),
    "NUL": (b"\0", [(None, PARSE)]),
    "NUL in a text": (with_text(7, b'"a\0b"'), [(7, PARSE)]),
    "half a character": (with_text(7, b'"a\\ud800b"'), [(7, PARSE)]),
    "the id behind half a character": (b'{"jsonrpc":"2.0","method":"\\udfff","id":"seven"}', [("seven", PARSE)]),
    "deep": (with_text(7, b"[" * 5_000 + b"]" * 5_000), [(7, PARSE)]),
    "the id behind the depth": (
        b'{"jsonrpc":"2.0","method":"ping","params":{"a":' + b"[" * 9_000 + b"]" * 9_000 + b'},"id":7}',
        [(7, PARSE)],
    ),
    "depth that never closes": (b'{"jsonrpc":"2.0","id":7,"a":' + b"[" * 100_000, [(7, PARSE)]),
    "a million values": (with_text(7, b"[" + b"0," * 1_000_001 + b"0]"), [(7, INVALID)]),
    "NaN": (with_text(7, b"NaN"), [(7, PARSE)]),
    "an endless number": (with_text(7, b"9" * 5_000), [(7, PARSE)]),
    "a number": (b"7", [(None, INVALID)]),
    "a text": (b'"ping"', [(None, INVALID)]),
    "null": (b"null", [(None, INVALID)]),
    "an empty object": (b"{}", [(None, INVALID)]),
    "another version": (b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}', [(7, INVALID)]),
    "an id that is true": (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', [(None, INVALID)]),
    "an id that is a list": (b'{"jsonrpc": "2.0", "id": [7], "method": "ping"}', [(None, INVALID)]),
    "a method that is a number": (b'{"jsonrpc": "2.0", "id": 7, "method": 5}', [(7, INVALID)]),
    "params that are a list": (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": [1]}', [(7, INVALID)]),
    "an answer that nobody waits for": (b'{"jsonrpc": "2.0", "id": 9, "result": {}}', []),
    "an empty batch": (b"[]", [(None, INVALID)]),
    "a batch": (b"[%b, %b]" % (request(7), request("8")), [(7, INVALID), ("8", INVALID)]),
    "a batch without ids": (b'[{"jsonrpc": "2.0", "method": "ping"}, 5]', [(None, INVALID)]),
    "a batch of thousands": (b"[" + b",".join([request(7)] * 5_000) + b"]", [(None, INVALID)]),
    "a line that is too long": (with_text(7, b'"' + b"x" * MAX_LINE + b'"'), [(7, INVALID)]),
    "a long line without an id": (b"x" * (MAX_LINE + 1), [(None, INVALID)]),
    "an unknown method": (request(7, "no/such"), [(7, -32601)]),
    "wrong params": (request(7, "prompts/get", name=5), [(7, -32602)]),
}


TOLD = {
    "no JSON": "not JSON that can be read: ",
    "bad UTF-8": "bytes that are not UTF-8",
    "a million values": f"a message of more than {MAX_VALUES:,} values",
    "a line that is too long": f"a line of more than {MAX_LINE:,} bytes",
    "a number": "not a message of JSON-RPC 2.0: ",
    "a batch": "batches are not supported: write each message into a line of its own",
    "an empty batch": "batches are not supported: write each message into a line of its own",
}


class Server:
    """The process, and the lines that it has written."""

    def __init__(self, folder: Path) -> None:
        (folder / "agent.yaml").write_text(AGENT, encoding="utf-8")
        pipes = "stdin stdout stderr"
        self.process = start("mcp", folder, pipes=pipes, CUECARD_STATES=str(folder / "states"))
        self.ask(*HELLO)
        assert self.read()["id"] == 0

    def ask(self, *lines: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        said: dict[str, Any] = json.loads(self.process.stdout.readline())
        return said

    def end(self) -> bytes:
        out, err = self.process.communicate(timeout=60)
        assert (self.process.returncode, err) == (0, b"")
        return bytes(out)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = Server(tmp_path_factory.mktemp("agent"))
    timer = threading.Timer(300, made.process.kill)  # a server that never answers fails the test
    timer.start()
    yield made
    timer.cancel()
    assert made.end() == b""


def talked(folder: Path, *lines: bytes) -> list[Any]:
    """What a server in this process writes that reads these lines and no more, but for its greeting."""
    (folder / "agent.yaml").write_text(AGENT, encoding="utf-8")
    served = FollowingServer(Engine.open(folder))

    async def serve() -> None:
        async with standard_streams() as streams:
            await served.server.run(*streams, served.options)

    (folder / "in").write_bytes(b"\n".join((*HELLO, *lines)))
    usual = os.dup(0), os.dup(1)
    with (folder / "in").open("rb") as given, (folder / "out").open("wb") as written:
        os.dup2(given.fileno(), 0)
        os.dup2(written.fileno(), 1)
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(mcp_stdio, "_LAST", 600.0)  # nothing is due at the end, so it does not wait
            asyncio.run(serve())
    finally:
        for place, descriptor in enumerate(usual):
            os.dup2(descriptor, place)
            os.close(descriptor)
    said = [json.loads(line) for line in (folder / "out").read_bytes().splitlines()]
    (greeting,) = [each["result"] for each in said if each["id"] == 0]
    assert greeting["serverInfo"] == {"name": "helper", "version": ""}
    return [each for each in said if each["id"] != 0]


@pytest.mark.parametrize("what", LINES)
def test_every_line_is_answered_with_the_id_where_it_can_be_read(what: str, tmp_path: Path) -> None:
    line, wanted = LINES[what]
    answers = talked(tmp_path, line, request("next"))
    wrong = [each for each in answers if "error" in each]

    assert [(each["id"], each["error"]["code"]) for each in wrong] == wanted
    assert all(each["error"]["message"].startswith(TOLD.get(what, "")) for each in wrong)
    assert [each["result"]["prompts"][0]["name"] for each in answers if each["id"] == "next"] == ["helper"]
    assert max(len(json.dumps(each)) for each in answers) < 2_000


def test_a_line_of_just_the_bound_is_read(server: Server) -> None:
    bare = len(with_text(7, b'""'))
    server.ask(with_text(7, b'"' + b"x" * (MAX_LINE - bare) + b'"'))
    answer = server.read()

    assert answer["id"] == 7
    assert len(answer["result"]["messages"][0]["content"]["text"]) > MAX_LINE - 1_000


def test_blank_lines_cost_nothing(server: Server) -> None:
    """Eight megabytes of them, and not one answer but that to the request behind them."""
    server.ask(b"\n" * (4 << 20), b" \t\r\n" * (1 << 20), request("behind"))

    assert server.read()["id"] == "behind"


def test_a_notification_with_anything_in_it_changes_nothing(tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [{"requestId": [1]}, {"requestId": {}}, {"requestId": 7}, {"progressToken": None}, {}]
    lines = [
        json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()
        for params in odd
        for method in ("notifications/cancelled", "notifications/progress", "notifications/no-such")
    ]
    cancelled = b'{"jsonrpc": "2.0", "method": "notifications/cancelled"}'
    answers = talked(tmp_path, *lines, cancelled, b'{"jsonrpc": "2.0", "id": 9, "result": {}}', request("behind"))

    assert [each["id"] for each in answers] == ["behind"]


@contextmanager
def standard(given: int, taken: int) -> Iterator[None]:
    """These two as standard input and output, meanwhile; they are closed behind it."""
    usual = os.dup(0), os.dup(1)
    os.dup2(given, 0)
    os.dup2(taken, 1)
    try:
        yield
    finally:
        for place, descriptor in enumerate(usual):
            os.dup2(descriptor, place)
        for descriptor in (*usual, given, taken):
            os.close(descriptor)


def test_pipes_that_never_wait_are_waited_for(tmp_path: Path) -> None:
    """Who starts the server may use them so: its input is empty at first, and nobody reads its answers yet."""
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    served = FollowingServer(Engine.open(tmp_path))
    given, gives = os.pipe()
    takes, taken = os.pipe()
    for descriptor in (given, taken):
        os.set_blocking(descriptor, False)
    large = with_text(7, b'"' + b"x" * 200_000 + b'"')
    said: list[bytes] = []

    async def serve() -> None:
        async with standard_streams() as streams:
            await served.server.run(*streams, served.options)

    def talk() -> None:
        with os.fdopen(gives, "wb") as writes, os.fdopen(takes, "rb") as reads:
            time.sleep(0.05)
            writes.write(b"\n".join((*HELLO, large)) + b"\n")
            writes.flush()
            time.sleep(0.1)
            said.extend(reads.readline() for _ in range(2))

    client = threading.Thread(target=talk)
    client.start()
    try:
        with standard(given, taken):
            asyncio.run(serve())
    finally:
        client.join()
    assert [json.loads(line)["id"] for line in said] == [0, 7]
    assert len(said[1]) > 200_000


def test_what_comes_after_a_server_has_ended_by_itself_is_no_error() -> None:
    given, gives = os.pipe()
    takes, taken = os.pipe()

    async def end() -> None:
        async with standard_streams() as (reads, _writes):
            await reads.aclose()
            os.write(gives, request(1) + b"\n" + request(2) + b"\nno JSON\n")
            assert (await asyncio.to_thread(select.select, [takes], [], [], 10))[0]
            os.close(gives)
            for thread in (each for each in threading.enumerate() if each.name == "cuecard-mcp"):
                await asyncio.to_thread(thread.join)

    with standard(given, taken):
        asyncio.run(end())
    assert json.loads(os.read(takes, 1_000))["id"] is None
    os.close(takes)


def test_what_came_before_the_end_of_the_input_is_answered(tmp_path: Path) -> None:
    server = Server(tmp_path)
    assert server.process.stdin
    server.process.stdin.write(b"\n".join([*(request(n) for n in range(200)), b"no JSON", request("last")]))
    answers = [json.loads(line) for line in server.end().splitlines()]

    assert {each["id"] for each in answers} == {*range(200), None, "last"}
    assert len(answers) == 202


def test_a_client_that_reads_no_more_ends_the_server(tmp_path: Path) -> None:
    server = Server(tmp_path)
    assert server.process.stdout
    server.process.stdout.close()
    server.ask(request(1))

    assert server.process.wait(60) == 0
    assert server.process.stdin
    server.process.stdin.close()
    assert server.process.stderr
    server.process.stderr.close()


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b'{"id": 5, "x": ', 5),
        (b'{"x": {"id": 4}, "id": "a\\u0041", ', "aA"),
        (b'{"method": "id", "id": 5}', 5),
        (b'{"id": 5.5, ', None),
        (b'{"id": "' + b"x" * 500 + b'", ', None),
        (b'[{"id": 5}]', None),
        (b'"id": 5, ', None),
        (b"{" * 200_000 + b'"id": 5}', None),
    ],
)
def test_an_id_is_that_of_the_message_itself(line: bytes, number: object) -> None:
    assert id_in(line) == number
