"""How generated code prints values: escaped if they are data, formatted as in JavaScript; errors have a place."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NoReturn

from cuecard.errors import Problem, TemplateRenderError
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template.guards.guard import Escaping, Trusted, escape_text
from cuecard.template.runtime.values import Code, NotData, holds_object, text_of
from cuecard.template.syntax.source import Source

_EXACT = 10**15
_LEAST_EXACT = -_EXACT
"""Between these, JavaScript formats an integer as Python does."""


@dataclass(frozen=True, slots=True)
class Printer:
    """Prints the values of one compiled template; `places` are the offsets of its nodes, for errors."""

    source: Source
    places: list[tuple[int, int]]
    escaping: Escaping
    names: Collection[str]
    is_strict: bool = False

    def fail(self, place: int, code: str, message: str, hint: str = "") -> NoReturn:
        """Raise a `TemplateRenderError` at a node."""
        raise TemplateRenderError(self.problem(place, code, message, hint))

    def problem(self, place: int, code: str, message: str, hint: str = "") -> Problem:
        """A problem at a node."""
        return self.source.problem(*self.places[place], code, message, hint)

    def html(self, value: Json, place: int) -> str:  # noqa: C901 - seven searches, written out because that is quickest
        """`{{x}}`: seven characters are escaped as in Handlebars.js; trusted text is printed as it is.

        Each replacement is preceded by a search, and the loop is unrolled: most texts contain one or two of the seven,
        and this takes half the time of seven replacements or of a loop, and a sixth of that of `str.translate`.
        """
        if type(value) is not str:
            if type(value) is int and _LEAST_EXACT < value < _EXACT:
                return str(value)
            return value if isinstance(value, Trusted) else self.html(self.text(value, place), place)
        if value.isidentifier():  # a word, such as most names, has none of the seven, and nothing that looks like them
            return value
        if "&" in value:  # first, because the others insert ampersands
            value = value.replace("&", "&amp;")
        if "<" in value:
            value = value.replace("<", "&lt;")
        if ">" in value:
            value = value.replace(">", "&gt;")
        if '"' in value:
            value = value.replace('"', "&quot;")
        if "'" in value:
            value = value.replace("'", "&#x27;")
        if "`" in value:
            value = value.replace("`", "&#x60;")
        if "=" in value:
            value = value.replace("=", "&#x3D;")
        # Only other characters can look like an angle.
        return value if value.isascii() or not self.names else escape_text(value, self.names, mode=self.escaping)

    def are_clean(self, values: Sequence[Json]) -> bool:
        """Whether `html` would print all of these unchanged: one check of a few short texts is cheaper than one for
        each.
        """
        if type(values[0]) is not str:
            return False
        try:
            text = "".join(values)
        except TypeError:
            return False
        return (text.isascii() or not self.names) and not _needs_escape(text)

    def bare(self, value: Json, place: int) -> str:
        """`{{{x}}}`: readable, but unable to open or close a section; trusted text is printed as it is."""
        if isinstance(value, Trusted):
            return value
        if type(value) is str and value.isascii() and "<" not in value:
            return value
        return escape_text(self.text(value, place), self.names, mode=self.escaping)

    def attribute(self, value: Json, place: int) -> str:
        """`{{{x}}}` inside an attribute."""
        if isinstance(value, Trusted):
            return value
        return escape_text(self.text(value, place), self.names, mode=self.escaping, attribute=True)

    def text(self, value: Json, place: int) -> str:
        """The value as JavaScript prints it; in a strict template, an object is an error: nobody wants `[object
        Object]`.
        """
        try:
            if self.is_strict and type(value) is not str and holds_object(value):
                self.object_printed(place)
            return text_of(value)
        except NotData:
            self.not_data(value, place)
        except RecursionError:
            self.fail(place, "value-too-deep", "the value is nested too deeply to print", "print a part of it")

    def block(self, value: Json, place: int) -> str:
        """The output of a block helper."""
        return self.text(value, place)

    def object_printed(self, place: int) -> NoReturn:
        """Raise: nobody wants `[object Object]`."""
        hint = "print it as JSON, `{{{json value}}}`, or name a part of it, such as `value.name`"
        self.fail(place, "object-printed", "an object cannot be printed as text", hint)

    def not_data(self, value: Json, place: int) -> NoReturn:
        """Raise: functions and other objects are not values."""
        if isinstance(value, Code):
            message, hint = "`@partial-block` is called, not printed", "write `{{> @partial-block}}`"
        else:
            message = f"a value of type {type(value).__name__} is not data"
            hint = "pass only texts, numbers, lists and mappings"
        self.fail(place, "not-data", message, hint)


def _needs_escape(text: str) -> bool:
    return "&" in text or "<" in text or ">" in text or '"' in text or "'" in text or "`" in text or "=" in text
