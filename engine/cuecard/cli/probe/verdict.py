"""What the answers of a probe mean: where a message of the operator mid-conversation ends up, and who heeds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cuecard.cli.probe.questions import Answer, colours_in
from cuecard.config.model_profile import MidConversation

Found: TypeAlias = Literal["in place", "moved to the front", "moved elsewhere", "dropped", "refused", "unclear"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found.

    Attributes:
        found: what becomes of the message.
        heeded: whether the model follows it; None where that could not be asked.
        role: the role that instructions should get here.
        why: what the finding rests on, in one line.
        cached: the most tokens that an answer reported as read from a cache; None where none reported any.
    """

    found: Found
    heeded: bool | None
    role: MidConversation
    why: str
    cached: int | None = None

    @property
    def in_place(self) -> bool:
        """Whether messages stay where they stand."""
        return self.found == "in place"


def verdict_of(role: MidConversation, colours: Sequence[str], order: Answer, heed: Answer, mark: str) -> Verdict:
    """The verdict on two answers: the order of four notes, the third of them from the operator, and a marked answer."""
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
