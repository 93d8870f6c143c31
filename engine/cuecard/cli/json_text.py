"""JSON as commands print it: readable in any script, without control characters for a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from cuecard.errors import Problem, most_telling

_ODD = re.compile("[^ -~\n]")


def json_text(value: Any, indent: int | None = 2) -> str:
    """The value as JSON; unprintable characters and lone surrogates are escaped."""
    return _ODD.sub(_escaped, json.dumps(value, indent=indent, ensure_ascii=False, default=str))


def report(problems: Sequence[Problem]) -> dict[str, Any]:
    """Problems for machines, in the same format for every command: `ok`, the first `problems`, and how many `more`
    there are.
    """
    told, more = most_telling(problems)
    ok = all(problem.severity != "error" for problem in problems)
    return {"ok": ok, "problems": [problem.to_json() for problem in told], "more": more}


def _escaped(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]
