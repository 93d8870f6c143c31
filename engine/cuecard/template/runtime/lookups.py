"""How generated code looks up values, and reports missing ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from cuecard.errors import closest, did_you_mean
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template.runtime.printing import Printer
from cuecard.template.runtime.values import has, is_nothing, lookup
from cuecard.template.syntax.habits import WORDS


@dataclass(frozen=True, slots=True)
class Missing:
    """A missing value in the middle of a path: the key and where it was looked up, for the next step to report."""

    key: str
    within: Json


@dataclass(frozen=True, slots=True)
class Lookups(Printer):
    """Lookups of one compiled template."""

    def strict(self, value: Json | Missing, key: str, place: int) -> Json:
        """`value.key`, which must exist."""
        if isinstance(value, dict) and key in value:
            return value[key]
        if isinstance(value, Missing):
            self.missing(value.within, value.key, place)
        if not has(value, key):
            self.missing(value, key, place)
        return lookup(value, key)

    def through(self, value: Json | Missing, key: str, place: int) -> Json | Missing:
        """`value.key` in the middle of a path."""
        if isinstance(value, dict) and key in value:
            return value[key]
        if isinstance(value, Missing):
            self.missing(value.within, value.key, place)
        if value is None:
            self.nothing(key, place)
        found = lookup(value, key)
        return Missing(key, value) if found is None and not has(value, key) else found

    def assume(self, value: Json | Missing, key: str, place: int) -> Json:
        """`value.key`, where `value` itself must exist."""
        if isinstance(value, Missing):
            self.missing(value.within, value.key, place)
        if value is None:
            self.nothing(key, place)
        return lookup(value, key)

    def missing(self, value: Json, key: str, place: int) -> NoReturn:
        """Raise: there is no such key."""
        known = [str(k) for k in value] if isinstance(value, Mapping) else []
        hint = WORDS.get(key, "") if not closest(key, known) else ""
        hint = hint or did_you_mean(key, known) or "supply it, or wrap it in `{{#if}}`"
        self.fail(place, "missing-value", f"`{key}` has no value here", hint)

    def nothing(self, key: str, place: int) -> NoReturn:
        """Raise: there is no value to look into."""
        self.fail(place, "missing-value", f"`{key}` is read from a missing value", "supply the value before it")

    def param(self, values: Sequence[Json] | None, index: int, place: int) -> Json:
        """A block parameter."""
        if values is None:
            self.fail(place, "missing-value", "this block has no values to name", "remove `as |...|`")
        return values[index] if index < len(values) else None

    def lookup(self, value: Json, key: Json, place: int) -> Json:
        """The helper `lookup`: a value without keys is the result itself (Handlebars.js)."""
        return value if is_nothing(value) else lookup(value, self.text(key, place))

    def uncalled(self, name: str, place: int) -> NoReturn:
        """Raise: a value is called like a helper."""
        self.fail(place, "unknown-helper", f"`{name}` is a value, not a helper", f"write `{name}` by itself")
