"""What a source says about its tools, and the text of the lock that stores it for the next import."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, TypeVar

from pydantic_core import PydanticSerializationError, to_json

from cuecard.config.tool_lock import LOCK_VERSION, Operation
from cuecard.config.tools_spec import CUES, META_KEY
from cuecard.config.values import is_tool_name
from cuecard.errors import InputError, Problem, visible
from cuecard.model import Json, ToolCard, ToolInstructions
from cuecard.template import clean, without_controls

MAX_DESCRIPTION: Final = 8_192
"""The maximum length of a description in characters; the engine truncates it there, too."""

Said = TypeVar("Said")
_NO: Mapping[str, bool] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source says about itself and its tools; it is always treated as data.

    Attributes:
        name: the name that the source gives itself.
        cards: its tools, in the order of the source.
        dropped: unusable tools, each with the reason, and other warnings.
        instructions: its instructions for the source as a whole.
        meta: by tool, what it says beyond the definition.
        operations: by tool, the request that it stands for, if the source is an API.
        lines: by tool, what an entry says of it, where that is not its whole description.
    """

    name: str
    cards: tuple[ToolCard, ...]
    dropped: tuple[Problem, ...]
    instructions: str = ""
    meta: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    operations: Mapping[str, Operation] = field(default_factory=dict)
    lines: Mapping[str, str] = field(default_factory=dict)

    def renamed(self, names: Mapping[str, str]) -> Listing:
        """The listing with other names for its tools."""
        return replace(
            self,
            cards=tuple(replace(card, name=names[card.name]) for card in self.cards),
            meta=_renamed(self.meta, names),
            operations=_renamed(self.operations, names),
            lines=_renamed(self.lines, names),
        )


def _renamed(said: Mapping[str, Said], names: Mapping[str, str]) -> dict[str, Said]:
    """What is said of these tools; that of a dropped one could take the new name of another."""
    return {names[name]: each for name, each in said.items() if name in names}


def lock_text(
    listing: Listing, source: str, prefix: str = "", left_out: Collection[str] = (), gone: Mapping[str, bool] = _NO
) -> str:
    """The text of a lock; equal arguments give identical bytes.

    Args:
        listing: what the source declares.
        source: the name of the source here.
        prefix: what the names of its tools begin with.
        left_out: tools that authors left out on purpose.
        gone: tools that the source no longer has, and whether authors keep their entries.
    """
    value: dict[str, Json] = {"version": LOCK_VERSION, "source": source}
    value |= {"prefix": prefix} if prefix else {}
    value |= {"instructions": listing.instructions} if listing.instructions else {}
    value["tools"] = [_tool(card, listing, left_out) for card in listing.cards]
    if gone:
        value["gone"] = [{"name": name, **({"kept": True} if kept else {})} for name, kept in gone.items()]
    try:
        return to_json(value, indent=1).decode() + "\n"
    except PydanticSerializationError:  # half a character, which only an escape can hold
        return json.dumps(value)


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
    return Listing(name, kept, (*odd, *changed))


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
    known = tuple(told for text in worded if (told := clean(without_controls(text))[0]).strip())
    return replace(card, instructions=ToolInstructions(**texts), phrases=card.phrases or known)


def _tool(card: ToolCard, listing: Listing, left_out: Collection[str]) -> dict[str, Json]:
    tool: dict[str, Json] = {"name": card.name, "description": card.description, "inputSchema": dict(card.input_schema)}
    meta, operation = listing.meta.get(card.name), listing.operations.get(card.name)
    tool |= {"_meta": dict(meta)} if meta else {}
    tool |= {"operation": operation.to_json()} if operation else {}
    return tool | ({"left_out": True} if card.name in left_out else {})
