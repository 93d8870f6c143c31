"""A small compiler: Handlebars inside XML, text to template."""

from cuecard.template.analysis import InputUse
from cuecard.template.controls import refuse_controls, without_controls
from cuecard.template.guard import Escaping, Trusted, trusted
from cuecard.template.invisible import clean, find_invisible
from cuecard.template.markup import element_names
from cuecard.template.outline import Outline, Part
from cuecard.template.pybars_backend import pybars3
from cuecard.template.python_backend import python
from cuecard.template.rules import Helper
from cuecard.template.scope import Options
from cuecard.template.template import Template, compile_template
from cuecard.template.trust import trust_report

BACKENDS = {"cuecard": python, "pybars3": pybars3}
"""What makes a checked template run, by name."""

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
    "without_controls",
]
