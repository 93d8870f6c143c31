"""The format of records: what was sent to the model, what it then called, and summaries, one JSON object a line.

docs/records.md describes it. A bare manifest is a request whose calls are unknown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import datetime
from functools import cache, lru_cache
from hashlib import sha256
from json.encoder import encode_basestring
from operator import attrgetter
from typing import Any, cast

from cuecard.errors import CuecardError, Problem
from cuecard.model import Json, Manifest, Step, ToolResult
from cuecard.model.messages import Summary
from cuecard.model.storage import as_plain, shallow, to_json_lazily
from cuecard.pipeline.search_results import found_names

FORMAT = 1
"""The number of the format of lines; raised whenever older versions could not read what is written."""

MAX_CONVERSATIONS = 10_000
"""The number of conversations of which a recorder knows the last request; calls of others do not name theirs."""
_HINT = "write one object per line: a `manifest` and the `calls` that followed"
_UPDATE = "update cuecard"
_CUT = "the line is cut off: its process ended, or its disk was full, as it was written"
_ERROR_CHARACTERS = 2_000
_KEPT = 4096


@dataclass(frozen=True, slots=True)
class ToolCallRecord:
    """A tool call and its result.

    Attributes:
        tool: the name of the tool.
        query: the query, if it is a search: the argument `query`, or else the first argument that is a text.
        found: the tools named in its result.
        is_error: whether it failed.
        told: the text of an error.
        result: what it returned, with the arguments of the call, where both were recorded.
    """

    tool: str
    query: str = ""
    found: tuple[str, ...] = ()
    is_error: bool = False
    told: str = ""
    result: ToolResult | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One request: the conversation it belongs to, the manifest of its prompt, and the model's calls.

    Attributes:
        conversation: the id of the conversation.
        manifest: what was sent, why, and what was left out.
        calls: what the model then called.
        id: the id of the record; empty for one that a host has written without.
        at: when it was written; empty if unknown.
        turn: the number of the user's message in its conversation, from 0; None if unknown.
        texts: the prompt itself, where it was recorded: `system` and `appended`, lists of `id` and `text`.
    """

    conversation: str
    manifest: Manifest
    calls: tuple[ToolCallRecord, ...] = ()
    id: str = ""
    at: str = ""
    turn: int | None = None
    texts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallsRecord:
    """Calls in a line of their own: of the request `of` or, without it, of the last one of their conversation."""

    conversation: str
    calls: tuple[ToolCallRecord, ...]
    of: str = ""
    id: str = ""


def record_id(*parts: str | int) -> str:
    """The id of a record: the same for the same place in the same conversation, in every process."""
    return sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def head(identity: str, agent: str, conversation: str, at: datetime) -> dict[str, Json]:
    """The keys that every record begins with."""
    moment = at.isoformat(timespec="milliseconds")
    return {"format": FORMAT, "id": identity, "agent": agent, "conversation": conversation, "at": moment}


def call_json(result: ToolResult, search: str, *, texts: bool) -> dict[str, Json]:
    """One of `calls`: names and whether it failed; with `texts`, also what was asked and answered.

    Args:
        result: the result of the call.
        search: the search tool, the names in whose results belong to the catalogue, not to what was said.
        texts: whether arguments and results are recorded.
    """
    made: dict[str, Json] = {"tool": result.tool, "call_id": result.call_id, "is_error": result.is_error}
    if result.tool == search and not result.is_error:
        made["found"] = [*found_names(result.result).names]
    return {**made, "arguments": result.arguments, "result": result.result} if texts else made


def texts_json(step: Step) -> dict[str, Json]:
    """The prompt of a step: its system prompt and its blocks, in pieces."""
    system = [{"id": each.id, "text": each.text} for each in step.segments]
    return {"system": system, "appended": [{"id": each.id, "text": each.text} for each in step.appended]}


def summary_json(summary: str | Summary) -> dict[str, Json]:
    """A summary as a record holds it."""
    held = Summary(summary) if isinstance(summary, str) else summary
    return {"summary": as_plain(held)}


