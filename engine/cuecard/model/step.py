"""The step: the whole desired state of one model request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, fields
from functools import cached_property
from typing import Any

from cuecard.model.activation import Refusals
from cuecard.model.call import Call
from cuecard.model.manifest import Manifest
from cuecard.model.messages import Message
from cuecard.model.prompt import Appended, Discovery, EndedText, Segment
from cuecard.model.stored import LATER, from_json, to_json
from cuecard.model.values import Json
from cuecard.records import dataclass


@dataclass(frozen=True)
class _Prompt:
    system: str
    segments: tuple[Segment, ...]
    appended: tuple[Appended, ...]
    active_tools: tuple[str, ...]
    initial_tools: tuple[str, ...]
    discovered: tuple[Discovery, ...]
    messages: tuple[Message, ...]
    reminder: str
    refusals: Refusals
    found: tuple[Discovery, ...] = field(default=(), kw_only=True)
    base_tools: tuple[str, ...] = field(default=(), kw_only=True)
    turns: tuple[str | None, ...] = field(default=(), kw_only=True)
    brought: Mapping[str, int] = field(default_factory=dict, kw_only=True)
    origin: str = field(default="", kw_only=True)
    looks_ahead: bool = field(default=False, kw_only=True)
    ended: tuple[EndedText, ...] = field(default=(), kw_only=True, metadata=LATER)
    offers_search: bool = field(default=True, kw_only=True, metadata=LATER)


@dataclass(frozen=True)
class _Stored(_Prompt):
    """A step as it is written down, its manifest with it."""

    manifest: Manifest


@dataclass(frozen=True)
class Step(_Prompt):
    """The whole desired state of one model request, never a delta.

    Attributes:
        system: the system prompt to send.
        segments: the same, in segments.
        appended: what `append` delivery adds to the messages.
        active_tools: the tools that may be called: core tools, then discovered ones in order.
        initial_tools: active tools that were active before anything was discovered in this run.
        discovered: the other active tools, each with the first search result that named it.
        messages: the whole stack, system prompt first, if the host passed the conversation to the turn.
        refusals: the answers to calls of inactive tools; `refusal` reads them.
        reminder: the wrapper that adapters put around an appended block if no role has more authority than the user.
        found: every tool that searches have named, in order of first discovery, including tools that do not exist for
            this call: what a provider received inside an old result stays there.
        base_tools: the tools whose instructions are in the system prompt, whether they exist for this call or not; they
            set the order of definitions, which no call changes.
        turns: for each user message so far, the call id of the last result before it; None if unknown, and empty after
            a compaction for the first one, which no user message precedes. With it, a block finds its message again,
            even if that message also holds results or earlier messages are gone.
        brought: tools that a user message brought under `append` or `frozen`, because its words found them or the host
            named them, each with the number of that message; no search result names them.
        origin: the fingerprint of the configuration that made the system prompt, salted as in the manifest; requests
            with equal origins begin alike.
        looks_ahead: whether the agent searched with the user's own words when the system prompt was made, so that any
            user message may bring tools.
        ended: texts of one turn or one request that earlier requests held and this one must not, by fingerprints: a
            stored history may contain them.
        call: the call as this step leaves it, for the next `prepare_step`: the one it was made from, unless inputs came
            with the step. A step that was read from JSON has none.
        offers_search: whether the request has the search tool: it was decided at the conversation's last baseline, and
            stays, because definitions of tools stand in front of everything.
        record: creates the manifest.
    """

    record: Callable[[], Manifest] = field(repr=False, compare=False)
    call: Call | None = field(default=None, repr=False, compare=False)

    @cached_property
    def manifest(self) -> Manifest:
        """What was sent, why, and what was left out; created on first access."""
        return self.record()

    def refusal(self, tool: str) -> str | None:
        """The answer to give instead of calling this tool: None if it is active, or not in the agent's catalogue.

        A tool becomes active together with its instructions. A host that sends the definitions of all its tools should
        check this before it runs one, and return the text as an error: it tells the model what to do instead.
        """
        return None if tool in self.active_tools else self.refusals.text(tool)

    def to_json(self) -> dict[str, Json]:
        """The step and its manifest as plain JSON; `Step.from_json` gives an equal step back."""
        return to_json(_Stored(**_shared(self), manifest=self.manifest))

    @classmethod
    def from_json(cls, data: Json, name: str = "Step.from_json") -> Step:
        """The step that `to_json` wrote; errors call it `name`.

        Raises:
            InputError: for a newer format, or naming every field that is missing, unknown or of the wrong type.
        """
        stored = from_json(_Stored, data, name, code="bad-step")
        return cls(**_shared(stored), record=lambda: stored.manifest)


def _shared(step: _Prompt) -> dict[str, Any]:
    return {each.name: getattr(step, each.name) for each in fields(_Prompt)}
