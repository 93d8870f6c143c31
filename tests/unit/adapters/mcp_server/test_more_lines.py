"""Lines for `cuecard mcp` by somebody who did not write what reads them."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuecard.adapters.mcp_lines import MAX_LINE
from unit.adapters.mcp_server.test_lines import INVALID, PARSE, Server, request, talked, with_text

PING = b'{"jsonrpc":"2.0","id":%b,"method":"ping"}'
BEHIND = request("behind")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("agent"))
    timer = threading.Timer(120, made.process.kill)
    timer.start()
    yield made
    timer.cancel()
    assert made.end() == b""


WRONG: dict[str, tuple[bytes, list[tuple[object, int]]]] = {
    "a byte order mark": (b"\xef\xbb\xbf" + PING % b"7", [(7, PARSE)]),
    "UTF-16": ((PING % b"7").decode().encode("utf-16"), [(None, PARSE)]),
    "Latin-1": (with_text(7, "\xe9".encode("latin-1")), [(7, PARSE)]),
    "an overlong encoding": (with_text(7, b'"\xc0\xaf"'), [(7, PARSE)]),
    "a surrogate in UTF-8": (with_text(7, b'"\xed\xa0\x80"'), [(7, PARSE)]),
    "single quotes": (b"{'jsonrpc': '2.0', 'id': 7, 'method': 'ping'}", [(None, PARSE)]),
    "a comma at the end": (b'{"jsonrpc":"2.0","id":7,"method":"ping",}', [(7, PARSE)]),
    "a comment": (b'{"jsonrpc":"2.0","id":7,"method":"ping"} // hi', [(7, PARSE)]),
    "a form feed in front": (b"\x0c" + PING % b"7", [(7, PARSE)]),
    "a form feed alone": (b"\x0c", [(None, PARSE)]),
    "a control character in a text": (with_text(7, b'"\x01"'), [(7, PARSE)]),
    "infinity": (with_text(7, b"-Infinity"), [(7, PARSE)]),
    "an id that is a fraction": (PING % b"7.5", [(None, INVALID)]),
    "an id that is an object": (PING % b'{"id": 7}', [(None, INVALID)]),
    "an id that is null": (PING % b"null", [(None, INVALID)]),
    "an id that is half a character": (PING % b'"\\ud800"', [(None, PARSE)]),
    "a batch in a batch": (b"[[%b]]" % request(7), [(None, INVALID)]),
    "a batch of batches": (b"[" * 90 + b"]" * 90, [(None, INVALID)]),
    "a request that is a result as well": (b'{"jsonrpc":"2.0","id":7,"result":{},"method":7}', [(7, INVALID)]),
    "no method and no result": (b'{"jsonrpc":"2.0","id":7}', [(7, INVALID)]),
    "an empty method": (request(7, ""), [(7, -32601)]),
    "a method of Python": (request(7, "__class__"), [(7, -32601)]),
    "a method with a line break": (request(7, "prompts/list\n"), [(7, -32601)]),
    "no version": (b'{"id":7,"method":"ping"}', [(7, INVALID)]),
    "a version that is a number": (b'{"jsonrpc":2.0,"id":7,"method":"ping"}', [(7, INVALID)]),
}


@pytest.mark.parametrize("what", WRONG)
def test_no_line_ends_the_talk(what: str, tmp_path: Path) -> None:
    line, wanted = WRONG[what]
    answers = talked(tmp_path, line, BEHIND)

    assert [(each["id"], each["error"]["code"]) for each in answers if "error" in each] == wanted
    assert [each["id"] for each in answers if "error" not in each] == ["behind"]
    assert "Traceback" not in json.dumps(answers)


@pytest.mark.parametrize(
    "number", [b"0", b"-1", b"9007199254740993", b'""', b'"\\u0000"', b'"' + b"x" * 100_000 + b'"', b'"\\ud83d\\ude00"']
)
def test_an_id_comes_back_as_it_was(server: Server, number: bytes) -> None:
    server.ask(PING % number)

    assert server.read()["id"] == json.loads(number)


def test_a_line_may_come_byte_by_byte_and_with_other_ends(server: Server) -> None:
    assert server.process.stdin
    for byte in PING % b"7" + b"\r\n":
        server.process.stdin.write(bytes([byte]))
        server.process.stdin.flush()
    assert server.read()["id"] == 7
    server.ask(b"\r" * 1_000 + BEHIND + b"\r" * 1_000)
    assert server.read()["id"] == "behind"


def test_lines_that_are_too_long_one_after_the_other(server: Server) -> None:
    for number in range(3):
        server.ask(b'{"id":%d,' % number + b" " * (MAX_LINE + 1) + b"}")
        assert server.read()["id"] == number
    server.ask(BEHIND)
    assert server.read()["id"] == "behind"


def test_an_id_that_is_asked_twice_is_answered_twice(server: Server) -> None:
    server.ask(PING % b"7", PING % b"7", BEHIND)

    assert [server.read()["id"] for _ in range(3)] == [7, 7, "behind"]


def test_a_batch_is_answered_however_large_its_ids(server: Server) -> None:
    server.ask(b"[%b]" % b",".join([PING % (b'"' + b"x" * 70_000 + b'"')] * 90), BEHIND)
    answers = [server.read()]
    while answers[-1]["id"] != "behind":
        answers.append(server.read())

    assert {each["error"]["code"] for each in answers[:-1]} == {INVALID}


def test_answers_to_nothing_and_cancelled_requests_hold_nothing_up(tmp_path: Path) -> None:
    server = Server(tmp_path)
    for number in range(200):
        server.ask(
            b'{"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"no"}}' % number,
            request(number),
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}' % number,
        )
    server.ask(BEHIND)
    while server.read()["id"] != "behind":
        pass
    _out, err = server.process.communicate(timeout=60)

    assert server.process.returncode == 0
    assert b"Traceback" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
@pytest.mark.parametrize("way", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_ends_it_although_nobody_reads_its_answers(tmp_path: Path, way: str) -> None:
    server = Server(tmp_path)
    full = threading.Thread(target=_flood, args=(server,), daemon=True)
    full.start()
    seen = -1
    while seen < 1 or seen != _unread(server):  # until it waits for somebody who reads
        seen = _unread(server)
        time.sleep(0.3)
    server.process.send_signal(getattr(signal, way))
    try:
        server.process.wait(20)
    finally:
        server.process.kill()
        for pipe in (server.process.stdout, server.process.stderr):
            assert pipe
            pipe.close()
        full.join(20)


def _unread(server: Server) -> int:
    """How many bytes of answers are in the pipe."""
    import fcntl  # noqa: PLC0415 - POSIX only
    import termios  # noqa: PLC0415 - the same

    assert server.process.stdout
    return int.from_bytes(fcntl.ioctl(server.process.stdout, termios.FIONREAD, bytes(4)), sys.byteorder)


def _flood(server: Server) -> None:
    try:
        for number in range(20_000):
            server.ask(request(number))
    except OSError:
        pass
    try:
        assert server.process.stdin
        server.process.stdin.close()
    except OSError:
        pass
