"""Rows 55 and 56 of the acceptance table for robustness: requests of web pages, and a service that is open to all.

There is no local web interface; the service is what a page of any site could reach.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from command_line import main, run
from cuecard import Problem
from cuecard.server.door import is_loopback, refused_site
from cuecard.server.options import ServiceOptions
from cuecard.server.service import Service
from unit.server.served import KEY, ask_at_once, serving
from unit.server.test_endpoints import ask

TOKEN = "a token of twenty-two letters"  # noqa: S105 - of tests alone
BODY = b'{"agent": "cms", "query": "create a page"}'
JSON = "Content-Type: application/json"
REFUSED: dict[str, tuple[str, tuple[str, ...], int]] = {
    "DNS rebinding": ("POST /v1/search-tools", ("Host: evil.example:PORT", JSON), 403),
    "DNS rebinding, reading": ("GET /v1/agents", ("Host: evil.example",), 403),
    "a name that begins like ours": ("GET /v1/agents", ("Host: localhost.evil.example:PORT",), 403),
    "our name as a user": ("GET /v1/agents", ("Host: localhost@evil.example",), 403),
    "our name as a folder": ("GET /v1/agents", ("Host: evil.example/127.0.0.1",), 403),
    "an address of the network": ("GET /v1/agents", ("Host: 192.168.0.7:PORT",), 403),
    "two hosts": ("GET /v1/agents", ("Host: HERE", "Host: evil.example"), 400),
    "no host": ("GET /v1/agents", (), 400),
    "a form of another site": ("POST /v1/search-tools", ("Host: HERE", "Origin: https://evil.example", JSON), 403),
    "a page without an origin": ("POST /v1/search-tools", ("Host: HERE", "Origin: null", JSON), 403),
    "another local port": ("POST /v1/search-tools", ("Host: HERE", "Origin: http://localhost:3000", JSON), 403),
    "two origins": ("GET /v1/agents", ("Host: HERE", "Origin: http://evil.example", "Origin: http://HERE"), 403),
    "an image of another site": ("GET /metrics", ("Host: HERE", "Sec-Fetch-Site: cross-site"), 403),
    "a preflight": ("OPTIONS /v1/search-tools", ("Host: HERE", "Origin: https://evil.example"), 403),
    "a WebSocket of another site": (
        "GET /v1/agents",
        ("Host: HERE", "Origin: https://evil.example", "Upgrade: websocket", "Connection: Upgrade"),
        403,
    ),
    "text that is JSON": ("POST /v1/search-tools", ("Host: HERE", "Content-Type: text/plain"), 415),
    "a form": ("POST /v1/search-tools", ("Host: HERE", "Content-Type: application/x-www-form-urlencoded"), 415),
}


@pytest.fixture(scope="module")
def local(service: Service) -> Iterator[httpx2.Client]:
    """A service on loopback, without a token."""
    with serving(service, local=True) as opened:
        yield opened


def sent(client: httpx2.Client, head: str, headers: tuple[str, ...]) -> bytes:
    """The answer to a request with these headers and no others."""
    here = f"{client.base_url.host}:{client.base_url.port}"
    body = BODY if head.startswith("POST") else b""
    told = [header.replace("HERE", here).replace("PORT", str(client.base_url.port)) for header in headers]
    lines = [f"{head} HTTP/1.1", *told, "Connection: close", f"Content-Length: {len(body)}", "", ""]
    return ask_at_once(f"http://{here}", ["\r\n".join(lines).encode() + body])[0]


@pytest.mark.parametrize("name", REFUSED)
def test_row_55_requests_of_pages_of_other_sites_are_refused(local: httpx2.Client, name: str) -> None:
    head, headers, status = REFUSED[name]
    answer = sent(local, head, headers)

    assert answer.startswith(f"HTTP/1.1 {status} ".encode()), answer[:300]
    assert b"cms_createPage" not in answer
    assert b"access-control-allow" not in answer.lower()
    assert status != 403 or b'"code":"foreign-site"' in answer
    assert status != 415 or b'"name":"content-type"' in answer


@pytest.mark.parametrize("host", ["127.0.0.1:PORT", "localhost:PORT", "LOCALHOST", "[::1]:PORT"])
def test_row_55_a_program_on_this_machine_is_answered(local: httpx2.Client, host: str) -> None:
    answer = sent(local, "POST /v1/search-tools", (f"Host: {host}", JSON))

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"cms_createPage" in answer


def test_row_55_a_page_of_the_service_itself_may_ask_and_health_answers_anyone(local: httpx2.Client) -> None:
    own = ("Host: HERE", "Origin: http://HERE", "Sec-Fetch-Site: same-origin", JSON)

    assert sent(local, "POST /v1/search-tools", own).startswith(b"HTTP/1.1 200 ")
    assert sent(local, "GET /healthz", ("Host: evil.example",)).startswith(b"HTTP/1.1 200 ")


def test_row_55_with_a_token_the_name_of_the_host_is_free(service: Service) -> None:
    """Behind a balancer it is whatever the balancer is called; no page knows the token."""
    with serving(service, token=TOKEN, local=True) as client:
        headers = ("Host: prompts.example", "Origin: https://app.example", JSON)

        assert sent(client, "POST /v1/search-tools", headers).startswith(b"HTTP/1.1 401 ")
        told = (*headers, f"Authorization: Bearer {TOKEN}")
        assert sent(client, "POST /v1/search-tools", told).startswith(b"HTTP/1.1 200 ")


def test_row_55_where_anyone_may_ask_web_pages_may_not(service: Service) -> None:
    with serving(service) as client:
        assert sent(client, "POST /v1/search-tools", ("Host: prompts", JSON)).startswith(b"HTTP/1.1 200 ")
        assert sent(client, "GET /v1/agents", ("Host: prompts", "Origin: http://evil.example")).startswith(
            b"HTTP/1.1 403 "
        )
        assert ask(client, "search-tools", query="create a page")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.0.7", "example.org"])  # noqa: S104 - what is refused
def test_row_56_beyond_this_machine_a_token_or_an_explicit_option_is_required(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CUECARD_STATES", str(tmp_path))
    monkeypatch.delenv("CUECARD_TOKEN", raising=False)
    monkeypatch.setattr("sys.argv", ["cuecard", "serve", "cms", "--host", host, "--port", "0"])
    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        f"--host: error[open-to-all]: everybody who reaches {host} could ask: there is no token\n"
        "  = set CUECARD_TOKEN, or write `--no-token` if that is meant\n"
    )


@pytest.mark.parametrize(("words", "told"), [("", False), ("--host 0.0.0.0 --no-token", True)])
def test_serving_tells_where_anyone_may_ask_and_keeps_states_in_the_folder_of_the_environment(
    words: str, *, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "agent.yaml").write_text("agent: a\nsections: [{id: role, text: Help.}]\n", encoding="utf-8")
    monkeypatch.setenv("CUECARD_STATES", str(tmp_path / "states"))
    monkeypatch.delenv("CUECARD_TOKEN", raising=False)
    monkeypatch.setattr("cuecard.server.process.run_app", lambda _app, listening, _options: listening.close())
    monkeypatch.setattr("cuecard.server.monitoring.log_to_stderr", lambda: None)
    monkeypatch.setattr("sys.argv", ["cuecard", "serve", str(tmp_path), "--port", "0", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main()

    warned = {
        "no-key": "conversations are signed with a key that only this process knows, so that none can be loaded after "
        "a restart, or by another replica; set CUECARD_KEY to the same value in all of them",
        "open-to-all": "anyone who can reach this port can use the service; set CUECARD_TOKEN to require a token",
    }
    said = [(each.levelname, each.getMessage(), vars(each)["facts"]["message"]) for each in caplog.records]

    assert ended.value.code == 0
    assert said == [("WARNING", code, text) for code, text in warned.items() if told or code == "no-key"]
    assert any((tmp_path / "states").iterdir())


def test_the_log_says_that_states_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "agent.yaml").write_text("agent: a\nsections: [{id: role, text: Help.}]\n", encoding="utf-8")
    monkeypatch.setenv("CUECARD_KEY", KEY)
    monkeypatch.setattr("cuecard.server.process.run_app", lambda _app, listening, _options: listening.close())
    monkeypatch.setattr("cuecard.server.monitoring.log_to_stderr", lambda: None)
    states = ["--states", str(tmp_path / "agent.yaml")]
    monkeypatch.setattr("sys.argv", ["cuecard", "serve", str(tmp_path), "--port", "0", *states])
    with pytest.raises(SystemExit):
        main()
    (warned,) = caplog.records

    assert warned.getMessage() == "states-unsaved"
    assert re.search(r"states of `a` .* CUECARD_STATES", vars(warned)["facts"]["message"])

    monkeypatch.setenv("CUECARD_KEY", "short")
    assert "CUECARD_KEY: error[weak-key]" in run("serve", str(tmp_path)).stderr


def test_every_option_of_the_command_reaches_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUECARD_TOKEN", TOKEN)
    monkeypatch.setenv("CUECARD_KEY", KEY)
    seen: list[Any] = []

    def run(app: Any, listening: socket.socket, options: ServiceOptions) -> None:
        listening.close()
        seen.append(options)

        async def talk() -> None:
            headers = {"authorization": f"Bearer {TOKEN}"}
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://x", headers=headers) as client:
                seen.extend([await client.post("/v1/prepare-call", json={}), await client.get("/v1/agents")])

        asyncio.run(talk())

    monkeypatch.setattr("cuecard.server.process.run_app", run)
    monkeypatch.setattr("cuecard.server.monitoring.log_to_stderr", lambda: None)
    limits: dict[str, Any] = {"max-body": 40_000, "max-requests": 3, "max-connections": 50, "max-per-address": 40}
    limits |= {"timeout": 2.5, "max-age": 60.0, "grace": 1.5}
    words = [word for name, value in limits.items() for word in (f"--{name}", str(value))]
    kept = ["--states", "kept", "--manifests", "told", "--texts", "--delivery", "rewrite"]
    monkeypatch.setattr("sys.argv", ["cuecard", "serve", "--port", "0", *words, *kept])

    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "AGENT: error[wrong-option]: there is nothing to serve\n"
        "  = name an agent, or go into its folder; or a library, with `--library URL` or CUECARD_LIBRARY\n"
    )

    tool = "tools: {core: [look]}\nsections: [{id: role, text: Help.}]\n"
    (tmp_path / "agent.yaml").write_text(f"agent: a\n{tool}", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main()
    options, call, agents = seen
    told = {name.replace("-", "_"): value for name, value in limits.items()}
    state = agents.json()["agents"][0]["sha256"]

    assert ended.value.code == 0
    assert options == ServiceOptions(key=KEY, token=TOKEN, local=True, lasting=True, **told)
    assert not [secret for secret in (KEY, TOKEN) if secret in repr(options)]
    assert call.json()["delivery"]["name"] == "rewrite"
    reads = call.json()["reads"]
    assert (reads["room"], reads["tools"], reads["items"]) == (10_000, {"tool_search": 2, "look": 2}, 2)
    assert f"{state}.json" in {file.name for file in (tmp_path / "kept").iterdir()}
    (record, *_) = map(json.loads, (tmp_path / "told" / "served.jsonl").read_text(encoding="utf-8").splitlines())
    assert "Help." in json.dumps(record["texts"])


@pytest.mark.parametrize(("host", "here"), [("127.0.0.1", True), ("127.8.0.1", True), ("::1", True), ("", False)])
def test_which_addresses_are_this_machines(host: str, *, here: bool) -> None:
    assert is_loopback(host) is here


HERE, ELSEWHERE = (b"host", b"localhost:8765"), (b"host", b"prompts.example")
NOT_HERE = "the request's host is `{}`, which is not this machine"


@pytest.mark.parametrize(
    ("headers", "local", "message", "name"),
    [
        ([], True, "the request has no `Host` header", "host"),
        ([HERE, HERE], True, "the request has several `Host` headers", "host"),
        ([ELSEWHERE], True, NOT_HERE.format("prompts.example"), "host"),
        ([(b"host", b"localhost:0")], True, NOT_HERE.format("localhost:0"), "host"),
        ([(b"host", b"ann@localhost")], True, NOT_HERE.format("ann@localhost"), "host"),
        ([(b"host", b"localhost/a")], True, NOT_HERE.format("localhost/a"), "host"),
        ([(b"host", b"\xe9" * 101)], True, NOT_HERE.format("é" * 100), "host"),
        ([ELSEWHERE, (b"origin", b"http://x")], False, "the request comes from a page of `http://x`", "origin"),
        ([(b"origin", b"http://x")], False, "the request comes from a page of `http://x`", "origin"),
        (
            [ELSEWHERE, (b"origin", b"http://prompts.example"), (b"sec-fetch-site", b" Same-Site ")],
            False,
            "the request comes from a page of another site",
            "sec-fetch-site",
        ),
        (
            [HERE, (b"sec-fetch-site", b"cross-site")],
            True,
            "the request comes from a page of another site",
            "sec-fetch-site",
        ),
        ([], False, "", ""),
        ([ELSEWHERE, (b"referer", b"http://x")], False, "", ""),
        ([HERE, (b"origin", b"HTTPS://LOCALHOST:8765"), (b"sec-fetch-site", b"same-origin")], True, "", ""),
        ([(b"host", b"localhost:1"), (b"sec-fetch-site", b"none")], True, "", ""),
    ],
)
def test_row_55_the_reason_names_the_header(
    headers: list[tuple[bytes, bytes]], *, local: bool, message: str, name: str
) -> None:
    hint = "send requests from a program instead of a web page, or set CUECARD_TOKEN and send the token"
    told = Problem("foreign-site", message, hint, name) if message else None

    assert refused_site(headers, local=local) == told


@pytest.mark.parametrize("host", [b"\xff", b"", b"localhost:1:2", b"[::1", b"\x1b[2Jlocalhost", b"x" * 10_000])
def test_an_invalid_host_is_refused_and_shown_shortened(host: bytes) -> None:
    problem = refused_site([(b"host", host)], local=True)

    assert problem
    assert len(problem.message) < 250
    assert problem.message.isprintable()
