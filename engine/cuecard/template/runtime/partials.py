"""How generated code calls partials and stays within the limits of a render."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, NoReturn

from cuecard.errors import CuecardError, Problem, TemplateError, TemplateLimitError, did_you_mean
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template.guards.marks import MARKS
from cuecard.template.rules import MAX_PARTIALS, PER_CALL, USUAL, WORK_LEFT, Limits, spend
from cuecard.template.runtime.printing import Lookups
from cuecard.template.runtime.scope import Data, Env, Fn, PartialBlock, PartialBody, Scope, frame
from cuecard.template.runtime.values import is_name, named


@dataclass(frozen=True, slots=True)
class PartialCaller(Lookups):
    """Calls the partials of one compiled template.

    `units` are its partials, each with a `body` that runs it; all exist before the first render.
    """

    units: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = USUAL

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
        """`{{> name}}`: the partial, or the block that replaces it (Handlebars.js invokePartial)."""
        data, _scope, env = at
        if env.depth >= MAX_PARTIALS:
            message = f"partial calls are nested more than {MAX_PARTIALS} levels deep"
            raise TemplateLimitError(self.problem(place, "too-deep", message, "end the recursion with `{{#if}}`"))
        around = data.get("partial-block")
        key = self.partial_name(name, place)
        target: PartialBody | None = around if key == "@partial-block" else env.find(key)
        if block is not None:
            inner = PartialBlock(block, around)
            data = {**frame(data), "partial-block": inner}
            env = block.env
            target = target or inner
        self.work(PER_CALL, place)
        if target is None:
            hint = did_you_mean(key, env.partials) if is_name(key) else ""
            self.fail(place, "unknown-partial", f"there is no partial named {named(key)}", hint)
        if added is not None:
            context = extended(context, added)
        try:
            text = target(context, data, Env(env.partials, env.depth + 1))
        except TemplateError as error:
            raise self.linked(error, place) from None
        if len(text) > self.limits.output:
            self.too_much(place)
        return indented(text, indent) if indent else text

    def partial_name(self, value: Json, place: int) -> str:
        """A computed name as a text."""
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            message = f"the name of a partial is of type {type(value).__name__}"
            self.fail(place, "unknown-partial", message, "compute a text with the partial's name")
        return self.text(value, place)

    def include(self, name: str, place: int) -> Callable[[Json], str]:
        """`{{> name}}` for a partial that needs only its context."""
        unit, most, work_left = self.units[name], self.limits.output, WORK_LEFT.get

        def included(context: Json) -> str:
            # `spend`, inlined: this may be called for each item of a loop.
            if (left := work_left()) is not None:
                left[0] -= PER_CALL
                if left[0] < 0:
                    self.too_much_work(place)
            try:
                text: str = unit.body(context)
            except TemplateError as error:
                raise self.linked(error, place) from None
            if len(text) > most:
                self.too_much(place)
            return text

        return included

    def joined(self, pieces: Sequence[str]) -> str:
        """Join many pieces, each of which may be a long value, after checking their length."""
        if sum(map(len, pieces)) > self.limits.output:
            raise TemplateLimitError(too_much_output(self.limits.output, self.source.name))
        return "".join(pieces)

    def work(self, amount: int, place: int) -> None:
        """Count work that is about to be done."""
        if not spend(amount):
            self.too_much_work(place)

    def linked(self, error: TemplateError, place: int) -> CuecardError:
        """The error of a partial with its caller added; each link of recursive partials is listed once."""
        link = self.source.where(self.places[place][0])
        return error if link in error.problems[0].chain else error.within(link)

    def too_much(self, place: int) -> NoReturn:
        """Raise: the output is too large."""
        message = f"the template prints more than {self.limits.output:,} characters"
        raise TemplateLimitError(self.problem(place, "too-much-output", message, "print less of the values"))

    def too_much_work(self, place: int) -> NoReturn:
        """Raise: too many calls of partials or loop items."""
        message = f"one render makes more than {self.limits.work:,} partial calls and loop iterations"
        hint = "partials that call others twice double the work; call them once, or loop over fewer items"
        raise TemplateLimitError(self.problem(place, "too-much-work", message, hint))


def too_much_output(most: int, name: str) -> Problem:
    """The problem for a text that is too long as a whole."""
    message = f"the template prints more than {most:,} characters"
    return Problem("too-much-output", message, "print less of the values", name)


def extended(context: Json, added: Mapping[str, Json]) -> Mapping[str, Json]:
    """The context of a partial called with `name=value`."""
    if type(context) is dict:
        return {**context, **added}
    if isinstance(context, (list, tuple, str)):
        context = {str(i): v for i, v in enumerate(context)}
    return {**context, **added} if isinstance(context, Mapping) else added


def indented(text: str, indent: str) -> str:
    """The text of a partial that is alone on its line, indented like that line."""
    lines = text.split("\n")
    return "\n".join(
        line if not line.strip(MARKS) and index == len(lines) - 1 else indent + line for index, line in enumerate(lines)
    )
