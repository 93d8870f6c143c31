"""Scenarios, and values named in them.

A scenario states what the user writes and what the model decides. The answers of tools are never written down: a call
names the part of the answer to keep (`save`), and later calls use it as `${name.key}` (see
`cuecard.config.scenario_file`).

A text that consists of a single reference becomes the value itself, of any type. Inside a longer text it is inserted as
text, so it must stand for a string or a number. Keys are separated by dots; `0` is the first item of a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pydantic import Field

from cuecard.config.documents.document import Document, Path
from cuecard.config.documents.validation import FileModel
from cuecard.config.values import Moment, Name, Texts, ToolName
from cuecard.errors import Problem, did_you_mean
from cuecard.model import Json
from cuecard.records import dataclass

_REFERENCE = re.compile(r"\$\{([^{}]*)\}")


class UnresolvedError(Exception):
    """A reference that cannot be resolved; the text names the missing key, the hint what exists instead."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def names_used(value: Json, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The name that each reference in a value begins with, and its path in the value."""
    if isinstance(value, str):
        yield from ((path, found.partition(".")[0]) for found in _REFERENCE.findall(value))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from names_used(key, path)
            yield from names_used(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from names_used(item, (*path, index))


def resolve(value: Json, saved: Mapping[str, Json]) -> Json:
    """The value with every reference replaced.

    Raises:
        UnresolvedError: naming the reference and the missing key.
    """
    if isinstance(value, str):
        whole = _REFERENCE.fullmatch(value)
        return resolved_at(saved, whole[1]) if whole else _REFERENCE.sub(lambda match: _text(saved, match[1]), value)
    if isinstance(value, Mapping):
        return {resolve(key, saved): resolve(item, saved) for key, item in value.items()}
    return [resolve(item, saved) for item in value] if isinstance(value, list) else value


def resolved_at(value: Json, path: str) -> Json:
    """The value at a dotted path, such as `page.sections.0.id`; the value itself for an empty path.

    Raises:
        UnresolvedError: naming the missing key, and those that exist.
    """
    for key in path.split(".") if path else ():
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            raise UnresolvedError(f"`{path}` does not exist: there is no `{key}`", _instead(value, key))
    return value


def _text(saved: Mapping[str, Json], path: str) -> str:
    value = resolved_at(saved, path)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        kind = type(value).__name__
        raise UnresolvedError(f"`{path}` is of type {kind} and cannot be put inside a text", "name one of its values")
    return str(value)


def _instead(value: Json, key: str) -> str:
    if isinstance(value, Mapping):
        return did_you_mean(key, value) or "there are no keys here"
    if isinstance(value, list):
        return f"the list has {len(value)} items; count from 0"
    return f"the value here is of type {type(value).__name__} and has no keys"


class CallEntry(FileModel):
    """One tool call that the model decides on."""

    tool: ToolName = Field(description="the tool's name; it must be shown to the model in this step")
    args: dict[str, Json] = Field(default_factory=dict, description="its arguments; `${name.key}` is a saved value")
    save: dict[Name, str] = Field(
        default_factory=dict, description="name to the path of a value in the result, such as `page` or `data.0.id`"
    )
    fails: str = Field("", description="a text that the error contains, for a call that is expected to fail")


class StepEntry(FileModel):
    """One decision of the model: a thought, and one or more parallel calls."""

    think: str = Field("", description="the model's reasoning before it acts")
    reads: Texts = Field((), description="texts that the model must have been sent by now, such as words of a GOTCHA")
    calls: list[CallEntry] = Field(min_length=1, description="the tools it calls, all at once")


class TurnEntry(FileModel):
    """One message of the user, and everything the assistant does about it."""

    user: str = Field(description="what the user writes")
    steps: list[StepEntry] = Field(default_factory=list, description="the model's decisions, step by step")
    answer: str = Field(description="the assistant's final answer; `${name.key}` is a saved value")


class ScenarioFile(FileModel):
    """One conversation."""

    title: str = Field(description="what happens, in a few words")
    now: Moment = Field(description="the time, ISO 8601 with a zone")
    turns: list[TurnEntry] = Field(min_length=1, description="the conversation, turn by turn")
    expect: dict[str, Json] = Field(
        default_factory=dict,
        description="path in the server's snapshot to the expected value at the end; null if there is none",
    )


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario with its name (the file's, without the ending) and its text, so that errors can point into it."""

    name: str
    file: ScenarioFile
    document: Document


def unsaved_names(scenario: Scenario) -> list[Problem]:
    """An error for each reference to a name that no earlier step has saved."""
    problems: list[Problem] = []
    saved: list[str] = []
    for number, turn in enumerate(scenario.file.turns):
        for place, step in enumerate(turn.steps):
            path: Path = ("turns", number, "steps", place, "calls")
            for index, call in enumerate(step.calls):
                problems += _unsaved(scenario, call.args, (*path, index, "args"), saved)
            saved += [name for call in step.calls for name in call.save]
        problems += _unsaved(scenario, turn.answer, ("turns", number, "answer"), saved)
    return [*problems, *_unsaved(scenario, scenario.file.expect, ("expect",), saved)]


def _unsaved(scenario: Scenario, value: Json, path: Path, saved: list[str]) -> list[Problem]:
    hint = "save it in an earlier step: `save: {name: path.in.the.result}`"
    return [
        scenario.document.problem(
            (*path, *inner), "unsaved-name", f"no earlier step saves `{name}`", did_you_mean(name, saved) or hint
        )
        for inner, name in names_used(value)
        if name not in saved
    ]
