"""cuecard: prompts as built artefacts, growing only with what the agent discovers.

The names that most programs need; `cuecard.types` has the others. Names are imported on first use, so that
`import cuecard` costs next to nothing. docs/api/README.md has each of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuecard.conversation import Conversation
    from cuecard.engine import Engine
    from cuecard.errors import CuecardError, InputError, Problem, SpecError, TemplateRenderError
    from cuecard.library.library import Library
    from cuecard.model import (
        Call,
        ConversationState,
        Entity,
        FileText,
        Manifest,
        Memory,
        Step,
        ToolCard,
        ToolResult,
        Turn,
    )
    from cuecard.model.messages import Message
    from cuecard.model.turn import Gates
    from cuecard.pipeline.comparison import compare_manifests, with_answer
    from cuecard.recording import Recorder
    from cuecard.reload.engines import watch
    from cuecard.reload.pins import Pins
    from cuecard.reload.watcher import Watcher
    from cuecard.template import Template, compile_template, trusted

    __version__: str

_NAMES = {
    "conversation": "Conversation",
    "engine": "Engine",
    "errors": "CuecardError InputError Problem SpecError TemplateRenderError",
    "library.library": "Library",
    "model": "Call ConversationState Entity FileText Manifest Memory Step ToolCard ToolResult Turn",
    "model.messages": "Message",
    "model.turn": "Gates",
    "pipeline.comparison": "compare_manifests with_answer",
    "recording": "Recorder",
    "reload.engines": "watch",
    "reload.pins": "Pins",
    "reload.watcher": "Watcher",
    "template": "Template compile_template trusted",
}
_HOME = {name: f"cuecard.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Call",
    "Conversation",
    "ConversationState",
    "CuecardError",
    "Engine",
    "Entity",
    "FileText",
    "Gates",
    "InputError",
    "Library",
    "Manifest",
    "Memory",
    "Message",
    "Pins",
    "Problem",
    "Recorder",
    "SpecError",
    "Step",
    "Template",
    "TemplateRenderError",
    "ToolCard",
    "ToolResult",
    "Turn",
    "Watcher",
    "__version__",
    "compare_manifests",
    "compile_template",
    "trusted",
    "watch",
    "with_answer",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    return _moved(name)


def __dir__() -> list[str]:
    return __all__


def _moved(name: str) -> Any:
    """A name that was here until 0.9 and goes on working for one release."""
    types = import_module("cuecard.types")  # `from` would ask this module for the name first, and so for ever

    now = types.RENAMED.get(name, name)
    if name.startswith("_") or now not in types.__all__:
        raise AttributeError(f"module 'cuecard' has no attribute {name!r}")
    types.warn(types.renamed(f"cuecard.{name}", now), DeprecationWarning, stacklevel=3)
    return getattr(types, now)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - only who asks for it pays

    try:
        return version("cuecard")
    except PackageNotFoundError:  # the sources alone, on a path
        return "unknown"
