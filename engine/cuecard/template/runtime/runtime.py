"""What generated code calls: lookups, printing, blocks, helpers and partials; errors have a place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cuecard.errors import TemplateError, TemplateRenderError
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template.runtime.helping import HelperCaller
from cuecard.template.runtime.scope import Fn, LoopBody, Options, frame, push
from cuecard.template.runtime.values import Code, NotData, is_data, is_falsy, is_nothing, items_of, lookup

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
            if self.is_strict and isinstance(value, Code):
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
        self, helper: Callable[..., Json], params: Sequence[Json], options: Options, place: int, *, wants_options: bool
    ) -> Json:
        """A helper's result; any exception becomes an error at the place of the call."""
        try:
            return helper(*params, options=options) if wants_options else helper(*params, **options.hash)
        except (TemplateError, RecursionError):
            raise
        except Exception as error:
            message = f"the helper `{options.name}` failed: {type(error).__name__}: {error}"
            raise TemplateRenderError(self.problem(place, "helper-failed", message)) from error
