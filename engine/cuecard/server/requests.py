"""The bodies of requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, ConfigDict, Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.turn_file import EntityEntry, TurnFields
from cuecard.config.values import as_tuple
from cuecard.model import Authority, Json, ToolResult

Conversation = Annotated[
    str, Field(description="the `conversation` of the previous answer, complete and unchanged", max_length=16 * 2**20)
]


class ResultBody(FileModel):
    """One tool result."""

    tool: str = Field("", description="the tool's name; optional if `calls` names it for this call id")
    result: Json = Field(None, description="what it returned: any JSON, or JSON as text")
    call_id: str | None = Field(None, description="the id of the tool call")
    is_error: bool = Field(default=False, description="whether the tool failed")
    pending: bool = Field(
        default=False, description="whether the tool is waiting for confirmation and has done nothing yet"
    )
    batch: str | None = Field(None, description="an id shared by the results of calls made in one model message")
    arguments: Json = Field(None, description="the arguments of the call, for the rules of `memory` and for records")


Results = Annotated[
    tuple[ResultBody, ...],
    BeforeValidator(as_tuple),
    Field(description="tool results, oldest first: those since the last model request, or all of them each time"),
]
Messages = Annotated[
    tuple[str | Annotated[tuple[str, ...], BeforeValidator(as_tuple)], ...] | None,
    BeforeValidator(as_tuple),
    Field(
        description="the messages of the request to the model, without appended texts: for each the list of the call "
        "ids of its tool results or, without any, its role; the answer then has `placed`"
    ),
]
HostTools = Annotated[
    tuple[str, ...] | None,
    BeforeValidator(as_tuple),
    Field(description="every tool of the request to the model; those that the agent does not know are left alone"),
]
Definitions = Annotated[
    tuple[str, ...] | None,
    BeforeValidator(as_tuple),
    Field(
        description="with `host_tools`: every tool whose definition your program can send, in their order, those that "
        "are gone among them; the answer then has `front`"
    ),
]
Calls = Annotated[dict[str, str], Field(description="tool names by call id, for results without a name")]


class TurnBody(TurnFields):
    """What your program knows about one user message."""

    authority: Authority | None = Field(
        None, description="the role of appended texts, if your program knows better than the profile"
    )


class AgentRequest(FileModel):
    """The fields of every request."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        defer_build=False
    )  # FastAPI warns about its own schema if it is built later
    removed: ClassVar[Mapping[str, str]] = TurnFields.removed

    agent: str = Field("", description="the agent's name; optional if only one is served")


class PrepareCall(AgentRequest):
    """A user message, which begins a run."""

    conversation: Conversation | None = Field(None, description="omitted for a new conversation")
    turn: TurnBody = Field(default_factory=TurnBody, description="what your program knows about the message")
    results: Results = ()
    calls: Calls = Field(default_factory=dict)
    compacted: int | None = Field(
        None,
        ge=0,
        description="after your program has shortened the messages: how many user messages come before this one",
    )
    host_tools: HostTools = None
    definitions: Definitions = None
    resumed: bool = Field(
        default=False,
        description="whether the turn goes on, as after an approval, so that no message of the user is new",
    )
    said: str = Field(
        "",
        description="the user's words, by which an agent with `tools.ahead` searches if the turn has no `query` and no "
        "`message`; the first 2,001 characters are enough",
    )
    messages: Messages = None
    manifest: bool = Field(default=False, description="whether to include the manifest in the answer")


Anew = Annotated[
    PrepareCall | None,
    Field(
        description="the body that began the run, for a service without the files of then: it prepares the user "
        "message anew, so send all results since then"
    ),
]


class PrepareStep(AgentRequest):
    """The next request to the model."""

    conversation: Conversation
    results: Results = ()
    calls: Calls = Field(default_factory=dict)
    inputs: dict[str, Json] = Field(
        default_factory=dict,
        description="values of inputs that the agent file declares with `tier: step`, from this request on",
    )
    messages: Messages = None
    host_tools: HostTools = None
    definitions: Definitions = None
    anew: Anew = None
    manifest: bool = Field(default=False, description="whether to include the manifest in the answer")


class SearchTools(AgentRequest):
    """The model's call of the search tool."""

    query: str = Field(description="what the tools should do, in a few words")
    limit: int | None = Field(None, description="the maximum number of tools; by default the agent's own limit")
    bounded: bool = Field(
        default=False,
        description="whether a `limit` out of range is brought into it instead of refused, because a model chose it",
    )
    conversation: Conversation | None = Field(
        None, description="if set, only tools that the next model request will activate are announced"
    )
    results: Results = ()
    calls: Calls = Field(default_factory=dict)
    anew: Anew = None


class Remember(AgentRequest):
    """What the conversation has touched by means other than tool results, and the end of a turn."""

    conversation: Conversation | None = Field(None, description="omitted for a new conversation")
    entities: Annotated[tuple[EntityEntry, ...], BeforeValidator(as_tuple)] = Field(
        (), description="entities that were touched, newest first"
    )
    forget: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = Field(
        (), description="ids or keys of removed entities"
    )
    forget_type: str = Field("", description="the type of the removed entities; by default any")
    forget_all: bool = Field(default=False, description="whether to clear the memory first")
    ended: bool = Field(
        default=False,
        description="whether the turn has ended: what belongs to that turn alone is left out of the conversation",
    )


def to_results(bodies: Iterable[ResultBody]) -> tuple[ToolResult, ...]:
    """The results in the engine's own type."""
    return tuple(ToolResult(b.tool, b.result, b.call_id, b.is_error, b.pending, b.batch, b.arguments) for b in bodies)
