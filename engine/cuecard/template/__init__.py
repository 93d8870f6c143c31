"""A small compiler: Handlebars inside XML, text to template."""

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
