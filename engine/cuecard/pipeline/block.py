"""Makes a block of the conversation from its text, for everything announced mid-conversation."""

from __future__ import annotations

from cuecard.model import Appended, CountTokens
from cuecard.pipeline.fingerprints import sha256


def make_block(
    kind: str, text: str, count: CountTokens, *, after: str | None = None, turn: int | None = None
) -> Appended:
    """The block; its id is derived from its text, so the same text has the same id.

    Args:
        kind: the beginning of the id.
        text: its text.
        count: how tokens are counted.
        after: the call id of the result that it follows.
        turn: the number of the user message that it belongs to.
    """
    digest = sha256(text)
    return Appended(after, text, f"{kind}-{digest[:12]}", count(text), digest, turn)
