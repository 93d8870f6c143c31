"""The shape of JSON values, which can be serialised, rendered by a template, and read again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cuecard.shapes.findings import Findings, inside, seen
from cuecard.shapes.shape import Shape

MAX_DEPTH = 64
"""The maximum depth of a value."""

MAX_BITS = 2_048
"""The maximum size of a whole number in bits: by default, Python does not convert longer ones to text."""

_HINT = "values are texts, numbers, booleans, null, lists, and objects with text keys"
_TEXT: frozenset[type] = frozenset({str})
_PLAIN: frozenset[type] = _TEXT | {bool, type(None)}

_WRONG_KEY = object()

_Told = tuple[str, str, str, str]
"""Code, path, what is wrong, hint."""


class JsonValue(Shape):
    """A JSON value; with `finite`, neither NaN nor an infinity is one."""

    __slots__ = ("finite",)
    exact = _PLAIN

    def __init__(self, *, finite: bool = False) -> None:
        super().__init__("a JSON value")
        self.finite = finite

    def fits(self, value: Any) -> bool:
        """Whether it is entirely JSON, with every object a dict."""
        return self._is_plain([value], 0, {}, dict) or next(self._problems(value, "", 0, {}, dict), None) is None

    def take(self, value: Any, at: str, found: Findings) -> Any:
        """The value with every object as a dict; everything that is not JSON is reported."""
        if self._is_plain([value], 0, {}, Mapping):
            return _with_dicts(value, {})
        before = len(found.problems)
        for code, place, told, hint in self._problems(value, at, 0, {}, Mapping):
            if code == "not-json":
                found.report("not-json", place, told, hint)
            else:
                found.report("value-too-deep", place, told, hint)
        return _with_dicts(value, {}) if len(found.problems) == before else value

    def _is_plain(self, items: Iterable[Any], depth: int, done: dict[int, bool], kind: Any) -> bool:
        """Whether these items are plain JSON, as nearly all are: found out without the path of each."""
        for item in items:
            known = type(item)
            if known in _PLAIN or (known is int and item.bit_length() <= MAX_BITS):
                continue
            if known is float:
                if self.finite and not math.isfinite(item):
                    return False
            elif not (done[id(item)] if id(item) in done else self._holds_plain(item, depth, done, kind)):
                return False
        return True

    def _holds_plain(self, value: Any, depth: int, done: dict[int, bool], kind: Any) -> bool:
        done[id(value)] = False
        if depth == MAX_DEPTH:
            return False
        if isinstance(value, kind):
            fine = {*map(type, value)} <= _TEXT or all(isinstance(key, str) for key in value)
            done[id(value)] = fine and self._is_plain(value.values(), depth + 1, done, kind)
        elif isinstance(value, (list, tuple)):
            done[id(value)] = self._is_plain(value, depth + 1, done, kind)
        return done[id(value)]

    def _number_problems(self, value: float, at: str) -> Iterator[_Told]:
        if isinstance(value, int):
            if value.bit_length() > MAX_BITS:
                yield "not-json", at, f"is {seen(value)}, too long to write out", "supply it as a text"
        elif self.finite and not math.isfinite(value):
            yield "not-json", at, f"is {seen(value)}, which JSON cannot represent", _HINT

    def _problems(self, value: Any, at: str, depth: int, done: dict[int, bool], kind: type) -> Iterator[_Told]:
        """`done` maps the ids of lists and objects to True once they have been checked, and to False while they are
        being checked.
        """
        if value is None or isinstance(value, str):
            return
        if isinstance(value, (int, float)):
            yield from self._number_problems(value, at)
        elif not isinstance(value, (kind, list, tuple)):
            yield "not-json", at, f"should be a JSON value, not {seen(value)}", _HINT
        elif depth == MAX_DEPTH or done.get(id(value)) is False:
            yield "value-too-deep", at[:60], f"is nested more than {MAX_DEPTH} levels deep", "supply a flatter value"
        elif id(value) not in done:
            done[id(value)] = False
            for path, item in _inside(value, at):
                if item is _WRONG_KEY:
                    yield "not-json", at, path, _HINT
                elif type(item) not in _PLAIN and not (type(item) is int and item.bit_length() <= MAX_BITS):
                    yield from self._problems(item, path, depth + 1, done, kind)
            done[id(value)] = True


def _inside(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    """The content of a list or object, each with its path; a key that is not a text is given with its problem."""
    if not isinstance(value, Mapping):
        yield from ((f"{at}[{place}]", item) for place, item in enumerate(value))
        return
    for key, item in value.items():
        if isinstance(key, str):
            yield inside(at, key), item
        else:
            yield f"has a key that should be a text, not {seen(key)}", _WRONG_KEY


def _with_dicts(value: Any, made: dict[int, Any]) -> Any:
    """The value with every object as a dict; shared parts are converted once."""
    if not isinstance(value, (Mapping, list, tuple)):
        return value
    if id(value) not in made:
        if isinstance(value, Mapping):
            made[id(value)] = {key: _with_dicts(item, made) for key, item in value.items()}
        else:
            made[id(value)] = [_with_dicts(item, made) for item in value]
    return made[id(value)]
