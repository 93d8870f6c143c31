"""Threads that prepare prompts at the same time: every half millisecond, one of them lets the others go on.

CPython lets one thread compute at a time, and takes the interpreter from it after 5 ms. With eight threads that prepare
prompts without a pause, any other thread waits for 10 ms on average after each system call, and one that is interrupted
in the middle of a prompt waits for up to half a second. So they give the interpreter back earlier, and where nobody
waits for them: between two prompts.
"""

from __future__ import annotations

import os
import threading
import time

_SHARE = 5e-4
"""Seconds after which a thread lets others go on. After every prompt would be too often: each change of the thread
takes time, and eight threads would make 40 % fewer prompts instead of 20 %."""

_MOMENT = 1e-6
"""Seconds that it sleeps; the system makes about 50 microseconds of it. Without sleeping, it would have the interpreter
back before another thread has woken up."""


class Contention:
    """A context in which a prompt is made; it ends with a moment of sleep if other threads are in it as well.

    A thread that sleeps, or waits for the interpreter afterwards, still counts: the one that is awake would otherwise
    see no other, and go on without a pause.
    """

    def __init__(self) -> None:
        self._threads: dict[int, set[int]] = {}
        self._slept = 0.0

    def __enter__(self) -> None:
        self._here().add(threading.get_ident())

    def __exit__(self, *_: object) -> None:
        here = self._here()
        if len(here) > 1 and time.perf_counter() - self._slept > _SHARE:
            time.sleep(_MOMENT)
            self._slept = time.perf_counter()
        here.discard(threading.get_ident())

    def _here(self) -> set[int]:
        """The threads in this process; those of its parent do not live on after a fork."""
        return self._threads.setdefault(os.getpid(), set())


CONTENTION = Contention()
"""One for all engines, since a process has one interpreter. No prompt depends on it."""
