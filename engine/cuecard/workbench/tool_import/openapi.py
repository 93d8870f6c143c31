"""OpenAPI descriptions as tools, their references resolved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cuecard.config.values import is_tool_name
from cuecard.errors import Problem, SpecError
from cuecard.model import Json, ToolCard

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


_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_ODD = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST: Final = 64
"""The maximum length of a name that providers accept."""


@dataclass(slots=True)
class OpenApi:
    """The operations of a description.

    Attributes:
        title: the name of the service.
        cards: its operations as tools, in the order of the file.
        problems: a warning for everything that was left out or could not be resolved.
    """

    title: str
    cards: list[ToolCard] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_openapi(value: Mapping[str, Json], name: str) -> OpenApi:
    """The operations of a description as tools.

    A tool is named after its `operationId`, or after method and path if there is none; characters that names cannot
    contain become `_`, and a duplicate name gets a number. All parameters, and the properties of a body that is an
    object, are combined in the input schema; any other body becomes the parameter `body`. References within the file
    are resolved; one that leads back to itself, to another file, or nowhere accepts any value.

    Args:
        value: the description, as JSON has it.
        name: how errors call it.

    Raises:
        SpecError: when it is not an OpenAPI description of a known version, or has no operations.
    """
    version = str(value.get("openapi") or value.get("swagger") or "")
    if not version.startswith(("2.", "3.0", "3.1")):
        told = f"OpenAPI version `{version[:20]}` is not supported" if version else "this is not an OpenAPI description"
        raise SpecError(
            Problem(
                "wrong-openapi",
                told,
                "supported versions are 2.0, 3.0 and 3.1, given by `openapi:` or `swagger:`",
                name,
            )
        )
    found = OpenApi(str(mapping(value.get("info")).get("title") or ""))
    references, taken = References(value, name), set[str]()
    for path, method, operation, shared in _operations(value, references):
        card = _Operation(path, method, operation, shared, references).card(taken)
        if is_tool_name(card.name):
            taken.add(card.name)
            found.cards.append(card)
        else:
            message = f"`{method.upper()} {path[:80]}` has no valid tool name"
            found.problems.append(
                Problem("wrong-openapi", message, "give it an `operationId`", name, severity="warning")
            )
    found.problems += references.problems()
    if not found.cards:
        hint = "operations go under `paths:`, by path and method"
        raise SpecError([Problem("wrong-openapi", "it describes no operation", hint, name), *found.problems])
    return found


def _operations(
    value: Mapping[str, Json], references: References
) -> Iterator[tuple[str, str, Mapping[str, Json], list[Json]]]:
    for path, item in mapping(value.get("paths")).items():
        steps = mapping(references.followed(item))
        shared = steps.get("parameters")
        for method in _METHODS:
            if isinstance(operation := steps.get(method), dict):
                yield str(path), method, operation, shared if isinstance(shared, list) else []


@dataclass(frozen=True, slots=True)
class _Operation:
    path: str
    method: str
    said: Mapping[str, Json]
    shared: list[Json]
    references: References

    def card(self, taken: set[str]) -> ToolCard:
        """The operation as a tool, under a name that is still free."""
        own = self.said.get("operationId")
        words = own if isinstance(own, str) and own.strip() else f"{self.method}_{self.path}"
        plain = re.sub("_+", "_", _ODD.sub("_", words)).strip("_.-")[:_LONGEST] or self.method
        name, number = plain, 2
        while name in taken:
            name, number = f"{plain[: _LONGEST - 6]}_{number}", number + 1
        tags = self.said.get("tags")
        named = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
        return ToolCard(name, self._description(), self._schema(), category=named[0] if named else "")

    def _description(self) -> str:
        texts = [self.said.get(key) for key in ("summary", "description")]
        said = [text.strip() for text in texts if isinstance(text, str) and text.strip()]
        return "\n".join(dict.fromkeys(said)) or f"{self.method.upper()} {self.path}"

    def _schema(self) -> dict[str, Json]:
        properties: dict[str, Json] = {}
        required: list[str] = []
        bodies: list[tuple[Json, bool]] = [self._body()] if "requestBody" in self.said else []
        for parameter in self._parameters():
            name, place = parameter.get("name"), parameter.get("in")
            if place == "body":
                bodies.append((parameter.get("schema"), parameter.get("required") is True))
            elif isinstance(name, str) and name and place != "cookie":
                properties[name] = self._described(parameter)
                required += [name] if parameter.get("required") is True or place == "path" else []
        for schema, needed in bodies:
            self._add_body(properties, required, schema, needed=needed)
        named = list(dict.fromkeys(required))
        return {"type": "object", "properties": properties, **({"required": named} if named else {})}

    def _parameters(self) -> list[Mapping[str, Json]]:
        """The operation's parameters override those of its path."""
        own = self.said.get("parameters")
        listed = [*self.shared, *(own if isinstance(own, list) else [])]
        found = [mapping(self.references.followed(each)) for each in listed]
        return list({(str(each.get("name")), str(each.get("in"))): each for each in found}.values())

    def _body(self) -> tuple[Json, bool]:
        body = mapping(self.references.followed(self.said.get("requestBody")))
        content = mapping(body.get("content"))
        kinds = sorted(content, key=lambda kind: "json" not in str(kind))
        return mapping(content[kinds[0]]).get("schema") if kinds else None, body.get("required") is True

    def _described(self, parameter: Mapping[str, Json]) -> Json:
        """A parameter's schema; in 2.0 it is part of the parameter itself."""
        kept = {key: parameter[key] for key in ("type", "items", "enum", "default", "format") if key in parameter}
        content = mapping(parameter.get("content"))
        schema = parameter.get("schema") or next((mapping(each).get("schema") for each in content.values()), None)
        resolved = self.references.resolved(schema if schema is not None else kept)
        said = parameter.get("description")
        if isinstance(said, str) and isinstance(resolved, dict) and "description" not in resolved:
            return {**resolved, "description": said}
        return resolved

    def _add_body(self, properties: dict[str, Json], required: list[str], schema: Json, *, needed: bool) -> None:
        resolved = self.references.resolved(schema if schema is not None else {})
        inner = mapping(mapping(resolved).get("properties"))
        if inner and not set(inner) & set(properties):
            properties.update(inner)
            wanted = mapping(resolved).get("required")
            required += [key for key in wanted if isinstance(key, str)] if needed and isinstance(wanted, list) else []
            return
        name = "body" if "body" not in properties else "request_body"
        properties[name] = resolved
        required += [name] if needed else []
