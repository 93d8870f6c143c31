"""What the host hands in: JSON values, entities, tool results, and the turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

Json: TypeAlias = Any
"""A JSON value: mapping with string keys, sequence, string, number, boolean or null."""

Tier: TypeAlias = Literal["static", "call", "step"]
"""How often a section may change: never under one spec, from call to call, or within a run."""

Delivery: TypeAlias = Literal["rewrite", "append", "frozen"]
"""Where step-tier text goes: into the system prompt, into a message after the search result that caused it, or, for all
tools and from the start, into the system prompt that then never changes."""

ReloadPolicy: TypeAlias = Literal["now", "next-call", "next-conversation"]
"""When a change of the files reaches a conversation: at its next step, its next call, or never."""

CountTokens: TypeAlias = Callable[[str], int]
"""How many tokens a text costs; the engine never assumes a tokenizer."""

Clock: TypeAlias = Callable[[], datetime]
"""What time it is, with a zone; asked only when a turn does not say."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing the conversation has touched: `type` such as `page`, the `id` tools use, the `name` people use."""

    type: str
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Memory:
    """The working memory of a conversation, newest entity first."""

    entities: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """One result of a tool in the conversation so far: the history items that matter to a prompt."""

    tool: str
    result: Json
    call_id: str | None = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class FileText:
    """A file that a prompt shows: its text, or None when it is missing; `error` says why it could not be read."""

    path: str
    text: str | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the host knows of one call; every field has a default.

    Attributes:
        inputs: values of the inputs that the agent file declares.
        memory: the working memory as this call starts.
        now: the time with its zone; the engine's clock is asked when it is None.
        tools: names of the tools that exist for this call; None means the whole catalogue.
        discovered: tools found earlier in the conversation whose results are no longer in the history.
        reload: the policy by which a watched engine was chosen for this call, for the manifest.
    """

    inputs: Mapping[str, Json] = field(default_factory=dict)
    memory: Memory = Memory()
    now: datetime | None = None
    tools: tuple[str, ...] | None = None
    discovered: tuple[str, ...] = ()
    reload: ReloadPolicy | None = None


History: TypeAlias = Sequence[ToolResult]
"""Tool results of the conversation, oldest first."""
