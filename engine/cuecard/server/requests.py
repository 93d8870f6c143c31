"""What clients send: the bodies of requests."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.turn_file import EntityEntry, TurnFields
from cuecard.config.values.names import as_tuple
from cuecard.model import Authority, Json, ToolResult

Conversation = Annotated[
    str, Field(description="the `conversation` of the answer before, whole and unchanged", max_length=16 * 2**20)
]


class ResultBody(FileModel):
    """One tool result."""

    tool: str = Field("", description="the tool's name; may be left out where `calls` has said it for this call id")
    result: Json = Field(None, description="what it returned: any JSON, or JSON as text")
    call_id: str | None = Field(None, description="the id of the tool call")
    is_error: bool = Field(default=False, description="whether the tool failed")
    pending: bool = Field(default=False, description="whether the tool asks for confirmation and has done nothing yet")
    batch: str | None = Field(None, description="what results of calls made in one message of the model share")


Results = Annotated[
    tuple[ResultBody, ...],
    BeforeValidator(as_tuple),
    Field(description="tool results, oldest first: those since the last step, or all of them each time"),
]
Calls = Annotated[dict[str, str], Field(description="the tools of calls, by call id, where results carry no name")]


class TurnBody(TurnFields):
    """What the host knows of one message of the user."""

    authority: Authority | None = Field(
        None, description="the role in which the host places appended blocks, where it knows better than the profile"
    )


class Asked(FileModel):
    """What every request may say."""

    model_config = ConfigDict(defer_build=False)  # FastAPI warns of its own schema when it is built later

    agent: str = Field("", description="the agent's name; may be left out where only one is served")


class PrepareCall(Asked):
    """A message of the user: what begins a call."""

    conversation: Conversation | None = Field(None, description="left out for a new conversation")
    turn: TurnBody = Field(TurnBody(), description="what the host knows of the message")
    results: Results = ()
    calls: Calls = Field(default_factory=dict)
    compacted: int | None = Field(
        None,
        ge=0,
        description="after the host has shortened the messages: how many messages of the user stand before this one",
    )
    manifest: bool = Field(default=False, description="whether to answer with the manifest")


class PrepareStep(Asked):
    """The next request to the model."""

    conversation: Conversation
    results: Results = ()
    calls: Calls = Field(default_factory=dict)
    manifest: bool = Field(default=False, description="whether to answer with the manifest")


class SearchTools(Asked):
    """What the model asks of the search tool."""

    query: str = Field(description="what the tools should do, in a few words")
    limit: int | None = Field(None, description="at most so many tools; the agent's own limit when left out")
    conversation: Conversation | None = Field(
        None, description="with it, only what the next step will have active is announced"
    )
    results: Results = ()
    calls: Calls = Field(default_factory=dict)


class Remember(Asked):
    """What the conversation has touched by other ways than tool results."""

    conversation: Conversation | None = Field(None, description="left out for a new conversation")
    entities: Annotated[tuple[EntityEntry, ...], BeforeValidator(as_tuple)] = Field(
        (), description="what was touched, newest first"
    )
    forget: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = Field((), description="ids or keys of what is gone")
    forget_all: bool = Field(default=False, description="whether to forget everything before")


def to_results(bodies: tuple[ResultBody, ...]) -> tuple[ToolResult, ...]:
    """The results as the engine takes them."""
    return tuple(ToolResult(b.tool, b.result, b.call_id, b.is_error, b.pending, b.batch) for b in bodies)
