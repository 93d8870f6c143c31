"""The shapes of single values: texts, words, numbers, times, functions, objects."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from cuecard.errors import did_you_mean
from cuecard.shapes.findings import Findings, shortened
from cuecard.shapes.shape import Shape


class Anything(Shape):
    """Any value."""

    __slots__ = ()

    def all_fit(self, values: Collection[Any]) -> bool:  # noqa: ARG002 - whatever they are
        """Always."""
        return True

    def fits(self, value: Any) -> bool:  # noqa: ARG002 - whatever it is
        """Always."""
        return True


class Text(Shape):
    """A text; with `least` 1, it must not be empty."""

    __slots__ = ("exact", "least")

    def __init__(self, should: str = "a text", *, least: int = 0) -> None:
        super().__init__(should if least == 0 else f"{should} that is not empty")
        self.least, self.exact = least, frozenset() if least else frozenset((str,))

    def fits(self, value: Any) -> bool:
        """Whether it is a text."""
        return isinstance(value, str) and len(value) >= self.least


class Flag(Shape):
    """True or False, without truthy or falsy values."""

    __slots__ = ()
    exact = frozenset((bool,))

    def __init__(self) -> None:
        super().__init__("True or False")

    def fits(self, value: Any) -> bool:
        """Whether it is a boolean."""
        return value is True or value is False


class Whole(Shape):
    """A whole number from `least` to `most`."""

    __slots__ = ("least", "most")

    def __init__(self, least: int | None = None, most: int | None = None) -> None:
        super().__init__(f"a whole number{_range(least, most)}")
        self.least, self.most = least, most

    def fits(self, value: Any) -> bool:
        """Whether it is such a number; a boolean is not."""
        return isinstance(value, int) and not isinstance(value, bool) and _within(value, self.least, self.most)


class Number(Shape):
    """A finite number from `least` to `most`."""

    __slots__ = ("least", "most")

    def __init__(self, least: float | None = None, most: float | None = None) -> None:
        super().__init__(f"a number{_range(least, most)}")
        self.least, self.most = least, most

    def fits(self, value: Any) -> bool:
        """Whether it is such a number; booleans and NaN are not."""
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and (isinstance(value, int) or math.isfinite(value)) and _within(value, self.least, self.most)


class Moment(Shape):
    """A time; with `zoned`, it must have a zone."""

    __slots__ = ("zoned",)

    def __init__(self, *, zoned: bool = False) -> None:
        super().__init__("a datetime with its zone" if zoned else "a datetime")
        self.zoned = zoned

    def fits(self, value: Any) -> bool:
        """Whether it is such a time."""
        return isinstance(value, datetime) and not (self.zoned and value.utcoffset() is None)

    def claims(self, value: Any) -> bool:
        """Whether it is a time."""
        return isinstance(value, datetime)

    def refuse(self, value: Any, at: str, found: Findings) -> None:
        """Report a wrong value; a time without a zone has a separate code."""
        hint = "pass a datetime with tzinfo, such as datetime.now(UTC)"
        if isinstance(value, datetime):
            found.report("naive-time", at, "has no time zone, so its date is ambiguous", hint)
        else:
            found.wrong(at, self.should, value, hint)


class Word(Shape):
    """One of a few words."""

    __slots__ = ("known", "words")

    def __init__(self, words: Sequence[str]) -> None:
        *others, last = (f"`{word}`" for word in words)
        super().__init__(f"{', '.join(others)} or {last}" if others else last)
        self.words, self.known = tuple(words), frozenset(words)

    def fits(self, value: Any) -> bool:
        """Whether it is one of them."""
        return isinstance(value, str) and value in self.known

    def all_fit(self, values: Collection[Any]) -> bool:
        """Whether all of these are."""
        return all(isinstance(value, str) for value in values) and self.known.issuperset(values)

    def claims(self, value: Any) -> bool:
        """Whether it is a text."""
        return isinstance(value, str)

    def refuse(self, value: Any, at: str, found: Findings) -> None:
        """Report a wrong value, showing an unknown word."""
        if isinstance(value, str):
            told = f"should be {self.should}, not `{shortened(value)}`"
            found.report("unknown-word", at, told, did_you_mean(value[:100], self.words))
        else:
            found.wrong(at, self.should, value)


class Function(Shape):
    """A callable."""

    __slots__ = ()

    def __init__(self, should: str = "a function") -> None:
        super().__init__(should)

    def fits(self, value: Any) -> bool:
        """Whether it is callable."""
        return callable(value)


class Instance(Shape):
    """An instance of a class, whose attributes are not checked."""

    __slots__ = ("kind",)

    def __init__(self, kind: type, should: str = "", hint: str = "") -> None:
        name = kind.__name__
        super().__init__(should or f"{'an' if name[0] in 'AEIOU' else 'a'} {name}", hint)
        self.kind = kind

    def fits(self, value: Any) -> bool:
        """Whether it is one."""
        return isinstance(value, self.kind)


def _within(value: float, least: float | None, most: float | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most)


def _range(least: float | None, most: float | None) -> str:
    if most is not None:
        return f" from {least or 0} to {most}"
    return "" if least is None else f", at least {least}"
