"""What generated code calls: lookups, printing, blocks, helpers and partials, each failing with a place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from cuecard.errors import CuecardError, TemplateError, TemplateLimitError, TemplateRenderError, did_you_mean
from cuecard.template.runtime.lookups import Lookups
from cuecard.template.runtime.scope import (
    Data,
    Env,
    Fn,
    LoopBody,
    Options,
    PartialBlock,
    PartialBody,
    Scope,
    frame,
    push,
)
from cuecard.template.runtime.values import Code, NotData, is_data, is_falsy, is_nothing, items_of, lookup

if TYPE_CHECKING:
    from cuecard.model import Json

MAX_PARTIALS = 100
"""How deep partials may call partials."""

MAX_OUTPUT = 10_000_000
"""How many characters a template may print."""

_TOGETHER = 16
"""How many items a loop renders before it looks how much it has printed."""


def log(*_values: Json) -> None:
    """What `log` prints. Its values are computed all the same, as Handlebars.js does."""


def found_in(data: Json, key: str) -> Json:
    """A further step into `@data`: where there is nothing to look into, that nothing (Handlebars.js lookupData)."""
    return data if is_nothing(data) else lookup(data, key)


@dataclass(frozen=True, slots=True)
class Runtime(Lookups):
    """The functions of one compiled template.

    `units` are its partials, each with a `body` that runs it; all are there before the first render.
    """

    units: Mapping[str, Any] = field(default_factory=dict)

    def falsy(self, value: Json, place: int, *, include_zero: bool = False) -> bool:
        """What `if` takes for no."""
        kind = type(value)
        if kind is str or kind is bool or kind is list or value is None:
            return not value
        try:
            return is_falsy(value, include_zero=include_zero)
        except NotData:
            self.not_data(value, place)
        except TemplateRenderError:
            # A block that cannot be printed without its context is there all the same.
            if self.is_strict and isinstance(value, Code):
                return False
            raise

    def each(self, value: Json, fn: Fn, place: int) -> str | None:
        """`{{#each}}`; None when there is nothing to walk."""
        keys, items = self.items(value, place)
        if not items:
            return None
        data, last, pieces, size = frame(fn.data), len(items) - 1, [], 0
        body, scope, params, env = fn.body, fn.scope, fn.params, fn.env
        for index, item in enumerate(items):
            data["key"] = key = keys[index]
            data["index"], data["first"], data["last"] = index, index == 0, index == last
            bound = ((item, key), params) if fn.takes_params else params
            piece = body(item, data, push(item, scope), bound, env)
            size += len(piece)
            if size > MAX_OUTPUT:
                self.too_much(place)
            pieces.append(piece)
        return "".join(pieces)

    def loop(self, value: Json, body: LoopBody, place: int, *around: Any) -> str | None:
        """`{{#each}}`; None when there is nothing to walk."""
        keys, items = (range(len(value)), value) if type(value) is list else self.items(value, place)
        if not items:
            return None
        if len(items) > _TOGETHER:
            return self.long_loop(items, keys, body, place, around)
        text = body(items, keys, 0, len(items) - 1, *around)
        if len(text) > MAX_OUTPUT:
            self.too_much(place)
        return text

    def long_loop(
        self, items: Sequence[Json], keys: Sequence[Json], body: LoopBody, place: int, around: tuple[Any, ...]
    ) -> str:
        """The same, a few items at a time, so that it is stopped when it has printed too much."""
        pieces, size, last = [], 0, len(items) - 1
        for first in range(0, len(items), _TOGETHER):
            beyond = first + _TOGETHER
            piece = body(items[first:beyond], keys[first:beyond], first, last, *around)
            size += len(piece)
            if size > MAX_OUTPUT:
                self.too_much(place)
            pieces.append(piece)
        return "".join(pieces)

    def items(self, value: Json, place: int) -> tuple[Sequence[Json], Sequence[Json]]:
        """The keys and values that `each` walks."""
        try:
            return items_of(value)
        except NotData:
            self.not_data(value, place)

    def within(self, value: Json, fn: Fn, place: int) -> str | None:
        """`{{#with}}`; None when there is nothing to go into."""
        return None if self.falsy(value, place, include_zero=True) else fn(value, None, (value,))

    def section(self, value: Json, fn: Fn | None, context: Json, place: int) -> str | None:
        """`{{#x}}` of a value, not a helper (Handlebars.js blockHelperMissing); None for the other branch."""
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
        """A helper's result; whatever it raises becomes an error at the place of the call."""
        try:
            return helper(*params, options=options) if wants_options else helper(*params, **options.hash)
        except (TemplateError, RecursionError):
            raise
        except Exception as error:
            message = f"the helper `{options.name}` failed: {type(error).__name__}: {error}"
            raise TemplateRenderError(self.problem(place, "helper-failed", message)) from error

    def partial(
        self,
        name: Json,
        context: Json,
        added: Mapping[str, Json] | None,
        at: tuple[Data, Scope, Env],
        block: Fn | None,
        indent: str,
        place: int,
    ) -> str:
        """`{{> name}}`: the partial, or the block that stands in for it (Handlebars.js invokePartial)."""
        data, _scope, env = at
        if env.depth >= MAX_PARTIALS:
            message = f"partials call each other more than {MAX_PARTIALS} deep"
            raise TemplateLimitError(self.problem(place, "too-deep", message, "end the recursion with `{{#if}}`"))
        around = data.get("partial-block")
        target: PartialBody | None = around if name == "@partial-block" else env.find(self.text(name, place))
        if block is not None:
            inner = PartialBlock(block, around)
            data = {**frame(data), "partial-block": inner}
            env = block.env
            target = target or inner
        if target is None:
            self.fail(place, "unknown-partial", f"no partial is called `{name}`", did_you_mean(str(name), env.partials))
        if added is not None:
            context = extended(context, added)
        try:
            text = target(context, data, Env(env.partials, env.depth + 1))
        except TemplateError as error:
            raise self.linked(error, place) from None
        if len(text) > MAX_OUTPUT:
            self.too_much(place)
        return indented(text, indent) if indent else text

    def include(self, name: str, place: int) -> Callable[[Json], str]:
        """`{{> name}}` of a partial that needs nothing but its context."""
        unit = self.units[name]

        def included(context: Json) -> str:
            try:
                text: str = unit.body(context)
            except TemplateError as error:
                raise self.linked(error, place) from None
            if len(text) > MAX_OUTPUT:
                self.too_much(place)
            return text

        return included

    def linked(self, error: TemplateError, place: int) -> CuecardError:
        """The error of a partial, from further out; of partials that call each other, each link is told once."""
        link = self.source.where(self.places[place][0])
        return error if link in error.problems[0].chain else error.within(link)

    def too_much(self, place: int) -> NoReturn:
        """Raise: the output is too large."""
        message = f"the template prints more than {MAX_OUTPUT:,} characters"
        raise TemplateLimitError(self.problem(place, "too-much-output", message, "print less of the values"))


def extended(context: Json, added: Mapping[str, Json]) -> Mapping[str, Json]:
    """The context of a partial that is called with `name=value`."""
    if type(context) is dict:
        return {**context, **added}
    if isinstance(context, (list, tuple, str)):
        context = {str(i): v for i, v in enumerate(context)}
    return {**context, **added} if isinstance(context, Mapping) else added


def indented(text: str, indent: str) -> str:
    """The text of a partial that stands alone on its line, behind the blanks of that line."""
    lines = text.split("\n")
    return "\n".join(
        line if not line and index == len(lines) - 1 else indent + line for index, line in enumerate(lines)
    )
