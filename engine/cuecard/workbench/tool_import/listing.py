"""Files that list real tools: OpenAPI descriptions, and JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from cuecard.config.catalogue_file import read_catalogue
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.tool_listing import Listing, usable
from cuecard.config.transcript_file import read_json
from cuecard.errors import Problem, SpecError
from cuecard.files.safe_read import read_text
from cuecard.workbench.tool_import.openapi import read_openapi

MAX_FILE_BYTES: Final = 32 * 1024 * 1024
"""The maximum size of an OpenAPI description or a JSON file of tools, in bytes."""


def file_listing(path: Path, *, openapi: bool) -> Listing:
    """The listing in a file: an OpenAPI description, or tools as JSON in any of the usual formats.

    Raises:
        SpecError: when it cannot be read, or is neither.
    """
    source = read_text(path, limit=MAX_FILE_BYTES)
    if not openapi:
        return usable(path.name.partition(".")[0], tuple(read_catalogue(source.text, source.name)))
    looks_like_json = source.text.lstrip()[:1] in {"{", "["}
    value = read_json(source.text, source.name) if looks_like_json else read_yaml(source.text, source.name).value
    if not isinstance(value, dict):
        hint = "an OpenAPI description must be an object"
        raise SpecError(Problem("wrong-openapi", "this is not an OpenAPI description", hint, source.name))
    described = read_openapi(value, source.name)
    found = usable(described.title or path.stem, tuple(described.cards))
    return Listing(found.name, found.cards, dropped=(*described.problems, *found.dropped))
