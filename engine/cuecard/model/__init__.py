"""The nouns that travel: frozen, slotted, plain data. Nothing here reads, counts or renders."""

from cuecard.model.activation import Refusals, Withheld
from cuecard.model.call import Call, CallGiven, CallPrompt, CallRecord, CallTools
from cuecard.model.conversation import ConversationState, ResultRecord
from cuecard.model.manifest import CacheOutcome, CacheRecord, CacheVerdict, Manifest, TokenTotals
from cuecard.model.origin import Configuration, DeliveryChoice
from cuecard.model.prompt import (
    Appended,
    Cut,
    Diagnostic,
    Discovery,
    EndedText,
    SectionRecord,
    Segment,
    SourceRow,
    Tokenizer,
    TokenSource,
)
from cuecard.model.results import RenderedResult
from cuecard.model.step import Step
from cuecard.model.tools import Hit, SearchResult, ToolCard, ToolInstructions
from cuecard.model.turn import Turn
from cuecard.model.values import (
    Authority,
    Clock,
    CountTokens,
    Delivery,
    DeliveryWish,
    Entity,
    FileText,
    History,
    Host,
    Json,
    Lifetime,
    Memory,
    ReloadPolicy,
    Tier,
    ToolResult,
)

__all__ = [
    "Appended",
    "Authority",
    "CacheOutcome",
    "CacheRecord",
    "CacheVerdict",
    "Call",
    "CallGiven",
    "CallPrompt",
    "CallRecord",
    "CallTools",
    "Clock",
    "Configuration",
    "ConversationState",
    "CountTokens",
    "Cut",
    "Delivery",
    "DeliveryChoice",
    "DeliveryWish",
    "Diagnostic",
    "Discovery",
    "EndedText",
    "Entity",
    "FileText",
    "History",
    "Hit",
    "Host",
    "Json",
    "Lifetime",
    "Manifest",
    "Memory",
    "Refusals",
    "ReloadPolicy",
    "RenderedResult",
    "ResultRecord",
    "SearchResult",
    "SectionRecord",
    "Segment",
    "SourceRow",
    "Step",
    "Tier",
    "TokenSource",
    "TokenTotals",
    "Tokenizer",
    "ToolCard",
    "ToolInstructions",
    "ToolResult",
    "Turn",
    "Withheld",
]
