"""What a tool server says of its tools, as `Engine.with_tools` takes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cuecard.boundary.nouns import shape_of
from cuecard.model import ToolCard
from cuecard.shapes import Findings

_CARD = shape_of(ToolCard)


def admit_cards(cards: Any) -> tuple[ToolCard, ...]:
    """The cards; they are read once, so that any iterable may hold them.

    Raises:
        InputError: with everything that is wrong in any of them.
    """
    found = Findings()
    taken: tuple[ToolCard, ...] = ()
    if isinstance(cards, (str, bytes, Mapping)) or not isinstance(cards, Iterable):
        hint = "pass its `.values()`" if isinstance(cards, Mapping) else ""
        found.wrong("cards", "ToolCards, in any iterable", cards, hint)
    else:
        taken = tuple(_CARD.take(card, f"cards[{place}]", found) for place, card in enumerate(cards))
    found.refuse()
    return taken
