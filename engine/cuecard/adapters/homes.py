"""Which message each appended block goes with: the same in every request of a conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuecard.adapters.turns import Read, turn_places
from cuecard.errors import InputError, Problem
from cuecard.model import Appended, Step


@dataclass(frozen=True, slots=True)
class Reader:
    """How a provider's messages are read.

    Attributes:
        results: the call ids of the tool results in a message.
        says: whether it holds words of the user, beside results or alone.
    """

    results: Callable[[Mapping[str, Any]], tuple[str, ...]]
    says: Callable[[Mapping[str, Any]], bool]

    def read(self, messages: Iterable[Mapping[str, Any]]) -> Read:
        """What of each message matters for the place of blocks."""
        known = list(messages)
        return Read([self.results(message) for message in known], [self.says(message) for message in known])


def homes(read: Read, blocks: Sequence[Appended], turns: Sequence[str | None] = ()) -> dict[int, list[Appended]]:
    """The position of the message that each block goes with, the blocks in their order.

    A block with `after_call_id` goes with the last result of its batch: results that follow each other. A block with
    `turn` goes with that message of the user. What has lost its message, because the host has dropped it, goes with the
    first one: all such blocks stand there, and stay while the messages begin so. A block with neither goes with the
    last message that is not the model's.

    Args:
        read: the conversation, without blocks.
        blocks: what has to be placed.
        turns: the `turns` of the step.

    Raises:
        InputError: when there is no message that a block could go with.
    """
    if not blocks:
        return {}
    ends = read.ends
    if ends is None:
        raise InputError(
            Problem(
                "no-user-message", "there is no message for a block to follow", "pass the user's message", "messages"
            )
        )
    by_turn = any(block.turn is not None and block.after_call_id is None for block in blocks)
    places = turn_places(read, turns) if by_turn else {}
    where, (first, last) = read.first_places(), ends
    found: dict[int, list[Appended]] = defaultdict(list)
    for block in blocks:
        if block.after_call_id is not None:
            place = where.get(block.after_call_id)
            found[first if place is None else read.batch_end(place)].append(block)
        elif block.turn is not None and block.turn < len(turns):
            found[places.get(block.turn, first)].append(block)
        else:
            found[last].append(block)
    return found


def results_behind(read: Read, results: Sequence[Sequence[str]], step: Step) -> dict[str, str]:
    """Of each tool that a message of the user has brought, the call id of the first result behind that message.

    Args:
        read: the conversation, without blocks.
        results: of each message, the call ids of the results that count.
        step: the step from `prepare_step`.

    Raises:
        InputError: when there is no message of the user.
    """
    brought = [Appended(None, tool, turn=turn) for tool, turn in step.brought.items()]
    found: dict[str, str] = {}
    for home, blocks in homes(read, brought, step.turns).items():
        call = next((call for held in results[home + 1 :] for call in held), None)
        if call is not None:
            found.update(dict.fromkeys((block.text for block in blocks), call))
    return found
