"""`cuecard diff`: the differences between two prompts, their reasons, and their cost."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from cuecard.errors import CuecardError, InputError, Problem
from cuecard.pipeline.comparison import compare_manifests
from cuecard.workbench.diff.markdown import Rate, markdown
from cuecard.workbench.diff.review import review
from cuecard.workbench.diff.sides import SideOptions
from cuecard.workbench.diff.view import print_json, print_text
from cuecard.workbench.output import tell
from cuecard.workbench.price import find_profile, price

Form: TypeAlias = Literal["text", "json", "markdown"]


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """The options of the command; `per_million` is the price of a million uncached input tokens in US dollars."""

    turns: Sequence[Path] = ()
    model: str | None = None
    per_million: float | None = None
    exit_code: bool = False
    form: Form = "text"


def diff(before: str, after: str, reading: SideOptions, options: DiffOptions) -> int:
    """Print the differences; returns 0, or with `exit_code` 1 if there are any; 2 if a side cannot be read or
    rendered.
    """
    try:
        _refuse_what_does_not_fit(options)
        _refuse_idle(reading, before, after, options)
        if options.form == "markdown":
            return _review(before, after, reading, options)
        return _compare(before, after, replace(reading, turn=next(iter(options.turns), None)), options)
    except CuecardError as error:  # not 1, as for other commands: here, 1 means that the two differ
        tell(error, as_json=options.form == "json")
        return 2


def _refuse_what_does_not_fit(options: DiffOptions) -> None:
    wrong = []
    if options.form != "markdown" and len(options.turns) > 1:
        wrong.append(Problem("wrong-option", "several turns require Markdown", "add --format markdown", "--turn"))
    if options.per_million is not None and (options.form, bool(options.model)) != ("markdown", True):
        hint = "add --format markdown and --model NAME"
        wrong.append(Problem("wrong-option", "a price requires Markdown and a model", hint, "--price"))
    if wrong:
        raise InputError(wrong)


def _refuse_idle(reading: SideOptions, before: str, after: str, options: DiffOptions) -> None:
    """Raise `InputError` if tools are given as discovered but no prompt would be rendered with them."""
    if not reading.discovered:
        return
    if options.form == "markdown":
        hint = "write `discovered` into the turn files"
        raise InputError(
            Problem(
                "wrong-option",
                "with Markdown, the turn files themselves say which tools are discovered",
                hint,
                "--discovered",
            )
        )
    if before.endswith(".json") and after.endswith(".json"):
        hint = "remove it, or name agents or turn files"
        raise InputError(
            Problem("wrong-option", "both prompts are recordings, so nothing is rendered", hint, "--discovered")
        )


def _compare(before: str, after: str, reading: SideOptions, options: DiffOptions) -> int:
    profile = find_profile(options.model) if options.model else None
    one, other = reading.side(before), reading.side(after)
    comparison = compare_manifests(one.manifest, other.manifest)
    cost = price(one.manifest, other.manifest, profile) if profile else None
    (print_json if options.form == "json" else print_text)(one, other, comparison, cost)
    return 1 if options.exit_code and comparison.differs else 0


def _review(before: str, after: str, reading: SideOptions, options: DiffOptions) -> int:
    rate = Rate(find_profile(options.model), options.per_million) if options.model else None
    reviewed = review(before, after, reading, options.turns)
    sys.stdout.write(markdown(reviewed, rate))
    if any(turn.failure for turn in reviewed.turns):
        return 2
    return 1 if options.exit_code and any(turn.differs for turn in reviewed.turns) else 0
