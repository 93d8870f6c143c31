"""What has changed, told to every open tab: a stream of server-sent events, with a heartbeat."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress

from cuecard.model import Json

HEARTBEAT = 15.0
"""Seconds of silence after which a tab is told so: proxies close silent connections, and tabs notice dead ones."""

MAX_TABS = 64
"""The number of tabs that are told what changes; the tab that has been open for longest gives way."""

_ENDED = ""


class News:
    """Tells tabs what has changed. `tell` and `end` may be called from any thread."""

    def __init__(self) -> None:
        self._tabs: dict[asyncio.Queue[str], asyncio.AbstractEventLoop] = {}
        self._over = False

    def tell(self, kind: str, **facts: Json) -> None:
        """Tell every tab that something has changed, such as `files` of an agent."""
        self._put(f"event: {kind}\ndata: {_line(facts)}\n\n")

    def end(self) -> None:
        """Close every stream: the studio stops."""
        self._over = True
        self._put(_ENDED)

    async def stream(self, missed: Callable[[], str] = str) -> AsyncIterator[str]:
        """The events for one tab, until the studio stops; first the agent that has `missed`: changed since its page."""
        tab: asyncio.Queue[str] = asyncio.Queue()
        while len(self._tabs) >= MAX_TABS:
            oldest = next(iter(self._tabs))
            self._tabs.pop(oldest)
            oldest.put_nowait(_ENDED)
        self._tabs[tab] = asyncio.get_running_loop()
        try:
            yield "retry: 1000\n: ready\n\n"
            if agent := missed():
                yield f"event: files\ndata: {_line({'agent': agent})}\n\n"
            while not self._over:
                try:
                    text = await asyncio.wait_for(tab.get(), HEARTBEAT)
                except TimeoutError:
                    text = ": still here\n\n"
                if text == _ENDED:
                    return
                yield text
        finally:
            self._tabs.pop(tab, None)

    def _put(self, text: str) -> None:
        for tab, loop in tuple(self._tabs.items()):
            with suppress(RuntimeError):  # its loop has ended
                loop.call_soon_threadsafe(tab.put_nowait, text)


def _line(facts: Mapping[str, Json]) -> str:
    return json.dumps(facts, separators=(",", ":"))
