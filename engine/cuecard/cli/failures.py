"""Whether a command line asks for errors as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the command line asks for JSON, even if it is invalid."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in own or "--format=json" in own or ("--format", "json") in pairwise(own)
