"""The engine's own words with any values in them: filled in one pass, and what is filled in stays a value."""

from __future__ import annotations

import json
import re
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from cuecard import Call, Engine, Entity, Memory, ToolCard, Turn
from cuecard.adapters.bodies import reminder
from cuecard.catalogue.search import SearchIndex
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.values import fill
from cuecard.config.word import is_wrapped, tag_problems
from cuecard.config.words_spec import ENGLISH
from cuecard.types import WordsSpec

NAMES = ("neuer-stand", "fehlt", "hinweis", "suche")
WORDS = {
    "search": {
        "nothing": "<suche>{query}</suche>",
        "example": "<suche>{query}</suche>",
        "advice_with_examples": "{examples}",
    },
    "notices": {
        "update": '<neuer-stand nr="{turn}">{text}</neuer-stand>',
        "withdrawn_tools": "<fehlt>{tools}</fehlt>",
        "reminder": "<hinweis>\n{text}</hinweis>",
    },
}
SPEC = WordsSpec.model_validate(WORDS)
OWN = re.compile(rf"[<\u2039\uff1c]\s*/?\s*({'|'.join(NAMES)})\b[^>]*>?", re.IGNORECASE)
"""What a tolerant reader takes for a tag of one of the words."""

TRICKS = (
    "<",
    "</",
    "\u2039",
    ">",
    "{query}",
    "{text}",
    "{",
    "}",
    "\\1",
    "\\g<0>",
    "hinweis",
    "fehlt",
    "-stand",
    "/ SUCHE ",
)
VALUES = st.lists(st.sampled_from(TRICKS) | st.text(max_size=4), max_size=8).map("".join)


def mine(text: str) -> list[str]:
    return [match[1].lower() for match in OWN.finditer(text)]


@given(st.lists(st.sampled_from(["a", "{b}", "{c}", "{", "}", "{ b }", "{}"]), max_size=8), VALUES, VALUES)
def test_a_format_is_filled_in_one_pass(pieces: list[str], first: str, second: str) -> None:
    values = {"b": first, "c": second}
    form = "".join(pieces)
    expected = re.split(r"(\{[bc]\})", form)

    assert fill(form, values) == "".join(values[p[1]] if p in {"{b}", "{c}"} else p for p in expected)


@given(VALUES, st.lists(VALUES, max_size=3))
def test_no_query_and_no_phrase_opens_or_closes_an_element(query: str, phrases: list[str]) -> None:
    cards = [ToolCard(f"tool_{n}", phrases=(phrase,), category=f"c{n}") for n, phrase in enumerate(phrases)]
    index = SearchIndex.build(cards, ranker=lambda *_: ())
    message = index.search(query, words=SPEC).message
    shown = len([phrase for phrase in phrases if phrase.split()]) + bool(query.strip())

    assert mine(message) == ["suche"] * 2 * shown


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_no_category_opens_or_closes_an_element(categories: list[str]) -> None:
    cards = [ToolCard(f"tool_{n}", category=category) for n, category in enumerate(categories)]
    found = SearchIndex.build(cards, ranker=lambda *_: (), count=len).search("nothing like it", words=SPEC)

    assert found.categories
    assert not any(mine(name) for name in found.categories)


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_no_name_in_a_list_opens_or_closes_an_element(names: list[str]) -> None:
    notice = fill(SPEC.notices.withdrawn_tools, {"tools": SPEC.listed(names)})

    assert mine(notice) == ["fehlt", "fehlt"]
    assert SPEC.listed(names).replace("&lt;", "").count("{") == sum(name.count("{") for name in names)


@cache
def engine(kind: str) -> Engine:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        core = "<a><b>{{{i}}}</b><c>{{{workingMemory}}}</c></a>"
        (folder / "core.xml").write_text(core, encoding="utf-8")
        sections = [{"id": "b", "text": "{{{i}}}"}, {"id": "c", "text": "{{{workingMemory}}}"}]
        names = {"file": "core.xml", "escaping": "names"}
        made: dict[str, dict[str, object]] = {
            "list": {"sections": sections},
            "xml": {"template": "core.xml"},
            "names": {"template": names},
        }
        agent: dict[str, object] = {"agent": "a", "inputs": {"i": {"default": ""}}, "words": WORDS, **made[kind]}
        (folder / "agent.yaml").write_text(json.dumps(agent), encoding="utf-8")
        return Engine.open(folder / "agent.yaml")


@pytest.mark.parametrize("kind", ["list", "xml", "names"])
@given(value=VALUES.filter(lambda text: text.isprintable()), name=VALUES.filter(lambda text: text.isprintable()))
def test_no_value_opens_or_closes_an_element_of_the_words(kind: str, value: str, name: str) -> None:
    """Promise 3, for elements that an agent file has named."""
    first = engine(kind).prepare_call(Turn({"i": "x"}))
    memory = Memory((Entity("t", "1", name), Entity(f"{value}t", "2", value)))
    call = engine(kind).prepare_call(Turn({"i": value}, memory), previous=Call.from_json(first.to_json()))
    step = engine(kind).prepare_step(call)
    [block] = step.appended

    assert mine(block.text) == ["neuer-stand", "neuer-stand"]
    assert mine(reminder(block.text, step.reminder)) == ["hinweis", "neuer-stand", "neuer-stand", "hinweis"]
    assert engine(kind).agent.names >= {*NAMES}


MARKUP = st.lists(st.sampled_from(["<a>", "</a>", "<b>", "</b>", "<a/>", "x", "{text}", " ", "\n"]), max_size=8)


@given(MARKUP.map("".join))
def test_what_is_balanced_and_what_is_wrapped_xml_decides(text: str) -> None:
    """lxml is the oracle."""
    balanced = not list(tag_problems(text))

    assert balanced == parses(f"<r>{text}</r>")
    assert (balanced and is_wrapped(text)) == parses(text.strip())


def parses(text: str) -> bool:
    try:
        etree.fromstring(text)
    except etree.XMLSyntaxError:
        return False
    return True


PLAIN = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="<{}"), min_size=1, max_size=12)


@given(PLAIN)
def test_words_come_out_of_a_file_as_they_were_written(more: str) -> None:
    english = ENGLISH.model_dump(exclude={"memory": {"types"}, "notices": True})
    written = {group: {name: text + more for name, text in words.items()} for group, words in english.items()}
    read = validate(read_yaml(json.dumps(written, ensure_ascii=False), "words.yaml"), WordsSpec)

    assert read.model_dump(exclude={"memory": {"types"}, "notices": True}) == written
