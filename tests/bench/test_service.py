"""`/v1/prepare-step` over HTTP, beside an empty route of FastAPI in the same run: throughput, latency, processor time.

`make bench ARGS="-k service"` prints the table.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from unit.server.served import PATIENCE, Replica, replica
from unit.server.test_endpoints import ask

pytestmark = pytest.mark.bench

REQUESTS = 1500
ROUND = 960
CLIENTS = (1, 8, 64)
EMPTY = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.post("/v1/prepare-step")
async def empty(): return {}
uvicorn.run(app, port=int(sys.argv[1]), log_level="critical", access_log=False)
"""


@dataclass(frozen=True)
class Load:
    """What a number of clients saw, in milliseconds, and how many requests were answered in a second."""

    clients: int
    median: float
    p99: float
    per_second: float
    errors: int


def load(addresses: Sequence[str], request: bytes, clients: int, requests: int = REQUESTS) -> Load:
    """So many requests by clients that each keep a connection, and ask again as soon as they are answered."""
    times: list[float] = []
    errors = 0

    async def client(number: int) -> None:
        nonlocal errors
        host, _, port = addresses[number % len(addresses)].removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port), limit=2**22)
        for _ in range(requests // clients):
            started = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
            await reader.readexactly(length)
            times.append((time.perf_counter() - started) * 1000)
            errors += not head.startswith(b"HTTP/1.1 200")
        writer.close()
        await writer.wait_closed()

    async def everybody() -> float:
        started = time.perf_counter()
        await asyncio.gather(*(client(number) for number in range(clients)))
        return time.perf_counter() - started

    seconds = asyncio.run(everybody())
    ordered = sorted(times)
    return Load(clients, statistics.median(ordered), ordered[len(ordered) * 99 // 100], len(times) / seconds, errors)


def step_request(served: Replica) -> bytes:
    """A step of the CMS assistant with a search result."""
    with served.client() as client:
        call = ask(client, "prepare-call")
    results = [{"tool": "tool_search", "call_id": "c1", "result": {"tools": ["cms_createPage", "cms_getPage"]}}]
    body = json.dumps({"agent": "cms", "conversation": call["conversation"], "results": results}).encode()
    head = "POST /v1/prepare-step HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def processor_seconds(served: Replica) -> float:
    fields = Path(f"/proc/{served.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def empty_service() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", EMPTY, str(port)])
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(PATIENCE)


def test_the_service_compared_with_an_empty_route(tmp_path: Path) -> None:
    with replica("cms", states=tmp_path) as served, empty_service() as empty:
        request = step_request(served)
        print(f"\n{'clients':>8} {'route':>14} {'requests/s':>11} {'median ms':>10} {'p99 ms':>8} {'errors':>7}")
        found: dict[tuple[str, int], Load] = {}
        for name, address in (("prepare-step", served.address), ("empty", empty)):
            load([address], request, 8, 200)
            for clients in CLIENTS:
                seen = found[name, clients] = load([address], request, clients)
                row = f"{seen.per_second:>11.0f} {seen.median:>10.2f} {seen.p99:>8.2f} {seen.errors:>7}"
                print(f"{clients:>8} {name:>14} {row}")
    many = found["prepare-step", 64]

    assert [seen.errors for seen in found.values()] == [0] * len(found)
    assert many.p99 < 10 * many.median


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads what a process has used from /proc")
def test_three_replicas_take_no_more_of_the_processor_than_one(tmp_path: Path) -> None:
    with ExitStack() as stack:
        three = [stack.enter_context(replica("cms", states=tmp_path / str(n))) for n in range(3)]
        request = step_request(three[0])
        for each in three:
            load([each.address], request, 8, 200)

        def cost(used: Sequence[Replica]) -> float:
            before = sum(map(processor_seconds, used))
            load([each.address for each in used], request, 24, ROUND)
            return (sum(map(processor_seconds, used)) - before) / ROUND * 1000

        rounds = [(cost(three[:1]), cost(three)) for _ in range(5)]
    one, all_three = (min(each) for each in zip(*rounds, strict=True))  # others on the machine only ever add to it
    print(f"\nprocessor time per request: one replica {one:.2f} ms, three {all_three:.2f} ms ({all_three / one:.2f}x)")

    assert all_three <= 1.2 * one
