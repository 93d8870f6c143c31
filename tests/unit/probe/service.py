"""Services that treat a message mid-conversation in their own ways, before a model that is honest reads it."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Messages: TypeAlias = Sequence[dict[str, Any]]


class Refusal(Exception):  # noqa: N818 - what a service says, no fault of it
    def __init__(self, status: int, text: str = "", **headers: str) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers


class Raw(Exception):  # noqa: N818 - bytes as they are
    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data


def operators(messages: Messages) -> list[dict[str, Any]]:
    return [message for message in messages if message["role"] in {"system", "developer"}]


def in_place(messages: Messages) -> Messages:
    return messages


def hoist(messages: Messages) -> Messages:
    ours = operators(messages)
    return [*ours, *(message for message in messages if message not in ours)]


def to_the_end(messages: Messages) -> Messages:
    ours = operators(messages)
    *before, last = [message for message in messages if message not in ours]
    return [*before, *ours, last] if not ours or "Note: " not in str(last) else [*before, last, *ours]


def drop(messages: Messages) -> Messages:
    ours = operators(messages)
    return [message for message in messages if message not in ours]


def refuse(messages: Messages) -> Messages:
    if operators(messages):
        raise Refusal(400, '{"error": {"message": "role system is not supported"}}')
    return messages


def answer(messages: Messages, *, heeds: bool) -> str:
    """A model that reads what is left to it: it lists notes in order, and follows the operator if it does."""
    last = str(messages[-1]["content"]) if "List the colours" in str(messages) else ""
    if last:
        found = [c for m in messages for c in re.findall(r"Note: (\w+)", str(m["content"]))]
        return f"<think>red? {found[-1]} first?</think>{', '.join(found)}"
    marks = re.findall(r"with the word (\w+)", " ".join(str(m["content"]) for m in operators(messages)))
    return f"Saturday {marks[-1]}" if marks and heeds else "Saturday"


@dataclass
class Service:
    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def service(  # noqa: C901 - the handler knows what stands around it
    treat: Callable[[Messages], Messages] = in_place, *, heeds: bool = True, usage: dict[str, Any] | None = None
) -> Iterator[Service]:
    """Both forms of requests at one address; `treat` may refuse, answer bytes, or wait for `hang`."""
    hang = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            got.requests.append(body)
            got.headers.append({name.lower(): value for name, value in self.headers.items()})
            try:
                text = answer(treat(body["messages"]), heeds=heeds)
            except Refusal as refusal:
                self._send(refusal.status, refusal.text.encode(), refusal.headers)
            except Raw as raw:
                self._send(200, raw.data, {})
            except TimeoutError:
                hang.wait(10)
            else:
                self._send(200, json.dumps(self._made(text)).encode(), {})

        def _made(self, text: str) -> dict[str, Any]:
            if self.path.endswith("/messages"):
                return {"content": [{"type": "thinking"}, {"type": "text", "text": text}], "usage": usage or {}}
            return {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage}

        def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is that of http.server
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    got = Service(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield got
    finally:
        hang.set()
        server.shutdown()
        thread.join()
        server.server_close()
