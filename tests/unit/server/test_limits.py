"""What a service does not take: too much, too slow, too many, the wrong token; each with an answer that says so."""

from __future__ import annotations

import asyncio
import json
import logging
import resource
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from cuecard import InputError, Problem
from cuecard.server import process as protocol
from cuecard.server.agents import Agents
from cuecard.server.app import create_app
from cuecard.server.door import listen
from cuecard.server.requests import SearchTools
from cuecard.server.service import Envelopes, Service
from cuecard.server.strict_json import DisconnectError, json_bytes, read_body
from unit.server.served import KEY, PATIENCE, options, serving
from unit.server.test_endpoints import ask

TOKEN = "a token of twenty-two letters"  # noqa: S105 - of tests alone


def told_of(code: str, message: str, hint: str, name: str) -> list[dict[str, Any]]:
    """The problem as an answer has it."""
    told: list[dict[str, Any]] = json.loads(json.dumps([Problem(code, message, hint, name).to_json()]))
    return told


def opened(client: httpx2.Client) -> socket.socket:
    return socket.create_connection((client.base_url.host, client.base_url.port or 0), timeout=PATIENCE)


def test_a_body_that_is_too_large_is_reported(service: Service) -> None:
    with serving(service, max_body=10_000) as client:
        for size, status in ((9_000, 422), (11_000, 413), (200_000, 413), (5_000_000, 413)):
            answer = client.post("/v1/search-tools", json={"agent": "cms", "query": "x" * size, "no": 1})

            assert answer.status_code == status, answer.text
        pieces = (b"x" * 1000 for _ in range(50))

        refused = client.post("/v1/search-tools", content=pieces).json()

        (problem,) = refused["problems"]
        assert (refused["code"], problem["message"]) == ("large-body", "the body has more than 10,000 bytes")
        assert ask(client, "search-tools", query="create a page")