def written(record: Mapping[str, Json], manifest: Manifest | None = None, **more: Json) -> bytes:
    """A record as a line.

    Args:
        record: its keys; with a manifest, those before it.
        manifest: the manifest of a request.
        more: the keys after the manifest.
    """
    text = _text(record)
    if manifest is not None:
        text = f'{text[:-1]},"manifest":{_manifest_text(manifest)},{_text(more)[1:]}'
    return f"{text}\n".encode("utf-8", "backslashreplace")


def _manifest_text(manifest: Manifest) -> str:
    """A manifest as `to_json` has it, in parts: most of those of a step are those of the step before."""
    told = [f'"{key}":{_field_text(held)}' for key, held in to_json_lazily(manifest).items()]
    return f"{{{','.join(told)}}}"


def _field_text(value: Any) -> str:
    kind = type(value)
    if kind is tuple:
        return f"[{','.join(map(_part_text, value))}]"
    if kind is str:
        return encode_basestring(value)
    return _mapping_text(tuple(value.items())) if issubclass(kind, Mapping) else _part_text(value)


@lru_cache(_KEPT)
def _part_text(part: Any) -> str:
    return _writer(cast("Hashable", type(part)))(part)


@lru_cache(_KEPT)
def _mapping_text(items: tuple[tuple[str, str | int], ...]) -> str:
    return _text(dict(items))


@cache
def _writer(kind: Any) -> Callable[[Any], str]:
    """What writes values of a class: those of a record into a form that has its keys."""
    if not is_dataclass(kind) or any(each.metadata for each in fields(kind)):
        return _text
    form = ",".join(f'"{each.name}":%s' for each in fields(kind))
    values = attrgetter(*(each.name for each in fields(kind)))
    return lambda record: f"{{{form % tuple([_field_text(value) for value in values(record)])}}}"


_ENCODER = json.JSONEncoder(default=shallow, ensure_ascii=False, separators=(",", ":"))
_text = _ENCODER.encode


def read_records(texts: Iterable[tuple[str, str]], agent: str = "") -> tuple[list[RequestRecord], list[Problem]]:
    """The requests in files of JSON or JSON lines, and what could not be read; an unreadable line costs only itself.

    A record that comes again, as its id shows, counts once; summaries are no requests and are passed over.

    Args:
        texts: the name and the text of each file; without `conversation`, a file of lines is one conversation.
        agent: leave out requests of other agents; empty for all.
    """
    reading = _Reading(agent)
    for name, text in texts:
        for where, line in _objects(name, text):
            record = read_line(line, where, name)
            if isinstance(record, Problem):
                reading.problems.append(record)
            else:
                reading.take(record, where)
    return reading.requests, [*reading.problems, *reading.foreign()]


def read_line(line: str, where: str, name: str) -> RequestRecord | CallsRecord | Problem | None:
    """One record, or why it cannot be read; None for a summary, which is neither a request nor a call.

    Args:
        line: its text.
        where: its place, for the problem.
        name: the conversation of a record that names none.
    """
    try:
        return _record(json.loads(line), where, name)
    except CuecardError as error:
        wrong = error.problems[0]
        return _skipped(wrong.message, where, _UPDATE if wrong.code == "newer-format" else _HINT)
    except LaterFormatError as error:
        return _skipped(str(error), where, _UPDATE)
    except (ValueError, RecursionError) as error:
        cut = line.startswith("{") and not line.rstrip().endswith("}")
        return _skipped(_CUT if cut else str(error), where)


class WrongShapeError(ValueError):
    """A record that has another shape."""


class LaterFormatError(WrongShapeError):
    """A record of a format that this version does not read."""


