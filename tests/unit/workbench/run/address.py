"""A real tool server at an address of this machine, while a test lasts."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from socket import create_server
from typing import Any

import uvicorn

PATIENCE = 60.0


@contextmanager
def at_an_address(app: Any) -> Iterator[str]:
    """The URL of the MCP endpoint (streamable HTTP) of a server's web application."""
    with create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(app, log_config=None, ws="none", lifespan="on")
        running = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: running.run(sockets=[listening]))
        thread.start()
        try:
            deadline = time.monotonic() + PATIENCE
            while not running.started:
                assert thread.is_alive()
                assert time.monotonic() < deadline
                time.sleep(0.002)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            running.should_exit = True
            thread.join(PATIENCE)
