"""`cuecard diff`: what differs between two prompts, why, and what that costs."""

from __future__ import annotations

from cuecard.analysis.explain import compare
from cuecard.analysis.price import find_profile, price
from cuecard.cli.diff.sides import Reading
from cuecard.cli.diff.view import print_json, print_text
from cuecard.cli.failures import tell
from cuecard.errors import CuecardError, InputError, Problem


def diff(
    before: str,
    after: str,
    reading: Reading,
    *,
    model: str | None,
    as_json: bool,
    exit_code: bool,
) -> int:
    """Print what differs; 0, or with `exit_code` 1 when something does; 2 when a side cannot be read or rendered."""
    try:
        _refuse_idle(reading, before, after)
        profile = find_profile(model) if model else None
        one, other = reading.side(before), reading.side(after)
        comparison = compare(one.manifest, other.manifest)
    except CuecardError as error:  # not the 1 of the other commands: here, that says that the two differ
        tell(error, as_json=as_json)
        return 2
    cost = price(one.manifest, other.manifest, profile) if profile else None
    (print_json if as_json else print_text)(one, other, comparison, cost)
    return 1 if exit_code and comparison.differs else 0


def _refuse_idle(reading: Reading, before: str, after: str) -> None:
    """Raise `InputError` when tools are to be discovered, and both sides are records of what was sent already."""
    if reading.discovered and before.endswith(".json") and after.endswith(".json"):
        hint = "leave it out, or name agents or turn files"
        raise InputError(
            Problem("wrong-option", "both prompts are recorded; nothing is rendered", hint, "--discovered")
        )
