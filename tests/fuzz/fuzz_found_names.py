"""Any search result has names, or says of what shape it is that could not be read; nothing is raised."""

from __future__ import annotations

import json
from contextlib import suppress

from cuecard.pipeline.search_results import found_names
from fuzz.json_pieces import PHRASES, PIECES

__all__ = ["PHRASES", "PIECES", "target"]


def target(data: bytes) -> None:
    """Read one input as the text of a result, and as its JSON."""
    text = data.decode("utf-8", "surrogateescape")
    values = [text, [{"type": "text", "text": text}]]
    with suppress(ValueError, RecursionError):
        values.append(json.loads(text))
    for value in values:
        found = found_names(value)
        assert len(set(found.names)) == len(found.names)
        assert all(found.names)
        # The words for a shape tell nothing of its text.
        assert len(found.unread) < 200
