"""cuecard: prompts as built artefacts, growing only with what the agent discovers.

Names are imported on first use, so that `import cuecard` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuecard.conversation import Conversation
    from cuecard.engine import Engine
    from cuecard.errors import CuecardError, InputError, SpecError, TemplateError
    from cuecard.model import (
        Appended,
        Call,
        ConversationState,
        Entity,
        Manifest,
        Memory,
        SearchResult,
        Segment,
        Step,
        ToolCard,
        ToolResult,
        Turn,
    )
    from cuecard.reload.engines import watch
    from cuecard.template import Template, compile_template, trusted

_HOME = {
    "Conversation": "cuecard.conversation",
    "Engine": "cuecard.engine",
    "watch": "cuecard.reload.engines",
    **dict.fromkeys(("CuecardError", "InputError", "SpecError", "TemplateError"), "cuecard.errors"),
    **dict.fromkeys(("Template", "compile_template", "trusted"), "cuecard.template"),
    **dict.fromkeys(
        (
            "Appended",
            "Call",
            "ConversationState",
            "Entity",
            "Manifest",
            "Memory",
            "SearchResult",
            "Segment",
            "Step",
            "ToolCard",
            "ToolResult",
            "Turn",
        ),
        "cuecard.model",
    ),
}

__all__ = [
    "Appended",
    "Call",
    "Conversation",
    "ConversationState",
    "CuecardError",
    "Engine",
    "Entity",
    "InputError",
    "Manifest",
    "Memory",
    "SearchResult",
    "Segment",
    "SpecError",
    "Step",
    "Template",
    "TemplateError",
    "ToolCard",
    "ToolResult",
    "Turn",
    "compile_template",
    "trusted",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'cuecard' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
