"""Turn files: one call of an agent written down, for `cuecard render` and `cuecard tokens`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from cuecard.model import DeliveryWish, Entity, Host, Json, Memory, ToolResult, Turn
from cuecard.spec.kinds import Names
from cuecard.spec.validate import FileModel


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _time(value: Any) -> Any:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("should be an ISO 8601 time with a zone, such as 2026-11-20T09:00:00+00:00") from None
    if isinstance(moment, datetime) and moment.tzinfo is None:
        raise ValueError("should have a zone, such as 2026-11-20T09:00:00+00:00")
    return moment


class EntityEntry(FileModel):
    """One entity of the working memory."""

    type: str = Field(description="the kind of thing, such as `page`")
    id: str = Field(description="the id that tools use")
    name: str = Field(description="the name that people use")


class ResultEntry(FileModel):
    """One tool result of the conversation so far."""

    tool: str = Field(description="the tool's name")
    result: Json = Field(description="what it returned")
    call_id: str | None = Field(None, description="the id of the tool call")
    is_error: bool = Field(default=False, description="whether the tool failed")


class TurnFile(FileModel):
    """What the host knows of one call."""

    now: Annotated[datetime | None, BeforeValidator(_time)] = Field(None, description="the time, ISO 8601 with a zone")
    inputs: dict[str, Json] = Field(default_factory=dict, description="values of the agent's inputs")
    memory: Annotated[tuple[EntityEntry, ...], BeforeValidator(_tuple)] = Field(
        (), description="entities, newest first"
    )
    tools: Names | None = Field(None, description="the tools that exist; all when left out")
    discovered: Names = Field((), description="tools found earlier whose results are no longer in the history")
    history: Annotated[tuple[ResultEntry, ...], BeforeValidator(_tuple)] = Field(
        (), description="tool results of the conversation, oldest first"
    )
    delivery: DeliveryWish | None = Field(None, description="overrides the agent's delivery for this call")
    model: str = Field("", description="the provider's name of the model, such as `claude-opus-4-8`")
    host: Host = Field("messages", description="whether the host can append messages, or only set the system prompt")

    def tool_results(self) -> tuple[ToolResult, ...]:
        """The history as the engine takes it."""
        return tuple(ToolResult(r.tool, r.result, r.call_id, r.is_error) for r in self.history)


def to_turn(file: TurnFile, inputs: Mapping[str, Json]) -> Turn:
    """The turn with these inputs."""
    memory = Memory(tuple(Entity(e.type, e.id, e.name) for e in file.memory))
    return Turn(inputs, memory, file.now, file.tools, file.discovered, None, file.delivery, file.model, file.host)
