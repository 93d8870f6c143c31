from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from cuecard.files.tokens import uncached_count


@pytest.fixture(scope="session")
def count() -> Callable[[object], int]:
    """How many tokens a result costs as JSON."""
    counter = uncached_count("o200k_base")
    return lambda result: counter(json.dumps(result))
