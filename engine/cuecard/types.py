"""What is public and not at the top: types that programs name in annotations, and errors that few of them catch.

Names are imported on first use. docs/api/README.md has each of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any
from warnings import warn

if TYPE_CHECKING:
    from cuecard.agent.agent import Agent
    from cuecard.catalogue.explanation import End, Explanation, Match, QueryWord, RankedTool, Reasons
    from cuecard.catalogue.ranker import AsyncRanker, Calibration, Ranker
    from cuecard.config.agent_file import InputSpec
    from cuecard.config.figures import Figures
    from cuecard.config.model_profile import Definitions, Interface, MidConversation, ModelProfile
    from cuecard.config.models_file import EndpointEntry, ModelEntry, ModelProfiles, ModelsFile
    from cuecard.config.values import InputType
    from cuecard.config.words_spec import WordsSpec
    from cuecard.errors import (
        DidYouMean,
        LibraryError,
        RunLimitError,
        SettingsError,
        Severity,
        Span,
        TemplateError,
        TemplateLimitError,
        TemplateSyntaxError,
        TokenizerError,
        ToolServerError,
    )
    from cuecard.files.host_code import AnyRanker, RankerMaker
    from cuecard.files.tokens import TokenCounter
    from cuecard.library.following import LibraryWatcher
    from cuecard.library.library import EditedVersion
    from cuecard.library.serving import Removed
    from cuecard.library.versions import Move, Version
    from cuecard.model import (
        Appended,
        Authority,
        CacheOutcome,
        CacheRecord,
        CacheVerdict,
        CallHost,
        CallInputs,
        CallPrompt,
        CallRecord,
        CallRun,
        CallTools,
        Clock,
        Configuration,
        CountTokens,
        Cut,
        Delivery,
        DeliveryChoice,
        DeliveryWish,
        Diagnostic,
        Discovery,
        EndedText,
        History,
        Hit,
        Host,
        Json,
        LibraryOrigin,
        Lifetime,
        Refusals,
        ReloadPolicy,
        RenderedResult,
        ResultRecord,
        RunLimits,
        SearchResult,
        SectionRecord,
        Segment,
        SourceRow,
        Tier,
        Tokenizer,
        TokenSource,
        TokenTotals,
        ToolInstructions,
        WithheldTool,
    )
    from cuecard.model.messages import Part, Role, Summary, ToolCall, messages_from_json
    from cuecard.model.tools import SkillText
    from cuecard.model.turn import RunLimit
    from cuecard.pipeline.cache_report import Layer, ProviderReason
    from cuecard.pipeline.changes import Break, Cause, CauseKind, Change, ChangeKind, Comparison, SectionPlace
    from cuecard.pipeline.history.selection import AsyncSummarizer, Summarizer, SummaryRequest
    from cuecard.recording import RecorderStatus
    from cuecard.recording.journal import Sink
    from cuecard.reload.keeper import Refusal, Status, Watching
    from cuecard.reload.pins import EngineSource, ServedEngine
    from cuecard.reload.settle import Pace
    from cuecard.reload.states import KeptStates, States
    from cuecard.template import Escaping, Limits, TrustedText
    from cuecard.template.backends.backend import Backend
    from cuecard.template.inputs import InputUse
    from cuecard.template.rules import Helper

_NAMES = {
    "agent.agent": "Agent",
    "catalogue.explanation": "End Explanation Match RankedTool Reasons QueryWord",
    "catalogue.ranker": "AsyncRanker Calibration Ranker",
    "config.agent_file": "InputSpec",
    "config.figures": "Figures",
    "config.model_profile": "Definitions Interface MidConversation ModelProfile",
    "config.models_file": "EndpointEntry ModelEntry ModelProfiles ModelsFile",
    "config.values": "InputType",
    "config.words_spec": "WordsSpec",
    "errors": (
        "DidYouMean LibraryError RunLimitError SettingsError Severity Span TemplateError TemplateLimitError "
        "TemplateSyntaxError "
        "TokenizerError ToolServerError"
    ),
    "files.host_code": "AnyRanker RankerMaker",
    "files.tokens": "TokenCounter",
    "library.following": "LibraryWatcher",
    "library.library": "EditedVersion",
    "library.serving": "Removed",
    "library.versions": "Move Version",
    "model": (
        "Appended Authority CacheOutcome CacheRecord CacheVerdict CallInputs CallHost CallPrompt CallRecord CallRun "
        "CallTools Clock Configuration CountTokens Cut Delivery DeliveryChoice DeliveryWish Diagnostic Discovery "
        "EndedText History Hit Host Json LibraryOrigin Lifetime Refusals ReloadPolicy RenderedResult ResultRecord "
        "RunLimits "
        "SearchResult SectionRecord Segment SourceRow Tier TokenSource TokenTotals Tokenizer ToolInstructions "
        "WithheldTool"
    ),
    "model.messages": "Part Role Summary ToolCall messages_from_json",
    "model.tools": "SkillText",
    "model.turn": "RunLimit",
    "pipeline.cache_report": "Layer ProviderReason",
    "pipeline.changes": "Break Cause CauseKind Change ChangeKind Comparison SectionPlace",
    "pipeline.history.selection": "AsyncSummarizer Summarizer SummaryRequest",
    "recording": "RecorderStatus",
    "recording.journal": "Sink",
    "reload.keeper": "Refusal Status Watching",
    "reload.pins": "EngineSource ServedEngine",
    "reload.settle": "Pace",
    "reload.states": "KeptStates States",
    "template": "Escaping Limits TrustedText",
    "template.backends.backend": "Backend",
    "template.inputs": "InputUse",
    "template.rules": "Helper",
}
RENAMED = {
    "CallGiven": "CallInputs",
    "Edited": "EditedVersion",
    "Ranked": "RankedTool",
    "Served": "ServedEngine",
    "Trusted": "TrustedText",
    "Withheld": "WithheldTool",
    "WordSeen": "QueryWord",
}
"""The names that some of these had before."""
_HOME = {name: f"cuecard.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Agent",
    "AnyRanker",
    "Appended",
    "AsyncRanker",
    "AsyncSummarizer",
    "Authority",
    "Backend",
    "Break",
    "CacheOutcome",
    "CacheRecord",
    "CacheVerdict",
    "Calibration",
    "CallHost",
    "CallInputs",
    "CallPrompt",
    "CallRecord",
    "CallRun",
    "CallTools",
    "Cause",
    "CauseKind",
    "Change",
    "ChangeKind",
    "Clock",
    "Comparison",
    "Configuration",
    "CountTokens",
    "Cut",
    "Definitions",
    "Delivery",
    "DeliveryChoice",
    "DeliveryWish",
    "Diagnostic",
    "DidYouMean",
    "Discovery",
    "EditedVersion",
    "End",
    "EndedText",
    "EndpointEntry",
    "EngineSource",
    "Escaping",
    "Explanation",
    "Figures",
    "Helper",
    "History",
    "Hit",
    "Host",
    "InputSpec",
    "InputType",
    "InputUse",
    "Interface",
    "Json",
    "KeptStates",
    "Layer",
    "LibraryError",
    "LibraryOrigin",
    "LibraryWatcher",
    "Lifetime",
    "Limits",
    "Match",
    "MidConversation",
    "ModelEntry",
    "ModelProfile",
    "ModelProfiles",
    "ModelsFile",
    "Move",
    "Pace",
    "Part",
    "ProviderReason",
    "QueryWord",
    "RankedTool",
    "Ranker",
    "RankerMaker",
    "Reasons",
    "RecorderStatus",
    "Refusal",
    "Refusals",
    "ReloadPolicy",
    "Removed",
    "RenderedResult",
    "ResultRecord",
    "Role",
    "RunLimit",
    "RunLimitError",
    "RunLimits",
    "SearchResult",
    "SectionPlace",
    "SectionRecord",
    "Segment",
    "ServedEngine",
    "SettingsError",
    "Severity",
    "Sink",
    "SkillText",
    "SourceRow",
    "Span",
    "States",
    "Status",
    "Summarizer",
    "Summary",
    "SummaryRequest",
    "TemplateError",
    "TemplateLimitError",
    "TemplateSyntaxError",
    "Tier",
    "TokenCounter",
    "TokenSource",
    "TokenTotals",
    "Tokenizer",
    "TokenizerError",
    "ToolCall",
    "ToolInstructions",
    "ToolServerError",
    "TrustedText",
    "Version",
    "Watching",
    "WithheldTool",
    "WordsSpec",
    "messages_from_json",
]


def __getattr__(name: str) -> Any:
    if name in RENAMED:
        warn(renamed(f"cuecard.types.{name}", RENAMED[name]), DeprecationWarning, stacklevel=2)
        name = RENAMED[name]
    if name not in _HOME:
        raise AttributeError(f"module 'cuecard.types' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def renamed(name: str, now: str) -> str:
    """What is said of an old name that goes on working for one release."""
    return f"`{name}` is `cuecard.types.{now}` now; the old name goes with the next release"


def __dir__() -> list[str]:
    return __all__