class _Reading:
    """The requests read so far; calls that come in lines of their own go to theirs."""

    def __init__(self, agent: str) -> None:
        self.requests: list[RequestRecord] = []
        self.problems: list[Problem] = []
        self._agent, self._seen = agent, set[str]()
        self._places: dict[str, int] = {}
        self._others: dict[str, str] = {}

    def take(self, record: RequestRecord | CallsRecord | None, where: str) -> None:
        if record is None or (record.id and record.id in self._seen):
            return
        if isinstance(record, CallsRecord):
            self._add(record)
        else:
            self._request(record, where)
        self._seen.add(record.id)

    def foreign(self) -> Iterator[Problem]:
        """What was left out because another agent made it: a line for each of these agents."""
        for name, where in self._others.items():
            message = f"left out: these are requests of the agent `{name}`, not of `{self._agent}`"
            yield Problem("bad-record", message, "name that agent, or other records", where, severity="warning")

    def _request(self, request: RequestRecord, where: str) -> None:
        if self._agent and (other := request.manifest.configuration.agent) != self._agent:
            self._others.setdefault(other, where)
            return
        for name in filter(None, (request.id, f"in {request.conversation}")):
            self._places[name] = len(self.requests)
        self.requests.append(request)

    def _add(self, record: CallsRecord) -> None:
        """Calls of the request that they name or, if it is not here, of the last one of their conversation."""
        place = self._places.get(record.of, self._places.get(f"in {record.conversation}"))
        if place is not None:
            known = self.requests[place]
            self.requests[place] = replace(known, calls=(*known.calls, *record.calls))


def _objects(name: str, text: str) -> Iterator[tuple[str, str]]:
    """The objects of a file with their places; a JSON file is one object."""
    if not name.endswith((".jsonl", ".ndjson")):
        yield name, text
        return
    yield from ((f"{name}:{number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _skipped(message: str, where: str, hint: str = _HINT) -> Problem:
    return Problem("bad-record", f"left out: {message}", hint, where, severity="warning")


def _check_format(data: Mapping[str, Json]) -> None:
    """A bare manifest has a format of its own, and a record of a host may have none."""
    number = data.get("format", FORMAT)
    if isinstance(number, bool) or not isinstance(number, int):
        raise WrongShapeError(f"`format` should be {FORMAT}")
    if number > FORMAT:
        told = f"the record has format {number}; this version of cuecard reads up to {FORMAT}"
        raise LaterFormatError(told)


def _record(data: Any, where: str, name: str) -> RequestRecord | CallsRecord | None:
    if not isinstance(data, Mapping):
        raise WrongShapeError("this is not a JSON object")
    _check_format(data)
    calls = data.get("calls", ())
    if not isinstance(calls, (list, tuple)) or not all(isinstance(call, Mapping) for call in calls):
        raise WrongShapeError("`calls` should be a list of objects")
    conversation, made = str(data.get("conversation") or name), tuple(_call(call) for call in calls)
    if "summary" in data:
        return None
    if "manifest" in data or "calls" not in data:
        return _request(data, conversation, made, where)
    return CallsRecord(conversation, made, str(data.get("of") or ""), str(data.get("id") or ""))


def _request(
    data: Mapping[str, Json], conversation: str, calls: tuple[ToolCallRecord, ...], where: str
) -> RequestRecord:
    manifest = Manifest.from_json(data.get("manifest", data), where)
    turn, texts = data.get("turn"), data.get("texts")
    return RequestRecord(
        conversation,
        manifest,
        calls,
        str(data.get("id") or ""),
        str(data.get("at") or ""),
        turn if type(turn) is int else None,
        texts if isinstance(texts, Mapping) else {},
    )


def _call(data: Mapping[str, Json]) -> ToolCallRecord:
    failed, tool = data.get("is_error") is True, str(data.get("tool", ""))
    result = data.get("result")
    told = (result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)) if failed else ""
    named = data.get("found") if isinstance(data.get("found"), list) else None
    found = () if failed else tuple(map(str, named)) if named is not None else found_names(result).names
    call_id = data.get("call_id")
    whole = ToolResult(tool, result, call_id if isinstance(call_id, str) else None, failed)
    whole = replace(whole, arguments=data.get("arguments"))
    kept = whole if "result" in data else None
    return ToolCallRecord(tool, _query(data.get("arguments")), found, failed, told[:_ERROR_CHARACTERS], kept)


def _query(arguments: Json) -> str:
    if not isinstance(arguments, Mapping):
        return ""
    texts = [value for value in (arguments.get("query"), *arguments.values()) if isinstance(value, str)]
    return texts[0] if texts else ""
