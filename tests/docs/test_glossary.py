"""The glossary has every word of the settings' vocabulary, each with a short meaning and a link."""

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

PAGE = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (?!term \||-)(.+?) \| (.+) \|$", PAGE, re.MULTILINE))
POLICIES = (WindowHistory, TokenHistory, LastHistory, BlockHistory)


def _allowed(model: type[BaseModel], key: str) -> tuple[str, ...]:
    return get_args(model.model_fields[key].annotation)


HAVE_A_ROW = [
    *get_args(Tier),
    *get_args(DeliveryWish),
    *get_args(get_args(ReloadPolicy)[0]),
    *get_args(Host),
    *get_args(Cue),
    *SOURCES,
]
ARE_NAMED = [
    *get_args(Authority),
    *chain.from_iterable(_allowed(policy, "policy") for policy in POLICIES),
    *_allowed(SectionSpec, "trust"),
    *_allowed(LayoutSpec, "escaping"),
]


@pytest.mark.parametrize("word", HAVE_A_ROW)
def test_a_word_of_the_settings_has_a_row(word: str) -> None:
    assert any(f"`{word}`" in term for term in ROWS)


@pytest.mark.parametrize("word", ARE_NAMED)
def test_a_value_of_a_setting_is_explained_somewhere(word: str) -> None:
    assert any(f"`{word}`" in f"{term} {meaning}" for term, meaning in ROWS.items())


@pytest.mark.parametrize("term", ROWS)
def test_a_meaning_is_short_and_leads_on(term: str) -> None:
    said, _, link = ROWS[term].rpartition(" [")

    assert re.fullmatch(r"[\w' ]+\]\([\w./#-]+\)", link)
    assert said.endswith(".")
    assert len(re.findall(r"[.;:](?= |$)", said)) <= 4


def test_terms_appear_once_and_in_tables() -> None:
    assert len(ROWS) == len(re.findall(r"^\| (?!term \||-)", PAGE, re.MULTILINE))
