"""How a failing command reports errors: as pictures on stderr, or with `--json` as one JSON object on stdout."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise

from cuecard.errors import CuecardError, InputError, SettingsError


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the command line asks for JSON, even if it is invalid."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in own or "--format=json" in own or ("--format", "json") in pairwise(own)


def tell(error: CuecardError, *, as_json: bool) -> int:
    """Print the problems, and return the exit code: 2 for wrong usage, 1 for problems found."""
    if as_json:
        from cuecard.cli.check.formats import report
        from cuecard.cli.json_text import json_text

        sys.stdout.write(json_text(report(error.problems), None) + "\n")
    else:
        sys.stderr.write(f"{error}\n")
    return 2 if isinstance(error, (InputError, SettingsError)) else 1
