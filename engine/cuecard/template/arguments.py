"""The arguments of `compile_template`, `Template.render` and `trusted`, checked on entry."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from cuecard.errors import InputError, Problem
from cuecard.shapes import Either, Findings, Flag, Function, Instance, Maybe, Shape, Table, Text, Word
from cuecard.shapes.findings import seen
from cuecard.template.limits import Limits

_COMPILING: Mapping[str, Shape] = {
    "text": Text(),
    "name": Text(),
    "partials": Maybe([Table(Text())]),
    "helpers": Maybe([Table(Function())]),
    "strict": Flag(),
    "assume_objects": Flag(),
    "escaping": Word(("text", "names", "raw", "handlebars", "marks")),
    "limits": Instance(Limits, "`Limits`"),
    "backend": Either([Word(("cuecard", "pybars3")), Function("a backend")]),
}
_NAME = Text()
_MAPPING = Instance(Mapping, "a mapping of values by name")


def check_compiling(arguments: Mapping[str, Any], names: Any) -> None:
    """Check the arguments of `compile_template`, given by name.

    Raises:
        InputError: with each wrong argument.
    """
    found = Findings()
    for name, value in arguments.items():
        _COMPILING[name].take(value, name, found)
    if isinstance(names, (str, bytes, Mapping)) or not isinstance(names, Collection):
        found.wrong("names", "a set, list or tuple of texts", names)
    else:
        for place, name in enumerate(names):
            _NAME.take(name, f"names[{place}]", found)
    found.refuse()


def check_rendering(values: Any, data: Any) -> None:
    """Check the arguments of `Template.render`; values within them are checked when they are printed.

    Raises:
        InputError: with each that is wrong.
    """
    if isinstance(values, Mapping) and (data is None or isinstance(data, Mapping)):
        return
    found = Findings()
    _MAPPING.take(values, "values", found)
    Maybe([_MAPPING]).take(data, "data", found)
    found.refuse()


def not_a_text(value: object) -> InputError:
    """The error of `trusted` for anything but a text."""
    told = f"`text` should be a text, not {seen(value)}"
    return InputError(Problem("wrong-argument", told, "mark each text of a list or mapping separately", "text"))
