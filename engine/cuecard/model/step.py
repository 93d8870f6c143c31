"""The step, the whole desired state of one model request, and its manifest: what was sent, why, what was left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import field, fields
from functools import cached_property
from typing import Any, Literal, TypeAlias

from cuecard.model.boundary import checked
from cuecard.model.call import Call
from cuecard.model.messages import Message
from cuecard.model.prompt import (
    Appended,
    Configuration,
    Cut,
    DeliveryChoice,
    Diagnostic,
    Discovery,
    EndedText,
    SectionRecord,
    Segment,
    SourceRow,
    TokenSource,
)
from cuecard.model.storage import LATER, from_json, to_json
from cuecard.model.tools import Refusals
from cuecard.model.values import Json
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class TokenTotals:
    """The tokens of each place in a prompt.

    Attributes:
        system: the system prompt.
        messages: sections that are separate messages, directly after the system prompt.
        appended: the blocks in the conversation.
        source: which table counted.
    """

    system: int
    messages: int
    appended: int
    source: TokenSource


CacheOutcome: TypeAlias = Literal["hit", "miss", "unknown"]
"""Whether the provider found the prefix in its cache; `unknown` where its answer does not say."""

CacheVerdict: TypeAlias = Literal["agrees", "elsewhere", "overlooked", "differs", "unknown"]
"""`agrees`: both see the same. `elsewhere`: the provider missed a prefix in which nothing of cuecard's changed, such as
the host's messages or tools. `overlooked`: the prompt broke, and the provider saw a hit. `differs`: both see a break,
each in another part. `unknown`: the provider could not say."""


@dataclass(frozen=True, slots=True)
class CacheRecord:
    """The provider's report on its cache for the answered request, beside what the manifests say.

    Attributes:
        outcome: whether the provider found the prefix.
        reason: the provider's own reason for a miss, such as `system_changed`; empty for a hit.
        tokens: approximately how many tokens were not read from the cache because of it; None if not reported.
        ours: where the prompt breaks and why, such as `usage: discovery cms_createPage`; empty where it does not.
        verdict: whether the two agree.
        before: the fingerprint of the manifest of the request that this one was compared with.
    """

    outcome: CacheOutcome
    reason: str
    tokens: int | None
    ours: str
    verdict: CacheVerdict
    before: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The record of one prompt: what was sent, why, and what was left out.

    Attributes:
        configuration: what the prompt was made from.
        delivery: where step-tier text goes, and why.
        active_tools: the tools that may be called: core tools, then discovered ones in order.
        discovered: which of them a search has found, and by which result.
        sections: the parts of the prompt, including the tags of a template's root element.
        protocols: the part of each tool's instructions in the prompt; their tokens are included in those of the
            sections.
        total_tokens: the tokens of the prompt; those of the sections add up to this.
        tokens: what each place of it costs, and which table counted.
        cuts: what was left out, with reasons.
        diagnostics: what was wrong with the sources of sections.
        sources: the files and other sources that sections looked at.
        trust: how often each kind of hostile or invisible text was neutralised.
        inputs: a fingerprint for each value that sections may read, by name.
        salt: the name of the engine's salt, which every fingerprint uses; empty without one. Only manifests with equal
            names can be compared.
        origins: the line that wrote each value of the configuration, if files were layered.
        sha256: the fingerprint of all of this.
        definitions: the tokens of the definitions of active tools, by name: of those whose input schema the host or a
            tool server has passed. The host sends them, so `total_tokens` does not include them.
        cache: the provider's report on its cache; it arrives with the answer, and no fingerprint covers it.
    """

    configuration: Configuration
    delivery: DeliveryChoice
    active_tools: tuple[str, ...]
    discovered: tuple[Discovery, ...]
    sections: tuple[SectionRecord, ...]
    protocols: tuple[SectionRecord, ...]
    total_tokens: int
    tokens: TokenTotals
    cuts: tuple[Cut, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: tuple[SourceRow, ...] = ()
    trust: Mapping[str, int] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    salt: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)
    sha256: str = ""
    cache: CacheRecord | None = None
    definitions: Mapping[str, int] = field(default_factory=dict, metadata=LATER)

    def to_json(self) -> dict[str, Json]:
        """The manifest as plain JSON; `Manifest.from_json` gives an equal one back."""
        return to_json(self)

    @classmethod
    def from_json(cls, data: Json, name: str = "Manifest.from_json") -> Manifest:
        """The manifest that `to_json` wrote; errors call it `name`, such as its file.

        Raises:
            InputError: for a newer format, or naming every field that is missing, unknown or of the wrong type.
        """
        return from_json(cls, data, name, code="bad-manifest")


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
    stopped: str = field(default="", kw_only=True, metadata=LATER)
    forced_tool: str = field(default="", kw_only=True, metadata=LATER)


@dataclass(frozen=True)
class _StepRecord(_Prompt):
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
        stopped: why a limit of the run allows no further request, such as `run.steps: 15`; empty if one may be sent.
        forced_tool: the tool that the request must force the model to call (`tool_choice`); empty for none.
        record: creates the manifest.
    """

    record: Callable[[], Manifest] = field(repr=False, compare=False)
    call: Call | None = field(default=None, repr=False, compare=False)

    @cached_property
    def manifest(self) -> Manifest:
        """What was sent, why, and what was left out; created on first access."""
        return self.record()

    @checked
    def refusal(self, tool: str, beside: Collection[str] = ()) -> str | None:
        """The answer to give instead of calling this tool: None if it is active, or not in the agent's catalogue.

        A tool that a limit of the run refuses has an answer, too.

        A tool becomes active together with its instructions. A host that sends the definitions of all its tools should
        check this before it runs one, and return the text as an error: it tells the model what to do instead.

        Args:
            tool: the name of the tool.
            beside: the tools that the model calls in the same answer, as far as they are known.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        told = None if tool in self.active_tools else self.refusals.text(tool)
        return told or self.refusals.over_limit(tool, beside)

    def to_json(self) -> dict[str, Json]:
        """The step and its manifest as plain JSON; `Step.from_json` gives an equal step back."""
        return to_json(_StepRecord(**_shared(self), manifest=self.manifest))

    @classmethod
    def from_json(cls, data: Json, name: str = "Step.from_json") -> Step:
        """The step that `to_json` wrote; errors call it `name`.

        Raises:
            InputError: for a newer format, or naming every field that is missing, unknown or of the wrong type.
        """
        stored = from_json(_StepRecord, data, name, code="bad-step")
        return cls(**_shared(stored), record=lambda: stored.manifest)


def _shared(step: _Prompt) -> dict[str, Any]:
    return {each.name: getattr(step, each.name) for each in fields(_Prompt)}
