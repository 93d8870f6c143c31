"""Any JSON is an OpenAPI description or a kept list of tools, or fails with an error that can be drawn."""

from __future__ import annotations

import json

from cuecard import InputError, SpecError
from cuecard.catalogue.catalogue import admit_cards
from cuecard.config.tool_listing import cleaned, listing_text, read_listing, with_authors_words
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
        listing = read_listing(text, "kept.json")
    except SpecError as error:
        check_told(error)
    else:
        cards, _ = cleaned(with_authors_words(listing).cards)
        assert all(card.name for card in cards)
        assert isinstance(listing_text(listing), str)
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
