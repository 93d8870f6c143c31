"""Recorded requests: the manifest of each prompt, and the calls that the model made with it.

One JSON object a line: `{"conversation": "...", "manifest": {...}, "calls": [{"tool", "arguments", "result",
"is_error"}]}`. A bare manifest is a request whose calls are unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cuecard.errors import CuecardError, Problem
from cuecard.model import Json, Manifest
from cuecard.pipeline.search_results import found_names

_HINT = "write one object per line: a `manifest` and the `calls` that followed"
_ERROR_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class ToolCallRecord:
    """A tool call and its result.

    Attributes:
        tool: the name of the tool.
        query: the query, if it is a search: the argument `query`, or else the first argument that is a text.
        found: the tools named in its result.
        is_error: whether it failed.
        told: the text of an error.
    """

    tool: str
    query: str = ""
    found: tuple[str, ...] = ()
    is_error: bool = False
    told: str = ""


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One request: the conversation it belongs to, the manifest of its prompt, and the model's calls."""

    conversation: str
    manifest: Manifest
    calls: tuple[ToolCallRecord, ...] = ()


def read_records(texts: Iterable[tuple[str, str]]) -> tuple[list[RequestRecord], list[Problem]]:
    """The requests in files of JSON or JSON lines, and what could not be read; an unreadable line costs only itself.

    Args:
        texts: the name and the text of each file; without `conversation`, a file of lines is one conversation.
    """
    requests: list[RequestRecord] = []
    problems: list[Problem] = []
    for name, text in texts:
        for where, line in _objects(name, text):
            try:
                requests.append(_request(json.loads(line), where, name))
            except CuecardError as error:
                problems += [_skipped(problem.message, where) for problem in error.problems[:1]]
            except (ValueError, RecursionError) as error:
                problems.append(_skipped(str(error), where))
    return requests, problems


def _objects(name: str, text: str) -> Iterator[tuple[str, str]]:
    """The objects of a file with their places; a JSON file is one object."""
    if not name.endswith((".jsonl", ".ndjson")):
        yield name, text
        return
    yield from ((f"{name}:{number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _skipped(message: str, where: str) -> Problem:
    return Problem("bad-record", f"left out: {message}", _HINT, where, severity="warning")


class WrongShapeError(ValueError):
    """A record that has another shape."""


def _request(data: Any, where: str, name: str) -> RequestRecord:
    if not isinstance(data, Mapping):
        raise WrongShapeError("this is not a JSON object")
    manifest = data.get("manifest", data)
    calls = data.get("calls", ())
    if not isinstance(calls, (list, tuple)) or not all(isinstance(call, Mapping) for call in calls):
        raise WrongShapeError("`calls` should be a list of objects")
    conversation = str(data.get("conversation") or name)
    return RequestRecord(conversation, Manifest.from_json(manifest, where), tuple(_call(call) for call in calls))


def _call(data: Mapping[str, Json]) -> ToolCallRecord:
    failed = data.get("is_error") is True
    result = data.get("result")
    told = (result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)) if failed else ""
    found = () if failed else found_names(result).names
    return ToolCallRecord(
        str(data.get("tool", "")), _query(data.get("arguments")), found, failed, told[:_ERROR_CHARACTERS]
    )


def _query(arguments: Json) -> str:
    if not isinstance(arguments, Mapping):
        return ""
    texts = [value for value in (arguments.get("query"), *arguments.values()) if isinstance(value, str)]
    return texts[0] if texts else ""
