"""Converts schemas into inputs: Picoschema, JSON Schema, and Prompty's properties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cuecard.config.documents.document import Document, Path
from cuecard.config.values import InputType, is_of_type
from cuecard.errors import Problem
from cuecard.model import Json
from cuecard.workbench.imports.prompt import Input

_TYPES: Mapping[str, InputType] = {
    "string": "string",
    "str": "string",
    "integer": "integer",
    "int": "integer",
    "number": "number",
    "float": "number",
    "boolean": "boolean",
    "bool": "boolean",
    "array": "list",
    "list": "list",
    "object": "object",
    "dict": "object",
}


def type_of(word: str) -> InputType | None:
    """The name of another tool's type here; None for an unknown one."""
    return _TYPES.get(word)


def type_of_value(value: Json) -> InputType:
    """The type of an example value of an input."""
    kinds: tuple[InputType, ...] = ("boolean", "integer", "number", "list", "object")
    return next((kind for kind in kinds if is_of_type(value, kind)), "string")


def _may_lack(entries: Mapping[str, Json]) -> Iterator[str]:
    """The paths of the optional keys in the entries of a Picoschema."""
    for key, entry in entries.items():
        named = key.partition("(")[0].strip()
        name = named.removesuffix("?")
        if named.endswith("?"):
            yield name
        yield from (f"{name}.{path}" for path in _may_lack(entry if isinstance(entry, dict) else {}))


def _lacking(facts: Mapping[str, Json]) -> tuple[str, ...]:
    """The paths of the optional keys of a JSON Schema."""
    properties = facts.get("properties")
    if not isinstance(properties, dict):
        items = facts.get("items")
        return _lacking(items) if isinstance(items, dict) else ()
    required = facts.get("required")
    known = set(required) if isinstance(required, list) else set()
    found = [name for name in properties if name not in known]
    for name, entry in properties.items():
        found += [f"{name}.{path}" for path in _lacking(entry)] if isinstance(entry, dict) else ()
    return tuple(found)


class Schema:
    """Reads a schema, and collects what an agent file cannot express."""

    def __init__(self, document: Document, problems: list[Problem]) -> None:
        self.document: Document = document
        self.problems: list[Problem] = problems
        self.examples: dict[str, Json] = {}
        """Example contents of objects, for a first turn."""

    def inputs(self, path: Path) -> dict[str, Input]:
        """The inputs declared by the schema at a path."""
        schema = self.document.at(path)
        if not isinstance(schema, dict):
            self.warn(path, "a schema in another file, or of a single value", "declare the inputs here")
            return {}
        if isinstance(schema.get("properties"), dict):
            return dict(self._json_schema(path, schema))
        return dict(self._picoschema(path, schema))

    def warn(self, path: Path, message: str, hint: str) -> None:
        """Warn about something that an agent file cannot express."""
        self.problems.append(self.document.problem(path, "not-imported", message, hint, severity="warning"))

    def _json_schema(self, path: Path, schema: Mapping[str, Json]) -> Iterator[tuple[str, Input]]:
        required = schema.get("required")
        for name, entry in schema["properties"].items():
            here = (*path, "properties", name)
            facts = entry if isinstance(entry, dict) else {}
            described = facts.get("description")
            said = described if isinstance(described, str) else ""
            default = (facts["default"],) if "default" in facts else ()
            if not default and not (isinstance(required, list) and name in required):
                default = (None,)
            values = facts.get("enum")
            kind = self._kind(here, facts.get("type"), values)
            self._nested(here, facts, name if kind == "object" else "")
            yield name, Input(kind, default, tuple(values) if isinstance(values, list) else (), said, _lacking(facts))

    def _picoschema(self, path: Path, schema: Mapping[str, Json]) -> Iterator[tuple[str, Input]]:
        for key, entry in schema.items():
            here = (*path, key)
            if key == "(*)":
                self.warn(here, "further properties: an agent names each of its inputs", "declare those you pass")
                continue
            named, _, rest = key.partition("(")
            name = named.strip().removesuffix("?")
            default: tuple[Json, ...] = (None,) if named.strip().endswith("?") else ()
            written = rest.rstrip().removesuffix(")") if rest else entry if isinstance(entry, str) else "object"
            word, _, described = written.partition(",")
            values = entry if word == "enum" and isinstance(entry, list) else None
            kind = self._kind(here, None if values else word.strip(), values)
            inner = entry if isinstance(entry, dict) else {}
            if inner:
                self._nested(here, {"properties": entry}, name if kind == "object" else "")
            lacking = tuple(_may_lack(inner))
            # Without a value, its keys have none either, and print nothing.
            default = ({},) if default and lacking else default
            yield name, Input(kind, default, tuple(values or ()), described.strip(), lacking)

    def _kind(self, path: Path, word: Json, values: Json) -> InputType:
        words = [each for each in word if each != "null"] if isinstance(word, list) else [word]
        known = type_of(words[0]) if len(words) == 1 and isinstance(words[0], str) else None
        if known:
            return known
        if isinstance(values, list) and values:
            return next((type_of_value(each) for each in values if each is not None), "string")
        self.warn(path, "an unsupported input type: it is a `string` here", "write its actual type")
        return "string"

    def _nested(self, path: Path, facts: Mapping[str, Json], name: str) -> None:
        properties = facts.get("properties")
        if name and isinstance(properties, dict):
            keys = (key.partition("(")[0].strip().removesuffix("?") for key in properties if key != "(*)")
            self.examples[name] = {key: f"example of {key}" for key in keys}
        if facts.get("properties") or isinstance(facts.get("items"), dict):
            self.warn(
                path, "the contents of a list or object are not declared here", "its template checks what it reads"
            )
