"""What a source says about its tools, and the file that stores it so that the next import can report changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from cuecard.config.catalogue_file import read_catalogue
from cuecard.config.tools_spec import CUES, META_KEY
from cuecard.config.transcript_file import read_json
from cuecard.config.values import is_tool_name
from cuecard.errors import InputError, Problem, SpecError, visible
from cuecard.model import Json, ToolCard, ToolInstructions
from cuecard.template import clean, without_controls

MAX_DESCRIPTION: Final = 8_192
"""The maximum length of a description in characters; the engine truncates it there, too."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source says about itself and its tools; it is always treated as data.

    Attributes:
        name: the name that the source gives itself.
        cards: its tools, in the order of the source.
        instructions: its instructions for the source as a whole.
        meta: by tool, what it says beyond the definition.
        dropped: unusable tools, each with the reason, and other warnings.
    """

    name: str
    cards: tuple[ToolCard, ...]
    instructions: str = ""
    meta: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    dropped: tuple[Problem, ...] = ()


def listing_text(listing: Listing) -> str:
    """The listing as the text of a file; equal listings give identical bytes."""
    value: dict[str, Json] = {"instructions": listing.instructions} if listing.instructions else {}
    value["tools"] = [_tool(card, listing.meta.get(card.name)) for card in listing.cards]
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def read_listing(text: str, name: str) -> Listing:
    """The listing that a file contains.

    Raises:
        SpecError: when it is not a listing.
    """
    value = read_json(text, name)
    if not isinstance(value, dict) or not isinstance(value.get("instructions", ""), str):
        hint = "delete the file; the next import writes it again"
        raise SpecError(Problem("wrong-value", "this is not a file of `cuecard tools import`", hint, name))
    return Listing(name, tuple(read_catalogue(text, name)), value.get("instructions", ""))


def with_authors_words(listing: Listing) -> Listing:
    """The listing with the instructions that the server gives its tools, for servers whose authors are trusted."""
    return replace(listing, cards=tuple(_instructed(card, listing.meta.get(card.name, {})) for card in listing.cards))


def usable(name: str, cards: tuple[ToolCard, ...]) -> Listing:
    """The tools whose names files and providers accept, cleaned."""
    hint = "the tool is skipped: names are 1 to 128 ASCII letters, digits, `_`, `-`, `.`, `:` or `/`"
    odd = [
        Problem(
            "server-tool",
            f"`{visible(card.name)[:64]}` is not a valid tool name",
            hint,
            card.source,
            severity="warning",
        )
        for card in cards
        if not is_tool_name(card.name)
    ]
    kept, changed = cleaned([card for card in cards if is_tool_name(card.name)])
    return Listing(name, kept, dropped=(*odd, *changed))


def cleaned(cards: Sequence[ToolCard]) -> tuple[tuple[ToolCard, ...], tuple[Problem, ...]]:
    """The cards without characters that prompts must not contain, and what was changed or dropped."""
    kept: list[ToolCard] = []
    problems: list[Problem] = []
    for card in cards:
        told = without_controls(card.description)
        try:
            (text, schema), removed = clean([told, dict(card.input_schema)])
        except InputError as error:
            problems.append(_note(card, error.problems[0].message, "the tool is skipped"))
            continue
        if removed := removed + len(card.description) - len(told):
            hint = "people cannot see them, but models read them: review the rest of the text as well"
            problems.append(_note(card, f"{removed} invisible or control characters were removed", hint))
        if len(text.strip()) > MAX_DESCRIPTION:
            hint = f"it is truncated after {MAX_DESCRIPTION:,}"
            problems.append(_note(card, f"its description has {len(text):,} characters", hint))
        kept.append(replace(card, description=text.strip()[:MAX_DESCRIPTION].strip(), input_schema=schema))
    return tuple(kept), tuple(problems)


def _note(card: ToolCard, message: str, hint: str) -> Problem:
    return Problem("server-tool", f"`{card.name}`: {message}", hint, card.source, severity="warning")


def _instructed(card: ToolCard, meta: Mapping[str, Json]) -> ToolCard:
    """The card with those of its instructions that are texts, if any; anything else is left out."""
    said = meta.get(META_KEY)
    if not isinstance(said, dict):
        return card
    given = {key: said[key] for key in CUES if isinstance(said.get(key), str)}
    texts = {key: told for key, text in given.items() if (told := clean(without_controls(text))[0].strip())}
    if not texts:
        return card
    phrases = said.get("phrases")
    worded = [text for text in phrases if isinstance(text, str)] if isinstance(phrases, list) else []
    known = tuple(clean(without_controls(text))[0] for text in worded)
    return replace(card, instructions=ToolInstructions(**texts), phrases=card.phrases or known)


def _tool(card: ToolCard, meta: Mapping[str, Json] | None) -> dict[str, Json]:
    tool: dict[str, Json] = {"name": card.name, "description": card.description, "inputSchema": dict(card.input_schema)}
    return {**tool, "_meta": dict(meta)} if meta else tool
