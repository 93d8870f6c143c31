"""Any JSON is an OpenAPI description or a kept list of tools, or fails with an error that can be drawn."""

from __future__ import annotations

import json

from cuecard import InputError, SpecError
from cuecard.catalogue.catalogue import admit_cards
from cuecard.config.tool_listing import Listing, cleaned, lock_text, with_authors_words
from cuecard.config.tool_lock import read_lock
from cuecard.workbench.tool_import.openapi import read_openapi
from fuzz.drawn import check_told
from fuzz.json_pieces import PIECES as JSON

PIECES = (*JSON, '"paths":', '"/a":', '"get":', '"$ref": "#/', '"parameters":', '"schema":', '"openapi": "3.0.0"', "~1")
PHRASES = (
    *(
        '{"openapi": "3.1.0", "paths": {"/a": {"get": {"operationId": "x", "parameters": [',
        '{"name": "q", "in": "path"}',
    ),
    *(
        "]}}}}",
        "}}}}}}}",
        '{"swagger": "2.0", "paths": {"/a/{b}": {"post": {"requestBody": {"content": {"a": {"schema": ',
    ),
    *('{"$ref": "#/components/schemas/A"}', '"components": {"schemas": {"A": {"properties": {"a": ', "}}}}", ", ", "}"),
    *('{"$ref": "#"}', '{"type": ["string", "null"]}', '{"tools": [{"name": "a", "inputSchema": {}, "_meta": {}}]}'),
    *('{"instructions": "x", "tools": []}', '{"allOf": [{"$ref": "#/paths/~1a"}]}', "null", "[]"),
)


def target(data: bytes) -> None:
    """Read one input as both."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        lock = read_lock(text, "kept.json")
    except SpecError as error:
        check_told(error)
    else:
        meta = {tool.name: tool.meta for tool in lock.tools}
        cards, _ = cleaned([tool.card for tool in lock.tools])
        listing = with_authors_words(Listing("kept", cards, (), lock.instructions, meta))
        assert all(card.name for card in listing.cards)
        assert read_lock(lock_text(listing, "kept"), "kept.json").source == "kept"
    try:
        value = json.loads(text)
        described = read_openapi(value, "api.json") if isinstance(value, dict) else None
        admitted = admit_cards(described.cards).cards if described else ()
    except (ValueError, RecursionError):
        return
    except (InputError, SpecError) as error:
        check_told(error)
    else:
        assert len({card.name for card in admitted}) == len(admitted)
