"""What has changed, told to every open tab: a stream of server-sent events, with a heartbeat."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress

from cuecard.model import Json

HEARTBEAT = 15.0
"""Seconds of silence after which a tab is told so: proxies close silent connections, and tabs notice dead ones."""

MAX_TABS = 64
"""The number of tabs that are told what changes; the tab that has been open for longest gives way."""

MAX_NEWS = 256
"""The number of news that are kept for tabs whose page is older than they are."""

_ENDED = ""


class TabNews:
    """Tells tabs what has changed. `tell` and `end` may be called from any thread; `mark` is the number of what was
    told last, and numbers of a studio that runs later are higher.
    """

    def __init__(self) -> None:
        self._tabs: dict[asyncio.Queue[str], asyncio.AbstractEventLoop] = {}
        self._over, self._lock = False, threading.Lock()
        self.mark: int = time.time_ns()
        self._kept: deque[tuple[int, str]] = deque([(self.mark, _event("anew", self.mark))], MAX_NEWS)

    def tell(self, kind: str, **facts: Json) -> None:
        """Tell every tab that something has changed, such as `files` of an agent."""
        with self._lock:
            self.mark += 1
            self._kept.append((self.mark, _event(kind, self.mark, **facts)))
            self._put(self._kept[-1][1])

    def end(self) -> None:
        """Close every stream: the studio stops."""
        self._over = True
        self._put(_ENDED)

    async def stream(self, mark: int) -> AsyncIterator[str]:
        """The events for one tab, until the studio stops; first those since the `mark` that its page was made at."""
        tab: asyncio.Queue[str] = asyncio.Queue()
        while len(self._tabs) >= MAX_TABS:
            oldest = next(iter(self._tabs))
            self._tabs.pop(oldest)
            oldest.put_nowait(_ENDED)
        with self._lock:
            self._tabs[tab] = asyncio.get_running_loop()
            missed = self._since(mark)
        try:
            yield "retry: 1000\n: ready\n\n" + missed
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

    def _since(self, mark: int) -> str:
        """What was told since a mark; that everything may be another, if that is no longer known."""
        if self._kept[0][0] > mark or mark > self.mark:
            return _event("anew", self.mark)
        return "".join(text for number, text in self._kept if number > mark)

    def _put(self, text: str) -> None:
        for tab, loop in tuple(self._tabs.items()):
            with suppress(RuntimeError):  # its loop has ended
                loop.call_soon_threadsafe(tab.put_nowait, text)


def _event(kind: str, mark: int, **facts: Json) -> str:
    return f"id: {mark}\nevent: {kind}\ndata: {json.dumps(facts, separators=(',', ':'))}\n\n"
