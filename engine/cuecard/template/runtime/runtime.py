"""What generated code calls: blocks, helpers, and marks around the data that it prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cuecard.errors import TemplateError, TemplateRenderError
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template.guards.escaping import TagNames, TrustedText, escape_text
from cuecard.template.guards.marks import CLOSE, HTML, OPEN, AuthorData, marked
from cuecard.template.runtime.partials import PartialCaller
from cuecard.template.runtime.printing import Printer, escaped, is_exact, needs_escape
from cuecard.template.runtime.scope import Fn, HelperOptions, LoopBody, frame, push
from cuecard.template.runtime.values import (
    CallableValue,
    NotData,
    WrongValueError,
    is_data,
    is_falsy,
    is_nothing,
    items_of,
    lookup,
)

_ELEMENT = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class HelperCaller(PartialCaller):
    """Calls helpers; errors have a place."""

    def standard(self, name: str, helper: Callable[..., Json], place: int, *values: Json, **pairs: Json) -> Json:
        """The result of a helper."""
        for value in values:
            if not is_data(value):
                self.not_data(value, place)
        self.work(1, place)
        try:
            made = helper(*values, **pairs)
        except WrongValueError as error:
            self.fail(place, "wrong-value", f"`{name}` {error}", error.hint)
        except NotData:
            self.not_data(values[0], place)
        except RecursionError:
            self.fail(place, "value-too-deep", "the value is nested too deeply", "pass a part of it")
        if isinstance(made, str) and len(made) > self.limits.output:
            self.too_much(place)
        return made

    def tool(self, exists: Json, place: int) -> Json:
        """Whether a tool exists in this call."""
        if exists is None:
            hint = "pass the answer as a value"
            self.fail(place, "wrong-value", "`tool` only works in the texts of an agent", hint)
        return exists

    def xml(self, value: Json, name: Json, place: int) -> TrustedText:
        """A value as XML: an element for each key of an object, `item` for each item of a list; texts are data.

        Args:
            value: the value to print.
            name: the element around it; none if it is empty.
            place: the place of the call.
        """
        element = self.text(name, place)
        if element and not _ELEMENT.fullmatch(element):
            hint = 'write one, as in `xml value "page"`'
            told = f"`{element}`" if isinstance(name, TrustedText) else f"a text of {len(element):,} characters"
            self.fail(place, "wrong-value", f"{told} is no name of an element", hint)
        try:
            return TrustedText("\n".join(self._lines(value, (element, element) if element else None, place)))
        except RecursionError:
            self.fail(place, "value-too-deep", "the value is nested too deeply", "print a part of it")

    def _lines(self, value: Json, tags: tuple[str, str] | None, place: int) -> list[str]:
        """The lines of an element; `tags` is the content of its two tags."""
        if isinstance(value, Mapping):
            inner = [line for key, each in value.items() for line in self._lines(each, self._tags(key, place), place)]
        elif isinstance(value, (list, tuple)):
            inner = [line for each in value for line in self._lines(each, ("item", "item"), place)]
        else:
            text = self.quoted(value, place)
            return [f"<{tags[0]}>{text}</{tags[1]}>" if tags else text]
        return [f"<{tags[0]}>", *inner, f"</{tags[1]}>"] if tags else inner

    def _tags(self, key: Json, place: int) -> tuple[str, str]:
        """The element for a key; `entry` if the key is not a valid name, or is the name of an element of the prompt."""
        text = self.text(key, place)
        if _ELEMENT.fullmatch(text) and not TagNames.of(self.names).open(f"{text}>"):
            name = self.quoted(text, place)
            return name, name
        return f'entry key="{self.quoted(key, place, attribute=True)}"', "entry"

    def quoted(self, value: Json, place: int, *, attribute: bool = False) -> str:
        """Data quoted for use between tags, or in an attribute."""
        text = self.text(value, place).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return text.replace('"', "&quot;").replace("\n", " ") if attribute else text


_TOGETHER = 16
"""How many items a loop renders before it checks the length of its output."""


def log(*_values: Json) -> None:
    """`log` prints nothing, but its arguments are evaluated, as in Handlebars.js."""


def found_in(data: Json, key: str) -> Json:
    """A further step into `@data`; a missing value is passed on (Handlebars.js lookupData)."""
    return data if is_nothing(data) else lookup(data, key)


@dataclass(frozen=True, slots=True)
class Runtime(HelperCaller):
    """The functions of one compiled template."""

    def falsy(self, value: Json, place: int, *, include_zero: bool = False) -> bool:
        """Whether `if` treats a value as false."""
        kind = type(value)
        if kind is str or kind is bool or kind is list or value is None:
            return not value
        try:
            return is_falsy(value, include_zero=include_zero)
        except NotData:
            self.not_data(value, place)
        except TemplateRenderError:
            # A block that cannot be printed without its context still exists.
            if self.is_strict and isinstance(value, CallableValue):
                return False
            raise

    def each(self, value: Json, fn: Fn, place: int) -> str | None:
        """`{{#each}}`; None if there is nothing to iterate over."""
        keys, items = self.items(value, place)
        if not items:
            return None
        self.work(len(items), place)
        data, last, pieces, size = frame(fn.data), len(items) - 1, [], 0
        body, scope, params, env = fn.body, fn.scope, fn.params, fn.env
        for index, item in enumerate(items):
            data["key"] = key = keys[index]
            data["index"], data["first"], data["last"] = index, index == 0, index == last
            bound = ((item, key), params) if fn.takes_params else params
            piece = body(item, data, push(item, scope), bound, env)
            size += len(piece)
            if size > self.limits.output:
                self.too_much(place)
            pieces.append(piece)
        return "".join(pieces)

    def loop(self, value: Json, body: LoopBody, place: int, *around: Any) -> str | None:
        """`{{#each}}`; None when there is nothing to walk."""
        keys, items = (range(len(value)), value) if type(value) is list else self.items(value, place)
        if not items:
            return None
        self.work(len(items), place)
        if len(items) > _TOGETHER:
            return self.long_loop(items, keys, body, place, around)
        text = body(items, keys, 0, len(items) - 1, *around)
        if len(text) > self.limits.output:
            self.too_much(place)
        return text

    def long_loop(
        self, items: Sequence[Json], keys: Sequence[Json], body: LoopBody, place: int, around: tuple[Any, ...]
    ) -> str:
        """The same, a few items at a time, so that it can be stopped when the output is too long."""
        pieces, size, last = [], 0, len(items) - 1
        for first in range(0, len(items), _TOGETHER):
            beyond = first + _TOGETHER
            piece = body(items[first:beyond], keys[first:beyond], first, last, *around)
            size += len(piece)
            if size > self.limits.output:
                self.too_much(place)
            pieces.append(piece)
        return "".join(pieces)

    def items(self, value: Json, place: int) -> tuple[Sequence[Json], Sequence[Json]]:
        """The keys and values that `each` iterates over."""
        try:
            return items_of(value)
        except NotData:
            self.not_data(value, place)

    def within(self, value: Json, fn: Fn, place: int) -> str | None:
        """`{{#with}}`; None if there is no value."""
        return None if self.falsy(value, place, include_zero=True) else fn(value, None, (value,))

    def section(self, value: Json, fn: Fn | None, context: Json, place: int) -> str | None:
        """`{{#x}}` for a value, not a helper (Handlebars.js blockHelperMissing); None for the other branch."""
        if not is_data(value):
            self.not_data(value, place)
        if value is None or value is False or (isinstance(value, (list, tuple)) and not value):
            return None
        if fn is None:
            return ""
        if value is True:
            return fn(context)
        return self.each(value, fn, place) if isinstance(value, (list, tuple)) else fn(value)

    def call(
        self,
        helper: Callable[..., Json],
        params: Sequence[Json],
        options: HelperOptions,
        place: int,
        *,
        wants_options: bool,
    ) -> Json:
        """A helper's result; any exception becomes an error at the place of the call."""
        try:
            return helper(*params, options=options) if wants_options else helper(*params, **options.hash)
        except (TemplateError, RecursionError):
            raise
        except Exception as error:
            message = f"the helper `{options.name}` failed: {type(error).__name__}: {error}"
            raise TemplateRenderError(self.problem(place, "helper-failed", message)) from error


