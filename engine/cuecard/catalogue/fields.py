"""The searchable texts of a card, with weights."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, field
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from cuecard.catalogue.words import STOP_WORDS, WordReader
from cuecard.model import Json, ToolCard
from cuecard.records import dataclass

MOST_NODES = 300
"""The maximum number of nodes read from a schema, since schemas come from tool servers and may be deep, huge or
cyclic.
"""

MOST_CHARACTERS = 4_000

LEADING = 400
"""The characters of a description that say what a tool does; a longer one holds any words by chance."""

_NAMED = ("properties", "patternProperties", "$defs", "definitions")
_NESTED = ("items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf")
_SAID = ("title", "description")


def parameter_text(schema: object) -> str:
    """The words of a JSON Schema at any depth, one text per line; empty for anything else.

    References are not followed: their targets are either in the schema anyway or missing.
    """
    text = "\n".join(islice(_said(schema), MOST_NODES))
    return text[:MOST_CHARACTERS]


def _said(schema: object) -> Iterator[str]:
    waiting, seen = [schema], 0
    while waiting and seen < MOST_NODES:
        node, seen = waiting.pop(0), seen + 1
        if isinstance(node, list | tuple):
            waiting += node[:MOST_NODES]
        elif isinstance(node, Mapping):
            if seen > 1:
                yield from (text for key in _SAID if isinstance(text := node.get(key), str))
            yield from _choices(node.get("enum"))
            for key in _NAMED:
                yield from _names(node.get(key), waiting)
            waiting += [node[key] for key in _NESTED if key in node]


def _names(named: object, waiting: list[object]) -> Iterator[str]:
    if isinstance(named, Mapping):
        for name in islice(named, MOST_NODES):
            if isinstance(name, str):
                yield name
            waiting.append(named[name])


def _choices(values: object) -> Iterator[str]:
    if isinstance(values, list | tuple):
        yield from (value for value in values[:MOST_NODES] if isinstance(value, str))


Weights: TypeAlias = Mapping[str, float]
"""How much each occurrence of a word in a field counts; a field that is absent or 0 is not searched."""

FIELDS: Mapping[str, Callable[[ToolCard], str]] = MappingProxyType(
    {
        "name": lambda card: bare_name(card.name),
        "phrases": lambda card: "\n".join(card.phrases),
        "description": lambda card: card.description[:LEADING],
        "details": lambda card: card.description[LEADING:],
        "category": lambda card: f"{card.category}\n{server_prefix(card.name)}",
        "instructions": lambda card: "\n".join(astuple(card.instructions)) if card.instructions else "",
        "parameters": lambda card: parameter_text(card.input_schema) if card.input_schema else "",
    }
)
"""The text of each field."""

WEIGHTS: Weights = MappingProxyType(
    {
        "name": 3.0,
        "phrases": 1.0,
        "description": 1.0,
        "details": 0.25,
        "category": 0.5,
        "instructions": 0.25,
        "parameters": 0.25,
    }
)

_SEPARATORS = ("__", ".", "/", ":")


def short_texts(card: ToolCard, weights: Weights) -> list[str]:
    """The texts that a query may match as a whole: the tool's name and its phrases, if those fields are searched."""
    names = [bare_name(card.name)] if weights.get("name") else []
    return [*names, *card.phrases] if weights.get("phrases") else names


def bare_name(name: str) -> str:
    """The name without the prefix of its server: `brave_web_search` of `mcp__brave__brave_web_search`."""
    return name[_bare_from(name) :]


def server_prefix(name: str) -> str:
    """The prefix of the bare name, such as `mcp__brave__`. All tools of a server share it, so it counts little."""
    return name[: _bare_from(name)]


def _bare_from(name: str) -> int:
    """The offset after the last separator with text before it and letters after it."""
    if name.isidentifier() and "__" not in name:
        return 0
    found = (at + len(mark) for mark in _SEPARATORS if (at := name.rfind(mark)) > 0)
    return max((end for end in found if any(map(str.isalnum, name[end:]))), default=0)


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
    return text.encode(errors="replace").decode()


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


class NamedTools(NamedTuple):
    """The tools that a query names: by their own names, and by that of their category; in catalogue order."""

    tools: tuple[str, ...] = ()
    of_category: tuple[str, ...] = ()


_QUOTES = " \t\n\"'`<>.?!"
_NAME = re.compile(r"[\w./:-]+")
_ORDINARY = re.compile(r"[^\W\d_]+")
_AROUND = frozenset(("category", "categories", "tool", "tools"))
"""What a query says around the name of a category."""


@dataclass(frozen=True, slots=True)
class ToolNames:
    """The names of tools and of categories, as a query may write them, each with its tools."""

    tools: Mapping[str, Sequence[str]] = field(default_factory=dict)
    categories: Mapping[str | frozenset[str], Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, cards: Iterable[ToolCard]) -> ToolNames:
        """The names of these tools, also without the prefix of a server; those without a category are under `""`."""
        reader = WordReader()
        tools: dict[str, dict[str, None]] = {}
        categories: dict[str | frozenset[str], list[str]] = {}
        for card in cards:
            for name in (card.name, bare_name(card.name)):
                tools.setdefault(_as_words(name), {})[card.name] = None
            for key in _category_keys(card.category, reader):
                categories.setdefault(key, []).append(card.name)
        return cls({name: (*found,) for name, found in tools.items() if name}, categories)

    def named(self, query: str, other: str) -> NamedTools:
        """The tools that a query names: as a whole, or by a name among its words that is no ordinary word.

        Args:
            query: the query.
            other: what the tools without a category are called.
        """
        words = _as_words(query)
        tools = dict.fromkeys(self.tools.get(words, ()))
        for word in _NAME.findall(query):
            if not _ORDINARY.fullmatch(word) or in_words(word) != word:
                tools.update(dict.fromkeys(self.tools.get(_as_words(word), ())))
        plain = " ".join(word for word in words.split() if word not in _AROUND)
        if {words, plain} & {_as_words(other)}:
            return NamedTools((*tools,), (*self.categories.get("", ()),))
        keys = (key for written in (words, plain) if written for key in _category_keys(written, WordReader()))
        return NamedTools((*tools,), next((tuple(found) for key in keys if (found := self.categories.get(key))), ()))


def _as_words(name: str) -> str:
    return in_words(name.strip(_QUOTES)).casefold()


def _category_keys(category: str, reader: WordReader) -> Iterator[str | frozenset[str]]:
    """The words of a category as they are written, and their stems."""
    yield (words := _as_words(category))
    if parts := reader.parts(words):
        yield parts
