"""A small compiler: Handlebars inside XML, text to template.

Names are imported on first use: who compiles a template pays neither for outlines nor for the second backend.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuecard.template.analysis import InputUse
    from cuecard.template.backends import BACKENDS
    from cuecard.template.controls import refuse_controls, without_controls
    from cuecard.template.guard import Escaping, Trusted, trusted, trusted_value
    from cuecard.template.invisible import clean, find_invisible
    from cuecard.template.markup import element_names
    from cuecard.template.outline import Outline, Part
    from cuecard.template.rules import Helper
    from cuecard.template.scope import Options
    from cuecard.template.template import Template, compile_template
    from cuecard.template.trust import trust_report

_HOME = {
    "BACKENDS": "backends",
    "Escaping": "guard",
    "Helper": "rules",
    "InputUse": "analysis",
    "Options": "scope",
    "Outline": "outline",
    "Part": "outline",
    "Template": "template",
    "Trusted": "guard",
    "clean": "invisible",
    "compile_template": "template",
    "element_names": "markup",
    "find_invisible": "invisible",
    "refuse_controls": "controls",
    "trust_report": "trust",
    "trusted": "guard",
    "trusted_value": "guard",
    "without_controls": "controls",
}

__all__ = [
    "BACKENDS",
    "Escaping",
    "Helper",
    "InputUse",
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
    "trust_report",
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
