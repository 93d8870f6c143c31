"""What a comparison of two prompts says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cuecard.analysis.explain.provider import ProviderReason
from cuecard.model import CacheVerdict, Tier

Kind: TypeAlias = Literal["added", "removed", "changed", "moved", "same"]
"""What became of a section."""

CauseKind: TypeAlias = Literal["input", "memory", "clock", "file edit", "discovery", "order", "delivery", "compaction"]
"""Why: something that the host supplied, the working memory, the time, an edited file, tools that were found or are
gone, another order, another delivery, or a history that was shortened: another summary, or a system prompt that has
taken in what was appended before."""

Placement: TypeAlias = Literal["system", "message", "appended"]


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a section changed.

    `names` are those of inputs or tools, or both deliveries; `content:ID` is what the source of a section has made of
    files, tools or skills. `source` is a place as the manifest writes it.
    """

    kind: CauseKind
    names: tuple[str, ...] = ()
    source: str = ""

    def __str__(self) -> str:
        """Such as `input user_name`, `discovery list_pages, create_page` or `file edit agent.xml:3`."""
        joined = (" -> " if self.kind == "delivery" else ", ").join(self.names)
        return " ".join(part for part in (self.kind, joined, self.source) if part)


@dataclass(frozen=True, slots=True)
class Change:
    """One section in both prompts.

    Attributes:
        id: the section's id; of an appended block that differs, the later one.
        kind: what became of it.
        causes: every reason found, the likeliest first; empty when the section is the same.
        tokens_before: in the encoding of the earlier manifest; 0 when the section was not there.
        tokens_after: in that of the later one; 0 when it is gone.
        placement: in the system prompt, or appended to the conversation.
        tier: how often it may change.
        source: where it is written, or which search result or call brought it.
        at_before: its position in `Manifest.sections` of the earlier prompt, from 0; None when it was not there.
        at_after: the same in the later prompt.
    """

    id: str
    kind: Kind
    causes: tuple[Cause, ...]
    tokens_before: int
    tokens_after: int
    placement: Placement
    tier: Tier
    source: str
    at_before: int | None
    at_after: int | None

    @property
    def cause(self) -> Cause | None:
        """The likeliest reason; None when the section is the same."""
        return self.causes[0] if self.causes else None


@dataclass(frozen=True, slots=True)
class Break:
    """The first section at which the later prompt no longer begins with the earlier one.

    `tokens` are those of the later prompt from this section to its end: a cache that has seen only the earlier prompt
    holds none of them. They are counted by section, so what a changed section still has in common at its start counts
    as lost.
    """

    id: str
    placement: Placement
    causes: tuple[Cause, ...]
    tokens: int

    @property
    def cause(self) -> Cause:
        """The likeliest reason."""
        return self.causes[0]

    def __str__(self) -> str:
        """Such as `usage: discovery cms_createPage`."""
        return f"{self.id}: {'; '.join(str(cause) for cause in self.causes)}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two prompts: each section in the order of the prompt, and where the start they share ends.

    `first_break` is None when the later prompt is the earlier one, or only appends blocks to it. `told` is what the
    provider says of the later request, where its answer was handed in, and `verdict` whether both see the same.
    `other_model` names both models where they differ, whose caches have nothing in common.
    """

    changes: tuple[Change, ...]
    first_break: Break | None
    tokens_before: int
    tokens_after: int
    told: ProviderReason | None = None
    verdict: CacheVerdict | None = None
    other_model: str = ""

    @property
    def differs(self) -> bool:
        """Whether any section is not the same."""
        return any(change.kind != "same" for change in self.changes)
