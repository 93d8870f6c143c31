"""Checks whether a value matches an annotation, reporting problems by path; used to validate arguments.

A shape has two methods. `fits` is fast and called for every value; `take` is called for values that do not fit: it
converts what is acceptable (a list instead of a tuple), and reports everything else.
"""

from cuecard.shapes.annotations import Shapes
from cuecard.shapes.compounds import Either, Maybe, Several, Table
from cuecard.shapes.findings import Findings, seen
from cuecard.shapes.json_values import JsonValue
from cuecard.shapes.nouns import Noun, Rule, Wrong
from cuecard.shapes.shape import Shape
from cuecard.shapes.values import Flag, Function, Instance, Moment, Number, Text, Whole, Word

__all__ = [
    "Either",
    "Findings",
    "Flag",
    "Function",
    "Instance",
    "JsonValue",
    "Maybe",
    "Moment",
    "Noun",
    "Number",
    "Rule",
    "Several",
    "Shape",
    "Shapes",
    "Table",
    "Text",
    "Whole",
    "Word",
    "Wrong",
    "seen",
]
