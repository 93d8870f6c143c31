"""The studio as a process: uvicorn without logs, and an end that waits for no open tab."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from socket import socket
from types import FrameType

import uvicorn

from cuecard.server.door import ended_by_signals
from cuecard.studio.news import TabNews
from cuecard.studio.security import App


def run_app(app: App, listening: socket, news: TabNews, begin: Callable[[], object]) -> None:
    """Serve until SIGINT or SIGTERM; `begin` is called, by a thread, once the studio answers."""
    config = uvicorn.Config(
        app,
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,  # it would log query strings
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    StudioServer(config, news, begin).run(sockets=[listening])


class StudioServer(uvicorn.Server):
    """uvicorn, which tells the tabs when it stops: their streams would otherwise never end."""

    def __init__(self, config: uvicorn.Config, news: TabNews, begin: Callable[[], object]) -> None:
        super().__init__(config)
        self._news, self._begin = news, begin

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        threading.Thread(target=self._begin, name="cuecard-begin", daemon=True).start()

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """End the streams, and then answer what is left."""
        self._news.end()
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # a page that is given up now is no error
        await super().shutdown(sockets)

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]  # uvicorn's is one, too
        """Shut down on SIGINT and SIGTERM."""
        return ended_by_signals(self.handle_exit)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGINT or SIGTERM."""
        self._news.end()
        super().handle_exit(sig, frame)
