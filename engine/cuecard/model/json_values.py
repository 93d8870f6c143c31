"""Free JSON: one bounded walk makes every value an exact text, number, boolean, null, list or object."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple, TypeAlias

from cuecard.errors import inside, seen

MAX_DEPTH = 64
"""The maximum depth of a value."""

MAX_BITS = 2_048
"""The maximum size of a whole number in bits: by default, Python does not convert longer ones to text."""

MAX_VALUES = 250_000
"""The maximum number of values in a value. One that occurs twice counts twice, as in the text that is made of it."""

_MOST_WRONG = 1_000
_HINT = "values are texts, numbers, booleans, null, lists, and objects with text keys"
_TEXT: frozenset[type] = frozenset({str})
_PLAIN: frozenset[type] = frozenset({str, bool, type(None)})
_WHOLE = _PLAIN | {int}
_ROWS: frozenset[type] = frozenset({dict})
_USUAL = 2**63

KEY = -1
"""The step of a path to a key that is no text."""

UNFIT = object()
"""What stands in the place of a value that is wrong."""

Path: TypeAlias = tuple[str | int, ...]


class Wrong(NamedTuple):
    """What is wrong in a value: the code, the path to it, the problem, and how to fix it."""

    code: str
    path: Path
    told: str
    hint: str = ""

    def place(self, at: str) -> str:
        """The path as errors name it, in a value that is called `at`."""
        for step in self.path:
            at = f"a key of {at}" if step == KEY else inside(at, step)
        return at[:60] if self.code == "value-too-deep" else at


def exact_json(value: Any, *, finite: bool = True) -> tuple[Any, list[Wrong]]:
    """The value, made of nothing but exact built-in types, and everything that is wrong in it.

    A subclass of a text or a number becomes the text or number that it is, a tuple a list, and every mapping a dict.
    The result shares no list and no dict with the value.

    Args:
        value: what a host supplies. Nothing is asked of it twice, and what it raises is reported.
        finite: whether NaN and infinities are wrong.
    """
    return _walked(lambda walk: walk.value(value, (), 0), finite=finite)


def exact_object(value: Mapping[Any, Any]) -> tuple[dict[str, Any], list[Wrong]]:
    """The same for a mapping of values by name, each as deep as a value may be."""
    if _is_flat(value):
        return {key: [*item] if type(item) is list else item for key, item in (*value.items(),)}, []
    return _walked(lambda walk: walk.container(value, (), -1), finite=True)


def exact_body(value: Any) -> tuple[Any, list[Wrong]]:
    """The same for the body of a tool result, of which others read what they know: what is no JSON stays as it is.

    Wrong is only what cannot be read, or holds too many values.
    """
    if _is_flat(value):
        return value, []  # as most are
    return _walked(lambda walk: walk.value(value, (), 0), finite=False, lenient=True)


def _is_flat(value: Any) -> bool:
    """Whether a walk would leave a value as it is: an object that holds plain values, or lists of them."""
    if type(value) is not dict or not _TEXT.issuperset(map(type, value)):
        return False
    lists = [each for each in (*value.values(),) if type(each) not in _PLAIN]
    for each in lists:
        if type(each) is not list or not _PLAIN.issuperset(map(type, each)):
            return False
    return len(value) + sum(map(len, lists)) <= MAX_VALUES


def _are_plain(items: Collection[Any], kinds: Collection[type]) -> bool:
    """Whether items of these types are texts, booleans, nulls, and whole numbers of a usual size."""
    if not _WHOLE.issuperset(kinds):
        return False
    whole = [each for each in items if type(each) is int] if int in kinds else None
    return not whole or (min(whole) > -_USUAL and max(whole) < _USUAL)


def _walked(work: Any, *, finite: bool, lenient: bool = False) -> tuple[Any, list[Wrong]]:
    walk = _Walk(finite=finite, lenient=lenient)
    try:
        return work(walk), walk.wrong
    except _EnoughError:
        return UNFIT, walk.wrong
    except RuntimeError as error:  # another thread has changed an object meanwhile, or Python can follow no deeper
        return UNFIT, [*walk.wrong, Wrong("not-json", (), f"cannot be read: it raises {type(error).__name__}", _HINT)]


class _EnoughError(Exception):
    """The walk ends: there are too many values, or too many mistakes."""


_Steps: TypeAlias = "tuple[_Steps, str | int] | tuple[()]"
"""A path from its end: cheaper to make, since only mistakes need one."""


class _Walk:
    """One walk through a value: how many values it may still visit, the lists and objects it is within, mistakes."""

    __slots__ = ("finite", "left", "lenient", "open", "wrong")

    def __init__(self, *, finite: bool, lenient: bool) -> None:
        self.finite, self.lenient, self.left = finite, lenient, MAX_VALUES
        self.open: set[int] = set()
        self.wrong: list[Wrong] = []

    def value(self, value: Any, at: _Steps, depth: int) -> Any:
        kind = type(value)
        if kind is list or kind is dict:
            return self.container(value, at, depth)
        if kind in _PLAIN:
            return value
        if issubclass(kind, str):
            return str.__str__(value)
        if issubclass(kind, (int, float)):
            return self._number(value, kind, at)
        return self.container(value, at, depth)

    def container(self, value: Any, at: _Steps, depth: int) -> Any:
        kind, place = type(value), id(value)
        held = value if kind is list else value.items() if kind is dict else self._read(value, kind, at)
        if held is UNFIT:
            return value if self.lenient else UNFIT
        if place in self.open or depth == MAX_DEPTH:
            self._report("value-too-deep", at, f"is nested more than {MAX_DEPTH} levels deep", "supply a flatter value")
            return value if self.lenient else UNFIT
        self.left -= len(held)
        if self.left < 0:
            told = f"holds more than {MAX_VALUES:,} values, counting each as often as it occurs"
            self._report("value-too-large", at, told, "supply less, or a text", always=True)
            raise _EnoughError
        if (kind is dict or kind is list) and (plain := self._plain(value, kind, depth)) is not None:
            return plain
        self.open.add(place)
        if kind is dict or issubclass(kind, Mapping):
            made: Any = self._object(held, at, depth + 1)
        else:
            made = [
                item if type(item) in _PLAIN else self.value(item, (at, number), depth + 1)
                for number, item in enumerate(held)
            ]
        self.open.discard(place)
        return made

    def _plain(self, value: Any, kind: type, depth: int) -> Any:
        """A copy of an exact list or object of plain values, or of objects of plain values, as most are; else None.

        They are checked all at once, which takes a fraction of the time.
        """
        items = value if kind is list else [*value.values()]
        kinds = {*map(type, items)}
        if kind is dict and not _TEXT.issuperset(map(type, value)):
            return None
        if kinds != _ROWS:
            return value.copy() if _are_plain(items, kinds) else None
        if depth + 1 >= MAX_DEPTH or sum(map(len, items)) > self.left:
            return None
        rows = [*map(dict.copy, items)]
        cells = [*chain.from_iterable(map(dict.values, rows))]
        if not _TEXT.issuperset(map(type, chain.from_iterable(rows))) or not _are_plain(cells, {*map(type, cells)}):
            return None
        self.left -= len(cells)
        return rows if kind is list else dict(zip(value, rows, strict=True))

    def _read(self, value: Any, kind: type, at: _Steps) -> Any:
        """What an object of another class holds, read once: pairs or items."""
        is_object = issubclass(kind, Mapping)
        try:
            if not is_object and not issubclass(kind, (list, tuple)):
                value.__class__  # noqa: B018 - an object may refuse even that
                self._report("not-json", at, f"should be a JSON value, not {seen(value)}", _HINT)
                return UNFIT
            held = list(islice(value.items() if is_object else value, self.left + 1))
            return [(key, item) for key, item in held] if is_object else held  # an item that is no pair raises here
        except _EnoughError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever an object of the host raises, it is the value that is wrong
            self._report("not-json", at, f"cannot be read: it raises {type(error).__name__}", _HINT, always=True)
            return UNFIT

    def _object(self, pairs: Iterable[tuple[Any, Any]], at: _Steps, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, item in pairs:
            if type(key) is not str:
                if not issubclass(type(key), str):
                    self._wrong_key(key, at, depth)
                    continue
                key = str.__str__(key)  # noqa: PLW2901 - the text that the key is
            if key in made:
                self._report("duplicate-key", (at, key), "occurs twice", "rename one of them")
            made[key] = item if type(item) in _PLAIN else self.value(item, (at, key), depth)
        return made

    def _wrong_key(self, key: object, at: _Steps, depth: int) -> None:
        if depth == 0:
            self._report("wrong-argument", (at, KEY), f"should be a text, not {seen(key)}", "")
        else:
            self._report("not-json", at, f"has a key that should be a text, not {seen(key)}", _HINT)

    def _number(self, value: Any, kind: type, at: _Steps) -> int | float:
        if issubclass(kind, int):
            whole = value if kind is int else int.__int__(value)
            if whole.bit_length() > MAX_BITS:
                self._report("not-json", at, f"is {seen(whole)}, too long to write out", "supply it as a text")
            return whole
        number = value if kind is float else float.__float__(value)
        if self.finite and not math.isfinite(number):
            self._report("not-json", at, f"is {seen(number)}, which JSON cannot represent", _HINT)
        return number

    def _report(self, code: str, at: _Steps, told: str, hint: str, *, always: bool = False) -> None:
        if self.lenient and not always:
            return
        path: list[str | int] = []
        while at:
            at, step = at
            path.append(step)
        steps = path[-1:] if code == "value-too-large" else path[::-1]  # where in it the bound was passed says nothing
        self.wrong.append(Wrong(code, tuple(steps), told, hint))
        if len(self.wrong) == _MOST_WRONG:
            raise _EnoughError


def texts_in(value: Any) -> Iterator[str]:
    """The texts in a JSON value, keys included; without recursion, since it may be deeply nested."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            waiting += (*item.keys(), *item.values())
        elif isinstance(item, (list, tuple)):
            waiting += item
