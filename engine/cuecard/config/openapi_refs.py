"""References in a document (`$ref`): resolved within the document, without cycles and within limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cuecard.errors import Problem
from cuecard.model import Json

MAX_NODES: Final = 2_000
"""The maximum number of values in a schema once its references are resolved; anything beyond is left open."""
MAX_DEPTH: Final = 24
"""The maximum depth of nesting."""
_CHAIN = 32
_QUOTED = re.compile("(?:%[0-9A-Fa-f]{2})+")


def mapping(value: Json) -> Mapping[str, Json]:
    """The value if it is a mapping, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def _unquoted(text: str) -> str:
    """The unquoted text of a part of an address; wrong quoting is left as it is."""
    return _QUOTED.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"), text)


@dataclass(slots=True)
class References:
    """The references of one document, and those that lead nowhere.

    Attributes:
        root: the document.
        name: how problems call it.
    """

    root: Mapping[str, Json]
    name: str
    _unknown: dict[str, None] = field(default_factory=dict)

    def followed(self, value: Json) -> Json:
        """The value, or what it refers to; None for a broken reference."""
        for _ in range(_CHAIN):
            reference = value.get("$ref") if isinstance(value, dict) else None
            if not isinstance(reference, str):
                return value
            value = self.target(reference)
        return None

    def target(self, reference: str) -> Json:
        """The target of a reference; None if it does not exist or is in another file, which is noted for `problems`."""
        value: Any = self.root
        parts: list[str | None] = [*reference[1:].split("/")[1:]] if reference.startswith("#") else [None]
        for part in parts:
            key = "" if part is None else _unquoted(part).replace("~1", "/").replace("~0", "~")
            if part is not None and isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and key.isascii() and key.isdecimal() and int(key[:9]) < len(value):
                value = value[int(key[:9])]
            else:
                self._unknown[reference] = None
                return None
        return value

    def resolved(self, schema: Json) -> Json:
        """A schema with all of its references replaced; `{}` where one leads nowhere, back to itself, or too far."""
        return _Walk(self).resolved(schema, (), 0)

    def problems(self) -> list[Problem]:
        """A warning for each reference that leads nowhere."""
        hint = "only references within the file are followed; inline the others first"
        return [
            Problem("wrong-openapi", f"`{reference[:120]}` does not exist", hint, self.name, severity="warning")
            for reference in self._unknown
        ]


@dataclass(slots=True)
class _Walk:
    references: References
    left: int = MAX_NODES

    def resolved(self, value: Json, through: tuple[str, ...], depth: int) -> Json:
        self.left -= 1
        if depth > MAX_DEPTH or self.left < 0:
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
