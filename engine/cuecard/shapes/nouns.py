"""The shapes of frozen dataclasses: every field by its annotation, and rules that span fields."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from cuecard.shapes.findings import Findings
from cuecard.shapes.shape import Shape
from cuecard.shapes.values import Anything

_MISSING = object()
_MANY = 8
"""The number of objects from which checking field by field is faster than object by object."""


class Wrong(NamedTuple):
    """The finding of a rule: the field, the problem (`should ...`), and how to fix it."""

    field: str
    told: str
    hint: str = ""


Rule: TypeAlias = Callable[[Any], Iterable[Wrong]]
"""A rule about several fields of a noun, each of which has the right type."""


class Noun(Shape):
    """An instance of a dataclass whose fields have these shapes."""

    __slots__ = ("checks", "columns", "get", "kind", "rule", "shapes")

    def __init__(self, kind: Any, shapes: Mapping[str, Shape], rule: Rule | None = None, hint: str = "") -> None:
        name = kind.__name__
        made = hint or f"create it with `{name}({', '.join(shapes)})`"
        super().__init__(f"{'an' if name[0] in 'AEIOU' else 'a'} {name}", made)
        self.kind, self.shapes, self.rule = kind, dict(shapes), rule
        defaults = {each.name: each.default for each in fields(kind)}
        self.checks = [(defaults[name], shape.exact, shape.fits) for name, shape in shapes.items()]
        self.columns = [(shape, attrgetter(name)) for name, shape in shapes.items() if not isinstance(shape, Anything)]
        self.get = attrgetter(*shapes) if len(shapes) > 1 else _single(next(iter(shapes)))

    def fits(self, value: Any) -> bool:
        """Whether it is an instance, and all of its fields fit."""
        if not isinstance(value, self.kind):
            return False
        try:
            values = self.get(value)
        except AttributeError:  # created without its constructor
            return False
        for (default, exact, fits), item in zip(self.checks, values, strict=True):
            if item is not default and type(item) not in exact and not fits(item):
                return False
        return self.rule is None or not any(True for _ in self.rule(value))

    def all_fit(self, values: Collection[Any]) -> bool:
        """Whether all of these fit: checked field by field, since many objects are mostly alike."""
        if len(values) < _MANY or {self.kind}.symmetric_difference(map(type, values)):
            return all(map(self.fits, values))
        try:
            right = all(shape.all_fit([*map(get, values)]) for shape, get in self.columns)
        except AttributeError:
            return False
        return right and (self.rule is None or not any(True for value in values for _ in self.rule(value)))

    def claims(self, value: Any) -> bool:
        """Whether it is an instance, or a mapping that was meant to be one."""
        return isinstance(value, (self.kind, Mapping))

    def take(self, value: Any, at: str, found: Findings) -> Any:
        """The object with converted fields."""
        if not isinstance(value, self.kind):
            found.wrong(at, self.should, value, self.hint)
            return value
        before, taken = len(found.problems), {}
        for name, shape in self.shapes.items():
            item = getattr(value, name, _MISSING)
            if not shape.fits(item):
                taken[name] = shape.take(item, f"{at}.{name}", found)
        if len(found.problems) > before:
            return value
        changed: Any = _with(value, taken) if taken else value
        for wrong in self.rule(changed) if self.rule else ():
            found.report("wrong-argument", f"{at}.{wrong.field}", wrong.told, wrong.hint)
        return changed


def _with(value: Any, taken: Mapping[str, Any]) -> Any:
    return replace(value, **taken)


def _single(name: str) -> Callable[[Any], tuple[Any]]:
    get = attrgetter(name)
    return lambda value: (get(value),)
