"""JSON as commands print it: readable in any script, without control characters for a terminal."""

from __future__ import annotations

import json
import re
from typing import Any

_ODD = re.compile("[^ -~\n]")


def json_text(value: Any, indent: int | None = 2) -> str:
    """The value as JSON; unprintable characters and lone surrogates are escaped."""
    return _ODD.sub(_escaped, json.dumps(value, indent=indent, ensure_ascii=False, default=str))


def _escaped(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]
