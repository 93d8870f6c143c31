"""The result of comparing two prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cuecard.analysis.explain.provider import ProviderReason
from cuecard.model import CacheVerdict, Tier

ChangeKind: TypeAlias = Literal["added", "removed", "changed", "moved", "same"]
"""What happened to a section."""

CauseKind: TypeAlias = Literal["input", "memory", "clock", "file edit", "discovery", "order", "delivery", "compaction"]
"""Why: something that the host supplied, the working memory, the time, an edited file, discovered or removed tools,
another order, another delivery, or a shortened history: another summary, or a system prompt that includes what was
appended before.
"""

SectionPlace: TypeAlias = Literal["system", "message", "appended"]
"""Where a section is: in the system prompt, in a message of its own, or appended to the conversation."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a section changed.

    `names` are those of inputs or tools, or both deliveries; `content:ID` is the content that a section's source made
    from files, tools or skills. `source` is a place as written in the manifest.
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
        kind: what happened to it.
        causes: every reason found, the likeliest first; empty if the section is the same.
        tokens_before: in the encoding of the earlier manifest; 0 if the section did not exist.
        tokens_after: in that of the later one; 0 if it no longer exists.
        placement: in the system prompt, or appended to the conversation.
        tier: how often it may change.
        source: where it is written, or which search result or call brought it.
        at_before: its position in `Manifest.sections` of the earlier prompt, from 0; None if it did not exist.
        at_after: the same in the later prompt.
    """

    id: str
    kind: ChangeKind
    causes: tuple[Cause, ...]
    tokens_before: int
    tokens_after: int
    placement: SectionPlace
    tier: Tier
    source: str
    at_before: int | None
    at_after: int | None

    @property
    def cause(self) -> Cause | None:
        """The likeliest reason; None if the section is the same."""
        return self.causes[0] if self.causes else None


@dataclass(frozen=True, slots=True)
class Break:
    """The first section at which the later prompt no longer begins with the earlier one.

    `tokens` are those of the later prompt from this section to its end: a cache that has seen only the earlier prompt
    holds none of them. They are counted by section, so the common start of a changed section counts as lost.
    """

    id: str
    placement: SectionPlace
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

    `first_break` is None if the later prompt equals the earlier one, or only appends blocks to it. `told` is the
    provider's report on the later request, if its answer was given, and `verdict` says whether both agree.
    `other_model` names both models if they differ, since their caches have nothing in common.
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
        """Whether any section differs."""
        return any(change.kind != "same" for change in self.changes)
