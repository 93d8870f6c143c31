"""Interprets the answers of a probe: what happens to an operator's message mid-conversation, and whether it is
followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cuecard.cli.probe.questions import Answer, colours_in
from cuecard.config.model_profile import MidConversation

Found: TypeAlias = Literal["in place", "moved to the front", "moved elsewhere", "dropped", "refused", "unclear"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a probe.

    Attributes:
        found: what happens to the message.
        heeded: whether the model follows it; None if that could not be tested.
        role: the role that instructions should get here.
        why: the evidence, in one line.
        cached: the largest number of cached tokens that an answer reported; None if none did.
    """

    found: Found
    heeded: bool | None
    role: MidConversation
    why: str
    cached: int | None = None

    @property
    def in_place(self) -> bool:
        """Whether messages stay in place."""
        return self.found == "in place"


def verdict_of(role: MidConversation, colours: Sequence[str], order: Answer, heed: Answer, mark: str) -> Verdict:
    """The verdict on two answers: the order of four notes, the third by the operator, and a marked answer."""
    seen, heeded = colours_in(order.text, colours), mark.lower() in heed.text.lower()
    found = _found(seen, list(colours))
    told = ", ".join(seen) or "no colour at all"
    why = f"the notes were given as {', '.join(colours)} and seen as {told}"
    why += "; the operator's instruction was " + ("followed" if heeded else "not followed")
    granted = found == "in place" and heeded
    cached = max((each for each in (order.cached, heed.cached) if each is not None), default=None)
    return Verdict(found, heeded, role if granted else "user", why, cached)


def refused(why: str) -> Verdict:
    """The verdict on a service that rejects such a message."""
    return Verdict("refused", None, "user", why)


def _found(seen: list[str], given: list[str]) -> Found:
    first, second, ours, last = given
    if seen == given:
        return "in place"
    if seen == [first, second, last]:
        return "dropped"
    if seen == [ours, first, second, last]:
        return "moved to the front"
    if sorted(seen) == sorted(given) and [each for each in seen if each != ours] == [first, second, last]:
        return "moved elsewhere"
    return "unclear"
