"""The glossary has the words that are no key, each in one line with a link; keys are explained where they are used."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from cuecard.config.history_spec import BlockHistory, LastHistory, TokenHistory, WindowHistory
from cuecard.config.sections.section_spec import SOURCES, LayoutSpec, SectionSpec
from cuecard.config.tools_spec import Cue
from cuecard.types import Authority, DeliveryWish, Host, ReloadPolicy, Tier

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "glossary.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (?!term \||-)(.+?) \| (.+) \|$", PAGE, re.MULTILINE))
POLICIES = (WindowHistory, TokenHistory, LastHistory, BlockHistory)
READ = "\n".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md")) + (DOCS / "hosts/README.md").read_text(
    "utf-8"
)


def _allowed(model: type[BaseModel], key: str) -> tuple[str, ...]:
    return get_args(model.model_fields[key].annotation)


WORDS_OF_SETTINGS = [
    *get_args(Tier),
    *get_args(DeliveryWish),
    *get_args(get_args(ReloadPolicy)[0]),
    *get_args(Host),
    *get_args(Cue),
    *get_args(Authority),
    *SOURCES,
    *chain.from_iterable(_allowed(policy, "policy") for policy in POLICIES),
    *_allowed(SectionSpec, "trust"),
    *_allowed(LayoutSpec, "escaping"),
]


@pytest.mark.parametrize("word", WORDS_OF_SETTINGS)
def test_a_word_of_the_settings_is_told_on_a_page_that_is_read(word: str) -> None:
    assert re.search(rf"`(\w+: )?{re.escape(word)}(:[^`]*)?`", READ)


@pytest.mark.parametrize("term", ROWS)
def test_a_meaning_is_short_and_leads_on(term: str) -> None:
    said, _, link = ROWS[term].rpartition(" [")

    assert re.fullmatch(r"[\w' ]+\]\([\w./#-]+\)", link)
    assert said.endswith(".")
    assert len(said.split()) <= 22, "one line"


def test_terms_appear_once_and_in_tables() -> None:
    assert len(ROWS) == len(re.findall(r"^\| (?!term \||-)", PAGE, re.MULTILINE))
