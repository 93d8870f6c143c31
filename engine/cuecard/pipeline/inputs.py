"""What the host supplied, checked and cleaned: the values that templates read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from cuecard.agent import CURRENT_DATE, SUMMARY, WORKING_MEMORY
from cuecard.config.agent_file import InputSpec
from cuecard.errors import InputError, Problem, did_you_mean, visible
from cuecard.model import Cut, FileText, Json
from cuecard.pipeline.request import CallRequest
from cuecard.sources.clock import date_text
from cuecard.sources.memory import memory_text
from cuecard.template import clean, refuse_controls, trust_report
from cuecard.template.guards.controls import has_controls, without_controls
from cuecard.template.guards.layout_guard import LayoutGuard, guard_layout

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list, tuple),
    "object": (dict,),
}


@dataclass(frozen=True, slots=True)
class Values:
    """Plain values by placeholder, what was left out of them, how much hostile text was neutralised; files, cleaned."""

    values: Mapping[str, Json]
    cuts: tuple[Cut, ...]
    trust: Mapping[str, int]
    files: Mapping[str, FileText] = field(default_factory=dict)


def check_inputs(request: CallRequest, summary: str = "") -> Values:
    """The values for one call; `summary` is that of the conversation, where one has to be shown.

    Raises:
        InputError: with every missing, unknown or wrongly typed input, every control character of the turn, and a time
            without a zone.
    """
    agent, turn = request.agent, request.turn
    declared = agent.spec.inputs
    problems = [*_unknown(turn.inputs, declared), *_missing(turn.inputs, declared), *_mistyped(turn.inputs, declared)]
    problems += refuse_controls(turn.inputs, "turn.inputs")
    if any(has_controls(f"{entity.type}{entity.id}{entity.name}") for entity in turn.memory.entities):
        problems += refuse_controls([asdict(entity) for entity in turn.memory.entities], "turn.memory")
    if problems:
        raise InputError(problems)
    memory, cuts = memory_text(turn.memory, agent.spec.memory, agent.spec.words.memory)
    supplied = {name: turn.inputs.get(name, spec.default) for name, spec in declared.items()}
    cleaned, removed = clean({**supplied, WORKING_MEMORY: memory, SUMMARY: without_controls(summary)})
    cleaned, marks = _guarded(cleaned, declared, agent.layout.guard)
    data = [value for name, value in cleaned.items() if name not in declared or declared[name].trust == "data"]
    escaping = agent.layout.escaping
    files, in_files = _clean_files(turn.files)
    trust = {"invisible_removed": removed + in_files, **trust_report(data, agent.names, escaping), **marks}
    return Values({**cleaned, CURRENT_DATE: date_text(request.now)}, cuts, trust, files)


def _clean_files(files: Mapping[str, FileText]) -> tuple[Mapping[str, FileText], int]:
    """The files without what people cannot see and terminals obey, and how many characters that took."""
    cleaned, total = {}, 0
    for path, file in files.items():
        plain = without_controls(file.text or "")
        text, removed = clean(plain)
        cleaned[path] = file if text == file.text or file.text is None else replace(file, text=text)
        total += removed + len(file.text or "") - len(plain)
    return cleaned, total


def _guarded(
    values: Mapping[str, Json], declared: Mapping[str, InputSpec], guard: LayoutGuard | None
) -> tuple[dict[str, Json], dict[str, int]]:
    """The values, of which no text of data looks like a part of the layout, and how many marks there were."""
    if guard is None:
        return dict(values), {}
    found = 0

    def guarded(value: Json) -> Json:
        nonlocal found
        if isinstance(value, str):
            text, marks = guard_layout(value, guard)
            found += marks
            return text
        if isinstance(value, Mapping):
            return mapping(value)
        return [guarded(item) for item in value] if isinstance(value, (list, tuple)) else value

    def mapping(value: Mapping[str, Json]) -> dict[str, Json]:
        """Keys, too, may be printed: `{{{@key}}}`. None replaces another one."""
        made: dict[str, Json] = {}
        for key, item in value.items():
            name: str = guarded(key)
            while name != key and (name in value or name in made):
                name = f"\\{name}"
            made[name] = guarded(item)
        return made

    ours = {name for name, spec in declared.items() if spec.trust == "author"}
    safe = {name: value if name in ours else guarded(value) for name, value in values.items()}
    return safe, {"layout_marks": found}


def _unknown(supplied: Mapping[str, Json], declared: Mapping[str, InputSpec]) -> list[Problem]:
    return [
        Problem(
            "unknown-input",
            f"`{visible(str(name))}` is not an input of this agent",
            did_you_mean(str(name), declared),
            "turn.inputs",
        )
        for name in supplied
        if name not in declared
    ]


def _missing(supplied: Mapping[str, Json], declared: Mapping[str, InputSpec]) -> list[Problem]:
    return [
        Problem("missing-input", f"`{name}` has no value and no default", _describe(name, spec), "turn.inputs")
        for name, spec in declared.items()
        if spec.required and name not in supplied
    ]


def _describe(name: str, spec: InputSpec) -> str:
    about = f" - {spec.description}" if spec.description else ""
    return f"supply `{name}` ({spec.type}){about}"


def _mistyped(supplied: Mapping[str, Json], declared: Mapping[str, InputSpec]) -> list[Problem]:
    return [
        Problem(
            "wrong-input",
            f"`{name}` should be of type {declared[name].type}, not {type(value).__name__}",
            _describe(name, declared[name]),
            "turn.inputs",
        )
        for name, value in supplied.items()
        if name in declared and not _fits(value, declared[name].type)
    ]


def _fits(value: Json, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])
