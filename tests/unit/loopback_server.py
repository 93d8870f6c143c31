"""One HTTP server on this machine while a test lasts, for everything that tests let clients talk to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Handler(BaseHTTPRequestHandler):
    """Answers requests; says nothing on stderr."""

    def post(self) -> None:
        """Answer a POST, the one thing that most clients send."""
        raise NotImplementedError

    def do_POST(self) -> None:
        self.post()

    def do_GET(self) -> None:
        self.answer(b"", status=405)

    def do_DELETE(self) -> None:
        self.answer(b"")

    def body(self) -> bytes:
        """What the client has sent."""
        return self.rfile.read(int(self.headers["Content-Length"]))

    def answer(
        self,
        data: bytes,
        kind: str = "application/json",
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Send this as the whole answer."""
        self.send_response(status)
        for name, value in {"Content-Type": kind, **(headers or {}), "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(handler: type[Handler]) -> Iterator[str]:
    """The address of a server on a free port, without a slash at its end; it is closed when the test is done."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
