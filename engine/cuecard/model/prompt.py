"""What the engine hands back: the pieces of a prompt, the step, and the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cuecard.model.messages import Message
from cuecard.model.values import Authority, Delivery, ReloadPolicy, Tier

REMINDER = "<system-reminder>\n{text}</system-reminder>\n"
"""Around a block that has to stand in the user's turn, unless the agent file has other words for it."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of the system prompt; `tokens` in the manifest's encoding, `sha256` of the UTF-8 text, in hex.

    In a step of an engine with a salt, `sha256` is salted as in the manifest. `stable` is false behind the boundary of
    a layout that has one.
    """

    id: str
    text: str
    tier: Tier
    tokens: int
    sha256: str
    stable: bool = True


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
    """Something wrong with a source that did not stop the prompt: a code such as `missing_file`, and what happened."""

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
    """One section in the manifest: where it went, why, what it costs, and which values it reads; never its text."""

    id: str
    tier: Tier
    placement: Literal["system", "message", "appended"]
    source: str
    reason: str
    tokens: int
    sha256: str
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenSource:
    """Which table counted: the encoding, where the table came from, and whether counts are exact for that encoding."""

    encoding: str
    source: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Manifest:
    """The record of one prompt: what was sent, why, and what was left out. `sha256` covers all of it.

    The tokens of `sections` add up to `total_tokens`; `protocols` says what stands inside them, tool by tool. A section
    of another role than `system` is a message of its own, right behind the system prompt: `message_tokens` are theirs.
    `inputs` has a fingerprint for each value that sections may read, by name. Where the engine has a salt, every
    fingerprint is salted, and `salt` names the salt (it is empty otherwise): only under equal names can two manifests
    be compared. `delivery_reason` says why `delivery` is this one; `authority`, with whose words instructions reach
    `model` in mid-conversation: `user` means the fallback, a `<system-reminder>` in the user's turn. `diagnostics` and
    `sources` tell of the files that sections show; `origins` has the line that wrote each value of the configuration,
    where agent files were laid over each other.
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
    inputs: Mapping[str, str] = field(default_factory=dict)
    salt: str = ""
    delivery_reason: str = ""
    model: str = ""
    authority: Authority = "unknown"
    profile: str = ""
    variant: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: tuple[SourceRow, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)
    message_tokens: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """The whole desired state of one model request, never a delta.

    `system` is the text to send, `segments` the same in pieces, `appended` what `append` delivery adds to the messages.
    `messages` is the whole stack, system prompt first, where the host has handed the conversation to the turn.
    `reminder` is what adapters put around an appended block where no role has more authority than the user.
    """

    system: str
    segments: tuple[Segment, ...]
    appended: tuple[Appended, ...]
    active_tools: tuple[str, ...]
    manifest: Manifest
    messages: tuple[Message, ...] = ()
    reminder: str = REMINDER
