"""The operations of an OpenAPI description as tools."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from cuecard.catalogue.fields import in_words
from cuecard.config.tool_lock import Operation, Place
from cuecard.config.values import is_tool_name
from cuecard.errors import Problem, SpecError
from cuecard.model import Json, ToolCard
from cuecard.workbench.tool_import.references import Read, References, mapping, no_files, without_answers

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_ODD = re.compile(r"[^A-Za-z0-9_.-]+")
_ARGUMENT = re.compile(r"[A-Za-z0-9_.-]{1,64}")
LONGEST: Final = 64
"""The maximum length of a name that providers accept."""
_LINE: Final = 200
"""The maximum length of a description in an entry, in characters."""


@dataclass(slots=True)
class OpenApi:
    """The operations of a description.

    Attributes:
        title: the name of the service.
        cards: its operations as tools, in the order of the file, with all that the description says of them.
        operations: by tool, what a request is made of.
        lines: by tool, what it does in one line.
        problems: a warning for everything that was left out, cut or could not be resolved.
    """

    title: str
    cards: list[ToolCard] = field(default_factory=list)
    operations: dict[str, Operation] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def read_openapi(value: Mapping[str, Json], name: str, read: Read = no_files) -> OpenApi:
    """The operations of a description as tools.

    A tool is named after its `operationId`, or after method and path if there is none, or none that a name could be
    made of; characters that names cannot contain become `_`, and a duplicate name gets a number. All parameters, and
    the properties of a body that is an object, are combined in the input schema, without those that only answers have;
    any other body becomes the parameter `body`. References within its files are resolved; one that leads back to
    itself, or nowhere, accepts any value.

    Args:
        value: the description, as JSON has it.
        name: how errors call it.
        read: reads the other files that it is written in.

    Raises:
        SpecError: when it is not an OpenAPI description of a known version, has no operations, or refers to another
            host or to files that cannot be read.
    """
    version = str(value.get("openapi") or value.get("swagger") or "")
    if not version.startswith(("2.", "3.0", "3.1")):
        told = f"OpenAPI version `{version[:20]}` is not supported" if version else "this is not an OpenAPI description"
        hint = "supported versions are 2.0, 3.0 and 3.1, given by `openapi:` or `swagger:`"
        raise SpecError(Problem("wrong-openapi", told, hint, name))
    found = OpenApi(str(mapping(value.get("info")).get("title") or "").strip())
    references = References(dict(value), name, read)
    first: dict[str, str] = {}
    for each in _operations(value, references):
        _add(found, each, first, name)
    references.check()
    found.problems += references.problems()
    if not found.cards:
        hint = "operations go under `paths:`, by path and method"
        raise SpecError([Problem("wrong-openapi", "it describes no operation", hint, name), *found.problems])
    return found


def _add(found: OpenApi, operation: _Operation, first: dict[str, str], name: str) -> None:
    """Add an operation under a name that is still free, and note what an author should know of it."""
    tool, said = free_name(operation.name, found.operations), operation.shown
    if not is_tool_name(tool):
        found.problems.append(_note(f"`{said}` has no valid tool name", "give it an `operationId`", name))
        return
    if operation.id and (before := first.setdefault(operation.id, said)) != said:
        message = f"the `operationId` `{operation.id[:80]}` is that of `{before}` and of `{said}`"
        found.problems.append(_note(message, f"the second one is named `{tool}`; give it a name of its own", name))
    schema, arguments, whole = operation.arguments()
    if not whole:
        hint = "what is beyond that accepts any value"
        found.problems.append(_note(f"the arguments of `{tool}` have too many values or levels", hint, name))
    found.cards.append(ToolCard(tool, operation.description, schema, category=next(iter(operation.tags), "")))
    found.operations[tool] = Operation(
        method=operation.method.upper(), path=operation.path, id=operation.id, tags=operation.tags, arguments=arguments
    )
    found.lines[tool] = operation.line


def _note(message: str, hint: str, name: str) -> Problem:
    return Problem("wrong-openapi", message, hint, name, severity="warning")


def free_name(name: str, taken: Collection[str], longest: int = LONGEST) -> str:
    """The name, or the name with the first number that is free."""
    plain, number = name[:longest], 2
    free = plain
    while free in taken:
        free, number = f"{plain[: longest - 6]}_{number}", number + 1
    return free


def _operations(value: Mapping[str, Json], references: References) -> Iterator[_Operation]:
    paths = mapping(value.get("paths"))
    ends = (str(path).rpartition("/") for path in paths)
    collections = frozenset(before for before, _, last in ends if _is_variable(last))
    for path, item in paths.items():
        steps = mapping(references.followed(item))
        shared = steps.get("parameters")
        methods = frozenset(method for method in _METHODS if isinstance(steps.get(method), dict))
        for method in _METHODS:
            if method in methods:
                common = shared if isinstance(shared, list) else []
                yield _Operation(str(path), method, mapping(steps[method]), common, references, methods, collections)


def _is_of_client(place: str, name: str) -> bool:
    """Whether the client says it, not who calls the operation: OpenAPI has these headers ignored as parameters."""
    return place == "cookie" or (place == "header" and name.lower() in {"accept", "authorization", "content-type"})


@dataclass(frozen=True, slots=True)
class _Operation:
    path: str
    method: str
    said: Mapping[str, Json]
    shared: list[Json]
    references: References
    methods: frozenset[str]
    collections: Collection[str]

    @property
    def shown(self) -> str:
        return f"{self.method.upper()} {self.path[:80]}"

    @property
    def id(self) -> str:
        own = self.said.get("operationId")
        return own.strip() if isinstance(own, str) else ""

    @property
    def name(self) -> str:
        said = (self.id, f"{self.method}_{self.path}")
        plain = (re.sub("_+", "_", _ODD.sub("_", words)).strip("_.-") for words in said)
        return next(filter(None, plain))[:LONGEST]

    @property
    def tags(self) -> list[str]:
        tags = self.said.get("tags")
        named = [" ".join(tag.split()) for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
        return [tag for tag in named if tag]

    @property
    def description(self) -> str:
        texts = [self.said.get(key) for key in ("summary", "description")]
        said = [text.strip() for text in texts if isinstance(text, str) and text.strip()]
        return "\n".join(dict.fromkeys(said))

    @property
    def line(self) -> str:
        texts = (self.said.get(key) for key in ("summary", "description"))
        said = (first_sentence(text) for text in texts if isinstance(text, str))
        request = {f"{self.method}{mark} {self.path}".casefold() for mark in ("", ":")}
        told = next((text for text in said if text and text.casefold() not in request), "")
        return told or in_plain_words(self.method, self.path, self.methods, self.collections)

    def arguments(self) -> tuple[dict[str, Json], dict[str, Place], bool]:
        """The input schema, where each argument goes, and whether the schema is whole."""
        found = _Arguments()
        bodies: list[tuple[Json, bool]] = [self._body()] if "requestBody" in self.said else []
        whole = True
        for parameter in self._parameters():
            name, place = parameter.get("name"), parameter.get("in")
            if place == "body":
                bodies.append((parameter.get("schema"), parameter.get("required") is True))
            elif isinstance(name, str) and name and not _is_of_client(str(place), name):
                schema, complete = self._described(parameter)
                whole = whole and complete
                found.add(schema, str(place), name, needed=parameter.get("required") is True or place == "path")
        for said, needed in bodies:
            schema, complete = self.references.resolved(said if said is not None else {})
            whole = whole and complete
            found.add_body(schema, needed=needed)
        return found.schema(), found.places, whole

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

    def _described(self, parameter: Mapping[str, Json]) -> tuple[Json, bool]:
        """A parameter's schema; in 2.0 it is part of the parameter itself."""
        kept = {key: parameter[key] for key in ("type", "items", "enum", "default", "format") if key in parameter}
        content = mapping(parameter.get("content"))
        schema = parameter.get("schema") or next((mapping(each).get("schema") for each in content.values()), None)
        resolved, whole = self.references.resolved(schema if schema is not None else kept)
        said = parameter.get("description")
        if isinstance(said, str) and isinstance(resolved, dict) and "description" not in resolved:
            return {**resolved, "description": said}, whole
        return resolved, whole


