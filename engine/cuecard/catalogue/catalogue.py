"""The catalogue: every tool an agent could use, by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from types import MappingProxyType

from cuecard.errors import InputError, Problem
from cuecard.model import Json, ToolCard

_SHOWN = tuple(each.name for each in fields(ToolCard) if each.name != "source")


class Catalogue(Mapping[str, ToolCard]):
    """Tool cards by name, in the order they were given. Immutable.

    Raises:
        InputError: with every card whose name another card has already.
    """

    __slots__ = ("_cards", "_names", "_sha256")

    def __init__(self, cards: Iterable[ToolCard] = ()) -> None:
        self._cards = MappingProxyType(_by_name(cards))
        self._names = tuple(self._cards)
        self._sha256 = ""

    def __getitem__(self, name: str) -> ToolCard:
        return self._cards[name]

    def __contains__(self, name: object) -> bool:
        return name in self._cards

    def __iter__(self) -> Iterator[str]:
        return iter(self._cards)

    def __len__(self) -> int:
        return len(self._cards)

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


def _by_name(cards: Iterable[ToolCard]) -> dict[str, ToolCard]:
    unique: dict[str, ToolCard] = {}
    problems = [_duplicate(unique[card.name], card) for card in cards if unique.setdefault(card.name, card) is not card]
    if problems:
        raise InputError(problems)
    return unique


def _plain(value: object) -> Json:
    if isinstance(value, Mapping):
        return dict(value)
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


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
