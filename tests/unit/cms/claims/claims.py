"""Which sentences about the tools a test holds: `@holds(tool, sentence, ...)` above the test."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from cms.tools import TOOLS
from cuecard import Engine

CMS = Path(__file__).parents[4] / "prompts" / "cms"

Test = TypeVar("Test", bound=Callable[..., None])
Sentence = tuple[str, str]
"""A tool, and a sentence about it."""


def holds(tool: str, *sentences: str) -> Callable[[Test], Test]:
    """The test under it fails when one of these sentences is not true of the CMS."""

    def mark(test: Test) -> Test:
        claimed: Any = test
        claimed.claims = [*getattr(test, "claims", []), *((tool, sentence) for sentence in sentences)]
        return test

    return mark


def sentences() -> Iterator[Sentence]:
    """Every sentence that is said of a tool, by its instructions and by the CMS; a semicolon ends one, too."""
    for name, tool in TOOLS.items():
        yield from ((name, part) for part in _parts(tool.description))
    for name, card in Engine.open(CMS).tools.items():
        said = card.instructions
        assert said is not None
        for text in (card.description, said.before, said.after, said.next, said.gotcha):
            for line in text.splitlines():
                yield from ((name, part) for part in _parts(line.removeprefix("- ")))


def _parts(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+|;\s+", text)
