"""Any JSON is a list of messages, or fails with an InputError that names each place; so is any stored conversation."""

from __future__ import annotations

import json

from cuecard import ConversationState, CuecardError, InputError
from cuecard.model.storage import from_json
from cuecard.types import messages_from_json
from fuzz.drawn import check_told
from fuzz.json_pieces import PHRASES, PIECES

__all__ = ["PHRASES", "PIECES", "target"]


def target(data: bytes) -> None:
    """Read one input."""
    try:
        value = json.loads(data.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return
    try:
        for message in messages_from_json(value):
            assert isinstance(message.role, str)
    except InputError as error:
        check_told(error)
    try:
        from_json(ConversationState, value, "state", code="bad-conversation")
    except CuecardError as error:
        check_told(error)
