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
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "prompts").rglob("README.md"),
    ROOT / "engine/README.md",
]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_file_refers_to_a_document_that_readers_do_not_have(folder: str) -> None:
    paths = [path for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS and "node_modules" not in path.parts]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in paths
        if path != Path(__file__) and path.is_file()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        for match in ELSEWHERE.finditer(line)
    ]

    assert paths
    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = [link for link in LINK.findall(text) if "://" not in link and not link.startswith("mailto:")]

    assert [link for link in links if not (page.parent / link).exists()] == []
