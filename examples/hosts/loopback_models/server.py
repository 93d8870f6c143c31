"""The service: it answers each request of a conversation by a script, and keeps what it was asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from loopback_models import anthropic_wire, bedrock_wire, chat_wire, gemini_wire, responses_wire
from loopback_models.wire import Call, Json, Wire

PATHS: dict[str, Wire] = {
    r"/v1/messages": anthropic_wire.WIRE,
    r"/v1/chat/completions": chat_wire.WIRE,
    r"/v1/responses": responses_wire.WIRE,
    r"/v1(beta)?/models/[^/]+:(generate|streamGenerate)Content": gemini_wire.WIRE,
    r"/model/[^/]+/converse(-stream)?": bedrock_wire.WIRE,
}


@dataclass
class LoopbackModels:
    """Its address; which tools the model calls in each answer of a conversation; and the bodies that it got, in order.

    It remembers no conversation: the number of answers in a request tells how far its conversation is.
    """

    url: str
    script: Sequence[Sequence[Call]]
    bodies: list[bytes] = field(default_factory=list)

    @property
    def asked(self) -> list[Json]:
        """The bodies as they are read."""
        return [json.loads(body) for body in self.bodies]

    def answer(self, path: str, body: bytes) -> tuple[str, bytes]:
        """The content type and the bytes of an answer."""
        self.bodies.append(body)
        wire = next(wire for pattern, wire in PATHS.items() if re.fullmatch(pattern, path.partition("?")[0]))
        asked = json.loads(body)
        number = wire.answered(asked)
        made = wire.answer(number, self.script[number] if number < len(self.script) else ())
        if asked.get("stream") or "stream" in path.lower():
            return wire.stream_type, wire.events(made)
        return "application/json", json.dumps(made).encode()


@contextmanager
def loopback_models(script: Sequence[Sequence[Call]]) -> Iterator[LoopbackModels]:
    """The service, on a port that is free, for as long as it is needed."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            kind, data = service.answer(self.path, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is that of http.server
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 128
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    service = LoopbackModels(f"http://127.0.0.1:{server.server_port}", script)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