@dataclass(slots=True)
class _Arguments:
    properties: dict[str, Json] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)

    def add(self, schema: Json, place: str, name: str, *, needed: bool, whole: bool = False) -> None:
        """Add an argument, under a name that providers accept and nothing else has."""
        plain = name if _ARGUMENT.fullmatch(name) else re.sub("_+", "_", _ODD.sub("_", name)).strip("_.-")
        plain = plain[:LONGEST] or "argument"
        free = free_name(plain if plain not in self.properties else f"{place}_{plain}", self.properties)
        self.properties[free] = schema
        said = "" if whole else name if name != free else None
        self.places[free] = Place.model_validate({"in": place, "name": said})
        if needed:
            self.required[free] = None

    def add_body(self, schema: Json, *, needed: bool) -> None:
        """Add the properties of a body that is an object, or the body as a whole."""
        asked = mapping(without_answers(schema))
        demanded = asked.get("required")
        wanted = demanded if needed and isinstance(demanded, list) else []
        for name, inner in mapping(asked.get("properties")).items():
            self.add(inner, "body", name, needed=name in wanted)
        if not mapping(mapping(schema).get("properties")):
            self.add(dict(asked) if isinstance(schema, dict) else schema, "body", "body", needed=needed, whole=True)

    def schema(self) -> dict[str, Json]:
        """All arguments as one object."""
        needed: dict[str, Json] = {"required": [*self.required]} if self.required else {}
        return {"type": "object", "properties": self.properties, **needed}


