"""How a listing differs from the last import: new, changed and removed tools."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from cuecard.config.tool_listing import Listing
from cuecard.model import Json, ToolCard


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A tool that has changed.

    Attributes:
        tool: its name.
        what: the differences, one line each.
    """

    tool: str
    what: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences between two listings, and between a listing and the agent.

    Attributes:
        new: tools that the agent's files do not mention.
        changed: tools whose description in the source has changed since the last import.
        removed: tools that the source had at the last import but no longer has.
        listed: whether the file of the last import differs from the one this import would write.
    """

    new: tuple[ToolCard, ...] = ()
    changed: tuple[ToolChange, ...] = ()
    removed: tuple[str, ...] = ()
    listed: bool = False

    def __bool__(self) -> bool:
        """Whether there is any difference."""
        return bool(self.new or self.changed or self.removed or self.listed)


def tool_changes(listing: Listing, before: Listing | None, known: Collection[str], *, listed: bool) -> Changes:
    """The differences.

    Args:
        listing: what the source says now.
        before: what it said at the last import; None if there was none.
        known: the tools that the agent's files mention.
        listed: whether the file of the last import is another than this one would be.
    """
    old = {card.name: card for card in before.cards} if before else {}
    there = {card.name for card in listing.cards}
    differing = ((card.name, tuple(_differences(old[card.name], card))) for card in listing.cards if card.name in old)
    return Changes(
        tuple(card for card in listing.cards if card.name not in known),
        tuple(ToolChange(name, what) for name, what in differing if what),
        tuple(name for name in old if name not in there),
        listed,
    )


def _differences(before: ToolCard, after: ToolCard) -> Iterator[str]:
    if before.description != after.description:
        yield f"description: {_short(before.description)} -> {_short(after.description)}"
    if before.input_schema == after.input_schema:
        return
    old, new = (_properties(card.input_schema) for card in (before, after))
    said = [
        *(f"parameter `{name}` is new" for name in new if name not in old),
        *(f"parameter `{name}` was removed" for name in old if name not in new),
        *(f"parameter `{name}` changed" for name in new if name in old and old[name] != new[name]),
    ]
    needed = [set(_required(card.input_schema)) for card in (before, after)]
    said += [f"parameter `{name}` is now required" for name in sorted(needed[1] - needed[0]) if name in old]
    said += [f"parameter `{name}` is now optional" for name in sorted(needed[0] - needed[1]) if name in new]
    yield from said or ["the input schema changed"]


def _properties(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _required(schema: Mapping[str, Json]) -> list[str]:
    found = schema.get("required")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line}`" if len(line) <= 60 else f"`{line[:57]}...`"
