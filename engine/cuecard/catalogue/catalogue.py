"""The catalogue: every tool an agent could use, by name; and what a tool server says of tools, cleaned."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping
from dataclasses import field, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any

from cuecard.errors import InputError, Problem, visible
from cuecard.model import Cut, Json, ToolCard
from cuecard.model.argument_problems import refuse
from cuecard.model.boundary import taken
from cuecard.model.json_values import MAX_DEPTH
from cuecard.records import dataclass
from cuecard.template import clean

TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""Tool names that model providers accept, and that are harmless in prompts."""

MAX_TOOL_TEXT = 8_192
"""The maximum length of a description, a category or a phrase from a tool server, in characters."""

_WRITTEN = 80

_SHOWN = tuple(each.name for each in fields(ToolCard) if each.name != "source")


class Catalogue(Mapping[str, ToolCard]):
    """Tool cards by name, in the order they were given. Immutable.

    Raises:
        InputError: with every card whose name another card has already.
    """

    __slots__ = ("_cards", "_definitions", "_names", "_sha256")

    def __init__(self, cards: Iterable[ToolCard] = ()) -> None:
        self._cards = MappingProxyType(_by_name(cards))
        self._names = tuple(self._cards)
        self._sha256 = ""
        self._definitions: dict[str, str] = {}

    def __getitem__(self, name: str) -> ToolCard:
        return self._cards[name]

    def __contains__(self, name: object) -> bool:
        return name in self._cards

    def __iter__(self) -> Iterator[str]:
        return iter(self._cards)

    def __len__(self) -> int:
        return len(self._cards)

    def items(self) -> ItemsView[str, ToolCard]:
        """The cards by name: those of the mapping inside, since every call walks through them."""
        return self._cards.items()

    def keys(self) -> KeysView[str]:
        """The names, likewise: every step asks for each tool that was found."""
        return self._cards.keys()

    def __repr__(self) -> str:
        return f"Catalogue({len(self)} tools)"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools, in order."""
        return self._names

    @property
    def sha256(self) -> str:
        """The fingerprint, in hex, of everything a prompt may show of the tools, and of their order."""
        if not self._sha256:
            known = [[getattr(card, name) for name in _SHOWN] for card in self.values()]
            self._sha256 = hashlib.sha256(json.dumps(known, default=_plain).encode()).hexdigest()
        return self._sha256

    def definition(self, name: str) -> str:
        """A tool's definition as requests carry it, as JSON; empty while no host or server has said what it takes."""
        card = self._cards.get(name)
        if card is None or not card.input_schema:
            return ""
        if name not in self._definitions:
            self._definitions[name] = definition_text(card.name, card.description, card.input_schema)
        return self._definitions[name]

    def merged(self, cards: Iterable[ToolCard]) -> Catalogue:
        """A catalogue with a host's information about its tools added, such as a tool server's descriptions and
        schemas.

        A host's card only fills empty fields, so texts in files stay. New tools come last, in the host's order.

        Raises:
            InputError: with every name that the host uses for two tools.
        """
        told = _by_name(cards)
        known = (_filled(card, told.pop(name, card)) for name, card in self.items())
        return Catalogue([*known, *told.values()])


def definition_text(name: str, description: str, schema: Mapping[str, Json]) -> str:
    """The definition of a tool as JSON, as providers' clients write it: no spaces, no escaped letters."""
    definition = {"name": name, "description": description, "input_schema": schema}
    return json.dumps(definition, default=_plain, ensure_ascii=False, separators=(",", ":"))


def _by_name(cards: Iterable[ToolCard]) -> dict[str, ToolCard]:
    unique: dict[str, ToolCard] = {}
    problems = [_duplicate(unique[card.name], card) for card in cards if unique.setdefault(card.name, card) is not card]
    if problems:
        raise InputError(problems)
    return unique


def _plain(value: object) -> Json:
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return str(value)


def _duplicate(first: ToolCard, second: ToolCard) -> Problem:
    where = f"first from {first.source}; " if first.source else ""
    hint = f"{where}the model identifies tools by name alone: rename or remove one"
    return Problem("duplicate-tool", f"two tools are named `{second.name}`", hint, name=second.source)


