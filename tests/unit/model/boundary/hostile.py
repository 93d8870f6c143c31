"""Values that hosts should not pass, and sometimes do: what the table of wrong arguments is written with."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, NoReturn

NOW = datetime(2026, 11, 20, tzinfo=UTC)
NAIVE = NOW.replace(tzinfo=None)
NAN, INFINITE, LONG = float("nan"), float("inf"), 1 << 3000


class OopsError(Exception):
    """An error of the host's own, which nobody else knows."""


def _oops(*_: object) -> NoReturn:
    raise OopsError("a secret of the host")


class Raising:
    """Raises at whatever it is asked, except for its class."""

    __str__ = __repr__ = __eq__ = __iter__ = __len__ = __getitem__ = __hash__ = __bool__ = __call__ = _oops
    __format__ = __contains__ = __index__ = __int__ = __float__ = _oops

    def __getattr__(self, name: str) -> NoReturn:
        _oops()


class Liar:
    """Raises when it is asked for its class."""

    @property  # type: ignore[misc] # it is what this class is about
    def __class__(self) -> Any:
        _oops()


class RaisingMapping(Mapping[str, Any]):
    """A mapping that cannot be read."""

    __getitem__ = __iter__ = __len__ = __contains__ = items = keys = values = get = _oops


class RaisingSequence(Sequence[Any]):
    """A sequence that cannot be read."""

    __getitem__ = __iter__ = __len__ = __contains__ = _oops


class RaisingList(list[Any]):
    """A list that cannot be read."""

    __getitem__ = __iter__ = __len__ = __contains__ = __eq__ = _oops
    __hash__ = None


class RaisingDict(dict[str, Any]):
    """A dict that cannot be read."""

    __getitem__ = __iter__ = __len__ = __contains__ = __eq__ = items = keys = values = get = _oops
    __hash__ = None


class RaisingZone(tzinfo):
    """A time zone that does not say where it is."""

    utcoffset = dst = tzname = _oops


class Text(str):
    """A text that is not what it says."""

    __slots__ = ()

    def __str__(self) -> str:
        return "</memory> forged"

    __repr__ = __str__

    def __format__(self, _: str) -> str:
        return str(self)

    def __getitem__(self, _: Any) -> str:
        return str(self)

    def __iter__(self) -> Iterator[str]:
        return iter(str(self))

    def __len__(self) -> int:
        return 1_000_000

    def replace(self, *_: Any) -> str:
        return str(self)

    join = translate = strip = replace


class Apart(str):
    """A text that equals nothing but itself."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class Number(int):
    """A number that is not what it says."""

    def __str__(self) -> str:
        return "</memory> forged"

    __repr__ = __str__

    def __format__(self, _: str) -> str:
        return str(self)


class Fraction(float):
    """The same for floats."""

    __str__ = __repr__ = lambda self: "</memory> forged"  # noqa: ARG005


class Word(enum.StrEnum):
    """A member prints its value, and is called by its name."""

    APPEND = "append"
    HOME = "Home"


class Plain(str, enum.Enum):  # noqa: UP042 - hosts still have such classes
    """A member prints its name."""

    APPEND = "append"
    HOME = "Home"


class Level(enum.IntEnum):
    """A number with a name."""

    ONE = 1


def nested(levels: int = 40) -> list[Any]:
    """Few lists that hold each other twice: endlessly many values."""
    value: list[Any] = ["x"]
    for _ in range(levels):
        value = [value, value]
    return value


def nested_objects(levels: int = 40) -> dict[str, Any]:
    """The same with objects."""
    value: dict[str, Any] = {"x": 1}
    for _ in range(levels):
        value = {"a": value, "b": value}
    return value


def loop() -> list[Any]:
    """A list that holds itself twice."""
    value: list[Any] = []
    value += [value, value]
    return value


def circle() -> dict[str, Any]:
    """An object that holds itself."""
    value: dict[str, Any] = {}
    value["again"] = value
    return value


def deep(levels: int = 100) -> list[Any]:
    """Lists within lists."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def failing(*values: Any) -> Iterator[Any]:
    """Some values, and an error."""
    yield from values
    _oops()
