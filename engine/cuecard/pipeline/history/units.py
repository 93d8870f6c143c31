"""The units that a policy may move, always as a whole. A tool call and its results are one unit.

Providers reject a result without its call, a call without its results, and anything between the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from cuecard.config.history_spec import HistoryBase
from cuecard.model.messages import Message
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """Messages that stay together, with their positions in the host's list: a call with its results, or a single
    message.
    """

    messages: tuple[Message, ...]
    places: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.messages)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A message that is left out, with its position in the host's list, and the reason."""

    place: int
    reason: str
    tokens: int = 0


@dataclass(slots=True)
class _Block:
    """A unit under construction; `missing` results have not come yet."""

    messages: list[Message]
    places: list[int]
    missing: int = field(default=0)


def units(messages: Sequence[Message], spec: HistoryBase) -> tuple[tuple[Unit, ...], tuple[LeftOut, ...]]:
    """The messages in whole units, oldest first, and those that belong to no unit.

    Results follow their call directly, in order of arrival. Left out are messages listed in `spec.drop`, results
    without a call, and calls that lack a result, together with the results they have.
    """
    dropped = tuple(_dropped(messages, spec))
    out = {left.place for left in dropped}
    blocks, orphans = _blocks((place, message) for place, message in enumerate(messages) if place not in out)
    whole = tuple(Unit(tuple(block.messages), tuple(block.places)) for block in blocks if not block.missing)
    incomplete = (
        LeftOut(place, f"incomplete tool calls: {block.missing} without a result")
        for block in blocks
        if block.missing
        for place in block.places
    )
    return whole, (*dropped, *orphans, *incomplete)


def _dropped(messages: Iterable[Message], spec: HistoryBase) -> Iterator[LeftOut]:
    seen: dict[str, int] = {}
    for place, message in enumerate(messages):
        if "system" in spec.drop and message.role == "system":
            yield LeftOut(place, "history.drop: a system message")
        elif "blank" in spec.drop and message.role != "tool" and message.blank:
            yield LeftOut(place, "history.drop: blank")
        elif "duplicates" in spec.drop and message.id and message.id in seen:
            yield LeftOut(place, f"history.drop: has the same id as message {seen[message.id] + 1}")
        elif message.id:
            seen[message.id] = place


def _blocks(placed: Iterable[tuple[int, Message]]) -> tuple[list[_Block], list[LeftOut]]:
    blocks: list[_Block] = []
    orphans: list[LeftOut] = []
    # Some hosts reuse an id in a later message: from there on, results belong to the later call.
    waiting: dict[str, list[_Block]] = {}
    for place, message in placed:
        if message.role != "tool":
            block = _Block([message], [place], len(message.tool_calls))
            blocks.append(block)
            waiting |= {call.id: [] for call in message.tool_calls}
            for call in message.tool_calls:
                waiting[call.id].append(block)
        elif waiting.get(message.tool_call_id or ""):
            block = waiting[message.tool_call_id or ""].pop()
            block.messages.append(message)
            block.places.append(place)
            block.missing -= 1
        else:
            orphans.append(LeftOut(place, "a tool result without its call"))
    return blocks, orphans
