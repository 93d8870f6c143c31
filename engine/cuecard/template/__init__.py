"""A small compiler: Handlebars inside XML, text to template.

Names are imported on first use, so compiling a template loads neither outlines nor the second backend.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuecard.template.analysis import InputUse
    from cuecard.template.backends.registry import BACKENDS
    from cuecard.template.backends.rules import Helper
    from cuecard.template.guards.controls import refuse_controls, without_controls
    from cuecard.template.guards.guard import Escaping, Trusted, trusted, trusted_value
    from cuecard.template.guards.invisible import clean, find_invisible
    from cuecard.template.limits import Limits
    from cuecard.template.markup.outline import Outline, Part
    from cuecard.template.markup.tags import element_names
    from cuecard.template.runtime.scope import Options
    from cuecard.template.template import Template, compile_template

_HOME = {
    "BACKENDS": "backends.registry",
    "Escaping": "guards.guard",
    "Helper": "backends.rules",
    "InputUse": "analysis",
    "Limits": "limits",
    "Options": "runtime.scope",
    "Outline": "markup.outline",
    "Part": "markup.outline",
    "Template": "template",
    "Trusted": "guards.guard",
    "clean": "guards.invisible",
    "compile_template": "template",
    "element_names": "markup.tags",
    "find_invisible": "guards.invisible",
    "refuse_controls": "guards.controls",
    "trusted": "guards.guard",
    "trusted_value": "guards.guard",
    "without_controls": "guards.controls",
}

__all__ = [
    "BACKENDS",
    "Escaping",
    "Helper",
    "InputUse",
    "Limits",
    "Options",
    "Outline",
    "Part",
    "Template",
    "Trusted",
    "clean",
    "compile_template",
    "element_names",
    "find_invisible",
    "refuse_controls",
    "trusted",
    "trusted_value",
    "without_controls",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'cuecard.template' has no attribute {name!r}")
    return getattr(import_module(f"cuecard.template.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
