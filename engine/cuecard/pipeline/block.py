"""A block of the conversation out of its text: one form for whatever is said mid-conversation."""

from __future__ import annotations

from cuecard.model import Appended, CountTokens
from cuecard.pipeline.fingerprints import sha256


def make_block(
    kind: str, text: str, count: CountTokens, *, after: str | None = None, turn: int | None = None
) -> Appended:
    """The block: its id is made of its text, so that the same text has the same id.

    Args:
        kind: what the id begins with.
        text: what it says.
        count: how tokens are counted.
        after: the call id of the result that it stands behind.
        turn: the number of the message of the user that it goes with.
    """
    digest = sha256(text)
    return Appended(after, text, f"{kind}-{digest[:12]}", count(text), digest, turn)
