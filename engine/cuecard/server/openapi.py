"""The OpenAPI description: `python -m cuecard.server.openapi` prints the copy that is kept in `schemas/`."""

from __future__ import annotations

import json
import sys

from cuecard.server.app import create_routes


def openapi_text() -> str:
    """The description as JSON text, identical on every run."""
    return json.dumps(create_routes(None, None, None).openapi(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(openapi_text())
