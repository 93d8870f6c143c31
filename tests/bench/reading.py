"""How long a reader takes for a text and for one four times as long, and how much memory for a large one."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress

from cuecard import CuecardError

SMALL, TIMES = 20_000, 4
MOST = 8.0
"""How many times as long four times the text may take: twice as long as in proportion, since runs differ."""
MEMORY = 200 * 2**20


def check_time(name: str, read: Callable[[str], object], text: Callable[[int], str]) -> None:
    """Four times the text takes about four times as long, accepted or refused: seconds of processor time."""
    small, large = (min(seconds(read, text(size)) for _ in range(3)) for size in (SMALL, TIMES * SMALL))
    print(f"{name:36} {small:6.3f} s {large:6.3f} s  x{large / small:4.1f}")

    assert large < MOST * small or large < 0.02, "too quick to tell"


def check_memory(name: str, read: Callable[[str], object], text: Callable[[int], str]) -> None:
    """A text of a quarter of a megabyte takes little memory, accepted or refused."""
    given = text(250_000)
    tracemalloc.start()
    try:
        seconds(read, given)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    print(f"{name:36} {peak / 2**20:6.1f} MB")

    assert peak < MEMORY


def seconds(read: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    with suppress(CuecardError):
        read(text)
    return max(time.process_time() - start, 1e-4)
