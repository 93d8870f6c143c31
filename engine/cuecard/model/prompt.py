"""What the engine hands back: the pieces of a prompt, the step, and the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from cuecard.model.values import Delivery, ReloadPolicy, Tier


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

    It belongs after the *last* result of the batch that holds `after_call_id`. Where that is None, it goes with the
    user message number `turn` (counted from 0), after its text; where both are None (the host gave no id), at the end.
    `id` is stable for the same text, so that a host can find and replace the block.
    """

    after_call_id: str | None
    text: str
    id: str = ""
    tokens: int = 0
    sha256: str = ""
    turn: int | None = None


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
class Diagnostic:
    """Something wrong with a source that did not stop the prompt: a `code` such as `missing_file`, and what happened."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One source of a section in the manifest: what became of it, and how many characters (code points) it gave."""

    name: str
    path: str
    status: Literal["loaded", "missing", "read_error", "truncated", "empty", "draft"]
    characters: int = 0


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
    """The record of one prompt: what was sent, why, and what was left out. `sha256` covers all of it.

    The tokens of `sections` add up to `total_tokens`; `protocols` says what stands inside them, tool by tool.
    """

    agent: str
    spec_sha256: str
    delivery: Delivery
    tokens: TokenSource
    sections: tuple[SectionRecord, ...]
    protocols: tuple[SectionRecord, ...]
    active_tools: tuple[str, ...]
    discovered: tuple[Discovery, ...]
    cuts: tuple[Cut, ...]
    trust: Mapping[str, int]
    reload: ReloadPolicy | None
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
