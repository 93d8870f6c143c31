"""References in scenarios: `${page.id}` stands for a value that an earlier tool call returned.

A text that consists of a single reference becomes the value itself, of any type. Inside a longer text it is inserted as
text, so it must stand for a string or a number. Keys are separated by dots; `0` is the first item of a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from cuecard.config.documents.yaml_text import Path
from cuecard.errors import did_you_mean
from cuecard.model import Json

_REFERENCE = re.compile(r"\$\{([^{}]*)\}")


class UnresolvedError(Exception):
    """A reference that cannot be resolved; the text names the missing key, the hint what exists instead."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def names_used(value: Json, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The name that each reference in a value begins with, and its path in the value."""
    if isinstance(value, str):
        yield from ((path, found.partition(".")[0]) for found in _REFERENCE.findall(value))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from names_used(key, path)
            yield from names_used(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from names_used(item, (*path, index))


def resolve(value: Json, saved: Mapping[str, Json]) -> Json:
    """The value with every reference replaced.

    Raises:
        UnresolvedError: naming the reference and the missing key.
    """
    if isinstance(value, str):
        whole = _REFERENCE.fullmatch(value)
        return value_at(saved, whole[1]) if whole else _REFERENCE.sub(lambda match: _text(saved, match[1]), value)
    if isinstance(value, Mapping):
        return {resolve(key, saved): resolve(item, saved) for key, item in value.items()}
    return [resolve(item, saved) for item in value] if isinstance(value, list) else value


def value_at(value: Json, path: str) -> Json:
    """The value at a dotted path, such as `page.sections.0.id`; the value itself for an empty path.

    Raises:
        UnresolvedError: naming the missing key, and those that exist.
    """
    for key in path.split(".") if path else ():
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            raise UnresolvedError(f"`{path}` does not exist: there is no `{key}`", _instead(value, key))
    return value


def _text(saved: Mapping[str, Json], path: str) -> str:
    value = value_at(saved, path)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        kind = type(value).__name__
        raise UnresolvedError(f"`{path}` is of type {kind} and cannot be put inside a text", "name one of its values")
    return str(value)


def _instead(value: Json, key: str) -> str:
    if isinstance(value, Mapping):
        return did_you_mean(key, value) or "there are no keys here"
    if isinstance(value, list):
        return f"the list has {len(value)} items; count from 0"
    return f"the value here is of type {type(value).__name__} and has no keys"
