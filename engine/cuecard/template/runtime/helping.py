"""How generated code calls the standard helpers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template.guards.guard import TagNames, Trusted
from cuecard.template.runtime.partials import PartialCaller
from cuecard.template.runtime.values import NotData, WrongValueError, is_data

_ELEMENT = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class HelperCaller(PartialCaller):
    """Calls helpers; errors have a place."""

    def standard(self, name: str, helper: Callable[..., Json], place: int, *values: Json, **pairs: Json) -> Json:
        """The result of a helper."""
        for value in values:
            if not is_data(value):
                self.not_data(value, place)
        self.work(1, place)
        try:
            made = helper(*values, **pairs)
        except WrongValueError as error:
            self.fail(place, "wrong-value", f"`{name}` {error}", error.hint)
        except NotData:
            self.not_data(values[0], place)
        except RecursionError:
            self.fail(place, "value-too-deep", "the value is nested too deeply", "pass a part of it")
        if isinstance(made, str) and len(made) > self.limits.output:
            self.too_much(place)
        return made

    def tool(self, exists: Json, place: int) -> Json:
        """Whether a tool exists in this call."""
        if exists is None:
            hint = "pass the answer as a value"
            self.fail(place, "wrong-value", "`tool` only works in the texts of an agent", hint)
        return exists

    def xml(self, value: Json, name: Json, place: int) -> Trusted:
        """A value as XML: an element for each key of an object, `item` for each item of a list; texts are data.

        Args:
            value: the value to print.
            name: the element around it; none if it is empty.
            place: the place of the call.
        """
        element = self.text(name, place)
        if element and not _ELEMENT.fullmatch(element):
            hint = 'write one, as in `xml value "page"`'
            told = f"`{element}`" if isinstance(name, Trusted) else f"a text of {len(element):,} characters"
            self.fail(place, "wrong-value", f"{told} is no name of an element", hint)
        try:
            return Trusted("\n".join(self._lines(value, (element, element) if element else None, place)))
        except RecursionError:
            self.fail(place, "value-too-deep", "the value is nested too deeply", "print a part of it")

    def _lines(self, value: Json, tags: tuple[str, str] | None, place: int) -> list[str]:
        """The lines of an element; `tags` is the content of its two tags."""
        if isinstance(value, Mapping):
            inner = [line for key, each in value.items() for line in self._lines(each, self._tags(key, place), place)]
        elif isinstance(value, (list, tuple)):
            inner = [line for each in value for line in self._lines(each, ("item", "item"), place)]
        else:
            text = self.quoted(value, place)
            return [f"<{tags[0]}>{text}</{tags[1]}>" if tags else text]
        return [f"<{tags[0]}>", *inner, f"</{tags[1]}>"] if tags else inner

    def _tags(self, key: Json, place: int) -> tuple[str, str]:
        """The element for a key; `entry` if the key is not a valid name, or is the name of an element of the prompt."""
        text = self.text(key, place)
        if _ELEMENT.fullmatch(text) and not TagNames.of(self.names).open(f"{text}>"):
            name = self.quoted(text, place)
            return name, name
        return f'entry key="{self.quoted(key, place, attribute=True)}"', "entry"

    def quoted(self, value: Json, place: int, *, attribute: bool = False) -> str:
        """Data quoted for use between tags, or in an attribute."""
        text = self.text(value, place).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return text.replace('"', "&quot;").replace("\n", " ") if attribute else text