_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,200}>|^[#>*\s]+|[*`]{1,3}")


def first_sentence(text: str) -> str:
    """The first sentence of a text, without markup, on one line."""
    plain = _MARKUP.sub("", text.strip())
    paragraph = re.split(r"\n\s*\n", plain.strip())[0]
    sentence = " ".join(_SENTENCE.split(" ".join(paragraph.split()))[0].split())
    return sentence if len(sentence) <= _LINE else f"{sentence[: _LINE - 3].rsplit(' ', 1)[0]}..."


_VERSION = re.compile(r"v\d+(?:[._]\d+)*|api|rest|wp-json", re.IGNORECASE)
_VERBS = {
    "get": "Get",
    "put": "Update",
    "post": "Create",
    "delete": "Delete",
    "options": "Ask what can be done with",
    "head": "Look for",
    "patch": "Update",
    "trace": "Trace",
}


def in_plain_words(method: str, path: str, methods: Collection[str] = (), collections: Collection[str] = ()) -> str:
    """What a request does, as people would say it: `POST /posts` creates a post, whatever HTTP calls it.

    Args:
        method: its method.
        path: its path.
        methods: all methods of that path: where there is PATCH, PUT replaces.
        collections: paths that another path continues with a parameter.
    """
    steps = [step for step in path.split("/") if step and not _VERSION.fullmatch(step)]
    nouns = [(in_words(step).lower(), _is_variable(after)) for step, after in _pairs(steps) if not _is_variable(step)]
    if not nouns:
        return f"{_VERBS[method]} the root"
    (noun, one), (before, owned) = nouns[-1], nouns[-2] if len(nouns) > 1 else ("", False)
    owner = f" of {_one(before)}" if owned else ""
    many = _is_plural(noun) or path in collections
    if method == "post" and not one and not many:
        return f"{noun} {_one(before)}".capitalize() if owned else f"{before} {noun}".strip().capitalize()
    verb = "Replace" if method == "put" and "patch" in methods else _VERBS[method]
    if one or (method == "post" and many):
        return f"{verb} {_one(noun)}{owner}"
    if many:
        return f"{'List' if method == 'get' else verb} {noun}{owner}"
    return f"{verb} {noun}{owner}" if owned else f"{verb} {before} {noun}".replace("  ", " ")


def _pairs(steps: list[str]) -> Iterator[tuple[str, str]]:
    return zip(steps, [*steps[1:], ""], strict=False)


def _is_variable(step: str) -> bool:
    return step.startswith(("{", ":"))


def _is_plural(noun: str) -> bool:
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is", "news"))


def _one(noun: str) -> str:
    """One of them, with its article."""
    if noun.endswith("ies") and len(noun) > 4:
        single = f"{noun[:-3]}y"
    elif noun.endswith(("sses", "shes", "ches", "xes", "zes")):
        single = noun[:-2]
    else:
        single = noun[:-1] if _is_plural(noun) else noun
    return f"{'an' if single[:1] in set('aeiou') else 'a'} {single}"
