"""The host's values, cleaned for templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from cuecard.agent import CURRENT_DATE, SUMMARY, WORKING_MEMORY, Agent
from cuecard.model import Cut, FileText, Json
from cuecard.pipeline.request import CallRequest
from cuecard.records import dataclass
from cuecard.sources.clock import date_text
from cuecard.sources.memory import memory_text
from cuecard.template import clean
from cuecard.template.guards.controls import without_controls

if TYPE_CHECKING:  # the configuration models load pydantic
    from cuecard.config.agent_file import InputSpec


@dataclass(frozen=True, slots=True)
class Values:
    """Plain values by placeholder, what was left out or removed, and cleaned files and metadata."""

    values: Mapping[str, Json]
    cuts: tuple[Cut, ...]
    removed: int
    files: Mapping[str, FileText] = field(default_factory=dict)
    metadata: Mapping[str, Json] = field(default_factory=dict)


def clean_inputs(request: CallRequest, summary: str = "") -> Values:
    """The values for one call; `summary` is that of the conversation, if it must be shown.

    Imitations of structure are left to the gate, which sees the values side by side.

    Raises:
        InputError: when two keys of a value are equal after removing invisible characters.
    """
    agent, turn = request.agent, request.turn
    memory, cuts = memory_text(turn.memory, agent.spec.memory, agent.spec.words.memory)
    supplied = {name: _supplied(spec, turn.inputs, name) for name, spec in agent.spec.inputs.items()}
    cleaned, removed = clean({**supplied, WORKING_MEMORY: memory, SUMMARY: without_controls(summary)})
    files, in_files = _clean_files(turn.files)
    metadata, in_metadata = clean(turn.metadata) if turn.metadata else ({}, 0)
    values = {**cleaned, CURRENT_DATE: date_text(request.now)}
    return Values(values, cuts, removed + in_files + in_metadata, files, metadata)


def clean_again(agent: Agent, given: Mapping[str, Json]) -> tuple[dict[str, Json], int]:
    """The values of inputs that came with a request, and how many characters were removed.

    Raises:
        InputError: when two keys of a value are equal after removing invisible characters.
    """
    return clean({name: _supplied(agent.spec.inputs[name], given, name) for name in given})


def _supplied(spec: InputSpec, given: Mapping[str, Json], name: str) -> Json:
    if name not in given:
        return spec.default
    return _laid_over(spec.default, given[name]) if spec.merge else given[name]


def _laid_over(below: Json, above: Json) -> Json:
    if not isinstance(below, Mapping) or not isinstance(above, Mapping):
        return above
    return {**below, **{key: _laid_over(below.get(key), value) for key, value in above.items()}}


def _clean_files(files: Mapping[str, FileText]) -> tuple[Mapping[str, FileText], int]:
    """The files without invisible and control characters, and how many were removed."""
    cleaned, total = {}, 0
    for path, file in files.items():
        (text, name), removed = clean([file.text, file.path])
        cleaned[path] = file if (text, name) == (file.text, file.path) else replace(file, text=text, path=name)
        total += removed
    return cleaned, total
