"""The arguments of a tool, read from the signature of its function: their JSON Schema, and the check of a call.

A function takes the database first, then parameters in snake_case. Callers know them in camelCase, and a trailing
underscore falls away: `page_id` is `pageId`, `type_` is `type`.
"""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from cms.database import Json
from cms.errors import ValidationError
from cms.matching import listed, nearest

_NOT_EMPTY: Final = ("minLength", 1)  # rules are pairs of a JSON Schema keyword and its value

Slug: TypeAlias = Annotated[str, "last part of the address, such as about-us", _NOT_EMPTY]
Title: TypeAlias = Annotated[str, "title people read", _NOT_EMPTY]
Label: TypeAlias = Annotated[str, "label of a navigation item", _NOT_EMPTY]
Href: TypeAlias = Annotated[str, "address in the form /pages/{slug}?locale=en or /posts/{slug}", _NOT_EMPTY]
Location: TypeAlias = Literal["header", "footer", "both"]
PageId: TypeAlias = Annotated[str, "id of a page, such as page-1", _NOT_EMPTY]
SectionId: TypeAlias = Annotated[str, "id of a section on a page, such as sec-1", _NOT_EMPTY]
DefinitionId: TypeAlias = Annotated[str, "id of a section definition, such as hero", _NOT_EMPTY]
ImageId: TypeAlias = Annotated[str, "id of an image, such as img-1", _NOT_EMPTY]
PhotoId: TypeAlias = Annotated[int, "id of a stock photo, from pexels_searchPhotos"]
Content: TypeAlias = Annotated[dict[str, Any], "values by field key; an image field takes an image id"]
FieldKey: TypeAlias = Annotated[str, "exact key of a field, from cms_getSectionFields", _NOT_EMPTY]
Position: TypeAlias = Annotated[int, "place on the page, 0 is the top; at the end when left out", ("minimum", 0)]
Tags: TypeAlias = Annotated[list[str], "words to find it by"]
Query: TypeAlias = Annotated[str, "what to look for, in a few words", _NOT_EMPTY]
Limit: TypeAlias = Annotated[int, "how many at most", ("minimum", 1), ("maximum", 100)]
Confirmed: TypeAlias = Annotated[bool, "true only after the user said yes to the message this tool returned"]

_JSON_TYPES: Final[Mapping[Any, str]] = {str: "string", int: "integer", bool: "boolean", list: "array", dict: "object"}
_PYTHON_TYPES: Final[Mapping[str, Any]] = {name: kind for kind, name in _JSON_TYPES.items()}
_AN: Final = {"string": "a string", "integer": "a whole number", "boolean": "true or false", "array": "a list"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: the name callers use, the name in Python, and the JSON Schema of its values."""

    name: str
    python_name: str
    schema: Json
    required: bool


@cache
def parameters(function: Callable[..., Json]) -> tuple[Parameter, ...]:
    """The parameters of a tool function, without the database."""
    hints = get_type_hints(function, include_extras=True)
    _database, *listed_ = inspect.signature(function).parameters.values()
    return tuple(
        Parameter(camel_case(p.name), p.name, _schema(hints[p.name]), required=p.default is p.empty) for p in listed_
    )


def camel_case(name: str) -> str:
    """`page_section_id` as `pageSectionId`; `type_` as `type`."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)


def input_schema(function: Callable[..., Json]) -> Json:
    """The JSON Schema of the arguments of a tool function."""
    known = parameters(function)
    return {
        "type": "object",
        "properties": {p.name: p.schema for p in known},
        "required": [p.name for p in known if p.required],
        "additionalProperties": False,
    }


def check(function: Callable[..., Json], arguments: Mapping[str, Any]) -> Json:
    """The arguments under their Python names. A null counts as left out.

    Raises:
        ValidationError: names every argument that is missing, unknown or of the wrong form.
    """
    known = {p.name: p for p in parameters(function)}
    given = {name: value for name, value in arguments.items() if value is not None}
    wrong = [f"`{name}` is missing" for name, p in known.items() if p.required and name not in given]
    wrong += [_unknown(name, known) for name in given if name not in known]
    wrong += [f"`{name}` holds a broken character" for name, value in given.items() if not _is_text(value)]
    wrong += [fault for name in known if name in given for fault in _faults(name, given[name], known[name].schema)]
    if wrong:
        raise ValidationError(
            f"{'; '.join(wrong)}.",
            f"The arguments are {listed(list(known))}." if known else "Pass no arguments.",
            known,
        )
    return {known[name].python_name: value for name, value in given.items()}


def _unknown(name: str, known: Mapping[str, Parameter]) -> str:
    close = nearest(name, known, limit=1)
    return f"`{name}` is unknown" + (f" (did you mean `{close[0]}`?)" if close else "")


def _schema(hint: Any) -> Json:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        base, description, *rules = args
        return {**_schema(base), "description": description, **dict(rules)}
    if origin in (Union, types.UnionType):  # `X | None`: an argument that may be left out
        return _schema(next(arg for arg in args if arg is not type(None)))
    if origin is Literal:
        return {"type": "string", "enum": list(args)}
    if origin is list:
        return {"type": "array", "items": _schema(args[0])}
    return {"type": _JSON_TYPES[origin or hint]}


def _faults(place: str, value: Any, schema: Json) -> Iterator[str]:
    kind = schema["type"]
    if not isinstance(value, _PYTHON_TYPES[kind]) or (kind == "integer" and isinstance(value, bool)):
        yield f"`{place}` must be {_AN.get(kind, 'an object')}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"`{place}` must be one of {listed(schema['enum'])}"
    elif kind == "string" and len(value.strip()) < schema.get("minLength", 0):
        yield f"`{place}` must not be empty"
    elif kind == "integer" and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"`{place}` must lie between {schema.get('minimum', '-')} and {schema.get('maximum', 'any number')}"
    elif kind == "array":
        for number, item in enumerate(value):
            yield from _faults(f"{place}[{number}]", item, schema["items"])


def _is_text(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which no file can hold
        return False
    return True
