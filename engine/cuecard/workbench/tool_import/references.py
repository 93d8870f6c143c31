"""The references of an OpenAPI description: followed in its files, never to another host, and never in a circle."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from cuecard.errors import Problem, SpecError
from cuecard.model import Json

MAX_NODES: Final = 2_000
"""The maximum number of values in a schema once its references are resolved; anything beyond is left open."""
MAX_DEPTH: Final = 24
"""The maximum depth of nesting."""
MAX_VALUES: Final = 1_000_000
"""The maximum number of values in all schemas of a description together."""
_CHAIN = 32
_QUOTED = re.compile("(?:%[0-9A-Fa-f]{2})+")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_PARTS = ("allOf", "anyOf", "oneOf")

Read: TypeAlias = Callable[[str], Json]
"""The value of a file, by its path relative to the description's folder."""


def mapping(value: Json) -> Mapping[str, Json]:
    """The value if it is a mapping, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def no_files(path: str) -> Json:
    """Refuses each file, for a description that is not in one.

    Raises:
        SpecError: always.
    """
    hint = "inline what is there"
    raise SpecError(Problem("wrong-openapi", "a reference to a file, in a description without a folder", hint, path))


@dataclass(slots=True)
class References:
    """The references of one description, and those that lead nowhere.

    Attributes:
        root: the description.
        name: how problems call it.
        read: reads the other files that it is written in.
    """

    root: Json
    name: str
    read: Read = no_files
    left: int = MAX_VALUES
    _files: dict[str, Json] = field(default_factory=dict)
    _unknown: dict[str, str] = field(default_factory=dict)
    _refused: dict[Problem, None] = field(default_factory=dict)

    def followed(self, value: Json) -> Json:
        """The value, or what it refers to; None for a broken reference, and for one that only leads to others."""
        reference: Json = None
        for _ in range(_CHAIN):
            reference = value.get("$ref") if isinstance(value, dict) else None
            if not isinstance(reference, str):
                return value
            value = self.target(reference)
        self._unknown[str(reference)] = "leads to no value, only to further references"
        return None

    def target(self, reference: str) -> Json:
        """The target of a reference; None if there is none, which is noted for `problems` or `check`."""
        place, mark, pointer = reference.partition("#")
        value: Any = self._file(_unquoted(place), reference)
        for part in pointer.split("/")[1:] if mark else ():
            key = _unquoted(part).replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and key.isascii() and key.isdecimal() and int(key[:9]) < len(value):
                value = value[int(key[:9])]
            else:
                self._unknown[reference] = "does not exist"
                return None
        return value

    def resolved(self, schema: Json) -> tuple[Json, bool]:
        """A schema with all of its references replaced, and whether it is whole.

        It is open (`{}`) where a reference leads nowhere or back to itself, and where the schema is too large.
        """
        walk = _Walk(self, left=min(MAX_NODES, self.left))
        value = walk.resolved(schema, (), 0)
        self.left -= MAX_NODES - max(walk.left, 0)
        return value, not walk.cut

    def problems(self) -> list[Problem]:
        """A warning for each reference that leads nowhere within its file."""
        hint = "what it stands for accepts any value, or is left out"
        return [
            Problem("wrong-openapi", f"`{reference[:120]}` {told}", hint, self.name, severity="warning")
            for reference, told in self._unknown.items()
        ]

    def check(self) -> None:
        """Refuse references that are not followed, and files that cannot be read.

        Raises:
            SpecError: with all of them, or when the schemas are too large together.
        """
        if self._refused:
            raise SpecError(self._refused)
        if self.left <= 0:
            message = f"its schemas have more than {MAX_VALUES:,} values with their references followed"
            raise SpecError(Problem("wrong-openapi", message, "import it in several descriptions", self.name))

    def _file(self, place: str, reference: str) -> Json:
        path = posixpath.normpath(place) if place else ""
        if not path:
            return self.root
        if path not in self._files:
            self._files[path] = None
            try:
                self._files[path] = self._checked(path, place, reference)
            except SpecError as error:
                self._refused |= dict.fromkeys(error.problems)
        return self._files[path]

    def _checked(self, path: str, place: str, reference: str) -> Json:
        said = f"`{reference[:120]}`"
        if _ELSEWHERE.match(place):
            hint = "other hosts are never asked: save what it refers to beside the description, or inline it"
            raise SpecError(Problem("wrong-openapi", f"{said} is an address, which is not followed", hint, self.name))
        if path.startswith(("../", "/")) or path == "..":
            hint = "only files in the folder of the description, or below, are read"
            raise SpecError(Problem("wrong-openapi", f"{said} leads out of the folder", hint, self.name))
        if path == posixpath.basename(self.name):
            return self.root
        value = self.read(path)
        _made_absolute(value, path)
        return value


def _unquoted(text: str) -> str:
    """The unquoted text of a part of an address; wrong quoting is left as it is."""
    return _QUOTED.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"), text)


def _made_absolute(value: Json, path: str) -> None:
    """Write the references in a file's value relative to the description, so that they mean the same there."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        reference = node.get("$ref") if isinstance(node, dict) else None
        if isinstance(reference, str) and not _ELSEWHERE.match(reference):
            place, mark, pointer = reference.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), place)) if place else path
            node["$ref"] = f"{target}{mark}{pointer}"


