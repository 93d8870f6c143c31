"""The shapes of tuples and mappings, and of values that may be one thing or another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cuecard.shapes.findings import Findings, inside, shortened
from cuecard.shapes.shape import Shape


class Several(Shape):
    """A tuple; a list is converted. With `any_sequence`, every sequence is accepted as it is."""

    __slots__ = ("any_sequence", "item")

    def __init__(self, item: Shape, should: str = "", *, any_sequence: bool = False) -> None:
        super().__init__(should or f"a tuple or list, each item {item.should}")
        self.item, self.any_sequence = item, any_sequence

    def fits(self, value: Any) -> bool:
        """Whether it is a tuple, and every item fits."""
        right = isinstance(value, tuple) or (self.any_sequence and _is_sequence(value))
        return right and (not value or self.item.all_fit(value))

    def claims(self, value: Any) -> bool:
        """Whether it is a collection."""
        return hasattr(value, "__iter__")

    def take(self, value: Any, at: str, found: Findings) -> Any:
        """A tuple of the converted items."""
        if not _is_sequence(value):
            found.wrong(at, self.should, value, self._way_out(value))
            return ()
        fits = self.item.fits
        taken = tuple(
            item if fits(item) else self.item.take(item, f"{at}[{place}]", found) for place, item in enumerate(value)
        )
        same = isinstance(value, tuple) and all(old is new for old, new in zip(value, taken, strict=True))
        return value if same else taken

    def _way_out(self, value: Any) -> str:
        if isinstance(value, str):
            return f'write a single item as `("{shortened(value)}",)`' if self.item.fits(value) else ""
        if isinstance(value, Mapping):
            return "pass its keys or its values as a tuple"
        return "convert it to a tuple first" if hasattr(value, "__iter__") else ""


class Table(Shape):
    """A mapping with text keys; any mapping is converted into a dict."""

    __slots__ = ("item",)

    def __init__(self, item: Shape) -> None:
        super().__init__("a mapping with texts as keys")
        self.item = item

    def fits(self, value: Any) -> bool:
        """Whether it is a dict, and every value fits."""
        if not isinstance(value, dict):
            return False
        return not value or (all(isinstance(key, str) for key in value) and self.item.all_fit(value.values()))

    def claims(self, value: Any) -> bool:
        """Whether it is a mapping."""
        return isinstance(value, Mapping)

    def take(self, value: Any, at: str, found: Findings) -> Any:
        """The mapping with converted values."""
        if not isinstance(value, Mapping):
            found.wrong(at, self.should, value)
            return {}
        taken = {}
        for key, item in value.items():
            if not isinstance(key, str):
                found.wrong(f"a key of {at}", "a text", key)
                continue
            taken[key] = item if self.item.fits(item) else self.item.take(item, inside(at, key), found)
        return taken


class Either(Shape):
    """A value of one of several shapes."""

    __slots__ = ("exact", "members")

    def __init__(self, members: Sequence[Shape], *, optional: bool = False) -> None:
        self.exact = frozenset({type(None)} if optional else ()).union(*(member.exact for member in members))
        told = [member.should for member in members]
        super().__init__(" or ".join([*told, "None"] if optional else told))
        self.members = tuple(members)

    def fits(self, value: Any) -> bool:
        """Whether it fits one of them."""
        return any(member.fits(value) for member in self.members)

    def claims(self, value: Any) -> bool:
        """Whether one of them claims it."""
        return any(member.claims(value) for member in self.members)

    def take(self, value: Any, at: str, found: Findings) -> Any:
        """Convert it with the member that the value was meant for."""
        if self.fits(value):
            return value
        meant = next((each for each in self.members if each.claims(value)), None)
        if meant:
            return meant.take(value, at, found)
        found.wrong(at, self.should, value, next(filter(None, (each.hint for each in self.members)), ""))
        return value


class Maybe(Either):
    """A value that may be missing."""

    __slots__ = ()

    def __init__(self, members: Sequence[Shape]) -> None:
        super().__init__(members, optional=True)

    def fits(self, value: Any) -> bool:
        """Whether it is None, or of one of the shapes."""
        return value is None or any(member.fits(value) for member in self.members)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (
        isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview))
    )
