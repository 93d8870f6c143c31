"""Transcript files: a recorded conversation, for `cuecard replay`. JSON, documented in docs/caching.md."""

import json
import re
from collections.abc import Iterator

from pydantic import Field, ValidationError

from cuecard.config.documents.document import Document, json_places, problem_at
from cuecard.config.documents.validation import FileModel, validate
from cuecard.config.turn_file import EntityEntry
from cuecard.config.values import Moment
from cuecard.errors import Problem, Span, SpecError
from cuecard.model import Json
from cuecard.records import replace

_HALF = re.compile("[\ud800-\udfff]")


class RecordedTool(FileModel):
    """A tool as the model saw it."""

    name: str = Field(min_length=1, description="the tool's name")
    description: str = Field("", description="its description for the model")
    input_schema: dict[str, Json] = Field(default_factory=dict, description="the JSON Schema of its arguments")


class RecordedCall(FileModel):
    """A tool call that the model made, and its result."""

    tool: str = Field(min_length=1, description="the tool's name")
    id: str = Field("", description="the id of the call; by default its place in the conversation, such as `1.2.1`")
    args: Json = Field(default_factory=dict, description="its arguments")
    result: Json = Field(None, description="what the tool returned")
    is_error: bool = Field(default=False, description="whether the tool failed")


class RecordedUsage(FileModel):
    """The usage that the provider reported for a request, in its own tokens."""

    input_tokens: int = Field(0, ge=0, description="tokens of the whole request, cached ones included")
    cached_tokens: int = Field(0, ge=0, description="tokens that were read from the cache")
    output_tokens: int = Field(0, ge=0, description="tokens of the answer")


class RecordedRequest(FileModel):
    """One request to the model, recorded by its answer; the results of tools go into the next request."""

    at: Moment | None = Field(None, description="when it was sent, ISO 8601 with a zone")
    text: str = Field("", description="what the model wrote")
    calls: list[RecordedCall] = Field(default_factory=list, description="the tools it called, all at once")
    memory: list[EntityEntry] | None = Field(
        None, description="the working memory of a program that rebuilds it for each request; only used under `rewrite`"
    )
    usage: RecordedUsage | None = Field(None, description="what the provider reported")


class RecordedTurn(FileModel):
    """One message of the user, and the requests that it led to."""

    user: str = Field(description="what the user wrote")
    at: Moment | None = Field(None, description="the time it was sent; by default the time of the first request")
    inputs: dict[str, Json] = Field(default_factory=dict, description="values of the agent's inputs")
    memory: list[EntityEntry] | None = Field(
        None, description="entities, newest first; by default what the agent's `memory.extract` finds in the results"
    )
    tools: list[str] | None = Field(None, description="the catalogue's tools that exist; all by default")
    requests: list[RecordedRequest] = Field(min_length=1, description="the requests to the model, in order")


class TranscriptFile(FileModel):
    """One recorded conversation."""

    source: str = Field("", description="the recorder's format, such as `anthropic`")
    tools: list[RecordedTool] = Field(default_factory=list, description="the tools, with their schemas")
    turns: list[RecordedTurn] = Field(min_length=1, description="the conversation, turn by turn")

    def requests(self) -> Iterator[RecordedRequest]:
        """Every request of the conversation."""
        return (request for turn in self.turns for request in turn.requests)


def read_transcript(text: str, name: str) -> TranscriptFile:
    """A transcript from its JSON text.

    Raises:
        SpecError: with every problem, each at `name:line:column`.
    """
    value = read_json(text, name)
    if not isinstance(value, dict):
        raise SpecError(Problem("wrong-value", "a transcript must be an object", 'write `{"turns": [...]}`', name))
    try:
        return TranscriptFile.model_validate(value)
    except ValidationError:  # only an invalid file is read again, to find the places of its values
        return validate(Document(name, text, value, *json_places(text)), TranscriptFile)


def read_json(text: str, name: str, first_line: int = 1) -> Json:
    """A JSON text; `first_line` is the number of its first line in the file.

    A lone surrogate, which JSON can contain but UTF-8 cannot, becomes a replacement character.

    Raises:
        SpecError: when it is not JSON, at the place where parsing failed.
    """
    try:
        value = json.loads(text)
        return _whole(value) if "\\ud" in text.lower() else value
    except json.JSONDecodeError as error:
        span = Span(error.lineno, error.colno)
        found = problem_at(name, text, span, "json-syntax", error.msg, "the file holds JSON")
        raise SpecError(replace(found, span=Span(error.lineno + first_line - 1, error.colno))) from None
    except RecursionError:
        raise SpecError(Problem("json-syntax", "nested too deeply", "flatten the file", name)) from None
    except ValueError:  # the exception that Python itself raises
        message = "a number with too many digits"
        raise SpecError(Problem("json-syntax", message, "write it as a string", name)) from None


def _whole(value: Json) -> Json:
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_whole(key): _whole(inner) for key, inner in value.items()}
    return [_whole(inner) for inner in value] if isinstance(value, list) else value
