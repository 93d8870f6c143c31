"""Which sentences about the tools a test holds: `@holds(tool, sentence, ...)` above the test."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from ruamel.yaml import YAML

from cms.tools import TOOLS

CMS = Path(__file__).parents[4] / "prompts" / "cms"
INSTRUCTIONS = Path(__file__).parents[4] / "tool_instructions" / "cms"

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
    for path in sorted(INSTRUCTIONS.glob("*.yaml")):
        for name, entry in YAML(typ="safe").load(path)["tools"].items():
            for key in ("description", "before", "after", "next", "gotcha"):
                said = entry.get(key, "")
                for line in said if isinstance(said, list) else said.splitlines():
                    yield from ((name, part) for part in _parts(line))


def _parts(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+|;\s+", text)
