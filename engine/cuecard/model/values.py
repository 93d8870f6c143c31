"""JSON values, entities, memory and tool results; and values that settings no longer have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from cuecard.errors import REMOVED
from cuecard.records import dataclass

STRUCTURED = ("structuredContent", "structured_content")
"""The structured content of a result from an MCP server; its content says the same as parts."""

BLOCKS = ("toolResult", "functionResponse", "function_response")
"""The blocks in which Bedrock and Gemini send a result."""

FAILED = ("isError", "is_error")
"""The keys that are true for a failed call."""


def no_longer(word: str, hint: str) -> BeforeValidator:
    """Annotates a setting that could be this word; `hint` says what to write instead."""

    def check(value: Any) -> Any:
        if isinstance(value, str) and str.__str__(value) == word:
            told = f"can no longer be `{word}`"
            raise PydanticCustomError("told", "{told}", {"code": REMOVED, "told": told, "hint": hint})
        return value

    return BeforeValidator(check)


Json: TypeAlias = Any
"""A JSON value: mapping with string keys, sequence, string, number, boolean or null."""

Tier: TypeAlias = Literal["static", "call", "step"]
"""How often a section may change: never under one spec, from call to call, or within a run."""

Lifetime: TypeAlias = Literal["conversation", "turn", "step"]
"""How long a text lives: with the conversation, until the turn ends, or for one request."""

Delivery: TypeAlias = Literal["rewrite", "append", "frozen"]
"""Where step-tier text goes: into the system prompt, into a message after the search result that caused it, or, for all
tools and from the start, into the system prompt that then never changes."""

DeliveryWish: TypeAlias = Literal["rewrite", "append", "frozen", "auto"]
"""A delivery that is asked for; `auto` leaves it to the engine, which decides by host and model."""

Host: TypeAlias = Literal["messages", "system-only"]
"""What a host can do during a conversation: append messages, or only set the system prompt of each request."""

Authority: TypeAlias = Literal["system", "developer", "user", "unknown"]
"""The role in which instructions reach a model mid-conversation."""

APPEND_REMOVED = "write `next-call`: the next message after a change then begins with a new system prompt"
"""What to write instead of the policy that announced changes of the files."""

ReloadPolicy: TypeAlias = Annotated[
    Literal["now", "next-call", "next-conversation"], no_longer("append", APPEND_REMOVED)
]
"""When a change of the files reaches a conversation: at its next step, its next call, or never."""

CountTokens: TypeAlias = Callable[[str], int]
"""How many tokens a text costs; the engine never assumes a tokenizer."""

Clock: TypeAlias = Callable[[], datetime]
"""What time it is, with a zone; asked only when a turn does not say."""


@dataclass(frozen=True, slots=True)
class Entity:
    """Something the conversation has touched: `type` such as `page`, the `id` that tools use, the `name` that people
    use.

    `key` is what tools accept instead of the id, if that is different, such as a slug.
    """

    type: str
    id: str
    name: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """The working memory of a conversation, newest entity first."""

    entities: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """One result of a tool in the conversation so far: the history items that matter to a prompt.

    `pending` means that the tool is waiting for confirmation and has done nothing yet. Results of calls that the model
    made in one message share the same `batch`, which can be any text; None if the host does not know. `arguments` are
    those of the call, as JSON or as JSON text, for the rules of `memory` and for records; no state keeps them.
    """

    tool: str
    result: Json
    call_id: str | None = None
    is_error: bool = False
    pending: bool = False
    batch: str | None = field(default=None, compare=False)
    arguments: Json = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class FileText:
    """A file that a prompt shows: its text, or None when it is missing; `error` says why it could not be read."""

    path: str
    text: str | None = None
    error: str = ""


History: TypeAlias = Sequence[ToolResult]
"""Tool results of the conversation, oldest first."""
