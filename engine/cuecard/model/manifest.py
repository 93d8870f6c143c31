"""The manifest: what was sent, why, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from cuecard.model.origin import Configuration, DeliveryChoice
from cuecard.model.prompt import Cut, Diagnostic, Discovery, SectionRecord, SourceRow, TokenSource
from cuecard.model.stored import from_json, to_json
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
