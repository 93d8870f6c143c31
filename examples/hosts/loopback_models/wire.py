"""What the forms of the providers have in common here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

Call: TypeAlias = tuple[str, Json]
"""A tool that the model calls, and its arguments."""

DONE = "Done."
"""What the model says when it calls no tool."""


@dataclass(frozen=True)
class Wire:
    """How a provider's service speaks.

    Attributes:
        answered: how many answers of the model a request holds.
        answer: the body of an answer: its number, and the tools that it calls.
        events: the same, streamed.
        stream_type: the content type of that.
    """

    answered: Callable[[Json], int]
    answer: Callable[[int, Sequence[Call]], Json]
    events: Callable[[Json], bytes]
    stream_type: str = "text/event-stream"


def call_id(number: int, place: int) -> str:
    """The id of a call, the same whenever the conversation comes by."""
    return f"call_{number}_{place}"


def server_sent(events: Iterable[Json], *, named: bool = False) -> bytes:
    """Server-sent events, with their type in front where the provider writes it there, too."""
    lines = (
        f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" if named else f"data: {json.dumps(e)}\n\n" for e in events
    )
    return "".join(lines).encode()


def halves(text: str) -> tuple[str, str]:
    """A text in two pieces, since a stream never brings it whole."""
    return text[: len(text) // 2], text[len(text) // 2 :]
