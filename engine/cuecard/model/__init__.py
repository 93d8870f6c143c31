"""The nouns that travel: frozen, slotted, plain data. Nothing here reads, counts or renders."""

from cuecard.model.call import Call
from cuecard.model.prompt import (
    Appended,
    Cut,
    Diagnostic,
    Discovery,
    Manifest,
    SectionRecord,
    Segment,
    SourceRow,
    Step,
    TokenSource,
)
from cuecard.model.tools import SearchResult, ToolCard, ToolInstructions
from cuecard.model.values import (
    Clock,
    CountTokens,
    Delivery,
    Entity,
    FileText,
    History,
    Json,
    Memory,
    ReloadPolicy,
    Tier,
    ToolResult,
    Turn,
)

__all__ = [
    "Appended",
    "Call",
    "Clock",
    "CountTokens",
    "Cut",
    "Delivery",
    "Diagnostic",
    "Discovery",
    "Entity",
    "FileText",
    "History",
    "Json",
    "Manifest",
    "Memory",
    "ReloadPolicy",
    "SearchResult",
    "SectionRecord",
    "Segment",
    "SourceRow",
    "Step",
    "Tier",
    "TokenSource",
    "ToolCard",
    "ToolInstructions",
    "ToolResult",
    "Turn",
]
