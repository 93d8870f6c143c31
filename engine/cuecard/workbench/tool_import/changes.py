"""How a listing differs from the last import: new, changed, renamed, moved and removed tools, and those left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from cuecard.config.tool_listing import Listing
from cuecard.config.tool_lock import Lock, LockedTool, Operation
from cuecard.model import Json, ToolCard
from cuecard.workbench.tool_import.references import mapping


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
        renamed: new name by old name of tools that are the same request as before.
        moved: tools of the same name that are another request, or have another tag, than before.
        removed: tools that the source had at an import but no longer has.
        pending: those of them that still have an entry, and whether its authors keep it on purpose.
        left_out: tools that had an entry after an import, and have none any more: authors left them out on purpose.
        undescribed: tools whose entry has no description.
        listed: whether the file of the last import differs from the one this import would write.
    """

    new: tuple[ToolCard, ...] = ()
    changed: tuple[ToolChange, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    moved: tuple[ToolChange, ...] = ()
    removed: tuple[str, ...] = ()
    pending: Mapping[str, bool] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    undescribed: tuple[str, ...] = ()
    listed: bool = False

    def __bool__(self) -> bool:
        """Whether there is any difference that somebody has to see; what was decided before is none."""
        return bool(self.new or self.changed or self.renamed or self.moved or self.removed or self.listed)

    @property
    def to_write(self) -> bool:
        """Whether an import would write anything that was not decided before."""
        return bool(self.new or self.renamed or self.listed)


def tool_changes(
    listing: Listing, before: Lock | None, known: Mapping[str, ToolCard], others: Collection[str], kept: Collection[str]
) -> Changes:
    """The differences.

    Args:
        listing: what the source says now.
        before: what it said at the last import; None if there was none.
        known: the entries of the agent's files by tool.
        others: the tools of other sources.
        kept: removed tools whose entries their authors keep on purpose.
    """
    old = {each.name: each for each in before.tools} if before else {}
    there = {card.name: card for card in listing.cards}
    renamed = _renamed(listing, old)
    was = {after: name for name, after in renamed.items()}
    pairs = [(old.get(was.get(name, name)), card) for name, card in there.items()]
    left = tuple(card.name for past, card in pairs if past and not {card.name, past.name} & known.keys())
    here, elsewhere = {*there, *renamed}, {*there, *others}
    gone = [name for name, past in old.items() if not past.left_out and name not in here]
    earlier = {each.name: each.kept for each in before.gone} if before else {}
    pending = [name for name in dict.fromkeys((*earlier, *gone)) if name in known and name not in elsewhere]
    differing = [(card.name, tuple(_differences(past, card, listing))) for past, card in pairs if past]
    moved = [(card.name, tuple(_moves(past, card.name, listing))) for past, card in pairs if past]
    decided = {name: earlier.get(name, False) or name in kept for name in pending}
    return Changes(
        new=tuple(card for past, card in pairs if not past and card.name not in known),
        changed=tuple(ToolChange(name, what) for name, what in differing if what),
        renamed={name: after for name, after in renamed.items() if after not in left},
        moved=tuple(ToolChange(name, what) for name, what in moved if what),
        removed=tuple(name for name in dict.fromkeys((*gone, *pending)) if not decided.get(name)),
        pending=decided,
        left_out=left,
        undescribed=tuple(name for name in there if name in known and not known[name].description.strip()),
    )


def _renamed(listing: Listing, old: Mapping[str, LockedTool]) -> dict[str, str]:
    """New name by old name of the tools that are the same request."""
    lost = {name: each.operation for name, each in old.items() if name not in listing.operations and each.operation}
    found = {name: operation for name, operation in listing.operations.items() if name not in old}
    times = Counter(each.key for each in (*lost.values(), *found.values()))
    after = {each.key: name for name, each in found.items()}
    return {name: after[each.key] for name, each in lost.items() if each.key in after and times[each.key] == 2}


def _moves(before: LockedTool, name: str, listing: Listing) -> Iterator[str]:
    then, now = before.operation, listing.operations.get(name)
    if then and now and then.key != now.key:
        yield f"`{then.method} {then.path}` -> `{now.method} {now.path}`"
    if then and now and then.tags[:1] != now.tags[:1]:
        tags = [f"`{each.tags[0]}`" if each.tags else "none" for each in (then, now)]
        yield f"tag {tags[0]} -> {tags[1]}"


def _differences(before: LockedTool, after: ToolCard, listing: Listing) -> Iterator[str]:
    operation = listing.operations.get(after.name)
    # The first format had method and path in place of a missing description.
    made = f"{operation.method} {operation.path}" if operation and not before.operation else None
    if before.description not in {after.description, after.description or made}:
        yield f"description: {_short(before.description)} -> {_short(after.description)}"
    if before.operation and operation:
        yield from _places(before.operation, operation)
    if before.input_schema == after.input_schema:
        return
    old, new = (mapping(schema.get("properties")) for schema in (before.input_schema, after.input_schema))
    said = [
        *(f"parameter `{name}` is new" for name in new if name not in old),
        *(f"parameter `{name}` was removed" for name in old if name not in new),
        *(f"parameter `{name}` changed" for name in new if name in old and old[name] != new[name]),
    ]
    needed = [set(_required(schema)) for schema in (before.input_schema, after.input_schema)]
    said += [f"parameter `{name}` is now required" for name in sorted(needed[1] - needed[0]) if name in old]
    said += [f"parameter `{name}` is now optional" for name in sorted(needed[0] - needed[1]) if name in new]
    yield from said or ["the input schema changed"]


def _places(before: Operation, after: Operation) -> Iterator[str]:
    for name, place in after.arguments.items():
        then = before.arguments.get(name)
        if then is not None and then.place != place.place:
            yield f"parameter `{name}` moved from {then.place} to {place.place}"
        elif then is not None and then.name != place.name:
            yield f"parameter `{name}` stands for `{place.name or name}`, not for `{then.name or name}`"


def _required(schema: Mapping[str, Json]) -> list[str]:
    found = schema.get("required")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line}`" if len(line) <= 60 else f"`{line[:57]}...`"
