"""Which sentences of the tool instructions a test holds: `@holds(tool, sentence, ...)` above the test."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from cuecard import Engine

CMS = Path(__file__).parents[4] / "prompts" / "cms"

Test = TypeVar("Test", bound=Callable[..., None])
Sentence = tuple[str, str]
"""A tool, and a sentence of its instructions."""


def holds(tool: str, *sentences: str) -> Callable[[Test], Test]:
    """The test under it fails when one of these sentences is not true of the CMS."""

    def mark(test: Test) -> Test:
        claimed: Any = test
        claimed.claims = [*getattr(test, "claims", []), *((tool, sentence) for sentence in sentences)]
        return test

    return mark


def sentences() -> Iterator[Sentence]:
    """Every sentence of every instruction; a semicolon ends one, too."""
    for tool, card in Engine.open(CMS).tools.items():
        said = card.instructions
        assert said is not None
        for text in (said.before, said.after, said.next, said.gotcha):
            for line in text.splitlines():
                parts = re.split(r"(?<=[.!?])\s+|;\s+", line.removeprefix("- "))
                yield from ((tool, part) for part in parts)
