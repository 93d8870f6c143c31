from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def only_own_garbage() -> Iterator[None]:
    """The garbage collector does not go through what earlier benchmarks have left, which would count as this one's."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
