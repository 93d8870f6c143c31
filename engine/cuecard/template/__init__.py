"""A small compiler: Handlebars inside XML, text to template."""

from cuecard.template.backends.registry import BACKENDS
from cuecard.template.guards.characters import clean, find_invisible, refuse_controls, without_controls
from cuecard.template.guards.escaping import Escaping, TrustedText, trusted, trusted_value
from cuecard.template.inputs import InputUse
from cuecard.template.markup.outline import Outline, OutlinePart
from cuecard.template.markup.tags import element_names
from cuecard.template.rules import Helper, Limits
from cuecard.template.runtime.scope import HelperOptions
from cuecard.template.template import Template, compile_template

__all__ = [
    "BACKENDS",
    "Escaping",
    "Helper",
    "HelperOptions",
    "InputUse",
    "Limits",
    "Outline",
    "OutlinePart",
    "Template",
    "TrustedText",
    "clean",
    "compile_template",
    "element_names",
    "find_invisible",
    "refuse_controls",
    "trusted",
    "trusted_value",
    "without_controls",
]
