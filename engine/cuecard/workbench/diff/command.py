"""`cuecard diff`: what differs between two prompts or two editions of an agent, why, and what it costs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from cuecard.errors import CuecardError, InputError, Problem
from cuecard.files.content import find_content, has_agent
from cuecard.files.roots import is_folder, is_there, shown
from cuecard.workbench.diff.markdown import Rate, markdown
from cuecard.workbench.diff.review import review, review_of
from cuecard.workbench.diff.sides import SideOptions
from cuecard.workbench.diff.view import print_json, print_text, print_turns, print_turns_as_json
from cuecard.workbench.output import tell
from cuecard.workbench.played import read_turns
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


_HERE = "."
"""The second side where none is named."""


def diff(before: str, after: str, reading: SideOptions, options: DiffOptions) -> int:
    """Print the differences; returns 0, or with `exit_code` 1 if there are any; 2 if a side cannot be read or
    rendered.
    """
    try:
        _refuse_what_does_not_fit(before, after, reading, options)
        if options.form == "markdown" or are_several(options.turns):
            return _review(before, after, reading, options)
        return _compare(before, after, replace(reading, turn=next(iter(options.turns), None)), options)
    except CuecardError as error:  # not 1, as for other commands: here, 1 means that the two differ
        tell(error, as_json=options.form == "json")
        return 2


def _refuse_what_does_not_fit(before: str, after: str, reading: SideOptions, options: DiffOptions) -> None:
    """Raise `InputError` with every option that would do nothing."""
    wrong, several = list[tuple[str, str, str]](), are_several(options.turns)
    if after == _HERE and not has_agent(Path(_HERE)) and has_agent(Path(before)):
        told = f"without a second side, `{before}` is compared with the current folder, and no agent is there"
        there = Path(before).as_posix()
        committed = there if there.startswith((".", "/")) else f"./{there}"  # git's own are relative to its top folder
        hint = f"to compare it with what was committed last: cuecard diff HEAD:{committed} {there}"
        wrong.append(("diff", told, hint))
    if options.per_million is not None and (options.form, bool(options.model)) != ("markdown", True):
        hint = "add --format markdown and --model NAME"
        wrong.append(("--price", "a price requires Markdown and a model", hint))
    if options.model and several and options.form != "markdown":
        wrong.append(("--model", "the cost of several turns requires Markdown", "add --format markdown"))
    if reading.discovered and (several or options.form == "markdown"):
        message = "with Markdown or several turns, the turn files themselves say which tools are discovered"
        wrong.append(("--discovered", message, "write `discovered` into the turn files"))
    elif reading.discovered and before.endswith(".json") and after.endswith(".json"):
        hint = "remove it, or name agents or turn files"
        wrong.append(("--discovered", "both prompts are recordings, so nothing is rendered", hint))
    if wrong:
        raise InputError(Problem("wrong-option", message, hint, option) for option, message, hint in wrong)


def _compare(before: str, after: str, reading: SideOptions, options: DiffOptions) -> int:
    profile = find_profile(options.model) if options.model else None
    one, other = reading.side(before), reading.side(after)
    reviewed = review_of(shown(reading.turn) if reading.turn else "", one, other)
    cost = price(one.manifest, other.manifest, profile) if profile else None
    (print_json if options.form == "json" else print_text)(one, other, reviewed, cost)
    return 1 if options.exit_code and reviewed.differs else 0


def _review(before: str, after: str, reading: SideOptions, options: DiffOptions) -> int:
    rate = Rate(find_profile(options.model), options.per_million) if options.model else None
    reviewed = review(before, after, reading, options.turns)
    if options.form == "markdown":
        sys.stdout.write(markdown(reviewed, rate))
    else:
        (print_turns_as_json if options.form == "json" else print_turns)(reviewed)
    if any(turn.failure for turn in reviewed.turns):
        return 2
    return 1 if options.exit_code and reviewed.differs else 0


def are_several(turns: Sequence[Path]) -> bool:
    """Whether there are several turns: files, a folder, or a file of a conversation."""
    if len(turns) != 1:
        return bool(turns)
    path = find_content(turns[0])
    return is_folder(path) or (is_there(path) and "turns" in read_turns(path)[0].value)
