"""Blocks as messages of their own among those of the host, and which of those are blocks that were placed before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cuecard.adapters.block_places import MessageReader, homes
from cuecard.adapters.bodies import Body, Message
from cuecard.adapters.one_turn import without_ended
from cuecard.model import Step

_TRIES = 8
"""How often it is tried again without a message that looks like a block and stands at another place."""


def place_after(
    messages: Iterable[Message], step: Step, make: Callable[[str], Body], reader: MessageReader
) -> list[Body]:
    """The messages with each block as a message of its own, exactly once, however often this is asked for.

    Args:
        messages: the conversation; blocks placed earlier are recognised.
        step: what is to be placed.
        make: turns the text of a block into a message.
        reader: how messages are read.

    Raises:
        InputError: when there is no message that a block could go with.
    """
    made = {block.text: make(block.text) for block in step.appended}
    known = without_ended([dict(message) for message in messages], step, reader)
    if not made:
        return known
    bare = [known[place] for place in without_blocks(known, step, made, reader)]
    found = homes(reader.read(bare), step.appended, step.turns)
    placed: list[Body] = []
    before = 0
    for home in sorted(found):
        placed += [*bare[before : home + 1], *(dict(made[block.text]) for block in found[home])]
        before = home + 1
    return [*placed, *bare[before:]]


def without_blocks(
    messages: Sequence[Message], step: Step, made: Mapping[str, Body], reader: MessageReader
) -> list[int]:
    """The positions of the messages that are no blocks.

    A user may paste the text of a block: a message of the user is a block only where one belongs, and then only once.
    Nobody but the host writes messages of an operator: there the text is enough.

    Args:
        messages: the conversation.
        step: what is to be placed.
        made: the messages of the blocks, by their text.
        reader: how messages are read.
    """
    ours = list(made.values())
    alike = {place for place, message in enumerate(messages) if message in ours}
    if not alike:
        return [*range(len(messages))]
    taken = {place for place in alike if not reader.says(messages[place])}
    asked = _asked(messages, alike, reader) - taken
    for _ in range(_TRIES):
        wrong = list(_elsewhere(_Guess(messages, taken, asked), step, made, reader)) if asked else []
        if not wrong:
            break
        asked.discard(wrong[-1])  # a block stands before whatever repeats it
    else:
        asked = set()
    return [place for place in range(len(messages)) if place not in taken and place not in asked]


@dataclass(frozen=True, slots=True)
class _Guess:
    """Messages, and which of them are taken for blocks: `taken` for sure, `asked` where they stand at their places."""

    messages: Sequence[Message]
    taken: set[int]
    asked: set[int]


def _asked(messages: Sequence[Message], alike: Collection[int], reader: MessageReader) -> set[int]:
    """Those that a block could be: they follow the user's words, results or another block, and no answer."""
    found: set[int] = set()
    open_ = False
    for place, message in enumerate(messages):
        if place in alike and open_:
            found.add(place)
        else:
            open_ = bool(reader.results(message) or reader.says(message))
    return found


def _elsewhere(guess: _Guess, step: Step, made: Mapping[str, Body], reader: MessageReader) -> Iterator[int]:
    """Those that were taken for blocks and stand where none belongs."""
    bare = [place for place in range(len(guess.messages)) if place not in guess.taken and place not in guess.asked]
    found = homes(reader.read(guess.messages[place] for place in bare), step.appended, step.turns)
    wanted = {bare[home]: Counter(block.text for block in blocks) for home, blocks in found.items()}
    home = -1
    for place, message in enumerate(guess.messages):
        if place not in guess.taken and place not in guess.asked:
            home = place
        elif place in guess.asked:
            left = wanted.get(home, Counter[str]())
            text = next(text for text, block in made.items() if block == message)
            if not left[text]:
                yield place
            left[text] -= 1