@dataclass(frozen=True, slots=True)
class MarkingRuntime(Runtime):
    """The runtime of a compiled template whose data must be told apart from its own text."""

    def html(self, value: Json, place: int) -> str:
        """`{{x}}`: escaped as usual and marked as escaped; `AuthorData` data is only marked."""
        if type(value) is str:
            if not value.isascii():
                return marked(Printer.html(self, value, place), HTML)
            return value and f"{HTML}{escaped(value) if needs_escape(value) else value}{CLOSE}"  # without any marks
        if type(value) is int and is_exact(value):
            return f"{HTML}{value}{CLOSE}"
        if isinstance(value, TrustedText):
            return value
        text = self.text(value, place)
        return marked(text) if isinstance(value, AuthorData) else marked(Printer.html(self, text, place), HTML)

    def are_clean(self, values: Sequence[Json]) -> bool:  # noqa: ARG002 - whatever they are, they are marked
        """Always false: each value is printed separately, between marks."""
        return False

    def bare(self, value: Json, place: int) -> str:
        """`{{{x}}}`: as it is."""
        if type(value) is str:
            return marked(value)
        if type(value) is int and is_exact(value):
            return f"{OPEN}{value}{CLOSE}"
        return value if isinstance(value, TrustedText) else marked(self.text(value, place))

    def attribute(self, value: Json, place: int) -> str:
        """`{{{x}}}` inside an attribute: without quotes and line breaks."""
        if isinstance(value, (TrustedText, AuthorData)):
            return self.bare(value, place)
        return marked(escape_text(self.text(value, place), mode="names", attribute=True))

    def block(self, value: Json, place: int) -> str:
        """The output of a block helper: data, unless the helper is trusted."""
        return value if isinstance(value, TrustedText) else marked(self.text(value, place))

    def quoted(self, value: Json, place: int, *, attribute: bool = False) -> str:
        """Data between the tags that `xml` writes; trusted text is printed as it is."""
        text = Runtime.quoted(self, value, place, attribute=attribute)
        return text if isinstance(value, TrustedText) else marked(text)