@dataclass(slots=True)
class _Walk:
    references: References
    left: int
    cut: bool = False

    def resolved(self, value: Json, through: tuple[str, ...], depth: int) -> Json:
        self.left -= 1
        if depth > MAX_DEPTH or self.left < 0:
            self.cut = True
            return {}
        if isinstance(value, list):
            return [self.resolved(item, through, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        reference = value.get("$ref")
        if isinstance(reference, str):
            return self._target(value, reference, through, depth)
        return {str(key): self.resolved(item, through, depth + 1) for key, item in value.items()}

    def _target(self, value: Mapping[str, Json], reference: str, through: tuple[str, ...], depth: int) -> Json:
        """The target, merged with the keys next to the reference, as in 3.1."""
        beside = mapping(self.resolved({k: v for k, v in value.items() if k != "$ref"}, through, depth + 1))
        if reference in through or len(through) >= _CHAIN:
            return dict(beside)
        target = self.resolved(self.references.target(reference), (*through, reference), depth + 1)
        return {**mapping(target), **beside}


def without_answers(schema: Json, gone: frozenset[str] = frozenset()) -> Json:
    """A resolved schema without the properties that only answers have, wherever it names or demands them.

    Args:
        schema: the schema.
        gone: properties that a schema around this one has as `readOnly`.
    """
    if isinstance(schema, list):
        return [without_answers(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    gone |= frozenset(_answers(schema))
    kept: dict[str, Json] = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            kept[key] = {name: without_answers(inner) for name, inner in value.items() if not _is_answer(inner)}
        elif key in _PARTS and isinstance(value, list):
            kept[key] = [without_answers(part, gone) for part in value]
        elif key == "required" and isinstance(value, list):
            if needed := [name for name in value if name not in gone]:
                kept[key] = needed
        else:
            kept[key] = value if key in {"enum", "default", "example", "examples", "const"} else without_answers(value)
    return kept


def _answers(schema: Mapping[str, Json]) -> Iterator[str]:
    """The `readOnly` properties of an object, as it and the parts of its `allOf` name them."""
    yield from (str(name) for name, inner in mapping(schema.get("properties")).items() if _is_answer(inner))
    parts = schema.get("allOf")
    for part in parts if isinstance(parts, list) else ():
        yield from _answers(mapping(part))


def _is_answer(schema: Json) -> bool:
    """Whether a property is `readOnly`, by itself or, as 3.0 writes it beside a reference, by a part of its `allOf`."""
    said = mapping(schema)
    parts = said.get("allOf")
    return said.get("readOnly") is True or (isinstance(parts, list) and any(map(_is_answer, parts)))
