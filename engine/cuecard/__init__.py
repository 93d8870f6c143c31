"""cuecard: prompts as built artefacts, growing only with what the agent discovers.

Names are imported on first use, so that `import cuecard` costs next to nothing. docs/python.md has each of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuecard.agent.agent import Agent
    from cuecard.catalogue.explanation import End, Explanation, Match, Ranked, Reasons, WordSeen
    from cuecard.catalogue.ranker import AsyncRanker, Calibration, Ranker
    from cuecard.config.agent_file import InputSpec
    from cuecard.config.figures import Figures
    from cuecard.config.model_profile import Definitions, MidConversation, ModelProfile
    from cuecard.config.models_file import EndpointEntry, ModelEntry, ModelProfiles, ModelsFile
    from cuecard.config.values import InputType
    from cuecard.config.words_spec import WordsSpec
    from cuecard.conversation import Conversation
    from cuecard.engine import Engine
    from cuecard.errors import (
        CuecardError,
        DidYouMean,
        InputError,
        Problem,
        SettingsError,
        Severity,
        Span,
        SpecError,
        TemplateError,
        TemplateLimitError,
        TemplateRenderError,
        TemplateSyntaxError,
        TokenizerError,
        ToolServerError,
    )
    from cuecard.files.host_code import AnyRanker, RankerMaker
    from cuecard.files.tokens import TokenCounter
    from cuecard.model import (
        Appended,
        Authority,
        CacheOutcome,
        CacheRecord,
        CacheVerdict,
        Call,
        CallGiven,
        CallPrompt,
        CallRecord,
        CallTools,
        Clock,
        Configuration,
        ConversationState,
        CountTokens,
        Cut,
        Delivery,
        DeliveryChoice,
        DeliveryWish,
        Diagnostic,
        Discovery,
        EndedText,
        Entity,
        FileText,
        History,
        Hit,
        Host,
        Json,
        Lifetime,
        Manifest,
        Memory,
        Refusals,
        ReloadPolicy,
        RenderedResult,
        ResultRecord,
        SearchResult,
        SectionRecord,
        Segment,
        SourceRow,
        Step,
        Tier,
        Tokenizer,
        TokenSource,
        TokenTotals,
        ToolCard,
        ToolInstructions,
        ToolResult,
        Turn,
        Withheld,
    )
    from cuecard.model.messages import Message, Part, Role, Summary, ToolCall, messages_from_json
    from cuecard.model.tools import SkillText
    from cuecard.model.turn import Gates
    from cuecard.pipeline.cache_report import Layer, ProviderReason
    from cuecard.pipeline.changes import Break, Cause, CauseKind, Change, ChangeKind, Comparison, SectionPlace
    from cuecard.pipeline.comparison import compare_manifests, with_answer
    from cuecard.pipeline.history.selection import AsyncSummarizer, Summarizer, SummaryRequest
    from cuecard.reload.engines import watch
    from cuecard.reload.keeper import Refusal, Status, Watching
    from cuecard.reload.pins import EngineSource, Pins, Served
    from cuecard.reload.settle import Pace
    from cuecard.reload.states import States
    from cuecard.reload.watcher import Watcher
    from cuecard.template import Escaping, Limits, Template, Trusted, compile_template, trusted
    from cuecard.template.backends.backend import Backend
    from cuecard.template.inputs import InputUse
    from cuecard.template.rules import Helper

    __version__: str

_NAMES = {
    "agent.agent": "Agent",
    "analysis.explain.answered": "with_answer",
    "analysis.explain.compare": "compare_manifests",
    "analysis.explain.comparison": "Break Cause CauseKind Change ChangeKind Comparison SectionPlace",
    "analysis.explain.provider": "Layer ProviderReason",
    "catalogue.calibration": "Calibration",
    "catalogue.explanation": "End Explanation Match Ranked Reasons WordSeen",
    "catalogue.ranker": "AsyncRanker Ranker",
    "config.agent_file": "InputSpec",
    "config.input_types": "InputType",
    "config.figures": "Figures",
    "config.model_profile": "Definitions MidConversation ModelProfile",
    "config.models_file": "EndpointEntry ModelEntry ModelProfiles ModelsFile",
    "config.words_spec": "WordsSpec",
    "conversation": "Conversation",
    "engine": "Engine",
    "errors": (
        "CuecardError DidYouMean InputError Problem SettingsError Severity Span SpecError TemplateError "
        "TemplateLimitError TemplateRenderError TemplateSyntaxError TokenizerError ToolServerError"
    ),
    "model": (
        "Appended Authority CacheOutcome CacheRecord CacheVerdict Call CallGiven CallPrompt CallRecord CallTools "
        "Clock Configuration ConversationState "
        "CountTokens Cut Delivery DeliveryChoice DeliveryWish Diagnostic Discovery EndedText Entity FileText History "
        "Hit Host Json Lifetime Manifest Memory Refusals ReloadPolicy RenderedResult ResultRecord SearchResult "
        "SectionRecord Segment SourceRow "
        "Step Tier TokenSource TokenTotals Tokenizer ToolCard ToolInstructions ToolResult Turn Withheld"
    ),
    "model.gates": "Gates",
    "model.messages": "Message Part Role Summary ToolCall messages_from_json",
    "model.skills": "SkillText",
    "outside.rankers.code": "AnyRanker RankerMaker",
    "outside.tokens": "TokenCounter",
    "pipeline.history.summary": "AsyncSummarizer Summarizer SummaryRequest",
    "reload.engines": "watch",
    "reload.pins": "EngineSource Pins Served",
    "reload.settle": "Pace",
    "reload.states": "States",
    "reload.status": "Refusal Status Watching",
    "reload.watcher": "Watcher",
    "template": "Escaping Limits Template Trusted compile_template trusted",
    "template.analysis": "InputUse",
    "template.backends.backend": "Backend",
    "template.backends.rules": "Helper",
}
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
    "Call",
    "CallGiven",
    "CallPrompt",
    "CallRecord",
    "CallTools",
    "Cause",
    "CauseKind",
    "Change",
    "ChangeKind",
    "Clock",
    "Comparison",
    "Configuration",
    "Conversation",
    "ConversationState",
    "CountTokens",
    "CuecardError",
    "Cut",
    "Definitions",
    "Delivery",
    "DeliveryChoice",
    "DeliveryWish",
    "Diagnostic",
    "DidYouMean",
    "Discovery",
    "End",
    "EndedText",
    "EndpointEntry",
    "Engine",
    "EngineSource",
    "Entity",
    "Escaping",
    "Explanation",
    "Figures",
    "FileText",
    "Gates",
    "Helper",
    "History",
    "Hit",
    "Host",
    "InputError",
    "InputSpec",
    "InputType",
    "InputUse",
    "Json",
    "Layer",
    "Lifetime",
    "Limits",
    "Manifest",
    "Match",
    "Memory",
    "Message",
    "MidConversation",
    "ModelEntry",
    "ModelProfile",
    "ModelProfiles",
    "ModelsFile",
    "Pace",
    "Part",
    "Pins",
    "Problem",
    "ProviderReason",
    "Ranked",
    "Ranker",
    "RankerMaker",
    "Reasons",
    "Refusal",
    "Refusals",
    "ReloadPolicy",
    "RenderedResult",
    "ResultRecord",
    "Role",
    "SearchResult",
    "SectionPlace",
    "SectionRecord",
    "Segment",
    "Served",
    "SettingsError",
    "Severity",
    "SkillText",
    "SourceRow",
    "Span",
    "SpecError",
    "States",
    "Status",
    "Step",
    "Summarizer",
    "Summary",
    "SummaryRequest",
    "Template",
    "TemplateError",
    "TemplateLimitError",
    "TemplateRenderError",
    "TemplateSyntaxError",
    "Tier",
    "TokenCounter",
    "TokenSource",
    "TokenTotals",
    "Tokenizer",
    "TokenizerError",
    "ToolCall",
    "ToolCard",
    "ToolInstructions",
    "ToolResult",
    "ToolServerError",
    "Trusted",
    "Turn",
    "Watcher",
    "Watching",
    "Withheld",
    "WordSeen",
    "WordsSpec",
    "__version__",
    "compare_manifests",
    "compile_template",
    "messages_from_json",
    "trusted",
    "watch",
    "with_answer",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in _HOME:
        raise AttributeError(f"module 'cuecard' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - only who asks for it pays

    try:
        return version("cuecard")
    except PackageNotFoundError:  # the sources alone, on a path
        return "unknown"
