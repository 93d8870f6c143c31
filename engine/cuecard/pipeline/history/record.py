"""The part of a conversation in a request, and a record of the rest, so that no cut is silent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import groupby

from cuecard.model import Cut
from cuecard.model.messages import Message, Summary
from cuecard.pipeline.history.units import LeftOut
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Selected:
    """The part of a conversation in a request.

    Attributes:
        messages: the included messages, oldest first, with prefixes.
        summary: the summary for a section of the system prompt; empty if none is shown there.
        as_message: the summary as a message before the others, if the policy shows it like this.
        dropped: every message that is left out, as given by the host, oldest first.
        cuts: the reason for each; neighbours with the same reason share a cut.
        overflow: whether there was more history than is included.
        store: the summary to store with the conversation from now on; the given one if there is nothing new.
    """

    messages: tuple[Message, ...]
    summary: str = ""
    as_message: Message | None = None
    dropped: tuple[Message, ...] = ()
    cuts: tuple[Cut, ...] = ()
    overflow: bool = False
    store: Summary = field(default_factory=Summary)


def dropped(messages: Sequence[Message], out: Iterable[LeftOut]) -> tuple[Message, ...]:
    """The messages that are left out, oldest first."""
    return tuple(messages[place] for place in sorted(left.place for left in out))


def cuts(out: Iterable[LeftOut]) -> tuple[Cut, ...]:
    """One cut for each run of neighbours with the same reason; messages are counted from 1."""
    return tuple(_cuts(sorted(out, key=lambda left: left.place)))


def _cuts(out: Sequence[LeftOut]) -> Iterator[Cut]:
    for (reason, _), group in groupby(enumerate(out), key=lambda item: (item[1].reason, item[1].place - item[0])):
        run = [left for _, left in group]
        first, final = run[0].place + 1, run[-1].place + 1
        what = f"history message {first}" if first == final else f"history messages {first} to {final}"
        yield Cut(what, reason, sum(left.tokens for left in run))
