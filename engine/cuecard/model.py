"""The nouns that travel: what the host hands in, and what the engine hands back.

Every class is frozen, holds plain data and can be made by hand in a test. Nothing here reads, counts or renders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

Json: TypeAlias = Any
"""A JSON value: mapping with string keys, sequence, string, number, boolean or null."""

Tier: TypeAlias = Literal["static", "call", "step"]
"""How often a section may change: never under one spec, from call to call, or within a run."""

Delivery: TypeAlias = Literal["rewrite", "append"]
"""Where step-tier text goes: into the system prompt, or into a message after the search result that caused it."""

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
class ToolInstructions:
    """What to do BEFORE and AFTER a tool, what comes NEXT, and its GOTCHA: four texts, lines separated by newlines."""

    before: str
    after: str
    next: str
    gotcha: str


@dataclass(frozen=True, slots=True)
class ToolCard:
    """One tool of the catalogue. `source` is `file:line` of its instructions, or the server it came from."""

    name: str
    description: str = ""
    input_schema: Mapping[str, Json] = field(default_factory=dict)
    phrases: tuple[str, ...] = ()
    category: str = ""
    instructions: ToolInstructions | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the host knows of one call; every field has a default.

    Attributes:
        inputs: values of the inputs that the agent file declares.
        memory: the working memory as this call starts.
        now: the time with its zone; the engine's clock is asked when it is None.
        tools: names of the tools that exist for this call; None means the whole catalogue.
        discovered: tools found earlier in the conversation whose results are no longer in the history.
    """

    inputs: Mapping[str, Json] = field(default_factory=dict)
    memory: Memory = Memory()
    now: datetime | None = None
    tools: tuple[str, ...] | None = None
    discovered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of the system prompt; `tokens` in the manifest's encoding, `sha256` of the UTF-8 text, in hex."""

    id: str
    text: str
    tier: Tier
    tokens: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Appended:
    """A block that `append` delivery adds to the conversation, once.

    It belongs after the *last* result of the batch that holds `after_call_id`; with None, before the first message.
    `id` is stable for the same text, so that a host can find and replace the block.
    """

    after_call_id: str | None
    text: str
    id: str = ""
    tokens: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Discovery:
    """A tool and the search result that named it first."""

    tool: str
    after_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """Something that is not in the prompt although it could have been, and why: promise 7."""

    what: str
    reason: str
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class SectionRecord:
    """One section in the manifest: where it went, why, and what it costs; never its text."""

    id: str
    tier: Tier
    placement: Literal["system", "appended"]
    source: str
    reason: str
    tokens: int
    sha256: str


@dataclass(frozen=True, slots=True)
class TokenSource:
    """Which table counted: the encoding, where the table came from, and whether counts are exact for that encoding."""

    encoding: str
    source: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Manifest:
    """The record of one prompt: what was sent, why, and what was left out. `sha256` covers all of it."""

    agent: str
    spec_sha256: str
    delivery: Delivery
    tokens: TokenSource
    sections: tuple[SectionRecord, ...]
    active_tools: tuple[str, ...]
    discovered: tuple[Discovery, ...]
    cuts: tuple[Cut, ...]
    trust: Mapping[str, int]
    system_tokens: int
    appended_tokens: int
    total_tokens: int
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """The whole desired state of one model request, never a delta.

    `system` is the text to send, `segments` the same in pieces, `appended` what `append` delivery adds to the messages.
    """

    system: str
    segments: tuple[Segment, ...]
    appended: tuple[Appended, ...]
    active_tools: tuple[str, ...]
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What the search tool answers: names of tools, best first, a message for the model, and the confidence (0 to 1)."""

    tools: tuple[str, ...]
    message: str
    confidence: float = 0.0

    def to_json(self) -> dict[str, Json]:
        """`{"tools": [...], "message": "..."}`, the form the model sees."""
        return {"tools": list(self.tools), "message": self.message}


History: TypeAlias = Sequence[ToolResult]
"""Tool results of the conversation, oldest first."""
