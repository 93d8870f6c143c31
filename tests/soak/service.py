"""L14 and on: a service under attack, one that is told to stop, and one that is killed, each with clients at work."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from soak.attacks import ATTACKS, attacked
from soak.rows import Row
from unit.server.served import Replica, replica

TOKEN = "the token of all clients in a soak"  # noqa: S105 - of tests alone
KEY = "the key of all services in a soak"
CALL = {"agent": "demo"}
FOUND = {"tool": "tool_search", "result": {"tools": ["create-page"]}}
_AGENT = """\
agent: demo
sections: [{id: role, text: You help.}, {id: tools, text: "{{{activeProtocols}}}"}]
tools: {instructions: tools.yaml, core: [tool_search]}
"""
_TOOLS = "tools: {tool_search: {before: search}, create-page: {before: look, after: say so}}\n"


@dataclass
class Seen:
    """How long somebody waited, in seconds, and for which answers."""

    times: list[float] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)

    def median(self) -> float:
        return sorted(self.times)[len(self.times) // 2] if self.times else 0.0

    def most(self) -> float:
        return max(self.times, default=0.0)


def agent(folder: Path) -> Path:
    """A small agent with a tool to find."""
    folder.mkdir(parents=True)
    (folder / "agent.yaml").write_text(_AGENT, encoding="utf-8")
    (folder / "tools.yaml").write_text(_TOOLS, encoding="utf-8")
    return folder


def _request(method: str, path: str, body: Any = None, *more: str) -> bytes:
    text = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {TOKEN}", *more]
    lines += ["Content-Type: application/json", f"Content-Length: {len(text)}"] if text else []
    return "\r\n".join([*lines, "", ""]).encode() + text


def under_attack(served: Replica, name: str, seconds: float) -> tuple[Seen, Seen]:
    """What a health check and a client with the token see, each on new connections, while an attack goes on."""
    health, calls = Seen(), Seen()
    with attacked(name, served.address, seconds + 5, TOKEN):
        time.sleep(1)
        end = time.monotonic() + seconds
        asking = threading.Thread(target=_ask, args=(served, _request("POST", "/v1/prepare-call", CALL), end, calls))
        asking.start()
        _ask(served, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", end, health)
        asking.join()
    return health, calls


def _ask(served: Replica, request: bytes, end: float, seen: Seen) -> None:
    port = int(served.address.rpartition(":")[2])
    while time.monotonic() < end:
        began = time.monotonic()
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as opened:
                opened.sendall(request)
                seen.answers[opened.recv(12).decode()[9:] or "none"] += 1
        except OSError as error:
            seen.answers[type(error).__name__] += 1
        seen.times.append(time.monotonic() - began)
        time.sleep(0.02)


async def drain(served: Replica, clients: int, seconds: float) -> Counter[str]:
    """Answers to clients that ask all the time, half of them on kept connections, as the service is told to stop."""
    seen: Counter[str] = Counter()

    async def client(request: bytes) -> None:
        stream: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        while True:
            try:
                stream = stream or await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                return  # nothing was sent
            reader, writer = stream
            try:
                writer.write(request)
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length: "))
                await reader.readexactly(int(length[16:]))
            except (OSError, asyncio.IncompleteReadError):
                seen["lost"] += 1
                stream = None
                continue
            seen[head.split(b" ")[1].decode()] += 1
            if b"connection: close" in head.lower():
                writer.close()
                stream = None

    port = int(served.address.rpartition(":")[2])
    kept, single = (_request("POST", "/v1/prepare-call", CALL, *more) for more in ((), ("Connection: close",)))
    working = [asyncio.create_task(client(kept if number % 2 else single)) for number in range(clients)]
    await asyncio.sleep(seconds)
    served.process.send_signal(signal.SIGTERM)
    await asyncio.sleep(0.2)
    with suppress(OSError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        seen["readyz " + (await reader.readuntil(b"\r\n")).split(b" ")[1].decode()] += 1
        writer.close()
    await asyncio.wait(working, timeout=60)
    return seen


def killed(folder: Path, kills: int, seconds: float, clients: int = 8) -> Counter[str]:
    """Services killed with clients at work: whether every acknowledged conversation goes on with its prefix."""
    seen: Counter[str] = Counter()
    files = agent(folder / "agent")
    kept: list[dict[str, Any]] = []
    for number in range(kills + 1):
        with replica(str(files), states=folder / "states", CUECARD_KEY=KEY, CUECARD_TOKEN=TOKEN) as served:
            with ThreadPoolExecutor(clients) as working:
                for told in working.map(lambda each: _goes_on(served, each), kept):
                    seen["same" if told else "lost"] += 1
            kept = []
            if number < kills:
                with _clients(served, kept, clients):
                    time.sleep(seconds * random.uniform(0.5, 1.5))  # noqa: S311 - when it is killed
                    served.kill()
    return seen


@contextmanager
def _clients(served: Replica, kept: list[dict[str, Any]], clients: int) -> Iterator[None]:
    def work() -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        with suppress(httpx2.TransportError), httpx2.Client(base_url=served.address, headers=headers) as client:
            while True:
                told = client.post("/v1/prepare-call", json=CALL).json()
                kept.append(told)
                asked = {**CALL, "conversation": told["conversation"], "results": [FOUND]}
                kept.append(client.post("/v1/prepare-step", json=asked).json())

    working = [threading.Thread(target=work) for _ in range(clients)]
    for each in working:
        each.start()
    try:
        yield
    finally:
        for each in working:
            each.join()


def _goes_on(served: Replica, told: dict[str, Any]) -> bool:
    """Whether the next step begins with what was acknowledged."""
    asked = {**CALL, "conversation": told["conversation"]}
    answer = httpx2.post(
        f"{served.address}/v1/prepare-step", json=asked, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60
    )
    if answer.status_code != 200:
        return False
    before, after = told["step"], answer.json()["step"]
    blocks = len(before["appended"])
    return bool(after["system"] == before["system"] and after["appended"][:blocks] == before["appended"])


def rows(folder: Path, seconds: float) -> Iterator[Row]:
    """Each attack for its share of the time; then the end of a service, and its death."""
    served: Callable[..., Any] = replica
    files = agent(folder / "attacked")
    with served(str(files), states=folder / "states", CUECARD_KEY=KEY, CUECARD_TOKEN=TOKEN) as started:
        for number, (name, attack) in zip((*range(14, 26), 31), ATTACKS.items(), strict=True):
            health, calls = under_attack(started, name, seconds / len(ATTACKS))
            told = f"health {health.median() * 1e3:.0f} ms, at most {health.most() * 1e3:.0f}"
            told += f"; {calls.answers['200']} of {calls.answers.total()} calls, {calls.median() * 1e3:.0f} ms"
            held = health.most() <= 1 and health.answers.keys() == {"200"}
            yield Row(f"L{number}", attack.told, "`/healthz` within 1 s", told, held)
    files = agent(folder / "drained")
    grace = ("--grace", "3")
    with served(str(files), *grace, states=folder / "states", CUECARD_KEY=KEY, CUECARD_TOKEN=TOKEN) as started:
        seen = asyncio.run(drain(started, 60, 2))
    told = f"{seen['200']:,} answered, {seen['lost']} lost; `/readyz` turned" + " not" * (not seen["readyz 503"])
    held = not seen["lost"] and seen["readyz 503"] == 1
    yield Row("L26", "SIGTERM with 60 clients at work", "0 requests lost, `/readyz` turns", told, held)
    seen = killed(folder / "killed", 5, 1)
    told = f"{seen['same']:,} conversations went on, {seen['lost']} did not"
    yield Row("L27", "kill -9 with 8 clients at work, 5 times", "all go on", told, not seen["lost"])
