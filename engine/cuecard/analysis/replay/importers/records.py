"""Log files as records: JSON or JSON lines, with request bodies alone or wrapped with their responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from cuecard.analysis.replay.importers.events import when
from cuecard.config.transcript_file import read_json
from cuecard.errors import CuecardError, Problem, SpecError
from cuecard.model import Json

_WRAPPED = ("request", "request_body", "body", "kwargs")
_TIMES = ("at", "timestamp", "time", "created_at")


@dataclass(frozen=True, slots=True)
class Record:
    """One request of a log: its body, the response if it was kept, and when it was sent."""

    body: Mapping[str, Json]
    response: Mapping[str, Json] = field(default_factory=dict)
    at: datetime | None = None


def read_values(text: str, name: str) -> tuple[list[Json], list[Problem]]:
    """The values of a JSON file (the items, if it is a list) or of a file of JSON lines. Each invalid line costs only
    itself, and a warning.

    Raises:
        SpecError: when it is neither, with the place.
    """
    try:
        value = read_json(text, name)
    except SpecError:
        values, problems = _lines(text, name)
        if len(values) + len(problems) < 2 or not any(isinstance(value, dict) for value in values):
            raise
        return values, problems
    return (value if isinstance(value, list) else [value]), []


def records(values: Iterable[Json]) -> list[Record]:
    """The requests among these values, in order; other values are left out."""
    found = [_record(value) for value in values if isinstance(value, dict)]
    return [record for record in found if record is not None]


def conversations(found: Sequence[Record], key: str) -> list[list[Record]]:
    """The requests of each conversation, longest conversation first. Requests that begin with the same message belong
    together.

    `key` is where messages stand in a body. Logs hold other requests too, such as those that make titles.
    """
    groups: dict[str, list[Record]] = {}
    for record in found:
        groups.setdefault(_opening(record.body.get(key)), []).append(record)
    return sorted(groups.values(), key=len, reverse=True)


def listed(value: Json) -> Iterator[Mapping[str, Json]]:
    """The objects in a list; nothing when it is not a list."""
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def text_of(content: Json, *kinds: str) -> str:
    """The text of a message's content: a string, or the parts of these types in a list."""
    if isinstance(content, str):
        return content
    parts = (part for part in listed(content) if part.get("type") in kinds)
    return "\n".join(str(part.get("text", "")) for part in parts)


def _lines(text: str, name: str) -> tuple[list[Json], list[Problem]]:
    values: list[Json] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            values += [read_json(line, name, number)] if line.strip() else []
        except CuecardError as error:
            hint = "this line is skipped"
            problems += [replace(problem, severity="warning", advice=hint) for problem in error.problems]
    return values, problems


def _record(value: Mapping[str, Json]) -> Record | None:
    at = next((when(value[key]) for key in _TIMES if key in value), None)
    if _is_body(value):
        return Record(value, at=at)
    inner = next((value[key] for key in _WRAPPED if isinstance(value.get(key), dict)), None)
    if inner is None:
        return None
    response = value.get("response")
    record = _record(inner)
    kept = response if isinstance(response, dict) else {}
    return Record(record.body, kept or record.response, at or record.at) if record else None


def _is_body(value: Mapping[str, Json]) -> bool:
    return isinstance(value.get("messages"), list) or isinstance(value.get("input"), (list, str))


def _opening(messages: Json) -> str:
    if isinstance(messages, str):
        return messages
    first = (m for m in listed(messages) if m.get("role") == "user")
    return str(next(first, {}).get("content"))
