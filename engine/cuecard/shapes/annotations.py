"""From an annotation to its shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, is_dataclass
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from cuecard.records import dataclass
from cuecard.shapes.compounds import Either, Maybe, Several, Table
from cuecard.shapes.nouns import Noun, Rule
from cuecard.shapes.shape import Shape
from cuecard.shapes.values import Anything, Flag, Function, Instance, Moment, Number, Text, Whole, Word


@dataclass(frozen=True, slots=True)
class Shapes:
    """The shapes of annotations, each created once.

    Attributes:
        fields: shapes of fields that require more than their annotation says, by class and name.
        rules: what must hold between the fields of a class.
        hints: how to create an object of a class, if its constructor alone does not say so.
    """

    fields: Mapping[tuple[type, str], Shape] = field(default_factory=dict)
    rules: Mapping[type, Rule] = field(default_factory=dict)
    hints: Mapping[type, str] = field(default_factory=dict)
    _made: dict[Any, Shape] = field(default_factory=dict)

    def of(self, annotation: Any) -> Shape:
        """The shape of an annotation.

        Raises:
            TypeError: for an unsupported annotation; a bug in cuecard, never a host's mistake.
        """
        if annotation not in self._made:
            self._made[annotation] = self._single(annotation) or self._compound(annotation)
        return self._made[annotation]

    def _single(self, annotation: Any) -> Shape | None:
        simple: Mapping[Any, Callable[[], Shape]] = {
            Any: lambda: Anything("anything"),
            str: Text,
            bool: Flag,
            int: Whole,
            float: Number,
            datetime: Moment,
        }
        return simple[annotation]() if annotation in simple else None

    def _compound(self, annotation: Any) -> Shape:
        origin, arguments = get_origin(annotation), get_args(annotation)
        makers: Mapping[Any, Callable[[], Shape]] = {
            Literal: lambda: Word(arguments),
            Union: lambda: self._union(arguments),
            UnionType: lambda: self._union(arguments),
            tuple: lambda: Several(self.of(arguments[0])),
            Sequence: lambda: Several(self.of(arguments[0]), any_sequence=True),
            Mapping: lambda: Table(self.of(arguments[1])),
            dict: lambda: Table(self.of(arguments[1])),
            Callable: Function,
        }
        if origin in makers:
            return makers[origin]()
        if isinstance(annotation, type):
            return self._noun(annotation) if is_dataclass(annotation) else Instance(annotation)
        raise TypeError(f"no shape for {annotation!r}")

    def _union(self, members: Sequence[Any]) -> Shape:
        shapes = [self.of(each) for each in members if each is not NoneType]
        return Maybe(shapes) if NoneType in members else Either(shapes)

    def _noun(self, kind: Any) -> Shape:
        shapes = {
            name: self.fields.get((kind, name)) or self.of(annotation)
            for name, annotation in get_type_hints(kind).items()
            if name in kind.__dataclass_fields__
        }
        return Noun(kind, shapes, self.rules.get(kind), self.hints.get(kind, ""))
