"""Eight threads that prepare prompts without a pause, under Python's own switch interval and a shorter one."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

import pytest

from cuecard import Engine

pytestmark = pytest.mark.bench

THREADS, SECONDS, ROUNDS = 8, 2.0, 5
SHORT = 5e-4
"""The switch interval, in seconds, that the page on many threads names."""
OVER_ALONE, LATE_OVER_ALONE = 3.0, 150.0
"""How many times as long as one that is prepared alone the median and the 99th percentile of a prompt may take."""
RATE_KEPT = 0.5
"""The share of prompts per second that a shorter interval leaves."""

CMS = Path(__file__).parents[2] / "prompts" / "cms"


@contextmanager
def switching(interval: float) -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(interval)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def measured(engine: Engine, count: int) -> tuple[float, float, float]:
    """Prompts per second, and the median and 99th percentile of the seconds that one takes: its call and its step."""
    stop, taken = threading.Event(), list[float]()

    def prepare() -> None:
        while not stop.is_set():
            begun = time.perf_counter()
            engine.prepare_step(engine.prepare_call())
            taken.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=prepare) for _ in range(count)]
    for thread in threads:
        thread.start()
    time.sleep(SECONDS)
    stop.set()
    for thread in threads:
        thread.join()
    return len(taken) / SECONDS, median(taken), quantiles(taken, n=100)[-1]


def test_a_host_of_many_threads_needs_no_more_than_a_short_switch_interval() -> None:
    engine = Engine.open(CMS)
    engine.prepare_step(engine.prepare_call())
    kinds = [(1, sys.getswitchinterval()), (THREADS, sys.getswitchinterval()), (THREADS, SHORT)]
    found: list[list[tuple[float, ...]]] = [[] for _ in kinds]
    for _ in range(ROUNDS):  # each in every round, so that all of them share the machine's good and bad moments
        for (count, interval), rounds in zip(kinds, found, strict=True):
            with switching(interval):
                rounds.append(measured(engine, count))
    columns = [tuple(zip(*rounds, strict=True)) for rounds in found]
    figures = [(max(rates), min(usual), min(late)) for rates, usual, late in columns]
    print(f"\nthreads that prepare prompts without a pause, best of {ROUNDS}:")
    for (count, interval), (rate, usual, late) in zip(kinds, figures, strict=True):
        told = f"{rate:5,.0f} prompts a second, median {usual * 1e3:.2f} ms, p99 {late * 1e3:.0f} ms"
        print(f"  {count} with a switch interval of {interval * 1e3:.1f} ms: {told}")
    (_, alone, _), (rate, *_), (shorter_rate, usual, late) = figures

    assert usual <= OVER_ALONE * alone
    assert late <= LATE_OVER_ALONE * alone
    assert shorter_rate >= RATE_KEPT * rate
