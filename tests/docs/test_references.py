"""Nothing points outside of the repository: sources are named by their system, specification or page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "engine", "prompts", "tool_instructions", "examples", "schemas", "tests")
TEXTS = {".md", ".py", ".yaml", ".yml", ".xml", ".json", ".txt", ".ts"}
ELSEWHERE = re.compile(
    r"\bseeds? 0\d\d\b|\bDESIGN\b|\b(?:the|CMS) seed(?:'s| page| has| shows|\b \(0)|\(promise \d|seeds\.md"
)
WORDS = ("seed", "DESIGN", "(promise ")
"""One of these is in all that the pattern finds, and in few files."""


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_file_refers_to_a_document_that_readers_do_not_have(folder: str) -> None:
    paths = [path for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS and "node_modules" not in path.parts]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in paths
        if path != Path(__file__) and path.is_file()
        if any(word in (text := path.read_text(encoding="utf-8", errors="replace")) for word in WORDS)
        for number, line in enumerate(text.splitlines(), 1)
        for match in ELSEWHERE.finditer(line)
    ]

    assert paths
    assert found == []
