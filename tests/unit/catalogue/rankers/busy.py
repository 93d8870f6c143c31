"""What a process does that shares a cache; a module of its own, so that the process imports little else."""

from __future__ import annotations

import hashlib
from pathlib import Path

from cuecard.files.cache import Cache


def is_right(folder: str, seed: int) -> bool:
    """Whether the cache gives what was put, or nothing, while others write."""
    cache = Cache(Path(folder), limit=40_000)
    for n in range(60):
        key = str((n * 7 + seed) % 10)
        value = hashlib.sha256(key.encode()).digest() * 200
        if (found := cache.get(key)) is None:
            cache.put(key, value)
        elif found != value:
            return False
    return True
