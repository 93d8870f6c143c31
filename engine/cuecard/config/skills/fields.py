"""The values of a skill's front matter, in the spellings and formats that real files use."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.config.documents.document import Document, Path
from cuecard.errors import Problem
from cuecard.model import Json

_KEYS = {
    "name": "name",
    "description": "description",
    "autoload": "auto_load",
    "enabled": "enabled",
    "requiresenv": "requires_env",
    "requiredenv": "requires_env",
    "requirestools": "requires_tools",
    "requiredtools": "requires_tools",
    "authprofiles": "auth_profiles",
    "paths": "paths",
    "globs": "paths",
}
_TRUE, _FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}
"""The words for yes and no, in YAML 1.2 and in practice."""


def is_field(key: str) -> bool:
    """Whether anything is read of a key at the top of a front matter."""
    return _plain(key) in _KEYS or key == "metadata"


class SkillFields:
    """Reads the values of a front matter in any format, and collects problems."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []
        self.found: dict[str, Path] = {}
        inner = document.value.get("metadata")
        for key in document.value:
            self._note(_KEYS.get(_plain(key)), (key,))
        for key in inner if isinstance(inner, dict) else ():
            # A `name` in there belongs to something else.
            self._note({**_KEYS, "name": None, "description": None}.get(_plain(key)), ("metadata", key))

    def _note(self, field: str | None, path: Path) -> None:
        if field and self.value(path) is not None:
            self.found.setdefault(field, path)

    def value(self, path: Path) -> Json:
        """The value as parsed by YAML."""
        value: Json = self.document.value
        for part in path:
            value = value[part]
        return value

    def text(self, field: str) -> str:
        """A text; a number as it is written."""
        path = self.found.get(field)
        return "" if path is None else self._scalar(path, self.value(path))

    def _scalar(self, path: Path, value: Json) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, (int, float)):
            span = self.document.span(path)
            line = self.document.text.split("\n")[span.line - 1]
            return line[span.column - 1 : span.column - 1 + span.length].strip()
        self._wrong(path, "should be a text")
        return ""

    def texts(self, field: str) -> tuple[str, ...]:
        """A list, or a text with commas; of `{name: ...}`, the name. Without duplicates, in the order of the file."""
        path = self.found.get(field)
        if path is None:
            return ()
        value = self.value(path)
        if not isinstance(value, list):
            return _once(_split(self._scalar(path, value)))
        return _once(self._item((*path, index), item) for index, item in enumerate(value))

    def _item(self, path: Path, item: Json) -> str:
        named = item.get("name") if isinstance(item, dict) else item
        return self._scalar(path, named)

    def flag(self, field: str, *, default: bool) -> bool:
        """A yes or no."""
        path = self.found.get(field)
        if path is None:
            return default
        word = str(self.value(path)).strip().casefold()
        if word in _TRUE | _FALSE:
            return word in _TRUE
        self._wrong(path, "should be true or false")
        return default

    def _wrong(self, path: Path, message: str) -> None:
        label = ".".join(str(part) for part in path)
        self.problems.append(self.document.problem(path, "wrong-value", f"`{label}` {message}"))


def _plain(key: str) -> str:
    return key.replace("-", "").replace("_", "").casefold()


def _split(text: str) -> Iterator[str]:
    """The parts between commas and line breaks; a comma in braces belongs to a pattern such as `*.{ts,tsx}`."""
    depth, part = 0, ""
    for character in text:
        depth = max(0, depth + (character == "{") - (character == "}"))
        if character == "\n" or (character == "," and not depth):
            yield part
            part = ""
        else:
            part += character
    yield part


def _once(texts: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for each in texts if (text := each.strip())))
