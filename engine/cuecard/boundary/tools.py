"""What a tool server says about its tools, for `Engine.with_tools`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from cuecard.boundary.nouns import shape_of
from cuecard.errors import InputError, visible
from cuecard.model import Cut, ToolCard
from cuecard.records import dataclass
from cuecard.shapes import Findings
from cuecard.shapes.json_values import MAX_DEPTH, JsonValue
from cuecard.template import clean

TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""Tool names that model providers accept, and that are harmless in prompts."""

MAX_TOOL_TEXT = 8_192
"""The maximum length of a description, a category or a phrase from a tool server, in characters."""

_CARD = shape_of(ToolCard)
_SCHEMA = JsonValue(finite=True)
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class AdmittedCards:
    """The accepted cards with cleaned texts, and what was left out, with reasons."""

    cards: tuple[ToolCard, ...]
    cuts: tuple[Cut, ...]


@dataclass(slots=True)
class _Admission:
    """One server's cards on their way in. A server is not the host: its mistakes are recorded instead of raised."""

    found: Findings
    cards: list[ToolCard] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)

    def admit(self, card: Any, place: int) -> None:
        if _is_odd(card):
            reason = "skipped: a tool name has 1 to 64 ASCII letters, digits, `_`, `-` or `.`"
            self.cuts.append(Cut(f"tool {visible(card.name)[:_SHOWN]}", reason))
            return
        if _has_odd_schema(card):
            reason = f"skipped: its input schema is nested more than {MAX_DEPTH} levels deep, or is not JSON"
            self.cuts.append(Cut(f"tool {card.name}", reason))
            return
        taken = _CARD.take(card, f"cards[{place}]", self.found)
        if isinstance(taken, ToolCard) and not self.found.problems:
            self._admit_texts(taken)

    def _admit_texts(self, card: ToolCard) -> None:
        """The card with cleaned texts."""
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


def admit_cards(cards: Any) -> AdmittedCards:
    """The accepted cards; they are read once, so any iterable works.

    A server's mistakes do no harm: a tool with an invalid name or a too deeply nested input schema is left out; texts
    lose invisible characters, and everything beyond `MAX_TOOL_TEXT`.

    Raises:
        InputError: with everything that is not a card, or has the wrong type in one.
    """
    found = Findings()
    admission = _Admission(found)
    if isinstance(cards, (str, bytes, Mapping)) or not isinstance(cards, Iterable):
        hint = "pass its `.values()`" if isinstance(cards, Mapping) else ""
        found.wrong("cards", "ToolCards, in any iterable", cards, hint)
    else:
        for place, card in enumerate(cards):
            admission.admit(card, place)
    found.refuse()
    return AdmittedCards(tuple(admission.cards), tuple(admission.cuts))


def _is_odd(card: Any) -> bool:
    """Whether the name alone is the reason to leave a card out."""
    name = getattr(card, "name", None)
    is_named = isinstance(card, ToolCard) and isinstance(name, str) and not TOOL_NAME.fullmatch(name)
    return is_named and _CARD.fits(replace(card, name="name"))


def _has_odd_schema(card: Any) -> bool:
    """Whether the input schema alone is the reason to leave a card out."""
    schema = getattr(card, "input_schema", None)
    is_written = isinstance(card, ToolCard) and isinstance(schema, Mapping) and not _SCHEMA.fits(schema)
    return is_written and _CARD.fits(replace(card, input_schema={}))
