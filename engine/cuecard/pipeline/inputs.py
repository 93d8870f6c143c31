"""What the host supplied, cleaned: the values that templates read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cuecard.agent import CURRENT_DATE, SUMMARY, WORKING_MEMORY
from cuecard.config.agent_file import InputSpec
from cuecard.model import Cut, FileText, Json
from cuecard.pipeline.request import CallRequest
from cuecard.sources.clock import date_text
from cuecard.sources.memory import memory_text
from cuecard.template import clean, trust_report
from cuecard.template.guards.controls import without_controls
from cuecard.template.guards.layout_guard import LayoutGuard, guard_layout


@dataclass(frozen=True, slots=True)
class Values:
    """Plain values by placeholder, what was left out of them, how much hostile text was neutralised; files, cleaned."""

    values: Mapping[str, Json]
    cuts: tuple[Cut, ...]
    trust: Mapping[str, int]
    files: Mapping[str, FileText] = field(default_factory=dict)


def clean_inputs(request: CallRequest, summary: str = "") -> Values:
    """The values for one call; `summary` is that of the conversation, where one has to be shown.

    Raises:
        InputError: when two keys of a value are one once invisible characters are removed.
    """
    agent, turn = request.agent, request.turn
    declared = agent.spec.inputs
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
