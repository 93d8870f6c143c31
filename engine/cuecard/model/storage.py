"""Calls, steps and manifests as JSON, both ways, with the number of their format."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from cuecard.errors import InputError, Problem, seen
from cuecard.model.values import Json
from cuecard.records import reader_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

FORMAT = 1
"""Raised whenever older versions could not read what is written."""

Kind = TypeVar("Kind")

LATER: Mapping[str, bool] = MappingProxyType({"later": True})
"""Metadata of a field that a format did not have at first: it is written only where it differs from its default."""

_ATOMS = frozenset({str, int, float, bool, type(None)})


def to_json(value: Any) -> dict[str, Json]:
    """A frozen dataclass as plain JSON; `format` says which version of cuecard can read it."""
    return {"format": FORMAT, **as_plain(value)}


def to_json_lazily(value: Any) -> dict[str, Json]:
    """`to_json`, but only of the value itself: `json.dumps` asks `shallow` for the rest, in half of the time."""
    return {"format": FORMAT, **shallow(value)}


def shallow(value: Any) -> Json:
    """The `default` of `json.dumps`: a value of whatever class as plain JSON, those in it as they are."""
    read = _reader(cast("Hashable", type(value)))
    if read is None:
        return dict(value) if isinstance(value, Mapping) else str(value)
    plain = read(value)
    for name, usual in _later(cast("Hashable", type(value))):
        if as_plain(plain[name]) == usual:
            del plain[name]
    return plain


def as_plain(value: Any) -> Json:
    """What `dataclasses.asdict` gives, several times as quickly: a service does it with each request."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is dict:
        return dict(value) if _is_flat(value.values()) else {key: as_plain(held) for key, held in value.items()}
    if kind is list or kind is tuple:
        return kind(value if _is_flat(value) else [as_plain(held) for held in value])
    if isinstance(value, (str, int, float)):
        return _without_class(value)
    read = _reader(cast("Hashable", kind))
    return deepcopy(value) if read is None else _written(value, read)


def _is_flat(values: Iterable[Any]) -> bool:
    return _ATOMS.issuperset(map(type, values))


def _written(value: Any, read: Callable[[Any], dict[str, Any]]) -> dict[str, Json]:
    plain = {name: as_plain(held) for name, held in read(value).items()}
    for name, usual in _later(cast("Hashable", type(value))):
        if plain[name] == usual:
            del plain[name]
    return plain


def _without_class(value: str | float) -> Json:
    """A member of an enum, or of another class of texts or numbers, as the text or number that it is."""
    if isinstance(value, str):
        return str.__str__(value)
    return int(value) if isinstance(value, int) else float(value)


@cache
def _reader(kind: Any) -> Callable[[Any], dict[str, Any]] | None:
    return reader_of(cast("Hashable", kind)) if is_dataclass(kind) else None


@cache
def _later(kind: Any) -> tuple[tuple[str, Json], ...]:
    """The fields that are only written where they differ from their defaults, and those."""
    return tuple((each.name, as_plain(_usual(each))) for each in fields(kind) if each.metadata.get("later"))


def _usual(later: Field[Any]) -> Any:
    return later.default if later.default_factory is MISSING else later.default_factory()


def from_json(kind: type[Kind], data: Json, name: str, *, code: str) -> Kind:
    """The value that `to_json` wrote.

    Args:
        kind: its class.
        data: plain JSON.
        name: what errors call it, such as its file.
        code: the code of those errors: `bad-` and what it is.

    Raises:
        InputError: for a newer format, or naming every field that is missing, unknown or of the wrong type.
    """
    from pydantic import ValidationError  # noqa: PLC0415 - only who stores things pays for it

    noun = code.removeprefix("bad-")
    if not isinstance(data, Mapping):
        raise InputError(_problem(code, f"the {noun} should be a mapping", name))
    _check_format(code, data.get("format"), name)
    try:
        return cast("Kind", _read(cast("Hashable", kind), {key: data[key] for key in data if key != "format"}))
    except ValidationError as error:
        found = error.errors(include_url=False)
        raise InputError(_problem(code, _told(each, noun), name) for each in found) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(_problem(code, f"the {noun} is not plain JSON: {error}", name)) from None


def read_text(kind: type[Kind], text: str) -> Kind | None:
    """The value in a text of `to_json`, read in one pass; None where `from_json` has to say what is wrong. Neither
    numbers that are not finite nor data that nests too deep is refused.
    """
    front = f'{{"format":{FORMAT},'
    data = f"[{{{text.removeprefix(front)}]" if text.startswith(front) else ""
    with suppress(ValueError):
        return cast("Kind", _adapter(cast("Hashable", kind)).validate_json(data, strict=True)[0])
    return None


def _read(kind: Hashable, data: Json) -> Any:
    text = json.dumps([data], ensure_ascii=False, allow_nan=False)
    encoded = text.encode(errors="xmlcharrefreplace")
    (read,) = _adapter(kind).validate_json(encoded, strict=True)
    # Half a character, as in the name of a file, is no UTF-8: what holds one is checked without it, and read as it is.
    return read if encoded.decode() == text else _adapter(kind).validate_python((data,))[0]


def _check_format(code: str, number: Json, name: str) -> None:
    noun = code.removeprefix("bad-")
    if isinstance(number, int) and not isinstance(number, bool) and number > FORMAT:
        message = f"the {noun} has format {number}; this version of cuecard reads up to {FORMAT}"
        raise InputError(Problem("newer-format", message, "update cuecard, or create it again with this version", name))
    if number != FORMAT or isinstance(number, bool):
        message = f"`format` should be {FORMAT}, the number that `to_json` writes"
        raise InputError(_problem(code, message, name))


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import ConfigDict, TypeAdapter  # noqa: PLC0415 - only who stores things pays for it

    # As the item of a tuple: a configuration of the class itself would hold for everyone who checks it.
    return TypeAdapter(tuple[kind], config=ConfigDict(extra="forbid"))


def _told(found: ErrorDetails, noun: str) -> str:
    place = ".".join(str(part) for part in found["loc"][1:]) or f"the {noun}"
    instead = f", not {seen(found['input'])}" if found["type"].endswith("_type") else ""
    return f"`{place}`: {found['msg'].removeprefix('Input ')}{instead}"


def _problem(code: str, message: str, name: str) -> Problem:
    return Problem(code, message, f"pass the result of the {code.removeprefix('bad-')}'s to_json(), unchanged", name)
