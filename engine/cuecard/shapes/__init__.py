"""Whether a value is what an annotation says, told by its path: what the checks at the doors are made of.

A shape answers twice. `fits` is fast and asked of every value; `take` is asked of what does not fit: it converts what
is meant (a list where a tuple is wanted), and writes down everything else that is wrong.
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