def test_a_body_that_arrives_too_slowly_is_abandoned(service: Service) -> None:
    with serving(service, timeout=0.3) as client, opened(client) as slow:
        slow.sendall(b"POST /v1/search-tools HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
        stop = threading.Event()

        def drip() -> None:
            while not stop.wait(0.02):
                try:
                    slow.sendall(b" ")
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        answer = slow.recv(65536)
        stop.set()
        dripping.join()
        with suppress(ConnectionResetError):  # what was sent after the answer is not read
            while more := slow.recv(65536):
                answer += more

        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"connection: close" in answer
        told = json.loads(answer.partition(b"\r\n\r\n")[2])["problems"]
        hint = "send it without delay, or start the service with a larger `--timeout`"
        assert told == told_of("slow-body", "the request did not arrive within 0.3 seconds", hint, "body")


def test_a_server_may_leave_out_of_a_body_what_asgi_allows() -> None:
    def read(*messages: dict[str, Any]) -> bytes | Problem:
        left = iter(messages)

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", **next(left)}

        return asyncio.run(read_body(receive, 3, 5.0))

    assert read({"more_body": True}, {"body": b"ab", "more_body": True}, {"body": b"c"}) == b"abc"
    hint = (
        "send only the results since the last model request; where the conversation has outgrown the limit, start the "
        "service with a larger `--max-body`, or begin a conversation with a summary of this one"
    )
    assert read({"body": b"abcd"}) == Problem("large-body", "the body has more than 3 bytes", hint, "body")
    with pytest.raises(DisconnectError):
        read({"type": "http.disconnect"})
    with pytest.raises(ValueError, match="JSON compliant"):
        json_bytes({"score": float("nan")})


def test_headers_that_arrive_too_slowly_are_abandoned(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that never ends its headers, be it those of the second request, and one that says nothing at all,
    are closed; others are served.
    """
    monkeypatch.setattr(protocol.PatientProtocol, "seconds", 0.3)
    with serving(service) as client, opened(client) as slow, opened(client) as silent, opened(client) as later:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
        later.sendall(b"GET /v1/agents HTTP/1.1\r\nHost: x\r\n\r\n")
        assert later.recv(10_000).startswith(b"HTTP/1.1 200 ")
        later.sendall(b"GET /v1/agents HTTP/1.1\r\nX: ")

        assert ask(client, "search-tools", query="create a page")
        assert later.recv(100) == b""
        assert slow.recv(100) == b""
        assert silent.recv(100) == b""
        time.sleep(0.4)

        assert ask(client, "search-tools", query="create a page"), "a connection between two requests is no such one"


def test_too_many_at_once_are_reported_and_health_answers(service: Service) -> None:
    begun = b"POST /v1/search-tools HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
    with serving(service, max_requests=2, timeout=5) as client, opened(client) as one, opened(client) as two:
        one.sendall(begun)
        two.sendall(begun)
        deadline = time.monotonic() + PATIENCE
        while (answer := client.post("/v1/search-tools", json={"agent": "cms", "query": "x"})).status_code != 503:
            assert time.monotonic() < deadline
        told = "the service is already handling 2 requests"
        hint = "try again in a moment, or start more replicas"
        assert answer.json()["problems"] == told_of("too-busy", told, hint, "service")
        assert answer.headers["retry-after"] == "1"
        assert client.get("/healthz").status_code == 200


def test_a_client_that_goes_away_takes_nothing_with_it(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "cuecard.server")
    with serving(service) as client:
        for sent in (b"POST /v1/search-tools HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{", b"GET /v1/ag", b""):
            with opened(client) as gone:
                gone.sendall(sent)
        whole = b"POST /v1/prepare-call HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        deadline = time.monotonic() + PATIENCE
        while not [each for each in caplog.records if getattr(each, "facts", {}).get("status") == 499]:
            assert time.monotonic() < deadline
            with opened(client) as gone:  # an answer may be quicker than who goes away
                gone.sendall(whole + b'Content-Length: 16\r\n\r\n{"agent": "cms"}')
            time.sleep(0.01)

        assert ask(client, "prepare-call")
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []


def test_only_who_has_the_token_is_answered(service: Service) -> None:
    with serving(service, token=TOKEN) as client:
        for headers in (
            {},
            {"Authorization": TOKEN},
            {"Authorization": f"Bearer {TOKEN}x"},
            {"Authorization": "Bearer"},
        ):
            for path in ("/v1/agents", "/metrics", "/openapi.json", "/nowhere"):
                answer = client.get(path, headers=headers)

                told = "the request has no token, or the wrong one"
                hint = "send `Authorization: Bearer ...` with the token that the service was started with"
                problems = told_of("no-token", told, hint, "authorization")
                assert (answer.status_code, answer.json()["problems"]) == (401, problems)
                assert answer.headers["www-authenticate"] == "Bearer"
        assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200
        assert client.get("/v1/agents", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_weak_secrets_and_limits_of_nothing_are_refused() -> None:
    with pytest.raises(InputError) as weak:
        options(token="short", max_body=0, timeout=-1)  # noqa: S106 - of tests alone
    with pytest.raises(InputError, match="the key has 5 characters"):
        options(key="short")

    more = "should be more than 0"
    hint = "make one with `python -c 'import secrets; print(secrets.token_urlsafe(32))'`"
    assert weak.value.problems == (
        Problem("weak-key", "each token should be at least 16 printable ASCII characters", hint, "CUECARD_TOKEN"),
        *(Problem("wrong-option", f"`{name}` {more}", "", name) for name in ("--max-body", "--timeout")),
    )
    with pytest.raises(InputError) as nothing:
        options(max_requests=0, max_age=0, grace=-0.1)
    assert [each.name for each in nothing.value.problems] == ["--max-requests", "--max-age", "--grace"]
    assert options(max_body=1, timeout=0.1, max_requests=1, max_connections=33, max_age=0.1).max_body == 1
    with pytest.raises(InputError) as few:
        options(max_requests=10, max_connections=41, max_per_address=42)
    (problem,) = few.value.problems
    told = "`--max-connections` should be at least 42", "32 more than `--max-requests`, so that health checks have room"
    assert (problem.name, problem.message, problem.hint) == ("--max-connections", *told)
    for token, key in (("é" * 16, KEY), (",", KEY), ("t" * 15, KEY), ("t" * 16 + ",short", KEY), ("", f"{KEY},short")):
        with pytest.raises(InputError):
            options(token=token, key=key)
    assert options(token=f" {'t' * 16} , {'u' * 16},").tokens == ("t" * 16, "u" * 16)


async def _nothing(*_: Any) -> None:
    """An application that nobody asks."""


INFINITE = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("allowed", "most", "raised"),
    [
        ((INFINITE, INFINITE), 1024, []),
        ((1152, 1152), 1024, []),
        ((1151, INFINITE), 1024, [(1152, INFINITE)]),
        ((256, 4096), 1024, [(1152, 4096)]),
        ((256, 1000), 872, [(1000, 1000)]),
        ((256, 288), 160, [(288, 288)]),
    ],
)
def test_a_service_has_as_many_connections_as_the_system_has_files(
    monkeypatch: pytest.MonkeyPatch, allowed: tuple[int, int], most: int, raised: list[tuple[int, int]]
) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", {resource.RLIMIT_NOFILE: allowed}.__getitem__)
    monkeypatch.setattr(resource, "setrlimit", lambda kind, pair: asked.append(pair) if kind else None)

    assert protocol.server_of(_nothing, options()).connections.most == most
    assert asked == raised


def test_others_have_their_turn_between_two_crowds_of_connections() -> None:
    with listen("127.0.0.1", 0) as listening, ExitStack() as opened:
        listening.settimeout(0)
        for _ in range(40):
            opened.enter_context(socket.create_connection(listening.getsockname()[:2], timeout=PATIENCE))
        taken = [0, 0]
        for crowd in range(2):
            with suppress(BlockingIOError):
                while True:
                    opened.enter_context(listening.accept()[0])
                    taken[crowd] += 1

    assert taken == [32, 8]


def test_a_port_that_is_taken_is_told() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError) as caught:
            listen("127.0.0.1", port)
    (problem,) = caught.value.problems

    assert (problem.code, problem.name) == ("cannot-listen", "--port")
    assert problem.message == f"cannot listen on 127.0.0.1, port {port}: Address already in use"
    assert problem.hint == "choose another `--host` or `--port`, or stop the process that listens there"


def test_too_few_files_for_the_requests_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (287, 287))
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    with pytest.raises(InputError) as caught:
        protocol.server_of(_nothing, options())
    (problem,) = caught.value.problems

    assert (problem.code, problem.name) == ("wrong-option", "--max-requests")
    assert problem.message == "the process may open 287 files, which is too few for 128 requests at once"
    assert problem.hint == "raise the limit (`ulimit -n 1152`), or lower `--max-requests`"


def test_a_service_that_is_told_to_stop_says_so_first(
    service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The servers of other tests in this process hear of it through this: it is False again at the end.
    monkeypatch.setattr("sse_starlette.sse.AppStatus.should_exit", False)
    caplog.set_level(logging.INFO, "cuecard.server")
    monkeypatch.setattr("cuecard.server.process._LAST", 2 * PATIENCE)  # none of its waits lasts until its time is over
    chosen = options(grace=2 * PATIENCE)
    server = protocol.server_of(create_app(service, chosen), chosen)
    with listen("127.0.0.1", 0) as opened:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        thread.start()
        with httpx2.Client(base_url=f"http://127.0.0.1:{opened.getsockname()[1]}", timeout=PATIENCE) as client:
            before = client.get("/readyz")
            server.handle_exit(signal.SIGTERM, None)
            after = client.get("/readyz")
        thread.join(PATIENCE)

    assert not thread.is_alive()
    assert (before.status_code, after.status_code) == (200, 503)
    assert after.json() == {**before.json(), "state": "draining"}
    assert [vars(each)["facts"] for each in caplog.records if each.getMessage() == "draining"] == [{"seconds": 60.0}]


def test_a_fault_is_told_without_its_text(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Service):
        def search_tools(self, asked: SearchTools) -> Any:
            raise ZeroDivisionError(asked.query)

    caplog.set_level(logging.INFO, "cuecard.server")
    app: Any = create_app(Broken(service.agents, service.envelopes), options())

    async def search() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            body = {"agent": "cms", "query": "Rosebud"}
            return await client.post("/v1/search-tools", json=body, headers={"x-request-id": "r-9"})

    answer = asyncio.run(search())
    fault, request = (each for each in caplog.records if each.name == "cuecard.server")
    told = {"type": "about:blank", "title": "Internal error", "detail": "see the service's log", "code": ""}

    assert answer.json() == {"api": 2, **told, "status": 500, "problems": []}
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert fault.exc_info
    assert (fault.levelname, fault.getMessage(), fault.exc_info[0]) == ("ERROR", "fault", ZeroDivisionError)
    assert vars(fault)["facts"] == {"request": "r-9", "path": "/v1/search-tools"}
    assert (vars(request)["facts"]["status"], vars(request)["facts"]["request"]) == (500, "r-9")


def test_who_reads_a_large_body_rests_for_as_long_as_that_took(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept, used = list[float](), iter((5.0, 7.5, 8.0, 8.25))
    monkeypatch.setattr("cuecard.server.app.time", SimpleNamespace(thread_time=used.__next__, sleep=slept.append))
    for body, size, status in (
        (b'{"agent": "cms"}', 65_536, 200),
        (b'{"agent": "cms"}', 65_537, 200),
        (b"x", 65_537, 400),
    ):
        answer = client.post("/v1/remember", content=body.ljust(size), headers={"Content-Type": "application/json"})
        assert answer.status_code == status

    assert slept == [2.5, 0.25]


@pytest.mark.repeats
def test_64_clients_at_once_get_what_one_gets(client: httpx2.Client, agents: Agents) -> None:
    names = [name for name in agents.find("cms").watcher.current.tools if name.startswith("cms_")]

    def converse(number: int) -> bool:
        name = names[number % len(names)]
        result = {"tool": "tool_search", "result": {"tools": [name]}, "call_id": f"call-{number}"}
        call = ask(client, "prepare-call")
        steps = [ask(client, "prepare-step", conversation=call["conversation"], results=[result])["step"]]
        steps += [ask(client, "prepare-step", conversation=call["conversation"], results=[result])["step"]]
        return all([d["tool"] for d in step["discovered"]] == [name] for step in steps)

    with ThreadPoolExecutor(64) as clients:
        assert all(clients.map(converse, range(64)))


def test_nothing_that_was_said_is_logged(client: httpx2.Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "cuecard")
    caplog.set_level(logging.DEBUG, "uvicorn")
    said = "Rosebud"
    ask(client, "search-tools", query=f"find {said}")
    client.post("/v1/search-tools", json={"agent": said, "query": said})
    client.post("/v1/prepare-call", json={"agent": "cms", "turn": {said: said}})
    client.post(f"/v1/{said}?{said}=1", content=f'{{"query": "{said}')
    client.get("/healthz", headers={"X-Request-ID": f"{said} and more"})
    ours = [each for each in caplog.records if each.name.startswith(("cuecard", "uvicorn"))]
    told = json.dumps([vars(each) for each in ours], default=str)

    assert [each for each in caplog.records if each.getMessage() == "request"]
    assert said not in told


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "400 json-syntax at body: the body is empty; send a JSON object"),
        (b"nothing", "400 json-syntax at body:1:1: the body is not JSON: Expecting value"),
        (b"[]", "422 wrong-value at body: the body should be a JSON object"),
        (b"null", "422 wrong-value at body: the body should be a JSON object"),
        (b'"text"', "422 wrong-value at body: the body should be a JSON object"),
        (b'{"agent": "cms",\n "query": oops}', "400 json-syntax at body:2:11: the body is not JSON: Expecting value"),
        (
            b'{"agent": "cms", "query": NaN}',
            "400 json-syntax at body:1:1: the body is not JSON: `NaN` is not a JSON number",
        ),
        (
            b'{"agent": "cms", "query": 1e999}',
            "400 json-syntax at body:1:1: the body is not JSON: `1e999` is not a JSON number",
        ),
        (b'{"agent": "cms", "query": "\xff"}', "400 json-syntax at body:1:28: the body is not JSON: not UTF-8"),
        (
            b'{"agent": "cms", "query": ' + b"[" * 100_000,
            "400 json-syntax at body:1:1: the body is not JSON: nested too deeply",
        ),
        (
            b'{"agent": "cms", "query": ' + b"9" * 10_000 + b"}",
            "400 json-syntax at body:1:1: the body is not JSON: a number has too many digits",
        ),
        (
            b'{"agent": "cms", "query": "x", "limit": 0}',
            "422 search-limit at limit: a search cannot return 0 tools; ask for 1 to 50 tools; 8 is the default",
        ),
        (
            b'{"agent": "cms", "query": "x", "limit": "5"}',
            "422 wrong-value at body:1:41: `limit` should be a whole number",
        ),
        (
            b'{"agent": "cms", "query": "x", "conversation": {}}',
            "422 wrong-value at body:1:48: `conversation` should be a text",
        ),
        (
            b'{"agent": "\\ud800", "query": "x"}',
            "404 unknown-agent at agent: no agent `\ud800` is served here; known here: `cms`, `other`",
        ),
        (
            b'\xef\xbb\xbf{"agent": "cms"}',
            "422 missing-key at body:1:1: `query` is missing; add `query:` - what the tools should do, in a few words",
        ),
        (
            b'{"agent": "cms", "query": "x", "quary": "x"}',
            "422 unknown-key at body:1:32: unknown key `quary`; did you mean `query`?",
        ),
    ],
    ids=lambda given: given[:40].decode("latin-1") if isinstance(given, bytes) else "",
)
def test_a_wrong_body_is_reported_with_its_place(client: httpx2.Client, body: bytes, told: str) -> None:
    answer = client.post("/v1/search-tools", content=body, headers={"Content-Type": "application/json"})
    said: dict[str, Any] = answer.json()
    (problem,) = said["problems"]
    place = [problem["name"], *(str(problem["span"][key]) for key in ("line", "column") if problem["span"])]

    assert f"{answer.status_code} {said['code']} at {':'.join(place)}: {said['detail']}" == told
    assert problem["code"] == said["code"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("application/json", ""),
        ("application/json; charset=utf-8", ""),
        ("Application/JSON", ""),
        ("application/merge-patch+json", ""),
        ("text/json", "the `Content-Type` is `text/json`"),
        ("x" * 101, f"the `Content-Type` is `{'x' * 100}`"),
        ("", "the request has no `Content-Type`"),
    ],
)
def test_a_body_says_that_it_is_json(client: httpx2.Client, said: str, told: str) -> None:
    headers = {"content-type": said} if said else {}
    answer = client.post("/v1/prepare-call", content=b'{"agent": "cms"}', headers=headers)

    assert answer.status_code == (415 if told else 200)
    if told:
        (problem,) = answer.json()["problems"]
        hint = "send `Content-Type: application/json`"
        assert (problem["code"], problem["name"]) == ("wrong-media-type", "content-type")
        assert (problem["message"], problem["hint"]) == (told, hint)


@pytest.mark.parametrize(
    "body",
    [b'{"results": [' + b"0," * 1_000 + b"0]}", b"{" + b",".join(b'"k%d": 0' % at for at in range(1_001)) + b"}"],
)
def test_mistakes_without_end_are_counted_and_not_told_one_by_one(client: httpx2.Client, body: bytes) -> None:
    answer = client.post("/v1/prepare-call", content=body, headers={"Content-Type": "application/json"})

    hint = "see /openapi.json for what it may hold"
    assert answer.json()["problems"] == told_of("wrong-value", "the body has 1,001 mistakes", hint, "body")


def test_of_a_thousand_mistakes_the_first_hundred_are_told(client: httpx2.Client) -> None:
    body = b'{"results": [' + b"0," * 999 + b"0]}"
    told = client.post("/v1/prepare-call", content=body, headers={"Content-Type": "application/json"}).json()

    assert (len(told["problems"]), told["more"]) == (100, 900)


def test_half_a_character_comes_back_as_it_was_sent(client: httpx2.Client) -> None:
    page = b'{"agent": "cms", "entities": [{"type": "page", "id": "p", "name": "a\\ud800b"}]}'
    answer = client.post("/v1/remember", content=page, headers={"Content-Type": "application/json"})

    assert answer.status_code in {200, 422}


def test_each_of_several_tokens_is_valid_and_health_answers_head(service: Service) -> None:
    old, new = "the-old-token-0123456789", "the-new-token-0123456789"
    with serving(service, token=f"{old},{new}") as client:
        for token, status in ((old, 200), (new, 200), (f"{old},{new}", 401)):
            assert client.get("/v1/agents", headers={"authorization": f"Bearer {token}"}).status_code == status
        for path in ("/healthz", "/readyz"):
            assert (client.head(path).status_code, client.head(path).content) == (200, b"")


def test_an_earlier_key_opens_and_the_first_one_signs(service: Service) -> None:
    chat = next(iter(service.agents)).pins.current.conversation()
    name = next(iter(service.agents)).name
    first, second = "the new key 0123456789", "the old key 0123456789"
    old, both = Envelopes(second, 3600), Envelopes((first, second), 3600)

    assert both.open(old.close(name, chat), name) is not None
    with pytest.raises(InputError):
        old.open(both.close(name, chat), name)
