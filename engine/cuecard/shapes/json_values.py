"""The shape of JSON values: what can be written down, printed by a template, and read again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from cuecard.shapes.findings import Findings, seen, shortened
from cuecard.shapes.shape import Shape

MAX_DEPTH = 64
"""How many levels a value may nest."""

_HINT = "values are texts, numbers, booleans, null, lists, and objects with text keys"
_PLAIN = frozenset({str, int, bool, type(None)})

_Told = tuple[str, str, str, str]
"""Code, path, what is wrong, hint."""


class JsonValue(Shape):
    """A JSON value; with `finite`, neither NaN nor an infinity is one."""

    __slots__ = ("finite",)

    def __init__(self, *, finite: bool = False) -> None:
        super().__init__("a JSON value")
        self.finite = finite

    def fits(self, value: Any) -> bool:
        """Whether all of it is JSON."""
        return type(value) in _PLAIN or next(self._problems(value, "", 0, {}), None) is None

    def take(self, value: Any, at: str, found: Findings) -> Any:
        """The value; everything in it that is not JSON is written down."""
        for code, place, told, hint in self._problems(value, at, 0, {}):
            if code == "not-json":
                found.report("not-json", place, told, hint)
            else:
                found.report("value-too-deep", place, told, hint)
        return value

    def _problems(self, value: Any, at: str, depth: int, done: dict[int, bool]) -> Iterator[_Told]:
        """`done` tells by id which lists and objects have been looked at, and, while it is False, which are being."""
        if value is None or isinstance(value, (str, int)):
            return
        if isinstance(value, float):
            if self.finite and not math.isfinite(value):
                yield "not-json", at, f"is {seen(value)}, which JSON does not have", _HINT
        elif not isinstance(value, (Mapping, list, tuple)):
            yield "not-json", at, f"should be a JSON value, not {seen(value)}", _HINT
        elif depth == MAX_DEPTH or done.get(id(value)) is False:
            yield "value-too-deep", at[:60], f"nests more than {MAX_DEPTH} levels", "supply a flatter value"
        elif id(value) not in done:
            done[id(value)] = False
            yield from self._inside(value, at, depth + 1, done)
            done[id(value)] = True

    def _inside(self, value: Any, at: str, depth: int, done: dict[int, bool]) -> Iterator[_Told]:
        if isinstance(value, Mapping):
            for key, item in value.items():
                if not isinstance(key, str):
                    yield "not-json", at, f"has a key that should be a text, not {seen(key)}", _HINT
                elif type(item) not in _PLAIN:
                    yield from self._problems(item, f"{at}.{shortened(key)}", depth, done)
        else:
            for place, item in enumerate(value):
                if type(item) not in _PLAIN:
                    yield from self._problems(item, f"{at}[{place}]", depth, done)
