"""Eight threads that prepare prompts without a pause: how long a prompt takes, and what other threads wait."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from statistics import mean, median

import pytest

from cuecard import Engine
from cuecard.outside.contention import Contention

pytestmark = pytest.mark.bench

THREADS, SECONDS, ROUNDS = 8, 2.0, 3
CMS = Path(__file__).parents[2] / "prompts" / "cms"


@contextmanager
def running(works: list[threading.Thread], stop: threading.Event) -> Iterator[None]:
    for work in works:
        work.start()
    try:
        yield
    finally:
        stop.set()
        for work in works:
            work.join()


def measured(engine: Engine) -> tuple[float, float, float]:
    """Prompts per second; the time that 99 of 100 keep; the mean time of a system call of another thread."""
    stop, prompts, calls = threading.Event(), list[float](), list[float]()

    def prepare() -> None:
        while not stop.is_set():
            begun = time.perf_counter()
            engine.prepare_step(engine.prepare_call())
            prompts.append(time.perf_counter() - begun)

    def look() -> None:
        while not stop.is_set():
            begun = time.perf_counter()
            os.stat(CMS)  # noqa: PTH116 - one system call, and nothing around it
            calls.append(time.perf_counter() - begun)

    with running([*(threading.Thread(target=prepare) for _ in range(THREADS)), threading.Thread(target=look)], stop):
        time.sleep(SECONDS)
    return len(prompts) / SECONDS, sorted(prompts)[int(0.99 * (len(prompts) - 1))], mean(calls)


def test_threads_let_each_other_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine.open(CMS)
    engine.prepare_step(engine.prepare_call())
    kinds: dict[str, AbstractContextManager[None]] = {"without": nullcontext(), "with": Contention()}
    found = dict[str, list[tuple[float, float, float]]]((kind, []) for kind in kinds)
    for _ in range(ROUNDS):
        for kind, context in kinds.items():
            monkeypatch.setattr("cuecard.hooks.CONTENTION", context)
            found[kind].append(measured(engine))
    rate, late, wait = zip(*(map(median, zip(*found[kind], strict=True)) for kind in kinds), strict=True)
    print(f"\n{THREADS} threads without a pause, without and with letting each other go on:")
    print(f"  prompts per second: {rate[0]:,.0f} and {rate[1]:,.0f}")
    print(f"  99 % of them within {late[0] * 1e3:.1f} and {late[1] * 1e3:.1f} ms")
    print(f"  a system call of another thread: {wait[0] * 1e3:.2f} and {wait[1] * 1e3:.2f} ms")

    assert late[1] < late[0] / 2
    assert wait[1] < wait[0] / 2
    assert rate[1] > rate[0] * 0.6
