"""The texts of a tool card for rankers that compare meanings rather than words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cuecard.catalogue.words import STOP_WORDS
from cuecard.model import Json, ToolCard

MAX_TEXT = 1000
"""How much of a card's text is read, in characters: what a tool does is said at the beginning."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINTS = re.compile(r"[\s_./:-]+")
_WORD = re.compile(r"\w+(?:['’]\w+)?")


class CardTexts(NamedTuple):
    """A card as texts: everything it says, its name in words, and its phrases; only the phrases may be empty.

    `all` has the name, the description and the names of the parameters.
    """

    all: str
    name: str
    phrases: str

    @classmethod
    def of(cls, card: ToolCard) -> CardTexts:
        """The texts of a card."""
        name = in_words(card.name) or card.name
        parameters = " ".join(in_words(key) for key in _parameters(card.input_schema))
        text = f"{name}. {card.description[:MAX_TEXT]} {parameters[:MAX_TEXT]}".strip()
        return cls(whole(text), whole(name), whole(". ".join(card.phrases)[:MAX_TEXT]))


def in_words(name: str) -> str:
    """A name as people would say it: `mcp__brave-search__webSearch` becomes `mcp brave search web Search`."""
    return _JOINTS.sub(" ", _HUMP.sub(" ", name)).strip()


def whole(text: str) -> str:
    """The text with `?` for lone surrogates, which no encoder accepts."""
    return text.encode("utf-8", "replace").decode("utf-8")


def bare(query: str) -> str:
    """The words of a query without those that say nothing about a capability; the whole query if there are no
    others.
    """
    words = [word for word in _WORD.findall(query) if re.split("['’]", word.casefold())[0] not in STOP_WORDS]
    return " ".join(words) or query


def _parameters(schema: Mapping[str, Json]) -> Iterator[str]:
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        yield from map(str, properties)
