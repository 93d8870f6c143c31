"""How generated code looks values up, reports missing ones, and prints the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn

from cuecard.errors import Problem, TemplateRenderError, closest, did_you_mean
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template.guards.escaping import Escaping, TrustedText, escape_text
from cuecard.template.runtime.values import CallableValue, NotData, has, holds_object, is_nothing, lookup, text_of
from cuecard.template.syntax.habits import WORDS
from cuecard.template.syntax.source import TemplateSource

_EXACT = 10**15
_LEAST_EXACT = -_EXACT


@dataclass(frozen=True, slots=True)
class Printer:
    """Prints the values of one compiled template; `places` are the offsets of its nodes, for errors."""

    source: TemplateSource
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

    def html(self, value: Json, place: int) -> str:
        """`{{x}}`: seven characters are escaped as in Handlebars.js; trusted text is printed as it is."""
        if type(value) is not str:
            if type(value) is int and is_exact(value):
                return str(value)
            return value if isinstance(value, TrustedText) else self.html(self.text(value, place), place)
        if value.isidentifier():  # a word, such as most names, has none of the seven, and nothing that looks like them
            return value
        value = escaped(value)
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
        return (text.isascii() or not self.names) and not needs_escape(text)

    def bare(self, value: Json, place: int) -> str:
        """`{{{x}}}`: readable, but unable to open or close a section; trusted text is printed as it is."""
        if isinstance(value, TrustedText):
            return value
        if type(value) is str and value.isascii() and "<" not in value:
            return value
        return escape_text(self.text(value, place), self.names, mode=self.escaping)

    def attribute(self, value: Json, place: int) -> str:
        """`{{{x}}}` inside an attribute."""
        if isinstance(value, TrustedText):
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
        if isinstance(value, CallableValue):
            message, hint = "`@partial-block` is called, not printed", "write `{{> @partial-block}}`"
        else:
            message = f"a value of type {type(value).__name__} is not data"
            hint = "pass only texts, numbers, lists and mappings"
        self.fail(place, "not-data", message, hint)


def is_exact(value: int) -> bool:
    """Whether JavaScript prints an integer as Python does."""
    return _LEAST_EXACT < value < _EXACT


def needs_escape(text: str) -> bool:
    """Whether a text contains one of the seven characters that `{{x}}` escapes."""
    return "&" in text or "<" in text or ">" in text or '"' in text or "'" in text or "`" in text or "=" in text


def escaped(value: str) -> str:
    """A text with these characters as entities.

    Each replacement is preceded by a search, and the loop is unrolled: most texts contain one or two of the seven, and
    this takes half the time of seven replacements or of a loop, and a sixth of that of `str.translate`.
    """
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
    return value


@dataclass(frozen=True, slots=True)
class MissingValue:
    """A missing value in the middle of a path: the key and where it was looked up, for the next step to report."""

    key: str
    within: Json


@dataclass(frozen=True, slots=True)
class Lookups(Printer):
    """Lookups of one compiled template."""

    def strict(self, value: Json | MissingValue, key: str, place: int) -> Json:
        """`value.key`, which must exist."""
        if isinstance(value, dict) and key in value:
            return value[key]
        if isinstance(value, MissingValue):
            self.missing(value.within, value.key, place)
        if not has(value, key):
            self.missing(value, key, place)
        return lookup(value, key)

    def through(self, value: Json | MissingValue, key: str, place: int) -> Json | MissingValue:
        """`value.key` in the middle of a path."""
        if isinstance(value, dict) and key in value:
            return value[key]
        if isinstance(value, MissingValue):
            self.missing(value.within, value.key, place)
        if value is None:
            self.nothing(key, place)
        found = lookup(value, key)
        return MissingValue(key, value) if found is None and not has(value, key) else found

    def assume(self, value: Json | MissingValue, key: str, place: int) -> Json:
        """`value.key`, where `value` itself must exist."""
        if isinstance(value, MissingValue):
            self.missing(value.within, value.key, place)
        if value is None:
            self.nothing(key, place)
        return lookup(value, key)

    def missing(self, value: Json, key: str, place: int) -> NoReturn:
        """Raise: there is no such key."""
        known = [str(k) for k in value] if isinstance(value, Mapping) else []
        hint = WORDS.get(key, "") if not closest(key, known) else ""
        hint = hint or did_you_mean(key, known) or "supply it, or wrap it in `{{#if}}`"
        self.fail(place, "missing-value", f"`{key}` has no value here", hint)

    def nothing(self, key: str, place: int) -> NoReturn:
        """Raise: there is no value to look into."""
        self.fail(place, "missing-value", f"`{key}` is read from a missing value", "supply the value before it")

    def param(self, values: Sequence[Json] | None, index: int, place: int) -> Json:
        """A block parameter."""
        if values is None:
            self.fail(place, "missing-value", "this block has no values to name", "remove `as |...|`")
        return values[index] if index < len(values) else None

    def lookup(self, value: Json, key: Json, place: int) -> Json:
        """The helper `lookup`: a value without keys is the result itself (Handlebars.js)."""
        return value if is_nothing(value) else lookup(value, self.text(key, place))

    def uncalled(self, name: str, place: int) -> NoReturn:
        """Raise: a value is called like a helper."""
        self.fail(place, "unknown-helper", f"`{name}` is a value, not a helper", f"write `{name}` by itself")