def _filled(card: ToolCard, told: ToolCard) -> ToolCard:
    return replace(
        card,
        description=card.description or told.description,
        input_schema=card.input_schema or told.input_schema,
        phrases=card.phrases or told.phrases,
        category=card.category or told.category,
        instructions=card.instructions or told.instructions,
        source=card.source or told.source,
    )


@dataclass(frozen=True, slots=True)
class AdmittedCards:
    """The accepted cards with cleaned texts, and what was left out, with reasons."""

    cards: tuple[ToolCard, ...]
    cuts: tuple[Cut, ...]


def admit_cards(cards: Any) -> AdmittedCards:
    """What a tool server says about its tools; the cards are read once, so any iterable works.

    A server is not the host: its mistakes do no harm and are recorded. A tool with an invalid name or an input schema
    that is no JSON is left out; texts lose invisible characters, and everything beyond `MAX_TOOL_TEXT`.

    Raises:
        InputError: with everything that is not a card, or has the wrong type in one.
    """
    admission = _Admission()
    given = taken(Iterable[Any], cards, "cards", admission.problems)
    for place, card in enumerate(given or ()):
        admission.admit(card, f"cards[{place}]")
    if given is None and issubclass(type(cards), Mapping):
        admission.problems = [replace(each, advice="pass its `.values()`") for each in admission.problems]
    refuse(admission.problems)
    return AdmittedCards(tuple(admission.cards), tuple(admission.cuts))


@dataclass(slots=True)
class _Admission:
    """One server's cards on their way in."""

    problems: list[Problem] = field(default_factory=list)
    cards: list[ToolCard] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)

    def admit(self, card: Any, at: str) -> None:
        found: list[Problem] = []
        admitted = taken(ToolCard, card, at, found)
        if not issubclass(type(card), ToolCard):
            self.problems += found
            return
        in_schema = [each for each in found if _is_odd_schema(card, each, at)]
        in_name = [each for each in found if each.name == f"{at}.name" and getattr(card, "name", None) == ""]
        if len(found) > len(in_schema) + len(in_name):
            self.problems += found
        elif not TOOL_NAME.fullmatch(card.name):
            reason = "skipped: a tool name has 1 to 64 ASCII letters, digits, `_`, `-` or `.`"
            self.cuts.append(Cut(f"tool {visible(str.__str__(card.name))[:_WRITTEN]}", reason))
        elif in_schema:
            reason = f"skipped: its input schema is nested more than {MAX_DEPTH} levels deep, or is not JSON"
            self.cuts.append(Cut(f"tool {str.__str__(card.name)}", reason))
        else:
            self._clean(admitted)

    def _clean(self, card: ToolCard) -> None:
        texts, what = [card.description, card.category, *card.phrases], f"tool {card.name}"
        try:
            (*seen, schema), removed = clean([*texts, card.input_schema])
        except InputError as error:
            self.cuts.append(Cut(what, f"skipped: its input schema is unusable: {error.problems[0].message}"))
            return
        if removed:
            self.cuts.append(Cut(what, f"{removed:,} invisible or control characters were removed"))
        if (longest := max(map(len, seen))) > MAX_TOOL_TEXT:
            self.cuts.append(Cut(what, f"a text was truncated: {longest:,} -> {MAX_TOOL_TEXT:,} characters"))
        description, category, *phrases = (text[:MAX_TOOL_TEXT] for text in seen)
        cleaned = replace(card, description=description, category=category, phrases=tuple(phrases), input_schema=schema)
        self.cards.append(cleaned)


def _is_odd_schema(card: ToolCard, problem: Problem, at: str) -> bool:
    """Whether a problem is one of a schema that is an object, and not of the code that supplies it."""
    inside = problem.name.removeprefix("a key of ").startswith(f"{at}.input_schema")
    return inside and problem.code != "value-too-large" and isinstance(getattr(card, "input_schema", None), Mapping)
